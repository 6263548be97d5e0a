# SPDX-License-Identifier: BSD-3-Clause
"""Long work: in parts, by processes, kept and gone on with; nothing of it changes a price."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import swftools
from swftools.errors import ParameterError
from swftools.market import Work
from swftools.simulator.schedule import Schedule
from tests.market.crowds import crowd, trace_of

SUBMIT = list(np.repeat(np.arange(0.0, 45.0, 1.5), 1))


@pytest.fixture(scope="module")
def made() -> tuple[swftools.Trace, Schedule]:
    """Thirty jobs, one each 1.5 s, under ``genetic``."""
    trace = trace_of(crowd(1, len(SUBMIT)), SUBMIT)
    return trace, swftools.simulate(trace, "genetic", generations=5, seed=3)


def test_processes_change_nothing(made: tuple[swftools.Trace, Schedule]) -> None:
    """Two processes set the prices that one sets, and some of those are above 0."""
    trace, schedule = made
    one, two = (swftools.price(schedule, "vcg", trace=trace, processes=count).jobs for count in (1, 2))
    pd.testing.assert_frame_equal(one, two)
    assert (one["price"] > 0).sum() > 5


def test_some_jobs_have_the_prices_that_they_have_among_all(made: tuple[swftools.Trace, Schedule]) -> None:
    """Keys, in any order, and a sample; the prices of jobs do not depend on which others are priced."""
    trace, schedule = made
    every = swftools.price(schedule, "vcg", trace=trace).jobs.set_index("job_number")["price"]
    some = swftools.price(schedule, "vcg", trace=trace, jobs=pd.DataFrame({"job_number": [20, 4, 11]})).jobs
    assert some["job_number"].tolist() == [4, 11, 20]
    sample = swftools.price(schedule, "vcg", trace=trace, sample=7, seed=2).jobs
    assert len(sample) == 7
    for part in (some, sample):
        assert part["price"].tolist() == every[part["job_number"]].tolist()
    assert len(swftools.price(schedule, "vcg", trace=trace, sample=99).jobs) == len(every)


def test_it_goes_on_where_it_broke_off(made: tuple[swftools.Trace, Schedule], tmp_path: Path) -> None:
    """What was done is not done again, and the prices are those of an undisturbed run."""
    trace, schedule = made
    told: list[int] = []

    class BrokenOffError(Exception):
        pass

    def stop(done: int, _: int, __: float) -> None:
        told.append(done)
        if done >= 20:
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        swftools.price(schedule, "vcg", trace=trace, kept=tmp_path / "kept", progress=stop)
    assert told == [0, 10, 20]
    again: list[tuple[int, int]] = []
    whole = swftools.price(
        schedule, "vcg", trace=trace, kept=tmp_path / "kept", progress=lambda done, jobs, _: again.append((done, jobs))
    )
    assert again == [(20, 30), (30, 30)]
    pd.testing.assert_frame_equal(whole.jobs, swftools.price(schedule, "vcg", trace=trace).jobs)


def test_what_is_kept_of_something_else_is_refused(made: tuple[swftools.Trace, Schedule], tmp_path: Path) -> None:
    """Another horizon, other jobs, other utility functions, another schedule."""
    trace, schedule = made
    swftools.price(schedule, "vcg", trace=trace, sample=5, kept=tmp_path / "kept")
    other = swftools.simulate(trace, "genetic", generations=5, seed=4)
    for changed in ({"horizon": "1h"}, {"sample": 6}):
        with pytest.raises(ParameterError, match="another schedule, mechanism or jobs; give another folder"):
            swftools.price(schedule, "vcg", **{"trace": trace, "sample": 5, "kept": tmp_path / "kept"} | changed)
    turned = trace.with_jobs(trace.jobs.assign(utility=trace.jobs["utility"].array[::-1]))
    swftools.price(swftools.simulate(trace, "easy"), "vcg", trace=trace, sample=5, kept=tmp_path / "easy")
    with pytest.raises(ParameterError, match="give another folder"):
        swftools.price(swftools.simulate(turned, "easy"), "vcg", trace=turned, sample=5, kept=tmp_path / "easy")
    with pytest.raises(ParameterError, match="give another folder"):
        swftools.price(other, "vcg", trace=trace, sample=5, kept=tmp_path / "kept")


def test_a_damaged_part_is_made_anew(made: tuple[swftools.Trace, Schedule], tmp_path: Path) -> None:
    """A file that is too short counts as none."""
    trace, schedule = made
    first = swftools.price(schedule, "vcg", trace=trace, kept=tmp_path / "kept").jobs
    (tmp_path / "kept" / "from_10.f8").write_bytes(b"short")
    pd.testing.assert_frame_equal(first, swftools.price(schedule, "vcg", trace=trace, kept=tmp_path / "kept").jobs)


def test_an_error_in_a_process_is_told(made: tuple[swftools.Trace, Schedule]) -> None:
    """As one of the own process would be."""
    trace, _ = made
    other = swftools.simulate(trace, "genetic", generations=6)
    wrong = Schedule(other.jobs, other.segments, other.excluded, 4, "fcfs", swftools.simulate(trace, "fcfs").options)
    with pytest.raises(ParameterError, match="if its policy runs again"):
        swftools.price(wrong, "vcg", trace=trace, processes=2)


@pytest.mark.parametrize("processes", [0, 1.5, True])
def test_processes_are_counted(processes: object) -> None:
    """From 1 on."""
    with pytest.raises(ParameterError, match="processes"):
        Work(processes)  # type: ignore[arg-type]
