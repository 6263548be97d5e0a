"""Cirne-Berman workloads: equal to a slow twin with the published constants, and distributed as these imply."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
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
from swftools.trace import JobArrays, Trace
from tests.naive_lublin_feitelson import naive_gamma, naive_uniforms

REFERENCE = json.loads((Path(__file__).parent / "reference" / "cirne_berman_rigid.json").read_text(encoding="utf-8"))
CONSTANTS: dict[str, float] = REFERENCE["constants"]
QUIET = 3973
"""Seconds of the night at which kth's rate is not positive."""


# The slow twin


def naive_uniform_log(u: float, name: str) -> float:
    """Return where the distribution function slope * log2(x) + offset is u."""
    return math.pow(2, (u - CONSTANTS[f"{name}_OFFSET"]) / CONSTANTS[f"{name}_SLOPE"])


def naive_job(number: int, processors: int, seed: int) -> tuple[int, int, int, bool]:
    """Return size, requested time, run time and whether it is cancelled of a job, counted from 0."""
    draws = naive_uniforms(seed, "cirne-berman/job", number)
    size = max(1, math.ceil(naive_uniform_log(next(draws), "SIZE")))
    if next(draws) < CONSTANTS["POWER_OF_TWO_PROBABILITY"]:
        powers = [2**k for k in range(32) if 2**k <= processors]
        size = min(powers, key=lambda power: abs(math.log2(power) - math.log2(size)))
    size = min(size, processors)
    requested = max(1, math.ceil(naive_uniform_log(next(draws), "REQUEST")))
    is_cancelled = next(draws) < CONSTANTS["CANCEL_PROBABILITY"]
    accuracy = CONSTANTS["ACCURACY_SCALE"] * naive_gamma(draws, CONSTANTS["ACCURACY_SHAPE"])
    accuracy = min(max(accuracy, CONSTANTS["LEAST_ACCURACY"]), 1.0)
    return size, requested, math.ceil(accuracy * requested), is_cancelled


def naive_submissions(count: int, processors: int, site: str, phase: float, start: int, factor: float) -> list[int]:
    """Return submissions, by adding each second's rate, exactly, and taking off what a job takes."""
    published, one = REFERENCE["sites"][site], Fraction(CONSTANTS["RATE_PER_JOB"])
    scale = Fraction(processors, published["processors"]) * Fraction(factor)
    rates = []
    for second in range(86_400):
        x, rate = second / 86_400 - 0.5, 0.0
        for coefficient in published["coefficients"]:
            rate = rate * x + coefficient
        rates.append(int(max(rate, 0.0) * 2.0**60))
    job = math.floor(one / scale * 2**60)
    together, submissions, second = math.floor(phase * job), list[int](), 0
    while len(submissions) < count:
        together += rates[(start + second) % 86_400]
        while together >= job and len(submissions) < count:
            submissions.append(second)
            together -= job
        second += 1
    return submissions


def naive_phase(seed: int) -> float:
    """Return the share of a job that has come together at second 0."""
    return next(naive_uniforms(seed, "cirne-berman/phase", 0))


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


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize(("scale", "start_hour", "factor"), [(1, 0, 1.0), (1, 5, 1.7), (50, 4, 0.3), (2000, 23, 1.0)])
def test_submissions_are_the_slow_twins(site: str, scale: int, start_hour: int, factor: float) -> None:
    """Submissions are those of adding second by second, on machines small and large and from any hour."""
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


# Published constants, and what they imply


def test_constants_are_the_published_ones() -> None:
    """Every constant of the model is as published."""
    assert CONSTANTS == {name: getattr(cirne_berman, name) for name in CONSTANTS}
    sites = REFERENCE["sites"]
    assert {name: (site["processors"], site["coefficients"]) for name, site in sites.items()} == {
        name: (site.processors, list(site.coefficients)) for name, site in SITES.items()
    }


@pytest.fixture(scope="module")
def many() -> JobArrays:
    """A million jobs on 128 processors, as many as the reference has."""
    return generate(REFERENCE["jobs"], processors=128, seed=11).arrays


def tolerance(probability: float, count: int = REFERENCE["jobs"]) -> float:
    """Return five standard errors of the difference of two shares, of as many jobs as the reference and of these."""
    return 5 * math.sqrt(probability * (1 - probability) * (1 / count + 1 / REFERENCE["jobs"]))


def assert_quantiles(values: np.ndarray[Any, Any], quantiles: Mapping[str, float], rounding: float = 1) -> None:
    """Assert that as many values lie below each quantile as should; values are rounded up."""
    for text, quantile in quantiles.items():
        share = float(text)
        off = tolerance(share, len(values))
        below = (values < quantile).mean()  # even where all that are rounded up to it were below
        up_to = (values <= math.ceil(quantile / rounding) * rounding).mean()
        assert below - off <= share <= up_to + off, (text, quantile)


@pytest.mark.parametrize("processors", ["128", "256"])
def test_sizes_are_distributed_as_implied(many: JobArrays, processors: str) -> None:
    """Quantiles, mean, serial share and share of powers of two are the reference's."""
    sizes = many.width if processors == "128" else generate(1_000_000, processors=256, seed=12).arrays.width
    expected = REFERENCE["sizes"][processors]
    assert_quantiles(sizes, expected["quantiles"])
    for name, share in (("serial", sizes == 1), ("power_of_two", sizes & (sizes - 1) == 0)):
        assert expected[name] == pytest.approx(share.mean(), abs=tolerance(expected[name]))
    assert expected["mean"] == pytest.approx(sizes.mean(), abs=5 * sizes.std() * math.sqrt(2e-6))
    assert sizes.max() == 128


def test_each_size_is_as_frequent_as_its_law_says(many: JobArrays) -> None:
    """The share of each size is that of the closed form."""
    slope, offset, rounded = (CONSTANTS[name] for name in ("SIZE_SLOPE", "SIZE_OFFSET", "POWER_OF_TWO_PROBABILITY"))
    up_to = [0.0] + [min(slope * math.log2(n) + offset, 1.0) for n in range(1, 129)]
    expected = np.zeros(129)
    for n in range(1, 129):
        share = up_to[n] - up_to[n - 1]
        expected[n] += (1 - rounded) * share
        expected[2 ** round(math.log2(n))] += rounded * share
    assert sum(expected) == pytest.approx(1)
    shares = np.bincount(many.width, minlength=129) / len(many.width)
    assert (abs(shares - expected) <= 5 * np.sqrt(expected * (1 - expected) / len(many.width))).all()


def test_requested_times_are_distributed_as_implied(many: JobArrays) -> None:
    """Quantiles and mean are the reference's; they lie between 181 s and 51 hours."""
    requested, expected = many.requested_time, REFERENCE["requested_time"]
    assert_quantiles(requested, expected["quantiles"])
    assert expected["mean"] == pytest.approx(requested.mean(), abs=5 * requested.std() * math.sqrt(2e-6))
    assert 182 == requested.min()
    assert 185_300 < requested.max() <= 185_364


def test_run_times_are_distributed_as_implied(many: JobArrays) -> None:
    """Quantiles are the reference's, rounded up; as many jobs as there run all the time they asked for."""
    assert_quantiles(many.run_time, REFERENCE["run_time"]["quantiles"])
    assert (many.run_time >= 1).all()
    assert (many.run_time <= many.requested_time).all()


def test_accuracy_is_distributed_as_implied(many: JobArrays) -> None:
    """Quantiles, mean and the share of ones are the reference's, seen where a second is little of the request."""
    long = many.requested_time > 50_000
    accuracy, expected = many.run_time[long] / many.requested_time[long], REFERENCE["accuracy"]
    assert_quantiles(accuracy, expected["quantiles"], rounding=1 / 50_000)
    off = tolerance(expected["is_1"], long.sum()) + 1e-5  # a run time within a second of the request
    assert expected["is_1"] == pytest.approx((accuracy == 1).mean(), abs=off)
    error = 5 * accuracy.std() * math.sqrt(1 / long.sum() + 1e-6) + 1e-5
    assert expected["mean"] == pytest.approx(accuracy.mean(), abs=error)


def test_least_accuracy_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job runs the least accuracy of its request at least: half of it if that were 0.5."""
    monkeypatch.setattr(cirne_berman, "LEAST_ACCURACY", 0.5)
    monkeypatch.setattr(cirne_berman, "_draw_jobs", cirne_berman._draw_jobs.py_func)
    jobs = generate(2000).jobs
    least = np.ceil(jobs["requested_time"] / 2)
    assert (least <= jobs["run_time"]).all()
    assert 0.7 < (least == jobs["run_time"]).mean() < 0.8


def test_share_of_cancelled_jobs(many: JobArrays) -> None:
    """As many jobs are cancelled as should be, and all others have no status."""
    assert {-1, 5} == set(many.status.tolist())
    assert CONSTANTS["CANCEL_PROBABILITY"] == pytest.approx((many.status == 5).mean(), abs=tolerance(0.15))


def test_draws_of_a_job_are_independent(many: JobArrays) -> None:
    """Size, requested time, accuracy and cancellation have nothing to do with each other."""
    columns = many.width, many.requested_time, many.run_time / many.requested_time, many.status
    correlations = np.corrcoef(columns)[np.triu_indices(4, 1)]
    assert (abs(correlations) < 0.005).all()


@pytest.mark.parametrize("site", SITES)
def test_arrivals_of_a_day_are_the_published_ones(site: str) -> None:
    """On a machine a thousand times as large, a thousand times as many jobs come in each hour, and in the day.

    kth has more, by what its negative rates of the night take off in the reference.
    """
    published = REFERENCE["sites"][site]
    count = 2500 * published["processors"]
    trace = generate(count, processors=1000 * published["processors"], site=site, seed=2)
    hours = trace.arrays.submit_time // 3600
    per_hour = np.bincount(hours.astype(np.int64), minlength=24)[:24] / 1000
    more = per_hour - published["jobs_per_hour"]
    expected = np.zeros(24)
    if site == "kth":
        expected[4:6] = 0.0219, 0.0291
    np.testing.assert_allclose(more, expected, atol=0.0015)
    assert published["jobs_per_day"] + expected.sum() == pytest.approx(per_hour.sum(), abs=0.0015)


@pytest.mark.parametrize("site", SITES)
def test_days_repeat(site: str) -> None:
    """Over many days as many jobs come as a day has: arrivals are no random process."""
    published = REFERENCE["sites"][site]
    days = 100
    per_day = published["jobs_per_day"] + (0.0516 if site == "kth" else 0)
    count = math.floor(days * per_day)
    submissions = generate(count, processors=published["processors"], site=site, seed=4).arrays.submit_time
    assert days == pytest.approx(submissions[-1] / 86_400, abs=0.6)
    assert (np.diff(submissions) >= 0).all()


def test_hours_begin_at_the_start_hour() -> None:
    """Second 0 is the start hour: the busiest hours of ctc come that much earlier."""
    for start_hour in (0, 5, 23):
        trace = generate(500_000, processors=43_000, site="ctc", start_hour=start_hour)
        hours = (trace.arrays.submit_time // 3600 + start_hour) % 24
        assert 12 == np.bincount(hours.astype(np.int64)).argmax()


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
@pytest.mark.parametrize("load", [0.01, 0.8, 1.0, 50.0])
@pytest.mark.parametrize("processors", [1, 128, 1000])
def test_load_is_met(site: str, load: float, processors: int) -> None:
    """The offered load is the one asked for, to a second of submission; at kth to half its quiet time of the night."""
    for seed, jobs in enumerate([10_000, 500]):
        trace = generate(jobs, processors=processors, site=site, load=load, seed=seed, start_hour=seed)
        assert span_off(trace, load) <= (QUIET / 2 if site == "kth" else 0.51)
        if jobs == 10_000 and site != "kth":
            assert load == pytest.approx(offered_load(trace), rel=1e-4)


def test_load_keeps_the_cycle_of_the_day() -> None:
    """A load changes the rate by one factor: the provenance tells it, and with it come the same submissions."""
    trace = generate(5000, processors=430, load=0.5, seed=3, start_hour=7)
    parameters = CirneBermanParameters(5000, 430, 3, start_hour=7)
    factor = trace.provenance["rate_factor"]
    assert 0.5 / 0.937 == pytest.approx(factor, rel=0.1)  # the load at ctc's rate
    expected = naive_submissions(5000, 430, "ctc", naive_phase(parameters.seed), 7 * 3600, factor)
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
        ({"site": "CTC"}, "site='CTC' is not one of anl, ctc, kth, sdsc"),
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
