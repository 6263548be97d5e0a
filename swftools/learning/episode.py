# SPDX-License-Identifier: BSD-3-Clause
"""An episode as compiled code plays it: jobs of a log on a machine of their own, decisions from outside, what is seen.

Nothing here allocates, and nothing is asked of Python: a vector of environments steps in one call. What lies where is
``Episode``; the engine is the simulator's own, so an episode is a simulation like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from swftools.kernel import FloatArray, IntArray, Kernel, kernel
from swftools.kernel.pointers import Lent, call_kernel
from swftools.learning.observation import ObservedJobs, empty_seen, observe, show_end
from swftools.simulator.engine.changes import next_change
from swftools.simulator.engine.dependents import take_edge
from swftools.simulator.engine.replay import (
    AT_DECISIONS,
    BEYOND,
    COMING,
    DECIDED,
    DECIDING,
    DEPENDENT,
    DONE,
    LEFT,
    NOT_DECIDING,
    STEPS,
    Coming,
    Dependents,
    Replay,
    coming_at,
    replay_at,
)
from swftools.simulator.engine.transfer import begin_anew, take_from_log
from swftools.simulator.machine.state import (
    CAPACITY,
    FREE,
    HELD,
    NOW,
    PLANS_BY_LIMIT,
    RUNNING,
    STARTED,
    SUBMITTED,
    WAITING,
    Machine,
)
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import can_start_any, fits
from swftools.simulator.machine.waiting_queue import NOBODY, close_up
from swftools.simulator.policies.ordered_easy import fill_before
from swftools.simulator.policy_abi import MachineKind, machine_at

P = ParamSpec("P")
R = TypeVar("R")

WAIT, BOUNDED_SLOWDOWN, TURNAROUND, NOTHING = range(4)
"""What a job costs when it starts, as ``Episode.kinds`` has it."""

CHARGED, INVALID, OVER, COUNTED, DECISIONS, LENGTH = range(6)
"""Places in ``Episode.counts``: starts of this decision that were charged for; actions that were not allowed; how the
episode stands; jobs that count; decisions so far."""

GOES_ON, IS_OVER, LACKS_ROOM = range(3)
"""What ``counts[OVER]`` may be: somebody is asked; nothing is left to decide; or the engine needs room to go on."""

REWARD, TOTAL, REFERENCE, THRESHOLD = range(4)
"""Places in ``Episode.numbers``: the reward of this step; the mean cost so far; that of the reference, 0 without one;
the least run time of the bounded slowdown, s."""

COST, DENSE, WARM_UP = range(3)
"""Places in ``Episode.kinds``: what a job costs; whether there is a reward at each start; jobs that come before
anybody is asked."""

_MANY, _SPARSE = 2**62, 64


class _Inside(Kernel[P, R]):
    """A kernel that only kernels call: interpreted, places are what lies there, of which numba knows no type."""

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Run the function, interpreted."""
        return self.py_func(*arguments, **named)


def inside(function: Callable[P, R]) -> Kernel[P, R]:
    """Make a function a kernel that only kernels call, and that makes no array."""
    return _Inside(function, allocates=False)


class Episode(NamedTuple):
    """What an episode is played on; the first of them are places, interpreted what lies there.

    ``source`` has the jobs of the log, ``dependents`` the replay that says who waits for whom there, and ``coming`` the
    jobs of the episode; ``run`` is what the engine goes on with, and
    ``reference`` the same with the policy that is compared with. ``seen`` is what is shown of it.
    """

    engine: Any
    run: Any
    reference: Any
    source: Any
    dependents: Any
    coming: Any
    machine: Any
    replay: Any
    seen: ObservedJobs
    kinds: IntArray
    counts: IntArray
    numbers: FloatArray


def empty_episode(places: tuple[Any, ...] = (0,) * 8, seen: ObservedJobs | None = None) -> Episode:
    """Return an episode in which nothing happened yet."""
    kinds, counts, numbers = np.zeros(WARM_UP + 1, np.int64), np.zeros(LENGTH, np.int64), np.zeros(THRESHOLD + 1)
    return Episode._make([*places, seen or empty_seen(1), kinds, counts, numbers])


episode_at = Lent(empty_episode)


def begin(place: Any, first: int) -> None:
    """Begin anew, with the jobs of the log from ``first`` on; go to the first decision."""
    episode = episode_at(place)
    put_back(episode, first)
    warm_up(episode, episode.run)
    go_on(episode)


def play_on(place: Any) -> None:
    """Go on where the engine had stopped for more room, and has it now."""
    episode = episode_at(place)
    episode.counts[OVER] = GOES_ON
    go_on(episode)


def cost_of_reference(place: Any, first: int) -> float:
    """Return the mean cost of the jobs that count if the reference decides them; nothing else is kept.

    NaN: the engine needs more room for that.
    """
    episode = episode_at(place)
    put_back(episode, first)
    warm_up(episode, episode.run)
    machine, replay, coming = machine_at(episode.machine), replay_at(episode.replay), coming_at(episode.coming)
    begun = replay.log.size[0]
    replay.counts[STEPS], replay.counts[LEFT] = 0, _MANY
    call_kernel(episode.engine, episode.reference)
    if replay.counts[DONE] < len(coming.row):
        return np.nan
    return cost_of_runs(episode, machine, begun) / max(episode.counts[COUNTED], 1)


def play(place: Any, action: int) -> None:
    """Do what was decided, and go on to the next decision, or to the end.

    An action that is not allowed is taken as waiting; where nobody could wait for anything, as the first one allowed.
    """
    take(episode_at(place), action)


def play_all(places: IntArray, actions: IntArray, last: int, rewards: FloatArray, over: IntArray) -> int:
    """Play one action in each of several episodes; write what came of it.

    Returns
    -------
    int
        In how many of the episodes nobody is asked next; -1, and nothing is done, if an action is not from 0 to
        ``last``.
    """
    for i in range(len(places)):
        if actions[i] < 0 or actions[i] > last:
            return -1
    count = 0
    for i in range(len(places)):
        episode = episode_at(places[i])
        take(episode, actions[i])
        rewards[i], over[i] = episode.numbers[REWARD], episode.counts[OVER]
        count += over[i] != GOES_ON
    return count


@inside
def take(episode: Episode, action: int) -> None:
    """Do what was decided, and go on."""
    counts, mask, last = episode.counts, episode.seen.mask, len(episode.seen.job)
    episode.numbers[REWARD] = 0.0
    if counts[OVER] > 0:
        return
    counts[DECISIONS] += 1
    if mask[action] == 0:
        counts[INVALID] += 1
        action = last
        if mask[last] == 0:
            action = 0
            while mask[action] == 0:
                action += 1
    if action < last:
        machine, job = machine_at(episode.machine), episode.seen.job[action]
        is_started = fits(machine, job)
        if is_started:
            start_chosen(episode, machine, job)
        else:
            fill_before(machine, job)
        charge(episode, machine)
        others = machine.counts[HELD] + replay_at(episode.replay).counts[DEPENDENT]  # who will come to the queue yet
        others += len(coming_at(episode.coming).row) - machine.counts[SUBMITTED]
        if machine.counts[WAITING] + others == 0 and next_change(machine) == np.inf:
            close(episode)
            return
        if is_started and can_start_any(machine) and observe(machine, episode.seen):
            return
    replay_at(episode.replay).counts[DECIDING] = DECIDED
    go_on(episode)


@inside
def start_chosen(episode: Episode, machine: Machine, job: int) -> None:  # noqa: ARG001 (nodes need it)
    """Start a job that fits."""
    start(machine, job)


@inside
def go_on(episode: Episode) -> None:
    """Let the engine go on to where there is something to choose, or to the end."""
    machine, progress = machine_at(episode.machine), replay_at(episode.replay).counts
    while True:
        progress[STEPS], progress[LEFT], progress[BEYOND] = AT_DECISIONS, _MANY, 0
        call_kernel(episode.engine, episode.run)
        episode.counts[CHARGED] = 0
        jobs = machine.counts[WAITING] + machine.counts[RUNNING]  # who runs keeps its place, too
        if machine.queue.used[0] - machine.queue.used[1] > 2 * jobs + _SPARSE:
            close_up(machine.queue)
        if progress[DECIDING] == NOT_DECIDING:
            if progress[DONE] < len(coming_at(episode.coming).row):
                episode.counts[OVER] = LACKS_ROOM
            else:
                close(episode)
            return
        if observe(machine, episode.seen):
            return
        progress[DECIDING] = DECIDED


@inside
def close(episode: Episode) -> None:
    """End the episode: every job has started, so nothing is left to decide."""
    episode.counts[OVER] = IS_OVER
    charge_left(episode, machine_at(episode.machine))
    numbers = episode.numbers
    if episode.kinds[DENSE] == 0:
        numbers[REWARD] -= numbers[TOTAL]
    numbers[REWARD] += numbers[REFERENCE]
    show_end(episode.seen)


@inside
def charge(episode: Episode, machine: Machine) -> None:
    """Charge for the jobs that started since it was last looked."""
    counts, numbers, coming = episode.counts, episode.numbers, coming_at(episode.coming)
    for i in range(counts[CHARGED], machine.counts[STARTED]):
        cost = cost_of(episode, machine, coming, machine.started[i], machine.clock[NOW]) / counts[COUNTED]
        numbers[TOTAL] += cost
        if episode.kinds[DENSE] > 0:
            numbers[REWARD] -= cost
    counts[CHARGED] = machine.counts[STARTED]


@inside
def cost_of(episode: Episode, machine: Machine, coming: Coming, job: int, begins: float) -> float:
    """Return what a job costs that starts at a time."""
    wait, run_time = begins - machine.requests.submit_time[job], coming.run_time[job]
    if episode.kinds[COST] == NOTHING:
        return 0.0
    if episode.kinds[COST] == WAIT:
        return wait
    if episode.kinds[COST] == TURNAROUND:
        return wait + run_time
    return max(1.0, (wait + run_time) / max(run_time, episode.numbers[THRESHOLD]))


@inside
def cost_of_runs(episode: Episode, machine: Machine, begun: int) -> float:
    """Return what the jobs cost that were started, but for the first ``begun`` of them."""
    coming, log, total = coming_at(episode.coming), replay_at(episode.replay).log, 0.0
    for run in range(begun, log.size[0]):
        total += cost_of(episode, machine, coming, log.job[run], log.start[run])
    return total


@inside
def charge_left(episode: Episode, machine: Machine) -> None:
    """Charge for no job: none leaves before it has started, but where nodes go away."""


@inside
def leave_out_begun(episode: Episode) -> int:
    """Return how many jobs have started, which do not count."""
    return replay_at(episode.replay).log.size[0]


@inside
def warm_up(episode: Episode, run: Any) -> None:
    """Let the policy decide the first jobs, so that the machine is not empty at the first decision from outside.

    Where the engine stops for more room, it stops there again for whoever goes on.

    No other job is there for it: of jobs that come at one instant, it decides the first, and those behind come when it
    has decided.
    """
    replay, jobs = replay_at(episode.replay), episode.kinds[WARM_UP]
    coming = coming_at(episode.coming)
    if jobs > 0:
        replay.until[0] = coming.submit_time[coming.row[jobs - 1]]
        replay.counts[STEPS], replay.counts[LEFT], replay.counts[COMING] = 0, _MANY, jobs
        call_kernel(episode.engine, run)
        replay.until[0], replay.counts[BEYOND], replay.counts[COMING] = np.inf, 0, len(coming.row)
    episode.counts[COUNTED] = len(coming.row) - leave_out_begun(episode)


@inside
def put_back(episode: Episode, first: int) -> None:
    """Put machine and progress back to what they were before the first event; take the jobs from ``first`` on."""
    source, coming = coming_at(episode.source), coming_at(episode.coming)
    for job in range(len(coming.row)):
        take_from_log(source, coming, first + job, job)
    machine, replay = machine_at(episode.machine), replay_at(episode.replay)
    empty(machine, replay, len(coming.row))
    make_ready(episode, machine, first)
    if len(replay.dependents.pending) > 0:
        take_dependents(replay_at(episode.dependents).dependents, replay.dependents, first, len(coming.row))
    episode.counts[CHARGED] = episode.counts[OVER] = episode.counts[INVALID] = episode.counts[DECISIONS] = 0
    episode.numbers[REWARD] = episode.numbers[TOTAL] = 0.0


@inside
def make_ready(episode: Episode, machine: Machine, first: int) -> None:
    """Do nothing more: a pool has no nodes."""


@kernel(allocates=False)
def take_dependents(log: Dependents, ours: Dependents, first: int, jobs: int) -> None:
    """Let jobs of an episode wait for each other as they do in the log; for those before it they do not."""
    for job in range(jobs):
        ours.pending[job], ours.edge[job], ours.ready[job] = 0, NOBODY, log.ready[first + job]
    for job in range(jobs):
        edge = log.edge[first + job]
        while edge != NOBODY:
            other = log.successor[edge] - first
            if 0 <= other < jobs:
                take_edge(ours, job, other, log.think_time[edge])
            edge = log.next[edge]


@kernel(allocates=False)
def empty(machine: Machine, replay: Replay, jobs: int) -> None:
    """Take all jobs from the machine, and forget what happened."""
    capacity, plans = machine.counts[CAPACITY], machine.counts[PLANS_BY_LIMIT]
    begin_anew(machine, replay)
    machine.counts[FREE] = machine.counts[CAPACITY] = capacity
    machine.counts[PLANS_BY_LIMIT] = plans
    replay.counts[COMING] = jobs


@cache
def begin_kernel(kind: MachineKind) -> Any:
    """Return ``begin`` as a kernel: compiled at its first use, from then on taken from the cache on disk."""
    from numba import types  # noqa: PLC0415 (takes half a second, and is needed from here on)

    return kernel(types.void(types.int64, types.int64), allocates=False)(kind.of(begin))


@cache
def play_on_kernel(kind: MachineKind) -> Any:
    """Return ``play_on`` as a kernel."""
    from numba import types  # noqa: PLC0415 (as above)

    return kernel(types.void(types.int64), allocates=False)(kind.of(play_on))


@cache
def play_kernel(kind: MachineKind) -> Any:
    """Return ``play`` as a kernel."""
    from numba import types  # noqa: PLC0415 (as above)

    return kernel(types.void(types.int64, types.int64), allocates=False)(kind.of(play))


@cache
def play_all_kernel(kind: MachineKind) -> Any:
    """Return ``play_all`` as a kernel."""
    from numba import types  # noqa: PLC0415 (as above)

    whole = types.int64[::1]
    signature = types.int64(whole, whole, types.int64, types.float64[::1], whole)
    return kernel(signature, allocates=False)(kind.of(play_all))


@cache
def reference_kernel(kind: MachineKind) -> Any:
    """Return ``cost_of_reference`` as a kernel."""
    from numba import types  # noqa: PLC0415 (as above)

    return kernel(types.float64(types.int64, types.int64), allocates=False)(kind.of(cost_of_reference))
