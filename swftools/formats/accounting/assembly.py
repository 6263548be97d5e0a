"""From the records of an accounting log to the jobs and the header of a trace."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa

from swftools._version import __version__
from swftools.fields.definition import BOOL, INT64, STRING
from swftools.fields.jobs import JOBS, SWF_FIELDS
from swftools.formats.accounting.ledger import MAXIMA, Decision, Ledger, Part
from swftools.header import HeaderEntry, SwfHeader
from swftools.kernel import FloatArray, IntArray
from swftools.tables import empty_frame, frame_of

_NUMBERED = {
    "user_id": "user",
    "group_id": "group",
    "executable_id": "executable",
    "queue_id": "queue",
    "partition_id": "partition",
}
_SWF_NAMES = {field.name for field in SWF_FIELDS}


def ends_of(parts: list[Part], decision: Decision) -> FloatArray:
    """Return when each job of the parts ended, by its number; NaN where that is not known."""
    ends = np.full(int(decision.number.max(initial=0)) + 1, np.nan)
    kept = np.flatnonzero(decision.number)
    values = [part.numbers.get("end", np.full(len(part.line), np.nan)) for part in parts]
    ends[decision.number[kept]] = np.concatenate(values)[kept]
    return ends


def jobs_of(parts: list[Part], decision: Decision, ends: FloatArray, *, in_order: bool = True) -> pd.DataFrame:
    """Return the jobs table of parts, by submission, or in the order of the records.

    The parts are emptied as their columns are taken, since a log's may fill the memory.

    Parameters
    ----------
    parts : list of Part
        Records, and what became of other lines.
    decision : Decision
        Of their records.
    ends : ndarray of float
        When each job of the log ended, by its number; the job before one of a part may be of another part.
    in_order : bool
        Whether by submission.
    """
    kept = np.flatnonzero(decision.number)
    if in_order:
        kept = kept[np.argsort(decision.number[kept])]
    submit, start, end, given, procs, cpu = (
        _taken(parts, name, kept) for name in ("submit", "start", "end", "run_time", "allocated_processors", "cpu_time")
    )
    energy, power = (_taken(parts, name, kept) for name in ("energy", "mean_power"))
    columns: dict[str, Any] = {}
    eligible = _taken(parts, "eligible", kept)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = {
            "job_number": decision.number[kept],
            "submit_time": submit - decision.origin,
            "wait_time": start - submit,
            "run_time": np.where(np.isfinite(given), given, end - start),
            "allocated_processors": procs,
            "average_cpu_time": np.where(procs > 0, cpu / procs, np.nan),
            "energy": energy,
            "mean_power": _mean_power(power, energy, np.where(np.isfinite(given), given, end - start)),
            "preceding_job_number": decision.preceding[kept],
            "think_time": _think_time(decision.preceding[kept], ends, submit, eligible),
            "line_number": np.concatenate([part.line for part in parts])[kept] if parts else kept,
            "eligible_time": eligible - decision.origin,
            "is_time_ambiguous": np.concatenate([part.is_ambiguous for part in parts])[kept],
        }
    del submit, start, end, given, procs, cpu, energy, power
    for column in JOBS:
        if column.stage != "read" or column.name == "extra_fields":
            continue
        if column.type == BOOL:
            columns[column.name] = values[column.name]
        elif column.type == STRING:
            texts = _texts(parts, column.name, kept)
            if texts is not None:
                columns[column.name] = texts
        else:
            made = values.pop(column.name, None)
            if made is None:
                made = _taken(parts, _NUMBERED.get(column.name, column.name), kept)
            if column.name in _SWF_NAMES or column.name == "line_number" or np.isfinite(made).any():
                columns[column.name] = _integers(made) if column.type == INT64 else made
    return pd.DataFrame(columns, copy=False)


def _mean_power(power: FloatArray, energy: FloatArray, run: FloatArray) -> FloatArray:
    """Return the mean power of each job, W: as told, else its energy over its run time; NaN where that is none."""
    mean = np.where(run > 0, energy / run, np.nan)
    return np.where(np.isfinite(power), power, np.where(mean <= MAXIMA["mean_power"], mean, np.nan))


def _think_time(before: FloatArray, ends: FloatArray, submit: FloatArray, eligible: FloatArray) -> FloatArray:
    """Return how long after the end of the preceding job each could start, or else was submitted; NaN if before it."""
    think = np.full(len(before), np.nan)
    rows = np.flatnonzero(np.isfinite(before))
    since = np.where(np.isfinite(eligible), eligible, submit)[rows] - ends[before[rows].astype(np.int64)]
    think[rows] = np.where(since >= 0, since, np.nan)
    return think


def _taken(parts: list[Part], name: str, kept: Any) -> FloatArray:
    """Return a column of all parts, which give it up."""
    values = [part.numbers.pop(name, None) for part in parts]
    if all(each is None for each in values):
        return np.full(len(kept), np.nan)
    filled = [
        np.full(len(part.line), np.nan) if each is None else each for part, each in zip(parts, values, strict=True)
    ]
    taken: FloatArray = np.concatenate(filled)[kept]
    return taken


def _texts(parts: list[Part], name: str, kept: Any) -> Any:
    """Return a text column of all parts; None if none has it."""
    texts = [part.words.pop(name, None) for part in parts]
    if all(each is None or each.null_count == len(each) for each in texts):
        return None
    chunks = [
        pa.nulls(len(part.line), pa.large_string()) if each is None else each
        for part, each in zip(parts, texts, strict=True)
    ]
    taken = pa.chunked_array(chunks, pa.large_string()).take(pa.array(kept))
    return pd.array(taken.to_pandas(), dtype="str")


def _integers(values: Any) -> pd.arrays.IntegerArray:
    """Return Int64 values in which NaN is missing."""
    missing = ~np.isfinite(values)
    return pd.arrays.IntegerArray(np.where(missing, 1, values).astype(np.int64), missing)


def merged_lines(parts: list[Part], decision: Decision, log: tuple[IntArray, Decision] | None = None) -> pd.DataFrame:
    """Return the table ``merged``: lines that became part of a job, and records that repeat one.

    Parameters
    ----------
    parts : list of Part
        Whose lines are told.
    decision : Decision
        Of their records.
    log : tuple of ndarray and Decision, optional
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


def log_header(origin: Origin, decision: Decision, parts: list[Part], ledger: Ledger) -> SwfHeader:
    """Return the header of a log: what is told of it, and what its records say."""
    entries = [
        ("Version", "2.2"),
        ("Computer", origin.computer),
        ("Installation", origin.installation),
        ("Conversion", f"swftools {__version__}, from {origin.title} ({origin.options})"),
    ]
    jobs = int((decision.number > 0).sum())
    entries.append(("MaxJobs", str(jobs)))
    if jobs and origin.has_dates:
        ends = [part.numbers["end"] for part in parts if "end" in part.numbers]
        last = max((float(np.nanmax(each)) for each in ends if np.isfinite(each).any()), default=np.nan)
        entries += [
            ("UnixStartTime", str(decision.origin)),
            ("TimeZoneString", origin.time_zone),
            ("StartTime", _told_time(decision.origin, origin.time_zone)),
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
        entries.append(("Note", f"Times have no date: second 0 is second {decision.origin} of the log."))
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
