# SPDX-License-Identifier: BSD-3-Clause
"""Where jobs may run: their partitions, and the nodes of these that have what they ask for by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from swftools.kernel import BoolArray, IntArray
from swftools.machines.asked import Place
from swftools.machines.fitting import NodeSet
from swftools.machines.node_names import NodeNames, NotFollowedError
from swftools.machines.node_table import NodeTable, PartitionNodes
from swftools.machines.told import Told
from swftools.named import NUMBERED
from swftools.output.shown_text import shown
from swftools.trace import Trace

NO_PARTITION = "asks for a partition that the machine does not have: {}"
NO_FEATURE = "asks for features that no node of its partition has"
NO_GPU_TYPE = "asks for a type of GPU that no node of its partition has"
DEFAULT = "the default partition of the machine, as the log names none"
ONLY_ONE = "the only partition of the machine, whatever the log names"
ANY_PARTITION = "any partition, the first in which they fit, as the log names none and the machine has no default"
NONE_MATCHES = "none of the names of queues and partitions in the log is one of the machine: taken as not told"
NOT_FOLLOWED = "features that are not followed, as they are in another form than a&b|c or the machine names none: {}"
TYPES_NOT_FOLLOWED = "types of GPU that are not followed, as the machine names none: {}"
WORDS_NOT_FOLLOWED = "names in requests that nothing of the machine has are not followed: {}"

_SEVERAL = re.compile(r"[,|]")
_SHOWN = 5


class Candidate(NamedTuple):
    """A set of nodes in which a job may run.

    Parameters
    ----------
    nodes : numpy.ndarray of int64
        Their numbers, rising; at least one.
    partition : int
        The place of its partition.
    is_exclusive : bool
        Whether jobs have their nodes alone there.
    size : NodeSet
        What fits there.
    """

    nodes: IntArray
    partition: int
    is_exclusive: bool
    size: NodeSet


class Spot(NamedTuple):
    """Where jobs that name the same may run: candidates, in order; or, where there is none, why."""

    candidates: tuple[Candidate, ...]
    reason: str = ""


class Names(NamedTuple):
    """What names a job gives: places in the lists of ``Spots``, -1 for none."""

    partition: int
    words: int
    features: int
    gpu_types: int


class Spots:
    """Finds where jobs may run, by the names that they give.

    Parameters
    ----------
    trace : Trace
        The log.
    table : NodeTable
        The machine.
    told : Told
        What the log says of what jobs ask for.
    named : tuple of numpy.ndarray of int64, and list of str, optional
        The partition that each job names, as ``partition_names`` returns it, if that is not what the columns say.
    """

    def __init__(
        self, trace: Trace, table: NodeTable, told: Told, named: tuple[IntArray, list[str]] | None = None
    ) -> None:
        self._table, self._told, self._names = table, told, NodeNames(table)
        self.partition, self._partitions = partition_names(trace, table, told) if named is None else named
        self._numbers = {each.name: number for number, each in enumerate(table.partitions)}
        self._masks: dict[tuple[int, int, int], tuple[BoolArray, BoolArray]] = {}
        self._sets: dict[tuple[int, bytes], Candidate] = {}
        self.unknown: dict[str, dict[str, None]] = {}
        """Names that are not followed, by the words in which that is told."""
        self.not_followed: dict[str, set[tuple[int, int, int]]] = {}
        """Of which words, features and types of GPUs they are."""

    def find(self, names: Names) -> Spot:
        """Return where jobs may run that give some names."""
        has_features, mask = self.mask_of(names[1:])
        partitions = self.partitions_of(names.partition)
        if isinstance(partitions, str):
            return Spot((), partitions)
        found = [self._candidate(number, part, mask) for number, part in partitions]
        lacks_type = any(has_features[part.nodes].any() for _, part in partitions)
        return Spot(tuple(each for each in found if each is not None), NO_GPU_TYPE if lacks_type else NO_FEATURE)

    def partitions_of(self, place: int) -> list[tuple[int, PartitionNodes]] | str:
        """Return the partitions of a name, or why there is none; where none is told those that count then."""
        all_of = self._table.partitions
        if place < 0:
            default = [(number, part) for number, part in enumerate(all_of) if part.is_default]
            if default or len(all_of) == 1:
                return default or [(0, all_of[0])]
            return _any(self._table)
        text = self._partitions[place]
        words = [text] if text in self._numbers else [word.strip() for word in _SEVERAL.split(text)]
        known = list(dict.fromkeys(self._numbers[word] for word in words if word in self._numbers))
        if known:
            return [(number, all_of[number]) for number in known]
        return NO_PARTITION.format(shown(text))

    def mask_of(self, key: tuple[int, int, int]) -> tuple[BoolArray, BoolArray]:
        """Return the nodes that have the features that are asked for, and those of them that have the type of GPU."""
        if key not in self._masks:
            self._masks[key] = self._new_mask(key)
        return self._masks[key]

    def _new_mask(self, key: tuple[int, int, int]) -> tuple[BoolArray, BoolArray]:
        words, features, gpu_types = key
        mask = np.ones(len(self._table), bool)
        if words >= 0 and (asked := self._told.asked[words]) is not None:
            mask, unknown = self._names.with_words(asked.words)
            for word in unknown:
                self._leave(WORDS_NOT_FOLLOWED, word, key)
        if features >= 0:
            text = self._told.features[1][features]
            try:
                mask = mask & self._names.with_features(text)
            except NotFollowedError:
                self._leave(NOT_FOLLOWED, text, key)
        if gpu_types >= 0:
            text = self._told.gpu_types[1][gpu_types]
            try:
                return mask, mask & self._names.with_gpu_type(text)
            except NotFollowedError:
                self._leave(TYPES_NOT_FOLLOWED, text, key)
        return mask, mask

    def _leave(self, told: str, name: str, key: tuple[int, int, int]) -> None:
        """Keep that a name is not followed."""
        self.unknown.setdefault(told, {})[name] = None
        self.not_followed.setdefault(told, set()).add(key)

    def _candidate(self, number: int, partition: PartitionNodes, mask: BoolArray) -> Candidate | None:
        """Return the nodes of a partition that have what is asked for; None where there are none."""
        nodes = partition.nodes[mask[partition.nodes]]
        if not len(nodes):
            return None
        key = (number, nodes.tobytes())
        if key not in self._sets:
            size = NodeSet(self._table, nodes, partition)
            self._sets[key] = Candidate(nodes, number, partition.is_exclusive, size)
        return self._sets[key]


def place_of(candidates: Sequence[Candidate]) -> Place:
    """Return a place of some candidates."""
    return Place(tuple(each.nodes for each in candidates), tuple(each.partition for each in candidates))


def few(names: Sequence[str]) -> str:
    """Return some names as they are told: the first few."""
    told = ", ".join(shown(name) for name in names[:_SHOWN])
    return told if len(names) <= _SHOWN else f"{told} and {len(names) - _SHOWN} others"


def _any(table: NodeTable) -> list[tuple[int, PartitionNodes]]:
    """Return the partition that has all nodes, where there is one; else all of them, in their order."""
    for number, partition in enumerate(table.partitions):
        if len(partition.nodes) == len(table):
            return [(number, partition)]
    return list(enumerate(table.partitions))


def partition_names(trace: Trace, table: NodeTable, told: Told) -> tuple[IntArray, list[str]]:
    """Return which partition each job names, as a place in a list of names; -1 for none.

    A partition of the machine may be what the log has for a partition or for a queue: that which has it of more jobs.
    """
    rows = len(trace)
    nothing = np.full(rows, -1, np.int64)
    known = {each.name for each in table.partitions}
    best: tuple[int, IntArray, list[str]] = 0, nothing, []
    has_names = np.zeros(rows, bool)
    for kind in ("partition", "queue"):
        numbers = getattr(trace.views, NUMBERED[kind])
        found = trace.known_names.get(kind, {})
        distinct, places = np.unique(numbers, return_inverse=True)
        texts = [found.get(number, str(number)) for number in distinct.tolist()]
        is_known = np.array(
            [bool(known.intersection([text, *map(str.strip, _SEVERAL.split(text))])) for text in texts], bool
        )
        count = int(is_known[places].sum()) if rows else 0
        has_names |= numbers >= 0
        if count > best[0]:
            best = count, np.where(numbers >= 0, places, -1), texts
    _, places, texts = best
    if len(table.partitions) == 1:
        told.assume(ONLY_ONE, has_names & (places < 0))
        if not texts:
            return nothing, []
    elif not texts:
        told.assume(NONE_MATCHES, has_names)
    has_default = any(each.is_default for each in table.partitions)
    if len(table.partitions) > 1:
        told.assume(DEFAULT if has_default else ANY_PARTITION, places < 0)
    return places, texts
