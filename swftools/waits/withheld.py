# SPDX-License-Identifier: BSD-3-Clause
"""A schedule whose users and accounts are called otherwise, on its machine too: they are still the same ones."""

from __future__ import annotations

from dataclasses import replace

from swftools.formats.privacy import Privacy
from swftools.machines.withheld_log import KINDS, called_otherwise
from swftools.simulator.schedule import Schedule

_WORDS = ("submit_line", "wait_reason", "host_list", "node_list", "log_id")
"""Columns that may hold names in their words."""


def withhold_people(schedule: Schedule, privacy: Privacy) -> Schedule:
    """Return a schedule that names no user and no account; with ``anonymise="no"`` as it is.

    Parameters
    ----------
    schedule : Schedule
        ``account`` and the names of users and groups are those of the log; the machine's ``slurm`` has them too.
    privacy : Privacy
        ``numbers``: users and accounts are called by the log's own numbers, and ``user-1``, ``account-1`` where it has
        none. ``hash``: by keyed hashes, as everywhere.

    Notes
    -----
    Names of partitions, queues, QOS and nodes stay: they are the machine's, not people's. Columns with words that may
    hold names are dropped.
    """
    if privacy.tells_words:
        return schedule
    site = schedule.machine.slurm if schedule.machine is not None else None
    associations = site.associations if site is not None else ()
    accounts = schedule.jobs["account"].dropna().unique().tolist() if "account" in schedule.jobs else []
    known, jobs = schedule.known_names, schedule.jobs
    of_machine = [each.user for each in associations if each.user]
    users = called_otherwise(known.get("user", {}), of_machine, privacy, "user", jobs)
    of_machine = [*accounts, *(each.account for each in associations)]
    groups = called_otherwise(known.get("group", {}), of_machine, privacy, "group", jobs)
    jobs = schedule.jobs.drop(columns=[name for name in _WORDS if name in schedule.jobs])
    if accounts:
        jobs = jobs.assign(account=jobs["account"].map(groups, na_action="ignore").astype("str"))
    machine = schedule.machine
    if machine is not None and site is not None:
        told = tuple(
            replace(each, account=groups[each.account], user=users[each.user] if each.user else "")
            for each in associations
        )
        machine = replace(machine, slurm=replace(site, associations=told, not_simulated=()))
    known = {kind: names for kind, names in schedule.known_names.items() if kind not in KINDS}
    if privacy.anonymise == "hash":
        for kind, called in (("user", users), ("group", groups)):
            known[kind] = {number: called[name] for number, name in schedule.known_names.get(kind, {}).items()}
    return replace(schedule, jobs=jobs, machine=machine, known_names=known, assumptions=())
