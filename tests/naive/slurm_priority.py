# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's multifactor priority: usage that decays, Fair Tree and the classic formula, the weighted sum of factors."""

from __future__ import annotations

import math

from tests.naive.slurm_world import Amounts, Job, World, asked_by, held_by, total_of

NO_LEVEL = 4294967294.0
"""What an account without shares of its own has as its level."""


# ---------------------------------------------------------------- usage


def decay(world: World) -> float:
    """Return what is left of usage after a second."""
    half_life = world.site.priority.half_life
    return 1.0 - 0.693 / half_life if half_life > 0 else 1.0


def begin_usage(world: World) -> None:
    """Begin with what was used before, where that is told."""
    for place, association in enumerate(world.site.associations):
        world.used_by_association[place] = {"billing": association.usage if world.site.has_usage else 0.0}
    world.used_by_qos = {place: {} for place in range(len(world.site.qos))}


def add_usage(world: World, job: Job, until: float) -> None:
    """Add what a job has used since the last period, or since its start, decayed by as many seconds."""
    seconds = until - max(world.last_period, math.floor(job.start))
    factor = world.site.qos[job.qos].usage_factor if job.qos >= 0 else 1.0
    for used in [
        *(world.used_by_association[place] for place in world.line_of(job.association)),
        *(world.used_by_qos[place] for place in world.all_qos(job, job.partition)),
    ]:
        for name, amount in held_by(world, job.partition, job.placed).items():
            used[name] = used.get(name, 0.0) + seconds * decay(world) ** seconds * amount * factor


def decay_usage(world: World) -> None:
    """Let all usage decay by the seconds since the last period."""
    left = decay(world) ** (world.now - world.last_period)
    used: Amounts
    for used in [*world.used_by_association.values(), *world.used_by_qos.values()]:
        for name in used:
            used[name] *= left


def work_period(world: World) -> None:
    """Do what is due once a period: usage, fair share, priorities. Classic fair share has accounts' usage before."""
    if not world.site.priority.is_fair_tree:
        calculate_fair_share(world)
    decay_usage(world)
    there = [job for job in world.coming if job.submit <= world.now] + world.waiting
    for job in sorted(world.running + there, key=lambda job: job.row):
        if job in world.running:
            add_usage(world, job, world.now)
        elif not world.site.priority.is_fair_tree:
            fair_share_of(world, job.association)  # is known from now on, with what was used before
    world.last_period = world.now
    if world.site.priority.is_fair_tree:
        calculate_fair_share(world)
    for job in world.waiting:
        calculate_priority(world, job)


# ---------------------------------------------------------------- fair share


def usage(world: World, association: int) -> float:
    """Return the usage of an association, with all below it."""
    return world.used_by_association[association]["billing"]


def children_of(world: World, association: int) -> list[int]:
    """Return who is just below an association."""
    return [place for place, each in enumerate(world.site.associations) if each.parent == association]


def sharing_parent(world: World, association: int) -> int:
    """Return the next association above that has shares of its own; the root counts as one."""
    above = world.site.associations[association].parent
    while world.site.associations[above].shares is None and world.site.associations[above].parent >= 0:
        above = world.site.associations[above].parent
    return above


def shares_below(world: World, association: int) -> float:
    """Return the sum of the shares on the level below an association."""
    total = 0.0
    for child in children_of(world, association):
        shares = world.site.associations[child].shares
        total += shares_below(world, child) if shares is None else shares
    return total


def share_of(world: World, association: int) -> float:
    """Return the share that an association has on its level."""
    total = shares_below(world, sharing_parent(world, association))
    return (world.site.associations[association].shares or 0.0) / total if total > 0 else 0.0


def calculate_fair_share(world: World) -> None:
    """Calculate the fair-share factors of all users' associations, or by the classic formula what accounts have."""
    if world.site.associations and world.site.priority.is_fair_tree:
        world.fair_share = fair_tree(world)
    elif world.site.associations:
        calculate_accounts(world)


def level_of(world: World, association: int) -> float:
    """Return shares / usage among siblings."""
    if world.site.associations[association].shares is None:
        return math.inf if world.site.associations[association].user else NO_LEVEL
    of_all = usage(world, sharing_parent(world, association))
    used = usage(world, association) / of_all if of_all > 0 else 0.0
    share = share_of(world, association)
    if share == 0:
        return 0.0
    return share / used if used > 0 else math.inf


def fair_tree(world: World) -> dict[int, float]:
    """Return the factors of Fair Tree, by association of a user: its rank / number of users.

    Ranks fall in the order of levels; a user comes before accounts of the same level; users of one level have one
    rank, also the first of an account that has the level of the user before it; children of accounts of one level are
    siblings.
    """
    associations = world.site.associations
    number = sum(bool(each.user) for each in associations)
    factors: dict[int, float] = {}

    def rank_children(siblings: list[int], is_tied: bool, rank: int) -> int:
        """Give ranks below; return the rank of the last."""
        levels = {place: level_of(world, place) for place in siblings}
        order = sorted(siblings, key=lambda place: (-levels[place], not associations[place].user))
        before: float | None = None
        while order:
            place = order.pop(0)
            is_equal = is_tied if before is None else levels[place] == before
            before = levels[place]
            if associations[place].user:
                rank = rank if is_equal else number - len(factors)
                factors[place] = rank / number
            else:
                merged = [place]
                while order and levels[order[0]] == before:
                    merged.append(order.pop(0))
                rank = rank_children([child for each in merged for child in children_of(world, each)], is_equal, rank)
        return rank

    rank_children(children_of(world, 0), False, number)
    return factors


def effective(world: World, association: int) -> float:
    """Return the usage of an association as the classic formula has it, partly from the account above it."""
    used = usage(world, association) / usage(world, 0) if usage(world, 0) > 0 else 0.0
    parent = sharing_parent(world, association)
    return used if parent == 0 else used + (world.effective[parent] - used) * share_of(world, association)


def calculate_accounts(world: World) -> None:
    """Calculate the effective usage of accounts, those above first; of no user anything is known any more."""
    world.fair_share = {}
    for place, each in enumerate(world.site.associations):
        if not each.user:
            world.effective[place] = effective(world, place) if each.parent >= 0 else 1.0


def classic(world: World, place: int) -> float:
    """Return the factor of the classic formula of a user: 2 ** -(effective usage / share / damping)."""

    def normalized(association: int) -> float:
        parent = sharing_parent(world, association)
        return share_of(world, association) * (normalized(parent) if parent else 1.0)

    is_own = world.site.associations[place].shares is not None
    counted = place if is_own else sharing_parent(world, place)
    share = normalized(counted) if counted else 1.0
    used = 1.0 if not counted else effective(world, place) if is_own else world.effective[counted]
    return 2.0 ** -(used / share / world.site.priority.damping) if share > 0 else 0.0


def fair_share_of(world: World, place: int) -> float:
    """Return the factor of a job's association; by the classic formula it is found when it is first needed."""
    if place < 0:
        return 0.0
    if place not in world.fair_share and not world.site.priority.is_fair_tree:
        world.fair_share[place] = classic(world, place)
    return world.fair_share.get(place, 0.0)


# ---------------------------------------------------------------- priorities


def part_of(value: float, largest: float) -> float:
    """Return a value as a part of the largest."""
    return value / largest if largest > 0 else 0.0


def size_factor(world: World, job: Job, partition: int, is_new: bool) -> float:
    """Return how large a job is as part of the machine, or how small.

    An exclusive partition counts whole nodes, but not yet when the job has just become eligible.
    """
    nodes, cpus = len(world.table), world.table.processors
    asked: float = job.cpus
    if world.table.partitions[partition].is_exclusive and not is_new:
        there = total_of(world, partition)
        asked = max(asked, job.min_nodes * there["cpu"] / there["node"])
    if world.site.priority.favors_small:
        return ((nodes - job.min_nodes) / nodes + (cpus - asked) / cpus) / 2
    return (job.min_nodes / nodes + asked / cpus) / 2


def priority_of(world: World, job: Job, partition: int, is_new: bool = False) -> int:
    """Return the priority of a job in a partition now."""
    site, weights = world.site, world.site.priority
    if not weights.is_multifactor:
        return -sorted(world.jobs, key=lambda each: (each.submit, each.row)).index(job)
    age = world.now - math.floor(job.eligible)
    total = weights.age * (min(1.0, age / weights.max_age) if weights.max_age > 0 else 1.0)
    largest = max((each.priority for each in site.associations), default=0.0)
    own = site.associations[job.association].priority if job.association >= 0 else 0.0
    total += weights.association * part_of(own, largest)
    total += weights.fair_share * fair_share_of(world, job.association)
    total += weights.job_size * size_factor(world, job, partition, is_new)
    largest = max(each.job_factor for each in site.partitions)
    total += weights.partition * part_of(site.partitions[partition].job_factor, largest)
    largest = max((each.priority for each in site.qos), default=0.0)
    own = site.qos[job.qos].priority if job.qos >= 0 else 0.0
    total += weights.qos * part_of(own, largest)
    asked, there = asked_by(world, job, partition), total_of(world, partition)
    for name, weight in weights.tres.items():
        total += weight * part_of(asked.get(name, 0.0), there.get(name, 0.0))
    return math.trunc(max(1.0, total - job.nice))


def calculate_priority(world: World, job: Job, is_new: bool = False) -> None:
    """Calculate the priorities of a job in its partitions."""
    job.priority = {partition: priority_of(world, job, partition, is_new) for partition in job.partitions}


# ---------------------------------------------------------------- the order of the queue


def may_preempt(world: World, job: Job, other: Job) -> bool:
    """Whether a job's QOS may preempt another's."""
    if world.site.preempt_type != "qos" or min(job.qos, other.qos) < 0:
        return False
    return world.site.qos[other.qos].name in world.site.qos[job.qos].preempt


def goes_before(world: World, one: tuple[Job, int], other: tuple[Job, int]) -> bool:
    """Whether an entry stands before another: this is no order, as high may preempt low, and neither normal."""
    if may_preempt(world, one[0], other[0]):
        return True
    if may_preempt(world, other[0], one[0]):
        return False

    return standing(world, one) < standing(world, other)


def standing(world: World, entry: tuple[Job, int]) -> tuple[float, ...]:
    """Return by what entries stand in the queue of which none may preempt another."""
    job, partition = entry
    tier = world.table.partitions[partition].tier
    return (-tier, -job.priority[partition], job.submit, job.row, job.partitions.index(partition))


def merged(world: World, some: list[tuple[Job, int]]) -> list[tuple[Job, int]]:
    """Return entries sorted as the C library's ``qsort`` does it: by merging halves."""
    if len(some) < 2:
        return some
    half = len(some) // 2
    left, right = merged(world, some[:half]), merged(world, some[half:])
    found = []
    while left and right:
        found.append((right if goes_before(world, right[0], left[0]) else left).pop(0))
    return found + left + right


def entries(world: World) -> list[tuple[Job, int]]:
    """Return each waiting job in each of its partitions, in the order of the queue.

    Of an array only the first task is sorted, the others stand behind it. It was made when it was submitted, or when
    the last of its tasks started. While it runs as many as it may it is not there; here it comes last.
    """
    started: dict[int, float] = {}
    for row, start in [
        *((run.row, run.start) for run in world.runs if not run.goes_on),
        *((job.row, job.start) for job in world.running),
    ]:
        array = next(job.array for job in world.jobs if job.row == row)
        started[array] = max(start, started.get(array, -math.inf))

    def made(job: Job) -> float:
        return max(job.submit, started.get(job.array, -math.inf)) if job.array >= 0 else job.submit

    everybody = [(job, partition) for job in world.waiting for partition in job.partitions]
    everybody.sort(key=lambda entry: standing(world, entry))
    there = [entry for entry in everybody if not reaches_array_limit(world, entry[0])]
    if not any(may_preempt(world, other[0], one[0]) for place, one in enumerate(there) for other in there[place:]):
        return everybody
    groups: dict[tuple[int, int], list[tuple[Job, int]]] = {}
    for job, partition in there:
        key = (job.array, partition) if job.array >= 0 else (-1 - job.row, partition)
        groups.setdefault(key, []).append((job, partition))
    behind = {tasks[0]: tasks for tasks in groups.values()}
    first = sorted(behind, key=lambda entry: (made(entry[0]), entry[0].row, entry[0].partitions.index(entry[1])))
    found = [entry for task in merged(world, first) for entry in behind[task]]
    return found + [entry for entry in everybody if entry not in there]


def reaches_array_limit(world: World, job: Job) -> bool:
    """Whether as many tasks of its array run as may at once."""
    running = sum(each.array == job.array for each in world.running)
    return job.array >= 0 and job.array_limit > 0 and running >= job.array_limit
