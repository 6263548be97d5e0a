# SPDX-License-Identifier: BSD-3-Clause
"""Placements in words: which of the nodes that may be taken a job gets, by lists that are sorted and searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from swftools.machines.node_table import NodeTable

Free = tuple[int, int, int]
"""GPUs in thousandths, cores and MB of memory."""


@dataclass(frozen=True)
class Placement:
    """Which of the nodes that fit are taken."""

    rule: str = "first-fit"
    sparing: bool = True
    must: bool = True

    @property
    def is_must(self) -> bool:
        """Whether a job waits for nodes that lie as the placement has it."""
        return self.rule == "contiguous" and self.must

    @staticmethod
    def read(text: str) -> Placement:
        """Return a placement by its text form."""
        rule, _, parameters = text.partition(":")
        given = dict(each.split("=") for each in parameters.split(",") if each)
        assert set(given) <= {"sparing", "must"}
        assert set(given.values()) <= {"true", "false"}
        return Placement(rule, given.get("sparing") != "false", given.get("must") != "false")


@dataclass(frozen=True)
class Sought:
    """What nodes are sought for: how many, and what a job asks of each; ``free`` says what of each is free."""

    table: NodeTable
    nodes: int
    asked: Free
    free: Callable[[int], Free]


def choose(placement: Placement, sought: Sought, first: Sequence[int], rest: Sequence[int]) -> list[int]:
    """Return the nodes that are taken, of those to be taken first and of the rest; none if none will do."""
    assert len(first) + len(rest) >= sought.nodes
    if placement.rule == "contiguous":
        groups = runs([*first, *rest])
        if placement.must and all(len(group) < sought.nodes for group in groups):
            return []
        where = from_groups(groups, sought, first, lambda node: 0, lambda node: node)
        assert not placement.must or len(runs(where)) == 1
        return where
    if placement.rule == "fewest-switches":
        switch = sought.table.switch_by_node

        def cores(node: int) -> int:
            return sought.free(node)[1]

        groups = [[node for node in [*first, *rest] if switch[node] == each] for each in dict.fromkeys(switch.tolist())]
        return from_groups(
            [group for group in groups if group],
            sought,
            first,
            cores,
            lambda node: (node not in first, cores(node), node),
        )
    key = KEYS[placement.rule]
    in_turn = [sorted(nodes, key=lambda node: (key(sought, node), node)) for nodes in (first, rest)]
    return [*in_turn[0], *in_turn[1]][: sought.nodes]


def runs(nodes: Sequence[int]) -> list[list[int]]:
    """Return nodes in runs of neighbouring numbers."""
    return [
        [node + i for i in range(len(nodes) + 1) if set(range(node, node + i + 1)) <= set(nodes)]
        for node in sorted(nodes)
        if node - 1 not in nodes
    ]


def from_groups(
    groups: list[list[int]],
    sought: Sought,
    first: Sequence[int],
    cores: Callable[[int], int],
    turn: Callable[[int], Any],
) -> list[int]:
    """Return nodes of as few groups as possible: the smallest that suffices, else all of the largest, and so on.

    Of equal ones that with the most nodes to be taken first; then with the fewest cores free; then the first, as they
    are given. Of the last one the nodes are taken that come first in their turn.
    """
    taken: list[int] = []
    groups = list(groups)

    def ties(group: list[int]) -> tuple[int, int]:
        return -len(set(group) & set(first)), sum(map(cores, group))

    while len(taken) < sought.nodes:
        missing = sought.nodes - len(taken)
        enough = [group for group in groups if len(group) >= missing]
        if enough:
            last = min(enough, key=lambda group: (len(group), ties(group)))
            taken += sorted(last, key=turn)[:missing]
        else:
            largest = min(groups, key=lambda group: (-len(group), ties(group)))
            groups.remove(largest)
            taken += largest
    return taken


def most_left(sought: Sought, node: int) -> list[int]:
    """Return the more the less is free; GPUs count where the job asks for some."""
    gpus, cores, memory = sought.free(node)
    return [-gpus, -cores, -memory] if sought.asked[0] else [-cores, -memory]


def begun_first(sought: Sought, node: int) -> tuple[int, Free]:
    """Return 0 for a node with a begun GPU, or begun GPUs, that has room; 1 for other begun nodes; 2 for idle ones."""
    gpus, asked, all_gpus = sought.free(node)[0], sought.asked[0], int(sought.table.gpus[node])
    if asked == 0:
        return 0, sought.free(node)
    if gpus == all_gpus:
        return 2, sought.free(node)
    return (0 if asked % 1000 <= gpus % 1000 else 1), sought.free(node)


def least_aligned(sought: Sought, node: int) -> int:
    """Return the negative dot product of what is asked for and free, as shares in parts of 2 ** 20, rounded down."""
    table, total = sought.table, 0
    has = (int(table.gpus[node]), int(table.cores[node]), int(table.memory[node]))
    for asked, free, whole in zip(sought.asked, sought.free(node), has, strict=True):
        if whole > 0:
            total += (asked * 2**20 // whole) * (free * 2**20 // whole)
    return -total


KEYS: dict[str, Callable[[Sought, int], object]] = {
    "first-fit": lambda sought, node: 0,
    "lowest-weight": lambda sought, node: int(sought.table.weight[node]),
    "best-fit": lambda sought, node: sought.free(node),
    "worst-fit": most_left,
    "gpu-packing": begun_first,
    "dot-product": least_aligned,
}
