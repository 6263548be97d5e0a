# SPDX-License-Identifier: BSD-3-Clause
"""When nodes of a machine are away, as arrays: what the simulator, its checks and its measures take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.named import NUMBERED

if TYPE_CHECKING:
    from swftools.machines.parts import Outage
    from swftools.trace import Trace

DOWN, DRAIN, RESERVATION = range(3)

KINDS = ("down", "drain", "reservation")
"""What an outage may be, by number: jobs are stopped; none starts; none starts but those of some users."""

COLUMNS = ("node", "begin", "end", "kind", "known", "who")
"""The arrays of ``NodeOutages``."""


class Holders(NamedTuple):
    """For whom nodes are reserved: users and accounts, by name or by number; it is enough to be one of either."""

    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()


def _whole() -> IntArray:
    return np.zeros(0, np.int64)


def _real() -> FloatArray:
    return np.zeros(0)


@dataclass(frozen=True)
class NodeOutages:
    """Outages of nodes, a row for each node of each.

    Parameters
    ----------
    node : numpy.ndarray of int64, shape (outages,)
        The number of the node.
    begin, end : numpy.ndarray of float64, shape (outages,)
        From when to when, s as submissions are counted; the end is not in it. -inf: always; inf: never.
    kind : numpy.ndarray of int64, shape (outages,)
        As a place in ``KINDS``.
    known : numpy.ndarray of float64, shape (outages,)
        Since when begin and end are known, s: -inf: always. inf: never; the outage is then seen when it begins, and its
        end when it comes.
    who : numpy.ndarray of int64, shape (outages,)
        Of a reservation for whom it is, as a place in ``holders``; -1: for nobody.
    holders : tuple of Holders
        Each once.
    """

    node: IntArray = field(default_factory=_whole)
    begin: FloatArray = field(default_factory=_real)
    end: FloatArray = field(default_factory=_real)
    kind: IntArray = field(default_factory=_whole)
    known: FloatArray = field(default_factory=_real)
    who: IntArray = field(default_factory=_whole)
    holders: tuple[Holders, ...] = ()

    def __len__(self) -> int:
        return len(self.node)

    def of(self, chosen: npt.NDArray[Any]) -> NodeOutages:
        """Return some of them, by a mask or by places."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in COLUMNS})

    def from_now_on(self, present: float) -> NodeOutages:
        """Return those that are not over, counted from a moment, as for a queue: those that have begun stop nobody."""
        lasting = self.of(self.end > 0.0)
        begin = np.where(lasting.begin > 0.0, lasting.begin + present, -1.0)
        return replace(lasting, begin=begin, end=lasting.end + present, known=lasting.known + present)

    def beside(self, other: NodeOutages) -> NodeOutages:
        """Return these and others."""
        moved = replace(other, who=np.where(other.who >= 0, other.who + len(self.holders), other.who))
        both = {name: np.concatenate([getattr(self, name), getattr(moved, name)]) for name in COLUMNS}
        return NodeOutages(**both, holders=self.holders + other.holders)


def node_outages(outages: Sequence[Outage], nodes: Sequence[Sequence[int]]) -> NodeOutages:
    """Return the outages of a description that are at times of the log; ``nodes`` are the numbers of each one's.

    Those of a date (``outage_dates`` makes seconds of them), or of the moment, are left out: see ``is_timed``.
    """
    of = [Holders(each.users, each.accounts) if each.kind == KINDS[RESERVATION] else Holders() for each in outages]
    holders = tuple(dict.fromkeys(each for each in of if each != Holders()))
    rows = [
        (node, *times_of(outage), KINDS.index(outage.kind), holders.index(own) if own in holders else -1)
        for outage, own, numbers in zip(outages, of, nodes, strict=True)
        if is_timed(outage)
        for node in numbers
    ]
    if not rows:
        return NodeOutages()
    node, begin, end, known, kind, who = (np.array(column) for column in zip(*rows, strict=True))
    return NodeOutages(node, begin, end, kind, known, who, holders)


def is_timed(outage: Outage) -> bool:
    """Return whether an outage is at a time of the log: not at a date, nor of the moment at which its machine was read.

    One of the moment says neither when it began nor when it ends.
    """
    times = (outage.begin, outage.end)
    return any(isinstance(time, float) for time in times) and not any(isinstance(time, str) for time in times)


def times_of(outage: Outage) -> tuple[float, float, float]:
    """Return when an outage of a time of the log begins and ends, and since when that is known, s."""
    begin = -np.inf if outage.begin is None else float(outage.begin)  # no date: the caller has looked
    end = np.inf if outage.end is None else float(outage.end)
    known: float | bool | None = outage.known
    if known is None:
        known = outage.kind != KINDS[DOWN]
    if isinstance(known, bool):
        known = -np.inf if known else np.inf
    return begin, end, float(known)


def who_may(trace: Trace, outages: NodeOutages) -> tuple[npt.NDArray[np.int64], BoolArray, tuple[str, ...]]:
    """Return which reservations each job may use, by the users that a log tells.

    Returns
    -------
    numpy.ndarray of int64, shape (rows,)
        The group of each job: jobs of one group may use the same.
    numpy.ndarray of bool, shape (groups, len(outages.holders))
        Whether a group may use what is reserved for some users.
    tuple of str
        What was taken for what the log does not say, in words.
    """
    told = []
    may = np.zeros((len(trace), len(outages.holders)), np.bool_)
    for place, holders in enumerate(outages.holders):
        for kind, words in (("user", holders.users), ("group", holders.accounts)):
            names = {str(name): number for number, name in trace.known_names.get(kind, {}).items()}
            wanted = [
                names[word] if word in names else int(word) for word in words if word in names or word.isdecimal()
            ]
            numbers = getattr(trace.views, NUMBERED[kind])
            may[:, place] |= np.isin(numbers, wanted) & (numbers >= 0)
        if not may[:, place].any():
            named = ", ".join((*holders.users, *holders.accounts))
            told.append(f"no job of the log is of those for whom nodes are reserved: {named}")
    groups, group = np.unique(may, axis=0, return_inverse=True)
    return group.ravel(), groups, tuple(told)
