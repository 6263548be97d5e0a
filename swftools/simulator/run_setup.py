# SPDX-License-Identifier: BSD-3-Clause
"""What a simulation begins with: its options, checked; the jobs to come; an empty machine; and what drives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from swftools.errors import ParameterError
from swftools.keyed_random import generator
from swftools.machines.node_table import NodeTable
from swftools.parameters import Parameters, is_whole
from swftools.parameters.choices import CQSIM, IGNORE, SEMANTICS
from swftools.parameters.run_option_table import ON_NODES, RunOptions
from swftools.simulator.engine.dependents import note_edges
from swftools.simulator.engine.loop import EngineOptions
from swftools.simulator.engine.replay import DEPENDS, begin_state
from swftools.simulator.machine.state import PLANS_BY_LIMIT
from swftools.simulator.memory_room import NodeRoom
from swftools.simulator.nodes.away.begin import away_of
from swftools.simulator.nodes.away.on_outage import find_on_outage
from swftools.simulator.nodes.begin import begin_on_nodes
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.nodes.setup import kind_for, nodes_of
from swftools.simulator.policy_abi import POOL, pack
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.predictors.registry import find_predictor, list_predictors
from swftools.simulator.registry import Policy, read_policy
from swftools.simulator.run.compiled_calls import CHECKED, called_for, remembered_by
from swftools.simulator.run.driver import Driver
from swftools.simulator.run.python_predictor_adapter import PredictorAdapter
from swftools.simulator.run_options import check_needs, check_semantics, options_in_words, restated
from swftools.simulator.workload import Workload, prepare
from swftools.trace import Trace


class Begun(NamedTuple):
    """A simulation before its first event.

    ``policy`` is what decides, with the parameters ``chosen``; ``options`` are those of the run, as a schedule tells
    them. ``machine`` is one of nodes.
    """

    policy: Policy
    chosen: Parameters
    workload: Workload
    driver: Driver
    options: dict[str, Any]
    machine: NodeTable | None = None


def begin(
    trace: Trace,
    policy: str | Policy,
    processors: int | None,
    run: RunOptions,
    *,
    compiled: bool | str,
    machine: object = None,
    parameters: Mapping[str, Any],
    number_of: Callable[[int], object],
    follows: Any = None,
) -> Begun:
    """Check the options of a simulation, and make what it begins with.

    Parameters
    ----------
    trace, policy, processors, compiled, machine
        As ``simulate`` takes them; also what it raises.
    run : RunOptions
        All others.
    parameters : mapping
        Of the policy.
    number_of : callable
        Says what a user calls a job.
    follows : RealRun, optional
        A real run, which a policy follows that has a setting (``swftools.simulator.slurm.begin``).
    """
    asked_for, given = read_policy(policy, parameters)
    found = find_predictor(run.predictor)
    learner = found.in_python if isinstance(found, Predictor) else found
    told = found if isinstance(found, Predictor) and not learner else list_predictors()["request"]
    table = nodes_of(machine, processors, run, trace.header)
    size = _size_of(trace, processors) if table is None else _size_of_nodes(table)
    if not isinstance(compiled, bool) and compiled != CHECKED:
        raise ParameterError(f"compiled={compiled!r} is not one of: True, False, {CHECKED!r}")
    check_needs(asked_for, given, trace)
    check_semantics(run.semantics, asked_for, found, run.overrun)
    rule, given = restated(run.semantics, asked_for, given)
    order = SEMANTICS[run.semantics]
    if run.semantics != "instant":
        run = replace(run, dependencies=IGNORE)  # as the simulators do that are restated
    chosen = rule.chosen(given)
    asked, away, kind, of_slurm = None, None, POOL, None
    if rule.has_setting:
        from swftools.simulator.slurm.begin import asked_of_slurm  # noqa: PLC0415 (where Slurm decides only)

        own = {"parameters": chosen, "compiled": bool(compiled), "follows": follows}
        asked, of_slurm = asked_of_slurm(rule, trace, table, run, **own)
    elif table is not None:
        from swftools.machines.requests import ask_of  # noqa: PLC0415 (where there are nodes only)

        placement, away = find_placement(run.placement), away_of(trace, table, find_on_outage(run.on_outage))
        kind = kind_for(rule, chosen, placement, has_outages=away is not None)
        left_out = np.isnan(trace.views.submit_time)
        if run.cancelled == "drop":
            left_out |= np.isnan(trace.views.run_time)
        asked = placement.able(ask_of(trace, table, cancelled=left_out), table)
    workload = prepare(trace, size, run, predictor=told, needs=rule.needed(given), asked=asked)
    jobs, dependent = len(workload.coming.row), workload.dependent
    room: dict[str, Any] = {
        "optional": DEPENDS if len(dependent.pending) else (),
        "edges": len(dependent.successor),
    }
    arena: Any
    if table is None or asked is None or of_slurm is not None:
        arena = begin_state(workload.coming, size, workload.restart, **room)
    else:
        arena = begin_on_nodes(
            *(workload.coming, table, asked, placement, run.heads, workload.restart),
            away=away,
            reservations=min(int(chosen.to_mapping().get("reservations", 1)), max(len(workload.coming.row), 1)),
            **room,
        )
    workload = workload._replace(coming=arena.state.coming, told=(*workload.told, *(away.told if away else ())))
    if len(dependent.pending):
        note_edges(arena.state.replay.dependents, dependent)
    arena.state.machine.counts[PLANS_BY_LIMIT] = order == CQSIM
    learning = PredictorAdapter(learner, trace, workload.coming) if learner else None
    nodes = None if kind is POOL or table is None else NodeRoom(len(table), len(arena.state.machine.nodes.held))
    setting = None if of_slurm is None else of_slurm.setting(workload.coming, trace)
    memory = rule.made_for(chosen).on(kind).empty_memory(jobs, size, chosen, nodes, setting)
    observed = told.empty_memory(jobs, size)
    driver = Driver(
        policy=rule,
        predictor=told,
        called=called_for(rule.begun_with(memory) if compiled else rule, chosen, told, compiled=compiled, kind=kind),
        arena=arena,
        options=EngineOptions(order, int(rule.rests), told.observes, int(learning is not None)),
        observer=pack(told.given.values(), observed, generator(run.seed, f"predict/{told.name}")),
        decider=pack(chosen.values(), memory, generator(run.seed, f"simulate/{rule.name}")),
        asked=learning,
        remembers=remembered_by(rule, chosen),
        number_of=number_of,
    )
    words = options_in_words(run, unsaid=not_told(table))
    return Begun(rule, chosen, workload, driver, {**words, **chosen.to_mapping()}, table)


def not_told(table: NodeTable | None) -> tuple[str, ...]:
    """Return the options that make no difference on a machine, of which schedules tell nothing."""
    if table is None:
        return ON_NODES
    return () if len(table.outages) else ("on_outage",)


def _size_of_nodes(table: NodeTable) -> int:
    """Return how many cores the nodes of a machine have."""
    if not 1 <= table.processors < 2**31:
        raise ParameterError(
            f"the machine has {table.processors:,} cores; simulations know 1 to {2**31 - 1:,}: describe a part of it"
        )
    return table.processors


def _size_of(trace: Trace, processors: int | None) -> int:
    """Return the size of the machine, by default the trace's."""
    size = processors if processors is not None else trace.processors
    if size is None:
        raise ParameterError(
            "the number of processors of the machine is unknown; give processors= (--processors), or machine= "
            "(--machine) for one of nodes"
        )
    if not is_whole(size, 1, 2**31 - 1):
        raise ParameterError(f"processors={size!r} is not an integer from 1 to 2**31 - 1")
    return int(size)
