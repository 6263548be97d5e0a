# SPDX-License-Identifier: BSD-3-Clause
"""For whom jobs run: associations by user, account and partition, and their QOS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from swftools.machines.slurm_site import SlurmAssociation
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.requests import slurm_jobs_of
from tests.machines.tables import log_of
from tests.simulator.slurm.site import table_of

SITE = (
    SlurmAssociation("root", default_qos="low"),
    SlurmAssociation("phys", parent=0),
    SlurmAssociation("phys", "ann", parent=1, default_qos="high"),
    SlurmAssociation("phys", "ann", "gpu", parent=1),
    SlurmAssociation("phys", "bob", parent=1),
    SlurmAssociation("chem", parent=0, default_qos="none"),
    SlurmAssociation("chem", "ann", parent=5),
)


def of(*rows: dict[str, Any], **changes: Any) -> SlurmJobs:
    """Return what jobs ask for, each by ``user`` and ``group`` as names, and columns."""
    kinds = ("user", "group")
    numbers = {
        kind: {name: at for at, name in enumerate(dict.fromkeys(row.get(kind) for row in rows), 1)} for kind in kinds
    }
    told = [{"requested_processors": 1, **{name: row[name] for name in row if name not in kinds}} for row in rows]
    for each, row in zip(told, rows, strict=True):
        each |= {f"{kind}_id": numbers[kind][row[kind]] for kind in kinds if row.get(kind)}
    trace = log_of(told)
    names = [(kind, number, name) for kind in kinds for name, number in numbers[kind].items() if name]
    frame = pd.DataFrame(names, columns=["kind", "number", "name"]).astype({"number": "Int64"})
    object.__setattr__(trace, "names", pd.concat([trace.names, frame], ignore_index=True))
    return slurm_jobs_of(trace, table_of(**{"associations": SITE, **changes}))


def test_associations() -> None:
    """That of the partition before that of all; an account of the log before the user's; a line before the group."""
    jobs = of(
        {"user": "ann", "group": "phys"},
        {"user": "ann", "group": "phys", "partition": "gpu"},
        {"user": "ann", "group": "chem", "partition": "gpu"},
        {"user": "bob", "group": "chem"},
        {"user": "bob"},
        {"user": "ann"},
        {"user": "eve", "group": "phys"},
        {"user": "ann", "group": "users", "account": "chem"},
        {"user": "ann", "group": "users", "submit_line": "sbatch -A chem x"},
        {"user": "ann", "account": "phys", "submit_line": "sbatch -A chem x"},
        {"user": "ann", "group": "phys", "partition": "short", "submit_line": "sbatch -p gpu,short x"},
        {"group": "phys"},
    )
    assert jobs.association.tolist() == [2, 3, 6, -1, 4, 2, -1, 6, 6, 2, 3, -1]
    assert "the default account of the user at the site, as the log names none: 2 jobs" in jobs.assumed
    assert "no account, as the site has none of that name for that user: 3 jobs" in jobs.assumed
    ann, bob, eve, nobody = (jobs.user[row] for row in (0, 3, 6, 11))
    assert jobs.user.tolist() == [ann, ann, ann, bob, bob, ann, eve, ann, ann, ann, ann, nobody]
    assert sorted(set(jobs.user.tolist())) == [0, 1, 2, 3]


def test_the_default_account() -> None:
    """Where the site marks one it counts, else the first."""
    marked = (*SITE[:6], replace(SITE[6], is_default=True))
    assert of({"user": "ann"}, {"user": "bob"}, associations=marked).association.tolist() == [6, 4]


def test_qos() -> None:
    """The log's, else the line's, else the default of the association or the next above it, else normal."""
    jobs = of(
        {"user": "ann", "group": "phys"},
        {"user": "bob", "group": "phys"},
        {"user": "ann", "group": "chem"},
        {"user": "eve", "group": "phys"},
        {"user": "ann", "group": "phys", "qos": "normal"},
        {"user": "ann", "group": "phys", "qos": "normal", "submit_line": "sbatch --qos=low x"},
        {"user": "ann", "group": "phys", "submit_line": "sbatch --qos=low x"},
        {"user": "ann", "group": "phys", "qos": "urgent"},
    )
    assert jobs.qos.tolist() == [2, 1, 0, 0, 0, 0, 1, -1]
    assert "no QOS, as the site has none of the name that the log tells: 1 job" in jobs.assumed


def test_a_site_without_accounts() -> None:
    """Nobody has one, and nothing is said of it."""
    jobs = of({"user": "ann", "group": "phys"}, associations=(), qos=())
    assert (jobs.association.tolist(), jobs.qos.tolist()) == ([-1], [-1])
    assert not any("account" in words or "QOS" in words for words in jobs.assumed)
