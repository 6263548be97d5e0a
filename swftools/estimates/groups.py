# SPDX-License-Identifier: BSD-3-Clause
"""How jobs are grouped: by user, queue, size and requested time.

A grouping is a line of ``GROUPINGS``: a function from a trace to the number of each job's group, and one from such a
number to words. Numbers rise in the order in which groups are listed; -1 is unknown, and comes last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from swftools.named import with_number
from swftools.trace import IntArray, Trace

UNKNOWN = "unknown"

MINUTE, HOUR = 60.0, 3600.0

TIMES = {
    "up to 10 min": 10 * MINUTE,
    "10 min to 1 h": HOUR,
    "1 h to 2 h": 2 * HOUR,
    "2 h to 6 h": 6 * HOUR,
    "6 h to 12 h": 12 * HOUR,
    "12 h to 24 h": 24 * HOUR,
    "more than 24 h": np.inf,
}
"""Classes of requested times, with what each goes to, s: included, since most requests are such round times."""

_ENDS = np.array(list(TIMES.values()))
_POWERS = 2 ** np.arange(63, dtype=np.int64)


class Grouping(NamedTuple):
    """How jobs are put into groups.

    ``number`` returns the number of each job's group, -1 where it is not known; ``words`` says one in words;
    ``by_jobs``: the groups of most jobs are listed first, for numbers that mean nothing.
    """

    number: Callable[[Trace], IntArray]
    words: Callable[[Trace, int], str]
    by_jobs: bool = False


def _named(kind: str) -> Callable[[Trace, int], str]:
    """Return what gives the number of a queue or user, and what the log calls it."""
    return lambda trace, number: with_number(number, trace.known_names.get(kind, {}))


def _size(trace: Trace) -> IntArray:
    """Return the power of two that a job's width reaches."""
    width = trace.views.width
    return np.where(width > 0, np.searchsorted(_POWERS, width, side="right") - 1, -1).astype(np.int64)


def _size_in_words(_: Trace, power: int) -> str:
    """Return the widths of a class."""
    return f"{2**power}" if power == 0 else f"{2**power} to {2 ** (power + 1) - 1}"


def _requested(trace: Trace) -> IntArray:
    """Return the class of each requested time."""
    requested = trace.views.requested_time
    return np.where(requested > 0, np.searchsorted(_ENDS, requested, side="left"), -1).astype(np.int64)


GROUPINGS: dict[str, Grouping] = {
    "user": Grouping(lambda trace: np.maximum(trace.views.user_id, -1), _named("user"), by_jobs=True),
    "queue": Grouping(lambda trace: np.maximum(trace.views.queue_id, -1), _named("queue")),
    "size": Grouping(_size, _size_in_words),
    "requested-time": Grouping(_requested, lambda _, number: list(TIMES)[number]),
}
"""The groupings, by name."""


def groups_of(trace: Trace, name: str) -> tuple[list[str], IntArray]:
    """Return the groups of a grouping in words, as they are listed, and of each job the place of its group there."""
    grouping = GROUPINGS[name]
    found, place, jobs = np.unique(grouping.number(trace), return_inverse=True, return_counts=True)
    by_jobs = -jobs if grouping.by_jobs else np.zeros(len(jobs))
    order = np.lexsort((found, by_jobs, found == -1))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    words = [UNKNOWN if found[each] == -1 else grouping.words(trace, int(found[each])) for each in order]
    return words, rank[place]
