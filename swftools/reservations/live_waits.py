# SPDX-License-Identifier: BSD-3-Clause
"""Waits as they become known while a simulation runs, and the bounds of them: QBETS in the loop.

It does what ``WaitPredictor.replay`` does with a log that is over, by the same kernels, one submission and one start
after the other. A wait is known from the job's start on, and never before; what the log says of waits is not asked.

Differs from the replay
    There a job that starts at the instant at which another one is submitted is known to that. Here it is not: at one
    instant submissions come first, and what starts is decided behind them.
"""

from __future__ import annotations

import copy
from bisect import insort
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray, kernel
from swftools.kernel.layout import Layout
from swftools.kernel.pointers import Lent, at_address
from swftools.qbets.bounds.binomial import BELOW, COUNT, HEAP, BinomialBound
from swftools.qbets.bounds.registry import Bound, add_signature, bound_signature
from swftools.qbets.change_points import RareEvents
from swftools.qbets.history import CLUSTERS, VALUES, cluster_of, newest_needed, trimming_by
from swftools.qbets.known_queue import KnownQueue
from swftools.qbets.predictor import WaitPredictor
from swftools.qbets.queue_state import (
    IS_DOWN,
    WAITING,
    Answers,
    QueueState,
    ReplayRules,
    Submissions,
    empty_queue,
    no_answers,
    start_until,
    submit,
)
from swftools.qbets.replay_checkpoint import known_after, resume
from swftools.qbets.rivals.registry import Rival
from swftools.reservations.start_table import MOST, StartTable
from swftools.simulator.machine.event_queue import push

SUBMIT, START, LEARN = range(3)
"""What may happen: a job is submitted, or starts; all starts by now are to be learnt."""

AT_ONCE = 4096
"""Events that are taken in together at most: a call of what is compiled takes a tenth of a millisecond."""


class Live(NamedTuple):
    """What is known of a group, how it is learnt, and its jobs in order of submission.

    ``what``, ``job`` and ``time`` (s) are events that are to be taken in.
    """

    queue: QueueState
    rules: ReplayRules
    jobs: Submissions
    answers: Answers
    what: IntArray
    job: IntArray
    time: FloatArray


def _example() -> Live:
    trimming = trimming_by(1, RareEvents(np.zeros(1), np.zeros(1, np.int64)))
    rules = ReplayRules(0, 0, 0, 0, trimming, np.zeros(1), trimming, np.zeros(1))
    queue = empty_queue(1, 1, 1, newest=0, newest_of_series=1)
    whole, number = np.zeros(1, np.int64), np.zeros(1)
    return Live(queue, rules, Submissions(number, number, number), no_answers(1), whole, whole, number)


live_at = Lent(_example)


def follow(
    place: Any,
    events: int,
    add: Callable[[FloatArray, FloatArray, float], None],
    bound: Callable[[FloatArray, FloatArray], float],
    add_to_series: Callable[[FloatArray, FloatArray, float], None],
) -> None:
    """Take in the first so many events; ``place`` is where a ``Live`` lies, interpreted that itself."""
    live = live_at(place)
    queue, rules, jobs, answers = live.queue, live.rules, live.jobs, live.answers
    for i in range(events):
        job, time = live.job[i], live.time[i]
        if live.what[i] == SUBMIT:
            told = bound(queue.history.states[cluster_of(queue.history, jobs.x[job])], rules.facts)
            submit(queue, rules, jobs, job, told, answers, add)
        elif live.what[i] == START:
            jobs.wait[job] = time - jobs.submit[job]
            push(queue.times, queue.jobs, queue.counts[WAITING], time, job)
            queue.counts[WAITING] += 1
        else:
            start_until(queue, rules, jobs, time, answers, add, add_to_series)


@cache
def compiled_follow() -> Any:
    """Return ``follow``, compiled for any bound."""
    from numba import types  # noqa: PLC0415 (takes half a second)

    add, bound = (types.FunctionType(signature()) for signature in (add_signature, bound_signature))
    return kernel(types.void(types.int64, types.int64, add, bound, add), allocates=False)(follow)


def check_asked(predictor: WaitPredictor) -> Bound:
    """Return the bound of a predictor, if it can be asked about any percentile while waits become known.

    Raises
    ------
    ParameterError
        It is a rival, which tells one quantile of a job that is submitted now, by the queue as it stands, while a plan
        asks for a percentile of a submission to come; or an object of one's own, or a bound that tells one quantile.
    """
    bound = predictor.method
    if isinstance(bound, BinomialBound) or (isinstance(bound, Bound) and bound.reads_any_quantile):
        return bound
    why = (
        ": it tells one quantile of a job that is submitted now, by the queue as it stands, and a plan asks about all, "
        "of submissions to come"
        if isinstance(bound, Rival)
        else ""
    )
    raise ParameterError(
        f"method {predictor.name!r} cannot be asked about any percentile while waits become known{why}; take a bound, "
        "such as binomial, lognormal or trailing"
    )


class LiveWaits:
    """Waits of the jobs of one group as a simulation goes on.

    Parameters
    ----------
    predictor : WaitPredictor
        How waits are bounded, as of its parameters. It is not changed.
    room : int
        Jobs that there is room for at first; where more come it doubles.
    known : KnownQueue, optional
        What is known of the group already, and who waits, as a replay leaves it.

    Attributes
    ----------
    version : int
        Raised whenever bounds may have changed.

    Raises
    ------
    ParameterError
        Its method is no bound, or one whose waits tell no other quantile.
    """

    def __init__(self, predictor: WaitPredictor, room: int, known: KnownQueue | None = None) -> None:
        bound = check_asked(predictor)
        self.bound, self.training, self._predictor = bound, predictor.parameters.training, predictor
        kernels = type(bound).compiled_add(), type(bound).compiled_bound(), BinomialBound.compiled_add()
        self._called = tuple(at_address(compiled) for compiled in kernels)
        self._facts: dict[int, FloatArray] = {}
        self._sorted: list[list[float]] | None = None
        self._kept: list[int] = []
        self._begun: list[int] = []
        self._events = self._submitted = self._starting = 0
        self.version = 0
        self._before, self._last = (int(known.history.size[0]), known.last) if known else (0, -np.inf)
        carried = len(known.waiting.submit) if known else 0
        self._live = self._empty(self._before + carried + room)
        if known:
            resume(known, self._live.queue, bound)
            for column, carry in zip(self._live.jobs, known.waiting[:3], strict=True):
                column[:carried] = carry
            self._live.answers.bound[:carried] = known.waiting.told
            self._submitted = carried
        self._may_start = carried > 0  # by themselves: a replay knows when those start who wait
        self._layout = Layout(self._live, live_at.example)

    def _empty(self, room: int) -> Live:
        """Return what is known before anything happens, with room for so many jobs."""
        chosen = self._predictor.parameters
        self._room, rules = room, self._predictor._rules(room)
        queue = empty_queue(
            room,
            chosen.most_clusters if chosen.clustering else 1,
            self.bound.places(room),
            newest=0 if rules.every > 0 else newest_needed(rules.trimming.least),
            newest_of_series=newest_needed(rules.series.least) if chosen.availability else 0,
        )
        jobs = Submissions(np.zeros(room), np.full(room, np.nan), np.full(room, -1.0))
        events = np.zeros(AT_ONCE, np.int64), np.zeros(AT_ONCE, np.int64), np.zeros(AT_ONCE)
        return Live(queue, rules, jobs, no_answers(room), *events)

    def _make_room(self) -> None:
        """Double the room, if it is full: what is known goes into larger arrays, and goes on there."""
        if self._before + self._submitted < self._room:
            return
        self._take_in()
        old, known, count = self._live, self.known(), self._submitted
        self._live = self._empty(2 * self._room)
        resume(known, self._live.queue, self.bound)
        waiting = int(old.queue.counts[WAITING])
        for column in ("times", "jobs"):  # jobs keep their numbers
            getattr(self._live.queue, column)[:waiting] = getattr(old.queue, column)[:waiting]
        pairs: Any = zip((*self._live.jobs, *self._live.answers), (*old.jobs, *old.answers), strict=True)
        for target, source in pairs:
            target[:count] = source[:count]
        self._layout = Layout(self._live, live_at.example)
        self._facts.clear()
        self._sorted = None

    # ------------------------------------------------------------ what happens

    def submitted(self, time: float, x: float) -> int:
        """Take in that a job is submitted, with its explanatory variable; return its number here."""
        self._make_room()
        jobs, job = self._live.jobs, self._submitted
        jobs.submit[job], jobs.x[job] = time, x
        self._submitted += 1
        self._note(SUBMIT, job, time)
        every = self._live.rules.every
        if every > 0 and self._submitted % every == 0:  # clusters are found anew
            self._sorted = None
            self.version += 1
        return job

    def started(self, job: int, time: float) -> None:
        """Take in that a job started; its wait is learnt by ``learn``."""
        self._note(START, job, time)
        self._begun.append(job)
        self._starting += 1

    def learn(self, time: float) -> None:
        """Learn the waits of the jobs that started by now."""
        if self._starting or self._may_start:
            self._note(LEARN, 0, time)
            self._starting = 0
            self.version += 1

    def answer(self, job: int) -> float:
        """Return the bound that a job was told at its submission, by the predictor's own quantile, s; NaN: none."""
        self._take_in()
        return float(self._live.answers.bound[job])

    def reason(self, job: int) -> int:
        """Return why a job was told nothing at its submission, as ``queue_state`` has it: ``TOLD`` of a bound."""
        self._take_in()
        return int(self._live.answers.reason[job])

    def submission(self, job: int) -> tuple[float, float]:
        """Return the explanatory variable of a job, and the bound at its submission, s; NaN: none."""
        return float(self._live.jobs.x[job]), self.answer(job)

    def waited(self, submit: float, x: float, told: float) -> int:
        """Take in a job that came before what is known was saved, and waits; return its number here."""
        self._make_room()
        jobs, job = self._live.jobs, self._submitted
        jobs.submit[job], jobs.x[job], self._live.answers.bound[job] = submit, x, told
        self._submitted += 1
        return job

    def known(self) -> KnownQueue:
        """Return what is known of the group, as a replay leaves it; who waits without a start is not in it."""
        self._take_in()
        jobs = Submissions(*(column[: self._submitted] for column in self._live.jobs))
        known = known_after(self._live.queue, jobs, self._live.answers.bound[: self._submitted], self.bound)
        return known._replace(last_submission=np.maximum(known.last_submission, self._last))

    def _note(self, what: int, job: int, time: float) -> None:
        """Note an event, to be taken in when something is asked."""
        live = self._live
        if self._events == AT_ONCE:
            self._take_in()
        live.what[self._events], live.job[self._events], live.time[self._events] = what, job, time
        self._events += 1

    def _take_in(self) -> None:
        """Take in what happened."""
        if not self._events:
            return
        taking = compiled_follow()
        is_compiled = taking.compiled is not taking.py_func
        taking.compiled(self._layout.address if is_compiled else self._live, self._events, *self._called)
        self._events = 0
        if self._sorted is not None and not self._starting:
            self._keep_sorted(self._sorted)
            self._begun.clear()
        elif self._sorted is None:
            self._begun.clear()
        else:
            self._sorted = None

    # ------------------------------------------------------------ what is known

    @property
    def submissions(self) -> int:
        """Jobs that were submitted."""
        return self._submitted

    @property
    def waits(self) -> int:
        """Waits that are known."""
        self._take_in()
        return int(self._live.queue.history.counts[VALUES])

    @property
    def is_trained(self) -> bool:
        """Whether enough waits are known to tell anything."""
        return self.waits >= self.training

    @property
    def is_down(self) -> bool:
        """Whether nothing seems to start."""
        self._take_in()
        return bool(self._live.queue.counts[IS_DOWN])

    @property
    def ends(self) -> FloatArray:
        """The largest value of the explanatory variable of each cluster; the last is infinite."""
        self._take_in()
        history = self._live.queue.history
        ends = history.end[: history.counts[CLUSTERS]].copy()
        ends[-1] = np.inf
        return ends

    def seconds(self, percent: int, cluster: int) -> float:
        """Return the bound of a percentile of a cluster, s; infinite where there is none."""
        self._take_in()
        facts = self._facts.get(percent)
        if facts is None:
            other = copy.copy(self.bound)
            other.quantile = percent / 100.0
            facts = self._facts[percent] = other.facts(self._room)[0]
        if isinstance(self.bound, BinomialBound):
            waits = self._sorted_waits()[cluster]
            rank = int(facts[len(waits)])
            return waits[rank - 1] if rank > 0 else np.inf
        told = float(type(self.bound).bound(self._live.queue.history.states[cluster].copy(), facts))
        return told if told == told else np.inf  # noqa: PLR0124 (not NaN)

    def bounds(self, percent: int) -> FloatArray:
        """Return the bounds of a percentile, a cluster each, s."""
        return np.array([self.seconds(percent, place) for place in range(len(self.ends))])

    def percent(self, x: float, within: float) -> int:
        """Return with how many percent a job starts within a time, s: the largest percentile whose bound is."""
        cluster = int(np.searchsorted(self.ends[:-1], x))
        low, high = 0, MOST
        while low < high:
            middle = (low + high + 1) // 2
            if self.seconds(middle, cluster) <= within:
                low = middle
            else:
                high = middle - 1
        return low

    def table(self) -> StartTable:
        """Return all bounds."""
        rows = [[self.seconds(percent, place) for percent in range(1, MOST + 1)] for place in range(len(self.ends))]
        return StartTable(self.ends, np.maximum.accumulate(np.array(rows), axis=1))

    # ------------------------------------------------------------ sorted waits

    def _sorted_waits(self) -> list[list[float]]:
        """Return the waits that each cluster keeps, rising."""
        if self._sorted is None:
            history = self._live.queue.history
            count = int(history.counts[CLUSTERS])
            self._sorted = [_rising(history.states[place]) for place in range(count)]
            self._kept = history.kept[:count].tolist()
        return self._sorted

    def _keep_sorted(self, rising: list[list[float]]) -> None:
        """Put the waits of those that started into the sorted ones; what was trimmed is read anew."""
        history, jobs = self._live.queue.history, self._live.jobs
        ends = history.end[: history.counts[CLUSTERS] - 1]
        places: dict[int, list[float]] = {}
        for job in self._begun:
            places.setdefault(int(np.searchsorted(ends, jobs.x[job])), []).append(float(jobs.wait[job]))
        for place, waits in places.items():
            kept = int(history.kept[place])
            if kept == self._kept[place] + len(waits):
                for wait in waits:
                    insort(rising[place], wait)
            else:
                rising[place] = _rising(history.states[place])
            self._kept[place] = kept


def _rising(state: FloatArray) -> list[float]:
    """Return the waits of a state of the binomial bound, rising."""
    count, below = int(state[COUNT]), int(state[BELOW])
    others = state[len(state) - (count - below) :]
    waits: list[float] = np.sort(np.concatenate([state[HEAP : HEAP + below], others])).tolist()
    return waits
