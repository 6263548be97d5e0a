# SPDX-License-Identifier: BSD-3-Clause
"""Generated moldability: constants, distributions and parameters against what is published."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from numba import njit

from swftools import Trace
from swftools.errors import ParameterError
from swftools.keyed_random import STATE_LENGTH, start_stream, step_key
from swftools.models import moldability, speedup
from swftools.models.moldability import SpeedupParameters, generate_speedup
from tests.naive.speedup import CONSTANTS, REFERENCE, naive_moldability, uniform_log

JOBS = 400_000
HUGE = 2**50


def jobs_of(width: int, machine: int, count: int = JOBS) -> Trace:
    """Make jobs of one width on a machine."""
    columns = {"job_number": np.arange(count), "run_time": np.ones(count)}
    return Trace.from_columns(machine_processors=machine, requested_processors=np.full(count, width), **columns)


def choice_counts(generated: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Return how many choices each job has."""
    lists = generated["processor_choices"].array.__arrow_array__()
    return np.asarray(lists.combine_chunks().value_lengths(), dtype=np.int64)


@pytest.fixture(scope="module")
def narrow() -> pd.DataFrame:
    """Jobs of 1 processor on a huge machine: their maximum is the largest useful width."""
    return generate_speedup(jobs_of(1, HUGE), SpeedupParameters(seed=1, constraint="any"))


@pytest.fixture(scope="module")
def wide() -> pd.DataFrame:
    """Jobs as wide as a huge machine: they have room for as many choices as are drawn."""
    return generate_speedup(jobs_of(HUGE, HUGE), SpeedupParameters(seed=2, constraint="any"))


@pytest.fixture(scope="module")
def drawn() -> npt.NDArray[np.float64]:
    """Least width, A and sigma as drawn, before they bound each other."""
    draw_downey, seed, step = moldability._draw_downey, np.uint64(3), np.uint64(step_key("speedup"))
    model = moldability._Model(seed, step, 0, HUGE, 1.0, moldability.ANY, np.ones(6), 1.0, 0, 1.0)

    @njit
    def draws(model: Any, count: int) -> npt.NDArray[np.float64]:
        state, out = np.zeros(STATE_LENGTH, np.uint64), np.empty((3, count))
        for i in range(count):
            start_stream(state, model.seed, model.step, i, 0)
            out[0, i], out[1, i], out[2, i] = draw_downey(state, model)
        return out

    result: npt.NDArray[np.float64] = draws(model, JOBS)
    return result


def assert_share(expected: float, found: float, jobs: int = JOBS, reference: int = REFERENCE["jobs"]) -> None:
    """Assert that two samples have one share, within four standard deviations."""
    tolerance = 4 * math.sqrt(expected * (1 - expected) * (1 / jobs + 1 / reference))
    assert expected == pytest.approx(found, abs=tolerance + 1e-6)


def assert_quantiles(quantiles: dict[str, float], values: npt.ArrayLike, reference: int = REFERENCE["jobs"]) -> None:
    """Assert that the quantiles of a reference are those of a sample, within four standard deviations of the share."""
    numbers = np.sort(np.asarray(values, dtype=np.float64))
    for level, value in quantiles.items():
        share = float(level)
        below, upto = (np.searchsorted(numbers, value, side=side) / len(numbers) for side in ("left", "right"))
        assert_share(share, min(max(share, float(below)), float(upto)), len(numbers), reference)


# Constants


def test_constants_are_the_published_ones() -> None:
    """The table of constants, transcribed from the sources."""
    assert CONSTANTS["least_width"] == {"slope": moldability.LEAST_SLOPE, "offset": moldability.LEAST_OFFSET}
    assert CONSTANTS["choices"] == {"slope": moldability.CHOICES_SLOPE, "offset": moldability.CHOICES_OFFSET}
    assert CONSTANTS["sigma"] == {
        "mean": moldability.SIGMA_MEAN,
        "sd": moldability.SIGMA_SD,
        "factor": SpeedupParameters().sigma_factor,
    }
    assert CONSTANTS["a"] == {
        "slope_log": moldability.A_SLOPE_LOG,
        "slope": moldability.A_SLOPE,
        "offset_log": moldability.A_OFFSET_LOG,
        "offset": moldability.A_OFFSET,
    }
    assert CONSTANTS["survey_shares"] == dict(zip(moldability.KINDS, moldability.SURVEY_SHARES, strict=True))
    assert CONSTANTS["downey_sigma"] == [0, moldability.LARGEST_SIGMA]
    assert list(CONSTANTS["simple_efficiencies"].values()) == list(speedup.EFFICIENCIES)


@pytest.mark.parametrize("model", moldability.MODELS)
def test_many_jobs_are_the_slow_twins(model: Any) -> None:
    """A thousand jobs, each with draws of its own, as the slow twin with the published constants has them."""
    parameters = SpeedupParameters(seed=8, model=model, constraint="survey")
    widths = 1 + np.arange(1000) * 7 % 90
    trace = Trace.from_columns(machine_processors=100, job_number=np.arange(1000), requested_processors=widths)
    generated = generate_speedup(trace, parameters)
    jobs = [{"job_number": i, "job_occurrence": 0, "width": int(widths[i]), "run_time": None} for i in range(1000)]
    expected = pd.DataFrame([naive_moldability(job, parameters.to_mapping(), 100) for job in jobs])
    for name in ("minimum_processors", "optimal_processors", "maximum_processors", "processor_constraint"):
        assert expected[name].tolist() == generated[name].tolist()
    assert expected["processor_choices"].tolist() == generated["processor_choices"].map(list).tolist()
    for name in ("downey_a", "downey_sigma"):
        np.testing.assert_allclose(generated[name], expected[name].astype(float), rtol=1e-9)


# Exact laws


def test_least_width_has_the_exact_law(drawn: npt.NDArray[np.float64]) -> None:
    """P(least <= c) = slope * log2(c) + offset; the largest is that of u = 1."""
    constants = CONSTANTS["least_width"]
    for c in range(1, 42):
        exact = constants["slope"] * math.log2(c) + constants["offset"]
        assert_share(exact, float(np.mean(drawn[0] <= c)), reference=10**15)
    assert REFERENCE["least_width_max"] == drawn[0].max() == math.ceil(uniform_log(1, **constants))


def test_number_of_choices_has_the_exact_law(wide: pd.DataFrame) -> None:
    """P(choices <= c) = slope * log2(c) + offset from 2 on; 19 at most."""
    counts = choice_counts(wide)
    for c in range(2, 19):
        exact = CONSTANTS["choices"]["slope"] * math.log2(c) + CONSTANTS["choices"]["offset"]
        assert_share(exact, float(np.mean(counts <= c)), reference=10**15)
    assert (2, 19) == (counts.min(), counts.max())
    assert 19 == math.ceil(uniform_log(1, **CONSTANTS["choices"])) == moldability._MOST_DRAWN


@pytest.mark.parametrize("least", [1, 2, 3, 8, 20])
def test_a_has_the_exact_law(drawn: npt.NDArray[np.float64], least: int) -> None:
    """Given the least width, log2(A) is uniform, 0 where it would be negative."""
    a = np.sort(drawn[1][drawn[0] == least])
    slope = CONSTANTS["a"]["slope_log"] * math.log2(least) + CONSTANTS["a"]["slope"]
    offset = CONSTANTS["a"]["offset_log"] * math.log2(least) + CONSTANTS["a"]["offset"]
    exact = slope * np.log2(a) + offset
    shares = np.arange(1, len(a) + 1) / len(a)
    assert abs(exact - shares)[a > 1].max() < 2 / math.sqrt(len(a))
    assert_share(max(offset, 0.0), float(np.mean(a == 1)), len(a), 10**15)


def test_downeys_laws() -> None:
    """A is log-uniform on [1, max_parallelism], by default the machine; sigma is uniform on [0, 2]."""
    for most, parameters in ((512, {}), (70, {"max_parallelism": 70})):
        generated = generate_speedup(jobs_of(4, 512), SpeedupParameters(model="downey", **parameters))
        for values in (np.log(generated["downey_a"]) / math.log(most), generated["downey_sigma"] / 2):
            ordered = np.sort(values)
            assert abs(ordered - np.arange(1, JOBS + 1) / JOBS).max() < 2 / math.sqrt(JOBS)
        assert (generated["minimum_processors"] == 1).all()


def test_shares() -> None:
    """moldable_share, and the survey's shares of constraints."""
    rigid = ~generate_speedup(jobs_of(4, 64), SpeedupParameters(moldable_share=0.8))["is_moldable"]
    assert_share(0.2, rigid.mean(), reference=10**15)
    survey = generate_speedup(jobs_of(4, 64), SpeedupParameters(constraint="survey"))["processor_constraint"]
    for kind, share in CONSTANTS["survey_shares"].items():
        assert_share(share, (survey == kind).mean(), reference=10**15)
    none = generate_speedup(jobs_of(4, 64, 1000), SpeedupParameters(moldable_share=0))
    assert {"rigid"} == set(none["processor_constraint"])


def test_all_sets_of_choices_are_equally_likely() -> None:
    """With two others out of 2, 4, 5 and 6 to a width of 3, each of the six pairs comes as often."""
    generated = generate_speedup(jobs_of(3, 64), SpeedupParameters(model="simple", constraint="any", choices=3))
    lists = generated["processor_choices"].array.__arrow_array__().combine_chunks()
    sets, counts = np.unique(lists.flatten().to_numpy().reshape(-1, 3), axis=0, return_counts=True)
    pairs = [[2, 3, 4], [2, 3, 5], [2, 3, 6], [3, 4, 5], [3, 4, 6], [3, 5, 6]]
    assert pairs == sets.tolist()
    for count in counts:
        assert_share(1 / 6, count / JOBS, reference=10**15)


def test_powers_of_two_for_powers_of_two() -> None:
    """By default a job whose width is a power of two gets only such widths, another any."""
    kinds = [set(generate_speedup(jobs_of(width, 64, 100))["processor_constraint"]) for width in (1, 2, 64, 3, 63, 65)]
    assert [{"power-of-two"}] * 3 + [{"any"}] * 3 == kinds


# The independent program


def test_least_widths_of_the_reference(drawn: npt.NDArray[np.float64]) -> None:
    """Its shares of least widths, and of least widths beyond the largest useful one."""
    for width, share in REFERENCE["least_width_pmf"].items():
        assert_share(share, float(np.mean(drawn[0] == int(width))))
    most = speedup.downey_maximum_processors(drawn[1], drawn[2])
    assert_share(REFERENCE["largest_below_least"], float(np.mean(most < drawn[0])))


def test_sigma_of_the_reference(narrow: pd.DataFrame) -> None:
    """Its quantiles, mean, and shares of 0 and of low variance."""
    sigma = narrow["downey_sigma"].to_numpy()
    assert_quantiles({level: q for level, q in REFERENCE["sigma_quantiles"].items() if q > 0}, sigma)
    assert_share(REFERENCE["sigma_zero"], float(np.mean(sigma == 0)))
    assert_share(REFERENCE["sigma_at_most_1"], float(np.mean(sigma <= 1)))
    assert REFERENCE["sigma_mean"] == pytest.approx(sigma.mean(), abs=4 * sigma.std() / math.sqrt(JOBS / 2))


def test_a_of_the_reference(narrow: pd.DataFrame, drawn: npt.NDArray[np.float64]) -> None:
    """Its quantiles, and those given the least width."""
    assert_quantiles(REFERENCE["a_quantiles"], narrow["downey_a"])
    assert REFERENCE["a_max"] == pytest.approx(narrow["downey_a"].max(), rel=0.01)
    for width, quantiles in REFERENCE["a_quantiles_given_least_width"].items():
        share = REFERENCE["least_width_pmf"][width]
        assert_quantiles(quantiles, drawn[1][drawn[0] == int(width)], round(share * REFERENCE["jobs"]))


def test_largest_widths_of_the_reference(narrow: pd.DataFrame) -> None:
    """Its quantiles of the largest useful width."""
    assert_quantiles(REFERENCE["largest_width_quantiles"], narrow["maximum_processors"])


def test_choices_of_the_reference(wide: pd.DataFrame) -> None:
    """Its shares of numbers of choices, and their mean."""
    counts = choice_counts(wide)
    for count, share in REFERENCE["choices_pmf"].items():
        assert_share(share, float(np.mean(counts == int(count))))
    assert REFERENCE["choices_mean"] == pytest.approx(counts.mean(), abs=4 * counts.std() / math.sqrt(JOBS / 2))


def test_mean_optimum_as_published() -> None:
    """On 128 processors any size allowed, the mean optimum is 75.6 here, and printed as 69 for one sample of jobs."""
    published = REFERENCE["published_mean_optimum"]
    generated = generate_speedup(jobs_of(12, published["machine"]), SpeedupParameters(constraint="any"))
    assert 75.6 == pytest.approx(generated["optimal_processors"].mean(), abs=0.4)
    assert published["mean"] == pytest.approx(generated["optimal_processors"].mean(), rel=0.1)


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"seed": -1}, "seed=-1 is not an integer from 0 to 2**64 - 1"),
        ({"model": "amdahl"}, "model='amdahl' is not one of cirne-berman, simple, downey"),
        ({"model": None}, "model=None is not one of"),
        ({"moldable_share": 1.1}, "moldable_share=1.1 is not a number from 0 to 1"),
        ({"moldable_share": True}, "moldable_share=True is not a number from 0 to 1"),
        ({"constraint": "rigid"}, "constraint='rigid' is not one of any, power-of-two, p2bias, survey"),
        ({"constraint": ["any"]}, "constraint=['any'] is not one of"),
        ({"sigma_factor": -1}, "sigma_factor=-1 is not a number from 0 to 1e6"),
        ({"sigma_factor": math.nan}, "sigma_factor=nan is not"),
        ({"choices": 0}, "choices=0 is not an integer from 1 to 100"),
        ({"choices": 2.0}, "choices=2.0 is not an integer from 1 to 100"),
        ({"max_parallelism": 0}, "max_parallelism=0 is not an integer from 1 to 2**40"),
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the parameter, its value and its domain."""
    with pytest.raises(ParameterError) as caught:
        SpeedupParameters.from_mapping(parameters)
    assert f"speedup: {message}" in str(caught.value)


def test_parameters_survive_json() -> None:
    """What the manifest records makes the same parameters again."""
    for parameters in (SpeedupParameters(), SpeedupParameters(4, "downey", 0.5, "any", 2.5, 7, 40)):
        assert parameters == SpeedupParameters.from_mapping(json.loads(json.dumps(parameters.to_mapping())))


def test_sigma_factor_slows_jobs_down() -> None:
    """The same draws with a larger sigma: the multiple, and more sequential time for the same run time never."""
    tables = [generate_speedup(jobs_of(8, 64, 1000), SpeedupParameters(sigma_factor=k)) for k in (0, 1, 3)]
    np.testing.assert_allclose(tables[2]["downey_sigma"], 3 * tables[1]["downey_sigma"], rtol=1e-12)
    assert (tables[0]["downey_sigma"] == 0).all()
    for less, more in pairwise(tables):
        assert (more["sequential_run_time"] <= less["sequential_run_time"] * (1 + 1e-12)).all()
