# SPDX-License-Identifier: BSD-3-Clause
r"""What runs and waits at a moment, as Slurm's ``squeue`` or ``sacct`` prints it.

    squeue --array --format="%i|%T|%C|%l|%M|%V" > now.txt
    squeue --json > now.json
    sacct --allusers --allocations --array --state=R,PD --parsable2 \
        --format=JobID,State,AllocCPUS,ReqCPUS,Timelimit,Elapsed,Submit > now.txt

That is job, state, processors, time limit, time that it has run, and when it was submitted, with their names in the
first line; in any order, others beside them are skipped.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from swftools.errors import UnknownLogError, UnreadableLogError
from swftools.formats.slurm.queue_document import rows_of_document
from swftools.output.shown_text import shown
from swftools.parameters.small_files import PRINTED_LIMIT, read_small_file

RUNNING = frozenset({"RUNNING", "R", "COMPLETING", "CG", "CONFIGURING", "CF", "SUSPENDED", "S", "STOPPED", "ST"})
"""States of jobs that hold processors."""

WAITING = frozenset({"PENDING", "PD"})

_NEEDED = ("JOBID", "STATE", "CPUS", "TIME_LIMIT")
_ALSO_CALLED = {
    "ST": "STATE",
    "TIMELIMIT": "TIME_LIMIT",
    "NUM_CPUS": "CPUS",
    "ELAPSED": "TIME",
    "SUBMIT": "SUBMIT_TIME",
    "ALLOCCPUS": "CPUS",
    "NCPUS": "CPUS",
    "REQCPUS": "MIN_CPUS",
}
_REMEDY = 'make it by squeue --array --format="%i|%T|%C|%l|%M|%V"'


@dataclass(frozen=True)
class QueueSnapshot:
    """A queue at a moment.

    Parameters
    ----------
    running : pandas.DataFrame
        One row for each job that holds processors: name, processors, requested_time and elapsed (s).
    waiting : pandas.DataFrame
        One row for each job that waits, in order of submission: name, processors, requested_time, and waited (s; 0 if
        the text does not say).
    others : int
        Lines of jobs in other states, such as those that have just ended.
    """

    running: pd.DataFrame
    waiting: pd.DataFrame
    others: int = 0


def read_squeue(path: str | Path, *, longest: float | None = None) -> QueueSnapshot:
    """Read what ``squeue`` or ``sacct`` printed, as text or as JSON.

    Parameters
    ----------
    path : str or path
        Text, or JSON. The first line of a text has the names of its columns, separated by bars: JOBID, STATE, CPUS and
        TIME_LIMIT are required, TIME (of running jobs) and SUBMIT_TIME optional. ``sacct`` has other names for them.
        Steps of jobs are skipped.
    longest : float, optional
        Time limit of jobs that have none, s.

    Raises
    ------
    UnknownLogError
        There is no such file.
    UnreadableLogError
        A column is missing, or a line cannot be read; it names the column or line, and says what to do.
    """
    try:
        text = read_small_file(path, PRINTED_LIMIT).decode(errors="replace").removeprefix("\ufeff")
    except FileNotFoundError as error:
        raise UnknownLogError(f"{path}: no such file; check the path") from error
    except OSError as error:
        raise UnreadableLogError(f"{path}: {error.strerror}") from error
    if not text.strip():
        raise UnreadableLogError(f"{path}: it is empty; {_REMEDY}")
    rows = rows_of_document(text, str(path)) if text.lstrip().startswith("{") else _rows_of_text(text, str(path))
    running: list[_Job] = []
    waiting: list[_Job] = []
    others = 0
    for place, job in rows:
        state = job["STATE"].upper().partition(" ")[0]
        if state not in RUNNING | WAITING or "." in job["JOBID"]:
            others += 1
            continue
        read = _read(job, place, longest)
        (running if state in RUNNING else waiting).append(read)
    columns = ["name", "processors", "requested_time", "elapsed", "submitted"]
    ran, waits = (pd.DataFrame(each, columns=columns) for each in (running, waiting))
    waits = waits.sort_values("submitted", kind="stable", ignore_index=True, na_position="last")
    known = pd.concat([ran["submitted"], waits["submitted"]]).max()  # the youngest is taken to have come just now
    waited = (known - waits["submitted"]).fillna(0.0)
    return QueueSnapshot(
        ran.drop(columns="submitted"), waits.drop(columns=["submitted", "elapsed"]).assign(waited=waited), others
    )


_Job = tuple[str, int, float, float, float]


def _rows_of_text(text: str, path: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the jobs of a text, each with its place and its cells by name."""
    lines = text.splitlines()
    names = [_ALSO_CALLED.get(name, name) for name in (cell.strip().upper() for cell in lines[0].split("|"))]
    if "CPUS" not in names:
        names = ["CPUS" if name == "MIN_CPUS" else name for name in names]
    if missing := [name for name in _NEEDED if name not in names]:
        raise UnreadableLogError(f"{path}, line 1: no column {', '.join(missing)}; {_REMEDY}")
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) != len(names):
            raise UnreadableLogError(
                f"{path}, line {number}: {len(cells)} values for {len(names)} columns: {shown(line)}; {_REMEDY}"
            )
        job = dict(zip(names, cells, strict=True))
        if job["CPUS"] in {"", "0"}:  # sacct: who waits holds none yet
            job["CPUS"] = job.get("MIN_CPUS", job["CPUS"])
        yield f"{path}, line {number}", job


def _read(job: dict[str, str], place: str, longest: float | None) -> _Job:
    """Return name, processors, requested time, elapsed time and submission of a job."""
    if "[" in job["JOBID"]:
        raise UnreadableLogError(
            f"{place}: {shown(job['JOBID'])} stands for several jobs; ask for each by squeue --array"
        )
    if not job["CPUS"].isdecimal() or int(job["CPUS"]) < 1:
        raise UnreadableLogError(f"{place}: CPUS {shown(job['CPUS'])!r} is not a number of processors; {_REMEDY}")
    limit = _seconds(job["TIME_LIMIT"])
    if limit is None:
        if job["TIME_LIMIT"].upper() not in {"UNLIMITED", "PARTITION_LIMIT", "NOT_SET", "INVALID", "N/A", ""}:
            raise UnreadableLogError(f"{place}: TIME_LIMIT {shown(job['TIME_LIMIT'])!r} is not a time; {_REMEDY}")
        if longest is None:
            raise UnreadableLogError(f"{place}: the job has no time limit; give one by longest= (--longest 7d)")
        limit = longest
    submitted = float(job.get("SUBMITTED") or "nan")
    if job.get("SUBMIT_TIME") not in {None, "", "N/A", "Unknown"}:
        try:
            submitted = datetime.datetime.fromisoformat(job["SUBMIT_TIME"]).replace(tzinfo=datetime.UTC).timestamp()
        except ValueError:
            raise UnreadableLogError(f"{place}: SUBMIT_TIME {shown(job['SUBMIT_TIME'])!r} is not a date") from None
    return job["JOBID"], int(job["CPUS"]), limit, _seconds(job.get("TIME", "")) or 0.0, submitted


def _seconds(text: str) -> float | None:
    """Return a time as Slurm prints it, days-hours:minutes:seconds from the right, in s; None if it is none."""
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if (dash and not days.isdecimal()) or len(parts) > 3 or not all(part.isdecimal() for part in parts):
        return None
    if len(parts) == 1 and not dash:
        parts = [*parts, "0"]  # minutes alone
    if dash:
        parts += ["0"] * (3 - len(parts))  # days-hours
    seconds = 0
    for part in parts:
        seconds = 60 * seconds + int(part)
    return float(seconds + 86_400 * int(days or 0))
