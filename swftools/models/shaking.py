# SPDX-License-Identifier: BSD-3-Clause
"""Shaking: replay the same log with each submission moved a little, to separate the policy's effect from chance.

A schedule is a chain of events: one job that comes a second later may change the wait of thousands. So a single replay
measures both the policy and an accident of the log. Several replays, each of a log that could have happened just as
well, separate the two: their mean is the result, and their spread is the noise.

References
----------
Tsafrir, Ouaknine and Feitelson 2007, "Reducing performance evaluation sensitivity and variability by input shaking",
MASCOTS, 231-237.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from swftools.dependencies import find_dependencies
from swftools.errors import ParameterError
from swftools.fields.definition import MAX_TIME
from swftools.kernel import FloatArray, IntArray, kernel
from swftools.keyed_random import STATE_LENGTH, WordArray, count_occurrences, next_uniform, start_stream, step_key
from swftools.models.arrivals import apply_arrivals
from swftools.parameters import LARGEST_SEED, is_whole
from swftools.trace import Trace


def shake_submissions(trace: Trace, seed: int, seconds: int = 300) -> Trace:
    """Return a trace in which every job is submitted a little later, by a random delay of its own.

    Parameters
    ----------
    trace : Trace
        Its submit_time is used.
    seed : int
        From 0 to 2**64 - 1; each gives another log. Draws are keyed by (seed, step "shaking", job number,
        occurrence), so a job gets the same delay in a log that has grown, and in every part of it.
    seconds : int
        The longest delay; a whole number of seconds, 0 or more. 0 moves nothing.

    Returns
    -------
    Trace
        Sorted by submission; jobs of the same second are ordered by job number and occurrence, as in a simulation.
        Logged waits are removed, because they belong to the logged submissions. Jobs wait for the same jobs as before,
        with the same think times, and do not come before these. job_occurrence is added, so that later draws for a job
        are those for it in the log.

    Raises
    ------
    ParameterError
        The seed or the number of seconds is outside its domain.

    Notes
    -----
    A job is moved by a whole number of seconds, uniform from 0 to ``seconds``. Logs have whole seconds, so jobs still
    come in the same second as often as in such logs. Jobs are only delayed, because a log begins at second 0; that all
    come later by half of ``seconds`` on average does not change a schedule. No time exceeds the last that a log can
    hold.

    The paper asks for several simulations under small perturbations of the workload, and their mean. Which
    perturbation, and how large, is our choice. Only submissions are moved, and run times kept, because submissions are
    what policies order. Each job is moved by itself, so that the jobs of a burst, which a machine often schedules as
    one, come apart.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2, 3], submit_time=[0, 50, 60])
    >>> shaken = shake_submissions(trace, seed=1, seconds=20)
    >>> (shaken.jobs.set_index("job_number")["submit_time"] - [0, 50, 60]).between(0, 20).all()
    np.True_
    """
    if not is_whole(seed, 0, LARGEST_SEED):
        raise ParameterError(f"shake_submissions: seed={seed!r} is not an integer from 0 to 2**64 - 1")
    if not is_whole(seconds, 0, int(MAX_TIME)):
        raise ParameterError(f"shake_submissions: seconds={seconds!r} is not an integer from 0 to {int(MAX_TIME):,}")
    occurrence = count_occurrences(trace.jobs)
    later = np.zeros(len(trace))
    state = np.zeros(STATE_LENGTH, np.uint64)
    _draw(later, state, np.uint64(seed), np.uint64(step_key("shaking")), trace.views.job_number, occurrence, seconds)
    logged = trace.views.submit_time
    submit = np.minimum(logged + later, MAX_TIME)
    found = find_dependencies(trace)
    if len(behind := np.flatnonzero(logged[found.before] <= logged[found.waiting])):
        behind = behind[np.argsort(logged[found.waiting[behind]], kind="stable")]
        _move_behind(submit, found.waiting[behind], found.before[behind])
    jobs = trace.jobs.assign(
        model_submit_time=submit,
        job_occurrence=pd.array(occurrence, dtype="Int64"),
    )
    shaken = apply_arrivals(trace.with_jobs(jobs), keeps_dependencies=True)
    return shaken.with_jobs(shaken.jobs.drop(columns="model_submit_time"))


@kernel(allocates=False)
def _move_behind(submit: FloatArray, waiting: IntArray, before: IntArray) -> None:
    """Let jobs, given in order of submission, come no earlier than those that they wait for and that came before."""
    for place in range(len(waiting)):
        submit[waiting[place]] = max(submit[waiting[place]], submit[before[place]])


@kernel(allocates=False)
def _draw(
    later: FloatArray,
    state: WordArray,
    seed: np.uint64,
    step: np.uint64,
    job_number: IntArray,
    occurrence: IntArray,
    seconds: int,
) -> None:
    """Fill ``later`` with a whole number of seconds for each job, uniform from 0 to ``seconds``; uses ``state``."""
    for i in range(len(later)):
        start_stream(state, seed, step, job_number[i], occurrence[i])
        later[i] = np.floor(next_uniform(state) * (seconds + 1))
