# SPDX-License-Identifier: BSD-3-Clause
"""From the records of an accounting log to the jobs and the header of a trace."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa

from swftools._version import __version__
from swftools.fields.definition import BOOL, INT64, INTEGERS, STRING
from swftools.fields.dictionary import JOBS, SWF_FIELDS
from swftools.formats.accounting.decision import LogDecision
from swftools.formats.accounting.dependencies import spread
from swftools.formats.accounting.ledger import MAXIMA, Ledger, Part
from swftools.header import HeaderEntry, SwfHeader
from swftools.kernel import BoolArray, FloatArray, IntArray, kernel
from swftools.tables import empty_frame, frame_of

_NUMBERED = {
    "user_id": "user",
    "group_id": "group",
    "executable_id": "executable",
    "queue_id": "queue",
    "partition_id": "partition",
}
_SWF_NAMES = {field.name for field in SWF_FIELDS}


def ends_of(parts: list[Part], decision: LogDecision) -> FloatArray:
    """Return when each job of the parts ended, by its number; NaN where that is not known."""
    if not len(decision.waiting):  # then nobody asks
        return np.empty(0)
    ends = np.full(int(decision.number.max(initial=0)) + 1, np.nan)
    kept = np.flatnonzero(decision.number)
    values = [part.numbers.get("end", np.full(len(part.line), np.nan)) for part in parts]
    ends[decision.number[kept]] = np.concatenate(values)[kept]
    return ends


def jobs_of(parts: list[Part], decision: LogDecision, ends: FloatArray, *, in_order: bool = True) -> pd.DataFrame:
    """Return the jobs table of parts, by submission, or in the order of the records.

    The parts are emptied as their columns are taken, since a log's may fill the memory.

    Parameters
    ----------
    parts : list of Part
        Records, and what became of other lines.
    decision : LogDecision
        Of their records.
    ends : ndarray of float
        When each job of the log ended, by its number; the job before one of a part may be of another part.
    in_order : bool
        Whether by submission.
    """
    kept = _kept(decision.number, in_order=in_order)
    submit, start, end, given = (_taken(parts, name, kept) for name in ("submit", "start", "end", "run_time"))
    follows = len(decision.waiting) > 0
    eligible = _taken(parts, "eligible", kept) if follows else None
    columns: dict[str, Any] = {}
    room = np.empty(len(decision.number))  # for what becomes whole numbers, column after column
    # What is made anew is made when its turn comes, so that not all of it is in memory beside what it is made of.
    values: dict[str, Callable[[], Any]] = {
        "job_number": lambda: decision.number[kept],
        "submit_time": lambda: submit - decision.origin,
        "wait_time": lambda: start - submit,
        "run_time": lambda: _run_time(given, start, end),
        "allocated_processors": lambda: _taken(parts, "allocated_processors", kept),
        "average_cpu_time": lambda: _average(_taken(parts, "cpu_time", kept), columns["allocated_processors"]),
        "mean_power": lambda: _mean_power(
            _taken(parts, "mean_power", kept), columns.get("energy"), columns["run_time"]
        ),
        "preceding_job_number": lambda: _preceding(decision)[kept],
        "think_time": lambda: _think_time(_last_end(decision, ends)[kept], submit, eligible),
        "line_number": lambda: np.concatenate([part.line for part in parts])[kept],
        "eligible_time": lambda: (_taken(parts, "eligible", kept) if eligible is None else eligible) - decision.origin,
        "left_time": lambda: _taken(parts, "left", kept) - decision.origin,
        "begin_time": lambda: _taken(parts, "begin", kept) - decision.origin,
        "is_time_ambiguous": lambda: np.concatenate([part.is_ambiguous for part in parts])[kept],
    }
    for column in JOBS:
        if column.stage != "read" or column.name == "extra_fields":
            continue
        if column.type == BOOL and column.optional:
            is_so = _taken(parts, column.name, kept) == 1
            if is_so.any():
                columns[column.name] = pd.arrays.BooleanArray(is_so, ~is_so)
        elif column.type == BOOL:
            columns[column.name] = values[column.name]()
        elif column.type == STRING:
            texts = _texts(parts, column.name, kept)
            if texts is not None:
                columns[column.name] = texts
        elif column.type == INTEGERS:
            lists = _preceding_lists(decision, kept) if follows else None
            if lists is not None:
                columns[column.name] = lists
        else:
            make = values.get(column.name)
            name = _NUMBERED.get(column.name, column.name)
            made = make() if make else _taken(parts, name, kept, room if column.type == INT64 else None)
            if column.name == "run_time":
                del start, end, given
            if column.name == "wait_time" and not follows:
                submit = np.empty(0)
            if column.name in _SWF_NAMES or column.name == "line_number" or np.isfinite(made).any():
                columns[column.name] = (
                    _integers(made) if column.type == INT64 else np.ascontiguousarray(made, np.float64)
                )
    return pd.DataFrame(columns, copy=False)


def _kept(number: IntArray, *, in_order: bool) -> Any:
    """Return the rows of records that are jobs; a slice where all are, as they are: then nothing is copied."""
    if (number > 0).all() and not (in_order and not _is_sorted(number)):
        return slice(None)
    kept = np.flatnonzero(number)
    return kept[np.argsort(number[kept])] if in_order and not _is_sorted(number[kept]) else kept


def _mean_power(power: FloatArray, energy: FloatArray | None, run: FloatArray) -> FloatArray:
    """Return the mean power of each job, W: as told, else its energy over its run time; NaN where that is none."""
    if energy is None:
        return power
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(run > 0, energy / run, np.nan)
    return np.where(np.isfinite(power), power, np.where(mean <= MAXIMA["mean_power"], mean, np.nan))


def _run_time(given: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """Return the run times that are given, and where none is those from start to end."""
    run: FloatArray = end - start
    return np.where(np.isfinite(given), given, run)


def _average(cpu: FloatArray, procs: pd.arrays.IntegerArray) -> FloatArray:
    """Return the CPU time of each processor."""
    width = procs.to_numpy(np.float64, na_value=np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(width > 0, cpu / width, np.nan)


def _is_sorted(values: IntArray) -> bool:
    return bool((values[1:] > values[:-1]).all())


def _preceding(decision: LogDecision) -> FloatArray:
    """Return the job before each record that waited for one alone; NaN for others."""
    if not len(decision.waiting):
        return np.broadcast_to(np.nan, len(decision.number))
    preceding = np.full(len(decision.number), np.nan)
    preceding[decision.waiting] = decision.before
    preceding[np.bincount(decision.waiting, minlength=len(preceding)) > 1] = np.nan
    return preceding


def _preceding_lists(decision: LogDecision, kept: Any) -> Any:
    """Return the jobs before each kept record for which SWF's field does not say it all; None where there is none."""
    rows = np.arange(len(decision.number))[kept]
    waiting, before = decision.waiting[decision.is_listed], decision.before[decision.is_listed]
    first, last = (np.searchsorted(waiting, rows, side) for side in ("left", "right"))
    place, _ = spread(first, last)
    if not len(place):
        return None
    offsets = np.append(0, np.cumsum(last - first))
    lists = pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.array(before[place]), type=INTEGERS, mask=pa.array(first == last)
    )
    return pd.arrays.ArrowExtensionArray(pa.chunked_array([lists]))


def _last_end(decision: LogDecision, ends: FloatArray) -> FloatArray:
    """Return when the last of the jobs ended that each record waited for; NaN where it waited for none."""
    last = np.full(len(decision.number), np.nan)
    if len(decision.waiting):
        first = np.flatnonzero(np.append(True, np.diff(decision.waiting) != 0))
        last[decision.waiting[first]] = np.maximum.reduceat(ends[decision.before], first)
    return last


def _think_time(last_end: FloatArray, submit: FloatArray, eligible: FloatArray | None) -> FloatArray:
    """Return how long after what it waited for each could start, or else was submitted; NaN if before it."""
    if eligible is None:
        return np.full(len(last_end), np.nan)
    since: FloatArray = np.where(np.isfinite(eligible), eligible, submit) - last_end
    return np.where(since >= 0, since, np.nan)


def _taken(parts: list[Part], name: str, kept: Any, room: FloatArray | None = None) -> FloatArray:
    """Return a column of all parts, which give it up; in a room for it that is there, until it is taken again."""
    values = [part.numbers.pop(name, None) for part in parts]
    if all(each is None for each in values):
        return np.broadcast_to(np.nan, sum(len(part.line) for part in parts))[kept]
    filled = [
        np.broadcast_to(np.nan, len(part.line)) if each is None else each
        for part, each in zip(parts, values, strict=True)
    ]
    whole = np.concatenate(filled, dtype=np.float64) if room is None else np.concatenate(filled, out=room)
    return whole[kept]


def _texts(parts: list[Part], name: str, kept: Any) -> Any:
    """Return a text column of all parts; None if none has it."""
    texts = [part.words.pop(name, None) for part in parts]
    if all(each is None or each.null_count == len(each) for each in texts):
        return None
    chunks = [
        pa.nulls(len(part.line), pa.large_string()) if each is None else each
        for part, each in zip(parts, texts, strict=True)
    ]
    taken = pa.chunked_array(chunks, pa.large_string())
    if not isinstance(kept, slice):
        taken = taken.take(pa.array(kept))
    return pd.array(taken.to_pandas(), dtype="str")


def _integers(values: Any) -> pd.arrays.IntegerArray:
    """Return Int64 values in which NaN is missing."""
    if values.dtype == np.int64:
        return pd.arrays.IntegerArray(values, np.zeros(len(values), bool))
    whole, missing = np.empty(len(values), np.int64), np.empty(len(values), bool)
    _fill_integers(np.ascontiguousarray(values), whole, missing)
    return pd.arrays.IntegerArray(whole, missing)


@kernel(allocates=False)
def _fill_integers(values: FloatArray, whole: IntArray, missing: BoolArray) -> None:
    """Part values into whole numbers and what is missing, which counts as 1."""
    for row in range(len(values)):
        missing[row] = not np.isfinite(values[row])
        whole[row] = 1 if missing[row] else int(values[row])


def merged_lines(
    parts: list[Part], decision: LogDecision, log: tuple[IntArray, LogDecision] | None = None
) -> pd.DataFrame:
    """Return the table ``merged``: lines that became part of a job, and records that repeat one.

    Parameters
    ----------
    parts : list of Part
        Whose lines are told.
    decision : LogDecision
        Of their records.
    log : tuple of ndarray and LogDecision, optional
        The lines of all records of the log, and what is decided of them, where lines belong to records of other parts.
    """
    lines = np.concatenate([part.line for part in parts])
    repeats = np.flatnonzero(decision.into)
    line = np.concatenate([*(part.merged_line for part in parts), lines[repeats]])
    into = np.concatenate([*(part.merged_into for part in parts), decision.into[repeats]])
    if not len(line):
        return empty_frame("merged")
    # What was merged into a record that repeats another belongs to that.
    lines, decision = log or (lines, decision)
    order = np.argsort(lines, kind="stable")
    at = order[np.searchsorted(lines[order], into)]
    again = decision.into[at] > 0
    into = np.where(again, decision.into[at], into)
    at = order[np.minimum(np.searchsorted(lines[order], into), len(lines) - 1)]
    order = np.argsort(line, kind="stable")
    return frame_of(
        "merged",
        {
            "line_number": line[order],
            "job_number": decision.number[at][order],
            "into_line_number": into[order],
            "text": [None] * len(line),
        },
    )


class Origin(NamedTuple):
    """What is told of a log from outside of it: its format, the machine, the zone."""

    title: str
    options: str
    computer: str | None
    installation: str | None
    time_zone: str | None
    nodes: int | None
    processors: int | None
    notes: tuple[str, ...]
    has_dates: bool = True
    """Whether second 0 of its times is that of 1970; else it is the beginning of the log, whenever that was."""


def last_end(parts: list[Part]) -> float:
    """Return the last end of the records of parts; NaN where none has one."""
    ends = [part.numbers["end"] for part in parts if "end" in part.numbers]
    return max((float(np.nanmax(each)) for each in ends if np.isfinite(each).any()), default=np.nan)


def log_header(origin: Origin, jobs: int, first: int, last: float, ledger: Ledger) -> SwfHeader:
    """Return the header of a log: what is told of it, and what its records say.

    Parameters
    ----------
    origin : Origin
        What is told.
    jobs : int
        How many it has.
    first : int
        Second 0 of it, in seconds since 1970.
    last : float
        The last end; NaN where none is known.
    ledger : Ledger
        The names of queues and partitions, and what is odd.
    """
    entries = [
        ("Version", "2.2"),
        ("Computer", origin.computer),
        ("Installation", origin.installation),
        ("Conversion", f"swftools {__version__}, from {origin.title} ({origin.options})"),
    ]
    entries.append(("MaxJobs", str(jobs)))
    if jobs and origin.has_dates:
        entries += [
            ("UnixStartTime", str(first)),
            ("TimeZoneString", origin.time_zone),
            ("StartTime", _told_time(first, origin.time_zone)),
            ("EndTime", _told_time(last, origin.time_zone) if np.isfinite(last) else None),
        ]
    entries += [("MaxNodes", _told(origin.nodes)), ("MaxProcs", _told(origin.processors))]
    for kind, label in (("queue", "Queue"), ("partition", "Partition")):
        named = ledger.names.named(kind)
        if named:
            entries.append((f"Max{label}s", str(len(named))))
        if ledger.privacy.anonymise != "numbers":
            entries += [(label, f"{number} {ledger.privacy.name(kind, name)}") for number, name in named.items()]
    if jobs and not origin.has_dates:
        entries.append(("Note", f"Times have no date: second 0 is second {first} of the log."))
    entries += [("Note", note) for note in origin.notes]
    entries += [
        ("Note", f"{told}: {count} record{'s' * (count != 1)}") for told, count in sorted(ledger.anomalies.items())
    ]
    return SwfHeader(tuple(HeaderEntry(label, value) for label, value in entries if value is not None))


def _told(value: int | None) -> str | None:
    return None if value is None else str(value)


def _told_time(seconds: float, zone: str | None) -> str:
    """Return a time as headers write it."""
    moment = datetime.fromtimestamp(seconds, ZoneInfo(zone) if zone else UTC)
    return moment.strftime("%a %b %d %H:%M:%S %Z %Y")
