# SPDX-License-Identifier: BSD-3-Clause
"""The schedulers of Barsanti and Sodan (2006) restated slowly, by the words of the paper, for the slow simulator.

Jobs may have curves of Downey without variation, S(n) = min(n, A).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.naive.simulator import Job, Policy, State, earliest, easy, instant, planned_end

DAY, HALF_HOUR = 86400.0, 1800.0


@dataclass(frozen=True)
class Rules:
    """The parameters."""

    short: float = 60.0
    long: float = 3600.0
    aging: float = 5.0
    target: str = "load"
    ideal_load: float = 0.9
    delta: float = 0.02
    bad_modifiers: int = 3
    prediction: bool = True
    early_start: bool = True
    guarantee: bool = True
    adaptive_backfilling: str = "shrink"
    resize: bool = False
    resize_every: float = 3600.0


def widths_of(job: Job) -> list[int]:
    """Return the widths on which a job may run; of a rigid one its own."""
    return sorted(job.stretches) or [job.width]


def optimum(job: Job) -> int:
    """Return the width with the least run time / efficiency, of its widths."""
    return min(widths_of(job), key=lambda n: n * job.stretch(n) ** 2)


def time_on(job: Job, width: int) -> float:
    """Return how long a job is expected to run on a width."""
    return job.estimate * job.stretch(width)


def class_of(job: Job, rules: Rules) -> int:
    """Return 0 for short, 1 for medium, 2 for long jobs."""
    time = time_on(job, optimum(job))
    return 0 if time < rules.short else 2 if time >= rules.long else 1


def rank(state: State, job: Job, rules: Rules) -> int:
    """Return the class of a job, one less where it has waited for long."""
    kind = class_of(job, rules)
    patience = rules.aging * time_on(job, optimum(job))
    return kind - 1 if kind > 0 and rules.aging > 0 and state.now >= instant(job.submit + patience) else kind


def fixed(rules: Rules) -> Policy:
    """EASY in order of class."""

    def key(state: State, job: Job) -> float:
        return float(rank(state, job, rules))

    return easy(key, key)


def resize(job: Job, factor: float) -> int:
    """Return the optimum times a factor, rounded half up, within the job's bounds."""
    widths = widths_of(job)
    return max(int(min(math.floor(optimum(job) * factor + 0.5), widths[-1])), widths[0])


class Seen(NamedTuple):
    """A job as it was when it was submitted: class, optimal width, run time there, A of its curve (None: rigid)."""

    submit: float
    kind: int
    size: int
    time: float
    a: float | None


@dataclass
class Scojo:
    """SCOJO-P, as a policy of the slow simulator."""

    rules: Rules
    seen: list[Seen] = field(default_factory=list)
    least: dict[int, int] = field(default_factory=dict)

    def __call__(self, state: State) -> None:
        """Decide."""
        for job in state.submitted[len(self.seen) :]:
            best = optimum(job)
            a = job.parallelism if len(widths_of(job)) > 1 else None
            self.seen.append(Seen(job.submit, class_of(job, self.rules), best, time_on(job, best), a))
        factor = state.processors / max(sum(optimum(job) for job in (*state.running, *state.waiting)), 1)
        if self.rules.resize and state.waiting and factor < 1:
            for job in self.malleable(state):
                state.resize(job, min(job.processors, resize(job, factor)))
        self.start_waiting(state)
        if self.rules.resize and not state.waiting and factor >= 1:
            for job in reversed(self.malleable(state)):
                wider = min(resize(job, factor), job.processors + state.free)
                state.resize(job, max(job.processors, wider))

    def malleable(self, state: State) -> list[Job]:
        """Return the jobs that may be resized: they have several widths, and the present one for long enough."""
        runs = [(job, job.present) for job in state.running if len(widths_of(job)) > 1]
        every = self.rules.resize_every
        return [job for job, run in runs if run is not None and state.now - run.start >= every]

    def start_waiting(self, state: State) -> None:
        """Start those that are to start."""
        queue = sorted(state.waiting, key=lambda job: rank(state, job, self.rules))
        while queue and state.free > 0:
            job = queue.pop(0)
            target = self.target(state, job, queue) if self.rules.target == "load" else optimum(job)
            target = max(target, self.least.get(id(job), 0))
            if target <= state.free:
                state.start_on(job, target)
                continue
            when, size = self.best_start(state, job, target)
            if when is None:
                state.start_on(job, size)
                continue
            if self.rules.guarantee:
                self.least[id(job)] = size
            self.backfill(state, queue, when, free_at(state, when) - size)
            return

    def target(self, state: State, job: Job, others: list[Job]) -> int:
        """Return the target size (figure 1)."""
        rules, size = self.rules, optimum(job)
        if len(widths_of(job)) == 1:
            return size
        tried: list[tuple[float, int]] = []
        factor, worse = 1.0, 0
        while True:
            time = time_on(job, size)
            if time <= 0:
                break
            work = sum(each.processors * min(max(each.expected_end - state.now, 0), time) for each in state.running)
            for each in others:
                n = resize(each, factor)
                work += n * min(time_on(each, n), time)
            work += size * time
            if rules.prediction:
                work += self.future(state, factor, time)
            load = work / (state.processors * time)
            off = abs(load - rules.ideal_load)
            worse = 0 if not tried or off < min(tried)[0] else worse + 1
            tried.append((off, size))
            if off <= rules.delta or worse == rules.bad_modifiers:
                break
            factor *= rules.ideal_load / load
            if resize(job, factor) == size:
                break
            size = resize(job, factor)
        best = min((off for off, _ in tried), default=0.0)
        return next((n for off, n in tried if off == best), optimum(job))

    def future(self, state: State, factor: float, time: float) -> float:
        """Return the work that is expected to come within a time."""
        work = 0.0
        days = max((state.now - self.seen[0].submit) / DAY, 1.0) if self.seen else 1.0
        for kind in range(3):
            mine = [each for each in self.seen if each.kind == kind]
            if not mine:
                continue
            best = sum(each.size for each in mine) / len(mine)
            run = sum(each.time for each in mine) / len(mine)
            size = best
            curves = [each.a for each in mine if each.a is not None]
            if 2 * len(curves) > len(mine):
                known = sorted(curves[: 2 ** (len(curves).bit_length() - 1)])
                a = known[(len(known) - 1) // 2]
                size = max(min(best * factor, max(min(2 * a - 1, state.processors), best)), 1.0)
                run *= min(best, a) / min(size, a)
            number = (until(mine, state.now + time) - until(mine, state.now)) / days
            work += number * size * min(run, time)
        return work

    def best_start(self, state: State, job: Job, target: int) -> tuple[float | None, int]:
        """Return when to start, None for at once, and on how many processors (figure 3)."""
        least = max(widths_of(job)[0], self.least.get(id(job), 0)) if self.rules.early_start else target
        choices: list[tuple[float, int, float | None, int]] = []
        if state.free >= least:
            choices.append((instant(state.now + time_on(job, state.free)), 0, None, state.free))
        ends = sorted({max(each.expected_end, state.now) for each in state.running})
        for place, end in enumerate(ends):
            size = min(target, free_at(state, end))
            if size >= least:
                choices.append((instant(end + time_on(job, size)), 1 + place, end, size))
        _, _, when, size = min(choices, key=lambda choice: choice[:2])
        return when, size

    def backfill(self, state: State, others: list[Job], when: float, extra: int) -> None:
        """Let others go ahead (figure 4)."""
        time, factor = when - state.now, 1.0

        def in_time(takes: float) -> bool:
            return instant(state.now + takes) <= when

        candidates = [job for job in others if optimum(job) <= state.free and in_time(time_on(job, optimum(job)))]
        work = sum(optimum(job) * time_on(job, optimum(job)) for job in candidates)
        if work > 0 and self.rules.adaptive_backfilling != "none":
            factor = time * state.free / work
        if self.rules.adaptive_backfilling == "shrink":
            factor = min(factor, 1.0)
        for job in others:
            size = max(resize(job, factor), self.least.get(id(job), 0))
            ends_in_time = in_time(time_on(job, size))
            if size <= state.free and (ends_in_time or size <= extra):
                extra -= 0 if ends_in_time else size
                state.start_on(job, size)


def free_at(state: State, when: float) -> int:
    """Return how many processors are free at a time if running jobs end as expected."""
    return state.free + sum(job.processors for job in state.running if job.expected_end <= when)


def until(jobs: list[Seen], time: float) -> float:
    """Return how many jobs come until a time if each day has all that came on any day at those hours."""
    day = math.floor(time / DAY)
    half_hours = (time - day * DAY) / HALF_HOUR
    now = min(int(half_hours), 47)
    came = [int((each.submit % DAY) // HALF_HOUR) for each in jobs]
    return day * len(jobs) + sum(each < now for each in came) + (half_hours - now) * came.count(now)


# ---------------------------------------------------------------- widths chosen at submission


@dataclass
class CirneBerman:
    """A width for each job when it is submitted: the one at which it ends first if nobody else comes."""

    rules: Rules
    sizes: str = "all"
    tolerance: float = 0.0
    inner: str = "easy"
    width: dict[int, int] = field(default_factory=dict)
    original: dict[int, Job] = field(default_factory=dict)

    def __call__(self, state: State) -> None:
        """Decide."""
        for job in state.waiting:
            if id(job) not in self.width:
                self.width[id(job)] = self.choose(state, job)
        for job in self.starting(state, state.waiting):
            state.start_on(job, self.width[id(job)])

    def choose(self, state: State, job: Job) -> int:
        """Return the width of a job that was just submitted."""
        if len(widths_of(job)) == 1:
            return optimum(job)
        responses = {}
        for width in widths_of(job):
            if self.sizes == "all" or width == job.width or width & (width - 1) == 0:
                self.width[id(job)] = width
                known = [other for other in state.waiting if id(other) in self.width]
                responses[width] = self.response(state, job, known)
        del self.width[id(job)]
        longest = min(responses.values(), default=math.inf) * (1 + self.tolerance)
        return min((width for width, time in responses.items() if time <= longest), default=optimum(job))

    def response(self, state: State, job: Job, known: list[Job]) -> float:
        """Return how long after now a job ends, of those that wait and have widths."""
        time = time_on(job, self.width[id(job)])
        if self.inner == "conservative":
            return self.reserve(state, known)[id(job)] - state.now + time
        copy, twins = self.copy(state, known)
        while twins[id(job)] not in copy.started:
            self.easy(copy)
            if twins[id(job)] not in copy.started:
                copy.now = max(copy.now, min(each.expected_end for each in copy.running))
                copy.running = [each for each in copy.running if each.expected_end > copy.now]
        return copy.now - state.now + time

    def starting(self, state: State, known: list[Job]) -> list[Job]:
        """Return who starts now."""
        if self.inner == "conservative":
            begins, free, chosen = self.reserve(state, known), state.free, []
            for job in sorted(known, key=lambda job: rank(state, job, self.rules)):
                if begins[id(job)] <= state.now and self.width[id(job)] <= free:
                    free -= self.width[id(job)]
                    chosen.append(job)
            return chosen
        copy, twins = self.copy(state, known)
        self.easy(copy)
        return sorted((job for job in known if twins[id(job)] in copy.started), key=lambda job: twins[id(job)].rank)

    def copy(self, state: State, known: list[Job]) -> tuple[State, dict[int, Job]]:
        """Return a machine whose waiting jobs are rigid on their widths, and these jobs by those that they copy."""
        copy = State(state.processors, state.overhead, state.now, running=list(state.running))
        twins = {}
        self.original = {}
        for job in known:
            time = time_on(job, self.width[id(job)])
            twin = Job(job.submit, self.width[id(job)], time, time, time)
            twins[id(job)] = twin
            self.original[id(twin)] = job
            copy.queue(twin)
        return copy, twins

    def easy(self, copy: State) -> None:
        """Let the copy start whom EASY starts; of each note in which turn."""

        def key(state: State, twin: Job) -> float:
            return float(rank(state, self.original[id(twin)], self.rules))

        easy(key, key)(copy)
        for turn, twin in enumerate(copy.started):
            twin.rank = turn

    def reserve(self, state: State, known: list[Job]) -> dict[int, float]:
        """Return when each job begins that has a reservation, by its identity."""
        held = [(state.now, planned_end(job), job.processors) for job in state.running]
        begins = {}
        for job in sorted(known, key=lambda job: rank(state, job, self.rules)):
            time = time_on(job, self.width[id(job)]) or 1.0
            rigid = Job(job.submit, self.width[id(job)], time, time, time)
            begins[id(job)] = begin = earliest(state, held, rigid)
            held.append((begin, instant(begin + time), rigid.width))
        return begins
