# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of jobs: intervals of requested time (or width, or their product) within which waits are alike.

Each value of the explanatory variable begins as a cluster of its own. Again and again those two neighbours are merged
whose merging costs least of the likelihood of exponential waits, which have a mean of their own in each cluster. The
number of clusters is chosen by the Bayesian information criterion, log L - (2 k - 1) / 2 log n, and clusters that are
too small to bound anything are merged with the neighbour that costs less.

References
----------
Nurmi 2009, section 4.2.4.

Reading chosen
    "Our method always clusters the ends together to ensure that these clusters contain at least 59 elements" is taken
    for every small cluster, at the ends or between. Waits below 1 s count as 1 s: a mean of 0 has no likelihood.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.by_job import in_one_order
from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray, kernel, untouched_zeros
from swftools.parameters import is_whole
from swftools.simulator.machine.event_queue import pop, push

MOST = 5
"""Clusters, at most: the criterion nearly always asks for more, so this is what decides."""


class DistinctValues(NamedTuple):
    """The distinct values of the explanatory variable, rising; how many jobs have each, and the sum of their waits, s.

    ``counts[0]`` is how many there are; what stands behind them is not used.
    """

    value: FloatArray
    jobs: FloatArray
    waits: FloatArray
    counts: IntArray


class Merging(NamedTuple):
    """Room for merging: a heap of what merging two neighbours costs, and of each cluster, by its first value, the rest.

    ``cost`` is that of merging it with the one before, infinity if it is no more; ``merged`` how many clusters there
    were when it was merged.
    """

    costs: FloatArray
    events: IntArray
    jobs: FloatArray
    waits: FloatArray
    cost: FloatArray
    before: IntArray
    behind: IntArray
    merged: IntArray


def cluster(values: npt.ArrayLike, waits: npt.ArrayLike, *, most: int = MOST, least_size: int = 59) -> FloatArray:
    """Return the upper ends of clusters, rising; the last is infinity.

    A job belongs to the first cluster whose end is no less than its value.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        The explanatory variable of each job.
    waits : array_like of float, shape (n,)
        How long each waited, s.
    most : int
        Largest number of clusters.
    least_size : int
        Jobs that each cluster must have, if there are that many in all.

    Raises
    ------
    ParameterError
        The lengths differ, a value or wait is not finite, or a number is not positive.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.integers(1, 301, 3000)
    >>> waits = np.where(values <= 100, 10.0, np.where(values <= 200, 1000.0, 60.0)) * rng.exponential(size=3000)
    >>> cluster(values, waits, most=3)
    array([100., 200.,  inf])
    """
    column, seconds = (np.asarray(each, np.float64) for each in in_one_order(values=values, waits=waits))
    if column.ndim != 1 or column.shape != seconds.shape:
        raise ParameterError(f"values and waits differ in shape: {column.shape} and {seconds.shape}")
    if not (np.isfinite(column).all() and np.isfinite(seconds).all() and (seconds >= 0).all()):
        raise ParameterError("values and waits must be finite, and waits not negative; leave such jobs out")
    if not is_whole(most, 1, 10**6) or not is_whole(least_size, 1, 10**9):
        raise ParameterError(f"most={most!r}, least_size={least_size!r}: integers from 1 on")
    known = no_values(len(column))
    _add_all(known, column, seconds)
    ends = np.empty(most)
    count = find_clusters(known, no_merging(len(column)), float(least_size), ends)
    return ends[:count].copy()


def no_values(room: int) -> DistinctValues:
    """Return room for so many distinct values, of which none is known."""
    return DistinctValues(
        untouched_zeros(room + 1), untouched_zeros(room + 1), untouched_zeros(room + 1), np.zeros(1, np.int64)
    )


def no_merging(room: int) -> Merging:
    """Return room for merging so many values."""
    heap = 3 * room + 3  # each merging brings two costs, and leaves what they replace in the heap
    jobs, waits, cost = (untouched_zeros(room + 1) for _ in range(3))
    before, behind, merged = (untouched_zeros(room + 1).view(np.int64) for _ in range(3))
    return Merging(
        untouched_zeros(heap), untouched_zeros(heap).view(np.int64), jobs, waits, cost, before, behind, merged
    )


@kernel(allocates=False)
def add_value(known: DistinctValues, value: float, wait: float) -> None:
    """Count a job of a value, and its wait, s; the caller guarantees the room."""
    count = known.counts[0]
    place, behind = 0, count
    while place < behind:
        middle = (place + behind) >> 1
        if known.value[middle] < value:
            place = middle + 1
        else:
            behind = middle
    if place == count or known.value[place] != value:
        for i in range(count, place, -1):
            known.value[i], known.jobs[i], known.waits[i] = known.value[i - 1], known.jobs[i - 1], known.waits[i - 1]
        known.value[place], known.jobs[place], known.waits[place] = value, 0.0, 0.0
        known.counts[0] = count + 1
    known.jobs[place] += 1.0
    known.waits[place] += max(wait, 1.0)


@kernel(allocates=False)
def _add_all(known: DistinctValues, values: FloatArray, waits: FloatArray) -> None:
    """Count jobs."""
    for i in range(len(values)):
        add_value(known, values[i], waits[i])


@kernel(allocates=False)
def find_clusters(known: DistinctValues, merging: Merging, least_size: float, ends: FloatArray) -> int:
    """Fill ``ends`` with the largest value of each cluster, infinity for the last; return how many there are.

    There are no more than ``ends`` has room for; none of fewer jobs than ``least_size``, if there are more in all.
    """
    count = known.counts[0]
    if count == 0:
        ends[0] = np.inf
        return 1
    chosen = _merge_all(known, merging, len(ends))
    size = 0
    for i in range(count):  # the clusters that there were when so many were left
        if i > 0 and merging.merged[i] <= chosen:
            ends[size - 1] = known.value[i - 1]
        if i == 0 or merging.merged[i] <= chosen:
            merging.jobs[size] = merging.waits[size] = 0.0
            size += 1
        merging.jobs[size - 1] += known.jobs[i]
        merging.waits[size - 1] += known.waits[i]
    ends[size - 1] = np.inf
    return _merge_small(merging.jobs, merging.waits, size, least_size, ends)


@kernel(allocates=False)
def _merge_all(known: DistinctValues, merging: Merging, most: int) -> int:
    """Merge all values, one by one, into one cluster; return of how many, ``most`` at most, the criterion is best."""
    count = known.counts[0]
    jobs, waits, cost = merging.jobs, merging.waits, merging.cost
    total = fit = 0.0
    heap = 0
    for i in range(count):
        jobs[i], waits[i] = known.jobs[i], known.waits[i]
        merging.before[i], merging.behind[i] = i - 1, i + 1
        total += jobs[i]
        fit += _fit(jobs[i], waits[i])
    for i in range(1, count):
        cost[i] = _cost(jobs, waits, i - 1, i)
        push(merging.costs, merging.events, heap, cost[i], i)
        heap += 1
    left, chosen, best = count, 1, -np.inf
    while True:
        if left <= most and fit - (2 * left - 1) / 2.0 * np.log(total) >= best:
            chosen, best = left, fit - (2 * left - 1) / 2.0 * np.log(total)
        if left == 1:
            return chosen
        least = merging.costs[0]
        i = pop(merging.costs, merging.events, heap)
        heap -= 1
        if cost[i] != least:
            continue  # of a cluster that is no more, or is another by now
        first, behind = merging.before[i], merging.behind[i]
        jobs[first] += jobs[i]
        waits[first] += waits[i]
        merging.behind[first], merging.merged[i], cost[i] = behind, left, np.inf
        fit -= least
        left -= 1
        if behind < count:
            merging.before[behind] = first
        for other in (first, behind):
            if 0 < other < count:
                cost[other] = _cost(jobs, waits, merging.before[other], other)
                push(merging.costs, merging.events, heap, cost[other], other)
                heap += 1


@kernel(allocates=False)
def _merge_small(jobs: FloatArray, waits: FloatArray, size: int, least_size: float, ends: FloatArray) -> int:
    """Merge each cluster that is too small, the smallest first, with the neighbour that costs less; return how many."""
    while size > 1:
        small = 0
        for i in range(1, size):
            if jobs[i] < jobs[small]:
                small = i
        if jobs[small] >= least_size:
            break
        other = small - 1 if small > 0 else 1
        if 0 < small < size - 1 and _cost(jobs, waits, small, small + 1) < _cost(jobs, waits, small, small - 1):
            other = small + 1
        first = min(small, other)
        jobs[first] += jobs[first + 1]
        waits[first] += waits[first + 1]
        for i in range(first, size - 1):
            ends[i] = ends[i + 1]
            if i > first:
                jobs[i], waits[i] = jobs[i + 1], waits[i + 1]
        size -= 1
    return size


@kernel(allocates=False)
def _cost(jobs: FloatArray, waits: FloatArray, one: int, other: int) -> float:
    """Return by how much the log-likelihood falls if two clusters are merged."""
    together = _fit(jobs[one] + jobs[other], waits[one] + waits[other])
    return _fit(jobs[one], waits[one]) + _fit(jobs[other], waits[other]) - together


@kernel(allocates=False)
def _fit(jobs: float, waits: float) -> float:
    """Return the log-likelihood of exponential waits, but for what is the same for all clusterings."""
    return jobs * np.log(jobs / waits)
