# SPDX-License-Identifier: BSD-3-Clause
"""Which kernel stands in the place of which where nodes may be away, as those say that do.

They stand on three floors: those of the first test one node, those of the second look for nodes of a job and reserve
them; on the third is the event loop. A kernel may call the one in whose place it stands, which is a floor below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from swftools.kernel.twins import Twins
from swftools.simulator.nodes.placement import PlacementRule
from swftools.simulator.nodes.placements.first_fit import choose_first
from swftools.simulator.nodes.usable import has_shape

OF_NODES: dict[Any, Any] = {}
OF_JOBS: dict[Any, Any] = {}
OF_EVENTS: dict[Any, Any] = {}


def in_place_of(other: Any, floor: dict[Any, Any]) -> Callable[[Any], Any]:
    """Return what stands before a kernel, and names the one that does the same where no node is ever away."""

    def register(kernel: Any) -> Any:
        floor[other] = kernel
        return kernel

    return register


def exchanged_for(name: str, rule: PlacementRule) -> Iterator[tuple[Twins, dict[Any, Any]]]:
    """Yield, floor by floor, what makes twins on it, and all that is exchanged by then."""
    found = dict(OF_NODES)
    lowest = Twins(name, found)
    found = {**found, choose_first: lowest.standing_for(rule.choose), has_shape: lowest.standing_for(rule.has_shape)}
    for floor in (OF_JOBS, OF_EVENTS):
        below = Twins(name, found)
        found = {**found, **{old: below.standing_for(new) for old, new in floor.items()}}
        yield Twins(name, found), found
