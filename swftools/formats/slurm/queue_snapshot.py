# SPDX-License-Identifier: BSD-3-Clause
r"""What runs and waits at a moment, as Slurm's ``squeue`` or ``sacct`` prints it.

    squeue --array --format="%i|%T|%C|%l|%M|%V|%S|%Q|%r" > now.txt
    squeue --json > now.json
    sacct --allusers --allocations --state=R,PD --parsable2 \
        --format=JobID,State,AllocCPUS,ReqCPUS,Timelimit,Elapsed,Submit,Start,Priority,Reason > now.txt

That is job, state, processors, time limit, time that it has run, when it was submitted and started, its priority, and
what it waits for, with their names in the first line; in any order, others beside them are skipped.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from swftools.errors import UnknownLogError, UnreadableLogError
from swftools.formats.slurm.queue_document import rows_of_document
from swftools.formats.slurm.queue_owners import OWNER_COLUMNS, QueueOwner, owner_of
from swftools.formats.slurm.queue_requests import CELLS, COLUMNS, QueueRequest, request_of
from swftools.formats.slurm.queue_states import (
    ENDING,
    HELD,
    RUNNING,
    SUSPENDED,
    WAITING,
    bare,
    waits_for_a_person,
    waits_for_processors,
    word_of,
)
from swftools.formats.slurm.queue_text import REMEDY, names_of, rows_of_text
from swftools.output.shown_text import shown
from swftools.parameters.small_files import PRINTED_LIMIT, read_small_file

_NO_LIMIT = frozenset({"UNLIMITED", "PARTITION_LIMIT", "NOT_SET", "INVALID", "N/A", ""})
_NO_DATE = frozenset({"", "N/A", "NONE", "UNKNOWN", "0"})


@dataclass(frozen=True)
class QueueSnapshot:
    """A queue at a moment.

    Parameters
    ----------
    running : pandas.DataFrame
        One row for each job that holds processors: name, processors, requested_time and elapsed (s). A job that is
        about to give them back (COMPLETING) has the requested_time that it has run. Where the text tells what jobs
        ask of nodes, as ``squeue --json`` does, also the columns of ``queue_requests.COLUMNS``: nodes, for one, are the
        list of those on which a job runs.
    waiting : pandas.DataFrame
        One row for each job that waits for processors and nothing else, in the order of the queue: by priority, the
        highest first, equal ones by submission; where the text has no priorities, by submission. name, processors,
        requested_time, waited (s; 0 if the text does not say; no more than that of a job before it, because policies
        take those first that waited longer), priority (NaN if the text does not say), and what it asks of nodes.
    others : int
        Lines of jobs in other states, such as those that have just ended, and of steps.
    suspended : int
        Jobs that are suspended: they hold no processors, and it is not known when they go on.
    held : mapping of str to int
        Jobs that cannot start until a person does something, by the reason, such as JobHeldUser.
    later : mapping of str to int
        Jobs that wait for something other than processors, such as the end of another job, a time, or that a limit
        allows them, by the reason: until then they stand in nobody's way.
    present : float or None
        When it was, s since 1970 in the zone of the text; None if nothing says.
    """

    running: pd.DataFrame
    waiting: pd.DataFrame
    others: int = 0
    suspended: int = 0
    held: Mapping[str, int] = field(default_factory=dict)
    later: Mapping[str, int] = field(default_factory=dict)
    present: float | None = None


class _Job(NamedTuple):
    """What is read of a job; times in s."""

    name: str
    processors: int
    requested_time: float
    elapsed: float
    submitted: float
    started: float
    priority: float
    request: QueueRequest = QueueRequest()
    owner: QueueOwner = QueueOwner()


def read_squeue(path: str | Path, *, longest: float | None = None, whole: bool = False) -> QueueSnapshot:
    """Read what ``squeue`` or ``sacct`` printed, as text or as JSON.

    Parameters
    ----------
    path : str or path
        Text, or JSON. The first line of a text has the names of its columns, separated by bars: JOBID, STATE, CPUS and
        TIME_LIMIT are required; TIME (of running jobs), SUBMIT_TIME, START_TIME, PRIORITY and REASON optional.
        ``sacct`` has other names for them. Steps of jobs are skipped. A line of several tasks of a job array is a job
        for each.
    longest : float, optional
        Time limit of jobs that have none, s.
    whole : bool
        Whether jobs that wait for something other than processors are among those that wait, and not in ``later``, as
        policy ``slurm`` takes them. Then both frames also have the columns of ``queue_owners.OWNER_COLUMNS``; rows of
        those that wait are in the order of priorities all the same.

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
        raise UnreadableLogError(f"{path}: it is empty; {REMEDY}")
    rows: Iterable[tuple[str, dict[str, str]]]
    if text.lstrip().startswith(("{", "[")):
        rows, present = rows_of_document(text, str(path))
    else:
        rows, present = rows_of_text(text, str(path)), 0.0
    running: list[_Job] = []
    waiting: list[_Job] = []
    held: Counter[str] = Counter()
    later: Counter[str] = Counter()
    others = suspended = 0
    for place, job in rows:
        state = word_of(job["STATE"])
        is_step = "." in job["JOBID"].partition("[")[0]
        if state not in RUNNING | SUSPENDED | WAITING | HELD or is_step:
            others += 1
            continue
        names = names_of(job["JOBID"], place)
        priority, reason = _priority(job.get("PRIORITY", ""), place), job.get("REASON", "")
        if state in SUSPENDED:
            suspended += len(names)
        elif state in HELD or (state in WAITING and waits_for_a_person(reason, priority)):
            held[_why(reason, state, priority)] += len(names)
        elif state in WAITING and not waits_for_processors(reason) and not whole:
            later[bare(reason)] += len(names)
        else:
            read = _read(job, place, longest)._replace(priority=priority)
            if state in ENDING:
                read = read._replace(requested_time=max(read.elapsed, 1.0))
            if whole:
                read = read._replace(owner=owner_of(job, read.submitted, read.started))
            (running if state in RUNNING else waiting).extend(read._replace(name=name) for name in names)
    ran, waits = (pd.DataFrame(each, columns=_Job._fields) for each in (running, waiting))
    known = [present, *(job.submitted for job in running + waiting), *(job.started + job.elapsed for job in running)]
    present = max((time for time in known if time > 0), default=0.0)  # without more the youngest came just now
    waits = waits.sort_values(
        ["priority", "submitted"], ascending=[False, True], kind="stable", ignore_index=True, na_position="last"
    )
    waited = (present - waits["submitted"]).fillna(0.0).cummin()
    columns = ["name", "processors", "requested_time"]
    has = _with_requests(ran[[*columns, "elapsed"]], ran["request"])
    wants = _with_requests(waits[columns].assign(waited=waited, priority=waits["priority"]), waits["request"])
    return QueueSnapshot(
        _with_owners(has, ran["owner"]) if whole else has,
        _with_owners(wants, waits["owner"]) if whole else wants,
        others,
        suspended,
        dict(held),
        dict(later),
        present or None,
    )


def _with_requests(jobs: pd.DataFrame, requests: pd.Series[Any]) -> pd.DataFrame:
    """Return jobs with what they ask of nodes, in the columns that say anything of any of them."""
    found = pd.DataFrame(requests.tolist(), index=jobs.index, columns=COLUMNS)
    texts = ["partition", "nodes", "gpu_types", "constraints"]
    found[texts] = found[texts].where(found[texts] != "", None)
    told = [name for name in COLUMNS if found[name].notna().any() and not (found[name] == False).all()]  # noqa: E712
    return jobs.assign(**{name: found[name] for name in told})


def _with_owners(jobs: pd.DataFrame, owners: pd.Series[Any]) -> pd.DataFrame:
    """Return jobs with for whom they run, and what they wait for."""
    return jobs.join(pd.DataFrame(owners.tolist(), index=jobs.index, columns=OWNER_COLUMNS))


def _read(job: dict[str, str], place: str, longest: float | None) -> _Job:
    """Return a job without its priority."""
    if not job["CPUS"].isdecimal() or int(job["CPUS"]) < 1:
        raise UnreadableLogError(f"{place}: CPUS {shown(job['CPUS'])!r} is not a number of processors; {REMEDY}")
    limit = _seconds(job["TIME_LIMIT"])
    if limit is None:
        if job["TIME_LIMIT"].upper() not in _NO_LIMIT:
            raise UnreadableLogError(f"{place}: TIME_LIMIT {shown(job['TIME_LIMIT'])!r} is not a time; {REMEDY}")
        if longest is None:
            raise UnreadableLogError(f"{place}: the job has no time limit; give one by longest= (--longest 7d)")
        limit = longest
    submitted, started = (_date(job.get(name, ""), name, place) for name in ("SUBMIT_TIME", "START_TIME"))
    elapsed = _seconds(job.get("TIME", "")) or 0.0
    request = request_of(job) if CELLS & job.keys() else QueueRequest()
    return _Job(job["JOBID"], int(job["CPUS"]), limit, elapsed, submitted, started, math.nan, request)


def _why(reason: str, state: str, priority: float) -> str:
    """Return the word under which a job that a person must let go is counted."""
    if waits_for_a_person(reason, math.nan) or (state in HELD and not waits_for_processors(reason)):
        return bare(reason)
    return state if state in HELD else f"priority {priority:.0f}"


def _priority(text: str, place: str) -> float:
    """Return a priority; NaN if there is none."""
    if text.upper() in {"", "N/A"}:
        return math.nan
    try:
        return float(text)
    except ValueError:
        raise UnreadableLogError(f"{place}: PRIORITY {shown(text)!r} is not a number; {REMEDY}") from None


def _date(text: str, name: str, place: str) -> float:
    """Return a date, or seconds since 1970 (``SLURM_TIME_FORMAT=%s``), in s since 1970; NaN if there is none."""
    if text.upper() in _NO_DATE:
        return math.nan
    if text.isdecimal():
        return float(text)
    try:
        date = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise UnreadableLogError(
            f"{place}: {name} {shown(text)!r} is no date such as 2024-05-03T14:00:00; print dates as Slurm does by "
            "default: SLURM_TIME_FORMAT=standard squeue ..."
        ) from None
    return (date if date.tzinfo else date.replace(tzinfo=datetime.UTC)).timestamp()


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
