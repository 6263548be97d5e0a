# SPDX-License-Identifier: BSD-3-Clause
"""What is known of a queue between two replays: all that a later one looks at again, in no more room than it takes.

It is the same however it was reached, at once or in parts: heaps are sorted, and nothing stands in it that was
forgotten. So equal knowledge is equal numbers, and equal bytes where it is saved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray


class KnownHistory(NamedTuple):
    """Values and clusters of a ``History``, whose words these are.

    Where clusters are found anew all values stand here, a row each; else only the newest, without ``is_missed`` and
    ``x``, which nobody asks for. ``size`` says how many became known. The states of the clusters' bounds stand one
    behind the other; ``places`` says how long each is.
    """

    value: FloatArray
    time: FloatArray
    is_missed: BoolArray
    x: FloatArray
    end: FloatArray
    since: IntArray
    first_time: FloatArray
    last: IntArray
    known: IntArray
    kept: IntArray
    misses: IntArray
    calm: IntArray
    draining: IntArray
    places: IntArray
    states: FloatArray
    size: IntArray


class KnownValues(NamedTuple):
    """Distinct values of the explanatory variable, rising; how many jobs had each, and the sum of their waits, s."""

    value: FloatArray
    jobs: FloatArray
    waits: FloatArray


class StillWaiting(NamedTuple):
    """Jobs that had not started at the last submission, in order of submission.

    When each came and how long it waits (s), its explanatory variable, and what it was told (s; NaN: nothing).
    """

    submit: FloatArray
    wait: FloatArray
    x: FloatArray
    told: FloatArray


class KnownQueue(NamedTuple):
    """What is known of a queue.

    Its waits, the values they are clustered by, the series of how many jobs came between two starts and of the seconds
    between them, and who waits.

    One number each: jobs ``submitted`` so far, jobs that ``came`` since one started, 1 if it ``is_down`` as far as can
    be inferred, the ``last_start`` and the ``last_submission``, s.
    """

    history: KnownHistory
    values: KnownValues
    arrivals: KnownHistory
    gaps: KnownHistory
    waiting: StillWaiting
    submitted: IntArray
    came: IntArray
    is_down: IntArray
    last_start: FloatArray
    last_submission: FloatArray

    @property
    def last(self) -> float:
        """The last submission, s."""
        return float(self.last_submission[0])


def nothing_known() -> KnownQueue:
    """Return a form: arrays of the right types, of one number where there is just one, else of none."""
    none, number, whole = np.zeros(0), np.zeros(1), np.zeros(1, np.int64)
    counts = dict.fromkeys(("since", "last", "known", "kept", "misses", "calm", "draining", "places"), whole[:0])
    series = KnownHistory(
        none, none, np.zeros(0, np.bool_), none, end=none, first_time=none, states=none, size=whole, **counts
    )
    waiting, values = StillWaiting(none, none, none, none), KnownValues(none, none, none)
    return KnownQueue(series, values, series, series, waiting, whole, whole, whole, number, number)


MOST_SIZE = 10**9
"""Values of a series: more do not become known of a log."""

MOST_CLUSTERS = 100


def check_known(known: KnownQueue) -> None:
    """Refuse arrays that do not fit together, by ValueError."""
    for one in (known.history, known.arrivals, known.gaps):
        of_values = {len(one.value), len(one.time), len(one.is_missed) or len(one.value), len(one.x) or len(one.value)}
        of_clusters = {len(column) for column in one[KnownHistory._fields.index("end") : -2]}
        if len(of_values) > 1 or len(one.x) != len(one.is_missed) or len(of_clusters) > 1 or of_clusters == {0}:
            raise ValueError("values or clusters have columns of several lengths")
        if (one.places < 0).any() or sum(one.places.tolist()) != len(one.states) or one.size[0] < len(one.value):
            raise ValueError("clusters have states of another length than they say")
    for part in (known.values, known.waiting):
        if len({len(column) for column in part}) > 1:
            raise ValueError("columns are of several lengths")


def check_numbers(known: KnownQueue) -> None:
    """Refuse numbers of a saved state that compiled code could not trust, or that no replay leaves, by ValueError."""
    for one in (known.history, known.arrivals, known.gaps):
        _check_values(one)
        _check_clusters(one)
    _check_waiting(known)


def _check_values(one: KnownHistory) -> None:
    """Refuse values that are none, and times that do not rise."""
    if not (np.isfinite(one.value).all() and (one.value >= 0).all()):
        raise ValueError("a value that is none")
    if not np.isfinite(one.time).all() or (one.time[1:] < one.time[:-1]).any() or np.isnan(one.x).any():
        raise ValueError("values that did not become known one after the other")
    if not 0 <= one.size[0] <= MOST_SIZE:
        raise ValueError(f"a series of {one.size[0]:,} values")


def _check_clusters(one: KnownHistory) -> None:
    """Refuse clusters of other values than there are."""
    size, clusters = int(one.size[0]), len(one.end)
    if clusters > MOST_CLUSTERS or not one.end[-1] == np.inf or not (one.end[1:] > one.end[:-1]).all():
        raise ValueError("clusters that do not end one behind the other")
    for column in (one.known, one.kept, one.misses, one.calm, one.draining, one.since):
        if (column < 0).any() or (column > MOST_SIZE).any():
            raise ValueError("a number below 0")
    if one.known.sum() != size or (one.kept > one.known).any() or (one.since > size).any():
        raise ValueError("clusters of other values than there are")
    if (one.last < -1).any() or (one.last >= size).any():
        raise ValueError("a last value that there is not")
    if not len(one.x):  # only the newest are there, of one cluster
        if clusters > 1 or (size and one.last[0] != size - 1):
            raise ValueError("clusters of values that are not there")
        return
    if len(one.x) != size:
        raise ValueError("fewer values than became known")
    place = np.searchsorted(one.end[:-1], one.x)
    row = np.arange(size)
    is_kept = row >= one.since[place]
    last = np.full(clusters, -1)
    np.maximum.at(last, place, row)
    if (
        (np.bincount(place, minlength=clusters) != one.known).any()
        or (np.bincount(place[is_kept], minlength=clusters) != one.kept).any()
        or (last != one.last).any()
    ):
        raise ValueError("clusters of other values than there are")


def _check_waiting(known: KnownQueue) -> None:
    """Refuse jobs that cannot wait, values that do not rise, and counts that are none."""
    waiting, values = known.waiting, known.values
    if not np.isfinite(waiting.submit).all() or (waiting.submit[1:] < waiting.submit[:-1]).any():
        raise ValueError("jobs that did not come one after the other")
    if (waiting.wait < 0).any() or np.isinf(waiting.wait).any() or np.isnan(waiting.x).any():
        raise ValueError("a wait that is none")
    if not (values.value[1:] > values.value[:-1]).all() or not all(np.isfinite(column).all() for column in values):
        raise ValueError("values that do not rise")
    if (values.jobs < 0).any() or (values.waits < 0).any():
        raise ValueError("a number of jobs below 0")
    for count, most in ((known.submitted, MOST_SIZE), (known.came, MOST_SIZE), (known.is_down, 1)):
        if not 0 <= count[0] <= most:
            raise ValueError(f"a count of {count[0]:,}")
    if np.isnan(known.last_start[0]) or np.isnan(known.last_submission[0]):
        raise ValueError("a time that is none")
