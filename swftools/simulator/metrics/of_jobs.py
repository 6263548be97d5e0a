# SPDX-License-Identifier: BSD-3-Clause
"""What each job gets from a schedule: wait, turnaround, slowdowns, utility, and delays against another schedule.

``measure`` takes its statistics from here; use it directly to look at single jobs.

References
----------
Lee 2009, sections 1.4 (wait, expansion factor, bounded slowdown) and 2.2.3 (utility). Yuan et al. 2010, equations 1
and 3. Chiang and Vasupongayya 2008, section 4. Barsanti and Sodan 2006, section 5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.by_job import mask_of
from swftools.errors import ParameterError
from swftools.kernel.memory import give_back_memory
from swftools.models.speedup import run_time
from swftools.simulator.metrics.columns import FloatArray, IntArray, column_of, rows_of
from swftools.simulator.metrics.heads import heads_of, why_unknown
from swftools.simulator.metrics.of_runs import require_columns, spent_by_jobs
from swftools.simulator.metrics.parameters import OPTIMAL_RUN_TIME, MetricParameters
from swftools.simulator.schedule import Schedule
from swftools.tables import LONG
from swftools.utility.functions import UtilityFunctions

Where = npt.ArrayLike | str | Callable[[pd.DataFrame], npt.ArrayLike] | None
"""A choice of jobs: a mask, the name of a column that is one, a function from jobs to a mask, or None for all."""

SHORTEST = 1e-9
"""Times up to this many seconds count as 0 where a ratio divides by them, so that ratios stay finite."""


PART = 1 << 17
"""Jobs whose utility functions are looked at at once."""


def measure_jobs(
    schedule: Schedule,
    *,
    bound: float = 10.0,
    slowdown: str = "turnaround",
    nominal: str = "run_time",
    utility_clock: str = "turnaround",
) -> pd.DataFrame:
    """Return the measures of each job of a schedule.

    Parameters
    ----------
    schedule : Schedule
        As simulated; its column ``utility`` is used if there.
    bound, slowdown, nominal, utility_clock
        As in ``MetricParameters``.

    Returns
    -------
    pandas.DataFrame
        One row for each job, with the index of ``schedule.jobs``, all float64:

        * wait: s from submission to the start of the last run that began the job from nothing. If it was stopped later
          and continued, that waiting time is in its turnaround.
        * turnaround: s from submission to the end.
        * expansion_factor: turnaround / nominal time; missing if that is 0. As nominal time, the run time is without
          overhead and lost work: the time that the job's work took.
        * requested_expansion_factor: (wait + requested time) / requested time, which Lee 2009 prints; missing if the
          requested time is 0.
        * bounded_slowdown: see ``slowdown``; missing only where nominal time and bound are both 0. At least 1, unless
          a nominal time is longer than the turnaround.
        * utility: value of the job's completion; missing if it has no utility function.
        * start_value: first value of its function; missing if it has none.
        * start_value_earned: utility / start value; also missing if the start value is 0.
        * preemptions: how often the job was stopped, and waited again.
        * kills, checkpoint_restarts, suspensions, resizes: how often it was stopped in each way; a resized job goes on.
        * lost_work, overhead: processor-seconds of its runs whose work was later lost, and those that it took to
          continue earlier work.
        * useful_work: the other processor-seconds of its runs.
        * run_time_waste: time of lost work / time that the job's work took (Yuan et al. 2010, equation 3); missing if
          that is 0.
        * is_backfilled: 1 if it was, else 0; missing if the schedule does not say, like those of other simulators.
        * is_blocked: 1 if the job was ever the blocked head of the queue (``find_heads``), else 0. This and the four
          below are missing if it cannot be known, as for a partial schedule.
        * head_delay: how much later the blocked head started, s, than it would have if all jobs of lower priority had
          been absent from the moment at which it became the head (start minus start_alone); 0 for a job that was never
          blocked, here and below.
        * head_delay_by_later: the same if only those jobs of lower priority had been absent that started since (start
          minus start_without_later).
        * reservation_violation: how much later it started, s, than the later of EASY's reservation and start_alone; so
          delays by jobs of higher priority do not count.
        * slowdown_of_violation: reservation_violation / max(nominal time, bound); missing if both are 0.

        If the nominal time is missing, both ratios that use it are missing. Times up to ``SHORTEST`` count as 0.

    Raises
    ------
    ParameterError
        An option is outside its domain, ``nominal`` names no column of times, or the jobs have no speedup curves.
    UtilityError
        A utility function breaks the form.

    Examples
    --------
    >>> jobs = pd.DataFrame({"job_number": [1], "job_occurrence": [0], "submit_time": [0.0], "start_time": [60.0],
    ...     "end_time": [65.0], "wait_time": [60.0], "run_time": [5.0], "requested_time": [20.0],
    ...     "allocated_processors": [4], "preemptions": [0], "is_backfilled": [False]})
    >>> runs = jobs[["job_number", "job_occurrence", "start_time", "end_time", "allocated_processors"]]
    >>> runs = runs.assign(work=jobs["run_time"], lost_work=0.0, overhead=0.0, ended_by="completed")
    >>> schedule = Schedule(jobs, runs, jobs[:0], 4, "easy")
    >>> measured = measure_jobs(schedule).iloc[0]
    >>> [float(measured[name]) for name in ("expansion_factor", "requested_expansion_factor", "bounded_slowdown")]
    [13.0, 4.0, 6.5]
    >>> float(measure_jobs(schedule, slowdown="stretched")["bounded_slowdown"].iloc[0])
    7.0
    """
    parameters = MetricParameters(bound=bound, slowdown=slowdown, nominal=nominal, utility_clock=utility_clock)
    columns = {name: make() for name, make in measures_of_jobs(schedule, parameters).items()}
    return pd.DataFrame(columns, index=schedule.jobs.index)


def measures_of_jobs(schedule: Schedule, parameters: MetricParameters) -> dict[str, Callable[[], FloatArray]]:
    """Return what makes each column of ``measure_jobs``, for who looks at one after the other: all are 200 bytes a job.

    What is returned is not to be written to: some columns are those of the schedule, or are held for others.

    Raises
    ------
    ParameterError
        ``nominal`` names no column of times, or the segments lack a column.
    UtilityError
        A utility function breaks the form.
    """
    jobs = schedule.jobs
    require_columns(schedule.segments)
    delays = _delays(schedule)  # first, since it takes most memory
    if len(schedule) > LONG:
        give_back_memory()
    spent = spent_by_jobs(schedule)
    wait, run, requested = (column_of(jobs, name) for name in ("wait_time", "run_time", "requested_time"))
    start, end = column_of(jobs, "start_time"), column_of(jobs, "end_time")
    # Not end - submission, which is a rounding error away from the run time of a job that did not wait.
    last_run = np.where(start + run == end, run, end - start)
    turnaround = wait + last_run
    took = run - spent.in_vain if spent.in_vain.any() else run
    standard, bound = took if parameters.nominal == "run_time" else _times(jobs, parameters.nominal), parameters.bound
    utility, start_value = _utility(jobs, turnaround if parameters.utility_clock == "turnaround" else wait)

    def slowed() -> FloatArray:
        is_short = standard < bound
        if parameters.slowdown == "turnaround":
            slowed = _ratio(turnaround, np.maximum(standard, bound))
            slowed[is_short] = np.maximum(slowed[is_short], 1.0)
            return slowed
        return _ratio(wait + np.where(is_short, bound, last_run), np.maximum(standard, bound))

    def slowed_by_violation() -> FloatArray:
        violation = delays["reservation_violation"]()
        return np.where(violation == 0.0, 0.0, _ratio(violation, np.maximum(standard, bound)))

    return {
        "wait": lambda: wait,
        "turnaround": lambda: turnaround,
        "expansion_factor": lambda: _ratio(turnaround, standard),
        "requested_expansion_factor": lambda: _ratio(wait + requested, requested),
        "bounded_slowdown": slowed,
        "utility": lambda: utility,
        "start_value": lambda: start_value,
        "start_value_earned": lambda: _ratio(utility, start_value, 0.0),
        "preemptions": lambda: column_of(jobs, "preemptions"),
        **{name: partial(spent.stops.__getitem__, name) for name in spent.stops},
        "lost_work": lambda: spent.lost_work,
        "overhead": lambda: spent.overhead,
        "useful_work": lambda: spent.useful_work,
        "run_time_waste": lambda: _ratio(spent.lost_time, took),
        "is_backfilled": lambda: column_of(jobs.reindex(columns=["is_backfilled"]), "is_backfilled"),
        **delays,
        "slowdown_of_violation": slowed_by_violation,
    }


def start_delay(schedule: Schedule, reference: Schedule) -> pd.Series[Any]:
    """Return how much later each job started than in another schedule of the same jobs.

    Parameters
    ----------
    schedule, reference : Schedule
        Two schedules of the same jobs, in any order.

    Returns
    -------
    pandas.Series of float64
        ``start_delay``, s, with the index of ``schedule.jobs``: positive if the job started later, negative if earlier.
        Never missing.

    Raises
    ------
    ParameterError
        The schedules are not of the same jobs.

    Notes
    -----
    With FCFS as the reference, positive values are what backfilling cost a job in the end.

    This is not the delay of Yuan et al. 2010, Tables 1 and 2, which is counted from the moment at which a job became
    the head of the queue: two whole schedules also differ in everything before that. For those delays use
    ``find_heads``, or head_delay and reservation_violation of ``measure_jobs``.
    """
    ours, theirs = schedule.jobs, reference.jobs
    if len(ours) != len(theirs):
        raise ParameterError(f"the reference schedule has {len(theirs)} jobs, not {len(ours)}: not the same ones")
    there = column_of(theirs, "start_time")[rows_of(ours, theirs)]
    return pd.Series(column_of(ours, "start_time") - there, index=ours.index, name="start_delay")


def choose_jobs(jobs: pd.DataFrame, where: Where) -> IntArray:
    """Return the rows of the jobs that are chosen.

    Raises
    ------
    ParameterError
        There is no such column, or the mask is no truth value for each job, or a Series of other jobs.
    """
    if where is None:
        return np.arange(len(jobs))
    if isinstance(where, str) and where not in jobs:
        raise ParameterError(
            f"where={where!r} is not a column of the jobs; there are {', '.join(map(str, jobs.columns))}"
        )
    said = jobs[where] if isinstance(where, str) else where(jobs) if callable(where) else where
    return np.flatnonzero(mask_of(jobs, said, "where"))


def _delays(schedule: Schedule) -> dict[str, Callable[[], FloatArray]]:
    """Return what makes the delays of blocked heads, by job; 0 of other jobs, NaN where they cannot be told."""
    names, count = ("is_blocked", "head_delay", "head_delay_by_later", "reservation_violation"), len(schedule)
    if why_unknown(schedule):
        return {name: lambda: np.full(count, np.nan) for name in names}
    # Most jobs are never blocked; only of the others something is held.
    blocked, heads = heads_of(schedule)
    start, alone = heads.start_time, heads.start_alone
    violation = start - np.maximum(heads.reservation, alone)
    delays = (np.ones(len(blocked)), start - alone, start - heads.start_without_later, violation)

    def spread(delay: FloatArray) -> FloatArray:
        of_job = np.zeros(count)
        of_job[blocked] = np.maximum(delay, 0.0)
        return of_job

    return {name: partial(spread, delay) for name, delay in zip(names, delays, strict=True)}


def _times(jobs: pd.DataFrame, name: str) -> FloatArray:
    """Return a column of times, or the run times on optimal widths; NaN is missing."""
    if name == OPTIMAL_RUN_TIME and name not in jobs:
        return _optimal_run_times(jobs)
    if name not in jobs or not pd.api.types.is_numeric_dtype(jobs[name]):
        raise ParameterError(f"nominal={name!r} is not a column of times of the jobs")
    times = column_of(jobs, name)
    if np.nanmin(times, initial=0.0) < 0:
        raise ParameterError(f"nominal={name!r} has times below 0")
    return times


def _optimal_run_times(jobs: pd.DataFrame) -> FloatArray:
    """Return how long each job would run on its optimal width, s, by its curve; a rigid one as long as it did.

    The optimum of a simple curve is the job's own width.
    """
    needed = ("optimal_processors", "sequential_run_time", "speedup_curve", "downey_a", "downey_sigma")
    if missing := [name for name in needed if name not in jobs]:
        raise ParameterError(
            f"nominal={OPTIMAL_RUN_TIME!r}: the jobs lack {', '.join(missing)}; give the trace speedup curves "
            "(generate_speedup, or --augment speedup) before it is simulated"
        )
    known = column_of(jobs, "optimal_processors")
    best = np.where(np.isnan(known), 1.0, known)  # a rigid job may lack it, and has one run time
    return run_time(best, jobs.assign(width=best))


def _ratio(over: FloatArray, under: FloatArray, least: float = SHORTEST) -> FloatArray:
    """Return a quotient; NaN where either is missing or the divisor is not above the least."""
    ratio = np.full(len(over), np.nan)
    np.divide(over, under, out=ratio, where=under > least)
    return ratio


def _utility(jobs: pd.DataFrame, time: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the value of each job's completion and its start value; NaN where it has no function."""
    if "utility" not in jobs:
        missing = np.broadcast_to(np.nan, len(jobs))  # which takes no memory
        return missing, missing
    value, start_value = np.empty(len(jobs)), np.empty(len(jobs))
    for begin in range(0, len(jobs), PART):  # since functions take ten times as much memory as what is asked of them
        part = slice(begin, begin + PART)
        functions = UtilityFunctions.from_arrow(jobs["utility"].iloc[part])
        value[part], start_value[part] = functions.evaluate(time[part]), functions.start_values
    return value, start_value
