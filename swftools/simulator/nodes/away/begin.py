# SPDX-License-Identifier: BSD-3-Clause
"""What a simulation of a machine with outages begins with, beside what one without does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import BoolArray, IntArray
from swftools.machines.node_table import NodeTable
from swftools.machines.outages import NodeOutages, who_may
from swftools.simulator.nodes.away.on_outage import Lost, OnOutage
from swftools.simulator.nodes.away.state import GOES, HOLDERS, MODE, RETURNS, TOLD, AwayMachine
from swftools.simulator.state.columns import StateSizes
from swftools.trace import Trace

_PATH = "machine.outages."

KEPT_AT_FIRST = 64


class Away(NamedTuple):
    """When nodes are away, and what follows for jobs.

    ``group`` is that of each row of the trace, ``may`` tells by group and holder whether its jobs may use what is
    reserved; ``rule`` says what becomes of jobs that are stopped; ``told`` what is assumed, in words.
    """

    outages: NodeOutages
    group: IntArray
    may: BoolArray
    rule: OnOutage | Lost
    told: tuple[str, ...] = ()


def away_of(trace: Trace, table: NodeTable, rule: OnOutage | Lost) -> Away | None:
    """Return when nodes of a machine are away for the jobs of a trace; None of a machine without outages.

    Raises
    ------
    ParameterError
        Jobs are to go on from checkpoints, of which the trace says nothing.
    """
    if not len(table.outages):
        return None
    rule.check(trace)
    group, may, told = who_may(trace, table.outages)
    return Away(table.outages, group, may, rule, told)


def outages_in(away: Away, order: IntArray, begins: float, groups: Sequence[int]) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a state that are given, by path.

    Parameters
    ----------
    away : Away
        When nodes are away.
    order : numpy.ndarray of int64, shape (nodes,)
        Numbers of the nodes in the order in which the state has them.
    begins : float
        When the first job is submitted, s: what happened by then is no event.
    groups : sequence of int
        The group of each place.
    """
    at = np.empty(len(order), np.int64)
    at[order] = np.arange(len(order))
    lasting = away.outages.of(away.outages.end > begins)
    rows = lasting.of(np.lexsort((lasting.end, lasting.begin, at[lasting.node])))
    number = np.arange(len(rows))
    surely_back = np.isfinite(rows.end)
    told_later = np.isfinite(rows.known) & (rows.known < rows.end)
    time = np.concatenate([rows.end[surely_back], rows.known[told_later], rows.begin])
    of = np.concatenate([number[surely_back], number[told_later], number])
    what = np.repeat([RETURNS, TOLD, GOES], [surely_back.sum(), told_later.sum(), len(rows)])
    turn = np.argsort(time, kind="stable")  # at one instant nodes return before others go
    turn = turn[time[turn] > begins]
    back = number[surely_back & (rows.known < np.inf)]
    columns = {
        "begin": rows.begin,
        "end": rows.end,
        "known": rows.known,
        "kind": rows.kind,
        "node": at[rows.node],
        "who": rows.who,
        "behind": np.cumsum(np.bincount(at[rows.node], minlength=len(order))),
        "time": time[turn],
        "of": of[turn],
        "what": what[turn],
        "back": back[np.argsort(rows.end[back], kind="stable")],
        "may": away.may[list(groups)].astype(np.int64).ravel(),
    }
    return {_PATH + name: np.ascontiguousarray(column) for name, column in columns.items()}


def with_outages(sizes: StateSizes, columns: Mapping[str, npt.NDArray[Any]]) -> StateSizes:
    """Return sizes of a state that has some columns of outages."""
    of = {"outages": "begin", "changes": "time", "returns": "back", "allowed": "may"}
    lengths: dict[str, Any] = {size: len(columns[_PATH + name]) for size, name in of.items()}
    return sizes._replace(**lengths, kept=KEPT_AT_FIRST)


def begin_outages(machine: AwayMachine, away: Away) -> None:
    """Write what the state has of outages before the first event."""
    outages = machine.outages
    outages.next[1:] = outages.behind[:-1]
    outages.counts[HOLDERS] = away.may.shape[1]
    outages.counts[MODE], outages.delay[0] = away.rule.mode, away.rule.delay
