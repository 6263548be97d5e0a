# SPDX-License-Identifier: BSD-3-Clause
"""E records of PBS that are drawn by hand, and what is read of one."""

from __future__ import annotations

from typing import Any

from swftools import Trace
from tests.formats.pbs.compared import read

BEGIN = 1688634000
NEEDED = ("ctime", "start", "end", "exec_host")


def record(more: str = "", job_id: str = "1.srv", **given: Any) -> bytes:
    """Return the E record of a job that waited for 60 s and ran for 100 s, with more at its end."""
    values = {"user": "u", "ctime": BEGIN, "start": BEGIN + 60, "end": BEGIN + 160, "Exit_status": 0} | given
    words = " ".join(f"{key}={value}" for key, value in values.items() if value is not None)
    return f"07/06/2023 09:02:40;E;{job_id};{words} {more}\n".encode()


def job(*arguments: Any, options: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    """Return the one job that is read of a record."""
    trace = read(record(*arguments, **given), **(options or {}))
    assert len(trace) == 1, trace.quarantine["reason"].tolist()
    row: dict[str, Any] = trace.jobs.iloc[0].to_dict()
    return row | {"trace": trace}


def named(row: dict[str, Any], kind: str) -> str | None:
    """Return the name that a job has of a kind."""
    names = row["trace"].names
    found = names.loc[(names["kind"] == kind) & (names["number"] == row[f"{kind}_id"]), "name"].tolist()
    return found[0] if found else None


def reason(*arguments: Any, **given: Any) -> str:
    """Return why a record is no job."""
    trace: Trace = read(record(*arguments, **given))
    assert len(trace) == 0
    told: str = trace.quarantine["reason"].item()
    return told
