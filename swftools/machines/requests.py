# SPDX-License-Identifier: BSD-3-Clause
"""What the jobs of a log ask of a machine of nodes: read from the log, judged against the machine.

``told.py`` reads columns, ``where_to_run.py`` finds the nodes that have what is asked for by name, ``fitting.py`` says
how many of them a job fits. Here each distinct request is judged once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.kernel import BoolArray, IntArray
from swftools.machines.asked import Asked, Place
from swftools.machines.fitting import FITS, REASONS, Requests, Shares
from swftools.machines.node_table import GPU, NodeTable
from swftools.machines.running import RUNS_ON, as_they_run
from swftools.machines.told import Told, told_of
from swftools.machines.where_to_run import Candidate, Names, Spot, Spots, few, place_of
from swftools.trace import Trace

NO_NODES = "asks for 0 nodes"
NO_WIDTH = "the log tells neither nodes nor processors of it"
NO_MEMORY = "no memory, as the log tells none and the partition has no default"
DEFAULT_MEMORY = "the default memory of the partition for each core, as the log tells none"
FEWEST = "as few nodes as hold all cores, spread evenly, as the number of nodes is not told"
MORE_NODES = "more nodes than the log tells, as so few do not hold all cores"
WHOLE_CORES = "cores rounded up to whole ones"
THREADS = "cores of several threads each, as the log counts threads"
GIVEN_CORES = "the cores that jobs were given, which hold more threads than they asked for: they use fewer of each"

_MOST_CODES = 120
_SMALL = 1e-6
_LARGEST = 2.0**40


class _Judged(NamedTuple):
    """Of each distinct request: what it takes, where, or why it cannot run."""

    shares: Shares
    is_exclusive: BoolArray
    place: IntArray
    code: IntArray


def ask_of(trace: Trace, table: NodeTable, *, cancelled: npt.NDArray[np.bool_] | None = None) -> Asked:
    """Return what each job of a trace asks of a machine.

    What the log does not say is assumed, and told in ``Asked.assumed`` with the number of jobs. Cores and memory are
    rounded up to whole cores and MB, GPUs to thousandths. A job that could not even run on the idle machine has the
    reason in ``Asked.code``.

    Parameters
    ----------
    trace : Trace
        The log: columns of the dictionary, of which each may be absent (``docs/machines.md`` names them).
    table : NodeTable
        The machine.
    cancelled : numpy.ndarray of bool, shape (rows,), optional
        Jobs that are left out anyhow: they are not counted in what is assumed.

    Returns
    -------
    Asked
        A row a job of the trace, in its order.

    Examples
    --------
    >>> from swftools.machines.node_table import PartitionNodes
    >>> nodes = np.arange(2)
    >>> table = NodeTable(
    ...     ("n1", "n2"), np.zeros(2, np.int64), ("node",), np.full(2, 8), np.full(2, 1000), np.zeros(2, np.int64),
    ...     np.ones(2, np.int64), (PartitionNodes("batch", nodes),),
    ... )
    >>> asked = ask_of(Trace.from_columns(submit_time=[0, 0, 0], requested_processors=[3, 12, 17]), table)
    >>> asked.nodes.tolist(), asked.cores.tolist()
    ([1, 2, 0], [3, 6, 0])
    >>> asked.reasons[asked.code[2]]
    'asks for more cores on a node than any node of its partition has'
    """
    told = told_of(trace, table)
    spots = Spots(trace, table, told)
    names = [spots.partition, told.words[0], told.features[0], told.gpu_types[0]]
    first, request = distinct([*_told_amounts(told, table), *names, told.is_exclusive])
    asked = _requests_of(told, first, request)
    judge = _Judge(asked, np.stack([column[first] for column in names]), told.is_exclusive[first])
    judge.judge(spots)
    judged = judge.judged()
    _tell_shares(told, asked, judged, first, request)
    keep = np.ones(len(trace), bool) if cancelled is None else ~np.asarray(cancelled, bool)
    can_run = (judged.code == 0)[request]
    nodes, cores, memory, gpus = (np.where(can_run, column[request], 0) for column in judged.shares[:4])
    asked_for = Asked(
        nodes=nodes,
        cores=cores,
        memory=memory,
        gpus=gpus,
        is_exclusive=can_run & judged.is_exclusive[request],
        place=np.where(can_run, judged.place[request], -1),
        places=tuple(judge.places),
        code=judged.code[request].astype(np.int16),
        reasons=tuple(judge.reasons),
        ready_time=told.ready_time,
        assumed=(*told_in_words(told, keep), *not_followed(spots, names, keep)),
    )
    return as_they_run(asked_for, trace, table) if RUNS_ON in trace.jobs else asked_for


class _Judge:
    """Judges distinct requests, a row each, by the names that they give.

    Parameters
    ----------
    asked : Requests
        The requests.
    names : numpy.ndarray of int64, shape (4, requests)
        What each gives for names, as ``Names``.
    is_exclusive : numpy.ndarray of bool
        Which ask for their nodes alone.
    """

    def __init__(self, asked: Requests, names: IntArray, is_exclusive: BoolArray) -> None:
        self._asked, self._names, self._is_exclusive = asked, names, is_exclusive.copy()
        rows = len(is_exclusive)
        self._shares = Shares(*(np.zeros(rows, np.int64) for _ in Shares._fields))
        self._place, self._code = np.full(rows, -1, np.int64), np.zeros(rows, np.int64)
        self.places: list[Place] = []
        self.reasons: list[str] = [""]
        self._place_numbers: dict[tuple[int, ...], int] = {}

    def judged(self) -> _Judged:
        """Return what was found."""
        return _Judged(self._shares, self._is_exclusive, self._place, self._code)

    def judge(self, spots: Spots) -> None:
        """Judge all requests, those together that give the same names."""
        if not len(self._code):
            return
        first, group = distinct(list(self._names))
        order = np.argsort(group, kind="stable")
        bounds = np.searchsorted(group[order], np.arange(len(first) + 1))
        for number, row in enumerate(first.tolist()):
            rows = order[bounds[number] : bounds[number + 1]]
            self._judge_group(rows, spots.find(Names(*self._names[:, row].tolist())))

    def _judge_group(self, rows: IntArray, spot: Spot) -> None:
        """Judge requests that may run at the same spot."""
        asked = self._asked.take(rows)
        for is_odd, told in ((asked.nodes == 0, NO_NODES), (asked.nodes < 0, NO_WIDTH)):
            if is_odd.any():
                self._code[rows[is_odd]] = self._code_of(told)
        rows = rows[asked.nodes > 0]
        if not spot.candidates:
            self._code[rows] = self._code_of(spot.reason)
            return
        open_rows = rows
        for number, candidate in enumerate(spot.candidates):
            if not len(open_rows):
                return
            shares, why = candidate.size.judge(self._asked.take(open_rows))
            fits = why == FITS
            taken = open_rows[fits]
            for mine, found in zip(self._shares, shares, strict=True):
                mine[taken] = found[fits]
            self._is_exclusive[taken] |= candidate.is_exclusive
            self._code[taken] = 0
            self._settle(taken, spot.candidates[number:])
            if number == 0:  # the reason that counts is that of the first
                for reason in np.unique(why[~fits]).tolist():
                    self._code[open_rows[why == reason]] = self._code_of(REASONS[reason])
            open_rows = open_rows[~fits]

    def _settle(self, rows: IntArray, candidates: tuple[Candidate, ...]) -> None:
        """Say in which of some sets requests may run that fit in the first of them."""
        if len(candidates) == 1:
            self._place[rows] = self._place_of(candidates)
            return
        shares = Shares(*(column[rows] for column in self._shares))
        time = self._asked.requested_time[rows]
        holds = np.stack([np.ones(len(rows), bool), *(each.size.holds(shares, time) for each in candidates[1:])])
        patterns, which = np.unique(holds, axis=1, return_inverse=True)
        for number, pattern in enumerate(patterns.T.tolist()):
            held = tuple(each for each, is_held in zip(candidates, pattern, strict=True) if is_held)
            self._place[rows[which == number]] = self._place_of(held)

    def _place_of(self, candidates: tuple[Candidate, ...]) -> int:
        """Return the number of a place."""
        key = tuple(id(each) for each in candidates)
        if key not in self._place_numbers:
            self._place_numbers[key] = len(self.places)
            self.places.append(place_of(candidates))
        return self._place_numbers[key]

    def _code_of(self, reason: str) -> int:
        """Return the code of a reason; what would be one too many is told without its names."""
        if reason not in self.reasons and len(self.reasons) >= _MOST_CODES:
            reason = reason.partition(":")[0]
        if reason not in self.reasons:
            self.reasons.append(reason)
        return self.reasons.index(reason)


def _told_amounts(told: Told, table: NodeTable) -> list[npt.NDArray[Any]]:
    """Return what a log says of jobs beside names, as far as it decides what they ask for."""
    given = [told.given_cores] if told.counts_threads else []
    time = _classes(told.requested_time, table)
    amounts = (told.nodes, told.cores, told.all_cores, told.most_cores, told.memory, told.memory_per_core)
    return [*amounts, told.gpus, told.all_gpus, time, *given]


def _requests_of(told: Told, first: IntArray, request: IntArray) -> Requests:
    """Return the distinct requests in whole numbers, by a row of each and which of them each row has."""
    told_nodes, told_cores, told_all, most_cores, memory, of_core, gpus, all_gpus, given = (
        column[first]
        for column in (
            *(told.nodes, told.cores, told.all_cores, told.most_cores, told.memory, told.memory_per_core),
            *(told.gpus, told.all_gpus, told.given_cores),
        )
    )
    is_fixed = np.isfinite(told_cores)
    cores, all_cores = np.nan_to_num(_up(told_cores)), np.nan_to_num(_up(told_all))
    held = np.where(is_fixed, cores, most_cores)  # of each node
    with np.errstate(invalid="ignore"):
        least = np.where(held > 0, np.ceil(all_cores / np.where(held > 0, held, 1.0)), 1.0)
    nodes = np.where(np.isnan(told_nodes), np.maximum(least, 1.0), told_nodes)
    nodes = np.where(~is_fixed & (nodes > 0), np.maximum(nodes, least), nodes)
    # A row that tells nothing is set apart from one of 0 nodes.
    nodes = np.where(~is_fixed & np.isnan(told_all) & (nodes > 0), -1.0, nodes)
    has_gpus = np.isnan(gpus) & (all_gpus > 0)
    told.assume(WHOLE_CORES, (is_fixed & (cores > told_cores))[request])
    return Requests(
        nodes=_whole(nodes),
        cores=_whole(cores),
        all_cores=_whole(np.where(is_fixed, 0.0, all_cores)),
        memory=_whole(np.where(np.isnan(memory), -1.0, _up(memory))),
        memory_per_core=np.where(np.isnan(memory), of_core, 0.0),
        gpus=_whole(np.where(has_gpus, -1.0, _up(GPU * np.nan_to_num(gpus)))),
        all_gpus=_whole(np.where(has_gpus, _up(GPU * all_gpus), 0.0)),
        requested_time=told.requested_time[first],
        given_cores=_whole(np.nan_to_num(np.where(told.is_exclusive[first], 0.0, given)) * told.counts_threads),
        counts_threads=np.full(len(first), told.counts_threads),
    )


def _up(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return values rounded up, but for what is left of computing them."""
    return np.ceil(values - _SMALL)


def _whole(values: npt.NDArray[np.float64]) -> IntArray:
    """Return whole numbers, no larger than that products of them are whole numbers too."""
    return np.minimum(values, _LARGEST).astype(np.int64)


def _classes(requested_time: npt.NDArray[np.float64], table: NodeTable) -> npt.NDArray[np.float64]:
    """Return how many limits of partitions each requested time exceeds: requests of one class are judged alike."""
    limits = np.unique([each.max_time for each in table.partitions])
    return np.searchsorted(limits, np.nan_to_num(requested_time)).astype(np.float64)


def distinct(columns: list[npt.NDArray[Any]]) -> tuple[IntArray, IntArray]:
    """Return a row of each distinct combination of values, and which combination each row has."""
    combined: IntArray = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        is_one = len(column) and (np.isnan(column) if np.isnan(column[0]) else column == column[0]).all()
        if is_one:  # as of a column that is missing, whose values are all NaN
            continue
        places, values = pd.factorize(column, use_na_sentinel=False)
        combined = pd.factorize(combined * len(values) + places)[0].astype(np.int64)
    return np.unique(combined, return_index=True)[1].astype(np.int64), combined


def _tell_shares(told: Told, asked: Requests, judged: _Judged, first: IntArray, request: IntArray) -> None:
    """Say what was assumed of jobs that can run."""
    can_run = judged.code == 0
    is_spread = can_run & (asked.cores == 0)
    lacks = np.isnan(told.nodes[first])
    lacks_memory = can_run & (asked.memory < 0) & np.isnan(asked.memory_per_core)
    has_default = judged.shares.memory > 0
    fewest = is_spread & lacks & np.isnan(told.most_cores[first])
    _tell_threads(told, asked, judged.shares, can_run, request)
    for words, requests in (
        (FEWEST, fewest),
        (MORE_NODES, is_spread & ~lacks & (judged.shares.nodes > asked.nodes)),
        (DEFAULT_MEMORY, lacks_memory & has_default),
        (NO_MEMORY, lacks_memory & ~has_default & ~judged.is_exclusive),  # who has whole nodes has theirs
    ):
        told.assume(words, requests[request])


def _tell_threads(told: Told, asked: Requests, shares: Shares, can_run: BoolArray, request: IntArray) -> None:
    """Say of which jobs that can run threads became fewer cores, or the cores that they were given count."""
    if not told.counts_threads:
        return
    threads = np.maximum(shares.threads, 1)  # 0 where nothing was judged
    of_node = np.where(asked.cores > 0, asked.cores, -(-asked.all_cores // np.maximum(shares.nodes, 1)))
    told.assume(THREADS, (can_run & (threads > 1) & (shares.cores < of_node))[request])
    is_given = (asked.given_cores > asked.all_cores) & (asked.given_cores <= threads * asked.all_cores)
    fewer = can_run & is_given & (asked.cores == 0) & (shares.cores > -(-of_node // threads))
    told.assume(GIVEN_CORES, fewer[request])


def told_in_words(told: Told, keep: BoolArray) -> list[str]:
    """Return what was assumed, with the number of jobs that are counted."""
    counts = [(words, int(np.count_nonzero(rows & keep))) for words, rows in told.assumed]
    return [counted(words, count) for words, count in counts if count]


def not_followed(spots: Spots, names: list[IntArray], keep: BoolArray) -> list[str]:
    """Return which names are not followed, with the number of jobs that give them."""
    said = []
    for words, keys in spots.not_followed.items():
        first, group = distinct(names[1:])
        is_one = np.array([tuple(int(column[row]) for column in names[1:]) in keys for row in first.tolist()], bool)
        if count := int(np.count_nonzero(is_one[group] & keep)):
            said.append(counted(words.format(few(list(spots.unknown[words]))), count))
    return said


def counted(words: str, count: int) -> str:
    """Return words with a number of jobs behind them."""
    return f"{words}: {count:,} job{'s' * (count != 1)}"
