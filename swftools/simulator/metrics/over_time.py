"""What the machine and the queue hold over time: exact step functions, from the events of a schedule.

Every value changes only where a job is submitted or a run starts or ends, so those instants are all there is to know:
nothing is sampled. ``measure`` takes the measures of the machine from here.

References
----------
Lee 2009, section 1.4 (utilization at a point in time). Yuan et al. 2010, section 5.2.4 (wasted load).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.simulator.metrics.columns import FloatArray, IntArray, column_of, rows_of
from swftools.simulator.metrics.of_jobs import Where, choose_jobs
from swftools.simulator.metrics.of_runs import stretches_of
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.schedule import Schedule

STEP_COLUMNS = {
    "busy_processors": np.int64,
    "lost_processors": np.int64,
    "overhead_processors": np.int64,
    "utilization": np.float64,
    "queue_length": np.int64,
    "queued_processors": np.int64,
    "queued_work": np.float64,
}
"""The step functions, with their types."""

DEMANDS = ("requested_time", "run_time")


def over_time(schedule: Schedule, *, where: Where = None, demand: str = "requested_time") -> pd.DataFrame:
    """Return what runs and what waits from each event to the next.

    Parameters
    ----------
    schedule : Schedule
        Its jobs give the submissions, its segments the runs, preempted ones among them.
    where : mask, name or callable, optional
        Only these jobs' part, as in ``measure``.
    demand : {"requested_time", "run_time"}
        Time by which a waiting job's processors are multiplied in ``queued_work``: what it asks for, or needs.

    Returns
    -------
    pandas.DataFrame
        One row an instant at which something happens, with times increasing strictly; a row's values hold from its
        time up to the next one's, the last row's (all zero) for ever, and before the first row all are zero.

        * time: s.
        * busy_processors: processors that run a job.
        * lost_processors: those of them that do work that is lost later, when the run, or one that goes on from it, is
          stopped; what was done last is lost first.
        * overhead_processors: those of them that do no work yet: what it takes to go on with work done before.
        * utilization: busy_processors over those of the machine.
        * queue_length: jobs submitted and not running: before their first run, and from a stop to the next run.
        * queued_processors: processors these need.
        * queued_work: processors x time of these, processor-seconds.

        A schedule without jobs has no rows. Nothing is missing.

    Raises
    ------
    ParameterError
        ``where`` does not choose jobs, ``demand`` is none of those, or a segment is of a job that is not there.

    Notes
    -----
    The integral of queue_length is the sum of turnaround times less that of all runs (Little's law); without stops
    that is the sum of waits. What begins and ends at one instant is seen nowhere.

    Examples
    --------
    >>> jobs = pd.DataFrame({"job_number": [1, 2], "job_occurrence": [0, 0], "submit_time": [0.0, 2.0],
    ...     "start_time": [0.0, 10.0], "end_time": [10.0, 15.0], "wait_time": [0.0, 8.0], "run_time": [10.0, 5.0],
    ...     "requested_time": [10.0, 6.0], "allocated_processors": [3, 4]})
    >>> segments = jobs[["job_number", "job_occurrence", "start_time", "end_time", "allocated_processors"]]
    >>> segments = segments.assign(work=jobs["run_time"], lost_work=0.0, overhead=0.0, ended_by="completed")
    >>> schedule = Schedule(jobs, segments, jobs[:0], 4, "easy")
    >>> over_time(schedule)[["time", "utilization", "queue_length", "queued_work"]].values.tolist()
    [[0.0, 0.75, 0.0, 0.0], [2.0, 0.75, 1.0, 24.0], [10.0, 1.0, 0.0, 0.0], [15.0, 0.0, 0.0, 0.0]]
    """
    if demand not in DEMANDS:
        raise ParameterError(f"over_time: demand={demand!r} is not one of {', '.join(DEMANDS)}")
    chosen = choose_jobs(schedule.jobs, where)
    jobs, segments = schedule.jobs, schedule.segments
    if len(chosen) < len(jobs):
        of_chosen = np.zeros(len(jobs), np.bool_)
        of_chosen[chosen] = True
        segments = segments[of_chosen[rows_of(segments, jobs)]]
        jobs = jobs.iloc[chosen]
    row = rows_of(segments, jobs)
    submit, width = column_of(jobs, "submit_time"), column_of(jobs, "allocated_processors")
    work = width * column_of(jobs, demand)
    runs = stretches_of(segments)
    start, end, busy = runs.start, runs.end, runs.processors
    lost, late, stopped = runs.lost > 0, runs.overhead > 0, runs.is_stopped
    again = row[stopped]
    instants = (
        *(submit, start, end, end[stopped]),
        *(start[lost] + runs.overhead[lost] + runs.useful[lost], end[lost]),
        *(start[late], start[late] + runs.overhead[late]),
    )
    times, place = np.unique(np.concatenate(instants), return_inverse=True)
    places = np.split(place, np.cumsum([len(part) for part in instants[:-1]]))
    at_submit, at_start, at_end, at_return, *at_lost_and_late = places
    at_lost, at_lost_end, at_late, at_late_end = at_lost_and_late

    def steps(*changes: tuple[IntArray, FloatArray | float, int]) -> FloatArray:
        """Return the running sum of changes: where, how much, and its sign."""
        total = np.zeros(len(times))
        for at, amount, sign in changes:
            weights = np.broadcast_to(np.asarray(amount, dtype=np.float64), len(at))
            total += sign * np.bincount(at, weights, minlength=len(times))
        return np.cumsum(total)

    def waiting(amount: FloatArray) -> FloatArray:
        """Return the sum of a quantity over the waiting jobs."""
        return steps((at_submit, amount, 1), (at_start, amount[row], -1), (at_return, amount[again], 1))

    running = steps((at_start, busy, 1), (at_end, busy, -1))
    queue_length = waiting(np.ones(len(jobs)))
    values = {
        "busy_processors": running,
        "lost_processors": steps((at_lost, busy[lost], 1), (at_lost_end, busy[lost], -1)),
        "overhead_processors": steps((at_late, busy[late], 1), (at_late_end, busy[late], -1)),
        "utilization": running / schedule.processors,
        "queue_length": queue_length,
        "queued_processors": waiting(width),
        # Sums of times that are no whole numbers end a rounding error away from zero.
        "queued_work": np.where(queue_length > 0, np.maximum(waiting(work), 0.0), 0.0),
    }
    columns = {name: values[name].astype(type_) for name, type_ in STEP_COLUMNS.items()}
    return pd.DataFrame({"time": times, **columns})


def mean_over_time(steps: pd.DataFrame, column: str, window: tuple[float, float] | None = None) -> float | None:
    """Return the mean of a step function over time.

    Parameters
    ----------
    steps : pandas.DataFrame
        As ``over_time`` returns it.
    column : str
        One of its columns.
    window : (float, float), optional
        From when to when, s; from the first to the last event by default.

    Returns
    -------
    float or None
        Integral over length; None where no time passes.

    Raises
    ------
    ParameterError
        There is no such column, or the window does not end after it begins.

    Examples
    --------
    >>> steps = pd.DataFrame({"time": [0.0, 10.0, 30.0], "queue_length": [1, 4, 0]})
    >>> mean_over_time(steps, "queue_length"), mean_over_time(steps, "queue_length", (5.0, 45.0))
    (3.0, 2.125)
    """
    values, durations = _within(steps, column, window)
    length = durations.sum()
    return float((values * durations).sum() / length) if length > 0 else None


def max_over_time(steps: pd.DataFrame, column: str, window: tuple[float, float] | None = None) -> float | None:
    """Return the largest value that a step function holds for some time; parameters as in ``mean_over_time``.

    Examples
    --------
    >>> steps = pd.DataFrame({"time": [0.0, 10.0, 30.0], "queue_length": [1, 4, 0]})
    >>> max_over_time(steps, "queue_length"), max_over_time(steps, "queue_length", (0.0, 10.0))
    (4.0, 1.0)
    """
    values, durations = _within(steps, column, window)
    held = values[durations > 0]
    return float(held.max()) if len(held) else None


def _within(steps: pd.DataFrame, column: str, window: tuple[float, float] | None) -> tuple[FloatArray, FloatArray]:
    """Return the values, 0 before the first event among them, and how long each holds in the window."""
    if column not in steps or column == "time":
        raise ParameterError(f"no step function {column!r}; there are {', '.join(steps.columns.drop('time'))}")
    MetricParameters(window=window)  # checks it
    time = column_of(steps, "time")
    begin, end = window or ((time[0], time[-1]) if len(time) else (0.0, 0.0))
    edges = np.clip(np.concatenate(([begin], time, [end])), begin, end)
    return np.concatenate(([0.0], column_of(steps, column))), np.diff(edges)
