# SPDX-License-Identifier: BSD-3-Clause
"""What an episode has beside that of a machine of nodes where these go away: outages of the log, jobs that start again.

A job that was stopped starts again, and then costs what it costs by its last start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

import numpy as np

from swftools.kernel import FloatArray
from swftools.kernel.pointers import Lent
from swftools.learning.episode import (
    BOUNDED_SLOWDOWN,
    CHARGED,
    COST,
    COUNTED,
    DENSE,
    NOTHING,
    REWARD,
    THRESHOLD,
    TOTAL,
    WAIT,
    charge,
    charge_left,
    cost_of_runs,
    inside,
    leave_out_begun,
)
from swftools.learning.episode_on_nodes import (
    EpisodeOnNodes,
    empty_episode_on_nodes,
    episode_on_nodes_at,
    make_ready_on_nodes,
)
from swftools.learning.observed_nodes import ObservedOnNodes
from swftools.simulator.engine.replay import coming_at, replay_at
from swftools.simulator.machine.state import NOW, STARTED
from swftools.simulator.nodes.away.exchange import OF_EVENTS, in_place_of
from swftools.simulator.nodes.away.state import (
    CHANGED,
    HOLDERS,
    MODE,
    NO_SET,
    AwayMachine,
    Outages,
    away_machine_at,
)
from swftools.simulator.nodes.state import NodeRequests

NOT_COUNTED = -1.0
"""Stands in ``EpisodeAway.costs`` for jobs of the warm-up."""

if TYPE_CHECKING:

    class EpisodeAway(EpisodeOnNodes):
        """An episode; ``outages`` are those of the log, ``costs`` what each job has cost so far."""

        outages: Outages
        costs: FloatArray

else:
    _FIELDS = {**get_type_hints(EpisodeOnNodes), "outages": Outages, "costs": FloatArray}
    EpisodeAway = NamedTuple("EpisodeAway", list(_FIELDS.items()))


def empty_episode_away(
    places: tuple[Any, ...] = (0,) * 8,
    seen: ObservedOnNodes | None = None,
    asked: NodeRequests | None = None,
    nodes: int = 0,
    outages: Outages | None = None,
    jobs: int = 1,
) -> EpisodeAway:
    """Return an episode in which nothing happened yet."""
    like: Any = empty_episode_on_nodes(places, seen, asked, nodes)
    made: Any = (*like, away_machine_at.example.outages if outages is None else outages, np.zeros(jobs))
    return EpisodeAway._make(made)


episode_away_at = in_place_of(episode_on_nodes_at, OF_EVENTS)(Lent(empty_episode_away))


@in_place_of(make_ready_on_nodes, OF_EVENTS)
@inside
def make_ready_there(episode: EpisodeAway, machine: AwayMachine, first: int) -> None:
    """Do what is done on nodes, and let outages be over that are at the first submission, and no other have begun."""
    make_ready_on_nodes(episode, machine, first)
    outages, counts, coming = machine.outages, machine.outages.counts, coming_at(episode.coming)
    begins, row = coming.submit_time[coming.row[0]], 0
    for i in range(len(counts)):
        counts[i] = 0
    counts[HOLDERS], counts[MODE] = episode.outages.counts[HOLDERS], episode.outages.counts[MODE]
    outages.delay[0], outages.room[0] = episode.outages.delay[0], 0
    for node in range(len(outages.next)):
        while row < outages.behind[node] and outages.end[row] <= begins:
            row += 1
        outages.next[node], row = row, outages.behind[node]
    while counts[CHANGED] < len(outages.time) and outages.time[counts[CHANGED]] <= begins:
        counts[CHANGED] += 1
    for job in range(len(episode.costs)):
        episode.costs[job] = 0.0


@in_place_of(charge, OF_EVENTS)
@inside
def charge_again(episode: EpisodeAway, machine: AwayMachine) -> None:
    """Charge for the jobs that started since it was last looked: of one that starts again, for what it costs more."""
    counts = episode.counts
    for i in range(counts[CHARGED], machine.counts[STARTED]):
        job = machine.started[i]
        more = note_cost(episode, machine, job, machine.clock[NOW], machine.done[job], machine.overhead[job])
        charge_for(episode, more)
    counts[CHARGED] = machine.counts[STARTED]


@in_place_of(charge_left, OF_EVENTS)
@inside
def charge_left_there(episode: EpisodeAway, machine: AwayMachine) -> None:
    """Charge for the jobs that left, as the nodes that they need never come back: as if they started now."""
    charge_for(episode, cost_of_left(episode, machine))


@in_place_of(cost_of_runs, OF_EVENTS)
@inside
def cost_of_all_runs(episode: EpisodeAway, machine: AwayMachine, begun: int) -> float:
    """Return what the jobs cost that were started, or left, but for those of the first ``begun`` runs."""
    log, total = replay_at(episode.replay).log, 0.0
    for run in range(begun, log.size[0]):
        total += note_cost(episode, machine, log.job[run], log.start[run], log.before[run], log.overhead[run])
    return total + cost_of_left(episode, machine)


@in_place_of(leave_out_begun, OF_EVENTS)
@inside
def leave_out_begun_there(episode: EpisodeAway) -> int:
    """Return how many jobs have started, which do not count, now or when they start again."""
    log, jobs = replay_at(episode.replay).log, 0
    for run in range(log.size[0]):
        jobs += episode.costs[log.job[run]] != NOT_COUNTED
        episode.costs[log.job[run]] = NOT_COUNTED
    return jobs


@inside
def charge_for(episode: EpisodeAway, cost: float) -> None:
    """Charge for what some jobs cost more."""
    numbers = episode.numbers
    numbers[TOTAL] += cost / episode.counts[COUNTED]
    if episode.kinds[DENSE] > 0:
        numbers[REWARD] -= cost / episode.counts[COUNTED]


@inside
def cost_of_left(episode: EpisodeAway, machine: AwayMachine) -> float:
    """Return what the jobs that left cost more than they did, if they started now."""
    total = 0.0
    for job in range(len(machine.nodes.group)):
        if machine.nodes.group[job] == NO_SET:
            total += note_cost(episode, machine, job, machine.clock[NOW], machine.done[job], 0.0)
    return total


@inside
def note_cost(
    episode: EpisodeAway, machine: AwayMachine, job: int, begins: float, before: float, overhead: float
) -> float:
    """Note what a job costs that begins, or goes on with work that was done before; return how much more that is.

    It costs what it would if it ran to its end.
    """
    kind, coming, old = episode.kinds[COST], coming_at(episode.coming), episode.costs[job]
    if old == NOT_COUNTED or kind == NOTHING or (kind == WAIT and before > 0.0):
        return 0.0
    new, run_time = begins - machine.requests.submit_time[job], coming.run_time[job]
    if kind != WAIT:
        new += overhead + run_time - before
    if kind == BOUNDED_SLOWDOWN:
        new = max(1.0, new / max(run_time, episode.numbers[THRESHOLD]))
    episode.costs[job] = new
    return new - old
