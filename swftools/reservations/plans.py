# SPDX-License-Identifier: BSD-3-Clause
"""Reservations asked of a saved state: when to submit a job so that it runs at a time, what to request, what it costs.

References
----------
Nurmi 2009, section 5.2.1 (VARQ).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from swftools.errors import ParameterError
from swftools.output.amounts import duration, percent
from swftools.output.shown_html import ShowsItself
from swftools.parameters import is_number, is_whole
from swftools.qbets.saved_state import SavedState
from swftools.reservations.known_starts import KnownStarts, moment
from swftools.reservations.start_table import MOST, clusters_of, least_percent, percents_within
from swftools.reservations.trajectory import STEP, Trajectory, trajectory_of

if TYPE_CHECKING:
    import pandas as pd

NONE_MEETS_IT = "no-submission-meets-it"
"""Why a reservation is denied where waits are known."""


@dataclass(frozen=True)
class ReservedJob:
    """A job that is to run at a time.

    Parameters
    ----------
    requested_time : float
        For how long, s: what it would request if it were submitted to run at once.
    processors : int, optional
        That it requests; needed where jobs are told apart by them, and to say what a reservation costs.
    group : str or mapping, optional
        Its queue, or what else waits are known by, as ``predict_wait`` takes it.

    Raises
    ------
    ParameterError
        A value is outside its domain.
    """

    requested_time: float
    processors: int | None = None
    group: str | Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if not is_number(self.requested_time, 0.0) or not self.requested_time > 0.0:
            raise ParameterError(f"requested_time={self.requested_time!r} is not a number of seconds above 0")
        if self.processors is not None and not is_whole(self.processors, 1):
            raise ParameterError(f"processors={self.processors!r} is not an integer from 1 on")


@dataclass(frozen=True, repr=False)
class ReservationPlan(ShowsItself):
    """When to submit a job, or why no submission will do; prints as three lines.

    Parameters
    ----------
    why_denied : str or None
        None where it is accepted. Else ``no-submission-meets-it``, or why nothing can be told: training, too-few-waits,
        unavailable.
    target : float
        The probability that was asked for.
    now, start : float
        When it was asked, and when the job is to run, s as the log counts.
    submit_time : float or None
        When to submit it, s; None where it is denied, as the next four.
    wait : float or None
        From now until then, s.
    requested_time : float or None
        What to request then, s: the job's own time, and that from the submission until the start.
    probability : float or None
        That it has started by ``start``; no less than the target.
    most_surplus, expected_surplus : float or None
        Processor-seconds beyond the job's own: at most, if it starts at once; and on average, by the same bounds.
        None where nobody says how many processors it has.
    best_probability, best_submit_time, best_requested_time : float or None
        The best that can be had, and how; None where nothing can be told.
    needed : float or None
        Processor-seconds that the job requests for itself.
    processors : int or None
        Of the job.
    group, method : str
        Whose waits are known, and how they are bounded.
    group_waits, training : int
        Waits of the group that are known, and that must be.
    until : float or None
        When the last job of the group came or started that is known, s.
    submit_utc, start_utc, best_submit_utc, until_utc : str or None
        The same moments as dates, where the log said when it began.
    trajectory : Trajectory
        What it follows from.
    """

    why_denied: str | None
    target: float
    now: float
    start: float
    submit_time: float | None
    wait: float | None
    requested_time: float | None
    probability: float | None
    most_surplus: float | None
    expected_surplus: float | None
    best_probability: float | None
    best_submit_time: float | None
    best_requested_time: float | None
    needed: float | None
    processors: int | None
    group: str
    method: str
    group_waits: int
    training: int
    until: float | None
    submit_utc: str | None
    start_utc: str | None
    best_submit_utc: str | None
    until_utc: str | None
    trajectory: Trajectory = field(compare=False)

    @property
    def is_accepted(self) -> bool:
        """Whether some submission meets the target."""
        return self.why_denied is None

    def to_mapping(self) -> dict[str, Any]:
        """Return all of it but the trajectory as JSON can say it."""
        told = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "trajectory"}
        return {"is_accepted": self.is_accepted, **told}

    def _lines(self) -> list[str]:
        what = (
            f"ReservationPlan: {percent(self.target, 1)}, group {self.group}, {duration(self.start - self.now)} ahead"
        )
        if self.wait is not None and self.requested_time is not None and self.probability is not None:
            ask = f"submit in {duration(self.wait)}, request {duration(self.requested_time)}"
            return [what, ask, f"it runs by then with {percent(self.probability, 1)}"]
        best = "nothing" if self.best_probability is None else percent(self.best_probability, 1)
        return [what, f"denied: {self.why_denied}", f"the best that can be had: {best}"]

    def _rows(self) -> tuple[pd.DataFrame, int]:
        return self.trajectory._rows()


def probability_of_start(
    state: str | os.PathLike[str] | SavedState,
    job: ReservedJob,
    *,
    by: float,
    now: float | None = None,
    method: Any = None,
) -> float:
    """Return with which probability a job that is submitted now has started by a time.

    Parameters
    ----------
    state : str, path or SavedState
        What ``WaitPredictor.save`` wrote, or ``read_state`` read.
    job : ReservedJob
        It requests just its time.
    by : float
        The time, s as the log counts.
    now : float, optional
        When it is submitted, s; behind all that is known of its group by default.
    method : object, optional
        The bound, where it is an object of your own: files have none.

    Returns
    -------
    float
        .01 to .99 in steps of .01, the largest quantile whose bound is within the time; 0.0 where nothing can be told.

    Raises
    ------
    StateError
        There is no such file, or it is damaged or of something else.
    ParameterError
        The time is not behind now; or as ``predict_wait`` says.
    """
    known = KnownStarts(state, job.group, now, method)
    begin = _now(known, now)
    if not moment(by, "by") > begin:
        raise ParameterError(f"by={by:g} s is not behind now, {begin:g} s")
    if known.no_prediction:
        return 0.0
    x = known.explain(job.processors, np.array([job.requested_time]))
    return int(percents_within(known.table, x, [by - begin])[0]) / 100.0


def plan_reservation(
    state: str | os.PathLike[str] | SavedState,
    job: ReservedJob,
    start: float,
    probability: float,
    *,
    now: float | None = None,
    step: float = STEP,
    longest: float | None = None,
    method: Any = None,
) -> ReservationPlan:
    """Return the latest submission of a job by which it runs at a time with a probability, or why there is none.

    Parameters
    ----------
    state : str, path or SavedState
        What ``WaitPredictor.save`` wrote, or ``read_state`` read.
    job : ReservedJob
        The job.
    start : float
        When it is to run at the latest, s as the log counts; where it starts earlier it waits on its processors.
    probability : float
        Above 0, up to .99.
    now : float, optional
        When it may be submitted first, s; behind all that is known of its group by default.
    step : float
        Seconds between two times of submission.
    longest : float, optional
        The longest request that the queue takes, s.
    method : object, optional
        The bound, where it is an object of your own.

    Raises
    ------
    StateError
        There is no such file, or it is damaged or of something else.
    ParameterError
        A start that is not to come, a probability outside its domain, a job longer than the queue takes; or as
        ``predict_wait`` says.

    Notes
    -----
    The bounds are taken to stay as they are until the submission; ask again while waiting for it.

    References
    ----------
    Nurmi 2009, Figure 5.3, with its two slips mended (see ``swftools.reservations.trajectory``).
    """
    target = check_probability(probability)
    if not is_number(step, 0.0) or not step > 0.0:
        raise ParameterError(f"step={step!r} is not a number of seconds above 0")
    if longest is not None and not is_number(longest, 0.0):
        raise ParameterError(f"longest={longest!r} is not a number of seconds")
    if longest is not None and job.requested_time > longest:
        raise ParameterError(
            f"requested_time={job.requested_time:,.0f} s is longer than the queue takes, {longest:,.0f} s: shorten the "
            "job, or choose another queue"
        )
    known = KnownStarts(state, job.group, now, method)
    begin, end = _now(known, now), moment(start, "start")
    if not end > begin:
        raise ParameterError(f"start={end:g} s is in the past: now is {begin:g} s")
    trajectory = trajectory_of(
        known.table,
        lambda requested: known.explain(job.processors, requested),
        begin,
        end,
        job.requested_time,
        step=step,
        longest=math.inf if longest is None else longest,
    )
    return _plan(known, job, trajectory, begin, target)


def check_probability(probability: object) -> float:
    """Return a probability that can be asked for.

    Raises
    ------
    ParameterError
        It is not above 0 and up to .99.
    """
    if not is_number(probability) or not 0.0 < float(probability) < 1.0:  # type: ignore[arg-type]
        raise ParameterError(f"probability={probability!r} is not a number between 0 and 1, both excluded")
    if least_percent(float(probability)) > MOST:  # type: ignore[arg-type]
        raise ParameterError(f"probability={probability!r}: more than .99 cannot be promised; give less")
    return float(probability)  # type: ignore[arg-type]


def _now(known: KnownStarts, now: float | None) -> float:
    """Return when the job may be submitted first."""
    if now is not None:
        return moment(now, "now")
    if not math.isfinite(known.until):
        raise ParameterError(f"{known.saved.name} knows no job of {known.label}, and so no present: give now=")
    return known.until


def _plan(known: KnownStarts, job: ReservedJob, trajectory: Trajectory, now: float, target: float) -> ReservationPlan:
    """Return what follows from a trajectory."""
    taken = None if known.no_prediction else trajectory.latest(target)
    best = trajectory.best()
    why = known.no_prediction or (NONE_MEETS_IT if taken is None else None)
    submit, requested, probability = _at(trajectory, taken)
    best_submit, best_requested, best_probability = _at(trajectory, best)
    most = expected = None
    if submit is not None and job.processors is not None:
        lead = trajectory.start - submit
        most = job.processors * lead
        cluster = clusters_of(known.table, known.explain(job.processors, np.array([requested])))[0]
        early = np.maximum(lead - known.table.seconds[cluster], 0.0)
        expected = job.processors * float(early.sum()) / 100.0
    return ReservationPlan(
        why_denied=why,
        target=target,
        now=now,
        start=trajectory.start,
        submit_time=submit,
        wait=None if submit is None else submit - now,
        requested_time=requested,
        probability=probability,
        most_surplus=most,
        expected_surplus=expected,
        best_probability=best_probability,
        best_submit_time=best_submit,
        best_requested_time=best_requested,
        needed=None if job.processors is None else job.processors * job.requested_time,
        processors=job.processors,
        group=known.label,
        method=known.saved.about["name"],
        group_waits=known.group_waits,
        training=known.training,
        until=known.until if math.isfinite(known.until) else None,
        submit_utc=None if submit is None else known.date(submit),
        start_utc=known.date(trajectory.start),
        best_submit_utc=None if best_submit is None else known.date(best_submit),
        until_utc=known.date(known.until),
        trajectory=trajectory,
    )


def _at(trajectory: Trajectory, place: int | None) -> tuple[float | None, float | None, float | None]:
    """Return submission, request and probability at a place of a trajectory."""
    if place is None:
        return None, None, None
    columns = trajectory.submit_time, trajectory.requested_time, trajectory.probability
    submit, requested, probability = (float(column[place]) for column in columns)
    return submit, requested, probability
