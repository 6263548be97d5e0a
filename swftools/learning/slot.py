# SPDX-License-Identifier: BSD-3-Clause
"""The machine on which an environment plays one episode after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import IntArray
from swftools.kernel.layout import Layout
from swftools.kernel.pointers import Lent, place_of_compiled
from swftools.learning.costs import LEAST_RUN_TIME
from swftools.learning.episode import (
    COUNTED,
    REFERENCE,
    THRESHOLD,
    TOTAL,
    begin_kernel,
    empty_episode,
    episode_at,
    play_kernel,
    reference_kernel,
)
from swftools.learning.episode_log import EpisodeLog
from swftools.learning.episode_on_nodes import (
    begin_episodes_on_nodes,
    choose_nodes,
    empty_episode_on_nodes,
    episode_on_nodes_at,
)
from swftools.learning.observation import ObservedJobs
from swftools.learning.observed_nodes import on_this_machine
from swftools.learning.rules import Rules
from swftools.simulator.engine.dependents import ready_times
from swftools.simulator.engine.loop import EngineOptions, EngineRun, run_at
from swftools.simulator.engine.replay import (
    DECIDED,
    DECIDING,
    DEPENDS,
    LEFT,
    STEPS,
    TO_DECIDE,
    Coming,
    Replay,
    begin_state,
    coming_at,
    replay_at,
)
from swftools.simulator.machine.state import PLACES, WAITING
from swftools.simulator.memory_room import NodeRoom
from swftools.simulator.nodes.placed import OnNodes, columns_of_nodes
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.policy_abi import pack
from swftools.simulator.run.compiled_calls import engine_kernel
from swftools.simulator.schedule import Schedule
from swftools.simulator.schedule_columns import schedule_of, what_was_done
from swftools.simulator.state.arena import Arena
from swftools.simulator.state.columns import PER_JOB, names_per


class Start(NamedTuple):
    """A start of a job, as the episode numbers it: when (s), and on which nodes, by number; on a pool on none."""

    job: int
    time: float
    nodes: IntArray


class Slot:
    """A machine for the episodes of an environment, which is used again and again.

    Parameters
    ----------
    log : EpisodeLog
        The log.
    rules : Rules
        What an episode is.
    seen : ObservedJobs
        What is written to at each decision; its arrays may be parts of larger ones.
    """

    def __init__(self, log: EpisodeLog, rules: Rules, seen: ObservedJobs) -> None:
        log.check_length(rules.length)
        self.log, self.rules, jobs = log, rules, rules.length
        called, compared = log.called(log.policy), log.called(log.reference or log.policy)
        self.is_compiled = called.is_compiled and compared.is_compiled
        # What engine and predictor write of each job is the episode's own; all else is the log's, whoever plays on it.
        own = {name: getattr(log.coming, name)[:jobs].copy() for name in names_per(Coming, PER_JOB)}
        queue = PLACES
        while queue <= jobs:
            queue *= 2
        most = (min(jobs, log.processors) if log.nodes is None else jobs) + 1
        # With room for all that may wait and end, so that the engine never stops for more.
        depends, edges = len(log.replay.dependents.pending) > 0, int(log.replay.dependents.edges[0])
        room = {"places": queue, "held": 2 * queue + jobs, "ends": 4 * most, "edges": edges}
        coming, optional = log.coming._replace(**own), DEPENDS if depends else ()
        arena: Arena[Any]
        if log.on_nodes is None:
            arena = begin_state(coming, log.processors, log.restart, optional, **room)
        else:
            arena = begin_episodes_on_nodes(log.on_nodes, coming, optional, **room)
        self.machine: Any
        self.replay: Replay
        coming, self.machine, self.replay = arena.state
        self.requests = self.replay.requests
        self._kept: list[Any] = [called, compared]  # what lies at a place must stay there
        at = log.kind.machine_at
        places = (self._lay(coming, coming_at), self._lay(self.machine, at), self._lay(self.replay, replay_at))
        observer, runs = self._lay(log.observer, called.observer_at), []
        for (policy, chosen), calls in ((log.policy, called), (log.reference or log.policy, compared)):
            # Of its kind; it is not used.
            memory = policy.made_for(chosen).on(log.kind).empty_memory(1, log.processors, chosen, NodeRoom(1, 1))
            decider = self._lay(pack(chosen.values(), memory, np.random.default_rng(0)), calls.decider_at)
            depend = calls.depend() if depends else 0
            run = EngineRun(
                *places, EngineOptions(log.semantics, 1, 0, 0), calls.observe, observer, calls.decide, decider, depend
            )
            runs.append(self._lay(run, run_at))
        engine = called.engine
        if self.is_compiled:
            engine = place_of_compiled(engine_kernel(log.kind), checked=log.is_checked)
        where = (engine, *runs, self._lay(log.coming, coming_at), self._lay(log.replay, replay_at), *places)
        like, episode = episode_at, empty_episode(where, seen)
        if log.nodes is not None and log.on_nodes is not None:
            machine = log.on_nodes.state.machine
            self._order = order = find_placement(log.options["placement"]).rule.order(log.nodes)
            shown = on_this_machine(seen, machine.places, log.nodes, order)
            like, episode = episode_on_nodes_at, empty_episode_on_nodes(where, shown, machine.asked, len(order))
        episode.kinds[:] = rules.kinds()
        episode.numbers[THRESHOLD] = LEAST_RUN_TIME
        self.episode, self.place = episode, self._lay(episode, like)
        self._begin, self.play, self._cost_of_reference = (
            each.compiled if self.is_compiled else each.py_func
            for each in (begin_kernel(log.kind), play_kernel(log.kind), reference_kernel(log.kind))
        )
        self.coming, self.first = coming, -1

    def begin(self, first: int) -> None:
        """Begin an episode at a job of the log."""
        cost = self._reference_at(first) if self.log.reference else 0.0
        self.first = first
        self._begin(self.place, first)
        self.episode.numbers[REFERENCE] = cost

    def ended(self) -> float:
        """Return the reward that is known only at the end of an episode: 0 where each start has its own."""
        if not self.rules.cost.is_of_schedule:
            return 0.0
        self.episode.numbers[TOTAL] = self.rules.cost.of_schedule(self.schedule())
        return -float(self.episode.numbers[TOTAL])

    def put_on(self, job: int, nodes: IntArray) -> None:
        """Let a waiting job be started on nodes, by number, when it is chosen; on a pool there are none."""
        if self.log.nodes is not None:
            episode: Any = self.episode
            choose_nodes(episode, self.machine, job, np.sort(np.argsort(self._order)[nodes]))

    def starts_of_policy(self) -> list[Start]:
        """Return the starts of the policy behind its warm-up, in order; then begin anew."""
        self._go_on_by_policy()
        log = self.replay.log
        first, size = len(self.coming.row) - int(self.episode.counts[COUNTED]), int(log.size[0])
        jobs, nodes = log.job[first:size].tolist(), [np.zeros(0, np.int64)] * (size - first)
        if self.log.nodes is not None:
            asked, held = self.machine.asked, self.machine.nodes.held
            nodes = [self._order[held[asked.first[job] : asked.first[job] + asked.nodes[job]]] for job in jobs]
        starts = list(map(Start, jobs, log.start[first:size].tolist(), nodes))
        self.begin(self.first)
        return starts

    def schedule(self) -> Schedule:
        """Return the schedule of the episode with its warm-up; whoever has not started is started by the policy."""
        self._go_on_by_policy()
        return self._schedule()

    def _go_on_by_policy(self) -> None:
        """Let the policy decide from here to the end, also where an agent has begun to."""
        counts = self.replay.counts
        counts[STEPS], counts[LEFT] = 0, 2**62
        if counts[DECIDING]:
            counts[DECIDING] = TO_DECIDE if self.machine.counts[WAITING] else DECIDED
        engine, run = self.episode.engine, self.episode.run
        if self.is_compiled:
            engine_kernel(self.log.kind).compiled(run)
        else:
            engine(run)

    def _schedule(self) -> Schedule:
        """Return the schedule of what was done, all jobs having ended."""
        trace, rows = self.log.trace, self.coming.row
        order = np.argsort(rows, kind="stable")
        place = np.empty(len(rows), np.int32)
        place[order] = np.arange(len(rows))
        part = trace.with_jobs(trace.jobs.iloc[rows[order]].reset_index(drop=True))
        workload = self.log.workload._replace(
            coming=self.coming._replace(row=place),
            is_cut=self.log.workload.is_cut[self.first : self.first + len(rows)],
            excluded=self.log.workload.excluded[:0],
        )
        done = what_was_done(workload, self.requests, self.replay.log, np.zeros(0), copies=True)
        over = np.ones(len(rows), np.bool_)
        ready = ready_times(self.replay, len(rows))
        schedule = schedule_of(part, done, over, "", self.log.processors, "", self.log.options, ready)
        if self.log.nodes is None:
            return schedule
        job = self.replay.log.job[: int(self.replay.log.size[0])]
        had = columns_of_nodes(OnNodes.of(self.machine, self.log.nodes), self.log.options["placement"], job, over[job])
        return replace(schedule, segments=schedule.segments.assign(**had), machine=self.log.nodes)

    def _reference_at(self, first: int) -> float:
        """Return the cost of an episode's jobs under the reference, which is simulated once for each beginning."""
        known = self.log.costs.setdefault(self.rules, {})
        if first not in known:
            known[first] = float(self._cost_of_reference(self.place, first))
            if self.rules.cost.is_of_schedule:
                self.first = first
                known[first] = self.rules.cost.of_schedule(self._schedule())
        return known[first]

    def _lay(self, value: Any, like: Lent) -> Any:
        """Return what compiled code is handed for a tuple, which is kept; interpreted the tuple itself."""
        if not self.is_compiled:
            return value
        self._kept.append(Layout(value, like.example))
        return self._kept[-1].address
