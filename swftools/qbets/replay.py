"""The replay of a log: what each job would have been told at its submission of how long it will wait.

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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.parameters import LARGEST_SEED, Parameters, choice, number, truth, whole
from swftools.qbets.bounds.binomial import BinomialBound, bound_ranks, least_waits
from swftools.qbets.bounds.registry import UPPER, Bound, check_fraction, find_bound
from swftools.qbets.change_points import RareEvents, rare_events
from swftools.qbets.history import trimming_by
from swftools.qbets.in_python import ListedWaits, replay_in_python
from swftools.qbets.queue_state import (
    BOTH,
    EITHER,
    TOLD,
    TOO_FEW,
    TRAINING,
    UNAVAILABLE,
    Answers,
    QueueState,
    Rules,
    Submissions,
    compiled_replay,
    no_answers,
)
from swftools.qbets.resumed import Known, nothing_known
from swftools.simulator.aside import run_aside
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace

REASONS = {TRAINING: "training", TOO_FEW: "too-few-waits", UNAVAILABLE: "unavailable"}
"""Why a job is told nothing."""

GROUPS = {"queue": "queue_id", "partition": "partition_id", "user": "user_id", "group": "group_id"}
"""What jobs may be grouped by, and the column it stands in; any column by its own name too."""

EXPLANATORY = ("requested_time", "requested_processors", "requested_work")

AT_ONCE = 20_000
"""Jobs between two calls of ``progress``."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ReplayParameters(Parameters):
    """How waits are predicted.

    Parameters
    ----------
    quantile, confidence : float
        Of the waits, which is bounded, and of the bound; those that the method has.
    trimming : bool
        Forget waits from before a change.
    rare_events : {"reference", "computed"}
        How many misses in a row tell a change.
    clustering : bool
        Predict by clusters of jobs.
    explanatory : {"requested_time", "requested_processors", "requested_work"}
        What jobs are clustered by; where it is missing, it is less than all others. Allocated processors are taken
        where requested ones are missing.
    cluster_every : int
        Jobs of a queue between two clusterings.
    most_clusters : int
        Of a queue.
    availability : bool
        Tell nothing where nothing seems to start.
    unavailable_if : {"either", "both"}
        Too many jobs came since one started or it is too long ago; or both.
    availability_quantile : float
        Of both, which is bounded with a confidence of .95.
    training : int
        Jobs of a queue that start before anyone is told anything.
    """

    NAME: ClassVar[str] = "qbets"
    quantile: float = number(0.95)
    confidence: float = number(0.95)
    trimming: bool = truth(True)
    rare_events: str = choice("reference", "computed")
    clustering: bool = truth(True)
    explanatory: str = choice(*EXPLANATORY)
    cluster_every: int = whole(1000, least=1)
    most_clusters: int = whole(5, least=1, most=100)
    availability: bool = truth(True)
    unavailable_if: str = choice("either", "both")
    availability_quantile: float = number(0.95)
    training: int = whole(1000, least=0, most=LARGEST_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("quantile", "confidence", "availability_quantile"):
            check_fraction(name, getattr(self, name))


class WaitPredictor:
    """Predictions of waits of the jobs of a log, and of the logs that go on from it.

    Parameters
    ----------
    method : str, Bound or object
        Name of a bound, as ``binomial`` or ``lognormal``; a Bound; or any object with ``fit``, ``update`` and
        ``predict`` as bounds have them, of which each cluster gets a copy.
    by : str, sequence of str or None
        What jobs are grouped by: queue, partition, user, group, columns of the trace; None: all are one group.
    **parameters
        Of ``ReplayParameters``.

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
    [[5.0, nan, 'training'], [5.0, 5.0, None]]
    """

    def __init__(self, method: Any = "binomial", by: str | Sequence[str] | None = "queue", **parameters: Any) -> None:
        self.parameters = ReplayParameters.from_mapping(parameters)
        chosen = {"quantile": self.parameters.quantile, "confidence": self.parameters.confidence}
        is_object = not isinstance(method, (str, Bound))
        if is_object and not all(callable(getattr(method, name, None)) for name in ("fit", "update", "predict")):
            raise ParameterError(f"method={method!r} is neither a bound nor an object with fit, update and predict")
        self.method = method if is_object else find_bound(method, **chosen)
        self.bound: Bound = self.method if isinstance(self.method, Bound) else ListedWaits()
        if getattr(self.method, "side", UPPER) != UPPER:
            raise ParameterError(f"method {self.method!r}: jobs are told upper bounds; leave side= out")
        self.by = (by,) if isinstance(by, str) else tuple(by or ())
        self.known: dict[str, Known] = {}
        self.start: int | None = None

    def replay(self, log: Trace | Schedule, progress: Progress | None = None) -> pd.DataFrame:
        """Submit the jobs of a log, and return what each is told.

        Parameters
        ----------
        log : Trace or Schedule
            Jobs with their waits: those of the log, or of a simulation. Jobs without a run time never started.
        progress : callable, optional
            Called with the numbers of jobs so far and of all jobs.

        Returns
        -------
        pandas.DataFrame
            A row a job, in the order of the log; see ``PREDICTIONS`` in ``swftools.fields.predictions``.

        Raises
        ------
        ParameterError
            The log has no waits; or it begins before the end of the one before.
        """
        jobs = log.jobs
        table, labels = _keys(jobs), _labels(jobs, self.by)
        columns = _submissions(jobs, self.parameters.explanatory)
        self._count_from_one_start(log, columns.submit, columns.start)
        order = np.lexsort((table["job_occurrence"], table["job_number"], columns.submit))
        told = no_answers(len(jobs))
        done = 0
        for label in sorted(set(labels)):
            rows = order[labels[order] == label]
            part = Submissions(*(column[rows] for column in columns))
            answers = self._replay_group(label, part, partial(_tell, progress, done, len(jobs)))
            done += len(rows)
            for whole_column, column in zip(told, answers, strict=True):
                whole_column[rows] = column
        return _table(table.assign(queue=labels), columns, told)

    def _count_from_one_start(self, log: Trace | Schedule, *times: FloatArray) -> None:
        """Count the seconds of a log that goes on from another from the start of that; refuse one that goes back."""
        start = log.header.unix_start_time if isinstance(log, Trace) else None
        if self.start is None:
            self.start = start
        elif start is not None:
            for column in times:
                np.add(column, start - self.start, out=column)
        last = max((known.last for known in self.known.values()), default=-np.inf)
        first = times[0].min(initial=np.inf)
        if first < last:
            raise ParameterError(
                f"the log begins at {first:g} s, before the last submission that is known, at {last:g} s: logs are "
                "replayed in order of time; begin with a new WaitPredictor"
            )

    def _replay_group(self, label: str, jobs: Submissions, tell: Callable[[int], None]) -> Answers:
        """Submit the jobs of one group, and return what they are told; tell how many so far."""
        known = self.known.get(label) or nothing_known()
        carried, clusters = (
            len(known.waiting.submit),
            self.parameters.most_clusters if self.parameters.clustering else 1,
        )
        room = known.size + carried + len(jobs.submit)
        rules = self._rules(room)
        queue = known.with_room(
            self.bound, room, clusters, clusters_at_all=rules.every > 0, infers=rules.availability > 0
        )
        all_jobs = Submissions(*(np.concatenate(pair) for pair in zip(known.waiting, jobs, strict=True)))
        answers = no_answers(len(all_jobs.submit))
        answers.bound[:carried] = known.told
        copies: dict[int, Any] = {}
        for first in range(carried, len(all_jobs.submit), AT_ONCE):
            behind = min(first + AT_ONCE, len(all_jobs.submit))
            if self.method is self.bound:
                _run(queue, rules, all_jobs, first, behind, answers, self.bound)
            else:
                replay_in_python(queue, rules, all_jobs, first, behind, answers, self.method, copies)
            tell(behind - carried)
        self.known[label] = Known.after(queue, all_jobs, answers)
        return Answers._make(column[carried:] for column in answers)

    def _rules(self, jobs: int) -> Rules:
        """Return how a queue of so many jobs is replayed."""
        chosen = self.parameters
        least = least_waits(chosen.quantile, chosen.confidence)
        table: RareEvents = rare_events(chosen.rare_events)
        infers = {"either": EITHER, "both": BOTH}[chosen.unavailable_if] if chosen.availability else 0
        series = BinomialBound(chosen.availability_quantile)
        return Rules(
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
    """Return what each job of a log would have been told of its wait; see ``WaitPredictor``, which can go on.

    Examples
    --------
    >>> from swftools import Trace
    >>> log = Trace.from_columns(job_number=range(200), submit_time=range(0, 2000, 10), wait_time=[5] * 200,
    ...     run_time=[60] * 200, requested_time=[100] * 200)
    >>> replay(log, "lognormal", by=None, training=100)["wait_bound"].tail(1).item()
    5.0
    """
    return WaitPredictor(method, by, **parameters).replay(log, progress)


def _run(
    queue: QueueState, rules: Rules, jobs: Submissions, first: int, behind: int, answers: Answers, bound: Bound
) -> None:
    """Submit some jobs, compiled, and where no interrupt can lose itself."""
    kind, series = type(bound), BinomialBound
    called = kind.compiled_add(), kind.compiled_bound(), series.compiled_add()
    run_aside(
        lambda: compiled_replay()(queue, rules, jobs, first, behind, answers, *called),
        _nothing,
        pauses=False,
        leave=_nothing,
    )


def _tell(progress: Progress | None, before: int, jobs: int, count: int) -> None:
    """Tell how many jobs are done."""
    if progress:
        progress(before + count, jobs)


def _nothing() -> None:
    """Do nothing: so many jobs take moments."""


def _keys(jobs: pd.DataFrame) -> pd.DataFrame:
    """Return the keys of jobs."""
    occurrence = jobs["job_occurrence"] if "job_occurrence" in jobs else np.zeros(len(jobs), np.int64)
    return pd.DataFrame({"job_number": jobs["job_number"], "job_occurrence": occurrence}).reset_index(drop=True)


def _labels(jobs: pd.DataFrame, by: tuple[str, ...]) -> Any:
    """Return the group of each job, in words."""
    if not by:
        return np.full(len(jobs), "all", dtype=object)
    parts = []
    for name in by:
        column = GROUPS.get(name, name)
        if column not in jobs:
            raise ParameterError(f"by={name!r}: the log has no column {column!r}; there are: {', '.join(jobs.columns)}")
        text = jobs[column].astype("string").fillna("unknown")
        parts.append(text.to_numpy(dtype=object))
    return parts[0] if len(parts) == 1 else np.array(["/".join(words) for words in zip(*parts, strict=True)], object)


def _submissions(jobs: pd.DataFrame, explanatory: str) -> Submissions:
    """Return jobs as they are submitted."""
    submit, wait = _column(jobs, "submit_time"), _column(jobs, "wait_time")
    if np.isnan(submit).any():
        raise ParameterError(f"{np.isnan(submit).sum()} jobs have no submit_time: clean the log")
    started = wait >= 0
    if "is_never_started" in jobs:
        started &= ~jobs["is_never_started"].fillna(False).to_numpy(dtype=bool)
    elif "run_time" in jobs:
        started &= ~np.isnan(_column(jobs, "run_time"))
    if len(jobs) and not started.any():
        raise ParameterError(
            "the log does not say how long its jobs waited; simulate it: replay(simulate(trace, 'easy'))"
        )
    wait = np.where(started, wait, np.nan)
    time, width = (_column(jobs, f"requested_{name}") for name in ("time", "processors"))
    width = np.where(width > 0, width, _column(jobs, "allocated_processors"))
    x = {"requested_time": time, "requested_processors": width, "requested_work": time * width}[explanatory]
    return Submissions(submit, submit + wait, wait, np.where(x >= 0, x, -1.0))


def _column(jobs: pd.DataFrame, name: str) -> FloatArray:
    """Return a column as numbers of its own; NaN where it, or a value, is missing."""
    if name not in jobs:
        return np.full(len(jobs), np.nan)
    return jobs[name].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)


def _table(keys: pd.DataFrame, jobs: Submissions, answers: Answers) -> pd.DataFrame:
    """Return what jobs are told, as users read it."""
    is_told = answers.reason == TOLD
    reason = pd.Series(answers.reason).map(REASONS)
    return keys.assign(
        submit_time=jobs.submit,
        wait_time=jobs.wait,
        wait_bound=np.where(is_told, answers.bound, np.nan),
        withheld_bound=np.where(is_told, np.nan, answers.bound),
        no_prediction=reason.astype("object").where(~is_told, None),
        cluster=answers.cluster,
        history_length=answers.kept,
        is_trimmed=answers.kept < answers.known,
    )
