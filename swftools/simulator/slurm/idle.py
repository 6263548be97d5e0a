# SPDX-License-Identifier: BSD-3-Clause
"""What changes while Slurm's rules decide, as it begins: nobody waits or runs."""

from __future__ import annotations

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.machines.slurm_site import SlurmSite
from swftools.simulator.slurm import state as places
from swftools.simulator.slurm.found import SPANS
from swftools.simulator.slurm.node_sets import BITS
from swftools.simulator.slurm.numbers import clock_of
from swftools.simulator.slurm.rooms import BLOCK
from swftools.simulator.slurm.setting import Setting
from swftools.simulator.slurm.state import BILLING, CHANGES, RESOURCES, UNKNOWN, WORDS, Amounts, Dynamic, Given

FOUND = 8192
"""How much is kept of what was found for jobs of one shape on a set of nodes."""

ROOMS = 1024
"""How many lists are kept of when nodes have room."""

STOPS = 8
"""How often jobs may be stopped, on average, by preemption and nodes that go down: what they had then is kept."""


def idle_state(given: Given, setting: Setting, site: SlurmSite) -> Dynamic:
    """Return an idle machine, before the first job comes, and room to decide in."""
    jobs, nodes = len(given.cpus), len(given.cores)
    words, entries = -(-nodes // BITS), int(given.first_partition[-1])
    held, running = int(given.first_held[-1]), max(int(given.cores.sum()), 1)
    if given.number[places.SUSPENDS] > 0.0:  # those that stand hold CPUs that others have
        running = jobs
    associations, qos = len(given.above), len(given.qos_factor)
    users, accounts = int(given.user.max(initial=0)) + 1, int(given.account.max(initial=0)) + 1
    records = int(2 * given.number[places.BF_TESTS]) + 4
    reasons = 8 * jobs + 64
    follows = setting.logged is not None and setting.logged.is_followed
    merged = entries + 1 if site.preempt_type == "qos" else 0
    copied = entries if given.number[places.TEST_TIME] > 0.0 else 0

    def whole(size: int, value: int = 0) -> IntArray:
        return np.full(size, value, np.int64)

    def real(size: int, value: float = 0.0) -> FloatArray:
        return np.full(size, value)

    def amounts() -> Amounts:
        return Amounts(given.cores.copy(), given.memory.copy(), given.gpus.copy(), whole(nodes))

    number = given.number
    clock = clock_of(number)
    counts = whole(places.COUNTS)
    counts[WORDS] = words
    used = real((associations + qos) * RESOURCES)
    if site.has_usage:
        used[BILLING : associations * RESOURCES : RESOURCES] = [each.usage for each in site.associations]
    may_stop = site.preempt_type != "none" or len(given.change_time) > 0
    stops, past = (STOPS * jobs + 64, STOPS * held + 64) if may_stop else (0, 0)
    up = whole(words)
    for node in range(nodes):
        up[node // BITS] |= 1 << node % BITS
    return Dynamic(
        counts=counts,
        clock=clock,
        eligible=real(jobs, np.nan),
        pending=whole(jobs),
        entry_job=whole(entries + 1),
        entry_partition=whole(entries + 1),
        entry_priority=real(entries + 1),
        runner=whole(min(jobs, running) + 1),
        by_number=whole(min(jobs, running) + 1),
        began=real(jobs),
        started=real(jobs),
        limit_end=real(jobs),
        held_count=whole(jobs),
        held_node=whole(held),
        held_cores=whole(held),
        held_gpus=whole(held),
        is_on=whole(jobs),
        has_time=whole(jobs),
        ran_in=whole(jobs, UNKNOWN),
        by=whole(jobs),
        trial=whole(2 * min(jobs, running) + 2),
        now=amounts(),
        then=amounts(),
        up=up,
        cleaning=whole(words),
        clean_time=real(nodes),
        away=whole(nodes),
        has_left=whole(jobs),
        victim=whole(min(jobs, running) + 1),
        is_gone=whole(jobs),
        doom=real(jobs, np.inf),
        stands=whole(jobs),
        went_on=real(jobs),
        ran=real(jobs),
        crowd=whole(nodes),
        gone=real(jobs, np.nan),
        ran_priority=real(jobs),
        past_job=np.zeros(stops, np.int64),
        past_first=np.zeros(stops, np.int64),
        past_count=np.zeros(stops, np.int64),
        past_in=np.zeros(stops, np.int64),
        past_by=np.zeros(stops, np.int64),
        past_node=np.zeros(past, np.int64),
        past_cores=np.zeros(past, np.int64),
        past_gpus=np.zeros(past, np.int64),
        used=used,
        fair_share=real(associations),
        level=real(associations),
        stack=whole(4 * associations + 8),
        siblings=whole(associations + 1),
        jobs_of=whole(associations + qos),
        in_use=real((associations + qos) * RESOURCES),
        running_seconds=real((associations + qos) * RESOURCES),
        jobs_of_user=whole(qos * users),
        in_use_of_user=real(qos * users * RESOURCES),
        jobs_of_account=whole(qos * accounts),
        in_use_of_account=real(qos * accounts * RESOURCES),
        tasks_running=whole(int(given.array.max(initial=-1)) + 1),
        resources=real(RESOURCES),
        on_node=real(RESOURCES),
        allowed=whole(words),
        available=whole(words),
        before=whole(words),
        picked=whole(words),
        free_cores=whole(nodes),
        usable=whole(nodes),
        most=whole(nodes),
        chosen=whole(nodes + 1),
        got=whole(nodes + 1),
        run_first=whole(nodes),
        run_behind=whole(nodes),
        run_cores=whole(nodes),
        run_gpus=whole(nodes),
        run_key=whole(nodes),
        leaf_nodes=whole(len(given.parent)),
        leaf_way=whole(len(given.parent)),
        leaf_taken=whole(len(given.parent)),
        light=whole(nodes),
        lit=whole(words),
        failed=whole(len(given.tier)),
        tested=whole(len(given.tier)),
        tested_user=whole(users),
        tested_user_partition=whole(users * len(given.tier)),
        tested_association=whole(associations + 1),
        planned_tasks=whole(int(given.array.max(initial=-1)) + 1),
        refused=whole((int(given.array.max(initial=-1)) + 1) * len(given.tier)),
        bf_tested=whole(len(given.tier)),
        bf_refused=whole((int(given.array.max(initial=-1)) + 1) * len(given.tier)),
        cycle_job=whole(copied),
        cycle_partition=whole(copied),
        cycle_priority=real(copied),
        found_after=whole(FOUND, UNKNOWN),
        found_shape=whole(FOUND),
        found_in=whole(FOUND),
        found_light=whole(FOUND),
        found_last=whole(FOUND),
        found_begin=real(FOUND),
        found_spans=real(SPANS * FOUND),
        found_not_before=real(FOUND),
        found_sets=whole(2 * FOUND * words),
        found_amounts=real(2 * FOUND * RESOURCES),
        changed_sets=whole(CHANGES * words),
        changed_end=real(CHANGES),
        changed_ends=whole(CHANGES),
        first_on=whole(nodes, UNKNOWN),
        next_on=whole(held),
        held_by=whole(held),
        room_shape=whole(ROOMS, UNKNOWN),
        room_in=whole(ROOMS),
        room_after=whole(ROOMS, UNKNOWN),
        room_count=whole(ROOMS),
        room_node=np.zeros(ROOMS * nodes, np.int64),
        room_time=np.zeros(ROOMS * nodes),
        room_of=np.zeros(ROOMS * nodes),
        room_known=whole(ROOMS),
        room_sets=np.zeros(ROOMS * (nodes // BLOCK + 1) * words, np.int64),
        roomy=whole(words),
        may_have=whole(words),
        begin=real(records),
        end=real(records),
        next=whole(records),
        free=whole(records * words),
        other_low=whole(records),
        other_behind=whole(records),
        kept_job=whole(merged),
        kept_partition=whole(merged),
        kept_priority=real(merged),
        line=whole(merged),
        merged=whole(merged),
        next_task=whole(merged),
        last_task=whole((int(given.array.max(initial=-1)) + 1) * len(given.tier), UNKNOWN),
        split_time=real(int(given.array.max(initial=-1)) + 1, -np.inf),
        halves=whole(600),
        seen_qos=whole(qos),
        reason=whole(jobs),
        reason_job=whole(reasons),
        reason_time=real(reasons),
        reason_code=whole(reasons),
        would_time=real(jobs if follows else 0, np.nan),
        would_by=whole(jobs if follows else 0),
        would_in=whole(jobs if follows else 0),
        would_count=whole(jobs if follows else 0),
        would_node=whole(held if follows else 0),
        would_cores=whole(held if follows else 0),
        would_last=real(jobs if follows else 0, np.nan),
        might_time=real(jobs if follows else 0, np.nan),
        would_like=whole(jobs if follows else 0),
        might_orders=whole(jobs if follows else 0),
        shifted=real(jobs if follows else 0, np.nan),
        shift=real(associations if follows else 0, np.inf),
        together=whole(jobs if follows else 0),
    )
