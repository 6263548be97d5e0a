# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are taken out of a simulation: what changes in machine, queue and log, and of what is to come.

The others stand where they stood, and run on. Policies learn of it as of any disturbance of the queue; predictors do
not, and keep what they have learnt.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.by_job import mask_of
from swftools.errors import ParameterError
from swftools.kernel import kernel
from swftools.keyed_random import count_occurrences
from swftools.simulator.engine.replay import COMING, DONE, STALE, Replay, ReplayState
from swftools.simulator.machine.event_queue import push
from swftools.simulator.machine.running_jobs import release
from swftools.simulator.machine.state import DISTURBED, HELD, KILL, NOW, SUBMITTED, Machine
from swftools.simulator.machine.verbs import go_away
from swftools.simulator.machine.views import is_held
from swftools.simulator.machine.waiting_queue import NOBODY, is_waiting, leave
from swftools.simulator.metrics.columns import rows_of
from swftools.simulator.state.columns import PER_JOB, array_at, names_per
from swftools.trace import Trace

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


def chosen_rows(trace: Trace, jobs: pd.DataFrame | npt.ArrayLike) -> BoolArray:
    """Return which rows of a trace are chosen.

    Parameters
    ----------
    trace : Trace
        Its jobs.
    jobs : pandas.DataFrame or array of bool, shape (jobs of the trace,)
        Keys, which may lack ``job_occurrence`` where numbers do not repeat; or a mask: a Series by its index, an array
        in the order of the trace's jobs.

    Raises
    ------
    ParameterError
        A job is not in the trace, or the mask is no truth value for each of its jobs.
    """
    if isinstance(jobs, pd.DataFrame):
        known = pd.DataFrame({"job_number": trace.jobs["job_number"], "job_occurrence": count_occurrences(trace.jobs)})
        if "job_number" not in jobs:
            raise ParameterError("jobs without a column job_number; give a frame with keys, or a mask")
        if "job_occurrence" not in jobs:
            repeated = known["job_number"][known["job_occurrence"] > 0]
            if (unclear := jobs["job_number"].isin(repeated)).any():
                number = jobs["job_number"][unclear].iloc[0]
                raise ParameterError(f"job {number} is there more than once; give job_occurrence too")
            jobs = jobs.assign(job_occurrence=0)
        mask = np.zeros(len(trace), np.bool_)
        mask[rows_of(jobs, known)] = True
        return mask
    return mask_of(trace.jobs, jobs, "the mask")


def let_fewer_come(state: ReplayState, submitted: int, is_out: BoolArray) -> IntArray:
    """Put the jobs that are to come behind all others where they are out, and count them no more.

    Jobs that have not been submitted are known by their numbers only, and are numbered anew.

    Parameters
    ----------
    state : ReplayState
        Its jobs to come change their order, and are fewer.
    submitted : int
        Jobs that came so far.
    is_out : numpy.ndarray of bool, shape (jobs,)
        By job.

    Returns
    -------
    numpy.ndarray of int64, shape (jobs,)
        The job that each was before.
    """
    replay, last, kind = state.replay, int(state.replay.counts[COMING]), type(state)
    order = np.arange(len(is_out))
    to_come, is_late = order[submitted:last], is_out[submitted:last]
    if is_late.any():
        order[submitted:last] = np.concatenate([to_come[~is_late], to_come[is_late]])
        replay.counts[COMING] = last - int(is_late.sum())
        for path in names_per(kind, PER_JOB, ahead=True):
            if len(by_job := array_at(state, path)):
                by_job[: len(order)] = by_job[order]
        edges = int(replay.dependents.edges[0])
        if edges:
            replay.dependents.successor[:edges] = np.argsort(order)[replay.dependents.successor[:edges]]
    return order


@kernel(allocates=False)
def take_out(machine: Machine, replay: Replay, is_out: BoolArray) -> None:
    """Take those out that wait, run or are held; of those that were submitted ``is_out`` is left with these.

    Whoever waits or runs gives up its place; a run ends now, as if it was killed.
    """
    counts, queue, log = machine.counts, machine.queue, replay.log
    depends = len(replay.dependents.pending) > 0
    out = 0
    for job in range(counts[SUBMITTED]):
        if not is_out[job]:
            continue
        run = machine.run[job]
        if run >= 0:
            if machine.allocated[job] > 0:  # pyss frees processors before the run is over
                release(machine, job)
            log.end[run], log.ended_by[run], log.work[run] = machine.clock[NOW], KILL, 0.0
            replay.counts[STALE] += 1
            machine.run[job] = NOBODY
            leave(queue, job)
        elif is_waiting(queue, job):
            go_away(machine, job)
        elif not is_held(machine, job) and not (depends and replay.dependents.listed_at[job] >= 0):
            is_out[job] = False  # it had ended
            continue
        out += 1
    kept = 0
    for i in range(counts[HELD]):
        time, job = machine.held_until[i], machine.held[i]
        if not is_out[job]:
            push(machine.held_until, machine.held, kept, time, job)
            kept += 1
    counts[HELD] = kept
    replay.counts[DONE] += out
    if out > 0:
        counts[DISTURBED] += 1
