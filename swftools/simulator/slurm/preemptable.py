# SPDX-License-Identifier: BSD-3-Clause
"""Which running jobs may be preempted, and how; and what their runs had that are stopped."""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.machine.state import Machine
from swftools.simulator.slurm.state import PAST, PAST_PARTS, PREEMPTS_BY, UNKNOWN, Dynamic, Given

NOBODY_PREEMPTS, BY_QOS, BY_TIER = range(3)

REQUEUE, CANCEL, NEVER, SUSPEND = range(4)
"""How a job is preempted: it may start again; it is gone, for which it is held back for ever; not at all; it stands
until its CPUs are free again."""


@kernel(allocates=False)
def mode_of(given: Given, state: Dynamic, runner: int) -> int:
    """Return how a running job is preempted."""
    if int(given.number[PREEMPTS_BY]) == BY_QOS:
        return NEVER if given.qos[runner] == UNKNOWN else given.qos_mode[given.qos[runner]]
    return given.partition_mode[state.ran_in[runner]]


@kernel(allocates=False)
def may_preempt(given: Given, state: Dynamic, job: int, partition: int, runner: int, now: float) -> bool:
    """Whether a job may preempt a running one."""
    by, qos, theirs = int(given.number[PREEMPTS_BY]), given.qos[job], given.qos[runner]
    if by == BY_QOS:
        if min(qos, theirs) == UNKNOWN or given.preempts[qos * len(given.qos_factor) + theirs] == 0:
            return False
        if given.qos_mode[theirs] == NEVER:
            return False
        return now - state.started[runner] >= given.exempt_time[theirs]
    if by == BY_TIER:
        other = state.ran_in[runner]
        return given.partition_mode[other] != NEVER and given.tier[other] < given.tier[partition]
    return False


@kernel(allocates=False)
def keep_past(given: Given, state: Dynamic, machine: Machine, job: int) -> None:
    """Write down what a run had that is over, for the schedule; as long as there is room.

    A run of this very decision leaves no trace there.
    """
    if machine.run[job] < 0:
        return
    row, part, first, many = state.counts[PAST], state.counts[PAST_PARTS], given.first_held[job], state.held_count[job]
    if row == len(state.past_job) or part + many > len(state.past_node):
        return
    state.past_job[row], state.past_first[row], state.past_count[row] = job, part, many
    state.past_in[row], state.past_by[row] = state.ran_in[job], state.by[job]
    for i in range(many):
        state.past_node[part + i] = state.held_node[first + i]
        state.past_cores[part + i] = state.held_cores[first + i]
        state.past_gpus[part + i] = state.held_gpus[first + i]
    state.counts[PAST] += 1
    state.counts[PAST_PARTS] += many
