# SPDX-License-Identifier: BSD-3-Clause
"""The work of jobs: what was done of it, what a run on another width takes, and what going on costs.

Work is counted in seconds on the job's own width. A run on other processors takes S(own width) / S(processors) times
as long, by the job's speedup curve S. A run that goes on with work that was done before begins with an overhead, during
which nothing is done.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.models.speedup import DOWNEY, NO_CURVE, downey_speedup_at, simple_speedup_at
from swftools.simulator.instants import instant, time_since, whole_times
from swftools.simulator.machine.state import FIXED, NOW, PER_PROCESSOR, Machine


@kernel(allocates=False)
def stretch_on(machine: Machine, job: int, processors: int) -> float:
    """Return the factor by which a job's times grow on a number of processors; 0 if it cannot run on that many.

    That is S(own width) / S(processors) of its speedup curve; 1 on its own width.
    """
    requests = machine.requests
    own = requests.processors[job]
    if processors == own:
        return 1.0
    if len(requests.speedup) == 0:
        return 0.0
    curve, a, sigma = requests.speedup[job, 0], requests.speedup[job, 1], requests.speedup[job, 2]
    if curve == NO_CURVE or processors < max(requests.speedup[job, 3], 1.0) or processors > requests.speedup[job, 4]:
        return 0.0
    if curve == DOWNEY:
        stretch = downey_speedup_at(float(own), a, sigma) / downey_speedup_at(float(processors), a, sigma)
    else:
        stretch = simple_speedup_at(float(own), float(own)) / simple_speedup_at(float(processors), float(own))
    return stretch if 0.0 < stretch < np.inf else 0.0  # NaN where the curve does not reach: such a job would never end


@kernel(allocates=False)
def work_done(machine: Machine, job: int) -> float:
    """Return how much of its work a job has done so far, s on its own width; all of it when it has ended."""
    return machine.done[job] + (work_of_run(machine, job) if machine.allocated[job] > 0 else 0.0)


@kernel(allocates=False)
def work_of_run(machine: Machine, job: int) -> float:
    """Return how much work a running job did in its present run."""
    time = time_since(machine.start_time[job], machine.clock[NOW]) - machine.overhead[job]
    return max(time, 0.0) / stretch_on(machine, job, machine.allocated[job])


@kernel(allocates=False)
def restart_overhead(machine: Machine, job: int, processors: int) -> float:
    """Return what a run of a job on processors begins with, s: nothing unless it goes on with work that was done."""
    if machine.done[job] == 0.0:
        return 0.0
    return overhead_of_going_on(machine, job, processors)


@kernel(allocates=False)
def time_to_go(machine: Machine, job: int, time: float, processors: int, stretch: float) -> float:
    """Return how long a run takes that begins now, if all of the job's work is ``time``."""
    return restart_overhead(machine, job, processors) + (time - machine.done[job]) * stretch


@kernel(allocates=False)
def time_if_stopped(machine: Machine, job: int) -> float:
    """Return how long a running job is expected to run when it starts again, s, if it is stopped now by ``CHECKPOINT``.

    On its own width, with the overhead of going on; what it did since its last checkpoint it does again.
    """
    requests = machine.requests
    time, kept = requests.requested_time[job], last_checkpoint(machine, job, work_done(machine, job))
    if kept == 0.0:
        return time
    if time <= kept:
        time = max(requests.limit[job], kept)
    return overhead_of_going_on(machine, job, requests.processors[job]) + time - kept


@kernel(allocates=False)
def overhead_of_going_on(machine: Machine, job: int, processors: int) -> float:
    """Return what a run of a job on processors begins with, s, if it goes on with work that was done."""
    of_job = machine.requests.restart_overhead
    overhead = machine.restart[FIXED] + machine.restart[PER_PROCESSOR] * processors
    return overhead + of_job[job] if len(of_job) > 0 else overhead


@kernel(allocates=False)
def last_checkpoint(machine: Machine, job: int, work: float) -> float:
    """Return how much of the work that a job has done its last checkpoint has.

    A job writes one whenever another ``checkpoint_interval`` of its work is done.
    """
    intervals = machine.requests.checkpoint_interval
    if len(intervals) == 0 or not intervals[job] > 0.0:
        return 0.0
    return instant(whole_times(work, intervals[job]) * intervals[job])
