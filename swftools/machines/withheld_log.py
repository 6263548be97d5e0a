# SPDX-License-Identifier: BSD-3-Clause
"""A log and its machine whose users and accounts are called otherwise, in both alike: simulations are what they were.

Queues, partitions, QOS and nodes keep their names, since these are the machine's and say where jobs may run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from swftools.formats.privacy import Privacy
from swftools.machines.people import accounts_of, users_of
from swftools.machines.slurm_parts import ROOT
from swftools.named import NUMBERED
from swftools.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

    from swftools.machines.description import MachineDescription

KINDS = {"user": "user", "group": "account"}
"""Kinds of names that are withheld, and what those are called of which the log has no number."""

Called = dict[str, dict[str, str]]
"""What each name is called, by kind."""


def withhold_log(trace: Trace, machine: MachineDescription | None, privacy: Privacy) -> tuple[Trace, Called]:
    """Return a log that names no user, no account and no executable, and what users and accounts are called.

    Parameters
    ----------
    trace : Trace
        Read with its names.
    machine : MachineDescription, optional
        May name users and accounts too, also some that are not in the log.
    privacy : Privacy
        ``numbers``: users and accounts are called by the log's own numbers, and ``user-1``, ``account-1`` where it has
        none. ``hash``: by keyed hashes.

    Notes
    -----
    Ids, and words of why jobs waited, are dropped. What else of the log's words says where jobs may run stays, so that
    who publishes a schedule has to leave it out: the columns that the log has not when it is read with that privacy.
    """
    users, groups = ([*users_of(machine)], [*accounts_of(machine)]) if machine is not None else ([], [])
    accounts = trace.jobs["account"].dropna().unique().tolist() if "account" in trace.jobs else []
    others = {"user": users, "group": [*accounts, *groups]}
    called = {
        kind: called_otherwise(trace.known_names.get(kind, {}), others[kind], privacy, kind, trace.jobs)
        for kind in KINDS
    }
    names = trace.names
    if len(names):
        of_people = names["kind"].isin([*KINDS])
        kept = names[of_people | names["kind"].isin(["queue", "partition"])]
        told = [
            called[kind].get(name, name) if kind in KINDS and name == name else name  # noqa: PLR0124 (a missing one)
            for kind, name in zip(kept["kind"], kept["name"], strict=True)
        ]
        names = kept.assign(name=told).astype(names.dtypes.to_dict()).reset_index(drop=True)
    jobs = trace.jobs.drop(columns=[name for name in ("log_id", "wait_reason") if name in trace.jobs])
    if accounts:
        jobs = jobs.assign(account=jobs["account"].map(called["group"], na_action="ignore").astype("str"))
    return replace(trace.with_jobs(jobs), names=names), called


def called_otherwise(
    known: Mapping[int, str], others: Iterable[str], privacy: Privacy, kind: str, jobs: pd.DataFrame
) -> dict[str, str]:
    """Return what each name is called: those that the log has a number for, and others, such as the machine's."""
    numbers = {name: number for number, name in known.items()}
    names = dict.fromkeys([*numbers, *others])
    if privacy.anonymise == "hash":
        return {name: name if name == ROOT and kind == "group" else privacy.name(kind, name) for name in names}
    column = NUMBERED[kind]
    there = set(jobs[column].dropna().tolist()) if column in jobs else set()
    unnamed = [name for name in names if name not in numbers and not (name.isdecimal() and int(name) in there)]
    own = {name: f"{KINDS[kind]}-{place}" for place, name in enumerate(unnamed, 1)}
    return {name: ROOT if name == ROOT else own.get(name, str(numbers.get(name, name))) for name in names}
