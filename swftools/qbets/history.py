# SPDX-License-Identifier: BSD-3-Clause
"""The known waits, in the order in which they became known: by cluster, and trimmed where waits changed.

A value belongs to one cluster for as long as the clusters stay as they are. Each cluster keeps its own values from some
moment on, and has a bound of these. When as many values in a row as the table of rare events says are beyond what was
predicted for them, it keeps the newest only, as many as a bound needs; and of the next values just as many again, so
that those from before the change drain out.

References
----------
Nurmi 2009, sections 4.2.2 and 4.2.4; how long the draining lasts, and that two trimmings need some values between them,
is of the authors' public code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import BoolArray, FloatArray, IntArray, kernel, untouched_zeros
from swftools.qbets.change_points import RECENT, RareEvents, correlation_of_neighbours, misses_in_a_row, normal_scores

NOTHING = -1
"""Stands for a value where there is none."""

HEAD = 64
"""Numbers of a bound's state that are set to zero to make it forget; the rest is only read as far as these say."""


class History(NamedTuple):
    """Values, a row each in the order in which they became known, and clusters, a row each.

    Of each value: ``time``, when it became known, s; ``is_missed``, whether it is beyond what was predicted for it;
    ``x``, its explanatory variable; ``before``, the value of the same cluster that became known before it. Row i stands
    in place i modulo their length: where clusters stay as they are, the newest values are enough.

    Of each cluster: ``end``, the largest ``x`` that belongs to it; ``since``, the row from which on it keeps values;
    ``first_time``, when the first value that it keeps became known, s; ``last``, its last value; how many it has
    (``known``) and keeps (``kept``); ``misses``, how many in a row were beyond what was told; ``calm``, the values
    since it was trimmed; ``draining``, of how many values to come just as many go; ``states``, a bound's state.

    ``counts`` has how many values and clusters there are.
    """

    value: FloatArray
    time: FloatArray
    is_missed: BoolArray
    x: FloatArray
    before: npt.NDArray[np.int32]
    end: FloatArray
    since: IntArray
    first_time: FloatArray
    last: IntArray
    known: IntArray
    kept: IntArray
    misses: IntArray
    calm: IntArray
    draining: IntArray
    states: FloatArray
    counts: IntArray


VALUES, CLUSTERS = range(2)
"""Places in ``History.counts``."""


class Trimming(NamedTuple):
    """When to trim: ``least`` values are kept, after as many misses in a row as ``table`` says; 0: never.

    ``scores`` are for the autocorrelation; ``room`` and ``rows`` are written over.
    """

    least: int
    table: RareEvents
    scores: FloatArray
    room: FloatArray
    rows: IntArray


def empty_history(values: int, clusters: int, places: int) -> History:
    """Return a history of one cluster, with room for values, more clusters, and states of so many places.

    All values have room, or ``newest_needed`` where clusters stay as they are.
    """
    whole = np.zeros((7, clusters), np.int64)
    whole[1] = NOTHING
    since, last, known, kept, misses, calm, draining = whole
    end, first_time = np.full(clusters, np.inf), np.full(clusters, np.nan)
    states = untouched_zeros(clusters * places).reshape(clusters, places)
    value, time, x = (np.zeros(values) for _ in range(3))
    before, is_missed, counts = np.zeros(values, np.int32), np.zeros(values, np.bool_), np.array([0, 1])
    of_values, of_clusters = (value, time, is_missed, x, before), (known, kept, misses, calm, draining)
    return History(*of_values, end, since, first_time, last, *of_clusters, states, counts)


def newest_needed(least: int) -> int:
    """Return how many values of a history are looked at again, of which ``least`` are kept when it is trimmed."""
    return max(least, RECENT)


def trimming_by(least: int, table: RareEvents) -> Trimming:
    """Return when to trim."""
    return Trimming(least, table, normal_scores(), np.zeros(2 * RECENT), np.zeros(least, np.int64))


@kernel(allocates=False)
def cluster_of(history: History, x: float) -> int:
    """Return the cluster that a value of the explanatory variable belongs to."""
    return _place_in(history.end, history.counts[CLUSTERS], x)


@kernel(allocates=False)
def _place_in(ends: FloatArray, count: int, x: float) -> int:
    """Return the first of so many clusters whose end is no less than a value; the last has no end."""
    place = 0
    while place + 1 < count and not x <= ends[place]:
        place += 1
    return place


@kernel(allocates=False)
def learn(
    history: History,
    trimming: Trimming,
    facts: FloatArray,
    add: Callable[[FloatArray, FloatArray, float], None],
    value: float,
    told: float,
    x: float,
    time: float,
) -> None:
    """Put a value that has become known into its cluster, which may be trimmed before; the caller has the room."""
    place = cluster_of(history, x)
    is_missed = value > told
    history.misses[place] = history.misses[place] + 1 if is_missed else 0
    if trimming.least > 0 and history.kept[place] >= trimming.least:
        trims = history.draining[place] > 0
        if trims:
            history.draining[place] -= 1
        if is_missed and _is_change(history, trimming, place):
            trims = True
            history.calm[place], history.draining[place] = 0, trimming.least
        if trims and history.kept[place] > trimming.least:
            keep_newest(history, place, trimming.least)
            _learn_kept(history, place, trimming.rows, facts, add)
    row = history.counts[VALUES]
    here = _place_of(history, row)
    history.value[here], history.time[here] = value, time
    history.is_missed[here], history.x[here] = is_missed, x
    history.before[here] = history.last[place]
    if history.kept[place] == 0:
        history.first_time[place] = time
    history.last[place] = row
    history.known[place] += 1
    history.kept[place] += 1
    history.calm[place] += 1
    history.counts[VALUES] = row + 1
    add(history.states[place], facts, value)


@kernel(allocates=False)
def _place_of(history: History, row: int) -> int:
    """Return where a value stands."""
    return row % len(history.value)


@kernel(allocates=False)
def _is_change(history: History, trimming: Trimming, place: int) -> bool:
    """Whether the misses of a cluster tell a change, and it has not been trimmed just before."""
    misses = history.misses[place]
    if misses < trimming.table.misses[0]:
        return False
    count = min(history.kept[place], RECENT)
    values = trimming.room[RECENT:]
    row = history.last[place]
    for i in range(count - 1, -1, -1):
        values[i] = history.value[_place_of(history, row)]
        row = history.before[_place_of(history, row)]
    correlation = correlation_of_neighbours(values, count, trimming.scores, trimming.room)
    enough = misses_in_a_row(correlation, trimming.table)
    return misses >= enough and (history.since[place] == 0 or history.calm[place] > trimming.least - enough)


@kernel(allocates=False)
def keep_newest(history: History, place: int, count: int) -> None:
    """Let a cluster keep its newest values only; it has so many."""
    row = history.last[place]
    for _ in range(count - 1):
        row = history.before[_place_of(history, row)]
    history.since[place], history.kept[place] = row, count
    history.first_time[place] = history.time[_place_of(history, row)]


@kernel(allocates=False)
def _learn_kept(
    history: History,
    place: int,
    rows: IntArray,
    facts: FloatArray,
    add: Callable[[FloatArray, FloatArray, float], None],
) -> None:
    """Make the bound of a cluster from the values that it keeps, in the order in which they became known."""
    row, count = history.last[place], history.kept[place]
    for i in range(count - 1, -1, -1):
        rows[i] = _place_of(history, row)
        row = history.before[rows[i]]
    forget(history, place)
    for i in range(count):
        add(history.states[place], facts, history.value[rows[i]])


@kernel(allocates=False)
def forget(history: History, place: int) -> None:
    """Let the bound of a cluster know nothing."""
    state = history.states[place]
    for i in range(min(HEAD, len(state))):
        state[i] = 0.0


class Regrouping(NamedTuple):
    """Room for ``regroup``: how many values new and old clusters share, and what the old ones go on with."""

    shared: IntArray
    since: IntArray
    calm: IntArray
    draining: IntArray


def no_regrouping(clusters: int) -> Regrouping:
    """Return room for regrouping into so many clusters."""
    since, calm, draining = np.zeros((3, clusters), np.int64)
    return Regrouping(np.zeros((clusters, clusters), np.int64), since, calm, draining)


@kernel(allocates=False)
def regroup(
    history: History,
    least: int,
    facts: FloatArray,
    add: Callable[[FloatArray, FloatArray, float], None],
    ends: FloatArray,
    count: int,
    room: Regrouping,
) -> None:
    """Let clusters end elsewhere, at the first ``count`` of ``ends``; all values have room.

    A new cluster goes on as that old one did which most of its values belong to: it keeps its values from the same row
    on, but ``least`` if it has so many.
    """
    size, old = history.counts[VALUES], history.counts[CLUSTERS]
    room.shared[:] = 0
    for row in range(size):
        room.shared[_place_in(ends, count, history.x[row]), cluster_of(history, history.x[row])] += 1
    for place in range(old):
        room.since[place], room.calm[place] = history.since[place], history.calm[place]
        room.draining[place] = history.draining[place]
    history.counts[CLUSTERS] = count
    for place in range(count):
        origin = known = 0
        for other in range(old):
            known += room.shared[place, other]
            if room.shared[place, other] > room.shared[place, origin]:
                origin = other
        history.end[place], history.last[place], history.known[place] = ends[place], NOTHING, known
        history.since[place], history.calm[place] = room.since[origin], room.calm[origin]
        history.draining[place] = room.draining[origin]
        history.kept[place] = history.misses[place] = 0
        history.first_time[place] = np.nan
    for row in range(size):
        place = cluster_of(history, history.x[row])
        history.before[row] = history.last[place]
        history.last[place] = row
        if row >= history.since[place]:
            if history.kept[place] == 0:
                history.first_time[place] = history.time[row]
            history.kept[place] += 1
        history.misses[place] = history.misses[place] + 1 if history.is_missed[row] else 0
    for place in range(count):
        fewest = min(least, history.known[place])
        if history.kept[place] < fewest:
            keep_newest(history, place, fewest)
        forget(history, place)
    for row in range(size):
        place = cluster_of(history, history.x[row])
        if row >= history.since[place]:
            add(history.states[place], facts, history.value[row])
