# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes of a machine are meant by a name: of a feature, a kind of node, a partition, a type of GPU, or a node."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from swftools.kernel import BoolArray
from swftools.machines.node_table import NodeTable

_TOKEN = re.compile(r"\s*([()&|,]|[^()&|,\s]+)")
_PLAIN = re.compile(r"[^\[\]*()&|,\s]+")
_CORES = re.compile(r"nodecpus([0-9]{1,6})")
_DEEPEST = 50
"""Parentheses of a text that are followed."""
_CLUSTER = "cl_"
"""What CERIT-SC writes before the name of a cluster."""


class NotFollowedError(Exception):
    """A text names nodes in a way that is not followed, or by names that nothing is known of."""


class NodeNames:
    """The nodes of a machine by names.

    Parameters
    ----------
    table : NodeTable
        The machine.
    """

    def __init__(self, table: NodeTable) -> None:
        self._table = table

    @cached_property
    def knows_features(self) -> bool:
        """Whether the machine says of any node what features it has; else it cannot be said that none has one."""
        return any(self._table.features)

    @cached_property
    def knows_gpu_types(self) -> bool:
        """Whether the machine says of any node of what type its GPUs are."""
        return any(self._table.gpu_types)

    @cached_property
    def _nodes(self) -> dict[str, list[int]]:
        """Numbers of nodes by their names, and by what stands before the first dot of a name."""
        found: dict[str, list[int]] = {}
        for number, name in enumerate(self._table.names):
            for each in dict.fromkeys((name, name.partition(".")[0])):
                found.setdefault(each, []).append(number)
        return found

    def named(self, word: str) -> BoolArray | None:
        """Return which nodes have a name; None where nothing of the machine has it."""
        kinds = [
            number
            for number, kind in enumerate(self._table.kinds)
            if word == kind or word in _of(self._table.features, number) or word in _of(self._table.gpu_types, number)
        ]
        mask = np.isin(self._table.kind, kinds)
        is_known = bool(kinds)
        for partition in self._table.partitions:
            if partition.name == word:
                mask[partition.nodes] = True
                is_known = True
        for node in (word, word.partition(".")[0]):
            if node in self._nodes:
                mask[self._nodes[node]] = True
                return mask
        if is_known:
            return mask
        if found := _CORES.fullmatch(word):
            return np.asarray(self._table.cores == int(found[1]))
        return self.named(word.removeprefix(_CLUSTER)) if word.startswith(_CLUSTER) else None

    def with_words(self, words: Iterable[str]) -> tuple[BoolArray, list[str]]:
        """Return the nodes that have all of some names, and none of those behind a ``^``; and the names of nothing."""
        mask = np.ones(len(self._table), bool)
        unknown = []
        for word in words:
            found = self.named(word.removeprefix("^"))
            if found is None:
                unknown.append(word)
            else:
                mask &= ~found if word.startswith("^") else found
        return mask, unknown

    def with_features(self, text: str) -> BoolArray:
        """Return the nodes that satisfy ``a&b``, ``a|b``, ``(a|b)&c``, as Slurm has them; a comma is an and.

        Raises
        ------
        NotFollowedError
            It is another form, such as ``[a|b]`` or ``a*2``, or a name of which nothing is known, as the machine has no
            features.
        """
        tokens = _TOKEN.findall(text)
        if "".join(tokens) != re.sub(r"\s", "", text) or not tokens or tokens.count("(") > _DEEPEST:
            raise NotFollowedError
        at, mask = self._either(tokens, 0)
        if at < len(tokens):
            raise NotFollowedError
        return mask

    def with_gpu_type(self, text: str) -> BoolArray:
        """Return the nodes that have GPUs of one of some types, ``a100|v100``; letters may be small or capital.

        Raises
        ------
        NotFollowedError
            The machine does not say of what types its GPUs are.
        """
        if not self.knows_gpu_types:
            raise NotFollowedError
        wanted = {word.strip().casefold() for word in re.split(r"[|,]", text) if word.strip()}
        kinds = [
            number
            for number in range(len(self._table.kinds))
            if wanted & {each.casefold() for each in _of(self._table.gpu_types, number)}
        ]
        return np.isin(self._table.kind, kinds)

    def _either(self, tokens: list[str], at: int) -> tuple[int, BoolArray]:
        """Return the nodes of parts with ``|`` between them, and the place behind these."""
        at, mask = self._both(tokens, at)
        while at < len(tokens) and tokens[at] == "|":
            at, other = self._both(tokens, at + 1)
            mask = mask | other
        return at, mask

    def _both(self, tokens: list[str], at: int) -> tuple[int, BoolArray]:
        """Return the nodes of parts with ``&`` between them."""
        at, mask = self._one(tokens, at)
        while at < len(tokens) and tokens[at] in "&,":
            at, other = self._one(tokens, at + 1)
            mask = mask & other
        return at, mask

    def _one(self, tokens: list[str], at: int) -> tuple[int, BoolArray]:
        """Return the nodes of a name, or of what stands in parentheses."""
        if at == len(tokens):
            raise NotFollowedError
        if tokens[at] == "(":
            at, mask = self._either(tokens, at + 1)
            if at == len(tokens) or tokens[at] != ")":
                raise NotFollowedError
            return at + 1, mask
        if not _PLAIN.fullmatch(tokens[at]):
            raise NotFollowedError
        found = self.named(tokens[at])
        if found is None and not self.knows_features:
            raise NotFollowedError
        return at + 1, np.zeros(len(self._table), bool) if found is None else found


def _of(sets: tuple[frozenset[str], ...], kind: int) -> frozenset[str]:
    """Return the set of a kind; none where there are no sets."""
    return sets[kind] if kind < len(sets) else frozenset()
