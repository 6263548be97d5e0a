"""What a job that is submitted now would be told of its wait, by a saved state, without a log.

Now is behind all that the state knows: the jobs that still waited at the last submission have started, as far as the
log says that they did. The state itself stays as it is.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.output.shown_html import ShowsItself, counted, lasting, percent
from swftools.parameters import did_you_mean, is_number, is_whole
from swftools.parameters.as_text import read_entry
from swftools.qbets.asked_cluster import AskedCluster, kept_waits
from swftools.qbets.asked_method import (
    FIRST_WAIT,
    AskedBinomial,
    AskedBound,
    AskedMethod,
    AskedObject,
    ToldBound,
    ToldDeadline,
)
from swftools.qbets.change_points import rare_events
from swftools.qbets.known_queue import KnownQueue, nothing_known
from swftools.qbets.order_statistics import needed_waits
from swftools.qbets.saved_state import SavedState, read_state

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 20
"""Groups that a message lists."""

EVERYBODY = "all"
"""What the one group of all jobs is called."""

OPTIONS = {
    "requested_time": ("requested_time",),
    "requested_processors": ("processors",),
    "requested_work": ("requested_time", "processors"),
}
"""What must be said of a job to know its explanatory variable."""


@dataclass(frozen=True, repr=False)
class WaitAnswer(ShowsItself):
    """The predicted wait of a job; prints as three lines.

    Parameters
    ----------
    method : str
        As it was given to the predictor.
    by : tuple of str
        What jobs are grouped by; nothing where all are one group.
    group : str
        Of the job, in words: its queue, where jobs are grouped by queue.
    no_prediction : str or None
        Why it would be told nothing, as in tables of predictions: training, too-few-waits, unavailable. What stands in
        ``bounds`` and ``deadline`` is then what it would have been told.
    bounds : tuple of ToldBound
        By quantile.
    deadline : ToldDeadline or None
        If one was asked for.
    waits : int
        That bounds are made of.
    known_waits : int
        That became known of jobs of its cluster; more than ``waits`` where waits have changed.
    group_waits : int
        That became known of its group.
    training : int
        Waits of its group that must be known before anyone is told anything.
    since, until : float or None
        When the first of ``waits`` became known, and when the last job of the group came or started that is known, s.
    since_utc, until_utc : str or None
        The same as dates, where the log said when it began.
    explanatory : str
        What jobs are clustered by.
    value : float or None
        Of the job; None where it was not asked for.
    cluster, clusters : int
        Number of its cluster, from 0 on, and how many there are.
    above, up_to : float or None
        Which values belong to it; None where it has no such end.
    """

    method: str
    by: tuple[str, ...]
    group: str
    no_prediction: str | None
    bounds: tuple[ToldBound, ...]
    deadline: ToldDeadline | None
    waits: int
    known_waits: int
    group_waits: int
    training: int
    since: float | None
    until: float | None
    since_utc: str | None
    until_utc: str | None
    explanatory: str
    value: float | None
    cluster: int
    clusters: int
    above: float | None
    up_to: float | None

    @property
    def is_answered(self) -> bool:
        """Whether the job is told anything: some bound, and about the deadline if one was asked for."""
        some = any(told.seconds is not None for told in self.bounds)
        return self.no_prediction is None and some and (self.deadline is None or self.deadline.share > 0.0)

    def to_mapping(self) -> dict[str, Any]:
        """Return all of it as JSON can say it."""
        return {"is_answered": self.is_answered, **asdict(self)}

    def _lines(self) -> list[str]:
        told = [
            f"{percent(bound.quantile, 1)} of jobs wait {lasting(bound.seconds)} at most"
            for bound in self.bounds
            if bound.seconds is not None
        ]
        if self.deadline is not None:
            told.append(f"{percent(self.deadline.share, 1)} start within {lasting(self.deadline.seconds)}")
        waits = f"made of {counted(self.waits, 'wait')} of {self.group_waits:,} known in the group"
        return [
            f"WaitAnswer: {self.method}, {'group ' if self.by else ''}{self.group}",
            ", ".join(told) or "no bound",
            f"no prediction: {self.no_prediction}, {waits}" if self.no_prediction else waits,
        ]

    def _rows(self) -> tuple[pd.DataFrame, int]:
        import pandas as pd  # noqa: PLC0415 (an answer takes a moment without)

        table = pd.DataFrame([asdict(bound) for bound in self.bounds])
        return table, len(table)


def predict_wait(
    state: str | os.PathLike[str] | SavedState,
    *,
    group: str | Mapping[str, object] | None = None,
    processors: int | None = None,
    requested_time: float | None = None,
    quantiles: Sequence[float] | None = None,
    deadline: float | None = None,
    now: float | None = None,
    method: Any = None,
) -> WaitAnswer:
    """Predict the wait of a job that is submitted now, after everything that a saved state knows.

    Parameters
    ----------
    state : str, path or SavedState
        What ``WaitPredictor.save`` wrote, or ``read_state`` read.
    group : str or mapping, optional
        Of the job: as the column ``queue`` of predictions has it, ``3`` or ``3/17``, or a value for each name in the
        predictor's ``by``. It may be left out where there is one group only.
    processors : int, optional
        Requested.
    requested_time : float, optional
        In s. Both are needed only where jobs are clustered by them.
    quantiles : sequence of float, optional
        Between 0 and 1, both excluded. The waits are those kept for the predictor's own quantile.
    deadline : float, optional
        In s: also say which share of such jobs starts within so long.
    now : float, optional
        When it is submitted, as the log counts seconds; else behind all starts that are known.
    method : object, optional
        The bound, where it is an object of your own: files have none.

    Raises
    ------
    StateError
        There is no such file, or it is damaged or of something else.
    ParameterError
        There is no such group, something is missing or outside its domain, or the state is of a rival, which knows
        machines and not jobs that were never submitted.
    """
    saved = state if isinstance(state, SavedState) else read_state(state)
    chosen = saved.about["parameters"]
    _check_job(processors, requested_time, deadline, quantiles or ())
    _check_state(saved, method)
    label = _label(saved, group)
    known: KnownQueue = saved.known(label, nothing_known())
    clusters = len(known.history.end)
    value = _explanatory(saved, chosen["explanatory"], processors, requested_time, is_needed=clusters > 1)
    time = math.inf if now is None else _checked_time(now, known.last)
    least = needed_waits(chosen["quantile"], chosen["confidence"]) if chosen["trimming"] else 0
    cluster = AskedCluster(known.history, -1.0 if value is None else value, least, rare_events(chosen["rare_events"]))
    started = _start_until(known, cluster, time)
    asks = _method_of(saved, known, cluster, method)
    bounds = asks.bounds(quantiles)
    group_waits = int(known.history.size[0]) + started
    reason = None
    if group_waits < chosen["training"]:
        reason = "training"
    elif all(told.seconds is None for told in bounds):
        reason = "too-few-waits"
    elif known.is_down[0] and not started:
        reason = "unavailable"
    until = max(known.last, float(_starts(known).max(initial=-math.inf, where=_starts(known) <= time)))
    above = known.history.end[cluster.place - 1] if cluster.place else -math.inf
    return WaitAnswer(
        saved.about["name"],
        tuple(saved.about["by"]),
        label,
        reason,
        bounds,
        None if deadline is None else asks.deadline(float(deadline)),
        cluster.kept,
        cluster.known,
        group_waits,
        chosen["training"],
        _finite(cluster.first_time),
        _finite(until),
        _date(saved, cluster.first_time),
        _date(saved, until),
        chosen["explanatory"],
        value,
        cluster.place,
        clusters,
        _finite(above),
        _finite(known.history.end[cluster.place]),
    )


def _check_job(processors: object, requested_time: object, deadline: object, quantiles: Sequence[object]) -> None:
    """Refuse values outside their domains."""
    if processors is not None and not is_whole(processors, 1):
        raise ParameterError(f"processors={processors!r} is not an integer from 1 on")
    for name, value in (("requested_time", requested_time), ("deadline", deadline)):
        if value is not None and not is_number(value, 0.0):
            raise ParameterError(f"{name}={value!r} is not a number of seconds, 0 or more")
    for quantile in quantiles:
        if not is_number(quantile) or not 0.0 < quantile < 1.0:  # type: ignore[operator]
            raise ParameterError(f"quantile={quantile!r} is not a number between 0 and 1, both excluded")


def _check_state(saved: SavedState, method: object) -> None:
    """Refuse a state of a rival, and one of somebody's own object without that."""
    about = saved.about
    if saved.is_of_rival:
        raise ParameterError(
            f"{saved.name} is of the rival {about['name']}, which needs to know the jobs that wait and run at a "
            "submission, so it cannot predict for a job that is in no log; replay the log with it, or use the state of "
            "a bound"
        )
    if about["method"] is None and method is None:
        raise ParameterError(
            f"{saved.name} was made with an object, {about['name']}, which is not in the file: in Python, pass "
            "method= to predict_wait"
        )
    if about["method"] is not None and method is not None:
        raise ParameterError(f"{saved.name} was saved with {about['method']}: leave method= out")


def _label(saved: SavedState, group: str | Mapping[str, object] | None) -> str:
    """Return the group that is meant, as the state calls it."""
    by = saved.about["by"]
    if isinstance(group, Mapping):
        more, missing = [name for name in group if name not in by], [name for name in by if name not in group]
        if more or missing:
            wrong = f"leave out {', '.join(more)}" if more else f"say {', '.join(missing)} too"
            raise ParameterError(
                f"{saved.name} has {f'groups by {_all(by)}' if by else 'all jobs in one group'}: {wrong}"
            )
        group = "/".join(str(group[name]) for name in by) if by else None
    if group is None and by and len(saved.labels) == 1:
        (group,) = saved.labels  # there is no other that could be meant
    if group is None:
        if by:
            raise ParameterError(
                f"{saved.name} has groups by {_all(by)}: say which; there are: {_listed(saved.labels)}"
            )
        group = EVERYBODY
    if group not in saved.labels:
        there_are = f"there are: {_listed(saved.labels)}" if saved.labels else "nothing was replayed"
        alike = did_you_mean([group], saved.labels)
        raise ParameterError(f"{saved.name} knows no {'/'.join(by) or 'group'} {group!r}; {there_are}{alike}")
    return group


def _all(by: Sequence[str]) -> str:
    """Return what jobs are grouped by, in words."""
    return " and ".join(by)


def _listed(labels: Sequence[str]) -> str:
    """Return groups in words, not too many."""
    more = len(labels) - SHOWN
    return ", ".join(labels[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _explanatory(
    saved: SavedState, name: str, processors: int | None, requested_time: float | None, *, is_needed: bool
) -> float | None:
    """Return the explanatory variable of a job; None if it is not known, and not needed."""
    given = {"processors": processors, "requested_time": requested_time}
    missing = [option for option in OPTIONS[name] if given[option] is None]
    if not missing:
        return math.prod(float(given[option] or 0.0) for option in OPTIONS[name])
    if is_needed:
        asked = " and ".join(f"{option} (--{option.replace('_', '-')})" for option in missing)
        raise ParameterError(f"{saved.name} tells jobs of that group apart by {name.replace('_', ' ')}: give {asked}")
    return None


def _checked_time(now: object, last: float) -> float:
    """Return when a job is submitted."""
    if not is_number(now) or float(now) < last:  # type: ignore[arg-type]
        raise ParameterError(f"now={now!r} is not a number of seconds from the last submission, {last:g} s, on")
    return float(now)  # type: ignore[arg-type]


def _starts(known: KnownQueue) -> FloatArray:
    """Return when the jobs start that wait, s."""
    return known.waiting.submit + known.waiting.wait


def _start_until(known: KnownQueue, cluster: AskedCluster, time: float) -> int:
    """Let the jobs start that do by a time, and a cluster learn the waits of its own; return how many start."""
    start = _starts(known)
    order = np.lexsort((np.arange(len(start)), start))
    started = order[start[order] <= time]
    for job in started.tolist():
        if cluster.cluster_of(known.waiting.x[job]) == cluster.place:
            cluster.learn(float(known.waiting.wait[job]), float(known.waiting.told[job]), float(start[job]))
    return len(started)


def _method_of(saved: SavedState, known: KnownQueue, cluster: AskedCluster, method: Any) -> AskedMethod:
    """Return the method of a state, with the waits that a cluster keeps."""
    begin = int(known.history.places[: cluster.place].sum())
    state = known.history.states[begin : begin + int(known.history.places[cluster.place])]
    quantile = saved.about["parameters"]["quantile"]
    if method is not None:
        kept = cluster.newest() if cluster.is_renewed else [*state[FIRST_WAIT:].tolist(), *cluster.new]
        return AskedObject(method, kept, quantile)
    name, given = read_entry(saved.about["method"])
    if name == "binomial":
        return AskedBinomial(kept_waits(cluster, state[FIRST_WAIT:]), given)
    return AskedBound(saved.about["method"], state, cluster, quantile)


def _finite(number: float) -> float | None:
    """Return a number; None for one that is not finite."""
    return float(number) if math.isfinite(number) else None


def _date(saved: SavedState, seconds: float) -> str | None:
    """Return a moment in words, if the log said when it began."""
    start = saved.about["start"]
    if start is None or not math.isfinite(seconds):
        return None
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=start + seconds)
    except OverflowError:
        return None
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
