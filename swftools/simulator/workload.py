# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs of a trace are simulated, and how: what each is missing is decided here, before the first event."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.by_job import in_order_of
from swftools.errors import ParameterError
from swftools.keyed_random import count_occurrences, uniforms
from swftools.machines.asked import Asked
from swftools.models.speedup import CURVES, NO_CURVE
from swftools.parameters.choices import CQSIM, PYSS, SEMANTICS
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.assumptions import Assumed
from swftools.simulator.dependent import Dependent, find_dependent, not_before
from swftools.simulator.engine.replay import Coming
from swftools.simulator.instants import LATEST
from swftools.simulator.option_checks import reasons_to_exclude
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.requested_times import find_requests
from swftools.simulator.restart import find_restart_overhead
from swftools.trace import JobArrays, Trace
from swftools.utility.functions import UtilityFunctions

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

AT_ONCE = 1.0
"""Seconds that a job without a run time runs under ``cancelled="end-at-once"``."""

IN_SECONDS = "a float64 does not tell seconds apart: give times in seconds, not in parts of one"
"""What is said of times beyond ``LATEST``."""


class Workload(NamedTuple):
    """The jobs to simulate in order of submission, and the others.

    ``is_cut`` tells which jobs are stopped at their limit. ``excluded`` has the columns row and reason; ``restart`` is
    that of ``Machine``. ``assumed`` counts the jobs of which something had to be assumed; see
    ``swftools.simulator.assumptions``. ``dependent`` says who waits for whom; ``told`` what
    was taken of nodes that the log does not say, in words.
    """

    coming: Coming
    is_cut: npt.NDArray[np.bool_]
    excluded: pd.DataFrame
    restart: FloatArray
    assumed: Assumed
    dependent: Dependent
    told: tuple[str, ...] = ()


def prepare(
    trace: Trace,
    processors: int,
    run: RunOptions,
    *,
    predictor: Predictor,
    needs: tuple[str, ...] = (),
    asked: Asked | None = None,
) -> Workload:
    """Decide what is simulated of a trace.

    Parameters
    ----------
    trace : Trace
        Its key, submission, width, run time, requested time, user, queue and, if there, priority_rank, speedup curve
        and checkpoint interval are used.
    processors : int
        Size of the machine.
    run : RunOptions
        Those that say what becomes of jobs; the predictor is found already.
    predictor : Predictor
        What policies are told.
    needs : tuple of str
        Columns that the policy needs; utility functions are taken along only if they are among them.
    asked : Asked, optional
        What the jobs ask of a machine of nodes; else of a pool they ask for processors.

    Returns
    -------
    Workload
        Jobs of equal submission in order of (job_number, job_occurrence). A missing requested time (or 0) is the run
        time. Jobs without submission or width, wider than the machine, or dropped for want of a run time are excluded.

    Raises
    ------
    ParameterError
        A job that is simulated has a submission or a run time that is negative, infinite or beyond 2**53 s.
    PolicyError
        The predictor raised an error, or foretells something else than a number for each job.
    """
    order, seed, arrays = SEMANTICS[run.semantics], run.seed, trace.views
    times, request = _times_of(trace, run)
    lacking = "" if run.cancelled == "full-request" else "drop"
    idle = "semantics=cqsim" * (order == CQSIM)
    code, words = reasons_to_exclude(arrays, processors, times, lacking, idle=idle, asked=asked)
    row = _in_order(trace, arrays, np.flatnonzero(code == 0)).astype(np.int32)
    _check_times(trace, row, submit_time=arrays.submit_time, run_time=times, requested_time=request)
    run_time = np.maximum(times[row], 1.0 if order == PYSS else 0.0)
    limit = np.where(np.isnan(request[row]), run_time, request[row])
    is_cut = np.zeros(len(row), np.bool_)
    assumed = Assumed(
        jobs=len(row),
        without_request=int((~(arrays.requested_time[row] > 0)).sum()),
        run_time_as_request=int(np.isnan(request[row]).sum()),
        without_run_time=int(np.isnan(arrays.run_time[row]).sum()),
        longer_than_requested=int((run_time > limit).sum()),
    )
    if run.overrun == "extend":
        np.maximum(limit, run_time, out=limit)
    elif run.overrun == "kill":
        is_cut = run_time > limit
        run_time = np.minimum(run_time, limit)
    restart = find_restart_overhead(run.restart_overhead).of(trace, row)
    coming = Coming(
        row,
        run_time,
        limit,
        predictor.told(run_time, limit, seed, partial(_drawn_by_key, trace, row, seed)),
        arrays.submit_time,
        arrays.width if asked is None else asked.nodes * asked.cores,
        _numbered(arrays.user_id),
        arrays.queue_id,
        _integers(trace, "priority_rank"),
        _times(trace, "checkpoint_interval"),
        _speedup(trace, processors),
        _utility(trace) if "utility" in needs else np.zeros((0, 0, 2)),
        restart.of_job,
    )
    others = np.flatnonzero(code)
    reason = np.array(words, dtype=object)[code[others]]
    excluded = pd.DataFrame({"row": others, "reason": reason})
    dependent = find_dependent(trace, row, run.dependencies)
    if asked is not None and len(asked.ready_time):
        dependent = not_before(dependent, asked.ready_time[row])
    of_nodes = asked.assumed if asked is not None else ()
    return Workload(coming, is_cut, excluded, restart.seconds, assumed, dependent, of_nodes)


def _times_of(trace: Trace, run: RunOptions) -> tuple[FloatArray, FloatArray]:
    """Return how long each job of a trace is to run, and as how long it is requested, s; NaN where there is none."""
    requests, times = find_requests(run.requests), trace.views.run_time
    told = in_order_of(trace.jobs.index, requests.request(trace, run.seed), f"what requests {requests.NAME!r} returned")
    request = np.asarray(told, dtype=np.float64)
    request = np.where(request > 0, request, np.nan)
    if run.cancelled != "drop":
        times = np.where(np.isnan(times), AT_ONCE if run.cancelled == "end-at-once" else request, times)
    return times, request


def limits_of(trace: Trace, run: RunOptions) -> FloatArray:
    """Return the time limit of each job of a trace as it is simulated, s; NaN of those without submission or time."""
    times, request = _times_of(trace, run)
    limit = np.where(np.isnan(request), times, request)
    if run.overrun == "extend":
        limit = np.maximum(limit, times)
    return np.where(np.isnan(times) | np.isnan(trace.views.submit_time), np.nan, limit)


def _drawn_by_key(trace: Trace, row: npt.NDArray[np.int32], seed: int, step: str, count: int) -> FloatArray:
    """Return ``count`` numbers for each of some jobs, drawn by their keys."""
    return uniforms(seed, step, trace.views.job_number[row], count_occurrences(trace.jobs)[row], count)


def _check_times(trace: Trace, row: npt.NDArray[np.int32], **times: FloatArray) -> None:
    """Raise ParameterError where a job that is simulated has a time that no simulation comes to."""
    for name, column in times.items():
        own = column[row]
        may_lack = name == "requested_time"  # it is made up then, or without end
        wrong = row[~((own >= 0) & (own < np.inf)) & ~(may_lack & ~(own < 0))]
        remedy = "give finite seconds of 0 or more, or leave the job out"
        if not len(wrong):
            wrong, remedy = row[(own > LATEST) & (own < np.inf)], f"beyond {LATEST:.0f} s (2**53) {IN_SECONDS}"
        if len(wrong):
            number, more = trace.jobs["job_number"].iloc[wrong[0]], len(wrong) - 1
            others = f" (and {more} other{'s' if more > 1 else ''} alike)" if more else ""
            raise ParameterError(f"job {number}: {name} is {column[wrong[0]]:g} as it is simulated{others}; {remedy}")
    if len(row) and (end := times["submit_time"][row].max() + times["run_time"][row].sum()) > LATEST:
        raise ParameterError(
            f"the jobs may end as late as {end:g} s; beyond {LATEST:.0f} s (2**53) {IN_SECONDS}, and count from the "
            "start of the log"
        )


def _in_order(trace: Trace, arrays: JobArrays, kept: IntArray) -> IntArray:
    """Return rows in order of submission, job number and occurrence; most logs are in that order."""
    submit, number = arrays.submit_time[kept], arrays.job_number[kept]
    later, same = submit[1:] > submit[:-1], submit[1:] == submit[:-1]
    if (later | (same & (number[1:] > number[:-1]))).all():
        return kept
    return kept[np.lexsort((count_occurrences(trace.jobs)[kept], number, submit))]


def _numbered(users: IntArray) -> npt.NDArray[np.int32]:
    """Return users numbered from 0 as they come; unknown ones, which are negative, are -1."""
    codes, known = pd.factorize(users)
    number = np.where(known < 0, -1, np.cumsum(known >= 0) - 1).astype(np.int32)
    return number[codes]


def _integers(trace: Trace, name: str) -> IntArray:
    """Return a column of whole numbers, -1 where missing; no rows where the trace has none."""
    if name not in trace.jobs:
        return np.zeros(0, np.int64)
    return trace.jobs[name].to_numpy(dtype=np.int64, na_value=-1, copy=True)


def _times(trace: Trace, name: str) -> FloatArray:
    """Return a column of times, NaN where missing; no rows where the trace has none."""
    if name not in trace.jobs:
        return np.zeros(0)
    return np.array(trace.jobs[name], dtype=np.float64)


def _speedup(trace: Trace, processors: int) -> FloatArray:
    """Return the speedup curves of jobs, as ``Requests`` has them; no rows where the trace has no such columns."""
    names = ["speedup_curve", "downey_a", "downey_sigma", "minimum_processors", "maximum_processors"]
    if not set(names) <= set(trace.jobs.columns):
        return np.zeros((0, 5))
    jobs = trace.jobs[names]
    numbers = jobs[names[1:]].to_numpy(dtype=np.float64, na_value=np.nan)
    numbered = {name: number for number, name in enumerate(CURVES)}
    curve = jobs["speedup_curve"].map(numbered).fillna(NO_CURVE).to_numpy(dtype=np.float64)
    columns = np.column_stack((curve, numbers))
    columns[:, 4] = np.fmin(columns[:, 4], processors)
    return np.ascontiguousarray(np.nan_to_num(columns))


def _utility(trace: Trace) -> FloatArray:
    """Return the points of utility functions, as ``Requests`` has them."""
    functions = UtilityFunctions.from_arrow(trace.jobs["utility"])
    lengths = np.diff(functions.offsets)
    points = np.full((len(lengths), max(int(lengths.max(initial=0)), 1), 2), np.nan)
    function = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(functions.times)) - functions.offsets[function]
    points[function, place, 0], points[function, place, 1] = functions.times, functions.values
    return points
