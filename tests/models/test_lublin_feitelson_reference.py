# SPDX-License-Identifier: BSD-3-Clause
"""The Lublin-Feitelson model beside the authors' program: constants, and what they give."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from scipy.integrate import quad

from swftools.models import lublin_feitelson, lublin_feitelson_arrivals
from swftools.models.daily_cycle import BUCKET, BUCKETS, DAY, gamma_weights
from swftools.models.lublin_feitelson import LublinFeitelsonParameters, generate
from swftools.models.lublin_feitelson_arrivals import arrival_times
from swftools.models.lublin_feitelson_types import (
    JOB_TYPES,
    MAX_GAP_LOG,
    MAX_RUN_TIME_LOG,
    REFERENCE_PROCESSORS,
    JobType,
    mean_gap,
)
from swftools.offered_work import offered_load
from tests.examples import by_day, pairs
from tests.folders import REFERENCES
from tests.naive.lublin_feitelson import naive_generate
from tests.pages import table_on_page

REFERENCE = json.loads((REFERENCES / "lublin_feitelson.json").read_text(encoding="utf-8"))
CONFIGURATIONS: dict[str, dict[str, Any]] = REFERENCE["configurations"]
JOBS = 300_000
SEEDS = (1, 2)
FARTHEST = 0.005
"""Largest distance between distributions; two seeds of the reference are up to 0.011 apart, with a third of the jobs.
"""


class Sample(NamedTuple):
    """What is looked at of a generated workload: also its arrivals before they are rounded."""

    width: npt.NDArray[np.int32]
    run_time: npt.NDArray[np.float64]
    is_batch: npt.NDArray[np.bool_]
    times: npt.NDArray[np.float64]
    load: float | None


@cache
def sample(name: str, seed: int) -> Sample:
    """Generate a workload of a configuration."""
    given = {key: CONFIGURATIONS[name][key] for key in ("processors", "types", "overrides")}
    parameters = LublinFeitelsonParameters(jobs=JOBS, seed=seed, **given)
    times, _ = arrival_times(JOBS, parameters.job_types, seed=seed)
    trace = generate(JOBS, seed=seed, **given)
    jobs = trace.arrays
    return Sample(jobs.width.astype(np.int32), jobs.run_time, jobs.queue_id == 1, times, offered_load(trace))


each_configuration = pytest.mark.parametrize("name", CONFIGURATIONS)
each_seed = pytest.mark.parametrize("seed", by_day(SEEDS, 1))


def distance(values: npt.NDArray[np.float64], quantiles: list[float]) -> float:
    """Return how far values are from a distribution given by quantiles at equal steps of the level.

    Where a quantile is one of many equal values, its level must lie between the shares below it and up to it.
    """
    levels, count = np.arange(1, len(quantiles) + 1) / (len(quantiles) + 1), len(values)
    ordered = np.sort(values)
    up_to = np.searchsorted(ordered, quantiles, side="right") / count
    below = np.searchsorted(ordered, np.ceil(quantiles), side="left") / count
    return float(np.maximum(levels - up_to, below - levels).max())


# Constants


@pytest.mark.parametrize("name", REFERENCE["constants"])
def test_constants_are_those_of_the_paper(name: str) -> None:
    """Every parameter of every type."""
    assert REFERENCE["constants"][name] == asdict(JOB_TYPES[name])


def test_limits_are_those_of_the_program() -> None:
    """The longest run time and gap, the half hours, the cut of the day, the machine of the published sizes."""
    limits = REFERENCE["limits"]
    assert (limits["run_time_log"], limits["gap_log"]) == (MAX_RUN_TIME_LOG, MAX_GAP_LOG)
    assert (limits["buckets"], limits["bucket_seconds"]) == (BUCKETS, BUCKET)
    assert limits["buckets"] * limits["bucket_seconds"] == DAY
    assert limits["processors"] == REFERENCE_PROCESSORS
    # What compiled code took over, and what an argument left out stands for.
    assert (MAX_RUN_TIME_LOG, MAX_GAP_LOG) == (
        lublin_feitelson.MAX_RUN_TIME_LOG,
        lublin_feitelson_arrivals.MAX_GAP_LOG,
    )
    assert gamma_weights(8, 4, limits["day_start"]).tolist() == gamma_weights(8, 4).tolist()


@pytest.mark.parametrize("name", REFERENCE["weights"])
def test_weights_of_the_day_are_those_of_the_program(name: str) -> None:
    """All 48, to nine digits."""
    job_type = JOB_TYPES[name]
    assert REFERENCE["weights"][name] == pytest.approx(gamma_weights(job_type.anum, job_type.bnum).tolist(), rel=2e-8)


@pytest.mark.parametrize("name", REFERENCE["mean_gap"])
def test_mean_times_between_arrivals(name: str) -> None:
    """The mean of e^g below e^13."""
    assert REFERENCE["mean_gap"][name] == round(JOB_TYPES[name].mean_gap, 1)


@pytest.mark.parametrize(
    ("shape", "scale"), [(10, 0.5), (6, 0.86), (1, 0.3), (0.5, 0.99), (4, 1.0), (3, 1.5), (0.7, 2.0), (2, 30.0)]
)
def test_mean_gap_is_the_integral(shape: float, scale: float) -> None:
    """The closed form, and the integral for a scale of 1 and more, by a sum over the quantiles."""
    share = stats.gamma.cdf(13, shape, scale=scale)
    mean = quad(lambda p: math.exp(stats.gamma.ppf(p * share, shape, scale=scale)), 0, 1, epsrel=1e-8)[0]
    assert mean == pytest.approx(mean_gap(shape, scale), rel=1e-5)


@pytest.mark.parametrize("types", ["all", "batch", "interactive", "mix"])
def test_published_constants_give_the_jobs_of_the_slow_twin(types: str) -> None:
    """With the constants as transcribed from the paper, a slow program generates the same jobs."""
    count = 3000
    names = {"mix": ["interactive", "batch"]}.get(types, [types])
    expected = naive_generate(count, {name: REFERENCE["constants"][name] for name in names}, 128, seed=5)
    jobs = generate(count, seed=5, types=types).arrays
    assert [size for _, _, size, _ in expected] == jobs.width.tolist()
    assert [run_time for _, _, _, run_time in expected] == jobs.run_time.tolist()
    times, _ = arrival_times(count, LublinFeitelsonParameters(types=types).job_types, seed=5)
    np.testing.assert_allclose([time for _, time, _, _ in expected], times, rtol=1e-9)
    np.testing.assert_array_equal(np.rint(times), jobs.submit_time)


def test_page_has_the_constants() -> None:
    """The page's table has every constant of every type, in order."""
    table = table_on_page("workload_models.md", "constant")
    assert JobType.names() == list(table)
    for column, name in enumerate(("batch", "interactive", "all")):
        assert REFERENCE["constants"][name] == {parameter: float(row[column]) for parameter, row in table.items()}


# Distributions


@each_configuration
@each_seed
def test_sizes(name: str, seed: int) -> None:
    """The distribution of sizes, the shares of serial jobs and of powers of two, and the mean."""
    reference, width = CONFIGURATIONS[name], sample(name, seed).width
    expected = np.array(reference["size_shares"])
    assert width.max() <= len(expected)
    shares = np.bincount(width, minlength=len(expected) + 1)[1:] / JOBS
    assert abs(np.cumsum(shares) - np.cumsum(expected)).max() < FARTHEST
    assert abs(shares[0] - reference["serial_share"]) < 0.003
    assert abs((width & (width - 1) == 0).mean() - reference["power_of_two_share"]) < 0.003
    assert abs(width.mean() / reference["mean_size"] - 1) < 0.025


@each_configuration
@each_seed
def test_run_times(name: str, seed: int) -> None:
    """The distribution of run times."""
    run_time = sample(name, seed).run_time
    assert distance(run_time, CONFIGURATIONS[name]["run_times"]) < FARTHEST
    assert run_time.min() >= 1
    assert run_time.max() <= math.exp(12)


@each_configuration
@each_seed
def test_run_times_by_size(name: str, seed: int) -> None:
    """Quantiles of the run times of narrow and wide jobs, within what chance has it in both."""
    jobs = sample(name, seed)
    for sizes, quantiles in CONFIGURATIONS[name]["run_times_by_size"].items():
        least, _, most = sizes.rstrip("+").partition("-")
        of_class = (jobs.width >= int(least)) & (jobs.width <= int(most or (10**9 if "+" in sizes else least)))
        run_time = jobs.run_time[of_class]
        for level, value in list(quantiles.items())[1:]:
            chance = math.sqrt(float(level) * (1 - float(level)) * (1 / len(run_time) + 1 / quantiles["jobs"]))
            # batch and interactive jobs are mixed by their arrivals, which makes for another few parts in a thousand
            slack = 4 * chance + (0.01 if "mix" in name else 0.001)
            assert (run_time <= value).mean() > float(level) - slack
            assert (run_time < value).mean() < float(level) + slack


@each_configuration
@each_seed
def test_times_between_arrivals(name: str, seed: int) -> None:
    """The distribution of the times between arrivals, in whole seconds as the program has them."""
    gaps = np.floor(np.diff(sample(name, seed).times, prepend=0.0))
    assert distance(gaps, CONFIGURATIONS[name]["gaps"]) < FARTHEST


@each_configuration
@each_seed
def test_daily_cycle(name: str, seed: int) -> None:
    """The share of each half hour of the day."""
    half_hours = (sample(name, seed).times % DAY // BUCKET).astype(int)
    shares = np.bincount(half_hours, minlength=48) / JOBS
    assert abs(shares - CONFIGURATIONS[name]["day_profile"]).sum() / 2 < 0.02


@each_configuration
@each_seed
def test_load(name: str, seed: int) -> None:
    """The offered load, within what it varies from seed to seed."""
    reference = CONFIGURATIONS[name]
    spread = reference["load_sd"] * math.sqrt(100_000 / JOBS + 1 / 10)
    assert abs((sample(name, seed).load or 0) - reference["load"]) < 4 * spread


@pytest.mark.parametrize("name", ["typed_mix_128", "typed_mix_256"])
@each_seed
def test_mix(name: str, seed: int) -> None:
    """The share of batch jobs, within what it varies from seed to seed: 0.007 in 100,000 jobs."""
    share = sample(name, seed).is_batch.mean()
    assert abs(share - CONFIGURATIONS[name]["batch_share"]) < 4 * 0.0072 * math.sqrt(100_000 / JOBS + 1 / 10)


def test_load_by_alpha() -> None:
    """The loads of eleven alphas on two machines, within what they vary from seed to seed: some 2.5 %."""
    ratios = []
    for processors, alpha, load in REFERENCE["alpha_scan"]:
        overrides = {"all": {"u_med": math.log2(processors) - 2.5, "u_hi": math.log2(processors)}}
        trace = generate(100_000, processors=processors, seed=4, alpha=alpha, overrides=overrides)
        ratios.append(math.log((offered_load(trace) or 0) / load))
    assert np.abs(ratios).max() < 4 * 0.025 * math.sqrt(2)
    assert abs(np.mean(ratios)) < 0.04


# Theory


@pytest.mark.parametrize("name", JOB_TYPES)
def test_generated_gaps_are_a_cut_gamma(name: str) -> None:
    """The logarithms of the times between arrivals are gamma, cut off at 13."""
    job_type = JOB_TYPES[name]
    gamma = stats.gamma(job_type.aarr * job_type.arar, scale=job_type.barr)
    logarithms = np.log(lublin_feitelson_arrivals._gaps(JOBS, name, job_type, 3))
    assert logarithms.max() <= 13
    assert stats.kstest(logarithms, lambda g: gamma.cdf(g) / gamma.cdf(13)).statistic < 2.3 / math.sqrt(JOBS)


@pytest.mark.parametrize("name", JOB_TYPES)
def test_generated_sizes_are_the_published_mixture(name: str) -> None:
    """Each size has the share that two uniform logarithms, rounded or not, give it."""
    values = REFERENCE["constants"][name]

    def below(x: float) -> float:
        """Return the share of parallel jobs whose logarithm is below x."""
        low, middle, high = values["u_low"], values["u_med"], values["u_hi"]
        first = min(max((x - low) / (middle - low), 0), 1)
        second = min(max((x - middle) / (high - middle), 0), 1)
        return float(values["u_prob"] * first + (1 - values["u_prob"]) * second)

    serial, power = values["serial_probability"], values["power_of_two_probability"]
    expected = np.zeros(129)
    expected[1] = serial
    for exponent in range(8):
        expected[2**exponent] += power * (below(exponent + 0.5) - below(exponent - 0.5))
    for size in range(1, 129):
        limits = math.log2(size - 0.5), math.log2(size + 0.5)
        expected[size] += (1 - serial - power) * (below(limits[1]) - below(limits[0]))
    assert expected.sum() == pytest.approx(1)
    shares = np.bincount(generate(JOBS, seed=7, types=name).arrays.width, minlength=129) / JOBS
    assert (abs(shares - expected) <= 5 * np.sqrt(expected / JOBS) + 1e-12).all()


@pytest.mark.parametrize("name", JOB_TYPES)
def test_generated_run_times_are_the_published_mixture(name: str) -> None:
    """Serial jobs' run times are a mixture of two gammas, each drawn again with its branch above e^12 s."""
    values: dict[str, float] = REFERENCE["constants"][name]
    jobs = generate(JOBS, seed=8, types=name).arrays
    first = values["pa"] + values["pb"]
    gammas = [stats.gamma(values[f"a{i}"], scale=values[f"b{i}"]) for i in (1, 2)]

    def share(run_time: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the share of jobs whose whole seconds are at most these."""
        low, high = (gamma.cdf(np.log(run_time + 1)) for gamma in gammas)
        below: npt.NDArray[np.float64] = first * low + (1 - first) * high
        return below / (first * gammas[0].cdf(12) + (1 - first) * gammas[1].cdf(12))

    run_time = np.sort(jobs.run_time[jobs.width == 1])
    up_to = np.searchsorted(run_time, run_time, side="right") / len(run_time)
    assert abs(up_to - share(run_time)).max() < 2.3 / math.sqrt(len(run_time))


@pytest.mark.parametrize(
    ("name", "factor"), pairs(["a1", "b1", "a2", "b2", "aarr", "barr", "arar"], [0.99, 1.01], each=1)
)
def test_these_distributions_tell_one_percent(name: str, factor: float) -> None:
    """The measure is sharp: with a parameter of the gammas moved by a hundredth the distances exceed their bound."""
    values = asdict(JOB_TYPES["all"])
    moved: JobType = replace(JOB_TYPES["all"], **{name: values[name] * factor})
    trace = generate(JOBS, seed=1, overrides={"all": asdict(moved)})
    times, _ = arrival_times(JOBS, {"all": moved}, seed=1)
    gaps = np.floor(np.diff(times, prepend=0.0))
    reference = CONFIGURATIONS["all_128"]
    distances = distance(trace.arrays.run_time, reference["run_times"]), distance(gaps, reference["gaps"])
    assert max(distances) > FARTHEST
