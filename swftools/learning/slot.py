# SPDX-License-Identifier: BSD-3-Clause
"""The machine on which an environment plays one episode after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from swftools.kernel import IntArray
from swftools.kernel.layout import Layout
from swftools.kernel.pointers import Lent, place_of_compiled
from swftools.learning.costs import LEAST_RUN_TIME
from swftools.learning.episode import (
    LACKS_ROOM,
    OVER,
    REFERENCE,
    THRESHOLD,
    TOTAL,
    Episode,
    begin_kernel,
    empty_episode,
    episode_at,
    play_kernel,
    play_on_kernel,
    reference_kernel,
)
from swftools.learning.episode_away import empty_episode_away, episode_away_at
from swftools.learning.episode_log import EpisodeLog
from swftools.learning.episode_on_nodes import (
    begin_episodes_on_nodes,
    choose_nodes,
    empty_episode_on_nodes,
    episode_on_nodes_at,
    nodes_of_runs,
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
    DONE,
    LEFT,
    STEPS,
    TO_DECIDE,
    Coming,
    Replay,
    begin_state,
    coming_at,
    replay_at,
    with_room,
)
from swftools.simulator.machine.state import PLACES, WAITING
from swftools.simulator.memory_room import NodeRoom
from swftools.simulator.nodes.placed import OnNodes, columns_of_nodes
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.outcome import stuck_jobs
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
        self._called, self._compared = log.called(log.policy), log.called(log.reference or log.policy)
        self.is_compiled = self._called.is_compiled and self._compared.is_compiled
        # What engine and predictor write of each job is the episode's own; all else is the log's, whoever plays on it.
        own = {name: getattr(log.coming, name)[:jobs].copy() for name in names_per(Coming, PER_JOB)}
        queue = PLACES
        while queue <= jobs:
            queue *= 2
        most = (min(jobs, log.processors) if log.nodes is None else jobs) + 1
        # With room for all that may wait and end: the engine stops for more only where many jobs start again.
        depends, edges = len(log.replay.dependents.pending) > 0, int(log.replay.dependents.edges[0])
        room = {"places": queue, "held": 2 * queue + jobs, "ends": 4 * most, "edges": edges}
        coming, optional = log.coming._replace(**own), DEPENDS if depends else ()
        arena: Arena[Any]
        if log.on_nodes is None:
            arena = begin_state(coming, log.processors, log.restart, optional, **room)
        else:
            arena = begin_episodes_on_nodes(log.on_nodes, coming, optional, **room)
        self._like, self.episode = self._empty_episode(seen)
        self.episode.kinds[:] = rules.kinds()
        self.episode.numbers[THRESHOLD] = LEAST_RUN_TIME
        self._take(arena)
        self._begin, self.play, self._play_on, self._cost_of_reference = (
            each.compiled if self.is_compiled else each.py_func
            for each in (made(log.kind) for made in (begin_kernel, play_kernel, play_on_kernel, reference_kernel))
        )
        self.first = -1

    def _empty_episode(self, seen: ObservedJobs) -> tuple[Lent, Any]:
        """Return an episode in which nothing happened yet, without its places; and what takes it from where it lies."""
        log = self.log
        if log.nodes is None or log.on_nodes is None:
            return episode_at, empty_episode(seen=seen)
        machine = log.on_nodes.state.machine
        self._order = order = find_placement(log.options["placement"]).rule.order(log.nodes)
        shown = on_this_machine(seen, machine.places, log.nodes, order)
        given: dict[str, Any] = {"seen": shown, "asked": machine.asked, "nodes": len(order)}
        if not len(log.nodes.outages):
            return episode_on_nodes_at, empty_episode_on_nodes(**given)
        return episode_away_at, empty_episode_away(**given, outages=machine.outages, jobs=self.rules.length)

    def _take(self, arena: Arena[Any]) -> None:
        """Play on in a state, of which all is laid out."""
        log, self._arena = self.log, arena
        self.coming: Coming
        self.machine: Any
        self.replay: Replay
        self.coming, self.machine, self.replay = arena.state
        self.requests = self.replay.requests
        self._kept: list[Any] = []  # what lies at a place must stay there
        at = log.kind.machine_at
        places = (self._lay(self.coming, coming_at), self._lay(self.machine, at), self._lay(self.replay, replay_at))
        observer, runs = self._lay(log.observer, self._called.observer_at), []
        for (policy, chosen), calls in ((log.policy, self._called), (log.reference or log.policy, self._compared)):
            # Of its kind; it is not used.
            memory = policy.made_for(chosen).on(log.kind).empty_memory(1, log.processors, chosen, NodeRoom(1, 1))
            decider = self._lay(pack(chosen.values(), memory, np.random.default_rng(0)), calls.decider_at)
            depend = calls.depend() if len(log.replay.dependents.pending) else 0
            run = EngineRun(
                *places, EngineOptions(log.semantics, 1, 0, 0), calls.observe, observer, calls.decide, decider, depend
            )
            runs.append(self._lay(run, run_at))
        engine = self._called.engine
        if self.is_compiled:
            engine = place_of_compiled(engine_kernel(log.kind), checked=log.is_checked)
        where = (engine, *runs, self._lay(log.coming, coming_at), self._lay(log.replay, replay_at), *places)
        self.episode = self.episode._replace(**dict(zip(Episode._fields, where, strict=False)))
        self.place = self._lay(self.episode, self._like)

    def begin(self, first: int) -> None:
        """Begin an episode at a job of the log."""
        cost = self._reference_at(first) if self.log.reference else 0.0
        self.first = first
        self._begin(self.place, first)
        while self.episode.counts[OVER] == LACKS_ROOM:
            self._take(with_room(self._arena))
            self._begin(self.place, first)
        self._begun = int(self.replay.log.size[0])
        self.episode.numbers[REFERENCE] = cost

    def play_on(self) -> None:
        """Go on to the next decision with more room, which the engine stopped for; ``place`` is another one then."""
        while self.episode.counts[OVER] == LACKS_ROOM:
            self._take(with_room(self._arena))
            self._play_on(self.place)

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
        log, first, size = self.replay.log, self._begun, int(self.replay.log.size[0])
        nodes = nodes_of_runs(pd.DataFrame(self._had_of_nodes(), index=range(size)))[first:]
        starts = list(map(Start, log.job[first:size].tolist(), log.start[first:size].tolist(), nodes))
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
        engine = engine_kernel(self.log.kind).compiled if self.is_compiled else self.episode.engine
        engine(self.episode.run)
        while self.replay.counts[DONE] < len(self.coming.row):
            self._take(with_room(self._arena))
            engine(self.episode.run)

    def _had_of_nodes(self) -> dict[str, Any]:
        """Return what runs had of nodes, in columns by run; nothing on a pool."""
        if self.log.nodes is None:
            return {}
        job = self.replay.log.job[: int(self.replay.log.size[0])]
        had, placement = OnNodes.of(self.machine, self.log.nodes), self.log.options["placement"]
        return columns_of_nodes(had, placement, job, np.ones(len(job), np.bool_))

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
        stuck = stuck_jobs(self.machine, len(rows))
        ready = ready_times(self.replay, len(rows))
        schedule = schedule_of(part, done, ~stuck, "", self.log.processors, "", self.log.options, ready, stuck)
        if self.log.nodes is None:
            return schedule
        is_shown = ~stuck[self.replay.log.job[: int(self.replay.log.size[0])]]
        had = {name: column[is_shown] for name, column in self._had_of_nodes().items()}
        return replace(schedule, segments=schedule.segments.assign(**had), machine=self.log.nodes)

    def _reference_at(self, first: int) -> float:
        """Return the cost of an episode's jobs under the reference, which is simulated once for each beginning."""
        known = self.log.costs.setdefault(self.rules, {})
        if first not in known:
            cost = float(self._cost_of_reference(self.place, first))
            while np.isnan(cost):
                self._take(with_room(self._arena))
                cost = float(self._cost_of_reference(self.place, first))
            known[first] = cost
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
