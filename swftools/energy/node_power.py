# SPDX-License-Identifier: BSD-3-Clause
"""Power of the nodes of a machine, by their kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.parameters import did_you_mean, is_number
from swftools.simulator.allocations import allocations_of, machine_of
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from swftools.machines.description import MachineDescription


class NodePower(NamedTuple):
    """Power of nodes of a kind, W: of a busy core, of an idle core, and of the rest of each node, which is always on.

    Where it is None, what ``EnergyParameters`` say of all processors counts; of the rest of a node, nothing.
    """

    busy: float | None = None
    idle: float | None = None
    static: float | None = None


def powers_of(machine: MachineDescription) -> dict[str, NodePower]:
    """Return the power of the kinds of nodes of which the description of a machine tells it."""
    from swftools.machines.numbering import kind_name  # noqa: PLC0415 (heavy)

    powers = {kind_name(kind): kind.power for kind in machine.nodes}
    return {name: NodePower(each.busy, each.idle, each.static) for name, each in powers.items() if each is not None}


class OnNodes(NamedTuple):
    """Power of a schedule on nodes, W: of each run if it is not logged, NaN where nothing says; of its cores if idle.

    ``busy_core``, ``idle_core`` and ``rest`` are of each node: a busy core, an idle one, and what is always on.
    """

    busy: FloatArray
    idle: FloatArray
    busy_core: FloatArray
    idle_core: FloatArray
    rest: FloatArray


def power_on_nodes(
    schedule: Schedule, powers: Mapping[str, NodePower], busy_power: float | None, idle_power: float
) -> OnNodes:
    """Return the power of the runs of a schedule by the kinds of their nodes.

    Parameters
    ----------
    schedule : Schedule
        On a machine of nodes.
    powers : mapping of str to NodePower
        By the name of the kind; kinds that are not there are as ``NodePower()``.
    busy_power, idle_power : float
        W of a busy core, if it is known, and of an idle one, where its kind does not say.

    Raises
    ------
    ParameterError
        The machine is a pool or has no such kind, or a power is no number of 0 or more.
    """
    machine = machine_of(schedule)
    if unknown := [name for name in powers if name not in machine.kinds]:
        raise ParameterError(
            f"powers={', '.join(unknown)}: no kinds of nodes of this machine; it has {', '.join(machine.kinds)}"
            f"{did_you_mean(unknown, machine.kinds)}"
        )
    for name, power in powers.items():
        for what in NodePower._fields:
            watts = getattr(power, what)
            if watts is not None and not is_number(watts, 0):
                raise ParameterError(f"powers: {what}={watts!r} of kind {name} is not a number of 0 or more, W")
    of_kinds = [powers.get(name, NodePower()) for name in machine.kinds]

    def by_node(watts: list[float | None], usual: float | None) -> FloatArray:
        known = [usual if each is None else each for each in watts]
        return np.array([np.nan if each is None else each for each in known], np.float64)[machine.kind]

    busy = by_node([each.busy for each in of_kinds], busy_power)
    idle = by_node([each.idle for each in of_kinds], idle_power)
    static = by_node([each.static for each in of_kinds], 0.0)
    held, count = allocations_of(schedule), len(schedule.segments)
    return OnNodes(
        np.bincount(held.run, held.cores * busy[held.node], minlength=count).astype(np.float64),
        np.bincount(held.run, held.cores * idle[held.node], minlength=count).astype(np.float64),
        busy,
        idle,
        static,
    )
