# SPDX-License-Identifier: BSD-3-Clause
"""What a placement is, and what registers one under a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from swftools.kernel import IntArray, Kernel
from swftools.machines.asked import Asked
from swftools.machines.node_table import NodeTable
from swftools.parameters import Parameters, truth
from swftools.parameters.registry import Registry
from swftools.simulator.nodes.usable import has_shape


def by_number(table: NodeTable) -> IntArray:
    """Return the nodes as they are numbered."""
    return np.arange(len(table))


@dataclass(frozen=True)
class PlacementRule:
    """A rule by which nodes are taken.

    Parameters
    ----------
    name : str
        Its name.
    choose : Kernel
        Takes the machine, a set of nodes, what the job needs of each, how many, for what (``usable``), when the job is
        expected to end, an array, and a place in it; writes down the nodes there. There are enough.
    order : callable
        Takes the nodes, and returns their numbers in the order in which the machine has them.
    chooses_again : bool
        Whether its choice depends on more than whether a node fits: nodes of a reservation are then chosen again
        whenever what is expected to be free changes.
    when : str
        When to use it, as a sentence.
    has_shape : Kernel
        As ``usable.has_shape``: whether the nodes that fit lie so that the rule can do with them.
    parameters : type of Placement, optional
        Its parameters, where it has more than all have.
    """

    name: str
    choose: Kernel[..., None]
    order: Callable[[NodeTable], IntArray] = by_number
    chooses_again: bool = False
    when: str = ""
    has_shape: Kernel[..., bool] = has_shape
    parameters: type[Placement] | None = None


@dataclass(frozen=True)
class Placement(Parameters):
    """A rule and its parameter.

    Parameters
    ----------
    sparing : bool
        Whether a reservation takes first nodes that do not fit now, and who ends before it begins goes first on its
        nodes: so whole nodes that are alike are as good as a pool.
    """

    NAME: ClassVar[str] = "first-fit"
    sparing: bool = truth(True)

    @property
    def rule(self) -> PlacementRule:
        """The rule."""
        return PLACEMENTS.find(self.NAME)

    @property
    def waits_for_shape(self) -> bool:
        """Whether a job may wait though enough nodes fit it, as they do not lie as the rule has it."""
        return self.rule.has_shape is not has_shape

    def able(self, asked: Asked, table: NodeTable) -> Asked:  # noqa: ARG002 (others look at it)
        """Return what jobs ask for without those that it could not place on the idle machine."""
        return asked


PLACEMENTS: Registry[PlacementRule] = Registry("placement", ("placement",))


def placement(name: str, **facts: Any) -> Callable[[Kernel[..., None]], Kernel[..., None]]:
    """Register what chooses nodes, a kernel, under a name; see ``PlacementRule``.

    Raises
    ------
    ParameterError
        The name is taken, or cannot be one.
    """

    def register(choose: Kernel[..., None]) -> Kernel[..., None]:
        PLACEMENTS.add(name, PlacementRule(name, choose, **facts), choose)
        return choose

    return register
