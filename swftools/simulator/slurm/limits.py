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
    RESOURCES,
    UNKNOWN,
    Dynamic,
    Given,
)

(NONE, LACKS, BEHIND, TASKS, OWN_JOBS, JOBS, JOBS_OF_USER, JOBS_OF_ACCOUNT, WALL, BEGIN_TIME) = range(10)
(IN_ALL, OF_JOB, ON_NODE, OF_USER, OF_ACCOUNT, LEAST, MINUTES, RUNNING_MINUTES, JOB_MINUTES) = range(10, 100, 10)
"""Why a job waits: resources lack, others go first, a limit of its array, of its association's jobs, ...; those of
resources have the number of the resource added, and those of a QOS ``OF_QOS``."""

OF_QOS = 100


@kernel(allocates=False)
def are_enforced(given: Given) -> bool:
    """Whether there are limits at all."""
    return given.number[ENFORCES] > 0.0 and int(given.number[LEFT_OUT]) != NO_LIMITS


@kernel(allocates=False)
def is_of_usage(reason: int) -> bool:
    """Whether a job waits because of a limit of what was used before it."""
    return MINUTES <= reason % OF_QOS < RUNNING_MINUTES


@kernel(allocates=False)
def qos_at(given: Given, job: int, partition: int, turn: int) -> int:
    """Return the QOS whose limits count first (turn 0: the partition's) or second (the job's); UNKNOWN if none."""
    of_partition, of_job = given.partition_qos[partition], given.qos[job]
    if turn == 0:
        return of_partition
    return UNKNOWN if of_job == of_partition else of_job


@kernel(allocates=False)
def is_told(limits: FloatArray, qos: int, resource: int, width: int) -> bool:
    """Whether a QOS, if it is one, has such a limit."""
    return qos != UNKNOWN and limits[qos * width + resource] < NO_LIMIT


@kernel(allocates=False)
def is_told_by_any(given: Given, limits: FloatArray, job: int, partition: int, resource: int, width: int) -> bool:
    """Whether a QOS of a job has such a limit; ``limits`` are of holders, associations first."""
    for turn in range(2):
        qos = qos_at(given, job, partition, turn)
        if qos != UNKNOWN and limits[(len(given.above) + qos) * width + resource] < NO_LIMIT:
            return True
    return False


@kernel(allocates=False)
def reaches_array_limit(given: Given, state: Dynamic, job: int) -> bool:
    """Whether as many tasks of a job's array run as may at once."""
    array, most = given.array[job], given.array_limit[job]
    return array != UNKNOWN and most > 0 and state.tasks_running[array] >= most


@kernel(allocates=False)
def why_not_before(given: Given, state: Dynamic, job: int, partition: int) -> int:
    """Return the limit of numbers of jobs, or of a job's time, that stands against a job; NONE if none does."""
    if not are_enforced(given):
        return NONE
    for turn in range(2):
        qos = qos_at(given, job, partition, turn)
        if qos != UNKNOWN:
            before = given.partition_qos[partition] if turn == 1 else UNKNOWN
            found = qos_before(given, state, job, qos, before)
            if found != NONE:
                return found + OF_QOS
    holder, is_own = given.association[job], True
    while holder != UNKNOWN:
        if state.jobs_of[holder] + 1 > given.most_jobs[holder]:
            return JOBS
        if is_own:
            found = association_before(given, state, job, partition, holder)
            if found != NONE:
                return found
        holder, is_own = given.above[holder], False
    return NONE


@kernel(allocates=False)
def qos_before(given: Given, state: Dynamic, job: int, qos: int, before: int) -> int:
    """Return the limit of a QOS that stands against a job, whatever its nodes, but for those that another QOS has."""
    associations, many = len(given.above), len(given.qos_factor)
    users, accounts = len(state.jobs_of_user) // many, len(state.jobs_of_account) // many
    holder, of_before = associations + qos, associations + before if before != UNKNOWN else UNKNOWN
    of_account = state.jobs_of_account[qos * accounts + given.account[job]]
    of_user = state.jobs_of_user[qos * users + given.user[job]]
    if state.jobs_of[holder] + 1 > given.most_jobs[holder] and not is_told(given.most_jobs, of_before, 0, 1):
        return JOBS
    if of_account + 1 > given.most_jobs_of_account[qos] and not is_told(given.most_jobs_of_account, before, 0, 1):
        return JOBS_OF_ACCOUNT
    if of_user + 1 > given.most_jobs_of_user[qos] and not is_told(given.most_jobs_of_user, before, 0, 1):
        return JOBS_OF_USER
    if given.limit[job] > given.longest[holder] and not is_told(given.longest, of_before, 0, 1):
        return WALL
    return NONE


@kernel(allocates=False)
def association_before(given: Given, state: Dynamic, job: int, partition: int, holder: int) -> int:
    """Return the limit of a job's own association that stands against it, where no QOS has such a limit."""
    if state.jobs_of[holder] + 1 > given.most_own_jobs[holder]:
        first, second = qos_at(given, job, partition, 0), qos_at(given, job, partition, 1)
        by_first = is_told(given.most_jobs_of_user, first, 0, 1)
        if not by_first and not is_told(given.most_jobs_of_user, second, 0, 1):
            return OWN_JOBS
    if given.limit[job] > given.longest[holder] and not is_told_by_any(given, given.longest, job, partition, 0, 1):
        return WALL
    return NONE


@kernel(allocates=False)
def why_not_after(given: Given, state: Dynamic, job: int, partition: int) -> int:
    """Return the limit of resources that stands against a job which would hold ``state.resources``; NONE if none.

    ``state.on_node`` has the most that it would hold on a node.
    """
    if not are_enforced(given):
        return NONE
    associations = len(given.above)
    for turn in range(2):
        qos = qos_at(given, job, partition, turn)
        if qos == UNKNOWN:
            continue
        before = given.partition_qos[partition] if turn == 1 else UNKNOWN
        of_before = associations + before if before != UNKNOWN else UNKNOWN
        found = of_all_jobs(given, state, job, associations + qos, of_before)
        if found == NONE:
            found = of_the_job(given, state, job, partition, associations + qos, of_before)
        if found == NONE:
            found = of_qos(given, state, job, qos, before)
        if found != NONE:
            return found + OF_QOS
    holder = given.association[job]
    while holder != UNKNOWN:
        found = of_all_jobs(given, state, job, holder, UNKNOWN)
        if found == NONE and holder == given.association[job]:
            found = of_the_job(given, state, job, partition, holder, UNKNOWN)
        if found != NONE:
            return found
        holder = given.above[holder]
    return NONE


@kernel(allocates=False)
def of_all_jobs(given: Given, state: Dynamic, job: int, holder: int, before: int) -> int:
    """Return the limit of all jobs of a holder that a job would exceed, but for those that another one has."""
    at, minutes = holder * RESOURCES, given.limit[job] / 60.0
    for resource in range(RESOURCES):
        found = state.used[at + resource] / 60.0 + state.resources[resource] * minutes
        if found > given.most_minutes[at + resource] and not is_told(given.most_minutes, before, resource, RESOURCES):
            return MINUTES + resource
    for resource in range(RESOURCES):
        found = state.in_use[at + resource] + state.resources[resource]
        if found > given.most_in_all[at + resource] and not is_told(given.most_in_all, before, resource, RESOURCES):
            return IN_ALL + resource
    for resource in range(RESOURCES):
        # Whole seconds add up without an error, however many jobs came and went.
        found = (state.running_seconds[at + resource] + state.resources[resource] * given.limit[job]) / 60.0
        is_over = found > given.most_running_minutes[at + resource]
        if is_over and not is_told(given.most_running_minutes, before, resource, RESOURCES):
            return RUNNING_MINUTES + resource
    return NONE


@kernel(allocates=False)
def of_the_job(given: Given, state: Dynamic, job: int, partition: int, holder: int, before: int) -> int:
    """Return the limit of each job of a holder that a job would exceed.

    Those of an association count only where no QOS of the job has such a limit.
    """
    at, minutes, is_qos = holder * RESOURCES, given.limit[job] / 60.0, holder >= len(given.above)
    for resource in range(RESOURCES):
        is_over = state.resources[resource] * minutes > given.most_minutes_of_job[at + resource]
        if is_over and counts(given, given.most_minutes_of_job, job, partition, resource, before, is_qos):
            return JOB_MINUTES + resource
    for resource in range(RESOURCES):
        is_over = state.resources[resource] > given.most_of_job[at + resource]
        if is_over and counts(given, given.most_of_job, job, partition, resource, before, is_qos):
            return OF_JOB + resource
    for resource in range(RESOURCES):
        is_over = state.on_node[resource] > given.most_on_node[at + resource]
        if is_over and counts(given, given.most_on_node, job, partition, resource, before, is_qos):
            return ON_NODE + resource
    return NONE


@kernel(allocates=False)
def counts(
    given: Given, limits: FloatArray, job: int, partition: int, resource: int, before: int, is_qos: bool
) -> bool:
    """Whether a limit counts: of a QOS unless the one before has it, of an association unless any QOS has it."""
    if is_qos:
        return not is_told(limits, before, resource, RESOURCES)
    return not is_told_by_any(given, limits, job, partition, resource, RESOURCES)


@kernel(allocates=False)
def of_qos(given: Given, state: Dynamic, job: int, qos: int, before: int) -> int:
    """Return the limit of a QOS by account or user, or its least, that stands against a job."""
    users, accounts = (
        len(state.jobs_of_user) // len(given.qos_factor),
        len(state.jobs_of_account) // len(given.qos_factor),
    )
    of_user = (qos * users + given.user[job]) * RESOURCES
    of_account = (qos * accounts + given.account[job]) * RESOURCES
    at = qos * RESOURCES
    for resource in range(RESOURCES):
        has_before = before != UNKNOWN and given.least_of_job[before * RESOURCES + resource] > 0.0
        if not has_before and state.resources[resource] < given.least_of_job[at + resource]:
            return LEAST + resource
    for resource in range(RESOURCES):
        if not is_told(given.most_of_account, before, resource, RESOURCES):
            in_use = state.in_use_of_account[of_account + resource]
            if in_use + state.resources[resource] > given.most_of_account[at + resource]:
                return OF_ACCOUNT + resource
    for resource in range(RESOURCES):
        if not is_told(given.most_of_user, before, resource, RESOURCES):
            in_use = state.in_use_of_user[of_user + resource]
            if in_use + state.resources[resource] > given.most_of_user[at + resource]:
                return OF_USER + resource
    return NONE


@kernel(allocates=False)
def count_job(given: Given, state: Dynamic, job: int, partition: int, sign: int) -> None:
    """Count what a job holds, ``state.resources``, for all whose limits it touches; sign -1: no more."""
    limit = given.limit[job]
    if given.array[job] != UNKNOWN:
        state.tasks_running[given.array[job]] += sign
    holder = given.association[job]
    while holder != UNKNOWN:
        count_holder(state, holder, limit, sign)
        holder = given.above[holder]
    for turn in range(2):
        qos = qos_at(given, job, partition, turn)
        if qos == UNKNOWN:
            continue
        count_holder(state, len(given.above) + qos, limit, sign)
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
def count_holder(state: Dynamic, holder: int, limit: float, sign: int) -> None:
    """Count a job for one holder."""
    state.jobs_of[holder] += sign
    for resource in range(RESOURCES):
        amount = sign * state.resources[resource]
        state.in_use[holder * RESOURCES + resource] += amount
        state.running_seconds[holder * RESOURCES + resource] += amount * limit
