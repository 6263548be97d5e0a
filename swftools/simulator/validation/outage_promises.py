# SPDX-License-Identifier: BSD-3-Clause
"""Reservations of first waiting jobs on machines whose outages are known from the beginning, recomputed naively."""

from __future__ import annotations

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.outages import DRAIN, NodeOutages, who_may
from swftools.simulator.validation.node_heads import COLUMNS, CORES, EXCLUSIVE, GPUS, MEMORY, USERS, NodeStarts
from swftools.simulator.validation.node_promises import Promise
from swftools.trace import Trace


def reservations_beside(outages: NodeOutages, trace: Trace, row: IntArray) -> Promise:
    """Return what recomputes reservations; ``row`` has the trace's row of each job of the queue."""
    group, may, _ = who_may(trace, outages)
    may = np.column_stack([may, np.zeros(len(may), np.bool_)])  # for nobody, which is -1

    def promise(jobs: IntArray, part: NodeStarts, heads: IntArray, since: FloatArray, known: BoolArray) -> FloatArray:
        latest = np.empty(len(heads))
        for place, (head, time, is_known) in enumerate(
            zip(heads.tolist(), since.tolist(), known.tolist(), strict=True)
        ):
            own = outages.of(~may[group[row[jobs[head]]], outages.who])
            latest[place] = _reserved(part, head, time, own, is_known=is_known)
        return latest

    return promise


def _reserved(part: NodeStarts, head: int, now: float, outages: NodeOutages, *, is_known: bool) -> float:
    """Return the earliest time at which enough nodes of a set have room, and are there, until the head would end."""
    runs = (part.start <= now) & (part.end >= now)
    if is_known:
        runs &= np.where(part.start == now, np.arange(len(runs)) < head, part.end > now)
    running = np.flatnonzero(runs)
    running = running[np.argsort(part.expected[running], kind="stable")]
    used, length = np.zeros((len(part.has), COLUMNS), np.int64), part.expected[head] - part.start[head]
    for job in running:
        _use(part, int(job), used, 1)
    times = np.concatenate([[now], part.expected[running], outages.end])
    ended = 0
    for time in np.unique(times[(times >= now) & (times < np.inf)]):
        while ended < len(running) and part.expected[running[ended]] <= time:
            _use(part, int(running[ended]), used, -1)
            ended += 1
        is_over_it = (outages.begin <= time) & (outages.end > time)
        is_before_end = (outages.begin > time) & (outages.begin < time + length) & (outages.kind != DRAIN)
        fits = _fits(part, head, used)
        fits[outages.node[is_over_it | is_before_end]] = False
        for which in range(part.first_set[part.place[head]], part.first_set[part.place[head] + 1]):
            members = part.members[part.set_begin[which] : part.set_begin[which + 1]]
            if fits[members].sum() >= part.nodes[head]:
                return float(time)
    return np.inf


def _use(part: NodeStarts, job: int, used: IntArray, sign: int) -> None:
    """Count what a job has as used, or as used no more."""
    columns = ((CORES, part.cores), (MEMORY, part.memory), (GPUS, part.gpus), (EXCLUSIVE, part.is_exclusive))
    for place in range(part.begin[job], part.begin[job + 1]):
        nodes = slice(part.low[place], part.high[place] + 1)
        for column, values in columns:
            used[nodes, column] += sign * int(values[job])
        used[nodes, USERS] += sign


def _fits(part: NodeStarts, head: int, used: IntArray) -> BoolArray:
    """Return on which nodes a job has room beside what is used."""
    fits = (used[:, EXCLUSIVE] == 0) & ~(part.is_exclusive[head] & (used[:, USERS] > 0))
    for column, values in ((CORES, part.cores), (MEMORY, part.memory), (GPUS, part.gpus)):
        fits &= used[:, column] + values[head] <= part.has[:, column]
    return np.asarray(fits)
