# SPDX-License-Identifier: BSD-3-Clause
"""How much jobs of lower priority delay a job, found by simulating without them: after its submission, and as head.

Priority is order of submission, of equal submissions of (job_number, job_occurrence).

References
----------
Yuan, Yang, Wu and Zheng 2010, section 3.1 (strict fairness). Sabin and Kochhar 2004 for starts without later jobs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.keyed_random import count_occurrences, generator
from swftools.parameters import is_whole
from swftools.simulator.machine.state import RESIZE, RUNNING
from swftools.simulator.metrics.columns import FloatArray, IntArray, rows_of
from swftools.simulator.metrics.heads import find_heads
from swftools.simulator.registry import Policy
from swftools.simulator.run.interruptible_thread import PAUSE
from swftools.simulator.simulation import Simulation
from swftools.trace import Trace

Progress = Callable[[int, int, float], None]

ALONE, WITHOUT_LATER = "A", "B"
SENSES = (ALONE, WITHOUT_LATER)


def delays_from_submission(
    trace: Trace,
    policy: str | Policy,
    *,
    sample: int | None = 1000,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Return how much later jobs started than without the jobs submitted after them.

    Parameters
    ----------
    trace, policy
        As for ``simulate``.
    sample : int, optional
        How many jobs to draw of those that waited; None, or more than there are, takes all. Each job is a simulation of
        its own, with the jobs that are there when it is submitted.
    seed : int
        Seed of the draw and of the simulations.
    progress : callable, optional
        Called with the jobs done, all drawn jobs, and the simulated time (s): at most ten times a second, and at the
        end.
    **options
        Options of the simulation, and parameters of the policy.

    Returns
    -------
    pandas.DataFrame
        One row for each job drawn, in order of submission: job_number, job_occurrence, submit_time (s), start_time, as
        in the schedule (s), start_without_later: its start (s) in a simulation that continues from the job's submission
        without any later job, also of the same instant; delay: start_time minus start_without_later, s. It is negative
        if later jobs led the policy to start the job earlier, which can happen. Nothing is missing.

    Raises
    ------
    ParameterError
        As ``simulate`` does; ``sample`` is not a whole number.
    PolicyError
        As ``simulate`` does.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3], submit_time=[0, 1, 2],
    ...     run_time=[4, 5, 7], requested_time=[9, 5, 7], requested_processors=[3, 4, 1])
    >>> delays_from_submission(trace, "easy").values.tolist()  # the third goes ahead until 9; the first ends at 4
    [[2, 0, 1.0, 9.0, 4.0, 5.0]]
    """
    jobs = Simulation(trace, policy, seed=seed, **options).run().schedule().jobs
    waited = np.flatnonzero((jobs["start_time"] > jobs["submit_time"]).to_numpy(dtype=np.bool_))
    drawn = jobs[["job_number", "job_occurrence", "submit_time", "start_time"]].iloc[_drawn(waited, sample, seed)]
    priority = _priorities(trace)
    row = rows_of(drawn, _keys(trace))
    order = np.argsort(priority[row])
    drawn, row = drawn.iloc[order].reset_index(drop=True), row[order]
    simulation = Simulation(trace, policy, seed=seed, **options)
    told = _Told(progress, len(drawn))
    starts = np.empty(len(drawn))
    for place, submitted in enumerate(drawn["submit_time"]):
        # To just before the instant, at which others may be submitted too.
        simulation.run(until=np.nextafter(submitted, -np.inf))
        other = simulation.copy().without(priority > priority[row[place]]).run()
        starts[place] = _runs_of(other, row[place])[0][-1]
        told.tell(place + 1, submitted)
    return drawn.assign(start_without_later=starts, delay=drawn["start_time"] - starts)


def delays_at_heads(
    trace: Trace,
    policy: str | Policy,
    *,
    sense: str,
    sample: int | None = 1000,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Return how much later blocked heads started than without the jobs of lower priority.

    Parameters
    ----------
    trace, policy
        As for ``simulate``.
    sense : {"A", "B"}
        Which jobs are removed at the end of the instant at which the job became the blocked head for the last time: all
        jobs of lower priority, or only those that did not run before that instant.
    sample : int, optional
        How many heads to draw; None, or more than there are, takes all.
    seed : int
        Seed of the draw and of the simulations.
    progress : callable, optional
        As for ``delays_from_submission``.
    **options
        Options of the simulation, and parameters of the policy.

    Returns
    -------
    pandas.DataFrame
        One row for each job drawn, in the order in which they became heads: job_number, job_occurrence, blocked_since
        (s), start_time: its start after that (s); start_without: its start in the simulation without the others (s);
        delay: start_time minus start_without, s. Nothing is missing.

    Raises
    ------
    ParameterError
        As ``simulate`` does; ``sense`` is none of those, or ``sample`` not a whole number.
    PolicyError
        As ``simulate`` does.

    Notes
    -----
    ``find_heads`` computes the same from the schedule, without simulating, if the policy starts the head whenever it
    fits; then both are equal.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3], submit_time=[0, 1, 2],
    ...     run_time=[4, 5, 7], requested_time=[9, 5, 7], requested_processors=[3, 4, 1])
    >>> delays_at_heads(trace, "easy", sense="A").values.tolist()
    [[2, 0, 1.0, 9.0, 4.0, 5.0]]
    """
    if sense not in SENSES:
        raise ParameterError(f"sense={sense!r} is not one of {', '.join(SENSES)}")
    schedule = Simulation(trace, policy, seed=seed, **options).run().schedule()
    heads = find_heads(schedule)[["job_number", "job_occurrence", "blocked_since", "start_time"]]
    heads = heads.iloc[_drawn(np.arange(len(heads)), sample, seed)]
    heads = heads.sort_values("blocked_since", kind="stable", ignore_index=True)
    priority = _priorities(trace)
    row = rows_of(heads, _keys(trace))
    simulation = Simulation(trace, policy, seed=seed, **options)
    told = _Told(progress, len(heads))
    starts = np.empty(len(heads))
    for place, since in enumerate(heads["blocked_since"]):
        simulation.run(until=since)
        is_out = priority > priority[row[place]]
        if sense == WITHOUT_LATER:
            is_out[_running_since_before(simulation, since)] = False
        other = simulation.copy().without(is_out).run()
        _, begun = _runs_of(other, row[place])
        starts[place] = begun[begun >= since][0]
        told.tell(place + 1, since)
    return heads.assign(start_without=starts, delay=heads["start_time"] - starts)


def _drawn(jobs: IntArray, sample: int | None, seed: int) -> IntArray:
    """Return some of the jobs, in their order."""
    if sample is not None and not is_whole(sample, 1):
        raise ParameterError(f"sample={sample!r} is neither an integer of 1 or more nor None, which is all")
    if sample is None or sample >= len(jobs):
        return jobs
    return np.sort(generator(seed, "fairness").choice(jobs, sample, replace=False))


def _keys(trace: Trace) -> pd.DataFrame:
    """Return the keys of a trace's jobs."""
    return pd.DataFrame({"job_number": trace.jobs["job_number"], "job_occurrence": count_occurrences(trace.jobs)})


def _priorities(trace: Trace) -> IntArray:
    """Return the place of each job of a trace in the order of submission; those without one are last."""
    arrays = trace.views
    order = np.lexsort((count_occurrences(trace.jobs), arrays.job_number, arrays.submit_time))
    priority = np.empty(len(order), np.int64)
    priority[order] = np.arange(len(order))
    return priority


def _runs_of(simulation: Simulation, row: int) -> tuple[FloatArray, FloatArray]:
    """Return when a job of the trace was started so far, only from nothing, and all times."""
    log = simulation._replay.log
    runs = np.flatnonzero(simulation._rows[log.job[: log.size[0]]] == row)
    return log.start[runs[log.before[runs] == 0.0]], log.start[runs]


def _running_since_before(simulation: Simulation, since: float) -> IntArray:
    """Return the rows in the trace of those that run, and did before the present instant; resizing is no start."""
    machine, log, row = simulation._machine, simulation._replay.log, simulation._rows
    found = []
    for job in machine.running[: machine.counts[RUNNING]]:
        run, begin = machine.run[job], machine.start_time[job]
        for before in np.flatnonzero(log.job[:run] == job)[::-1] if begin == since else []:
            if log.ended_by[before] != RESIZE or log.end[before] != begin:
                break
            begin = log.start[before]
        if begin < since:
            found.append(row[job])
    return np.array(found, np.int64)


class _Told:
    """Tells progress ten times a second at most, and at the end."""

    def __init__(self, progress: Progress | None, jobs: int) -> None:
        self._progress, self._jobs, self._last = progress, jobs, -np.inf
        if not jobs:
            self.tell(0, -np.inf)

    def tell(self, done: int, now: float) -> None:
        """Say how many jobs are done."""
        present = time.perf_counter()
        if self._progress and (done == self._jobs or present - self._last >= PAUSE):
            self._last = present
            self._progress(done, self._jobs, now)
