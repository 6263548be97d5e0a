# SPDX-License-Identifier: BSD-3-Clause
"""Records of LSF's lsb.acct, written from their fields."""

from __future__ import annotations

from collections.abc import Sequence

FIELDS = {
    "event_time": 1_400_000_500,
    "job_id": 7,
    "user_id": 501,
    "options": 33882739,
    "num_processors": 32,
    "submit_time": 1_400_000_000,
    "begin_time": 0,
    "term_time": 0,
    "start_time": 1_400_000_100,
    "user": "ann",
    "queue": "normal",
    "res_req": "span[ptile=16]",
    "depend_cond": "",
    "pre_exec": "",
    "from_host": "login1",
    "cwd": "/home/ann",
    "in_file": "",
    "out_file": "%J.out",
    "err_file": "%J.err",
    "job_file": "1400000000.7",
}
"""Fields before the lists of hosts."""

BEHIND = {
    "status": 64,
    "host_factor": 60.0,
    "job_name": "run",
    "command": "mpirun app",
    "utime": 3000.25,
    "stime": 200.75,
    "rusage": "966960 0 -1 0 0 3026323 0 0 0 0 -1 0 0 0 12529329 6498459 -1",
    "mail_user": "",
    "project": "physics",
    "exit_status": 0,
    "max_processors": 32,
    "login_shell": "",
    "time_event": "",
    "idx": 0,
    "max_rmem": 65536,
    "max_rswap": 0,
}
"""Fields behind them, to the last that all versions have."""

LATER = {
    "spool": '"" "" "" "" 0 ""',
    "exit_info": 0,
    "warning": '"" -1',
    "saap": "/physics/ann",
    "license": "",
    "app": "solver",
    "rest": '"" -1 "" "" 6160 "" 1400000100 "" ""',
}
"""Fields that came with versions 6 to 8."""

_RAW = ("rusage", "spool", "warning", "rest")
HOSTS = ("16*host1", "16*host2")
USAGE = ("host1 1306 0 1287486 242 0", "host2 1291 0 643768 66 0")


def quoted(value: object) -> str:
    """Return a value as a field: a string in quotation marks, those in it doubled."""
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else str(value)


def record(
    *,
    version: str = "9.11",
    asked: Sequence[str] = (),
    hosts: Sequence[str] = HOSTS,
    usage: Sequence[str] | None = USAGE,
    pairs: Sequence[tuple[int, str]] = (),
    run_limit: int = 43200,
    later: bool = True,
    **given: object,
) -> str:
    """Return a JOB_FINISH, with some fields given.

    Parameters
    ----------
    later : bool
        Whether the fields of versions 6 and later are there.
    usage : sequence of str, optional
        The use by host; without it the record ends before it.
    """
    unknown = set(given) - set(FIELDS) - set(BEHIND) - set(LATER)
    assert not unknown, unknown
    words = ['"JOB_FINISH"', quoted(version)]
    words += [quoted(given.get(name, value)) for name, value in FIELDS.items()]
    words += [str(len(asked)), *map(quoted, asked), str(len(hosts)), *map(quoted, hosts)]
    for fields in (BEHIND, LATER) if later else (BEHIND,):
        words += [str(value) if name in _RAW else quoted(given.get(name, value)) for name, value in fields.items()]
    if later and usage is not None:
        words += [str(len(pairs)), *(f"{key} {quoted(value)}" for key, value in pairs), str(len(usage)), *usage]
        words += [str(run_limit), "0 8688640", '"select[type == local] order[nidx] "', '"" -1 "" -1 0 "" 0 0 "" 400']
    return " ".join(words) + "\n"


def resize(job_id: int = 7, index: int = 0) -> str:
    """Return a JOB_RESIZE."""
    return f'"JOB_RESIZE" "9.11" 1400000200 {job_id} {index} 1400000100 501 "ann" 0 1400000150 1400000160 1 "host1" 0\n'


RESERVATION = '"EVENT_ADRSV_FINISH" "9.11" 1400000300 1400000000 33882739 501 "ann" "user1#0" "user1" 1 "host1" 2\n'


def log(*records: str) -> bytes:
    """Return the text of a file."""
    return "".join(records).encode()
