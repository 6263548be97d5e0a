# SPDX-License-Identifier: BSD-3-Clause
"""A guess of a machine from the nodes that a log names.

Cores, memory and GPUs of a node are the most that was in use at once, as far as the log says for sure: a job on one
node counts there with all that it was given, a job on several with one core on each where the log does not say how it
was spread; but nodes of one group have no fewer cores than its processors over its nodes. Nodes with and without GPUs,
and nodes whose names differ by more than their last number, are judged apart. Of each such group a size that fewer than
one node in ten has is taken for the next larger one: such nodes were never full.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.absence import Busy, absences
from swftools.machines.as_yaml import GUESSED
from swftools.machines.hostlist import fold_hosts, in_order
from swftools.machines.kinds import Node, kinds_of
from swftools.machines.named_nodes import parts_of
from swftools.machines.parts import MOST_NODES, UNTYPED
from swftools.machines.request_words import read_request
from swftools.output.amounts import counted
from swftools.trace import Trace

_COLUMNS = ("host_list", "node_list")
_RARE = 0.1
_MOST_GROUPS = 1000
"""Of names that are looked at as renamed."""
_NUMBER = re.compile(r"[0-9]+(?=[^0-9]*$)")
_MB = 1024
_STEPS = ("names", "cores", "memory", "GPUs", "outages")
"""What is found, one after another."""

Progress = Callable[[int, int, str], None]


def guess_mapping(
    trace: Trace, least_absence: float | None = 86400.0, progress: Progress | None = None
) -> dict[str, Any]:
    """Return the machine of a log as a description has it.

    Parameters
    ----------
    trace : Trace
        With a column ``host_list`` or ``node_list``; or with requests such as ``frontier:excl:2500x112``, which name a
        machine, nodes and cores of each.
    least_absence : float, optional
        Seconds for which nobody names a node until it may be an outage; None: no outages.
    progress : callable, optional
        Is told how many steps of how many are done, and what is found next.

    Raises
    ------
    ParameterError
        The log names no nodes, or too many.
    """
    column = next((each for each in _COLUMNS if each in trace.jobs and trace.jobs[each].notna().any()), None)
    if column is None:
        return _without_names(trace)
    return _Guess(trace, column, progress or (lambda _, __, ___: None)).content(least_absence)


class _Guess:
    """What each node was used for; one entry for each node of each job.

    Many jobs have the same nodes: what a text names is found once, and jobs know their text by its number.
    """

    def __init__(self, trace: Trace, column: str, progress: Progress) -> None:
        jobs = trace.jobs
        self._steps = iter(range(len(_STEPS)))
        self._progress = progress
        self._next()
        self._start = _numbers(trace, "submit_time") + _numbers(trace, "wait_time")
        self._end = self._start + _numbers(trace, "run_time")
        codes, texts = pd.factorize(jobs[column])
        known = [parts_of(text) if isinstance(text, str) else [] for text in texts.tolist()]
        count = np.array([*map(len, known), 0], np.int64)  # the last is of jobs without a text
        self._row = np.flatnonzero((count[codes] > 0) & (self._end >= self._start))
        self._text = codes[self._row]
        self._width, self._gpus = _numbers(trace, "allocated_processors"), _numbers(trace, "allocated_gpus")
        self._memory = _numbers(trace, "requested_memory") / _MB
        self._of_node = _tell_memory_of_nodes(trace)
        self._part, self._part_names = _partitions(trace)
        self.notes = [GUESSED]
        names = {part.node for parts in known for part in parts}
        if not names:
            raise ParameterError(f"the log's {column} names no node that can be read, such as n[01-04]")
        if len(names) > MOST_NODES:
            raise ParameterError(f"the log names {len(names):,} nodes, more than {MOST_NODES:,}")
        self._names = sorted(names, key=in_order)
        number = {name: place for place, name in enumerate(self._names)}
        self._nodes = [np.array([number[part.node] for part in parts], np.int64) for parts in known]
        own = [[np.nan if each is None else each for each in part[1:]] for parts in known for part in parts]
        self._own = np.array(own, np.float64).reshape(-1, 2)
        self._many = count[self._text]
        # Where what the texts name stands one behind another: the places of each entry.
        first = np.cumsum(count) - count
        self._place = np.repeat(first[self._text] - np.cumsum(self._many) + self._many, self._many) + np.arange(
            self._many.sum()
        )
        self._node = np.concatenate(self._nodes)[self._place]
        self._renames()

    def _next(self) -> None:
        """Tell that the next step begins."""
        done = next(self._steps)
        self._progress(done, len(_STEPS), _STEPS[done])

    def _renames(self) -> None:
        """Give nodes their last names: as many nodes as went were there under other names from then on."""
        first, last = np.full(len(self._names), np.inf), np.full(len(self._names), -np.inf)
        np.minimum.at(first, self._node, np.repeat(self._start[self._row], self._many))
        np.maximum.at(last, self._node, np.repeat(self._end[self._row], self._many))
        groups: defaultdict[str, list[int]] = defaultdict(list)
        for place, name in enumerate(self._names):
            groups[_NUMBER.sub("#", name)].append(place)
        called = np.arange(len(self._names))
        several = [group for group in groups.values() if len(group) > 1]
        begins = {group[0]: float(first[group].min()) for group in several}
        ends = {group[0]: float(last[group].max()) for group in several}
        taken: set[int] = set()
        for old in sorted(several, key=lambda group: ends[group[0]])[:_MOST_GROUPS]:
            ended = ends[old[0]]
            later = [new for new in several if len(new) == len(old) and begins[new[0]] >= ended and new[0] not in taken]
            if later and old[0] not in taken:
                new = min(later, key=lambda group: begins[group[0]])
                taken |= {new[0], old[0]}
                called[old] = new
                before, after = (fold_hosts(self._names[place] for place in each) for each in (old, new))
                self.notes.append(
                    f"renamed? {before} is not named after {ended:,.0f} s, {after} not before "
                    f"{begins[new[0]]:,.0f} s: taken for the same nodes"
                )
        left, places = np.unique(called, return_inverse=True)
        self._names = [self._names[place] for place in left.tolist()]
        self._nodes = [places[at] for at in self._nodes]
        self._node = places[self._node]

    def content(self, least_absence: float | None) -> dict[str, Any]:
        """Return it all as a description has it."""
        names = self._names
        own = self._own[self._place]
        alone = np.repeat(self._many == 1, self._many)

        def of_node(each: FloatArray) -> FloatArray:
            return np.repeat(each[self._row], self._many)

        width, given_gpus, asked = of_node(self._width), of_node(self._gpus), of_node(self._memory)
        is_of_node = np.repeat(self._of_node[self._row], self._many)
        told = np.isfinite(own[:, 0])
        of_all = np.where(told, own[:, 0], np.where(alone, width, 0.0))
        cores = np.nan_to_num(np.where(told | alone, of_all, 1.0))
        gpus = np.nan_to_num(np.where(np.isfinite(own[:, 1]), own[:, 1], np.where(alone, given_gpus, 0.0)))
        memory = np.nan_to_num(np.where(is_of_node, asked / _MB, asked * of_all))
        busy = Busy(self._node, of_node(self._start), of_node(self._end), len(names))
        found = []
        for amount in (cores, memory, gpus):
            self._next()
            found.append(busy.most(amount))
        cores, memory, gpus = found
        self._even(cores, memory, gpus)
        nodes = self._sizes(names, np.maximum(cores, 1.0), memory, gpus)
        kinds = kinds_of(zip(names, nodes, strict=True))
        self._next()
        outages = []
        if least_absence is not None:
            kind_of = {node: place for place, node in enumerate(dict.fromkeys(nodes))}
            kind = np.array([kind_of[node] for node in nodes])
            away = absences(busy, kind, least_absence)
            outages = [
                {"nodes": fold_hosts(names[node] for node in at), "begin": begin, "end": end, "reason": "not named"}
                for (begin, end), at in away.items()
            ]
            if outages:
                self.notes.append(
                    f"{counted(len(outages), 'outage')}: nodes that nobody names for {least_absence:,.0f} s or more, "
                    "while 8 in 10 of the others of their kind were busy"
                )
        self._progress(len(_STEPS), len(_STEPS), "")
        unnamed = int((self._width > 0).sum()) - len(self._row)
        if unnamed > 0:
            self.notes.append(f"{counted(unnamed, 'job')} with processors name no node")
        where: defaultdict[str, set[int]] = defaultdict(set)
        is_named = self._part[self._row] >= 0
        pairs = np.unique(self._part[self._row][is_named] * len(self._nodes) + self._text[is_named])
        for part, text in (divmod(pair, len(self._nodes)) for pair in pairs.tolist()):
            if self._part_names[part]:
                where[self._part_names[part]].update(self._nodes[text].tolist())
        parts_found = [
            {"name": part, "nodes": fold_hosts(names[place] for place in sorted(at))}
            for part, at in sorted(where.items())
        ]
        return {
            "order": "names",
            "nodes": kinds,
            "partitions": parts_found,
            "outages": outages,
            "notes": self.notes,
        }

    def _even(self, cores: FloatArray, memory: FloatArray, gpus: FloatArray) -> None:
        """Raise what nodes have to what each of a job's nodes must have at least, if all of one group are alike."""
        with_gpus = gpus > 0
        group = np.unique([_NUMBER.sub("#", name) for name in self._names], return_inverse=True)[1]
        rows = self._row
        width, asked_gpus, asked = self._width[rows], self._gpus[rows], self._memory[rows]
        is_counted = (width > 0) & (asked > 0) & ~self._of_node[rows]
        # Of jobs with the same nodes the one that had most.
        most_cores, most_gpus, most_memory = (
            _most(self._text, values, len(self._nodes))
            for values in (width, asked_gpus, np.where(is_counted, asked * width, 0.0))
        )
        spread = np.unique(self._text[(self._many > 1) & np.isnan(self._own[self._place_of_first(), 0])])
        for text in spread.tolist():
            at = self._nodes[text]
            if most_gpus[text] > 0:  # those of a mixed job are on the nodes that are known to have some
                able = at[with_gpus[at]] if with_gpus[at].any() else at
                gpus[able] = np.maximum(gpus[able], np.ceil(most_gpus[text] / len(at)))
            if most_cores[text] > 0 and bool((group[at] == group[at[0]]).all()):
                cores[at] = np.maximum(cores[at], np.ceil(most_cores[text] / len(at)))
                memory[at] = np.maximum(memory[at], most_memory[text] / len(at))

    def _place_of_first(self) -> IntArray:
        """Return where the first node of each job stands among what the texts name."""
        return self._place[np.cumsum(self._many) - self._many]

    def _sizes(self, names: list[str], cores: FloatArray, memory: FloatArray, gpus: FloatArray) -> list[Node]:
        """Return what each node has, by the groups of nodes that are judged together."""
        groups: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
        for place, name in enumerate(names):
            groups[_NUMBER.sub("#", name), bool(gpus[place] > 0)].append(place)
        found: dict[int, Node] = {}
        for at in groups.values():
            counts = Counter(cores[at].tolist())
            usual = sorted(size for size, count in counts.items() if count >= _RARE * len(at) or size == max(counts))
            by_size: defaultdict[float, list[int]] = defaultdict(list)
            for place in at:
                by_size[next(size for size in usual if size >= cores[place])].append(place)
            for size, alike in by_size.items():
                most, accelerators = float(memory[alike].max()), round(float(gpus[alike].max()))
                node = Node(
                    cores=round(size),
                    memory=int(np.ceil(most)) or None,
                    gpus=((UNTYPED, accelerators),) if accelerators else (),
                )
                found |= dict.fromkeys(alike, node)
        return [found[place] for place in range(len(names))]


def _most(text: IntArray, values: FloatArray, texts: int) -> FloatArray:
    """Return the most of the values of each text, 0 where there is none."""
    found = np.zeros(texts)
    np.maximum.at(found, text, np.nan_to_num(values))
    return found


def _partitions(trace: Trace) -> tuple[IntArray, list[str]]:
    """Return the partition, or queue, of each job as a number, -1 where there is none; and what each is called."""
    if "queue_name" in trace.jobs:
        codes, called = pd.factorize(trace.jobs["queue_name"])
        return codes, called.tolist()
    names = trace.known_names.get("queue", {})
    codes, numbers = pd.factorize(_numbers(trace, "queue_id"))
    return codes, [str(names.get(int(each), int(each))) for each in numbers.tolist()]


def _tell_memory_of_nodes(trace: Trace) -> BoolArray:
    """Return the jobs whose memory is that of each node, in bytes, as requests of CERIT-SC have it."""
    if "resource_request" not in trace.jobs:
        return np.zeros(len(trace.jobs), bool)
    texts = trace.jobs["resource_request"].tolist()
    asked = {text: read_request(text) for text in dict.fromkeys(texts) if isinstance(text, str)}
    found = [asked.get(text) for text in texts]
    return np.array([each is not None and each.counts_memory_of_node for each in found], bool)


def _without_names(trace: Trace) -> dict[str, Any]:
    """Return a machine of as many nodes as were in use at once, by requests that name their machine."""
    if "resource_request" not in trace.jobs:
        raise ParameterError(
            "the log names no nodes: it has neither host_list (NodeList of sacct, exec_host of PBS with "
            "--format pbs:hosts=yes) nor node_list; describe the machine by hand"
        )
    start = _numbers(trace, "submit_time") + _numbers(trace, "wait_time")
    end = start + _numbers(trace, "run_time")
    gpus_of = _numbers(trace, "allocated_gpus")
    kinds: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
    for row, text in enumerate(trace.jobs["resource_request"].tolist()):
        asked = read_request(text) if isinstance(text, str) and ":excl:" in text else None
        if asked and asked.nodes > 0 and end[row] >= start[row]:
            gpus = np.nan_to_num(np.ceil(gpus_of[row] / asked.nodes))
            kinds[text.partition(":")[0]].append((start[row], end[row], asked.nodes, asked.cores, gpus))
    if not kinds:
        raise ParameterError("the log names no nodes, and no request such as frontier:excl:2500x112 names a machine")
    found = []
    for name, entries in kinds.items():
        table = np.array(entries)
        busy = Busy(np.zeros(len(table), np.int64), table[:, 0], table[:, 1], 1)
        count = int(max(busy.most(table[:, 2])[0], table[:, 2].max()))
        if count > MOST_NODES:
            raise ParameterError(f"jobs of {name} had {count:,} nodes at once, more than {MOST_NODES:,}")
        kind: dict[str, Any] = {"kind": name, "count": count, "cores": int(max(table[:, 3].max(), 1))}
        found.append(kind | ({"gpus": int(table[:, 4].max())} if table[:, 4].max() > 0 else {}))
    return {"nodes": found, "notes": [GUESSED, "the log names no single nodes: as many as were in use at once"]}


def _numbers(trace: Trace, name: str) -> FloatArray:
    if name not in trace.jobs:
        return np.full(len(trace.jobs), np.nan)
    return trace.jobs[name].to_numpy(np.float64, na_value=np.nan)
