# SPDX-License-Identifier: BSD-3-Clause
"""The statistics by which two windows of a workload are compared.

References
----------
Smirnov 1948, "Table for estimating the goodness of fit of empirical distributions" (the two-sample D of Kolmogorov and
Smirnov). Yurdakul and Naranjo 2020, "Statistical properties of the population stability index". Krichevsky and
Trofimov 1981 (half a value added to each count).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from swftools.drift.registry import CATEGORIES, DIFFERENCE, RATIO, drift_statistic
from swftools.drift.sample import Sample

BINS = 10
"""Bins of the population stability index."""

SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


def _mean(sample: Sample) -> float:
    return sample.mean


def _median(sample: Sample) -> float:
    return sample.median


def _largest_share(sample: Sample) -> float:
    return sample.largest_share


@drift_statistic("ratio_of_means", figure=_mean, form=RATIO)
def ratio_of_means(recent: Sample, reference: Sample) -> float:
    """Return the recent mean over that of the reference; NaN where the latter is 0.

    Examples
    --------
    >>> ratio_of_means(Sample(np.array([2.0, 4.0])), Sample(np.array([1.0, 2.0])))
    2.0
    """
    return _quotient(recent.mean, reference.mean)


@drift_statistic("ratio_of_medians", figure=_median, form=RATIO)
def ratio_of_medians(recent: Sample, reference: Sample) -> float:
    """Return the recent median over that of the reference; NaN where the latter is 0."""
    return _quotient(recent.median, reference.median)


@drift_statistic("difference_of_means", figure=_mean, form=DIFFERENCE)
def difference_of_means(recent: Sample, reference: Sample) -> float:
    """Return the recent mean less that of the reference: of values 0 and 1 the difference of two shares."""
    return recent.mean - reference.mean


@drift_statistic("kolmogorov_smirnov", figure=_median)
def kolmogorov_smirnov(recent: Sample, reference: Sample) -> float:
    """Return the largest distance between the two distribution functions, from 0 to 1.

    Examples
    --------
    >>> kolmogorov_smirnov(Sample(np.array([1.0, 2.0])), Sample(np.array([2.0, 3.0])))
    0.5
    """
    # Where the recent function is flat, that of the reference only rises: so the distance is largest at one of the
    # recent values, or just before one.
    values = recent.counts[0]
    distance = [
        np.searchsorted(recent.in_order, values, side) / len(recent)
        - np.searchsorted(reference.in_order, values, side) / len(reference)
        for side in SIDES
    ]
    return float(np.abs(distance).max())


@drift_statistic("population_stability", figure=_median)
def population_stability(recent: Sample, reference: Sample) -> float:
    """Return the population stability index: sum of (r - f) ln(r / f) over shares r and f in bins.

    The bins are up to each decile of the reference, as many as these differ. Half a job is added to each bin, so that
    an empty one has a logarithm.

    Examples
    --------
    >>> round(population_stability(Sample(np.array([1, 1, 1, 2])), Sample(np.array([1, 2, 1, 2]))), 4)
    0.1541
    """
    ordered = reference.in_order
    places = (np.arange(1, BINS) * len(ordered) + BINS - 1) // BINS - 1
    ends = np.unique(ordered[places])

    def shares(sample: Sample) -> npt.NDArray[np.float64]:
        below = np.concatenate(([0], np.searchsorted(sample.in_order, ends, side="right"), [len(sample)]))
        counts = np.diff(below) + 0.5
        return counts / counts.sum()

    ours, theirs = shares(recent), shares(reference)
    return float(((ours - theirs) * np.log(ours / theirs)).sum())


@drift_statistic("total_variation", figure=_largest_share, of=CATEGORIES)
def total_variation(recent: Sample, reference: Sample) -> float:
    """Return half the sum of |r - f| over the shares r and f of each category, from 0 to 1: what changed hands.

    Examples
    --------
    >>> total_variation(Sample(np.array([1, 1, 2, 3])), Sample(np.array([1, 2, 2, 2])))
    0.5
    """
    values, place = np.unique(np.concatenate((recent.counts[0], reference.counts[0])), return_inverse=True)
    split = len(recent.counts[0])
    shares = np.zeros((2, len(values)))
    shares[0, place[:split]] = recent.counts[1] / len(recent)
    shares[1, place[split:]] = reference.counts[1] / len(reference)
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


@drift_statistic("difference_of_largest_shares", figure=_largest_share, of=CATEGORIES, form=DIFFERENCE)
def difference_of_largest_shares(recent: Sample, reference: Sample) -> float:
    """Return the share of the most frequent category less that in the reference, whichever it was there."""
    return recent.largest_share - reference.largest_share


def _quotient(over: float, under: float) -> float:
    """Return a quotient; NaN over 0."""
    return over / under if under else np.nan
