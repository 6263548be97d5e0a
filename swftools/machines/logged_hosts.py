# SPDX-License-Identifier: BSD-3-Clause
"""Where the jobs of a log ran: their nodes, by number, and their partitions, of a machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import IntArray
from swftools.machines.named_nodes import parts_of
from swftools.machines.node_table import NodeTable
from swftools.trace import Trace

HOSTS = ("host_list", "node_list")
"""Columns of a log that may name the nodes of a job; the first that names any does."""


class Hosts(NamedTuple):
    """The nodes that each distinct text names, rising: ``node[first[i] : first[i + 1]]``, and what each gave.

    ``code`` is the text of each job of the trace, the last one of none; ``cores`` are -1 where a text does not tell.
    """

    code: IntArray
    first: IntArray
    node: IntArray
    cores: IntArray

    @property
    def many(self) -> IntArray:
        """How many nodes each job of the trace has."""
        return np.diff(self.first)[self.code]

    def places(self, row: IntArray) -> tuple[IntArray, IntArray]:
        """Return of each node of some jobs where it stands in ``node``, and which one of its job it is, from 0 on."""
        many = self.many[row]
        which = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        return np.repeat(self.first[:-1][self.code[row]], many) + which, which


def hosts_of(trace: Trace, machine: NodeTable) -> Hosts:
    """Return the nodes of each job.

    Raises
    ------
    ParameterError
        The machine has no node of a name.
    """
    name = next((each for each in HOSTS if each in trace.jobs and trace.jobs[each].notna().any()), None)
    if name is None:
        return Hosts(np.zeros(len(trace), np.int64), np.zeros(2, np.int64), *np.zeros((2, 0), np.int64))
    places = {each: number for number, each in enumerate(machine.names)}
    codes, texts = pd.factorize(trace.jobs[name])
    parts = [parts_of(str(text)) for text in texts]
    if unknown := sorted({part.node for some in parts for part in some if part.node not in places}):
        raise ParameterError(
            f"the log names nodes that the machine has not: {few(unknown)}; describe the machine as it was then, or "
            "have it guessed from the log ('swftools machine --from LOG --to FILE')"
        )
    given = [sorted((places[part.node], -1 if part.cores is None else part.cores) for part in some) for some in parts]
    flat = np.array([pair for some in given for pair in some], np.int64).reshape(-1, 2)
    first = np.cumsum([0, *map(len, given), 0]).astype(np.int64)
    return Hosts(np.where(codes < 0, len(texts), codes).astype(np.int64), first, flat[:, 0], flat[:, 1])


def logged_partitions(trace: Trace, machine: NodeTable) -> npt.NDArray[np.object_]:
    """Return the name of the machine's partition in which each job ran by the log, as partition or queue; else None."""
    found = np.full(len(trace), None, dtype=object)
    known = {each.name for each in machine.partitions}
    for kind, column in (("partition", trace.views.partition_id), ("queue", trace.views.queue_id)):
        for number, name in trace.known_names.get(kind, {}).items():
            if str(name) in known:
                found[column == number] = str(name)
    if len(known) == 1:
        found[:] = next(iter(known))
    return found


def few(words: Iterable[str]) -> str:
    """Return the first five words in a row."""
    some = list(words)
    return ", ".join(some[:5]) + (" ..." if len(some) > 5 else "")
