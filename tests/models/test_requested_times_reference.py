# SPDX-License-Identifier: BSD-3-Clause
"""User estimates are those of the authors' program."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools.models import distribution_of_requests as model
from tests.models.requested_time_samples import as_pairs, drawn, estimates_of, jobs_of
from tests.naive.requested_times import CONSTANTS, REFERENCE

SEEDS = 200


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_are_the_authors(name: str) -> None:
    """Every constant is the one transcribed from the authors' program."""
    ours = getattr(model, name)
    assert CONSTANTS[name] == (np.array(ours).tolist() if isinstance(ours, tuple) else ours)


def cases(by_day: int = 1) -> list[Any]:
    """Return the histograms of the reference, every so many of them by day."""
    return [
        pytest.param(row, id=f"{row['jobs']}-{row['maximum']}", marks=[pytest.mark.slow] if place % by_day else [])
        for place, row in enumerate(REFERENCE["histograms"])
    ]


@pytest.mark.parametrize("reference", cases())
def test_sizes_are_the_authors(reference: dict[str, Any]) -> None:
    """The number of estimates, and the largest forty numbers of jobs, are those of the program to the last job."""
    times, counts = drawn(reference["jobs"], reference["maximum"])
    percents = np.sort(counts)[::-1] * 100 / reference["jobs"]
    assert reference["distinct"] == len(times)
    assert REFERENCE["largest_sizes_percent"][str(reference["jobs"])] == pytest.approx(percents[:40].tolist(), abs=1e-9)
    assert reference["top20_percent"] == pytest.approx(percents[:20].sum(), abs=1e-9)
    assert reference["rank1_percent"] == pytest.approx(counts[-1] * 100 / reference["jobs"], abs=1e-9)
    assert reference["maximum"] == times[-1]


@pytest.mark.parametrize("reference", [case for case in cases() if case.values[0]["head_times"]])
def test_times_are_the_authors(reference: dict[str, Any]) -> None:
    """The times of head and tail do not depend on the seed: the quantiles are those of the program, to the second."""
    times, _ = drawn(reference["jobs"], reference["maximum"])
    head, quantiles = reference["head_times"], reference["tail_time_quantiles"]
    assert head == sorted(model._head_times(reference["maximum"]))
    tail = times[~np.isin(times, head)]
    assert list(quantiles.values()) == pytest.approx(
        np.quantile(tail, [float(q) for q in quantiles]).tolist(), abs=0.01
    )


@pytest.mark.parametrize("reference", cases(by_day=9))
def test_popularity_is_the_authors(reference: dict[str, Any]) -> None:
    """The mean over 10 seeds of each common time's share, and of the estimate, is within 3 standard errors of ours."""
    jobs, times = reference["jobs"], [float(time) for time in reference["mean_percent_by_time"]]
    shares, means = [], []
    for seed in range(SEEDS):
        distribution = drawn(jobs, reference["maximum"], seed)
        found = dict(as_pairs(distribution))
        shares.append([100 * found.get(time, 0) / jobs for time in times])
        means.append(float(distribution.times @ distribution.counts) / jobs)
    theirs = np.array([*reference["mean_percent_by_time"].values(), np.mean(reference["mean_estimate"])])
    ours = np.column_stack([shares, means])
    error = ours.std(axis=0, ddof=1) * math.sqrt(1 / 10 + 1 / SEEDS)
    assert (abs(ours.mean(axis=0) - theirs) <= 3 * error + 1e-3).all()


def test_accuracy_is_the_authors() -> None:
    """On run times of the Lublin-Feitelson model, run time / estimate is distributed as in the authors' program.

    The reference are 5 traces of 10,000 jobs, here are 20. Of each figure (mean, deciles, shares of jobs by tenths,
    rank correlation) the two means differ by less than 3 standard errors, from the spread of the traces.
    """
    grid = np.array(REFERENCE["run_time_quantiles"])
    levels = np.arange(1, len(grid) + 1) / (len(grid) + 1)
    ours = []
    for seed in range(20):
        run_time = np.floor(np.interp(np.random.default_rng(seed).random(10_000), levels, grid))
        estimates = np.array(estimates_of(jobs_of(*run_time), seed=seed, maximum=172_800))
        accuracy = run_time / estimates
        shares = np.histogram(accuracy, np.linspace(0, 1, 11))[0] / 10_000
        ranks = pd.DataFrame({"run": run_time, "estimate": estimates}).rank().corr().iloc[0, 1]
        ours.append([accuracy.mean(), *np.quantile(accuracy, np.arange(1, 10) / 10), *shares, ranks])
    theirs = [
        [row["mean"], *row["deciles"], *row["histogram_of_tenths"], row["spearman"]] for row in REFERENCE["accuracy"]
    ]
    spread = np.maximum(np.std(ours, axis=0, ddof=1), np.std(theirs, axis=0, ddof=1))
    difference = np.mean(ours, axis=0) - np.mean(theirs, axis=0)
    assert (abs(difference) < 3 * spread * math.sqrt(1 / 20 + 1 / 5)).all()
