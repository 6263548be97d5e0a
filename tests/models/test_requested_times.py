# SPDX-License-Identifier: BSD-3-Clause
"""User estimates handed out to jobs: equal to a slow twin, and independent of the order of jobs."""

from __future__ import annotations

import io
import itertools
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import SwfHeader, Trace, clean, read_swf, write_swf
from swftools.errors import ParameterError
from swftools.fields.dictionary import AUGMENTATION_COLUMNS
from swftools.models import requested_times as model
from swftools.models.distribution_of_requests import RequestedTimeDistribution
from swftools.models.requested_times import (
    COLUMN,
    RequestedTimeParameters,
    apply_requested_times,
    generate_requested_times,
)
from tests.examples import examples
from tests.models.requested_time_samples import DAY, estimates_of, jobs_of, random_jobs
from tests.naive.requested_times import naive_assignment
from tests.strategies import traces

# By hand


def test_assignment_by_hand() -> None:
    """Each job draws among the estimates that suffice it and are left, from the longest job on."""
    run_time, estimates = np.array([50.0, 30.0, 30.0, 0.0]), np.array([60.0, 50.0, 40.0, 10.0])
    # of 60 50 the second; of 60 40 the first; of 40 the only one; of 10 the only one
    model._assign(run_time, estimates, np.array([0.5, 0.0, 0.9, 0.9]))
    assert [50, 60, 40, 10] == estimates.tolist()


def test_too_short_estimates_are_raised_by_hand() -> None:
    """Where many jobs run long, the estimates too short are raised to the least time that suffices; only those."""
    distribution = RequestedTimeDistribution(np.array([10.0, 20.0, 30.0]), np.array([3, 1, 1]))
    raised = model._sufficient(distribution, 40.0, np.array([35.0, 15.0, 11.0, 11.0, 5.0]))
    assert [40, 20, 20, 20, 10] == raised.tolist()


def test_all_jobs_run_as_long_as_allowed() -> None:
    """Then every estimate is the maximum."""
    assert [7200.0] * 50 == estimates_of(jobs_of(*[7200.0] * 50))


@pytest.mark.parametrize(
    ("run_times", "max_runtime", "maximum"),
    [
        ([], None, []),
        ([-1], None, [3600]),
        ([0], None, [3600]),
        ([3600], None, [3600]),
        ([3600.5], None, [7200]),
        ([5000], "5000", [5000]),
        ([5000], "129600", [129_600]),
        ([5000], "4999", [7200]),  # the log has a longer one
        ([-1], "59", [3600]),
        ([-1], "60", [60]),
        ([5], "-1", [3600]),
        ([5], "100000000000", [3600]),  # damage
        ([1e10], None, [1e10]),
    ],
)
def test_maximum_of_a_trace(run_times: list[float], max_runtime: str | None, maximum: list[float]) -> None:
    """The header's MaxRuntime if no job is longer, else the longest run time in whole hours; one job gets it."""
    header = SwfHeader() if max_runtime is None else SwfHeader().with_entry("MaxRuntime", max_runtime)
    assert maximum == estimates_of(jobs_of(*run_times, header=header))


def test_run_times_beyond_the_maximum() -> None:
    """They count as the maximum, and get it; the others something that suffices."""
    run_times = [9000.0, 7200.0, 8000.0, *range(60)]
    estimates = estimates_of(jobs_of(*run_times), maximum=7200)
    assert [7200.0] * 3 == estimates[:3]
    assert all(run_time <= estimate <= 7200 for run_time, estimate in zip(run_times[3:], estimates[3:], strict=True))


# The slow twin


@given(
    run_times=st.lists(st.sampled_from([0.0, 1.0, 7.5, 60.0, 100.0]) | st.floats(0, 100), min_size=1, max_size=12),
    slack=st.lists(st.sampled_from([0.0, 1.0, 50.0]), min_size=12, max_size=12),
    draws=st.lists(st.floats(0, 1, exclude_max=True), min_size=12, max_size=12),
)
def test_assignment_is_the_slow_twins(run_times: list[float], slack: list[float], draws: list[float]) -> None:
    """Compiled, interpreted and in plain Python, the jobs get the same estimates."""
    run = sorted(run_times, reverse=True)
    estimates = sorted((r + s for r, s in zip(run, slack, strict=False)), reverse=True)
    naive = naive_assignment(run, estimates, draws)
    for kernel in (model._assign, model._assign.py_func):
        ours = np.array(estimates)
        kernel(np.array(run), ours, np.array(draws[: len(run)]))
        assert naive == ours.tolist()


def test_interpreted_kernel_is_the_compiled_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a thousand jobs, the interpreted kernel gives the same estimates."""
    trace = random_jobs(1000)
    compiled = estimates_of(trace)
    monkeypatch.setattr(model, "_assign", model._assign.py_func)
    assert compiled == estimates_of(trace)


def test_a_whole_trace_is_the_slow_twins() -> None:
    """Sorted by run time, number and occurrence in plain Python, the jobs draw what they get."""
    trace = random_jobs(300)
    rng = model.generator(5, "estimates")
    times, counts = model.requested_time_distribution(300, 129_600.0, rng=rng)
    hand = sorted(
        (time for time, count in zip(times.tolist(), counts, strict=True) for _ in range(count)), reverse=True
    )
    seen: Counter[int] = Counter()
    keys = []
    for row, (number, run) in enumerate(zip(trace.jobs["job_number"], trace.jobs["run_time"], strict=True)):
        keys.append((0.0 if math.isnan(run) else -run, number, seen[number], row))
        seen[number] += 1
    keys.sort()
    naive = naive_assignment([-key[0] for key in keys], hand, rng.random(300).tolist())
    by_row = {key[-1]: estimate for key, estimate in zip(keys, naive, strict=True)}
    assert [by_row[row] for row in range(300)] == estimates_of(trace, seed=5, maximum=129_600)


# Invariants


@examples(0.5)
@given(traces(), st.sampled_from([None, 60.0, 3600.0, DAY]), st.sampled_from(["table", "power-law"]))
def test_any_trace_gets_estimates(trace: Trace, maximum: float | None, distinct: Any) -> None:
    """Whatever a log says, each job has an estimate, none shorter than its run time cut to the maximum."""
    generated = generate_requested_times(trace, RequestedTimeParameters(maximum=maximum, distinct=distinct))[COLUMN]
    assert generated.notna().all()
    run_time = trace.jobs["run_time"].fillna(0).clip(upper=maximum)
    assert (generated >= run_time).all()
    assert (generated > 0).all()
    if maximum is not None:
        assert (generated <= maximum).all()


def test_the_distribution_is_handed_out() -> None:
    """Without too short estimates, the jobs have those of the distribution, each as often."""
    rng = model.generator(3, "estimates")
    times, counts = model.requested_time_distribution(5000, 2 * DAY, rng=rng)
    trace = random_jobs(5000)
    given_out = Counter(estimates_of(trace, seed=3, maximum=2 * DAY))
    assert dict(zip(times.tolist(), counts.tolist(), strict=True)) == given_out


def test_order_does_not_matter() -> None:
    """Shuffled jobs, told apart by number, occurrence and line, get the estimates they had."""
    trace = random_jobs(2000)
    trace = trace.with_jobs(trace.jobs.assign(line_number=pd.array(range(1, 2001), dtype="Int64")))
    order = np.random.default_rng(3).permutation(2000)
    shuffled = generate_requested_times(trace.with_jobs(trace.jobs.iloc[order]))
    assert order.tolist() == shuffled.index.tolist()
    pd.testing.assert_frame_equal(generate_requested_times(trace), shuffled.sort_index())


def test_order_of_a_cleaned_log_does_not_matter(shipped_log: Path) -> None:
    """The same of a real log, in which job_occurrence is known."""
    cleaned, _ = clean(read_swf(shipped_log))
    backwards = generate_requested_times(cleaned.with_jobs(cleaned.jobs[::-1]))
    pd.testing.assert_frame_equal(generate_requested_times(cleaned), backwards.sort_index())


def test_seeds() -> None:
    """A seed gives the same estimates twice; another one, large or next to it, others."""
    trace = random_jobs(500)
    drawn = [estimates_of(trace, seed=seed) for seed in (0, 1, 2**64 - 1)]
    assert drawn[0] == estimates_of(trace)
    assert all(first != second for first, second in itertools.combinations(drawn, 2))


def test_columns_are_those_of_the_dictionary() -> None:
    """One row a job, on the index of the jobs, float64."""
    trace = jobs_of(5, 6, -1)
    trace = trace.with_jobs(trace.jobs.set_index(pd.Index([30, 10, 20])))
    generated = generate_requested_times(trace)
    assert [field.name for field in AUGMENTATION_COLUMNS["estimates"]] == list(generated)
    assert [30, 10, 20] == generated.index.tolist()
    assert np.float64 == generated[COLUMN].dtype
    assert np.float64 == generate_requested_times(Trace.from_columns())[COLUMN].dtype


def test_the_trace_is_not_changed() -> None:
    """Generation leaves jobs and arrays as they are."""
    trace = random_jobs(100)
    jobs, arrays = trace.jobs.copy(deep=True), [array.copy() for array in trace.arrays]
    generate_requested_times(trace)
    pd.testing.assert_frame_equal(jobs, trace.jobs)
    for before, after in zip(arrays, trace.arrays, strict=True):
        np.testing.assert_array_equal(before, after)


# Theory


def test_every_possible_assignment_is_as_likely() -> None:
    """Of the ways to give four jobs four sufficient estimates, each is drawn equally often.

    Four jobs with 2, 4, 4 and 4 estimates that suffice have 2 x 3 x 2 x 1 ways; the number of choices of a job does
    not depend on what the jobs before it drew.
    """
    run, estimates, draws = np.array([50.0, 10, 9, 8]), np.array([60.0, 50, 20, 10]), 24_000
    ways = [way for way in itertools.permutations(estimates) if (np.array(way) >= run).all()]
    assert 12 == len(ways)
    rng = np.random.default_rng(1)
    found: Counter[tuple[float, ...]] = Counter()
    for _ in range(draws):
        given_out = estimates.copy()
        model._assign(run, given_out, rng.random(4))
        found[tuple(given_out.tolist())] += 1
    assert set(ways) == set(found)
    chi_squared = sum((count - draws / 12) ** 2 / (draws / 12) for count in found.values())
    assert chi_squared < 31.3  # 11 degrees of freedom: exceeded with probability 0.001


# In place of the logged request


def test_missing_requests_are_filled() -> None:
    """Requested times that are missing or 0 become the estimates; others stay, unless all are to be replaced."""
    trace = jobs_of(100, 200, 300, 400, requested_time=[150, -1, 0, 350])
    trace = trace.with_jobs(trace.jobs.assign(model_requested_time=[900.0, 901.0, 902.0, 903.0]))
    filled = apply_requested_times(trace)
    assert [150, 901, 902, 350] == filled.jobs["requested_time"].tolist()
    assert [900, 901, 902, 903] == apply_requested_times(trace, everywhere=True).jobs["requested_time"].tolist()
    assert [150, 0, 350] == trace.jobs["requested_time"].dropna().tolist()
    assert filled.jobs.drop(columns="requested_time").equals(trace.jobs.drop(columns="requested_time"))
    assert filled.header is trace.header


def test_mark_of_overrun_jobs_stays() -> None:
    """It tells what the log said: as logged, one job overran, and those without a request did not."""
    cleaned, _ = clean(
        jobs_of(
            100, 200, 300, 400, submit_time=range(4), requested_time=[150, -1, 0, 350], requested_processors=[1] * 4
        )
    )
    with_column = cleaned.with_jobs(cleaned.jobs.join(generate_requested_times(cleaned)))
    for everywhere in (False, True):
        applied = apply_requested_times(with_column, everywhere=everywhere)
        assert [False, False, False, True] == applied.jobs["is_over_request"].tolist()


def test_estimates_go_into_swf() -> None:
    """A trace without requests is written with the estimates as field 9, and read again so."""
    trace = random_jobs(50)
    filled = apply_requested_times(trace.with_jobs(trace.jobs.join(generate_requested_times(trace))))
    file = io.BytesIO()
    write_swf(filled, file)
    file.seek(0)
    assert estimates_of(trace) == read_swf(file).jobs["requested_time"].tolist()


def test_estimates_must_be_there() -> None:
    """Without the column, the message names it and its maker."""
    with pytest.raises(
        ParameterError, match=r"jobs lack the column model_requested_time; add .* generate_requested_times"
    ):
        apply_requested_times(jobs_of(1))


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"seed": -1}, "seed=-1 is not an integer from 0 to 2**64 - 1"),
        ({"seed": 1.0}, "seed=1.0 is not"),
        ({"maximum": 59}, "maximum=59 is not a number from 60 to 1e10 (s), or none"),
        ({"maximum": "3600"}, "maximum='3600' is not"),
        ({"maximum": math.inf}, "maximum=inf is not"),
        ({"bins": {300: 0}}, "bins={300: 0} is not a mapping of seconds to numbers of jobs, all positive"),
        ({"bins": {-300: 1}}, "bins={-300: 1} is not"),
        ({"bins": {"noon": 1}}, "bins={'noon': 1} is not"),
        ({"bins": {math.nan: 1}}, "bins={nan: 1} is not"),
        ({"bins": None}, "bins=None is not"),
        ({"distinct": "lines"}, "distinct='lines' is not one of table, power-law"),
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the parameter, its value and its domain, however the parameters are given."""
    for make in (
        lambda: RequestedTimeParameters(**parameters),
        lambda: RequestedTimeParameters.from_mapping(parameters),
    ):
        with pytest.raises(ParameterError) as caught:
            make()
        assert f"estimates: {message}" in str(caught.value)


def test_bins_given_twice_are_refused() -> None:
    """As text, one time may be written in two ways."""
    with pytest.raises(ParameterError, match="has a time twice"):
        RequestedTimeParameters.from_mapping({"bins": {"3600": 1, "3600.0": 2}})


def test_run_times_beyond_all_bounds_are_refused() -> None:
    """No maximum can be told from a damaged run time; where one is given the job is cut to it."""
    with pytest.raises(ParameterError, match=r"the longest run time of 2e\+10 s is beyond 1e\+10 s; mend it, or give"):
        generate_requested_times(jobs_of(2e10))
    assert [3600.0] == estimates_of(jobs_of(2e10), maximum=3600)


@pytest.mark.parametrize(
    "parameters",
    [
        RequestedTimeParameters(),
        RequestedTimeParameters(
            seed=2**64 - 1, maximum=7200, bins={7200: 30, 100.25: 3, 3600.0: 10}, distinct="power-law"
        ),
    ],
)
def test_parameters_survive_json(parameters: RequestedTimeParameters) -> None:
    """What a manifest records makes the same parameters again."""
    again = RequestedTimeParameters.from_mapping(json.loads(json.dumps(parameters.to_mapping())))
    assert parameters == again
    assert RequestedTimeParameters.names() == list(parameters.to_mapping())
    trace = random_jobs(200)
    pd.testing.assert_frame_equal(generate_requested_times(trace, parameters), generate_requested_times(trace, again))


def test_bins_hold_in_the_trace() -> None:
    """As many jobs have a given estimate as the bins say, as long as none of them runs too long."""
    counts = Counter(estimates_of(jobs_of(*[10.0] * 500), maximum=DAY, bins={DAY: 17, 777.0: 40}))
    assert (17, 40, 500) == (counts[DAY], counts[777.0], sum(counts.values()))


# On a real log


@pytest.mark.full
def test_a_whole_log(shared: Path) -> None:
    """On CTC, of whose kind the model is, the estimates are much like the users' own.

    Of those, 23.8 % are the limit of 18 hours, the twenty most popular hold 88.9 %, and the mean is 24,399 s; there
    are 264 of them; 27.2 % of the jobs ran for less than a tenth of the request.
    """
    trace = read_swf(shared / "traces/CTC-SP2-1996-3.1-cln.swf.gz")
    run_time = trace.jobs["run_time"].clip(upper=64_800)
    estimates = pd.Series(estimates_of(trace, maximum=64_800))
    assert (estimates >= run_time.fillna(0)).all()
    logged = trace.jobs["requested_time"]
    for requested in (logged, estimates):
        assert 0.238 == pytest.approx((requested == 64_800).mean(), abs=0.025)
        assert 0.889 == pytest.approx(requested.value_counts(normalize=True).head(20).sum(), abs=0.01)
        assert 24_399 == pytest.approx(requested.mean(), rel=0.1)
        assert 264 == pytest.approx(requested.nunique(), abs=100)
        assert 0.272 == pytest.approx((run_time / requested < 0.1)[run_time.notna()].mean(), abs=0.05)
