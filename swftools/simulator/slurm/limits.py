# SPDX-License-Identifier: BSD-3-Clause
"""Limits of associations and QOS: whether a job may start, and what is held by whom.

A partition's QOS comes before the job's, and both before its association and those above it. Of limits of one kind that
both QOS have, the partition's counts.
"""

from __future__ import annotations

from swftools.kernel import FloatArray, kernel
from swftools.simulator.slurm.state import (
    ENFORCES,
    LEFT_OUT,
    NO_LIMIT,
    NO_LIMITS,
    NODES,
    RESOURCES,
    UNKNOWN,
    Dynamic,
    Given,
)

(NONE, LACKS, BEHIND, TASKS, OWN_JOBS, JOBS, JOBS_OF_USER, JOBS_OF_ACCOUNT, WALL) = range(9)
(IN_ALL, OF_JOB, ON_NODE, OF_USER, OF_ACCOUNT, LEAST, MINUTES, RUNNING_MINUTES, JOB_MINUTES) = range(10, 100, 10)
"""Why a job waits: resources lack, others go first, a limit of its array, of its association's jobs, ...; those of
resources have the number of the resource added, and those of a QOS ``OF_QOS``."""

OF_QOS = 100


@kernel(allocates=False)
def are_enforced(given: Given) -> bool:
    """Whether there are limits at all."""
    return given.number[ENFORCES] > 0.0 and int(given.number[LEFT_OUT]) != NO_LIMITS


@kernel(allocates=False)
def qos_at(given: Given, job: int, partition: int, turn: int) -> int:
    """Return the QOS whose limits count first (turn 0: the partition's) or second (the job's); UNKNOWN if none."""
    of_partition, of_job = given.partition_qos[partition], given.qos[job]
    if turn == 0:
        return of_partition
    return UNKNOWN if of_job == of_partition else of_job


@kernel(allocates=False)
def set_before(given: Given, limits: FloatArray, partition: int, turn: int, resource: int, width: int) -> bool:
    """Whether the partition's QOS has such a limit already, so that the job's does not count."""
    first = given.partition_qos[partition]
    return turn == 1 and first != UNKNOWN and limits[first * width + resource] < NO_LIMIT


@kernel(allocates=False)
def why_not_before(given: Given, state: Dynamic, job: int, partition: int) -> int:
    """Return the limit of numbers of jobs, or of a job's time, that stands against a job; NONE if none does."""
    array = given.array[job]
    if array != UNKNOWN and given.array_limit[job] > 0 and state.tasks_running[array] >= given.array_limit[job]:
        return TASKS
    if not are_enforced(given):
        return NONE
    associations, users = len(given.above), len(state.jobs_of_user) // max(len(given.qos_factor), 1)
    accounts = len(state.jobs_of_account) // max(len(given.qos_factor), 1)
    for turn in range(2):
        qos = qos_at(given, job, partition, turn)
        if qos == UNKNOWN:
            continue
        holder = associations + qos
        if state.jobs_of[holder] + 1 > given.most_jobs[holder]:
            return JOBS + OF_QOS
        if not set_before(given, given.most_jobs_of_user, partition, turn, 0, 1):
            if state.jobs_of_user[qos * users + given.user[job]] + 1 > given.most_jobs_of_user[qos]:
                return JOBS_OF_USER + OF_QOS
        if not set_before(given, given.most_jobs_of_account, partition, turn, 0, 1):
            if state.jobs_of_account[qos * accounts + given.account[job]] + 1 > given.most_jobs_of_account[qos]:
                return JOBS_OF_ACCOUNT + OF_QOS
        if given.limit[job] > given.longest[holder]:
            return WALL + OF_QOS
    holder, is_own = given.association[job], True
    while holder != UNKNOWN:
        if is_own and state.jobs_of[holder] + 1 > given.most_own_jobs[holder]:
            return OWN_JOBS
        if state.jobs_of[holder] + 1 > given.most_jobs[holder]:
            return JOBS
        if is_own and given.limit[job] > given.longest[holder]:
            return WALL
        holder, is_own = given.above[holder], False
    return NONE


@kernel(allocates=False)
def why_not_after(given: Given, state: Dynamic, job: int, partition: int) -> int:
    """Return the limit of resources that stands against a job which would hold ``state.resources``; NONE if none."""
    if not are_enforced(given):
        return NONE
    associations = len(given.above)
    for turn in range(2):
        qos = qos_at(given, job, partition, turn)
        if qos != UNKNOWN:
            found = of_holder(given, state, job, associations + qos, True)
            if found == NONE:
                found = of_qos(given, state, job, partition, qos, turn)
            if found != NONE:
                return found + OF_QOS
    holder, is_own = given.association[job], True
    while holder != UNKNOWN:
        found = of_holder(given, state, job, holder, is_own)
        if found != NONE:
            return found
        holder, is_own = given.above[holder], False
    return NONE


@kernel(allocates=False)
def of_holder(given: Given, state: Dynamic, job: int, holder: int, is_own: bool) -> int:
    """Return the limit of all jobs of a holder, or of each if it is the job's own, that a job would exceed."""
    at, minutes = holder * RESOURCES, given.limit[job] / 60.0
    for resource in range(RESOURCES):
        asked = state.resources[resource]
        if state.in_use[at + resource] + asked > given.most_in_all[at + resource]:
            return IN_ALL + resource
        if state.running_minutes[at + resource] + asked * minutes > given.most_running_minutes[at + resource]:
            return RUNNING_MINUTES + resource
        if used_minutes(given, state, holder, resource) + asked * minutes > given.most_minutes[at + resource]:
            return MINUTES + resource
        if is_own:
            if asked > given.most_of_job[at + resource]:
                return OF_JOB + resource
            if asked > given.most_on_node[at + resource] * state.resources[NODES]:
                return ON_NODE + resource
            if asked * minutes > given.most_minutes_of_job[at + resource]:
                return JOB_MINUTES + resource
    return NONE


@kernel(allocates=False)
def used_minutes(given: Given, state: Dynamic, holder: int, resource: int) -> float:  # noqa: ARG001 (all are billed alike)
    """Return what a holder has used, decayed, in resource x minutes: of CPUs and billing, others are not counted."""
    associations = len(given.above)
    used = state.usage[holder] if holder < associations else state.qos_usage[holder - associations]
    return used / 60.0


@kernel(allocates=False)
def of_qos(given: Given, state: Dynamic, job: int, partition: int, qos: int, turn: int) -> int:
    """Return the limit of a QOS by user or account, or its least, that stands against a job."""
    users, accounts = (
        len(state.jobs_of_user) // len(given.qos_factor),
        len(state.jobs_of_account) // len(given.qos_factor),
    )
    of_user = (qos * users + given.user[job]) * RESOURCES
    of_account = (qos * accounts + given.account[job]) * RESOURCES
    at = qos * RESOURCES
    for resource in range(RESOURCES):
        asked = state.resources[resource]
        if not set_before(given, given.most_of_user, partition, turn, resource, RESOURCES):
            if state.in_use_of_user[of_user + resource] + asked > given.most_of_user[at + resource]:
                return OF_USER + resource
        if not set_before(given, given.most_of_account, partition, turn, resource, RESOURCES):
            if state.in_use_of_account[of_account + resource] + asked > given.most_of_account[at + resource]:
                return OF_ACCOUNT + resource
        if asked < given.least_of_job[at + resource]:
            return LEAST + resource
    return NONE


@kernel(allocates=False)
def count_job(given: Given, state: Dynamic, job: int, partition: int, sign: int) -> None:
    """Count what a job holds, ``state.resources``, for all whose limits it touches; sign -1: no more."""
    minutes = given.limit[job] / 60.0
    if given.array[job] != UNKNOWN:
        state.tasks_running[given.array[job]] += sign
    holder = given.association[job]
    while holder != UNKNOWN:
        count_holder(state, holder, minutes, sign)
        holder = given.above[holder]
    for turn in range(2):
        qos = qos_at(given, job, partition, turn)
        if qos == UNKNOWN:
            continue
        count_holder(state, len(given.above) + qos, minutes, sign)
        users = len(state.jobs_of_user) // len(given.qos_factor)
        accounts = len(state.jobs_of_account) // len(given.qos_factor)
        of_user, of_account = qos * users + given.user[job], qos * accounts + given.account[job]
        state.jobs_of_user[of_user] += sign
        state.jobs_of_account[of_account] += sign
        for resource in range(RESOURCES):
            amount = sign * state.resources[resource]
            state.in_use_of_user[of_user * RESOURCES + resource] += amount
            state.in_use_of_account[of_account * RESOURCES + resource] += amount


@kernel(allocates=False)
def count_holder(state: Dynamic, holder: int, minutes: float, sign: int) -> None:
    """Count a job for one holder."""
    state.jobs_of[holder] += sign
    for resource in range(RESOURCES):
        amount = sign * state.resources[resource]
        state.in_use[holder * RESOURCES + resource] += amount
        state.running_minutes[holder * RESOURCES + resource] += amount * minutes
