"""A slow simulator that restates the words: lists of jobs, no arrays, no index, no heap, no profile of steps.

At one instant all completions come first, then submissions, then one decision. Who may start when is found by asking
what every running and every reserved job holds at each time that matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Key = Callable[[Any, "Job"], float]


@dataclass(eq=False)
class Job:
    """A job, and what has become of it."""

    submit: float
    width: int
    run: float
    estimate: float
    limit: float
    user: int = -1
    rank: int = -1
    start: float | None = None
    end: float | None = None
    expected_end: float = math.nan
    reserved: float | None = None
    planned_end: float = math.nan
    is_outlived: bool = False  # what was estimated is over


@dataclass
class State:
    """What a policy sees; ``ended`` is the number of jobs that ended since the last decision."""

    processors: int
    now: float = 0.0
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    ended: int = 0
    wake: float = math.inf
    lowest_rank: int = 1

    @property
    def free(self) -> int:
        """Processors that no running job holds."""
        return self.processors - sum(job.width for job in self.running)

    def start(self, job: Job) -> None:
        """Start a waiting job."""
        assert job.width <= self.free, "started more than fits"
        self.waiting.remove(job)
        self.running.append(job)
        job.start, job.expected_end = self.now, self.now + job.estimate

    def start_if_free(self, job: Job) -> bool:
        """Start a job if it fits now."""
        if job.width <= self.free:
            self.start(job)
            return True
        return False


Policy = Callable[[State], None]
Held = list[tuple[float, float, int]]


def simulate_naively(jobs: Sequence[Job], processors: int, policy: Policy, *, learns: bool = False) -> list[Job]:
    """Simulate jobs, given in order of submission, to the end of the last."""
    state = State(processors, lowest_rank=max([1, *(job.rank + 1 for job in jobs)]))
    coming = list(jobs)
    accuracy: dict[int, float] = {}
    while coming or state.waiting or state.running:
        times = [job.submit for job in coming] + [state.wake]
        for job in state.running:
            assert job.start is not None
            times.append(job.start + job.run)
            if not job.is_outlived and job.estimate < job.run:  # at once, where the estimate is 0
                times.append(job.start + job.estimate)
        state.now = now = min(times)
        for job in list(state.running):
            assert job.start is not None
            if job.start + job.run == now:
                state.running.remove(job)
                job.end = now
                state.ended += 1
                accuracy[job.user] = job.run / max(job.limit, 1e-9)
            elif not job.is_outlived and job.start + job.estimate <= now:
                job.is_outlived = True
                job.expected_end = max(job.start + job.limit, now)
        while coming and coming[0].submit == now:
            job = coming.pop(0)
            if learns and job.user in accuracy and job.user >= 0:
                job.estimate = min(accuracy[job.user], 1.0) * job.limit
            state.waiting.append(job)
        if state.wake <= now:
            state.wake = math.inf
        policy(state)
        state.ended = 0
    return list(jobs)


# ---------------------------------------------------------------- when there is room


def held_by(state: State) -> Held:
    """Return what running jobs hold: from when, until when they are expected to, and how much."""
    return [(state.now, job.expected_end, job.width) for job in state.running]


def has_room(state: State, held: Held, width: int, begin: float, end: float) -> bool:
    """Whether so many processors are free at ``begin`` and all the time until ``end``."""
    moments = [begin, *(start for start, _, _ in held if begin < start < end)]
    return all(
        width + sum(w for start, stop, w in held if start <= moment < stop) <= state.processors for moment in moments
    )


def length(job: Job) -> float:
    """Return how long the reservation of a job is."""
    return max(job.estimate, 1.0)


def earliest(state: State, held: Held, job: Job) -> float:
    """Return the earliest time at which a job has room until it is expected to end."""
    moments = sorted({state.now, *(stop for _, stop, _ in held if stop > state.now)})
    return next(moment for moment in moments if has_room(state, held, job.width, moment, moment + length(job)))


# ---------------------------------------------------------------- orders


def expansion(state: State, job: Job) -> float:
    """Return the expansion factor that a waiting job has by now."""
    return 1.0 + (state.now - job.submit) / max(job.estimate, 1.0)


KEYS: dict[str, Key] = {
    "fcfs": lambda state, job: 0.0,
    "sjf": lambda state, job: job.estimate,
    "ljf": lambda state, job: -job.estimate,
    "lxf": lambda state, job: -expansion(state, job),
    "widest": lambda state, job: -job.width,
    "narrowest": lambda state, job: job.width,
    "priority": lambda state, job: job.rank if job.rank >= 0 else math.inf,
}


def weighted(wait: float = 1.0, expansion_: float = 1.0, width: float = 0.0, rank: float = 0.0) -> Key:
    """Return the key of a weighted sum."""

    def key(state: State, job: Job) -> float:
        return -(
            wait * (state.now - job.submit) / 3600.0
            + expansion_ * expansion(state, job)
            + width * job.width / state.processors
            - rank * (job.rank if job.rank >= 0 else state.lowest_rank)
        )

    return key


def ordered(state: State, jobs: Sequence[Job], key: Key) -> list[Job]:
    """Return jobs by rising key, of equal keys as they came."""
    return sorted(jobs, key=lambda job: key(state, job))


# ---------------------------------------------------------------- policies


def strict(order: str) -> Policy:
    """Start in the order; nobody overtakes."""

    def decide(state: State) -> None:
        for job in ordered(state, state.waiting, KEYS[order]):
            if not state.start_if_free(job):
                return

    return decide


def easy(queue: Key = KEYS["fcfs"], backfill: Key = KEYS["fcfs"], reservations: int = 1) -> Policy:
    """Reserve for the first few of a queue; the others, in an order, start where they disturb no reservation."""

    def decide(state: State) -> None:
        held = held_by(state)
        rest = ordered(state, state.waiting, queue)
        reserved = 0
        while rest and reserved < reservations:
            job = rest.pop(0)
            begin = earliest(state, held, job)
            if begin == state.now and state.start_if_free(job):
                held.append((begin, job.expected_end, job.width))
            else:
                held.append((begin, begin + length(job), job.width))
                reserved += 1
        for job in ordered(state, rest, backfill):
            end = state.now + job.estimate
            # A job of no time is over before any reservation begins.
            if (end == state.now or has_room(state, held, job.width, state.now, end)) and state.start_if_free(job):
                held.append((state.now, end, job.width))

    return decide


def conservative(compress: bool) -> Policy:
    """Reserve for every job at its submission; with ``compress`` reservations move forward when a job ends."""

    def decide(state: State) -> None:
        now = state.now
        if any(job.expected_end != job.planned_end or job.planned_end <= now for job in state.running):
            for job in state.running:
                job.planned_end = job.expected_end
            for job in state.waiting:
                job.reserved = None
        for job in list(state.waiting):
            if job.reserved is None or (compress and state.ended and job.reserved > now):
                held = [(now, other.planned_end, other.width) for other in state.running]
                held += [
                    (other.reserved, other.planned_end, other.width)
                    for other in state.waiting
                    if other is not job and other.reserved is not None
                ]
                job.reserved = earliest(state, held, job)
                job.planned_end = job.reserved + length(job)
            if job.reserved <= now and state.start_if_free(job):
                job.planned_end = min(job.planned_end, job.expected_end)
        state.wake = min([state.wake, *(job.reserved for job in state.waiting if job.reserved and job.reserved > now)])

    return decide


def replanned(state: State) -> None:
    """Plan every waiting job anew, in order of submission; start those whose time is now."""
    held = held_by(state)
    for job in list(state.waiting):
        begin = earliest(state, held, job)
        if begin == state.now and state.start_if_free(job):
            held.append((begin, job.expected_end, job.width))
        else:
            held.append((begin, begin + length(job), job.width))


Case = tuple[str, dict[str, Any], Policy]

TWINS: list[Case] = [
    *((order, {}, strict(order)) for order in ("fcfs", "sjf", "ljf", "widest", "narrowest", "lxf")),
    *(
        ("easy", {"backfill_order": order, "reservations": count}, easy(backfill=KEYS[order], reservations=count))
        for order in ("fcfs", "sjf", "lxf", "widest", "narrowest", "ljf")
        for count in (1, 2, 5)
    ),
    ("sjf-backfill", {}, easy(backfill=KEYS["sjf"])),
    ("lxf-backfill", {}, easy(KEYS["lxf"])),
    ("prio-fifo", {}, easy(KEYS["priority"])),
    ("weighted-priority", {}, easy(weighted())),
    ("weighted-priority", {"expansion_weight": 0, "rank_weight": 2}, easy(weighted(1, 0, 0, 2))),
    (
        "weighted-priority",
        {"wait_weight": 0.5, "width_weight": -3, "rank_weight": 0.1},
        easy(weighted(0.5, 1, -3, 0.1)),
    ),
    ("conservative", {}, conservative(True)),
    ("conservative-fixed", {}, conservative(False)),
    ("conservative-replanned", {}, replanned),
]
"""Every classic policy, some with other parameters, and its twin."""
