# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes ``topology/tree`` chooses: leaf after leaf of a tree of switches."""

from __future__ import annotations

from collections.abc import Sequence

from tests.naive.slurm_taking import Taken, Usable, heaviness
from tests.naive.slurm_world import World


def best_leaves(taken: Taken) -> Usable:
    """Return what a job gets of its usable nodes; none if they do not suffice.

    All are below one top switch, the last of the lightest node that has enough nodes. Only the lightest nodes count, as
    many weights as are needed; all but those of the heaviest of these weights must be taken.
    """
    tree = Tree(taken.world, sorted(taken.usable))
    tops = [at for at in tree.tops if tree.nodes(at) and taken.would_suffice_in_number(len(tree.nodes(at)))]
    if not tops:
        return {}
    top = tops[0]
    for other in tops[1:]:
        if tree.level(other) >= tree.level(top) and tree.lightest(other) <= tree.lightest(top):
            top = other
    there, some, musts = tree.nodes(top), list[int](), list[int]()
    for weight in sorted({heaviness(taken.world, node) for node in there}):
        musts, some = some, sorted(some + [node for node in there if heaviness(taken.world, node) == weight])
        if taken.would_suffice(some):
            break
    else:
        return {}
    tree = Tree(taken.world, some)
    taken.take(musts)
    near = [at for at in tree.all if set(tree.nodes(at)) & set(musts)]
    for leaf in near:
        if tree.is_leaf(leaf):
            taken.take([node for node in tree.nodes(leaf) if node not in musts])
    left = [at for at in tree.all if tree.is_leaf(at) and tree.nodes(at) and at not in near]
    while left and not taken.is_done():
        best = left[0]
        for leaf in left[1:]:
            fit = tree.compare(leaf, best, taken.nodes, used=[at for at in near if tree.is_leaf(at)])
            nearer = sum(tree.way(each, leaf) for each in near) - sum(tree.way(each, best) for each in near)
            if (nearer < 0 and fit >= 0) or (nearer == 0 and fit > 0):
                best = leaf
        near.append(best)
        left.remove(best)
        taken.take(tree.nodes(best))
    return taken.cores if taken.suffices() else {}


class Tree:
    """The switches of a site, of which only some nodes count."""

    def __init__(self, world: World, nodes: Sequence[int]) -> None:
        self.world, self.some, self.switches = world, set(nodes), world.site.switches
        self.all = range(len(self.switches))
        self.tops = [at for at in self.all if self.switches[at].parent < 0]

    def is_leaf(self, at: int) -> bool:
        """Whether a switch is a leaf."""
        return self.switches[at].is_leaf

    def above(self, at: int) -> list[int]:
        """Return a switch and those above it, up to the top."""
        line = [at]
        while self.switches[line[-1]].parent >= 0:
            line.append(self.switches[line[-1]].parent)
        return line

    def nodes(self, at: int) -> list[int]:
        """Return the nodes below a switch that count."""
        leaves = [leaf for leaf in self.all if self.is_leaf(leaf) and at in self.above(leaf)]
        return sorted(node for leaf in leaves for node in self.switches[leaf].nodes if node in self.some)

    def level(self, at: int) -> int:
        """Return how high a switch is; leaves are 0."""
        below = [other for other in self.all if self.switches[other].parent == at]
        return 1 + max(self.level(other) for other in below) if below else 0

    def lightest(self, at: int) -> tuple[int, int]:
        """Return the weight of the lightest node below a switch."""
        return min(heaviness(self.world, node) for node in self.nodes(at))

    def way(self, one: int, other: int) -> int:
        """Return how many steps are between two switches."""
        return len(set(self.above(one)) ^ set(self.above(other)))

    def compare(self, one: int, other: int, missing: int, used: Sequence[int]) -> int:
        """Return 1 if a switch fits better than another one for nodes that are missing, -1 if worse, else 0."""

        def many(at: int) -> int:
            return 0 if at in used else len(self.nodes(at))

        fits = many(one) >= missing, many(other) >= missing
        if fits == (True, True) and many(one) != many(other):
            return 1 if many(one) < many(other) else -1
        if fits[0] != fits[1]:
            return 1 if fits[0] else -1
        parents = [self.above(at)[min(1, len(self.above(at)) - 1)] for at in (one, other)]
        if fits == (False, False) and parents != [one, other] and parents[0] != parents[1]:
            return self.compare(*parents, missing, used)
        if many(one) != many(other):
            return 1 if many(one) > many(other) else -1
        return (self.level(one) < self.level(other)) - (self.level(one) > self.level(other))
