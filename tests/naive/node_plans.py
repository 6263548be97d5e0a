# SPDX-License-Identifier: BSD-3-Clause
"""Conservative backfilling on nodes, the slow obvious way: who holds which node when is counted anew, each time.

Each waiting job has a reservation: when it is to begin, and on which nodes. It is made at the earliest time from which
on enough nodes of one of its sets have room until it would end, beside who runs and all other reservations, and are
there as far as is known. One whose nodes are not there any more is made anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.naive.nodes import Cluster, Decide, Job, Planned
from tests.naive.simulator import instant


def length(job: Job) -> float:
    """Return how long a job is planned, s: 1 if it asks for no time."""
    return job.request or 1.0


def planned_end(job: Job) -> float:
    """Return until when a running job has its nodes in a plan."""
    assert job.start is not None
    return job.expected_end if job.expected_end > job.start else job.start + 1.0


def has_then(others: Sequence[Planned], node: int, time: float) -> list[Job]:
    """Return who has a node at a time; who ends then has it no more."""
    return [each.job for each in others if node in each.where and each.begin <= time < each.end]


def has_room(cluster: Cluster, job: Job, node: int, time: float, others: Sequence[Planned]) -> bool:
    """Whether a job can have a node from a time on as long as it asks for."""
    end = instant(time + length(job))
    if not cluster.is_there(job, node, time, end):
        return False
    moments = [time] + [each.begin for each in others if time < each.begin < end]
    return all(cluster.fits_beside(job, node, has_then(others, node, moment)) for moment in moments)


def place(cluster: Cluster, job: Job, others: Sequence[Planned]) -> Planned | None:
    """Return the earliest reservation of a job beside what others have; None if nodes are not known to come back."""
    ends = {each.end for each in others if each.end > cluster.now}
    for time in sorted({cluster.now, *ends, *cluster.returns()}):
        for nodes in job.sets:
            can = [node for node in nodes if has_room(cluster, job, node, time, others)]
            if len(can) >= job.nodes:
                return Planned(job, time, instant(time + length(job)), chosen(cluster, job, can, time, others))
    return None


def chosen(cluster: Cluster, job: Job, can: list[int], time: float, others: Sequence[Planned]) -> list[int]:
    """Return which of the nodes on which it has room a job gets.

    One that is to begin now gets nodes that are free, where there are enough: some may be held by who should have
    ended. One that is to begin later gets, with sparing, first nodes that do not fit it now.
    """

    def held(node: int) -> Sequence[Job]:
        return has_then(others, node, time)

    here = [node for node in can if cluster.is_there(job, node, cluster.now, cluster.now)]
    fit_now = [node for node in here if cluster.fits_beside(job, node, cluster.here(node))]
    if time == cluster.now:
        return cluster.chosen(job, [], fit_now if len(fit_now) >= job.nodes else can, held)
    first = [node for node in can if node not in fit_now] if cluster.placement.sparing else []
    rest = [node for node in can if node not in first]
    return cluster.chosen(job, first, rest, held)


def start_if_free(cluster: Cluster, job: Job, where: list[int]) -> bool:
    """Start a job on its nodes, unless somebody is still there; return whether it was started."""
    if not all(cluster.fits_beside(job, node, cluster.here(node)) for node in where):
        return False
    cluster.start(job, where)
    return True


def still_holds(cluster: Cluster, own: Planned) -> bool:
    """Whether the nodes of a reservation are there as long as its job would be; one that is due would begin now."""
    begin = max(own.begin, cluster.now)
    return all(cluster.is_there(own.job, node, begin, instant(begin + length(own.job))) for node in own.where)


def conservative(compress: bool) -> Decide:
    """Reserve for every job when it comes; with ``compress`` reservations move forward when a job ends.

    So they do when nodes go or return.
    """

    def decide(cluster: Cluster) -> None:
        now, planned = cluster.now, cluster.planned
        for job in cluster.ended:
            planned.pop(job)
        if any(planned_end(job) != planned[job].end or planned[job].end <= now for job in cluster.running):
            planned.clear()
            for job in cluster.running:
                planned[job] = Planned(job, now, planned_end(job), job.where)
        gone = [job for job in cluster.waiting if job in planned and not still_holds(cluster, planned[job])]
        for job in gone:
            planned.pop(job)
        moves = compress and bool(cluster.ended or cluster.has_changed)
        for job in list(cluster.waiting):
            others = [each for each in planned.values() if each.job is not job]
            if job not in planned or (moves and planned[job].begin > now):
                found = place(cluster, job, others)
                if found and (job not in planned or found.begin < planned[job].begin):  # else it keeps its nodes, too
                    planned[job] = found
            if job in planned and planned[job].begin <= now:
                start_if_free(cluster, job, planned[job].where)
        cluster.wake = min([cluster.wake, *(each.begin for each in planned.values() if each.begin > now)])

    return decide


def replanned(cluster: Cluster) -> None:
    """Plan every waiting job anew, in order of the queue; start those whose time is now."""
    others = [Planned(job, cluster.now, planned_end(job), job.where) for job in cluster.running]
    for job in list(cluster.waiting):
        own = place(cluster, job, others)
        if own is None:
            continue
        if own.begin == cluster.now and start_if_free(cluster, job, own.where):
            own = Planned(job, cluster.now, planned_end(job), own.where)
        others.append(own)


PLANS: dict[str, Decide] = {
    "conservative": conservative(True),
    "conservative-fixed": conservative(False),
    "conservative-replanned": replanned,
}
"""What each policy decides that plans all waiting jobs."""
