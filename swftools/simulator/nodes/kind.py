# SPDX-License-Identifier: BSD-3-Clause
"""A machine of nodes as a kind of machine: which of its verbs stand in the place of which of a pool's.

Policies, predictors and the event loop are written once. What is not exchanged here, and counts processors, a machine
of nodes lacks; a policy that may call it is refused.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

from swftools.errors import ParameterError
from swftools.kernel import kernel
from swftools.kernel.twins import Twins
from swftools.parameters import Parameters
from swftools.parameters.as_text import write_entry
from swftools.simulator.engine import transfer
from swftools.simulator.job_orders import first_in_order
from swftools.simulator.machine import running_jobs, verbs, views
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.work import stretch_on
from swftools.simulator.nodes import acts, classes, forking, holding
from swftools.simulator.nodes import verbs as on_nodes
from swftools.simulator.nodes.away import acts as _acts  # noqa: F401 (they say what they stand for)
from swftools.simulator.nodes.away import events, planning, presence, reserving  # noqa: F401 (likewise)
from swftools.simulator.nodes.away.exchange import exchanged_for
from swftools.simulator.nodes.away.state import away_machine_at, away_state_at
from swftools.simulator.nodes.exchange import EXCHANGED
from swftools.simulator.nodes.placement import Placement, PlacementRule
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.nodes.placements.first_fit import choose_first
from swftools.simulator.nodes.planned import place_on_nodes
from swftools.simulator.nodes.state import node_machine_at, node_state_at
from swftools.simulator.nodes.usable import has_shape
from swftools.simulator.planning import hold_running, planned_end
from swftools.simulator.policy_abi import MachineKind, machine_at
from swftools.simulator.registry import Policy, list_policies


@kernel(allocates=False)
def own_stretch(machine: Machine, job: int, processors: int) -> float:  # noqa: ARG001 (a pool needs them)
    """Return the factor by which a job's times grow on its nodes: 1, for it has what it asked for."""
    return 1.0


_VERBS = {
    views.fits: on_nodes.fits_on_nodes,
    views.next_waiting: on_nodes.next_waiting_on_nodes,
    views.can_start_any: classes.any_may_start,
    verbs.start: on_nodes.start_on_nodes,
    verbs.come: classes.enter_on_nodes,
    verbs.wait_again: classes.wait_again_on_nodes,
    verbs.go_away: on_nodes.go_away_on_nodes,
    running_jobs.release: holding.release_nodes,
    running_jobs.expect_end: on_nodes.expect_end_on_nodes,
    stretch_on: own_stretch,
    acts.could_start: acts.could_start_on_nodes,
    acts.start_there: acts.start_there_on_nodes,
    acts.run_there: acts.run_there_on_nodes,
    acts.note_shadow: acts.note_shadow_on_nodes,
    forking.take_places: forking.take_places_on_nodes,
    transfer.take_job: forking.take_job_on_nodes,
}

_LACKING = (
    *(views.free, views.next_fitting, views.waiting_that_fit, views.earliest_start, first_in_order),
    *(verbs.start_on, verbs.resize, verbs.preempt, verbs.hold),
    *(hold_running, planned_end),
)


def nodes_with(placement: str | Placement, *, has_outages: bool = False) -> MachineKind:
    """Return a machine of nodes on which a placement chooses, and whose nodes may be away."""
    rule = find_placement(placement).rule
    return _away_with(rule, len(EXCHANGED)) if has_outages else _nodes_with(rule, len(EXCHANGED))


@cache
def _nodes_with(rule: PlacementRule, exchanges: int) -> MachineKind:  # noqa: ARG001 (policies of one's own may add some)
    name = f"on_nodes_{_as_word(rule.name)}"
    chosen = Twins(name, {choose_first: rule.choose, has_shape: rule.has_shape})
    twins = Twins(name, {**_on(chosen), machine_at: node_machine_at})
    refused = {id(twins.standing_for(each)): each.py_func.__name__ for each in _LACKING}
    if rule.has_shape is not has_shape:  # which plans do not ask
        refused[id(chosen.standing_for(place_on_nodes))] = place_on_nodes.py_func.__name__
    return MachineKind(f"nodes, {rule.name}", node_machine_at, node_state_at, twins, refused)


@cache
def _away_with(rule: PlacementRule, exchanges: int) -> MachineKind:  # noqa: ARG001 (likewise)
    name = f"on_away_nodes_{_as_word(rule.name)}"
    *_, (highest, exchanged) = exchanged_for(name, rule)
    twins = Twins(name, {**exchanged, **_on(highest), machine_at: away_machine_at})
    refused = {id(twins.standing_for(each)): each.py_func.__name__ for each in _LACKING}
    if rule.has_shape is not has_shape:
        refused[id(highest.standing_for(place_on_nodes))] = place_on_nodes.py_func.__name__
    return MachineKind(f"nodes, {rule.name}, with outages", away_machine_at, away_state_at, twins, refused)


def _on(twins: Twins) -> dict[Any, Any]:
    """Return what stands in the place of a pool's kernels, as it is among what some twins exchange."""
    return {
        old: twins.of(new) if isinstance(new, FunctionType) else twins.standing_for(new)
        for old, new in {**_VERBS, **EXCHANGED}.items()
    }


def _as_word(name: str) -> str:
    return "".join(each if each.isalnum() else "_" for each in name)


def check_on_nodes(policy: Policy, chosen: Parameters, kind: MachineKind) -> None:
    """Raise ParameterError unless a policy, with these parameters, works on nodes."""
    if policy.in_python is not None:
        return  # it has a stepper, which knows nodes
    lacking = kind.lacking(policy.made_for(chosen).on(kind).decide)
    is_ours = policy.module.startswith("swftools.")
    why = "it counts processors" + ("" if is_ours else f", by {', '.join(lacking)}") if lacking else ""
    if lacking == (place_on_nodes.py_func.__name__,):
        why = (
            "its plan does not ask whether the nodes of a job lie together, as the placement must (with "
            "must=false it need not, as in contiguous:must=false)"
        )
    if why:
        usual = policy.chosen({}).to_mapping()
        given = {name: value for name, value in chosen.to_mapping().items() if value != usual[name]}
        raise ParameterError(
            f"policy {write_entry(policy.name, given)!r} does not work on a machine of nodes yet: {why}; with their "
            f"usual parameters these do: {', '.join(works_on_nodes(kind))}; or give processors= (--processors) in "
            "place of the machine"
        )


def works_on_nodes(kind: MachineKind) -> list[str]:
    """Return the names of the registered policies that work on nodes with their usual parameters."""
    return [
        name
        for name, policy in sorted(list_policies().items())
        if policy.in_python is None and not kind.lacking(policy.made_for(policy.chosen({})).on(kind).decide)
    ]
