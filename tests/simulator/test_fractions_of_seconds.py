# SPDX-License-Identifier: BSD-3-Clause
"""Times that are not whole seconds: a log in tenths of a second has a tenth of the starts of ten times the log."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import Simulation, simulate, validate
from swftools.simulator.instants import instant, ratio, time_since, time_until, whole_times
from swftools.simulator.stepping.from_queue import check_queue
from swftools.simulator.stepping.stepper import Stepper
from swftools.utility.functions import UtilityFunctions
from tests.drawn import draw_trace
from tests.every_policy import OURS, light, with_all_columns
from tests.examples import by_day
from tests.naive.simulator import TWINS
from tests.naive.simulator import instant as naive_instant
from tests.simulator.twin import naive_starts

SCALES = {
    "weighted-priority": "weighted-priority:wait_weight={0}",
    **{name: f"{name}:short={{1}},long={{2}}" for name in ("fixed", "scojo-p", "cirne-berman")},
}
"""Policies with parameters that are times, or for each hour, in ten times the log and in the log."""

MORE = [
    *("easy:reservations=3", "easy:reservations=2,backfill_order=lxf", "easy-in-time:ends=before"),
    *("easy-in-time:running=by-limit", "pv-easy:venture=false", "pv-easy:slp=false,venture=false"),
    *("pv-easy:preemption=checkpoint,victims=spare-needless", "genetic:builder=conservative,generations=1,most_jobs=4"),
]


def ten_times(seed: int, jobs: int = 60, processors: int = 8) -> Trace:
    """Return a crowd of jobs in whole seconds, mostly short, with ties of all kinds; none takes no time."""
    rng = np.random.default_rng(seed)
    run = rng.integers(1, 30, jobs)
    trace = Trace.from_columns(
        machine_processors=processors,
        job_number=list(range(1, jobs + 1)),
        submit_time=np.sort(rng.integers(0, 150, jobs)).tolist(),
        run_time=run.tolist(),
        requested_time=np.where(rng.random(jobs) < 0.5, run, run + rng.integers(0, 20, jobs)).tolist(),
        requested_processors=rng.integers(1, processors + 1, jobs).tolist(),
        user_id=rng.integers(1, 4, jobs).tolist(),
    )
    return with_all_columns(trace, seed=seed, moldable_share=0.0)


def in_tenths(trace: Trace) -> Trace:
    """Return the same jobs with a tenth of all times."""
    jobs = trace.jobs.copy()
    for name in ("submit_time", "run_time", "requested_time", "checkpoint_interval"):
        jobs[name] = jobs[name] / 10
    points = [
        [(each["time"] / 10, each["value"]) for each in one] if one is not None else []
        for one in jobs["utility"].array.__arrow_array__().to_pylist()
    ]
    functions = UtilityFunctions.from_points(points).to_arrow()
    return trace.with_jobs(jobs.assign(utility=pd.Series(functions, jobs.index, dtype=jobs["utility"].dtype)))


def as_written(policy: str, by: float) -> str:
    """Return a policy whose times are those of the log divided by a number."""
    return SCALES.get(policy, light(policy)).format(by, 20 / by, 200 / by)


@pytest.mark.parametrize("seeds", [[0], pytest.param([1, 2], marks=pytest.mark.slow)])
@pytest.mark.parametrize("policy", by_day([*OURS, *MORE], 18))
def test_a_tenth_of_the_log_starts_at_a_tenth_of_the_times(policy: str, seeds: list[int]) -> None:
    """Under every policy, to the last bit; and what it promises is kept."""
    for seed in seeds:
        trace = ten_times(seed)
        whole = simulate(trace, as_written(policy, 1), seed=1).jobs
        small = in_tenths(trace)
        schedule = simulate(small, as_written(policy, 10), seed=1)
        assert schedule.jobs["start_time"].tolist() == (whole["start_time"] / 10).tolist(), f"seed {seed}"
        assert schedule.jobs["end_time"].tolist() == (whole["end_time"] / 10).tolist(), f"seed {seed}"
        report = validate(schedule, trace=small)
        assert report.ok, str(report)


@pytest.mark.parametrize("predictor", ["exact", "last-model", "user-average"])
@pytest.mark.parametrize("policy", ["easy", "sjf-backfill", "conservative", "pv-easy"])
def test_so_it_is_with_predictions(policy: str, predictor: str) -> None:
    """Predicted times are what they are in tenths, too."""
    for seed in range(1):
        trace = ten_times(seed)
        whole = simulate(trace, policy, predictor=predictor).jobs["start_time"] / 10
        starts = simulate(in_tenths(trace), policy, predictor=predictor).jobs["start_time"]
        np.testing.assert_allclose(starts, whole, rtol=1e-12, err_msg=f"seed {seed}")


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("policy", "parameters", "twin"), by_day(TWINS, 12))
def test_tenths_as_in_the_twin(policy: str, parameters: dict[str, object], twin: object, seed: int) -> None:
    """The twin adds up times by their decimal digits."""
    trace = in_tenths(ten_times(seed, jobs=30))
    schedule = simulate(trace, policy, **parameters)  # type: ignore[arg-type]
    assert naive_starts(trace, twin, "request", "extend") == schedule.jobs["start_time"].tolist()  # type: ignore[arg-type]


def test_who_ends_as_the_first_begins_goes_ahead() -> None:
    """Job 1 ends at .5, where job 2 begins; job 3 takes .1 s at .4: it ends by then, as 1 s at 4 ends by 5."""
    trace = draw_trace("submit run width / .1 .4 1 / .1 .1 2 / .4 .1 1", processors=2)
    assert simulate(trace, "easy").jobs["start_time"].tolist() == [0.1, 0.5, 0.4]
    assert simulate(trace, "easy-in-time:ends=before").jobs["start_time"].tolist() == [0.1, 0.5, 0.6]


@pytest.mark.parametrize("policy", ["conservative", "conservative-fixed", "conservative-replanned"])
def test_no_machine_idles_until_a_second_is_over(policy: str) -> None:
    """A job of .4 s holds its processors for .4 s in the plan, too."""
    trace = draw_trace("submit run width / 0 .4 4 / 0 .4 4 / .1 .2 4", processors=4)
    schedule = simulate(trace, policy)
    assert schedule.jobs["start_time"].tolist() == [0.0, 0.4, 0.8]
    assert validate(schedule, trace=trace).ok


decimals = st.integers(0, 10**9).map(lambda ticks: ticks / 10**6)


@given(one=decimals, other=decimals)
def test_sums_and_differences_of_microseconds_are_exact(one: float, other: float) -> None:
    """As fractions of a million have it; time_until is not too short, and a microsecond more is too long."""
    total = Fraction(round(one * 10**6) + round(other * 10**6), 10**6)
    assert instant(one + other) == float(total) == naive_instant(one + other)
    then = float(total)
    assert time_since(one, then) == other
    assert other <= time_until(one, then) < other + 1e-6


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (math.inf, math.inf),
        (7.0, 7.0),
        (1 / 3, 1 / 3),
        (0.1 + 0.2, 0.3),
        (0.30000001, 0.30000001),
        (1e-9, 1e-9),
        (2.0**52 + 0.5, 2.0**52 + 0.5),
    ],
)
def test_only_what_rounding_moved_is_moved_back(time: float, expected: float) -> None:
    """Whole seconds, thirds and nanoseconds stay."""
    assert instant(time) == expected


@given(one=decimals, other=decimals.filter(bool), times=st.integers(1, 7))
def test_equal_ratios_are_equal(one: float, other: float, times: int) -> None:
    """The quotient is that of the whole numbers of microseconds."""
    ticks, others = (round(each * 10**6) for each in (one, other))
    assert ratio(one, other) == ticks / others == ratio(ticks * times / 10**6, others * times / 10**6)
    assert ratio(one / 3, other) == pytest.approx(one / 3 / other, rel=1e-15)


@pytest.mark.parametrize(
    ("time", "interval", "expected"), [(0.3, 0.1, 3), (0.29, 0.1, 2), (6, 2, 3), (5.999, 2, 2), (0, 2, 0)]
)
def test_whole_intervals(time: float, interval: float, expected: float) -> None:
    """.3 s have three intervals of .1 s, though the quotient of the floats is less than 3."""
    assert whole_times(float(time), float(interval)) == expected


def jobs_of(submit: list[float], run: list[float], request: list[float] | None = None) -> Trace:
    """Return jobs of a processor each."""
    return Trace.from_columns(
        machine_processors=2,
        job_number=list(range(1, len(run) + 1)),
        submit_time=submit,
        run_time=run,
        requested_time=request or run,
        requested_processors=[1] * len(run),
    )


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        (
            jobs_of([1.7e18, 1.7e18], [10, 7]),
            r"job 1: submit_time is 1\.7e\+18 .* \(and 1 other alike\); beyond 9007199254740992 s",
        ),
        (jobs_of([0], [1e16]), "run_time is 1e.16"),
        (jobs_of([0], [1], [1e16]), "requested_time is 1e.16"),
        (jobs_of([9e15, 0], [1, 8e12]), "may end as late as 9.008e.15 s"),
    ],
)
def test_times_that_float64_does_not_tell_apart_are_refused(trace: Trace, words: str) -> None:
    """By all that simulate."""
    for begin in (simulate, Simulation, Stepper):
        with pytest.raises(ParameterError, match=words):
            begin(trace, "easy")


@pytest.mark.parametrize("name", ["at", "run_time", "requested_time"])
def test_such_jobs_do_not_come_while_it_runs(name: str) -> None:
    """Nor are they in a queue."""
    stepper = Stepper(draw_trace("submit run width / 0 1 1", processors=1), "easy")
    given = {"at": 5.0, "run_time": 2.0, "requested_time": 2.0} | {name: 1e16}
    with pytest.raises(ParameterError, match="in seconds, not in parts of one"):
        stepper.submit(1, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("what", "name"), [("running", "elapsed"), ("waiting", "waited"), ("waiting", "requested_time")]
)
def test_a_queue_of_such_jobs_is_refused(what: str, name: str) -> None:
    """By which a what-if question begins."""
    jobs = {
        "running": pd.DataFrame({"processors": [1], "requested_time": [9.0], "elapsed": [3.0]}),
        "waiting": pd.DataFrame({"processors": [2], "requested_time": [9.0], "waited": [3.0]}),
    }
    jobs[what][name] = 1e16
    with pytest.raises(ParameterError, match=f"{name} of the {what} jobs: beyond"):
        check_queue(jobs["running"], jobs["waiting"], 2)


def test_the_longest_times_are_taken() -> None:
    """Up to 2**53 s they are exact."""
    trace = jobs_of([2.0**53 - 92] * 2, [10, 7])
    jobs = simulate(trace, "easy").jobs
    assert (jobs["end_time"] - jobs["start_time"]).tolist() == [10.0, 7.0]
