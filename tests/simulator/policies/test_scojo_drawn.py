# SPDX-License-Identifier: BSD-3-Clause
"""The rules of SCOJO-P one by one, on schedules drawn by hand: figures 1 to 4 of Barsanti and Sodan, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.models.moldability import SpeedupParameters, generate_speedup
from swftools.simulator.entry_points import simulate
from swftools.simulator.validation.report import validate
from tests.drawn import draw_trace
from tests.simulator.policies.moldable_crowds import with_curves
from tests.strategies import crowded_trace

ALONE = {"prediction": False}


def runs_of(trace: Trace, processors: int = 8, policy: str = "scojo-p", **given: Any) -> list[tuple[float, int, float]]:
    """Return start, processors and run time of each job."""
    schedule = simulate(trace, policy, processors, **given)
    report = validate(schedule, trace=trace)
    assert report.ok, str(report)
    columns = schedule.jobs[["start_time", "allocated_processors", "run_time"]]
    return list(columns.itertuples(index=False, name=None))


def simple(trace: Trace, processors: int) -> Trace:
    """Return a trace all of whose jobs have simple curves."""
    made = generate_speedup(trace, SpeedupParameters(model="simple"))
    jobs = trace.jobs.join(made)
    bound = np.minimum(2 * jobs["allocated_processors"].to_numpy(dtype=np.int64), processors)
    return trace.with_jobs(jobs.assign(maximum_processors=pd.array(bound, dtype="Int64")))


def test_a_lonely_job_is_widened_to_the_ideal_load() -> None:
    """Figure 1: on 4 of 16 the load is 1/4; a factor of 4 is more than its curve allows, which is 8 processors."""
    trace = simple(draw_trace("submit run width / 0 13 4", processors=16), 16)
    assert runs_of(trace, 16, ideal_load=1, **ALONE) == [(0.0, 8, pytest.approx(13 * 2.6 / 3.2))]
    assert runs_of(trace, 16, ideal_load=0.25, **ALONE) == [(0.0, 4, 13.0)]
    assert runs_of(trace, 16, target="optimum", **ALONE) == [(0.0, 4, 13.0)]


def test_the_nearest_load_counts_though_the_size_does_not_change_any_more() -> None:
    """On 7 of 8 the load is .875; to reach .9 would take 7.2 processors, which is 7 again, and better than 4."""
    trace = with_curves(draw_trace("submit run width / 0 8 4", processors=8), [(4.0, 1, 8)])
    assert runs_of(trace, **ALONE) == [(0.0, 7, 8.0)]


def test_waiting_jobs_make_it_narrower() -> None:
    """Figure 2: two that want all 8 for 8 s make a load of 2; on 4 each, for 16 s, it is 1, and both start."""
    trace = with_curves(draw_trace("submit run width / 0 8 8 / 0 8 8", processors=8), [(8.0, 1, 8)] * 2)
    assert runs_of(trace, ideal_load=1, **ALONE) == [(0.0, 4, 16.0)] * 2


def test_expected_jobs_make_it_narrower() -> None:
    """On 8 for 900 s, half a job like it is to come: a load of 1.5, so a factor of 2/3, which is 5 processors.

    For these 1,440 s it is 1.125, by which 5 stays 5.
    """
    trace = with_curves(draw_trace("submit run width / 0 900 8 / 3600 900 8", processors=8), [(8.0, 1, 8)] * 2)
    assert runs_of(trace, ideal_load=1, **ALONE) == [(0.0, 8, 900.0), (3600.0, 8, 900.0)]
    assert runs_of(trace, ideal_load=1) == [(0.0, 5, 1440.0), (3600.0, 5, 1440.0)]


@pytest.mark.parametrize(
    ("ends", "rules", "start", "width"),
    [
        (10, {}, 1.0, 4),  # 1 + 16 is before 10 + 8
        (6, {}, 6.0, 8),  # 6 + 8 is before 1 + 16
        (9, {}, 1.0, 4),  # equal: at once
        (10, {"early_start": False}, 10.0, 8),
    ],
)
def test_start_now_or_later(ends: int, rules: dict[str, Any], start: float, width: int) -> None:
    """Figure 3: 64 s of work on the 4 that are free, or on all 8 when the other has ended."""
    trace = draw_trace(f"submit run width / 0 {ends} 4 / 1 8 8", processors=8)
    trace = with_curves(trace, [None, (8.0, 1, 8)])
    assert runs_of(trace, target="optimum", **rules)[1] == (start, width, 64 / width)


def test_a_width_that_was_waited_for_is_guaranteed() -> None:
    """At 3 s, when a job ends early, 6 processors would end it at 13.67 s; 8 were promised for 6 s, so until 14 s."""
    trace = draw_trace("submit run width request / 0 6 2 6 / 0 3 2 6 / 1 8 8 8", processors=8)
    trace = with_curves(trace, [None, None, (8.0, 1, 8)])
    assert runs_of(trace, target="optimum")[2] == (6.0, 8, 8.0)
    assert runs_of(trace, target="optimum", guarantee=False)[2] == (3.0, 6, pytest.approx(64 / 6))


@pytest.mark.parametrize(("how", "width"), [("shrink", 3), ("resize", 3), ("none", 4)])
def test_jobs_that_go_ahead_are_shrunk(how: str, width: int) -> None:
    """Figure 4: 42 s of work for the 4 x 7 s until the first starts: each on 4 x 2/3, rounded, for 14/3 s."""
    trace = draw_trace("submit run width / 0 8 4 / 1 9 8 / 1 3.5 4 / 1 3.5 4 / 1 3.5 4", processors=8)
    trace = with_curves(trace, [None, None, *[(4.0, 1, 4)] * 3])
    found = runs_of(trace, target="optimum", adaptive_backfilling=how)
    assert found[1] == (8.0, 8, 9.0)
    assert found[2] == (1.0, width, pytest.approx(14 / width))


@pytest.mark.parametrize(("how", "width"), [("shrink", 2), ("resize", 4), ("none", 2)])
def test_jobs_that_go_ahead_are_widened_if_asked_for(how: str, width: int) -> None:
    """7 s of work for 4 x 7 s: a factor of 4, but its curve ends at 4 processors."""
    trace = draw_trace("submit run width / 0 8 4 / 1 9 8 / 1 3.5 2", processors=8)
    trace = with_curves(trace, [None, None, (2.0, 1, 4)])
    assert runs_of(trace, target="optimum", adaptive_backfilling=how)[2] == (1.0, width, 3.5)


@pytest.mark.parametrize("policy", ["fixed", "scojo-p"])
@pytest.mark.parametrize(("width", "start"), [(2, 1.0), (3, 17.0)])
def test_extra_processors_are_those_left_when_the_first_starts(policy: str, width: int, start: float) -> None:
    """Of 8 the first takes 6 at 8 s: 2 are left over, which a job may hold beyond that."""
    trace = draw_trace(f"submit run width / 0 8 4 / 1 9 6 / 1 50 {width}", processors=8)
    assert runs_of(with_curves(trace, [None] * 3), policy=policy)[2] == (start, width, 50.0)


@pytest.mark.parametrize("policy", ["fixed", "scojo-p"])
def test_shorter_classes_go_first(policy: str) -> None:
    """A long, two medium and a short one; of a class who was submitted first."""
    trace = draw_trace("submit run width / 0 100 1 / 1 3600 1 / 2 3599 1 / 3 60 1 / 4 59 1", processors=1)
    starts = [start for start, _, _ in runs_of(with_curves(trace, [None] * 5), 1, policy)]
    assert starts == [0, 159 + 3599 + 60, 159, 159 + 3599, 100]


@pytest.mark.parametrize("policy", ["fixed", "scojo-p"])
@pytest.mark.parametrize(("aging", "starts"), [(5, [600, 700]), (5.91, [610, 600]), (0, [610, 600])])
def test_who_has_waited_for_long_goes_up(policy: str, aging: float, starts: list[float]) -> None:
    """A job of 100 s that came at 10 s is as good as a short one from 510 s on."""
    trace = draw_trace("submit run width / 0 600 1 / 10 100 1 / 20 10 1", processors=1)
    found = runs_of(with_curves(trace, [None] * 3), 1, policy, aging=aging)
    assert [start for start, _, _ in found[1:]] == starts


def test_without_curves_it_is_refused() -> None:
    """And the augmentation that makes them is named."""
    with pytest.raises(ParameterError, match=r"'scojo-p' needs speedup_curve.*generate_speedup.*--augment speedup"):
        simulate(crowded_trace(5), "scojo-p")


@pytest.mark.parametrize("curve", [(8.0, 9, 16), (8.0, 4, 2), (0.5, 1, 8), (float("nan"), 1, 8)])
def test_a_curve_that_cannot_be_leaves_a_job_its_own_width(curve: Any) -> None:
    """A least width above the machine or above the largest one; a curve that no job has."""
    trace = with_curves(draw_trace("submit run width / 0 5 3", processors=8), [curve])
    schedule = simulate(trace, "scojo-p", 8)
    assert schedule.jobs["allocated_processors"].tolist() == [3]


def test_jobs_of_no_length_and_a_machine_that_is_much_too_small() -> None:
    """All of them run, and each within its bounds, though far more is submitted than the machine can do."""
    table = "submit run width" + "".join(f" / {i} {i % 3 * 50} {1 + i % 4}" for i in range(60))
    trace = with_curves(draw_trace(table, processors=4), [(4.0, 1, 4)] * 60)
    found = runs_of(trace, 4)
    assert len(found) == 60
    assert {width for _, width, _ in found} <= {1, 2, 3, 4}


def widths_over_time(trace: Trace, **given: Any) -> list[tuple[int, float, float, int]]:
    """Return number, begin, end and processors of each run."""
    schedule = simulate(trace, "scojo-p", 8, target="optimum", resize=True, **given)
    report = validate(schedule, trace=trace)
    assert report.ok, str(report)
    columns = schedule.segments[["job_number", "start_time", "end_time", "allocated_processors"]]
    return sorted(columns.itertuples(index=False, name=None))


def test_a_running_job_shrinks_for_one_that_waits() -> None:
    """Both want 8 of 8: from 4 on each has half, and the first has 4 of its 8 s left, which are 8 s then."""
    trace = with_curves(draw_trace("submit run width / 0 8 8 / 4 4 8", processors=8), [(8.0, 1, 8)] * 2)
    runs = [(1, 0.0, 4.0, 8), (1, 4.0, 12.0, 4), (2, 4.0, 12.0, 4)]
    assert widths_over_time(trace, resize_every=0) == runs
    assert widths_over_time(trace, resize_every=4) == runs
    assert widths_over_time(trace, resize_every=5) == [(1, 0.0, 8.0, 8), (2, 8.0, 12.0, 8)]


def test_a_running_job_widens_when_nobody_waits() -> None:
    """The second has 4 of the 8 processors that are best for it; once the others are free it has all."""
    trace = with_curves(draw_trace("submit run width / 0 4 4 / 0 8 4", processors=8), [None, (8.0, 1, 8)])
    assert widths_over_time(trace, resize_every=0) == [(1, 0.0, 4.0, 4), (2, 0.0, 4.0, 4), (2, 4.0, 6.0, 8)]
    assert widths_over_time(trace, resize_every=5) == [(1, 0.0, 4.0, 4), (2, 0.0, 8.0, 4)]


def test_a_rigid_job_never_changes() -> None:
    """It keeps its width beside one that waits, and when nobody does."""
    trace = with_curves(draw_trace("submit run width / 0 8 8 / 4 4 8", processors=8), [None, (8.0, 1, 8)])
    assert widths_over_time(trace, resize_every=0) == [(1, 0.0, 8.0, 8), (2, 8.0, 12.0, 8)]
