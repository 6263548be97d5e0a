# SPDX-License-Identifier: BSD-3-Clause
"""A simulation with reservations by one call, and what it measures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from swftools.keyed_random import count_occurrences
from swftools.output.amounts import counted, percent
from swftools.output.shown_html import ShowsItself
from swftools.qbets.predictor import WaitPredictor
from swftools.reservations.varq import VarqRun
from swftools.reservations.varq_parameters import VarqParameters
from swftools.simulator.schedule import WAITS_ON_PROCESSORS, Schedule
from swftools.simulator.simulation import Progress
from swftools.trace import Trace

KEYS = ["job_number", "job_occurrence"]

MEASURES = {
    "asked": "jobs that asked",
    "accepted": "jobs that were accepted",
    "met": "share of these that ran by their time",
    "predicted": "mean probability that they were promised",
    "predicted_at_submission": "mean probability at their submission",
    "needed_hours": "processor-hours that they need",
    "paid_hours": "processor-hours that are paid",
    "paid_over_needed": "paid / needed",
    "others": "jobs without a reservation",
    "others_mean_wait": "their mean wait, s",
    "others_mean_wait_plain": "mean wait of the same jobs where nobody reserves, s",
    "useful_utilization": "utilization by what jobs need",
    "makespan": "makespan, s",
    "makespan_plain": "makespan where nobody reserves, s",
}
"""What is measured, in words."""


@dataclass(frozen=True, repr=False)
class ReservedSchedule(ShowsItself):
    """A schedule in which jobs had reservations.

    Parameters
    ----------
    schedule : Schedule
        Of all jobs. Who was held back has the submission of its own; run times have in them what was waited on
        processors.
    reservations : pandas.DataFrame
        A row for each job that asked for one: its key and ``group``; ``ask_time``, when the log submits it, and
        ``start_by``, when it is to run, s; the ``target``; ``is_accepted`` and ``why_denied``; the ``probability`` that
        it was promised and the ``planned_submit_time``, s; the ``probability_at_submission``, the ``submit_time`` (s)
        and the ``requested_time`` (s) then; ``processors``; ``start_time``, s; ``is_met``, whether it ran by then;
        its own ``run_time`` and, beyond that, its ``surplus_time``, s. Missing where it was denied.
    trace : Trace
        The jobs as they were submitted, of which the schedule is: ``validate(schedule, trace=trace)``.
    varq : VarqParameters
        Who asked for what.
    """

    schedule: Schedule
    reservations: pd.DataFrame
    trace: Trace
    varq: VarqParameters

    def measures(self, plain: Schedule | None = None) -> dict[str, float]:
        """Return what came of it.

        Parameters
        ----------
        plain : Schedule, optional
            Of the same jobs without reservations, to compare the others with.

        Returns
        -------
        dict
            ``asked``, ``accepted`` jobs, and ``met``, the share of these that ran by their time; ``predicted``, the
            mean probability that they were promised, and ``predicted_at_submission``; ``needed_hours`` and
            ``paid_hours``, processor-hours of accepted jobs without and with what they waited on processors, and
            ``paid_over_needed``; of the jobs without a reservation ``others``, their ``others_mean_wait`` (s); that of
            the same jobs in the plain schedule is ``others_mean_wait_plain``; ``useful_utilization``, by what jobs
            need; ``makespan`` (s) and ``makespan_plain``. NaN where there are none.
        """
        asked = self.reservations
        taken = asked[asked["is_accepted"]]
        needed = (taken["processors"] * taken["run_time"]).sum() / 3600
        paid = needed + (taken["processors"] * taken["surplus_time"]).sum() / 3600
        jobs, surplus = self.schedule.jobs, float((taken["processors"] * taken["surplus_time"]).sum())
        others = _without(jobs, taken)
        makespan = _makespan(jobs)
        used = float((jobs["allocated_processors"].astype("float64") * jobs["run_time"]).sum())
        found = {
            "asked": float(len(asked)),
            "accepted": float(len(taken)),
            "met": _mean(taken["is_met"]),
            "predicted": _mean(taken["probability"]),
            "predicted_at_submission": _mean(taken["probability_at_submission"]),
            "needed_hours": float(needed),
            "paid_hours": float(paid),
            "paid_over_needed": float(paid / needed) if needed else np.nan,
            "others": float(len(others)),
            "others_mean_wait": _mean(others["wait_time"]),
            "useful_utilization": (used - surplus) / (self.schedule.processors * makespan) if makespan else np.nan,
            "makespan": makespan,
        }
        if plain is not None:
            found["others_mean_wait_plain"] = _mean(_without(plain.jobs, taken)["wait_time"])
            found["makespan_plain"] = _makespan(plain.jobs)
        return found

    def calibration(self, step: float = 0.05) -> pd.DataFrame:
        """Return how often accepted reservations were met, by what they were promised at their submission.

        Parameters
        ----------
        step : float
            Promises are put together that round to one multiple of it.

        Returns
        -------
        pandas.DataFrame
            A row a promise: ``quantile``, the mean promised; ``predicted``, the jobs; ``correctness``, the share that
            ran by their time; and ``method``, ``grouped_by``, ``group``, of which ``reliability`` is a picture.
        """
        return calibration_of(self.reservations, step)

    def _lines(self) -> list[str]:
        found = self.measures()
        what = f"ReservedSchedule: {counted(int(found['asked']), 'job')} asked, {found['accepted']:,.0f} accepted"
        if not found["accepted"]:
            return [what]
        met = f"{percent(found['met'], 1)} of them ran by their time, {percent(found['predicted'], 1)} were promised"
        return [what, met, f"paid {found['paid_over_needed']:.2f} times what they needed"]

    def _rows(self) -> tuple[pd.DataFrame, int]:
        return self.reservations.head(5), len(self.reservations)


def calibration_of(reservations: pd.DataFrame, step: float = 0.05) -> pd.DataFrame:
    """Return how often accepted reservations of a table were met, by promise; see ``ReservedSchedule.calibration``."""
    taken = reservations[reservations["is_accepted"] & reservations["is_met"].notna()]
    promised = taken["probability_at_submission"].to_numpy(dtype=np.float64)
    table = pd.DataFrame({"promised": promised, "met": taken["is_met"].to_numpy(dtype=np.float64)})
    by = table.groupby(np.round(promised / step).astype(np.int64))
    found = by.agg(quantile=("promised", "mean"), predicted=("promised", "size"), correctness=("met", "mean"))
    return found.reset_index(drop=True).assign(method="varq", grouped_by="all", group="all")


def simulate_reservations(
    trace: Trace,
    policy: str = "easy",
    processors: int | None = None,
    *,
    waits: WaitPredictor | str = "binomial",
    by: str | None = "queue",
    seed: int = 0,
    progress: Progress | None = None,
    options: dict[str, Any] | None = None,
    **varq: Any,
) -> ReservedSchedule:
    """Replay a trace under a policy, with a share of its jobs reserved by VARQ, and the predictor of waits in the loop.

    Parameters
    ----------
    trace, policy, processors
        As ``simulate`` takes them.
    waits : WaitPredictor or str
        How waits are bounded: the name of a bound, or a predictor, of which the parameters are taken and nothing of
        what it has learnt.
    by : str, optional
        What waits are grouped by, where ``waits`` is a name; None: all are one group.
    seed : int
        Who asks, and of the simulation.
    progress : callable, optional
        As ``simulate`` takes it.
    options : mapping, optional
        Others of ``simulate``, and parameters of the policy, but ``predictor``.
    **varq
        Of ``VarqParameters``: ``share`` of the jobs that ask, ``probability``, ``every``, ``ahead``, ``step``,
        ``replans``, ``adapt``.

    Returns
    -------
    ReservedSchedule
        With ``share=0`` its schedule is that of ``simulate``.

    Raises
    ------
    ParameterError
        As ``VarqRun`` and ``simulate`` say.

    Examples
    --------
    >>> from swftools import Trace
    >>> log = Trace.from_columns(machine_processors=4, job_number=range(300), submit_time=range(0, 30_000, 100),
    ...     run_time=[90] * 300, requested_time=[90] * 300, requested_processors=[4] * 300)
    >>> found = simulate_reservations(log, "fcfs", waits=WaitPredictor("binomial", by=None, training=60),
    ...     share=0.1, probability=0.5, ahead=3600)
    >>> len(found.reservations), found.measures()["accepted"], found.reservations["why_denied"].dropna().unique()[0]
    (35, 32.0, 'training')
    """
    predictor = waits if isinstance(waits, WaitPredictor) else WaitPredictor(waits, by=by)
    chosen = VarqParameters.from_mapping(varq)
    run = VarqRun(trace, policy, processors, chosen, predictor, seed, **(options or {}))
    run.run(progress)
    return reserved_schedule(run)


def reserved_schedule(run: VarqRun) -> ReservedSchedule:
    """Return what came of a run that is over."""
    schedule, trace = as_submitted(run)
    return ReservedSchedule(schedule, run.table(), trace, run.varq)


def as_submitted(run: VarqRun) -> tuple[Schedule, Trace]:
    """Return the schedule of a run that is over, and its jobs, with submissions, requests and runs as they came to be.

    The engine numbers jobs by the log's submissions; here the table says what was requested, and who went ahead of
    whom, by the submissions as they were.
    """
    simulation = run.stepper._simulation
    requests, coming = simulation._replay.requests, simulation._driver.coming
    jobs = simulation.trace.jobs.copy()
    columns = {"submit_time": requests.submit_time, "requested_time": requests.limit, "run_time": coming.run_time}
    for name, values in columns.items():
        column = jobs[name].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
        column[run.row] = values
        jobs[name] = column
    schedule, trace = run.stepper.schedule(), simulation.trace.with_jobs(jobs)
    if not run.is_reserved.any():
        return schedule, trace
    table, row = schedule.jobs, run.row[run.has_asked]
    asked = (
        simulation.trace.jobs[["job_number"]]
        .iloc[row]
        .assign(
            job_occurrence=np.asarray(count_occurrences(simulation.trace.jobs), np.int64)[row],
            requested_time=requests.limit[run.has_asked],
        )
    )
    own = table[KEYS].merge(asked, on=KEYS, how="left")["requested_time"]
    logged = table["requested_time"].to_numpy(dtype=np.float64, na_value=np.nan)
    requested = np.where(own.isna(), logged, own.to_numpy(dtype=np.float64))
    table["requested_time"] = pd.Series(requested, index=table.index).astype(table["requested_time"].dtype)
    order = np.lexsort((table["job_occurrence"], table["job_number"], table["submit_time"]))
    begin = table["start_time"].to_numpy(dtype=np.float64)[order]
    is_ahead = np.empty(len(table), np.bool_)
    is_ahead[order] = begin < np.maximum.accumulate(begin)
    table["is_backfilled"] = is_ahead
    if (schedule.segments["ended_by"] != "completed").any():
        schedule = replace(schedule, options={**schedule.options, WAITS_ON_PROCESSORS: True})
    return schedule, trace


def _without(jobs: pd.DataFrame, taken: pd.DataFrame) -> pd.DataFrame:
    """Return the jobs that have no reservation."""
    if taken.empty:
        return jobs
    mine = pd.MultiIndex.from_frame(taken[KEYS].astype("int64"))
    return jobs[~pd.MultiIndex.from_frame(jobs[KEYS].astype("int64")).isin(mine)]


def _mean(column: pd.Series) -> float:
    """Return the mean of a column; NaN of none."""
    known = column.dropna().to_numpy(dtype=np.float64)
    return float(known.mean()) if len(known) else float("nan")


def _makespan(jobs: pd.DataFrame) -> float:
    """Return the time from the first submission to the last end, s."""
    return float(jobs["end_time"].max() - jobs["submit_time"].min()) if len(jobs) else 0.0
