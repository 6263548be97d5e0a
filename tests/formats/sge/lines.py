# SPDX-License-Identifier: BSD-3-Clause
"""Lines of Grid Engine's accounting files, written from their fields."""

from __future__ import annotations

FIELDS = {
    "qname": "all.q",
    "hostname": "node1",
    "group": "users",
    "owner": "ann",
    "job_name": "run.sh",
    "job_number": 7,
    "account": "sge",
    "priority": 0,
    "submission_time": 1_300_000_000,
    "start_time": 1_300_000_100,
    "end_time": 1_300_003_700,
    "failed": 0,
    "exit_status": 0,
    "ru_wallclock": None,
    "rusage": "60.050000:0.080000:104188.000000:0:0:0:0:28001:0:0:0.000000:24:0:0:0:41:549",
    "project": "NONE",
    "department": "defaultdepartment",
    "granted_pe": "NONE",
    "slots": 1,
    "task_number": 0,
    "cpu": 60.13,
    "mem": 7.335452,
    "io": "0.000044",
    "category": "-l h_rt=7200",
    "iow": "0.000000",
    "pe_taskid": "NONE",
    "maxvmem": "2097152.000000",
    "ar": "0:0",
}
"""Fields of version 6.2, in order."""


def line(*more: object, **given: object) -> str:
    """Return a line with some fields given, and ``more`` behind it; ``ar=None`` leaves that out, as 6.1 did."""
    fields = FIELDS | given
    if fields["ru_wallclock"] is None:
        fields["ru_wallclock"] = int(str(fields["end_time"])) - int(str(fields["start_time"]))
    return ":".join(str(value) for value in (*fields.values(), *more) if value is not None) + "\n"


def log(*lines: str) -> bytes:
    """Return the text of a file."""
    return "".join(lines).encode()
