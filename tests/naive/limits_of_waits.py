# SPDX-License-Identifier: BSD-3-Clause
"""Whether a limit of Slurm stands against a job of a schedule, the slow obvious way: who runs now is added up."""

from __future__ import annotations

from typing import Any

from swftools.machines.slurm_site import SlurmSite

Job = dict[str, Any]


def above(site: SlurmSite, place: int) -> list[int]:
    """Return an association and all above it."""
    found = []
    while place >= 0:
        found.append(place)
        place = site.associations[place].parent
    return found


def qos_of(job: Job) -> list[str]:
    """Return the QOS whose limits count, that of the partition first."""
    return list(dict.fromkeys(name for name in (job["partition_qos"], job["qos"]) if name))


def is_limited(site: SlurmSite, job: Job, running: list[Job]) -> bool:
    """Whether the job may not start beside those that run, whatever is free."""
    limits_of = {each.name: each.limits for each in site.qos}

    def exceeds(others: list[Job], jobs: int | None, tres: Any, taken: Any = ()) -> bool:
        if jobs is not None and "" not in taken and len(others) + 1 > jobs:
            return True
        return any(
            sum(each["held"][name] for each in [*others, job]) > most + 1e-9
            for name, most in tres.items()
            if name not in taken
        )

    def exceeds_minutes(others: list[Job], tres: Any, taken: Any = ()) -> bool:
        return any(
            sum(each["held"][name] * each["limit"] / 60 for each in [*others, job]) > most + 1e-9
            for name, most in tres.items()
            if name not in taken
        )

    names = qos_of(job)
    for turn, name in enumerate(names):
        limits, before = limits_of[name], limits_of[names[0]] if turn else None
        in_it = [each for each in running if name in qos_of(each)]
        of_user = [each for each in in_it if each["user"] == job["user"]]
        of_account = [each for each in in_it if each["account"] == job["account"]]
        for others, jobs, tres in (
            (in_it, "grp_jobs", "grp_tres"),
            (of_user, "max_jobs_pu", "max_tres_pu"),
            (of_account, "max_jobs_pa", "max_tres_pa"),
        ):
            taken = [*getattr(before, tres)] if before else []
            taken += [""] if before and getattr(before, jobs) is not None else []
            if exceeds(others, getattr(limits, jobs), getattr(limits, tres), taken):
                return True
        if exceeds_minutes(in_it, limits.grp_tres_run_mins, [*before.grp_tres_run_mins] if before else []):
            return True
    chain = above(site, job["association"])
    for place in chain:
        limits = site.associations[place].limits
        below = [each for each in running if place in above(site, each["association"])]
        if exceeds(below, limits.grp_jobs, limits.grp_tres) or exceeds_minutes(below, limits.grp_tres_run_mins):
            return True
    if chain and (most := site.associations[chain[0]].limits.max_jobs) is not None:
        own = [each for each in running if each["association"] == chain[0]]
        return len(own) + 1 > most and all(limits_of[name].max_jobs_pu is None for name in names)
    return False
