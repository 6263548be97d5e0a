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


def check_known(known: KnownQueue) -> None:
    """Refuse arrays that do not fit together, by ValueError."""
    for one in (known.history, known.arrivals, known.gaps):
        of_values = {len(one.value), len(one.time), len(one.is_missed) or len(one.value), len(one.x) or len(one.value)}
        of_clusters = {len(column) for column in one[KnownHistory._fields.index("end") : -2]}
        if len(of_values) > 1 or len(one.x) != len(one.is_missed) or len(of_clusters) > 1 or of_clusters == {0}:
            raise ValueError("values or clusters have columns of several lengths")
        if one.places.sum() != len(one.states) or (one.places < 0).any() or one.size[0] < len(one.value):
            raise ValueError("clusters have states of another length than they say")
    for part in (known.values, known.waiting):
        if len({len(column) for column in part}) > 1:
            raise ValueError("columns are of several lengths")
