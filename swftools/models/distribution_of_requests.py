# SPDX-License-Identifier: BSD-3-Clause
"""The distribution of user estimates: which requested times the jobs of a trace have, and how many jobs have each.

Users ask for few and round times: twenty of them, the *head*, hold nine jobs in ten, and the longest that is
allowed is the most popular of all. ``swftools.models.requested_times`` hands the times out to jobs.

References
----------
Tsafrir, Etsion and Feitelson 2005, "Modeling user runtime estimates", JSSPP; the figures are those of the authors'
program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.fields.definition import MAX_TIME
from swftools.parameters import is_number, is_whole

Distinct = Literal["table", "power-law"]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

DISTINCT_FORMS = ("table", "power-law")
LEAST_MAXIMUM = 60.0
"""Least maximum, s: estimates are whole minutes, but for collisions."""

DISTINCT_TABLE = ((0, 0), (20, 10), (200, 20), (1000, 35), (10_000, 90), (70_000, 340), (250_000, 565))
"""Jobs, and how many distinct estimates they have; linear between, constant beyond."""

DISTINCT_FACTOR, DISTINCT_POWER = 0.653566, 0.547761
SHAPE_FACTOR, SHAPE_POWER = 12.1039, 0.6026
HEAD_FACTOR, HEAD_DECAY, HEAD_CONSTANT = 14.0491, 0.177531, 0.462513
TAIL_FACTOR, TAIL_POWER = 795.6, 2.267
HEAD_LENGTH = 20
HEAD_PERCENT = 89.0

COMMON_TIMES = tuple(60 * m for m in (5, 10, 15, 20, 30)) + tuple(3600 * h for h in (1, 2, 3, 4, 5, 6, 8, 10, 12, 18))
"""Times, s, that users of all sites ask for."""

ROUND_UNITS = (720_000, 360_000, 180_000, 36_000, 18_000, 7200, 3600, 1200, 600, 300)
"""Units, s, of which multiples fill the head up: 200 hours to 5 minutes."""

TAIL_SHIFTS = (0, 30, -30, 20, -20, 10, -10)
"""Seconds by which a time of the tail that is taken already is moved."""

POPULARITY_TABLE = (
    (3, 1, 1, 1), (1, 3, 4, 6), (4, 4, 10, 5), (17, 2, 14, 3), (13, 12, 20, 7),
    (7, 9, 2, 2), (8, 8, 3, 18), (18, 18, 7, 19), (2, 6, 12, 4), (6, 7, 6, 11),
    (16, 11, 19, 20), (10, 20, 5, 9), (5, 16, 18, 10), (15, 5, 16, 14), (14, 14, 9, 13),
    (19, 13, 17, 16), (11, 10, 15, 15), (12, 15, 13, 17), (9, 17, 8, 8), (20, 19, 11, 12),
)  # fmt: skip
"""Popularity ranks, in four logs, of the head's times: of the maximum, then of the others ascending."""

_LAST_ROW = {rank: row for row, ranks in enumerate(POPULARITY_TABLE) for rank in ranks}


class RequestedTimeDistribution(NamedTuple):
    """Distinct requested times, s, ascending, float64; and how many jobs have each, int64, at least 1."""

    times: FloatArray
    counts: IntArray


class _Head(NamedTuple):
    """The head, in order of time rank: the maximum, then the others ascending."""

    times: list[float]
    ranks: list[int]
    bins: list[int | None]
    """Number of jobs that the user gives."""


def requested_time_distribution(
    jobs: int,
    maximum: float,
    *,
    rng: np.random.Generator,
    bins: Mapping[float, int] | None = None,
    distinct: Distinct = "table",
) -> RequestedTimeDistribution:
    """Generate the distribution of user estimates of a trace.

    Parameters
    ----------
    jobs : int
        Jobs of the trace, 0 or more.
    maximum : float
        Longest requested time, s, from 60 to 1e10; it is the most popular one.
    rng : numpy.random.Generator
        Source of random numbers.
    bins : mapping of float to int, optional
        Number of jobs by requested time, s, if known. A bin at the maximum replaces the model's share of 21.7 %. Any
        other bin replaces the nearest default time (itself if it is one, else one that is not among ``COMMON_TIMES`` as
        long as there is any; of equally near ones the shorter), and the nearest size but the maximum's (of equally near
        ones the larger). Bins are placed in order of time. The other times of the head are rescaled so that the head
        still holds 89 % of the jobs.
    distinct : {"table", "power-law"}
        How the number K of distinct estimates follows from the number of jobs: interpolated in the table of the
        authors, or 0.653566 x jobs ** 0.547761.

    Returns
    -------
    RequestedTimeDistribution
        Times ascending with their numbers of jobs, which sum up to ``jobs``; empty for no jobs.

    Raises
    ------
    ParameterError
        A parameter is outside its domain; a bin is longer than the maximum; the bins hold more jobs than there are
        (or than the head may hold); there are more bins than the head has times; or jobs would have no estimate.

    Notes
    -----
    Sizes of the head, % of jobs by popularity rank r = 2 to 20: 14.0491 exp(-0.177531 r) + 0.462513, and what is
    left of 89 % for rank 1, which is the maximum's. Which of the other times has which rank is drawn from the ranks
    of that place in four logs. The T = K - 20 times of the tail are (a - 1) x / (a - x) maximum at x = i / T,
    with a = 1 + 12.1039 K ** -0.6026, on whole minutes; their sizes 795.6 p ** -2.267 with p = 21, 22 ... share 11 %
    and are paired with them at random.

    Differs from the paper for few jobs and for a small maximum, where its program fails or the text says nothing. With
    a maximum of 5700 s or less, fewer than 20 times exist for the head; it has those, in their proportions, and the
    tail has the rest of the K as far as there are times. If K is no larger than the number of times in the head (226
    jobs for 20), there is no tail, and the K most popular times hold all jobs, in their proportions. There is always at
    least one estimate, the maximum.

    References
    ----------
    Tsafrir, Etsion and Feitelson 2005, "Modeling user runtime estimates", JSSPP.

    Examples
    --------
    >>> times, counts = requested_time_distribution(1000, 36000, rng=np.random.default_rng(1))
    >>> len(times), int(counts.sum()), float(times[-1]), int(counts[-1])
    (35, 1000, 36000.0, 218)
    """
    given = _checked(jobs, maximum, bins or {}, distinct)
    if jobs == 0:
        return RequestedTimeDistribution(np.empty(0), np.empty(0, np.int64))
    wanted = _distinct_count(jobs, distinct)
    head = _kept(_head(float(maximum), given, jobs, rng), wanted)
    tail_times = _tail_times(wanted, wanted - len(head.times), float(maximum), set(head.times))
    sizes = _tail_sizes(len(tail_times))
    percents = _head_percents(head, jobs, HEAD_PERCENT if tail_times else 100.0)
    times = head.times + [tail_times[k] for k in rng.permutation(len(tail_times))]
    counts = [
        _rounded(percent * jobs / 100) if known is None else known
        for percent, known in zip(percents + sizes, head.bins + [None] * len(sizes), strict=True)
    ]
    fixed = [known is not None for known in head.bins] + [False] * len(sizes)
    counts = _corrected([max(count, 1) for count in counts], fixed, jobs)
    order = [k for k in np.argsort(times, kind="stable") if counts[k] > 0]
    return RequestedTimeDistribution(np.array(times)[order], np.array(counts, np.int64)[order])


def _checked(jobs: int, maximum: float, bins: Mapping[float, int], distinct: str) -> dict[float, int]:
    """Return the user's bins, times ascending; raise unless all parameters are in their domains."""
    if not is_whole(jobs, 0):
        raise ParameterError(f"estimates: jobs={jobs!r} is not an integer of 0 or more")
    if not is_number(maximum, LEAST_MAXIMUM, MAX_TIME):
        raise ParameterError(f"estimates: maximum={maximum!r} is not a number of seconds from 60 to {MAX_TIME:g}")
    if distinct not in DISTINCT_FORMS:
        raise ParameterError(f"estimates: distinct={distinct!r} is not one of {', '.join(DISTINCT_FORMS)}")
    if not are_bins(bins):
        raise ParameterError(f"estimates: bins={bins!r} is not a mapping of seconds to numbers of jobs, all positive")
    if bins and max(bins) > maximum:
        raise ParameterError(f"estimates: bins has the time {max(bins)}, beyond the maximum of {maximum}; raise it")
    if (held := sum(bins.values())) > jobs:
        raise ParameterError(f"estimates: bins hold {held} jobs, but there are {jobs}; give fewer")
    return {float(time): bins[time] for time in sorted(bins)}


def are_bins(bins: object) -> bool:
    """Whether this is a mapping of positive numbers to positive integers."""
    if not isinstance(bins, Mapping):
        return False
    return all(is_number(time) and time > 0 and is_whole(count, 1) for time, count in bins.items())


def _distinct_count(jobs: int, distinct: str) -> int:
    """Return the number of distinct estimates, at least 1."""
    if distinct == "power-law":
        return max(_rounded(DISTINCT_FACTOR * jobs**DISTINCT_POWER), 1)
    at, counts = zip(*DISTINCT_TABLE, strict=True)
    return max(_rounded(float(np.interp(jobs, at, counts))), 1)


def _head(maximum: float, given: Mapping[float, int], jobs: int, rng: np.random.Generator) -> _Head:
    """Return all times of the head, with the user's bins in their places, and their popularity ranks."""
    times = _head_times(maximum)
    fixed: dict[float, int] = {}
    others = [time for time in given if time != maximum]
    if len(others) > len(times) - 1:
        raise ParameterError(
            f"estimates: bins has {len(others)} times below the maximum of {maximum:g} s, but the head of the "
            f"distribution only {len(times) - 1}; give fewer"
        )
    free_times = set(times[1:]).difference(others)
    free_sizes = dict(list(enumerate(head_sizes(), 1))[1:])
    for time in others:
        if time not in times:
            places = free_times.difference(COMMON_TIMES) or free_times
            place = min(places, key=lambda default: (abs(default - time), default))
            free_times.remove(place)
            times[times.index(place)] = time
        percent = 100 * given[time] / jobs
        fixed[time] = min(free_sizes, key=lambda rank: (abs(free_sizes[rank] - percent), rank))
        del free_sizes[fixed[time]]
    times = [maximum, *sorted(times[1:])]
    return _Head(times, _popularity([fixed.get(time) for time in times], rng), [given.get(time) for time in times])


def _head_times(maximum: float) -> list[float]:
    """Return the maximum and up to 19 shorter times, ascending."""
    times = {float(time): None for time in (maximum, *COMMON_TIMES) if time <= maximum}
    for unit in ROUND_UNITS:
        for k in range(int(maximum // unit), 0, -1):
            if len(times) == HEAD_LENGTH:
                break
            times[float(k * unit)] = None
    return [maximum, *sorted(time for time in times if time != maximum)]


def head_sizes() -> list[float]:
    """Return the sizes of the head, % of jobs, by popularity rank 1 to 20; their sum is 89.

    Examples
    --------
    >>> [round(size, 3) for size in head_sizes()[:3]]
    [21.733, 10.313, 8.71]
    """
    sizes = [HEAD_FACTOR * math.exp(-HEAD_DECAY * rank) + HEAD_CONSTANT for rank in range(2, HEAD_LENGTH + 1)]
    return [HEAD_PERCENT - sum(sizes), *sizes]


def _popularity(fixed: list[int | None], rng: np.random.Generator) -> list[int]:
    """Return the popularity rank of each time rank; ``fixed`` has those that the user's bins determine."""
    unused = set(range(1, HEAD_LENGTH + 1)).difference(fixed)
    pool: list[int] = []
    chosen = []
    for row, rank in enumerate(fixed):
        pool += POPULARITY_TABLE[row]
        pool = [candidate for candidate in pool if candidate in unused]
        overdue = [candidate for candidate in sorted(unused) if _LAST_ROW[candidate] <= row]
        if rank is not None:
            choice = rank
        elif row == 0:
            choice = 1
        elif overdue:
            choice = overdue[0]
        elif pool:
            choice = min(pool[k] for k in rng.integers(0, len(pool), 2))
        else:  # bins have taken all ranks so far
            choice = min(unused)
        unused.discard(choice)
        chosen.append(choice)
    return chosen


def _kept(head: _Head, wanted: int) -> _Head:
    """Return the head cut to the number of distinct estimates: the user's times, the maximum, the most popular."""
    order = sorted(range(len(head.times)), key=lambda k: (head.bins[k] is None and k > 0, head.ranks[k]))
    least = sum(known is not None or k == 0 for k, known in enumerate(head.bins))
    kept = sorted(order[: max(wanted, least)], key=lambda k: head.ranks[k])
    return _Head([head.times[k] for k in kept], [head.ranks[k] for k in kept], [head.bins[k] for k in kept])


def _head_percents(head: _Head, jobs: int, total: float) -> list[float]:
    """Return the sizes of the head, % of jobs: the user's as they are, the others' rescaled."""
    known = 100 * sum(count for count in head.bins if count is not None) / jobs
    if known > total:
        raise ParameterError(
            f"estimates: bins hold {known:.4g} % of the jobs, but the head of the distribution only {total:g} %; "
            "give fewer"
        )
    sizes = [head_sizes()[rank - 1] for rank in head.ranks]
    rest = sum(size for size, count in zip(sizes, head.bins, strict=True) if count is None)
    if total == 100.0 and rest == 0 and known < total:
        raise ParameterError(f"estimates: bins leave {100 - known:.4g} % of the jobs without an estimate; give more")
    return [size * (total - known) / rest if rest else 0.0 for size in sizes]


def _tail_times(wanted: int, length: int, maximum: float, taken: set[float]) -> list[float]:
    """Return the times of the tail; those that find no place are left out."""
    shape = 1 + SHAPE_FACTOR * wanted**-SHAPE_POWER
    times: list[float] = []
    used = set(taken)
    for i in range(1, length + 1):
        x = i / length
        near = 60.0 * _rounded((shape - 1) * x / (shape - x) * maximum / 60)
        free = [near + shift for shift in TAIL_SHIFTS if 0 < near + shift < maximum and near + shift not in used]
        times += free[:1]
        used.update(free[:1])
    return times


def _tail_sizes(length: int) -> list[float]:
    """Return the sizes of the tail, % of jobs, largest first."""
    sizes = [TAIL_FACTOR * rank**-TAIL_POWER for rank in range(HEAD_LENGTH + 1, HEAD_LENGTH + 1 + length)]
    return [size * (100 - HEAD_PERCENT) / sum(sizes) for size in sizes]


def _corrected(counts: list[int], fixed: list[bool], jobs: int) -> list[int]:
    """Return counts that sum up to the jobs: all but the fixed ones give or take, the largest first.

    First each in proportion, rounded up; then one each; then all but one job; then, the smallest first, all.
    """
    counts = list(counts)
    free = [k for k in np.argsort([-count for count in counts], kind="stable").tolist() if not fixed[k]]
    total = sum(counts[k] for k in free)
    lack = jobs - sum(counts)
    in_proportion = [math.ceil(abs(lack) * count / total) for count in counts] if total else []
    for steps in (in_proportion, [1] * len(counts), [jobs] * len(counts)):
        for k in free:
            change = min(steps[k], abs(lack)) if lack > 0 else -min(steps[k], abs(lack), counts[k] - 1)
            counts[k] += change
            lack -= change
    for k in reversed(free):
        change = min(-lack, counts[k])
        counts[k] -= change
        lack += change
    return counts


def _rounded(value: float) -> int:
    """Return the nearest integer, halves up."""
    return math.floor(value + 0.5)
