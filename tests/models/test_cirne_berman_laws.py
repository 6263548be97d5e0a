# SPDX-License-Identifier: BSD-3-Clause
"""Cirne-Berman workloads have the published constants, and are distributed as these imply."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from swftools.models import cirne_berman
from swftools.models.cirne_berman import SITES, generate
from swftools.trace import JobArrays
from tests.naive.cirne_berman import CONSTANTS, REFERENCE


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


@pytest.mark.parametrize("processors", ["128", pytest.param("256", marks=pytest.mark.slow)])
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
        trace = generate(100_000, processors=8_600, site="ctc", start_hour=start_hour)
        hours = (trace.arrays.submit_time // 3600 + start_hour) % 24
        assert 12 == np.bincount(hours.astype(np.int64)).argmax()
