# SPDX-License-Identifier: BSD-3-Clause
"""Cirne-Berman workloads: equal to a slow twin, and what each parameter may and may not change."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import clean, read_swf, write_swf
from swftools.errors import ParameterError
from swftools.models import cirne_berman
from swftools.models.cirne_berman import SITES, CirneBermanParameters, generate
from swftools.offered_work import offered_load, span_of, work_of
from swftools.trace import Trace
from tests.examples import pairs
from tests.naive.cirne_berman import CONSTANTS, REFERENCE, naive_job, naive_phase, naive_submissions

QUIET = 3973
"""Seconds of the night at which kth's rate is not positive."""


# The slow twin


@pytest.mark.parametrize("processors", [1, 2, 3, 100, 128, 2**31 - 1])
@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_jobs_are_the_slow_twins(processors: int, seed: int) -> None:
    """Sizes, times and cancellations of each job are those of plain Python with the published constants."""
    jobs = generate(300, processors=processors, seed=seed).jobs
    expected = [naive_job(number, processors, seed) for number in range(300)]
    sizes, requested, runs, cancelled = map(list, zip(*expected, strict=True))
    assert sizes == jobs["allocated_processors"].tolist() == jobs["requested_processors"].tolist()
    assert requested == jobs["requested_time"].tolist()
    assert runs == jobs["run_time"].tolist()
    assert [5 if is_cancelled else pd.NA for is_cancelled in cancelled] == jobs["status"].tolist()


@pytest.mark.parametrize(
    ("site", "case"), pairs(list(SITES), [(1, 0, 1.0), (1, 5, 1.7), (50, 4, 0.3), (2000, 23, 1.0)], each=2)
)
def test_submissions_are_the_slow_twins(site: str, case: tuple[int, int, float]) -> None:
    """Submissions are those of adding second by second, on machines small and large and from any hour."""
    scale, start_hour, factor = case
    processors = REFERENCE["sites"][site]["processors"] * scale
    parameters = CirneBermanParameters(500, processors, seed=scale, site=site, start_hour=start_hour)
    day = cirne_berman._cumulative_jobs(parameters)
    submissions = cirne_berman._submit_times(np.arange(500), factor, parameters, day)
    expected = naive_submissions(500, processors, site, naive_phase(scale), 3600 * start_hour, factor)
    assert expected == submissions.tolist()
    if factor == 1:
        trace = generate(500, processors=processors, seed=scale, site=site, start_hour=start_hour)
        assert expected == trace.jobs["submit_time"].tolist()


def test_interpreted_kernels_are_the_compiled_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels, interpreted, give the same jobs."""
    compiled = generate(3000, processors=100, seed=3)
    for name in ("_draw_jobs", "_uniform_log"):
        monkeypatch.setattr(cirne_berman, name, getattr(cirne_berman, name).py_func)
    pd.testing.assert_frame_equal(compiled.jobs, generate(3000, processors=100, seed=3).jobs)


# What a job depends on


@pytest.mark.parametrize("count", [0, 1, 2, 10, 999])
def test_fewer_jobs_are_the_first_of_more(count: int) -> None:
    """A shorter workload is the beginning of a longer one."""
    some, more = (generate(jobs, processors=100, seed=6, site="kth").jobs for jobs in (count, 1000))
    pd.testing.assert_frame_equal(some, more.head(count))


def test_arrivals_leave_requests_alone() -> None:
    """Another site, load or start hour changes when jobs come, and nothing else."""
    first = generate(1000, seed=1).jobs.drop(columns="submit_time")
    changes: list[dict[str, Any]] = [{"site": "kth"}, {"load": 2.0}, {"start_hour": 13}]
    for parameters in changes:
        other = generate(1000, seed=1, **parameters).jobs
        pd.testing.assert_frame_equal(first, other.drop(columns="submit_time"))
        assert not other["submit_time"].equals(generate(1000, seed=1).jobs["submit_time"])


def test_seeds_draw_apart() -> None:
    """Neighbouring seeds have nothing in common, their first arrivals neither."""
    traces = [generate(2000, seed=seed).arrays for seed in (0, 1, 2**64 - 1)]
    correlations = np.corrcoef([trace.requested_time for trace in traces])[np.triu_indices(3, 1)]
    assert (abs(correlations) < 5 / math.sqrt(2000)).all()
    assert 3 == len({trace.submit_time[0] for trace in traces})


def test_same_seed_same_trace() -> None:
    """The same parameters give the same trace; those of the provenance too."""
    trace = generate(500, processors=64, seed=9, site="anl", load=0.7, start_hour=8)
    again = generate(**CirneBermanParameters.from_mapping(trace.provenance["parameters"]).to_mapping())
    pd.testing.assert_frame_equal(trace.jobs, again.jobs)
    assert trace.provenance == again.provenance


# Load


def span_off(trace: Trace, load: float) -> float:
    """Return by how many seconds the time between first and last submission is not the one that gives a load."""
    wanted = work_of(trace) / (trace.processors or 1) / load
    return abs(span_of(trace.arrays.submit_time) - wanted)


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize(("load", "processors"), pairs([0.01, 0.8, 1.0, 50.0], [1, 128, 1000], 1))
def test_load_is_met(site: str, load: float, processors: int) -> None:
    """The offered load is the one asked for, to a second of submission; at kth to half its quiet time of the night."""
    for seed, jobs in enumerate([10_000, 500]):
        trace = generate(jobs, processors=processors, site=site, load=load, seed=seed, start_hour=seed)
        assert span_off(trace, load) <= (QUIET / 2 if site == "kth" else 0.51)
        if jobs == 10_000 and site != "kth":
            assert load == pytest.approx(offered_load(trace), rel=1e-4)


def test_load_keeps_the_cycle_of_the_day() -> None:
    """A load changes the rate by one factor: the provenance tells it, and with it come the same submissions."""
    trace = generate(2000, processors=430, load=0.5, seed=3, start_hour=7)
    parameters = CirneBermanParameters(2000, 430, 3, start_hour=7)
    factor = trace.provenance["rate_factor"]
    assert 0.5 / 0.937 == pytest.approx(factor, rel=0.1)  # the load at ctc's rate
    expected = naive_submissions(2000, 430, "ctc", naive_phase(parameters.seed), 7 * 3600, factor)
    submissions = trace.jobs["submit_time"].tolist()
    assert expected[:-1] == submissions[:-1]
    assert abs(expected[-1] - submissions[-1]) <= 1  # the factor that meets the load is on the verge of a second


def test_without_a_load_it_is_that_of_the_rate() -> None:
    """The load of a site does not depend on the machine, once no job is too wide for it."""
    work = REFERENCE["sizes"]["128"]["mean"] * REFERENCE["requested_time"]["mean"] * REFERENCE["accuracy"]["mean"]
    for site, expected in (("anl", 1.44), ("ctc", 0.94), ("kth", 0.67), ("sdsc", 1.45)):
        published = REFERENCE["sites"][site]
        load = work * published["jobs_per_day"] / 86_400 / published["processors"]
        assert expected == pytest.approx(load, abs=0.005)
        for processors in (128, 5000):
            trace = generate(100_000, processors=processors, site=site, seed=1)
            assert load == pytest.approx(offered_load(trace), rel=0.02)
            assert trace.provenance["rate_factor"] == 1


def test_loads_out_of_reach_are_refused() -> None:
    """The message tells which loads there can be: those that spread the jobs over a second to three centuries."""
    for load in (1e9, 1e-9):
        with pytest.raises(
            ParameterError, match=r"no rate of arrivals gives load=.* these 2 jobs .* it can be"
        ) as caught:
            generate(2, processors=1, load=load)
        least, greatest = (float(word) for word in str(caught.value).split("it can be ")[1].split(" to "))
        assert least < greatest
        assert span_off(generate(2, processors=1, load=0.99 * greatest), 0.99 * greatest) <= 0.51


def test_arrivals_beyond_what_a_trace_holds_are_refused() -> None:
    """On one processor jobs come so seldom that a hundred thousand take a thousand years."""
    with pytest.raises(
        ParameterError, match=r"jobs=100000 on 1 processors would take .* give fewer jobs or a higher load"
    ):
        generate(100_000, processors=1)
    assert 100_000 == len(generate(100_000, processors=1, load=1.0))


# Odd cases


@pytest.mark.parametrize("jobs", [0, 1, 2])
@pytest.mark.parametrize("processors", [1, 100])
def test_few_jobs(jobs: int, processors: int) -> None:
    """No jobs make an empty trace with the same columns, one or two a sound one."""
    trace = generate(jobs, processors=processors)
    assert jobs == len(trace)
    assert generate(10).jobs.dtypes.to_dict() == trace.jobs.dtypes.to_dict()
    assert processors == trace.processors
    if jobs == 2:
        assert 0.3 == pytest.approx(offered_load(generate(2, processors=processors, load=0.3)), rel=0.01)


def test_one_processor() -> None:
    """On a machine of one processor every job is serial."""
    assert {1} == set(generate(1000, processors=1).arrays.width.tolist())


def test_machine_that_is_no_power_of_two() -> None:
    """On 100 processors the widest rounded jobs have 64; only those not rounded have more, at most 100."""
    sizes = generate(200_000, processors=100, seed=5).arrays.width
    assert 100 == sizes.max()
    wide = CONSTANTS["SIZE_SLOPE"] * math.log2(64) + CONSTANTS["SIZE_OFFSET"]
    assert 0.25 * (1 - wide) == pytest.approx((sizes > 64).mean(), abs=0.001)


@given(
    jobs=st.integers(0, 300),
    processors=st.sampled_from([1, 2, 3, 60, 100, 128, 430, 2**31 - 1]),
    seed=st.integers(0, 2**64 - 1),
    site=st.sampled_from(list(SITES)),
    start_hour=st.integers(0, 23),
)
def test_any_workload_is_sound(jobs: int, processors: int, seed: int, site: str, start_hour: int) -> None:
    """Whole numbers, in order of submission, no job wider than the machine or longer than its request."""
    trace = generate(jobs, processors=processors, seed=seed, site=site, start_hour=start_hour)
    arrays = trace.arrays
    assert list(range(1, jobs + 1)) == arrays.job_number.tolist()
    assert (np.diff(arrays.submit_time) >= 0).all()
    assert (arrays.submit_time >= 0).all()
    assert ((arrays.width >= 1) & (arrays.width <= min(processors, 128))).all()
    assert ((arrays.run_time >= 1) & (arrays.run_time <= arrays.requested_time)).all()
    for times in (arrays.submit_time, arrays.run_time, arrays.requested_time):
        assert np.rint(times).tolist() == times.tolist()


# In use


def test_written_as_swf_it_reads_back() -> None:
    """The trace, written and read, has the same jobs and machine, and says what it is."""
    trace = generate(1000, processors=100, seed=2, site="sdsc", load=0.6, start_hour=6)
    file = io.BytesIO()
    write_swf(trace, file)
    file.seek(0)
    read = read_swf(file)
    names = [name for name in trace.jobs if name != "line_number"]
    pd.testing.assert_frame_equal(trace.jobs[names], read.jobs[names])
    assert (100, 1000) == (read.processors, len(read))
    assert '"site": "sdsc", "load": 0.6, "start_hour": 6}; second 0 is 06:00' in read.header.notes[0]


def test_cleaning_marks_cancelled_jobs_and_finds_nothing_else() -> None:
    """A cancelled job keeps its run time and is marked; no job is repaired or taken away."""
    trace = generate(2000, processors=100, seed=2)
    cleaned, _ = clean(trace)
    assert 2000 == len(cleaned)
    assert (trace.arrays.status == 5).tolist() == cleaned.jobs["is_cancelled"].tolist()
    for name in ("is_never_started", "is_run_time_missing", "is_over_request"):
        assert not cleaned.jobs[name].any()
    pd.testing.assert_series_equal(trace.jobs["run_time"], cleaned.jobs["run_time"])


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"jobs": -1}, "jobs=-1 is not an integer from 0 to 1,000,000,000"),
        ({"jobs": 10.0}, "jobs=10.0 is not"),
        ({"jobs": 10**9 + 1}, "jobs=1000000001 is not"),
        ({"processors": 0}, "processors=0 is not an integer from 1 to 2**31 - 1"),
        ({"processors": 2**31}, "processors=2147483648 is not"),
        ({"processors": True}, "processors=True is not"),
        ({"seed": -1}, "seed=-1 is not an integer from 0 to 2**64 - 1"),
        ({"seed": 2**64}, "seed=18446744073709551616 is not"),
        ({"site": "CTX"}, "site='CTX' is not one of anl, ctc, kth, sdsc"),
        ({"site": None}, "site=None is not"),
        ({"site": ["ctc"]}, "site=['ctc'] is not"),
        ({"load": 0}, "load=0 is not a number from 1e-9 to 1e9, or none"),
        ({"load": math.nan}, "load=nan is not a number from 1e-9 to 1e9, or none"),
        ({"load": "0.8"}, "load='0.8' is not a number from 1e-9 to 1e9, or none"),
        ({"load": 0.8, "jobs": 1}, "load=0.8 is not for fewer than two jobs"),
        ({"start_hour": 24}, "start_hour=24 is not an integer from 0 to 23"),
        ({"start_hour": 1.5}, "start_hour=1.5 is not"),
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the parameter, its value and its domain, however the parameters are given."""
    values = {"jobs": 10, **parameters}
    for make in (
        lambda: CirneBermanParameters(**values),
        lambda: CirneBermanParameters.from_mapping(values),
        lambda: generate(**values),
    ):
        with pytest.raises(ParameterError) as caught:
            make()
        assert f"cirne-berman: {message}" in str(caught.value)


def test_unknown_parameters_are_refused() -> None:
    """A misspelt parameter is told, with those that there are."""
    with pytest.raises(ParameterError, match=r"unknown parameters \['place'\]; there are: jobs, processors, seed"):
        CirneBermanParameters.from_mapping({"place": "ctc"})


def test_parameters_survive_json() -> None:
    """What the manifest records makes the same parameters again."""
    for parameters in (CirneBermanParameters(), CirneBermanParameters(5, 7, 2**64 - 1, "kth", 0.5, 23)):
        mapping = json.loads(json.dumps(parameters.to_mapping()))
        assert parameters == CirneBermanParameters.from_mapping(mapping)
        assert {field.name for field in dataclasses.fields(parameters)} == set(mapping)
