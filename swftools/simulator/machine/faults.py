# SPDX-License-Identifier: BSD-3-Clause
"""What a policy or predictor may not do, and how a simulation ends when it does."""

from __future__ import annotations

from typing import Never

from swftools.kernel import kernel
from swftools.simulator.machine.state import FAULT, FAULT_FREE, FAULT_JOB, FREE, Machine

TOO_WIDE, NOT_WAITING, NOT_RUNNING, NO_SUCH_JOB, IN_THE_PAST, TOO_MANY, IDLE, ENDLESS, NO_SUCH_WIDTH = range(1, 10)
NO_SUCH_WAY, NO_TIME, RESIZE_TOO_WIDE, NOT_SUBMITTED, WRONG_COST, HOLDING, IS_AWAY, NO_NODES = range(10, 18)

FAULTS = {
    TOO_WIDE: "started job {job}, which needs {width} processors, with {free} free",
    NOT_WAITING: "started job {job}, which is not waiting",
    NOT_RUNNING: "preempted or resized job {job}, which is not running",
    NO_SUCH_JOB: "named a job {index} that there is not",
    IN_THE_PAST: "asked to be woken at a time that is not to come",
    TOO_MANY: "acted more often in one decision than there are processors",
    IDLE: "leaves {waiting} waiting on an idle machine, job {job} first among them",
    ENDLESS: "decides on and on while no job comes or ends; {waiting} waited, job {job} first",
    NO_SUCH_WIDTH: "started or resized job {job} to a width that its speedup curve does not allow",
    NO_SUCH_WAY: "preempted job {job} neither by KILL nor by CHECKPOINT nor by SUSPEND",
    NO_TIME: "predicted job {job} by NaN, or held it until NaN or for ever, or while it is not waiting",
    RESIZE_TOO_WIDE: "resized job {job} to more processors than it has and are free ({free})",
    NOT_SUBMITTED: "predicted or held job {job}, which has not been submitted",
    HOLDING: "holds {held} back on and on, while no job comes or ends; job {job} is one of them",
    IS_AWAY: "preempted or resized job {job}, which stands for processors that are away (is_away)",
    NO_NODES: "started job {job}, which does not fit on nodes now; ask fits before start",
    WRONG_COST: "measures job {job} by less than 0 or NaN; costs are 0 or more",
}
"""The faults in words; 0 in ``counts[FAULT]`` is none."""


@kernel(allocates=False)
def fail(machine: Machine, fault: int, job: int) -> Never:
    """Note what is wrong and end the simulation."""
    counts = machine.counts
    counts[FAULT], counts[FAULT_JOB], counts[FAULT_FREE] = fault, job, counts[FREE]
    raise ValueError("the policy acted wrongly")
