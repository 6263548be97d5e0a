# SPDX-License-Identifier: BSD-3-Clause
"""The machine of a run: a pool, or nodes by a file, a description or a table; what goes with either."""

from __future__ import annotations

import os

from swftools.errors import ParameterError
from swftools.header import SwfHeader
from swftools.machines.node_table import NodeTable
from swftools.parameters import Parameters
from swftools.parameters.run_option_table import ON_NODES, RUN_OPTIONS, RunOptions
from swftools.simulator.nodes.away.on_outage import find_on_outage
from swftools.simulator.nodes.placement import Placement
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.policy_abi import MachineKind
from swftools.simulator.registry import Policy


def nodes_of(
    machine: object, processors: int | None, run: RunOptions, header: SwfHeader | None = None
) -> NodeTable | None:
    """Return the nodes of a machine that is given; None where none is.

    Parameters
    ----------
    machine : path, MachineDescription, NodeTable or None
        What is given.
    processors : int or None
        A pool that is given, beside which no machine may be.
    run : RunOptions
        Options of which some are of nodes only, and some of pools.
    header : SwfHeader, optional
        Of the log, for outages at dates.

    Raises
    ------
    ParameterError
        Both are given, or what does not go with them.
    UnreadableLogError, LogFormatError
        The file cannot be read.
    """
    if machine is None:
        if all(getattr(run, name) == RUN_OPTIONS[name].default for name in ON_NODES):
            return None  # most runs: nothing need be read
        usual, told = _on_nodes(RunOptions()), _on_nodes(run)
        for name in ON_NODES:
            if told[name] != usual[name]:
                raise ParameterError(f"{name}={told[name]!r} is of a machine of nodes; give machine= (--machine) too")
        return None
    if processors is not None:
        raise ParameterError(
            "processors= (--processors) and machine= (--machine) are both given: they are two machines; give one"
        )
    check_semantics_on_nodes(run.semantics)
    return table_of(machine, header)


def table_of(machine: object, header: SwfHeader | None = None) -> NodeTable:
    """Return the nodes of a machine that is given as ``nodes_of`` takes it, with its errors."""
    if isinstance(machine, NodeTable):
        return machine
    if isinstance(machine, str | os.PathLike):
        from swftools.machines.description import read_machine  # noqa: PLC0415 (imports pydantic)

        return read_machine(machine).simulated(header)
    if hasattr(machine, "simulated"):
        table: NodeTable = machine.simulated(header)
        return table
    raise ParameterError(
        f"machine of type {type(machine).__name__}: give the path of a file, a MachineDescription, or a NodeTable"
    )


def _on_nodes(run: RunOptions) -> dict[str, str]:
    """Return the options that count on nodes only, in their one form."""
    words = {name: str(getattr(run, name)) for name in ON_NODES}
    read = {"placement": find_placement(run.placement), "on_outage": find_on_outage(run.on_outage)}
    return words | {name: value.to_text() for name, value in read.items()}


def check_semantics_on_nodes(semantics: str) -> None:
    """Raise ParameterError where the order of events is another simulator's: it is known of pools only."""
    if semantics != "instant":
        raise ParameterError(
            f"semantics={semantics!r} is of a pool of processors; leave it out, or give processors= (--processors)"
        )


def kind_for(policy: Policy, chosen: Parameters, placement: Placement, *, has_outages: bool = False) -> MachineKind:
    """Return the kind of machine on which a placement chooses, for a policy that works there."""
    from swftools.simulator.nodes.kind import check_on_nodes, nodes_with  # noqa: PLC0415 (imports all policies)

    kind = nodes_with(placement, has_outages=has_outages)
    check_on_nodes(policy, chosen, kind)
    return kind
