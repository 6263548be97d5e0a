# SPDX-License-Identifier: BSD-3-Clause
"""A slow simulator that restates the words: lists of jobs, no arrays, no index, no heap, no profile of steps.

At one instant all completions come first, then predictions that are outlived, then jobs that were held back, then
submissions, then one decision. A predictor is told of each event where it happens. Who may start when is found by
asking what every running and every reserved job holds at each time that matters.

A job has work, in seconds on its own width. A run that is stopped keeps what was done of it, or some, or nothing; the
next one goes on from there, and begins with an overhead. Each run is written down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Key = Callable[[Any, "Job"], float]

KILLED, CHECKPOINTED, SUSPENDED, RESIZED = "killed", "checkpointed", "suspended", "resized"
STRICTEST = [KILLED, CHECKPOINTED, SUSPENDED, RESIZED]
"""How a run is stopped; who is stopped twice in one decision is stopped in the stricter way."""

SUBMISSION, START, STOP, OUTLIVED, END = "submission", "start", "stop", "outlived", "end"


@dataclass(eq=False)
class Run:
    """A run of a job; ``number`` when it has begun, which is after the decision that started it."""

    job: Job
    start: float
    processors: int
    overhead: float
    before: float
    number: int | None = None
    end: float = math.nan
    how: str = "completed"
    work: float = math.nan


@dataclass(eq=False)
class Job:
    """A job, and what has become of it.

    ``stretches`` has the widths that it may run on, and what they do to times; ``parallelism`` is the A of its curve.
    It is eligible no earlier than ``not_before``, and when each job of ``waits_for`` has ended so many seconds ago.
    """

    submit: float
    width: int
    run: float
    estimate: float
    limit: float
    user: int = -1
    rank: int = -1
    interval: float = math.nan
    stretches: dict[int, float] = field(default_factory=dict)
    parallelism: float = math.nan
    restart: float = 0.0
    waits_for: list[tuple[Job, float]] = field(default_factory=list)
    not_before: float = 0.0
    ticket: int | None = None
    held_until: float | None = None
    done: float = 0.0
    present: Run | None = None
    runs: list[Run] = field(default_factory=list)
    expected_end: float = math.nan
    is_over: bool = False  # it is beyond its limit, and may end at any moment
    reserved: float | None = None
    planned_end: float = math.nan
    end: float = math.inf

    def ready(self) -> float:
        """Return when it is eligible; infinite as long as a job that it waits for has not ended."""
        return max([self.submit, self.not_before, *(instant(job.end + think) for job, think in self.waits_for)])

    @property
    def processors(self) -> int:
        """What it holds."""
        assert self.present is not None
        return self.present.processors

    @property
    def start(self) -> float:
        """When the last run began that did so from nothing."""
        return [run.start for run in self.runs if run.before == 0][-1]

    def stretch(self, processors: int) -> float:
        """By what its times are multiplied on another width; 0 where it cannot run."""
        return 1.0 if processors == self.width else self.stretches.get(processors, 0.0)


@dataclass
class State:
    """What a policy sees; ``ended`` is the number of jobs that ended since the last decision.

    ``disturbed``: since then the queue changed otherwise than by submissions and starts.
    """

    processors: int
    overhead: Callable[[Job, int], float]
    now: float = 0.0
    submitted: list[Job] = field(default_factory=list)
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    held: list[Job] = field(default_factory=list)
    started: list[Job] = field(default_factory=list)
    stopped: list[Run] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    ended: int = 0
    tickets: int = 0
    disturbed: bool = False
    wake: float = math.inf
    lowest_rank: int = 1
    first: Job | None = None
    first_shadow: float = 0.0

    @property
    def free(self) -> int:
        """Processors that no running job holds."""
        return self.processors - sum(job.processors for job in self.running)

    # Verbs

    def start(self, job: Job) -> None:
        """Start a waiting job."""
        self.start_on(job, job.width)

    def start_on(self, job: Job, processors: int) -> None:
        """Start a waiting job on another width."""
        self.waiting.remove(job)
        self.begin(job, processors)

    def start_if_free(self, job: Job) -> bool:
        """Start a job if it fits now."""
        if job.width <= self.free:
            self.start(job)
            return True
        return False

    def preempt(self, job: Job, how: str) -> None:
        """Stop a running job; it waits where it stood."""
        self.stop(job, how)
        self.queue(job)
        self.disturbed = True

    def resize(self, job: Job, processors: int) -> None:
        """Let a running job go on on another width."""
        if processors != job.processors:
            self.stop(job, RESIZED)
            self.begin(job, processors)

    def hold(self, job: Job, until: float) -> None:
        """Keep a job that waits, or is being submitted, out of the queue for a while."""
        if until <= self.now:
            return
        if job in self.waiting:
            self.waiting.remove(job)
        self.disturbed = True
        job.ticket, job.held_until = None, until
        self.held.append(job)

    def predict(self, job: Job, time: float) -> None:
        """Say how long all of a job's work takes."""
        job.estimate = min(max(instant(time), 0.0), job.limit)
        if job in self.running:
            self.expect(job, max(self.end_of_run(job, job.estimate), self.now))
        elif job in self.waiting:
            self.disturbed = True

    # What the verbs are made of

    def queue(self, job: Job) -> None:
        """Let a job wait at its place, behind all others if it has none yet."""
        if job.ticket is None:
            self.tickets += 1
            job.ticket = self.tickets
        self.waiting.append(job)
        self.waiting.sort(key=lambda each: each.ticket or 0)

    def begin(self, job: Job, processors: int) -> None:
        """Let a job run from now on."""
        assert processors <= self.free, "started more than fits"
        overhead = self.overhead(job, processors) if job.done > 0 else 0.0
        job.present = Run(job, self.now, processors, overhead, job.done)
        self.started.append(job)
        self.expect(job, self.end_of_run(job, self.all_work(job)))

    def stop(self, job: Job, how: str) -> None:
        """End the present run of a job; one that this decision began is as if it had not been."""
        run = job.present
        assert run is not None
        self.running.remove(job)
        job.present = None
        before = [other for other in self.stopped if other.job is job]
        if run.number is not None:
            run.work = max(instant(self.now - run.start, self.now) - run.overhead, 0.0) / job.stretch(run.processors)
            run.end, run.how = self.now, how
            run.overhead = min(run.overhead, self.now - run.start)  # as far as it came
            self.stopped.append(run)
            job.done = instant(job.done + run.work)
        elif before:
            before[0].how = min(before[0].how, how, key=STRICTEST.index)
        else:
            return
        if how == KILLED:
            job.done = 0.0
        elif how == CHECKPOINTED:
            job.done = (
                instant(math.floor(job.done / job.interval * (1 + 1e-15)) * job.interval) if job.interval > 0 else 0.0
            )

    def all_work(self, job: Job) -> float:
        """Return how much work a job is expected to be: what is predicted, unless more than that was done."""
        return job.estimate if job.estimate > job.done or job.done == 0 else max(job.limit, job.done)

    def end_of_run(self, job: Job, work: float) -> float:
        """Return when the present run ends if that is the job's work."""
        run = job.present
        assert run is not None
        return instant(run.start + (run.overhead + (work - run.before) * job.stretch(run.processors)))

    def expect(self, job: Job, end: float) -> None:
        """Expect a running job to end at a time; of those that end together it is the last."""
        if job in self.running:
            self.running.remove(job)
        job.expected_end, job.is_over = end, False
        self.running.append(job)
        self.running.sort(key=lambda each: each.expected_end)

    def expected_time(self, job: Job) -> float:
        """Return how long a waiting job is expected to run if it starts now on its own width."""
        overhead = self.overhead(job, job.width) if job.done > 0 else 0.0
        return overhead + (self.all_work(job) - job.done)

    def outlive(self) -> Job | None:
        """Expect the first job that should have ended by now to run to its limit; return it."""
        job = next((job for job in self.running if not job.is_over), None)
        if job is None or job.expected_end > self.now:
            return None
        if (end := self.end_of_run(job, job.limit)) > self.now:
            self.expect(job, end)
        else:
            job.is_over = True
        return job


def instant(time: float, largest: float = 0.0) -> float:
    """Return a sum of times without what rounding made of it, if that is a whole microsecond: as it is written out.

    ``largest``: of the times that were added up or subtracted, where it is larger than the sum.
    """
    if math.isinf(time):
        return time
    nearest = round(time, 6)
    return nearest if abs(nearest - time) <= 2**-50 * max(abs(time), largest) else time


Policy = Callable[[State], None]
Observer = Callable[[str, State, Job], None]
Held = list[tuple[float, float, int]]


def observe_nothing(event: str, state: State, job: Job) -> None:
    """Predict nothing."""


def last_model() -> Observer:
    """Return a predictor: the limit times how much of it the user's last job used."""
    accuracy: dict[int, float] = {}

    def observe(event: str, state: State, job: Job) -> None:
        if event == SUBMISSION and job.user in accuracy and job.user >= 0:
            state.predict(job, min(accuracy[job.user], 1.0) * job.limit)
        elif event == END:
            accuracy[job.user] = job.run / max(job.limit, 1e-9)

    return observe


def no_overhead(job: Job, processors: int) -> float:
    """Return no time."""
    return 0.0


def simulate_naively(
    jobs: Sequence[Job],
    processors: int,
    policy: Policy,
    *,
    observe: Observer = observe_nothing,
    overhead: Callable[[Job, int], float] = no_overhead,
) -> list[Run]:
    """Simulate jobs, given in order of submission, to the end of the last; return the runs in order of start.

    Jobs enter the queue when they are eligible, those eligible at one instant in the order in which they are given.
    """
    state = State(processors, overhead, lowest_rank=max([1, *(job.rank + 1 for job in jobs)]))
    coming = list(jobs)
    while coming or state.waiting or state.running or state.held:
        going = [run for run in state.runs if run is run.job.present]
        times = [state.wake, *(job.ready() for job in coming), *(run.end for run in going)]
        times += [job.held_until for job in state.held if job.held_until is not None]
        times += [job.expected_end for job in state.running if not job.is_over]
        state.now = now = min(times)
        assert now < math.inf, "the policy starts nobody"
        for run in going:
            if run.end == now:
                run.work = run.job.run - run.before
                run.job.present, run.job.done, run.job.end = None, run.job.run, now
                state.running.remove(run.job)
                state.ended += 1
                observe(END, state, run.job)
        for _ in [job for job in state.running if not job.is_over and job.expected_end <= now]:
            if job := state.outlive():
                observe(OUTLIVED, state, job)
        while state.outlive():  # what was predicted just now was too short as well
            pass
        for job in sorted(state.held, key=lambda job: (job.held_until, state.submitted.index(job))):
            if job.held_until is not None and job.held_until <= now:
                state.held.remove(job)
                state.queue(job)
                state.disturbed = True
        for job in [job for job in coming if job.ready() <= now]:
            coming.remove(job)
            observe(SUBMISSION, state, job)
            state.submitted.append(job)
            if job not in state.held:
                state.queue(job)
        if state.wake <= now:
            state.wake = math.inf
        state.started, state.stopped = [], []
        policy(state)
        state.ended, state.disturbed = 0, False
        for run in state.stopped:
            observe(STOP, state, run.job)
        for job in state.started:
            present = job.present
            if present is not None and present.number is None:
                present.number = len(state.runs)
                state.runs.append(present)
                job.runs.append(present)
                work = (job.run - present.before) * job.stretch(present.processors)
                present.end = max(instant(now + (present.overhead + work)), now)
                observe(START, state, job)
    return state.runs


# ---------------------------------------------------------------- when there is room


def held_by(state: State) -> Held:
    """Return what running jobs hold: from when, until when they are expected to, and how much."""
    return [(state.now, job.expected_end, job.processors) for job in state.running]


def planned_end(job: Job) -> float:
    """Return until when conservative backfilling has a running job hold its processors: 1 s if it ends at once."""
    assert job.present is not None
    return job.present.start + 1.0 if job.expected_end <= job.present.start else job.expected_end


def has_room(state: State, held: Held, width: int, begin: float, end: float) -> bool:
    """Whether so many processors are free at ``begin`` and all the time until ``end``."""

    def fits_at(moment: float) -> bool:
        return width + sum([w for start, stop, w in held if start <= moment < stop]) <= state.processors

    return fits_at(begin) and all(fits_at(start) for start in {start for start, _, _ in held if begin < start < end})


def length(state: State, job: Job) -> float:
    """Return how long the reservation of a job is."""
    return state.expected_time(job) or 1.0


def earliest(state: State, held: Held, job: Job) -> float:
    """Return the earliest time at which a job has room until it is expected to end."""
    moments = sorted({state.now, *(stop for _, stop, _ in held if stop > state.now)})
    time = length(state, job)
    return next(moment for moment in moments if has_room(state, held, job.width, moment, instant(moment + time)))


# ---------------------------------------------------------------- orders


def expansion(state: State, job: Job) -> float:
    """Return the expansion factor that a waiting job has by now."""
    waited, time = state.now - job.submit, length(state, job)
    ticks, others = round(waited * 10**6), round(time * 10**6)
    if math.isclose(ticks, waited * 1e6, rel_tol=1e-9) and math.isclose(others, time * 1e6, rel_tol=1e-15):
        return 1.0 + ticks / others  # whole microseconds
    return 1.0 + waited / time


KEYS: dict[str, Key] = {
    "fcfs": lambda state, job: 0.0,
    "sjf": lambda state, job: state.expected_time(job),
    "ljf": lambda state, job: -state.expected_time(job),
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
    """Start in the order; nobody overtakes. Of equal jobs that do not change places with time the first submitted."""

    def decide(state: State) -> None:
        for job in ordered(state, list(state.waiting), KEYS[order]):
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
                held.append((begin, instant(begin + length(state, job)), job.width))
                reserved += 1
        for job in ordered(state, rest, backfill):
            end = instant(state.now + state.expected_time(job))
            # A job of no time is over before any reservation begins.
            if (end == state.now or has_room(state, held, job.width, state.now, end)) and state.start_if_free(job):
                held.append((state.now, end, job.width))

    return decide


def in_time(ends: str = "at", running: str = "by-end", shadow: str = "anew") -> Policy:
    """Let go ahead of the first waiting job only who ends by, or before, the time at which it can start."""

    def begins(state: State, head: Job) -> float:
        """Add up running jobs in an order until there are processors enough."""
        free, when = state.free, 0.0
        key = (lambda job: job.expected_end) if running == "by-end" else (lambda job: job.limit)
        in_turn = sorted(state.running, key=lambda job: (key(job), job.present.start, job.ticket))
        for job in in_turn:
            if free >= head.width:
                break
            free += job.processors
            by_limit = instant(job.present.start + job.limit)
            when = max(job.expected_end, state.now) if running == "by-end" else by_limit
        return when

    def decide(state: State) -> None:
        while state.waiting and state.start_if_free(state.waiting[0]):
            pass
        if not state.waiting:
            return
        head = state.waiting[0]
        if state.first is not head:
            state.first, state.first_shadow = head, begins(state, head)
        is_done = False
        while not is_done:
            time = state.first_shadow if shadow == "fixed" else begins(state, head)
            is_done = True
            for job in state.waiting[1:]:
                end = instant(state.now + state.expected_time(job))
                if (end < time or (end == time and ends == "at")) and state.start_if_free(job):
                    is_done = False
                    break

    return decide


def conservative(compress: bool) -> Policy:
    """Reserve for every job at its submission; with ``compress`` reservations move forward when a job ends."""

    def decide(state: State) -> None:
        now = state.now
        outdated = [job for job in state.running if planned_end(job) != job.planned_end or job.planned_end <= now]
        if state.disturbed or outdated:
            for job in state.running:
                job.planned_end = planned_end(job)
            for job in state.waiting:
                job.reserved = None
        for job in list(state.waiting):
            if job.reserved is None or (compress and state.ended and job.reserved > now):
                held = [(now, other.planned_end, other.processors) for other in state.running]
                held += [
                    (other.reserved, other.planned_end, other.width)
                    for other in state.waiting
                    if other is not job and other.reserved is not None
                ]
                job.reserved = earliest(state, held, job)
                job.planned_end = instant(job.reserved + length(state, job))
            if job.reserved <= now:
                state.start_if_free(job)
        state.wake = min([state.wake, *(job.reserved for job in state.waiting if job.reserved and job.reserved > now)])

    return decide


def replanned(state: State) -> None:
    """Plan every waiting job anew, in order of submission; start those whose time is now."""
    held = [(state.now, planned_end(job), job.processors) for job in state.running]
    for job in list(state.waiting):
        begin = earliest(state, held, job)
        if begin == state.now and state.start_if_free(job):
            held.append((begin, planned_end(job), job.width))
        else:
            held.append((begin, instant(begin + length(state, job)), job.width))


Case = tuple[str, dict[str, Any], Policy]

TWINS: list[Case] = [
    *((order, {}, strict(order)) for order in ("fcfs", "sjf", "ljf", "widest", "narrowest", "lxf")),
    *(
        ("easy", {"backfill_order": order, "reservations": count}, easy(backfill=KEYS[order], reservations=count))
        for order in ("fcfs", "sjf", "lxf", "widest", "narrowest", "ljf")
        for count in (1, 2, 5)
    ),
    *(
        ("easy-in-time", {"ends": ends, "running": running, "shadow": shadow}, in_time(ends, running, shadow))
        for ends in ("at", "before")
        for running in ("by-end", "by-limit")
        for shadow in ("anew", "fixed")
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
