# SPDX-License-Identifier: BSD-3-Clause
"""The replay of a log: which wait would have been predicted for each job at its submission.

Jobs are submitted one by one. Before a job is told anything, the waits of all that have started by then become known,
never earlier; what is told depends on nothing else. Each queue is replayed by itself.

References
----------
Nurmi 2009, section 4.3.1.

Reading chosen
    The first jobs, 1,000 by default, are for training: they are told nothing, and their waits count. A job of a cluster
    is predicted before it changes what is known of availability; the waits of jobs that were told nothing become known
    like all others.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.named import NO_NAMES, Known, names_within
from swftools.parameters import Parameters, choice, number, truth, whole
from swftools.qbets.bounds.binomial import BinomialBound, bound_ranks, least_waits
from swftools.qbets.bounds.registry import UPPER, Bound, check_fraction
from swftools.qbets.change_points import RareEvents, rare_events
from swftools.qbets.history import newest_needed, trimming_by
from swftools.qbets.known_queue import KnownQueue
from swftools.qbets.live_state import check_parameters, known_of
from swftools.qbets.log_columns import group_labels, occurrences, prediction_table, read_submissions
from swftools.qbets.methods import check_given, find_method, registered_method
from swftools.qbets.python_bounds import ListedWaits, PythonBounds
from swftools.qbets.queue_state import (
    BOTH,
    EITHER,
    Answers,
    QueueState,
    ReplayRules,
    Submissions,
    compiled_replay,
    empty_queue,
    no_answers,
)
from swftools.qbets.replay_checkpoint import check_states, known_after, nobody_waits, resume
from swftools.qbets.rivals.at_submission import read_submitted
from swftools.qbets.rivals.registry import Rival
from swftools.qbets.rivals.replay import check_submitted, nothing_submitted, replay_rival
from swftools.qbets.saved_state import NAMES, read_state, write_state
from swftools.simulator.run.interruptible_thread import run_aside
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace

EXPLANATORY = ("requested_time", "requested_processors", "requested_work")

MOST_JOBS = 10**9
"""Jobs that parameters may speak of."""

MOST_WAITS = 10**7
"""Waits that a bound may need: of the .9999997 quantile so many, at a confidence of .95."""

MACHINE = "machine"
"""What a rival's knowledge stands under: it is not by group."""

AT_ONCE = 20_000
"""Jobs between two calls of ``progress``."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ReplayParameters(Parameters):
    """How waits are predicted; for rivals only quantile and training count.

    Parameters
    ----------
    quantile, confidence : float
        The quantile of waits that is bounded, and the confidence of the bound; as far as the method has them.
    trimming : bool
        Forget waits from before a change.
    rare_events : str
        The table of how many misses in a row indicate a change: reference, computed, or one of your own.
    clustering : bool
        Predict by clusters of jobs.
    explanatory : {"requested_time", "requested_processors", "requested_work"}
        What jobs are clustered by; a missing value counts as less than all others. If requested processors are missing,
        allocated ones are used.
    cluster_every : int
        Number of jobs of a queue after which it is clustered again.
    most_clusters : int
        Largest number of clusters of a queue.
    availability : bool
        Predict nothing while the machine seems to be down.
    unavailable_if : {"either", "both"}
        When it counts as down: too many jobs came since the last start, or the last start is too long ago; or both.
    availability_quantile : float
        The quantile of these two that is bounded, with a confidence of .95.
    training : int
        Number of jobs of a queue that must start before anything is predicted.
    """

    NAME: ClassVar[str] = "qbets"
    quantile: float = number(0.95)
    confidence: float = number(0.95)
    trimming: bool = truth(True)
    rare_events: str = "reference"
    clustering: bool = truth(True)
    explanatory: str = choice(*EXPLANATORY)
    cluster_every: int = whole(1000, least=1, most=MOST_JOBS)
    most_clusters: int = whole(5, least=1, most=100)
    availability: bool = truth(True)
    unavailable_if: str = choice("either", "both")
    availability_quantile: float = number(0.95)
    training: int = whole(1000, least=0, most=MOST_JOBS)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("quantile", "confidence", "availability_quantile"):
            check_fraction(name, getattr(self, name))
        rare_events(self.rare_events)
        for name, confidence in (("quantile", self.confidence), ("availability_quantile", BinomialBound().confidence)):
            needed = math.log1p(-confidence) / math.log(getattr(self, name))
            if needed > MOST_WAITS:
                raise ParameterError(
                    f"{name}={getattr(self, name)!r} at confidence {confidence!r}: a bound needs {needed:,.0f} waits, "
                    "more than a log has; give less of either"
                )


class WaitPredictor:
    """Predicts the waits of the jobs of a log, and of the logs that follow it.

    Parameters
    ----------
    method : str, Bound, Rival or object
        Name of a bound or rival, as ``binomial`` or ``gradient-boosting``; a Bound or Rival; or any object with
        the methods ``fit``, ``update`` and ``predict`` of bounds; each cluster gets a copy of it.
    by : str, sequence of str or None
        What jobs are grouped by: queue, partition, user, group, columns of the trace; None: all are one group. A rival
        sees all groups together.
    **parameters
        Parameters of ``ReplayParameters``.

    Raises
    ------
    ParameterError
        A parameter is unknown or outside its domain.

    Examples
    --------
    >>> from swftools import Trace
    >>> log = Trace.from_columns(job_number=range(200), submit_time=range(0, 2000, 10), wait_time=[5] * 200,
    ...     run_time=[60] * 200, requested_time=[100] * 200)
    >>> predictor = WaitPredictor("binomial", by=None, training=59)
    >>> predictor.replay(log)[["wait_time", "wait_bound", "no_prediction"]].iloc[[0, 199]].values.tolist()
    [[5.0, nan, 'training'], [5.0, 5.0, nan]]
    """

    def __init__(self, method: Any = "binomial", by: str | Sequence[str] | None = "queue", **parameters: Any) -> None:
        self.parameters = ReplayParameters.from_mapping(parameters)
        chosen = {"quantile": self.parameters.quantile, "confidence": self.parameters.confidence}
        self.method = find_method(method, **chosen)
        self._text = method if isinstance(method, str) else None
        self.bound: Bound = self.method if isinstance(self.method, Bound) else ListedWaits()
        if getattr(self.method, "side", UPPER) != UPPER:
            raise ParameterError(f"method {self.method!r}: predictions are upper bounds; leave out side=")
        self.by = tuple(by or ()) if isinstance(by, Sequence | None) and not isinstance(by, str) else (by,)
        if not all(isinstance(name, str) for name in self.by):
            raise ParameterError(f"by={by!r} is neither the name of a group of jobs, nor a sequence of such, nor None")
        self.known: dict[str, Any] = {}  # KnownQueue by group; KnownJobs, under one name, where a rival sees all
        self.start: int | None = None
        self.names: Known = NO_NAMES  # behind numbers of queues, users and others; of each kind those of the last log

    @property
    def name(self) -> str:
        """The method as it was given: as text, or a bound with its parameters, or the class of an object."""
        if self._text is not None:
            return self._text
        return self.method.short_text() if isinstance(self.method, Bound | Rival) else type(self.method).__name__

    @property
    def last(self) -> float:
        """The last known submission, s from ``start``; -inf before any."""
        return max((known.last for known in self.known.values()), default=-math.inf)

    def replay(
        self, log: Trace | Schedule, progress: Progress | None = None, *, may_lack_waits: bool = False
    ) -> pd.DataFrame:
        """Submit the jobs of a log one by one, and return the prediction of each.

        Parameters
        ----------
        log : Trace or Schedule
            Jobs with their waits: those of the log, or of a simulation. Jobs without a run time never started.
        progress : callable, optional
            Called with the number of jobs so far and the number of all jobs.
        may_lack_waits : bool
            Also accept a log in which no job started, such as a part of a log.

        Returns
        -------
        pandas.DataFrame
            A row for each job, in the order of the log; the table ``wait_predictions`` of the column dictionary.

        Raises
        ------
        ParameterError
            The log has no waits, or begins before the end of the previous one.
        """
        return self._replay(log, progress, goes_on=True, may_lack_waits=may_lack_waits)

    def _replay(
        self, log: Trace | Schedule, progress: Progress | None, *, goes_on: bool, may_lack_waits: bool = False
    ) -> pd.DataFrame:
        """Replay a log; where nothing goes on from it, what is known of a group is forgotten when it is over."""
        if not isinstance(log, Trace | Schedule):
            raise ParameterError(
                f"what is replayed is a Trace, of read_swf for instance, or a Schedule, not of {type(log).__name__}"
            )
        jobs = log.jobs
        labels = group_labels(jobs, self.by)
        columns = read_submissions(jobs, self.parameters.explanatory, may_lack_waits=may_lack_waits)
        self._count_from_one_start(log, columns.submit)
        self.names = {**self.names, **log.known_names}
        order = np.lexsort((occurrences(jobs), jobs["job_number"], columns.submit))
        if isinstance(self.method, Rival):
            tell = partial(_tell, progress, 0, len(jobs))
            told = self._replay_machine(self.method, log, labels, columns.submit, order, tell)
        else:
            told = self._replay_groups(labels, columns, order, progress, goes_on=goes_on)
        return prediction_table(log, labels, self.name, columns, told)

    def save(self, path: str | os.PathLike[str], *, with_names: bool = True) -> None:
        """Write what was learnt into a file, from which ``load`` goes on.

        Parameters
        ----------
        path : str or path
            Where.
        with_names : bool
            Also write the names that the log has behind the numbers of groups, such as those of queues.

        Raises
        ------
        StorageError
            The file cannot be written; an old one stays as it was.
        """
        write_state(path, self._about(with_names=with_names), self.known)

    @classmethod
    def load(cls, path: str | os.PathLike[str], method: Any = None) -> Self:
        """Return a predictor that knows what another had learnt when it was saved.

        Parameters
        ----------
        path : str or path
            What ``save`` wrote.
        method : object, optional
            The bound, if it is an object of your own, which files do not hold; it learns the kept waits again. Or a
            bound or rival of your own that the file names, such as ``my_bounds:mine``, if its module was not imported
            before: nothing is imported because a file names it.

        Raises
        ------
        StateError
            There is no such file, or it is of another form or version, truncated or damaged.
        ParameterError
            It was saved with a bound object, and none is given; or the other way round.
        """
        state = read_state(path)
        about = state.about
        check_given(os.fspath(path), about["method"], method)
        with state.refusing():
            check_parameters(about["parameters"])
            saved = method if about["method"] is None else registered_method(about["method"])
            made = cls(saved, about["by"], **about["parameters"])
            if isinstance(made.method, Rival):
                made.known = {label: state.known(label, nothing_submitted()) for label in state.labels}
                for known in made.known.values():
                    check_submitted(known)
            else:
                made.known = {label: known_of(state, label) for label in state.labels}
                for known in made.known.values():
                    made._check_states(known)
        made.start, made._text, made.names = about["start"], about["name"], state.names
        return made

    def _check_states(self, known: KnownQueue) -> None:
        """Refuse states of bounds in a saved file that kernels cannot trust, by ValueError."""
        series = BinomialBound(self.parameters.availability_quantile)
        check_states(known.history, self.bound)
        for one in (known.arrivals, known.gaps):
            if len(one.states):
                check_states(one, series)
            elif one.size[0] or one.kept.any():
                raise ValueError("a series without a bound")

    def _about(self, *, with_names: bool = False) -> dict[str, Any]:
        """Return what a saved state says about its predictor, and the names behind the numbers of its groups."""
        method = self.method.to_text() if isinstance(self.method, Bound | Rival) else None
        named = {"method": method, "name": self.name, "by": list(self.by), "start": self.start}
        names = names_within(self.known, self.by, self.names) if with_names else {}
        return {**named, "parameters": self.parameters.to_mapping(), **({NAMES: names} if names else {})}

    def _count_from_one_start(self, log: Trace | Schedule, submit: FloatArray) -> None:
        """Count the seconds of a log that goes on from another from the start of that; refuse one that goes back."""
        start = log.header.unix_start_time if isinstance(log, Trace) else None
        if self.start is None:
            self.start = start
        elif start is not None:
            submit += start - self.start
        first = submit.min(initial=np.inf)
        if first < self.last:
            raise ParameterError(
                f"the log begins at {first:g} s, before the last submission that is known, at {self.last:g} s: logs "
                "are replayed in order of time; begin with a new WaitPredictor"
            )

    def _replay_groups(
        self, labels: Any, jobs: Submissions, order: IntArray, progress: Progress | None, *, goes_on: bool
    ) -> Answers:
        """Submit the jobs of one group after the other, each in order; return what each job is told."""
        told: Any = no_answers(len(order))
        known, done = dict(self.known), 0
        order = order[np.argsort(labels.codes[order], kind="stable")]
        ends = np.cumsum(np.bincount(labels.codes, minlength=len(labels.categories)))
        for label, end in zip(labels.categories, ends.tolist(), strict=True):
            rows = order[done:end]
            tell = partial(_tell, progress, done, len(order))
            learnt, answers = self._replay_group(label, jobs, rows, tell)
            for column, part in zip(told, answers, strict=True):
                column[rows] = part
            done = end
            if goes_on:
                known[label] = learnt()
        self.known = known  # at once: who interrupts it, or whose object fails, has learnt nothing
        return told

    def _replay_group(
        self, label: str, jobs: Submissions, rows: IntArray, tell: Callable[[int], None]
    ) -> tuple[Callable[[], KnownQueue], Answers]:
        """Submit some jobs, of one group; return what is known then, when called, and what they are told."""
        known: KnownQueue | None = self.known.get(label)
        waiting = known.waiting if known else nobody_waits()
        carried = len(waiting.submit)
        room = (int(known.history.size[0]) if known else 0) + carried + len(rows)
        rules = self._rules(room)
        queue = empty_queue(
            room,
            self.parameters.most_clusters if self.parameters.clustering else 1,
            self.bound.places(room),
            newest=0 if rules.every > 0 else newest_needed(rules.trimming.least),
            newest_of_series=newest_needed(rules.series.least) if rules.availability > 0 else 0,
        )
        if known:
            resume(known, queue, self.bound)
        all_jobs = Submissions(*(np.append(old, new[rows]) for old, new in zip(waiting[:3], jobs, strict=True)))
        answers = no_answers(len(all_jobs.submit))
        answers.bound[:carried] = waiting.told
        submit, stop = self._submitter(queue)
        for first in range(carried, len(all_jobs.submit), AT_ONCE):
            behind = min(first + AT_ONCE, len(all_jobs.submit))
            # In a thread of its own, where no interrupt can lose itself.
            run_aside(partial(submit, rules, all_jobs, first, behind, answers), stop, pauses=False, leave=_nothing)
            tell(behind - carried)
        learnt = partial(known_after, queue, all_jobs, answers.bound, self.bound)
        return learnt, Answers._make(column[carried:] for column in answers)

    def _submitter(self, queue: QueueState) -> tuple[Callable[..., None], Callable[[], None]]:
        """Return what submits jobs to a queue, and what makes that end early."""
        if self.method is not self.bound:
            asked = PythonBounds(self.method, queue)
            return asked.replay, asked.stop
        kind, series = type(self.bound), BinomialBound
        called = kind.compiled_add(), kind.compiled_bound(), series.compiled_add()
        return lambda *jobs: compiled_replay()(queue, *jobs, *called), _nothing

    def _replay_machine(
        self,
        rival: Rival,
        log: Trace | Schedule,
        labels: Any,
        submit: FloatArray,
        order: IntArray,
        tell: Callable[[int], None],
    ) -> Answers:
        """Submit the jobs of all groups in order, which a rival sees together; return what each row is told."""
        before = self.known.get(MACHINE, nothing_submitted())
        names = before.names
        jobs = read_submitted(log, order, submit, labels, names)
        known, answers = replay_rival(rival, self.parameters.training, before, jobs, names, tell)
        self.known = {MACHINE: known}
        return Answers._make(column[np.argsort(order)] for column in answers)

    def _rules(self, jobs: int) -> ReplayRules:
        """Return how a queue of so many jobs is replayed."""
        chosen = self.parameters
        least = least_waits(chosen.quantile, chosen.confidence)
        table: RareEvents = rare_events(chosen.rare_events)
        infers = {"either": EITHER, "both": BOTH}[chosen.unavailable_if] if chosen.availability else 0
        series = BinomialBound(chosen.availability_quantile)
        return ReplayRules(
            chosen.training,
            chosen.cluster_every if chosen.clustering else 0,
            least,
            infers,
            trimming_by(least if chosen.trimming else 0, table),
            self.bound.facts(jobs)[0],
            trimming_by(least_waits(series.quantile, series.confidence), table),
            bound_ranks(jobs if infers else 0, series.quantile, series.confidence),
        )


def replay(
    log: Trace | Schedule,
    method: Any = "binomial",
    by: str | Sequence[str] | None = "queue",
    *,
    progress: Progress | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Predict the wait of each job of a log, from what was known at its submission; see ``WaitPredictor``.

    Examples
    --------
    >>> from swftools import Trace
    >>> log = Trace.from_columns(job_number=range(200), submit_time=range(0, 2000, 10), wait_time=[5] * 200,
    ...     run_time=[60] * 200, requested_time=[100] * 200)
    >>> replay(log, "lognormal", by=None, training=100)["wait_bound"].tail(1).item()
    5.0
    """
    return WaitPredictor(method, by, **parameters)._replay(log, progress, goes_on=False)


def _tell(progress: Progress | None, before: int, jobs: int, count: int) -> None:
    """Tell how many jobs are done."""
    if progress:
        progress(before + count, jobs)


def _nothing() -> None:
    """Do nothing: so many jobs take moments."""
