# SPDX-License-Identifier: BSD-3-Clause
"""How ``cirne-berman`` chooses widths, on schedules drawn by hand."""

from __future__ import annotations

from typing import Any

import pytest

from swftools.errors import ParameterError
from swftools.simulator.entry_points import simulate
from swftools.simulator.validation.report import validate
from tests.drawn import draw_trace
from tests.simulator.policies.moldable_crowds import with_curves
from tests.strategies import crowded_trace

INNER = pytest.mark.parametrize("inner", ["easy", "conservative"])


def last_run(table: str, curves: list[Any], **given: Any) -> tuple[float, int, float]:
    """Return start, processors and run time of the last job, on 8 processors."""
    trace = with_curves(draw_trace(table, processors=8), curves)
    schedule = simulate(trace, "cirne-berman", 8, **given)
    report = validate(schedule, trace=trace)
    assert report.ok, str(report)
    job = schedule.jobs.iloc[-1]
    return job["start_time"], job["allocated_processors"], job["run_time"]


@INNER
def test_of_widths_that_end_it_as_early_the_smallest(inner: str) -> None:
    """Its curve is flat from 4 on."""
    assert last_run("submit run width / 0 8 8", [(4.0, 1, 8)], inner=inner) == (0.0, 4, 8.0)


@INNER
@pytest.mark.parametrize(("ends", "start", "width"), [(10, 1.0, 4), (9, 1.0, 4), (6, 6.0, 8)])
def test_now_or_when_more_are_free(inner: str, ends: int, start: float, width: int) -> None:
    """64 s of work on the 4 that are free, or on all 8 when the other has ended; 4 if that is as early."""
    found = last_run(f"submit run width / 0 {ends} 4 / 1 8 8", [None, (8.0, 1, 8)], inner=inner)
    assert found == (start, width, 64 / width)


@pytest.mark.parametrize(("tolerance", "start", "width"), [(0.07, 6.0, 8), (0.1, 6.0, 7), (0.24, 1.0, 4)])
def test_a_smaller_width_that_is_not_much_worse(tolerance: float, start: float, width: int) -> None:
    """After 13 s on 8, 14.14 s on 7, 15.67 s on 6, 17.8 s on 5, 16 s at once on 4."""
    found = last_run("submit run width / 0 6 4 / 1 8 8", [None, (8.0, 1, 8)], tolerance=tolerance)
    assert found == (start, width, pytest.approx(64 / width))


def test_powers_of_two_and_its_own() -> None:
    """7 is as good as 8, but is no power of two, unless it is the width that was asked for."""
    table, curve = "submit run width / 0 8 {}", (7.0, 1, 8)
    assert last_run(table.format(8), [curve], sizes="powers-of-two")[1] == 8
    assert last_run(table.format(7), [curve], sizes="powers-of-two")[1] == 7
    assert last_run(table.format(8), [curve])[1] == 7


@INNER
def test_who_waits_is_counted(inner: str) -> None:
    """One that waits goes first, for 5 s on the whole machine."""
    found = last_run("submit run width / 0 10 8 / 1 5 8 / 2 8 8", [None, None, (8.0, 1, 8)], inner=inner)
    assert found == (15.0, 8, 8.0)


@INNER
def test_it_is_rigid_from_then_on(inner: str) -> None:
    """When a job ends early, 6 are free, on which it would end sooner; but it has 8."""
    table = "submit run width request / 0 6 2 6 / 0 3 2 6 / 1 8 8 8"
    assert last_run(table, [None, None, (8.0, 1, 8)], inner=inner) == (6.0, 8, 8.0)


def test_without_curves_it_is_refused() -> None:
    """And the augmentation that makes them is named."""
    with pytest.raises(ParameterError, match=r"'cirne-berman' needs speedup_curve.*--augment speedup"):
        simulate(crowded_trace(5), "cirne-berman")
