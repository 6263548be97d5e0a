# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm's rules know while they decide: what is given, and what changes. All arrays have one dimension.

Sets of nodes are bits in words of 62, ``words`` of them for each set. Resources are CPUs, memory, nodes, GPUs and
billing, in this order (``RESOURCES``). Associations and QOS are holders of limits, associations first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel

CHANGES = 64
"""Of who runs, the latest ones are known: which nodes, and when the limit ends or would have ended."""

CPU, MEMORY, NODES, GPUS, BILLING, RESOURCES = range(6)

NO_LIMIT = 1e300

LONG = 1e9
"""s for which a job is held back that is cancelled: until everything is over. Who comes later is left out."""

UNKNOWN = -1

(PHASE, TICK, BEGIN, BF_INTERVAL, BF_TESTS, BF_RESOLUTION, BF_WINDOW, BF_LINEAR, BF_PER_USER, BF_PER_PARTITION) = range(
    10
)
(BF_PER_USER_PARTITION, BF_PER_ASSOCIATION, BF_STARTS, BF_PER_ARRAY, BF_MIN_AGE, BF_MIN_PRIORITY) = range(10, 16)
(DELAY, DEPTH, INTERVAL, MAIN_STARTS, PARTITION_DEPTH, LIMIT_STOPS, HAS_BACKFILL, HAS_MAIN) = range(16, 24)
(W_AGE, W_ASSOCIATION, W_FAIR_SHARE, W_SIZE, W_PARTITION, W_QOS, W_CPU, W_MEMORY, W_NODES, W_GPUS, W_BILLING) = range(
    24, 35
)
(MAX_AGE, DECAY, CALC_PERIOD, FAVORS_SMALL, IS_FAIR_TREE, DAMPING, IS_MULTIFACTOR, ENFORCES) = range(35, 43)
(HAS_TOPOLOGY, FIRST_PASS, REQUEUE_DELAY, VERSION, FOLLOWS, EVERY, LEFT_OUT, PREEMPTS_BY, ORIGIN) = range(43, 52)
(YOUNGEST_FIRST, STRICT_ORDER, REORDERS, KEEPS_LIGHT, COMPLETING, BILLS_MOST, SUSPENDS) = range(52, 59)
(TEST_TIME, BF_CONTINUES, BF_MOST_TIME, YIELD_INTERVAL, YIELD_SLEEP, PACKS_SERIAL, KEEPS_USAGE) = range(59, 66)
NUMBERS = 66
"""Places in ``Given.number``. ``FIRST_PASS``: when the main scheduler is first due (s); ``EVERY``: s between two trials
of a referee, 0: as they are due; ``LEFT_OUT``: the mechanism that is left out, as a place in ``MECHANISMS``;
``ORIGIN``: second 0 in seconds since 1970, which Slurm counts in; ``KEEPS_LIGHT``: whether tests of jobs with GPUs
matter to others; ``COMPLETING``: s that nodes take to clean up behind a job; ``BILLS_MOST``: whether the resource that
costs most is billed, not the sum; ``SUSPENDS``: whether any job may be suspended; ``TEST_TIME``: s that backfill takes
for each job that it tests; ``KEEPS_USAGE``: whether usage does not decay."""

MECHANISMS = (
    *("nothing", "multifactor", "fair-share", "main", "backfill", "exclusive", "tiers", "memory"),
    *("closed-partitions", "windows", "gpus", "limits", "arrays", "best-fit", "plans"),
)
"""What may be left out, to see what it explains."""

NO_MULTIFACTOR, NO_FAIR_SHARE, NO_MAIN, NO_BACKFILL, NO_EXCLUSIVE, NO_TIERS, NO_MEMORY = range(1, 8)
NO_CLOSING, NO_WINDOWS, NO_GPUS, NO_LIMITS, NO_ARRAYS, NO_BEST_FIT, NO_PLANS = range(8, 15)
"""Places in ``MECHANISMS``."""

MAIN, BACKFILL, LOGGED = 1, 2, 3
"""Who started a job."""


class Given(NamedTuple):
    """What does not change: settings, what jobs ask, the machine, who has which limits.

    By job, as ``SlurmJobs`` has them; ``limit`` is its time limit (s), ``first_held`` where its nodes stand in
    ``Dynamic.held_node``, ``account`` the number of its account, ``shape`` that of all jobs that ask the same of nodes;
    ``first_life`` the number of the first life of a job that is logged several times, as it was requeued.
    By node: ``cores``, ``memory`` (MB), ``gpus``, ``weight`` (from 0 on, without gaps), ``leaf`` (a switch, -1: none).
    By switch its ``parent`` (-1: none) and its ``height``, 0 of leaves. By partition: ``tier``, ``partition_factor``,
    ``partition_qos``, weights of ``billing``. By QOS: ``qos_rank``: the lowest is preempted first. By holder: limits,
    ``NO_LIMIT`` where there is none. By association: who is ``above`` it, and the next above that has shares of its own
    (``sharing``), its ``share`` among those of its level, and of all (``normalized``), whether it ``is_user``, its
    children from ``first_child`` on among ``child``.
    What is ``logged`` is followed, with priorities that were ``sampled``. Nodes change at ``change_time``; what is
    ``reserved`` is for some.
    """

    number: FloatArray
    cpus: IntArray
    cpus_per_task: IntArray
    min_nodes: IntArray
    max_nodes: IntArray
    wanted: IntArray
    tasks_per_node: IntArray
    memory_per_cpu: IntArray
    memory_per_node: IntArray
    gpus_per_node: IntArray
    gpus_in_all: IntArray
    is_exclusive: IntArray
    first_partition: IntArray
    partition: IntArray
    nodes_allowed: IntArray
    user: IntArray
    account: IntArray
    association: IntArray
    qos: IntArray
    nice: FloatArray
    array: IntArray
    array_limit: IntArray
    limit: FloatArray
    first_held: IntArray
    shape: IntArray
    first_life: IntArray
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    weight: IntArray
    leaf: IntArray
    parent: IntArray
    height: IntArray
    tier: IntArray
    by_tier: IntArray
    partition_factor: FloatArray
    partition_qos: IntArray
    billing: FloatArray
    partition_bits: IntArray
    partition_alone: IntArray
    partition_totals: FloatArray
    set_bits: IntArray
    totals: FloatArray
    above: IntArray
    sharing: IntArray
    has_shares: IntArray
    share: FloatArray
    normalized: FloatArray
    is_user: IntArray
    first_child: IntArray
    child: IntArray
    association_factor: FloatArray
    qos_factor: FloatArray
    usage_factor: FloatArray
    plans_nothing: IntArray
    preempts: IntArray
    qos_rank: FloatArray
    qos_mode: IntArray
    partition_mode: IntArray
    exempt_time: FloatArray
    qos_grace: FloatArray
    partition_grace: FloatArray
    most_jobs: FloatArray
    most_own_jobs: FloatArray
    most_jobs_of_user: FloatArray
    most_jobs_of_account: FloatArray
    most_in_all: FloatArray
    most_of_job: FloatArray
    most_on_node: FloatArray
    most_of_user: FloatArray
    most_of_account: FloatArray
    least_of_job: FloatArray
    most_minutes: FloatArray
    most_running_minutes: FloatArray
    most_minutes_of_job: FloatArray
    longest: FloatArray
    logged_start: FloatArray
    logged_first: IntArray
    logged_node: IntArray
    logged_cores: IntArray
    leaves: FloatArray
    change_time: FloatArray
    change_node: IntArray
    change_by: IntArray
    change_kind: IntArray
    reserved_begin: FloatArray
    reserved_end: FloatArray
    reserved_known: FloatArray
    reserved_for: IntArray
    reserved_bits: IntArray
    may_use: IntArray
    logged_by: IntArray
    logged_partition: IntArray
    told_priority: FloatArray
    told_eligible: FloatArray
    logged_cycle: FloatArray
    sampled_first: IntArray
    sampled_time: FloatArray
    sampled_in: IntArray
    sampled_priority: FloatArray


class Amounts(NamedTuple):
    """What is free of each node: ``cores``, ``memory`` (MB), ``gpus``; and how many ``jobs`` run there."""

    cores: IntArray
    memory: IntArray
    gpus: IntArray
    jobs: IntArray


(SEEN, PENDING, ENTRIES, RUNNERS, MAIN_ASKED, CHANGED, WORDS, DEAD) = range(8)
(REASONS, RECORDS, LOST_REASONS, TRIALS, BEGUN, NEXT_CHANGE, VICTIMS, PAST, PAST_PARTS) = range(8, 17)
(STARTS_AND_ENDS, ROOMY, USABLE_NODES, USABLE_CORES, RECORD, FIRST_NODE, BEHIND_NODES) = range(17, 24)
(ORDER, NEXT_CYCLE, IS_CUT, IS_TOO_LITTLE, LOW_WORD, BEHIND_WORD, LIGHT, CLEANS) = range(24, 32)
LAST_TO_END, STANDING, CYCLE, CYCLE_PLACE, CYCLE_ENTRIES, CYCLE_TESTS, CYCLE_STARTS, IS_LATE, COUNTS = range(32, 41)
"""Places in ``Dynamic.counts``: jobs seen; those of them that do not wait yet; entries of the queue, and how many of
them are of jobs that wait no more; running jobs; whether the main scheduler was asked for, and anything changed for
backfill; words of a set; rows of changed reasons, and how many there was no room for; records of the plan; jobs that
start in a pass that is tried only. ``STARTS_AND_ENDS``: how often what is free has changed; ``ROOMY``: how many nodes
of a list are in ``roomy``; ``USABLE_NODES``, ``USABLE_CORES``: what ``free_cores`` has in all; ``RECORD``: where to
look on in the plan; ``FIRST_NODE``, ``BEHIND_NODES``: the usable nodes are among these; ``ORDER``: in which order of an
instant's events a pass is tried; ``NEXT_CYCLE``: the next cycle that a log shows; ``IS_CUT``: whether nothing was found
but before when a job cannot start, ``IS_TOO_LITTLE``: but that it cannot before the next try; ``LOW_WORD``,
``BEHIND_WORD``: the words of ``may_have``, the nodes that a job may have at all. ``LIGHT``: a number for how light the
available nodes are; ``CLEANS``: whether any node cleans up; ``LAST_TO_END``: whose end was the last one that a start
that was found waits for; ``STANDING``: how many running jobs are suspended; then what a cycle of backfill that takes
time has done (``cycle``), and whether a tick was missed because of it."""

(LAST_MAIN, LAST_FULL, LAST_BACKFILL, NEXT_CALC, LAST_CALC, LAST_LOOK, LAST_TICK, ASKED_AT) = range(8)
FIRST_FROM, FIRST_UNTIL, SECOND_FROM, SECOND_UNTIL, NOT_BEFORE, CLEANS_UNTIL, SHIFTS_OF = range(8, 15)
CYCLE_BEGAN, CYCLE_NEXT, CLOCKS = range(15, 18)
"""Places in ``Dynamic.clock``, s. ``ASKED_AT``: from which tick on the main scheduler is asked for; then two spans of
ends of limits (``note_span`` of ``will_run``), before which time a job cannot start, and when the first node is clean
of those that clean up; ``SHIFTS_OF``: for which period ``shift`` is; when the cycle of backfill began, and
when it lets locks go or takes them again."""


class Dynamic(NamedTuple):
    """What changes.

    By job: since when it is ``eligible`` (s; NaN: not yet), ``held_count`` nodes from ``Given.first_held`` on among
    ``held_node``, ``held_cores`` and ``held_gpus``; in which partition it ran (``ran_in``), who started it (``by``),
    when it ``began``, ``started`` as the controller counts it, and its limit ends (``limit_end``, s), its ``reason``;
    whether backfill has found a time for it (``has_time``).
    ``pending`` lists jobs that were submitted and do not wait yet. Entries of the queue, in order: ``entry_job``,
    ``entry_partition``, ``entry_priority``. ``runner`` lists running jobs by the end of their limits, ``by_number`` by
    their numbers. By holder what it has ``used`` (resources x s, decayed), how many jobs run and what they hold; by
    association its ``fair_share``. ``past`` is what runs had that were stopped. The rest is room to work in: sets of
    nodes (``allowed`` ... ``picked``), by node ``usable`` and ``most``, ``chosen`` nodes with ``got`` CPUs. The plan of
    backfill: records with ``begin``, ``end``, ``next`` and sets of nodes. Who runs on a node stands in a list from
    ``first_on`` on, as places in ``held_node``, whose job is ``held_by``. ``room`` are lists of ``rooms.py``. ``kept``
    is the queue's own order while another one is in its place (``merging``); by array ``split_time``, when its last
    task started. ``found`` is what ``found.py`` keeps, ``changed`` who began to run or stopped since. By node ``light``
    (``lightness``), in the set ``lit`` where it is any; ``clean_time``, when it is clean that is in the set
    ``cleaning``. ``cycle`` is the queue as it was when a cycle of backfill that takes time began; ``bf_tested`` and
    ``bf_refused`` are of the cycle. Jobs are suspended whose ``stands`` is set: they ``ran`` so many s before they last
    ``went_on``; of a node others have ``crowd`` CPUs.
    """

    counts: IntArray
    clock: FloatArray
    eligible: FloatArray
    pending: IntArray
    entry_job: IntArray
    entry_partition: IntArray
    entry_priority: FloatArray
    runner: IntArray
    by_number: IntArray
    began: FloatArray
    started: FloatArray
    limit_end: FloatArray
    held_count: IntArray
    held_node: IntArray
    held_cores: IntArray
    held_gpus: IntArray
    is_on: IntArray
    has_time: IntArray
    ran_in: IntArray
    by: IntArray
    trial: IntArray
    now: Amounts
    then: Amounts
    up: IntArray
    cleaning: IntArray
    clean_time: FloatArray
    away: IntArray
    has_left: IntArray
    victim: IntArray
    is_gone: IntArray
    doom: FloatArray
    stands: IntArray
    went_on: FloatArray
    ran: FloatArray
    crowd: IntArray
    gone: FloatArray
    ran_priority: FloatArray
    past_job: IntArray
    past_first: IntArray
    past_count: IntArray
    past_in: IntArray
    past_by: IntArray
    past_node: IntArray
    past_cores: IntArray
    past_gpus: IntArray
    used: FloatArray
    fair_share: FloatArray
    level: FloatArray
    stack: IntArray
    siblings: IntArray
    jobs_of: IntArray
    in_use: FloatArray
    running_seconds: FloatArray
    jobs_of_user: IntArray
    in_use_of_user: FloatArray
    jobs_of_account: IntArray
    in_use_of_account: FloatArray
    tasks_running: IntArray
    resources: FloatArray
    on_node: FloatArray
    allowed: IntArray
    available: IntArray
    before: IntArray
    picked: IntArray
    free_cores: IntArray
    usable: IntArray
    most: IntArray
    chosen: IntArray
    got: IntArray
    run_first: IntArray
    run_behind: IntArray
    run_cores: IntArray
    run_gpus: IntArray
    run_key: IntArray
    leaf_nodes: IntArray
    leaf_way: IntArray
    leaf_taken: IntArray
    light: IntArray
    lit: IntArray
    failed: IntArray
    tested: IntArray
    tested_user: IntArray
    tested_user_partition: IntArray
    tested_association: IntArray
    planned_tasks: IntArray
    refused: IntArray
    bf_tested: IntArray
    bf_refused: IntArray
    cycle_job: IntArray
    cycle_partition: IntArray
    cycle_priority: FloatArray
    found_after: IntArray
    found_shape: IntArray
    found_in: IntArray
    found_light: IntArray
    found_last: IntArray
    found_begin: FloatArray
    found_spans: FloatArray
    found_not_before: FloatArray
    found_sets: IntArray
    found_amounts: FloatArray
    changed_sets: IntArray
    changed_end: FloatArray
    changed_ends: IntArray
    first_on: IntArray
    next_on: IntArray
    held_by: IntArray
    room_shape: IntArray
    room_in: IntArray
    room_after: IntArray
    room_count: IntArray
    room_node: IntArray
    room_time: FloatArray
    room_of: FloatArray
    room_known: IntArray
    room_sets: IntArray
    roomy: IntArray
    may_have: IntArray
    begin: FloatArray
    end: FloatArray
    next: IntArray
    free: IntArray
    other_low: IntArray
    other_behind: IntArray
    kept_job: IntArray
    kept_partition: IntArray
    kept_priority: FloatArray
    line: IntArray
    merged: IntArray
    next_task: IntArray
    last_task: IntArray
    split_time: FloatArray
    halves: IntArray
    seen_qos: IntArray
    reason: IntArray
    reason_job: IntArray
    reason_time: FloatArray
    reason_code: IntArray
    would_time: FloatArray
    would_by: IntArray
    would_in: IntArray
    would_count: IntArray
    would_node: IntArray
    would_cores: IntArray
    would_last: FloatArray
    might_time: FloatArray
    would_like: IntArray
    might_orders: IntArray
    shifted: FloatArray
    shift: FloatArray
    together: IntArray


class SlurmMemory(NamedTuple):
    """The memory of policy ``slurm``."""

    given: Given
    state: Dynamic


@kernel(allocates=False)
def rounded_down(given: Given, time: float, step: float) -> float:
    """Return a time rounded down to whole steps since 1970, s."""
    origin = given.number[ORIGIN]
    return np.floor((time + origin) / step) * step - origin


@kernel(allocates=False)
def copy_amounts(source: Amounts, target: Amounts) -> None:
    """Copy what is free of each node."""
    for node in range(len(source.cores)):
        target.cores[node], target.memory[node] = source.cores[node], source.memory[node]
        target.gpus[node], target.jobs[node] = source.gpus[node], source.jobs[node]
