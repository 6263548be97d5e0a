# SPDX-License-Identifier: BSD-3-Clause
"""What a saved state predicts for the wait of a job that is submitted now. No log is needed.

Now is behind all that the state knows: the jobs that still waited at the last submission have started, as far as the
log says that they did. The state itself stays as it is.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from swftools.errors import ParameterError
from swftools.output.amounts import counted, duration, percent
from swftools.output.shown_html import ShowsItself
from swftools.parameters import is_number, is_whole
from swftools.qbets.change_points import rare_events
from swftools.qbets.live_methods import LiveCluster, ToldBound, ToldDeadline
from swftools.qbets.live_state import (
    check_state,
    date_of,
    explanatory_of,
    known_of,
    label_of,
    method_of,
    start_until,
    starts_of,
)
from swftools.qbets.order_statistics import needed_waits
from swftools.qbets.saved_state import SavedState, read_state

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class WaitAnswer(ShowsItself):
    """The predicted wait of a job; prints as three lines.

    Parameters
    ----------
    method : str
        As it was given to the predictor.
    by : tuple of str
        What jobs are grouped by; empty if all are one group.
    group : str
        The group of the job: its queue, if jobs are grouped by queue.
    no_prediction : str or None
        Why there is no prediction, as in tables of predictions: training, too-few-waits, unavailable. ``bounds`` and
        ``deadline`` then hold what it would have been.
    bounds : tuple of ToldBound
        The bounds, by quantile.
    deadline : ToldDeadline or None
        The answer about the deadline, if one was given.
    waits : int
        Number of waits behind the bounds.
    known_waits : int
        Number of waits that became known in its cluster; more than ``waits`` after a change point.
    group_waits : int
        Number of waits that became known in its group.
    training : int
        Number of waits of its group that must be known before anything is predicted.
    since, until : float or None
        When the first of ``waits`` became known, and the last known submission or start in the group, s.
    since_utc, until_utc : str or None
        The same as dates, if the log says when it began.
    explanatory : str
        What jobs are clustered by.
    value : float or None
        The job's value of that; None if it was not needed.
    cluster, clusters : int
        Number of its cluster, counted from 0, and how many there are.
    above, up_to : float or None
        The range of values of that cluster; None: no limit.
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
        """Whether there is a prediction: at least one bound, and an answer about the deadline if one was given."""
        some = any(told.seconds is not None for told in self.bounds)
        return self.no_prediction is None and some and (self.deadline is None or self.deadline.share > 0.0)

    def to_mapping(self) -> dict[str, Any]:
        """Return all of it in types that JSON holds."""
        return {"is_answered": self.is_answered, **asdict(self)}

    def _lines(self) -> list[str]:
        told = [
            f"{percent(bound.quantile, 1)} of jobs wait {duration(bound.seconds)} at most"
            for bound in self.bounds
            if bound.seconds is not None
        ]
        if self.deadline is not None:
            told.append(f"{percent(self.deadline.share, 1)} start within {duration(self.deadline.seconds)}")
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
        Group of the job, as in the column ``queue`` of predictions: ``3`` or ``3/17``; or a value for each name in the
        predictor's ``by``. Names stand for numbers if the state has them, as it does if the log had: ``batch``. You can
        leave it out if there is only one group.
    processors : int, optional
        Requested processors.
    requested_time : float, optional
        Requested time, s. These two are needed only if jobs are clustered by them.
    quantiles : sequence of float, optional
        Between 0 and 1, both excluded. They use the waits that are kept for the predictor's own quantile.
    deadline : float, optional
        Also say which share of such jobs starts within this time, s.
    now : float, optional
        Time of submission, in seconds of the log; by default after all known starts.
    method : object, optional
        The bound, if it is an object of your own, which files do not hold.

    Raises
    ------
    StateError
        There is no such file, it is damaged, or it is something else.
    ParameterError
        There is no such group; a value is missing or outside its domain; or the state is of a rival, which can predict
        only for jobs that are in the log.
    """
    saved = state if isinstance(state, SavedState) else read_state(state)
    chosen = saved.about["parameters"]
    _check_job(processors, requested_time, deadline, quantiles or ())
    check_state(saved, method)
    label = label_of(saved, group)
    known = known_of(saved, label)
    clusters = len(known.history.end)
    value = explanatory_of(saved, chosen["explanatory"], processors, requested_time, is_needed=clusters > 1)
    time = math.inf if now is None else _checked_time(now, known.last)
    least = needed_waits(chosen["quantile"], chosen["confidence"]) if chosen["trimming"] else 0
    cluster = LiveCluster(known.history, -1.0 if value is None else value, least, rare_events(chosen["rare_events"]))
    started = start_until(known, cluster, time)
    asks = method_of(saved, known, cluster, method)
    bounds = asks.bounds(quantiles)
    group_waits = int(known.history.size[0]) + started
    reason = None
    if group_waits < chosen["training"]:
        reason = "training"
    elif all(told.seconds is None for told in bounds):
        reason = "too-few-waits"
    elif known.is_down[0] and not started:
        reason = "unavailable"
    learnt = known.history.time.max(initial=-math.inf)  # behind the last submission where a machine is followed
    until = max(known.last, learnt, float(starts_of(known).max(initial=-math.inf, where=starts_of(known) <= time)))
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
        date_of(saved, cluster.first_time),
        date_of(saved, until),
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


def _checked_time(now: object, last: float) -> float:
    """Return when a job is submitted."""
    if not is_number(now) or float(now) < last:  # type: ignore[arg-type]
        raise ParameterError(f"now={now!r} is not a number of seconds from the last submission, {last:g} s, on")
    return float(now)  # type: ignore[arg-type]


def _finite(number: float) -> float | None:
    """Return a number; None for one that is not finite."""
    return float(number) if math.isfinite(number) else None
