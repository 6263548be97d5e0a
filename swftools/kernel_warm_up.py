# SPDX-License-Identifier: BSD-3-Clause
"""Every kernel called once, on next to nothing, as it is called in earnest: what ``swftools.kernel.rehearsals`` runs.

A new kernel that nothing here calls gets its step; ``tests/kernel/test_warm_up.py`` finds it out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from swftools.checkpoints.inference import infer_checkpoints
from swftools.checkpoints.synthetic_survey import generate_checkpoint_survey
from swftools.fields.definition import UTILITY
from swftools.formats.rehearsal import READINGS
from swftools.kernel import rehearsed
from swftools.kernel.pointers import Lent, place_of
from swftools.keyed_random import next_gamma, next_normal, next_uniform, stream
from swftools.learning.agents import Eye
from swftools.learning.costs import find_cost
from swftools.learning.episode import play_all_kernel
from swftools.learning.episode_log import EpisodeLog
from swftools.learning.network import Network, policy_of
from swftools.learning.observation import empty_seen
from swftools.learning.rules import Rules
from swftools.learning.slot import Slot
from swftools.machines.asked import Asked, Place
from swftools.machines.node_table import NodeTable, PartitionNodes
from swftools.models import cirne_berman, lublin_feitelson
from swftools.models.fixed_requested_times import draw_requested_times, fit_requested_times
from swftools.models.moldability import generate_speedup
from swftools.models.requested_times import generate_requested_times
from swftools.models.shaking import shake_submissions
from swftools.models.speedup import (
    downey_maximum_processors,
    downey_working_set,
    run_time,
    simple_speedup,
)
from swftools.models.tightened_requests import tighten_requests
from swftools.qbets.bounds import find_bound, list_bounds
from swftools.qbets.bounds.registry import FEW
from swftools.qbets.change_points import autocorrelation, misses_in_a_row, rare_events
from swftools.qbets.clusters import cluster
from swftools.qbets.predictor import WaitPredictor, replay
from swftools.qbets.rivals import features_at_submission
from swftools.reservations.bids import Bids, latest_submissions
from swftools.reservations.live_waits import LiveWaits
from swftools.simulator.entry_points import simulate
from swftools.simulator.job_orders import LJF, SJF
from swftools.simulator.machine.state import SUSPEND, Machine
from swftools.simulator.machine.verbs import hold, predict, preempt, resize, start, start_on, wake_at
from swftools.simulator.machine.views import capacity, next_waiting, now, waiting_jobs
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.machine.work import work_done
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.wait_reasons import wait_reasons
from swftools.simulator.nodes.kind import nodes_with
from swftools.simulator.planning import empty_plan, hold_running, place_in_order, unplace
from swftools.simulator.policies.pv_easy import by_key
from swftools.simulator.policies.strict import start_from_heap, start_in_order
from swftools.simulator.policy_abi import POOL, compiled_entry, pack
from swftools.simulator.predictors.registry import list_predictors
from swftools.simulator.profile import copy_profile, empty_profile
from swftools.simulator.registry import list_policies
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.stepper import Stepper
from swftools.simulator.validation.report import validate
from swftools.trace import Trace
from swftools.utility.functions import UtilityFunctions
from swftools.utility.model import generate_utility

_ON_NODES = "fcfs", "easy", "sjf-backfill", "lxf-backfill", "prio-fifo", "conservative", "conservative-replanned"
"""Policies that users run most on machines of nodes; others are compiled there when they are first used."""


def _generate() -> None:
    trace = lublin_feitelson.generate(20)
    cirne_berman.generate(20)
    generate_utility(trace)
    generate_requested_times(trace)
    tighten_requests(trace)
    draw_requested_times(trace, fit_requested_times(trace))
    own = trace.jobs["job_number"]
    behind = trace.jobs.assign(preceding_job_number=own - 1)
    circle = trace.jobs.assign(preceding_job_number=own.shift(-1, fill_value=1), submit_time=0.0)
    for jobs in (behind, circle):
        shake_submissions(trace.with_jobs(jobs), 1)
    run_time(2, trace.with_jobs(trace.jobs.join(generate_speedup(trace))).jobs.assign(width=trace.arrays.width))
    infer_checkpoints(_trace(), generate_checkpoint_survey(_trace()))


def _evaluate() -> None:
    UtilityFunctions.from_points([[(0.0, 2.0), (10.0, 1.0)]]).evaluate(1.0)
    downey_working_set(10.0, 0.5)
    downey_maximum_processors(10.0, 0.5)
    simple_speedup(2, 4)


def _draw() -> None:
    state = stream(0, "rehearsal", 1)
    next_uniform(state)
    next_normal(state)
    next_gamma(state, 2.0)


def _trace() -> Trace:
    """Return three jobs, one of which has to wait and one that may go ahead of it, with all that policies need."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3],
        submit_time=[0, 1, 2],
        run_time=[10, 10, 5],
        requested_time=[10, 10, 5],
        requested_processors=[3, 4, 1],
        user_id=[1, 1, 2],
    )
    functions = UtilityFunctions.from_points([[(0.0, 2.0), (100.0, 1.0)]] * 3).to_arrow()
    columns: dict[str, Any] = {
        "priority_rank": pd.array([0, 1, 1], dtype="Int64"),
        "utility": pd.Series(functions, dtype=pd.ArrowDtype(UTILITY)),
        "checkpoint_interval": pd.array([5.0, 5.0, None], dtype="Float64"),
    }
    return trace.with_jobs(trace.jobs.assign(**columns).join(generate_speedup(trace)))


def _simulate(policy: str) -> None:
    simulate(_trace(), policy)


def _plan() -> None:
    """Plan as policies that make schedules of orders do."""
    machine, plan = Simulation(_trace(), "fcfs").run(until=1)._machine, empty_plan(3)
    hold_running(machine, plan.profile, 1.0)
    place_in_order(machine, plan, waiting_jobs(machine))
    copy_profile(plan.profile, empty_profile(3))
    unplace(plan, 1, 4)


def _predict(predictor: str) -> None:
    simulate(_trace(), "fcfs", predictor=predictor)


class _InPython:
    """A bound in Python."""

    def fit(self, waits: object) -> None:
        """Learn nothing."""

    update = fit

    def predict(self) -> None:
        """Predict nothing."""


def _replay() -> None:
    log = _trace()
    log = log.with_jobs(log.jobs.assign(wait_time=1.0))
    for method in ("binomial", _InPython()):
        replay(log, method, cluster_every=1)
    features_at_submission(log)
    cluster([1.0], [1.0])
    autocorrelation([1.0, 2.0])
    misses_in_a_row(0.0, rare_events("reference"))


def _live() -> None:
    waits = LiveWaits(WaitPredictor("binomial", by=None), 1)
    waits.started(waits.submitted(0.0, 1.0), 1.0)
    waits.learn(1.0)
    one, whole = np.ones(1), np.zeros(1, np.int64)
    latest_submissions(Bids(whole, whole, one, one, one, one), waits, 0.0, 50, 30.0, "requested_time")


def _bound(name: str) -> None:
    """Learn many waits at once and one by itself, which are two ways, and have at hand what a replay calls."""
    bound = find_bound(name).fit(np.arange(FEW + 1.0)).update([1.0])
    bound.predict()
    bound.compiled_bound()


def _validate() -> None:
    schedule = simulate(_trace(), "fcfs")
    for name, policy in list_policies().items():
        if policy.promised({}):
            validate(schedule, policy=name)
    validate(replace(schedule, segments=pd.concat([schedule.segments] * 2)))  # as jobs with several runs are


def _validate_on_nodes() -> None:
    whole, nodes = np.ones(2, np.int64), np.arange(2)
    table = NodeTable(("a", "b"), nodes, ("a", "b"), whole, whole, whole, whole, (PartitionNodes("p", nodes),))
    place = Place((nodes,), (0,))
    nothing, three = np.zeros(3, np.int64), np.ones(3, np.int64)
    asked = Asked(three, three, nothing, nothing, nothing > 0, nothing, (place,), nothing, ("",), np.zeros(0))
    starts = pd.DataFrame({"job_number": [1, 2, 3], "start_time": [0, 10, 2], "nodes": ["0", "0", "1"]})
    for name in ("fcfs", "easy"):
        validate(starts, trace=_trace(), machine=table, asked=asked, policy=name)
    one, two = [1] * 3, [2] * 3
    exact = Trace.from_columns(
        job_number=[1, 2, 3], submit_time=one, run_time=two, requested_time=two, requested_processors=one
    )
    validate(starts, trace=exact, machine=table, asked=asked, policy="conservative")


def _look_at_heads() -> None:
    measure(simulate(_trace(), "fcfs"))  # which looks at heads, and at machine and queue over time
    simulation = Simulation(_trace(), "fcfs").run(until=1)
    simulation.without(simulation.running)


def _node() -> NodeTable:
    """Return a machine of one node of four cores."""
    one = np.zeros(1, np.int64)
    return NodeTable(("n",), one, ("n",), one + 4, one, one, one, (PartitionNodes("all", one),))


def _simulate_on_nodes(policy: str, placement: str = "first-fit") -> None:
    simulate(_trace(), policy, machine=_node(), placement=placement)


def _look_at_nodes() -> None:
    schedule = simulate(_trace(), "fcfs", machine=_node())
    measure(schedule)
    wait_reasons(schedule)
    simulation = Simulation(_trace(), "fcfs", machine=_node()).run(until=1)
    simulation.without(simulation.running)


def _step() -> None:
    """Decide from outside."""
    stepper = Stepper(_trace(), "fcfs")
    while stepper.advance():
        stepper.fork()
        stepper.copy()
        for job in stepper.waiting[:1]:
            stepper.start_or_fill(job)
    job = stepper.submit(1, 10.0)
    stepper.run(until=stepper.present).end(job)
    stepper = Stepper(_trace(), "fcfs").run(until=1)
    stepper.take_away(4, until=2)  # which stops a run
    stepper.finish()


def _wait_for_others() -> None:
    """Simulate a job that waits for another one, from outside too, and take that one out."""
    trace = _trace()
    trace = trace.with_jobs(trace.jobs.assign(preceding_job_number=pd.array([None, None, 1], dtype="Int64")))
    stepper = Stepper(trace, "fcfs")
    while stepper.skip():
        stepper.fork(later=None)
    simulation = Simulation(trace, "fcfs").run(until=2)
    simulation.without(simulation.running)
    simulate(trace, "fcfs", machine=_node())


def _learn() -> None:
    """Play an episode alone and among others, look as an agent does, decide by a network."""
    rules = Rules(k=2, jobs=2, warm_up=1, choice="reserve", cost=find_cost("wait"), dense=True)
    slot = Slot(EpisodeLog(_trace(), policy="fcfs", reference="fcfs"), rules, empty_seen(2))
    slot.begin(0)
    slot.play(slot.place, 2)
    if slot.is_compiled:
        one = np.zeros(1, np.int64)
        play_all_kernel(POOL).compiled(np.array([slot.place]), one, 2, np.zeros(1), one.copy())
    stepper = Stepper(_trace(), "fcfs")
    stepper.advance()
    Eye(2, reserves=False).look(stepper)
    simulate(_trace(), policy_of("rehearsal", Network.random(2), k=2))


def _all_verbs(machine: Machine) -> None:
    """Call what policies and predictors of others may call; compiled as a policy, and never run."""
    for job in waiting_jobs(machine):
        start_on(machine, job, 1)
        resize(machine, job, capacity(machine))
        preempt(machine, next_waiting(machine, job), SUSPEND)
        hold(machine, job, now(machine))
        predict(machine, job, work_done(machine, job))
    wake_at(machine, now(machine) + 1.0)


def _compile_verbs() -> None:
    place_of(compiled_entry(_all_verbs, ["machine"], (), None, _nothing_of_its_own()))


def _other_orders(machine: Machine, heap: Any) -> None:
    """Call what policies may call on nodes that are not rehearsed there."""
    start_in_order(machine, SJF)
    start_from_heap(machine, heap, LJF)
    start(machine, next_waiting(machine, NOBODY))
    predict(machine, next_waiting(machine, NOBODY), 1.0)


def _compile_orders() -> None:
    kind = nodes_with("first-fit")
    text = kind.of(_other_orders)
    place_of(compiled_entry(text, ["machine", "heap"], (), None, _nothing_of_its_own(), kind=kind))


def _nothing_of_its_own() -> Lent:
    return Lent(lambda: pack([], (), np.random.default_rng(0)))


def _policies_of_most() -> list[str]:
    """Return the policies but fcfs, and but those that keep nodes themselves: few use them, and each takes long."""
    return [name for name, policy in list_policies().items() if name != "fcfs" and not policy.has_setting]


@rehearsed
def _steps() -> list[tuple[str, Callable[[], object]]]:
    """Return what is called, by name: first the engine, which takes longest and stands in the way of much."""
    return [
        ("policy fcfs", partial(_simulate, "fcfs")),
        *READINGS,
        ("models", _generate),
        ("evaluation of curves", _evaluate),
        ("random numbers", _draw),
        ("verbs of policies", _compile_verbs),
        *((f"policy {name}", partial(_simulate, name)) for name in _policies_of_most()),
        *((f"policy {name} on nodes", partial(_simulate_on_nodes, name)) for name in _ON_NODES),
        ("other orders on nodes", _compile_orders),
        ("best fit on nodes", partial(_simulate_on_nodes, "easy", "best-fit")),
        ("several reservations on nodes", partial(_simulate_on_nodes, "easy:reservations=2")),
        ("easy with several reservations", partial(_simulate, "easy:reservations=2")),
        ("cirne-berman with reservations", partial(_simulate, "cirne-berman:inner=conservative")),
        *((f"predictor {name}", partial(_predict, name)) for name in list_predictors()),
        *((f"bound {name}", partial(_bound, name)) for name in list_bounds()),
        ("replay of waits", _replay),
        ("waits in the loop", _live),
        ("planning", _plan),
        ("orders of one's own", by_key),
        ("validation", _validate),
        ("validation on nodes", _validate_on_nodes),
        ("heads", _look_at_heads),
        ("measures of nodes", _look_at_nodes),
        ("decisions from outside", _step),
        ("jobs that wait for others", _wait_for_others),
        ("schedulers that learn", _learn),
    ]
