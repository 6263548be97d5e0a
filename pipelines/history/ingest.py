"""What has arrived in an inbox is put into a history: each text once, whatever its file is called."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from pipelines.history.inbox import Arrival, Inbox, Seen, Unreadable
from pipelines.history.state import State
from pipelines.logs.how_read import HowRead
from swftools.errors import HistoryError, LogFormatError, SwfFormatError, SwfToolsError
from swftools.formats.detect import detect
from swftools.formats.registry import LogFormat, find_format
from swftools.history.book import HistoryBook, Taken
from swftools.history.records import FileRecords, file_records
from swftools.tables import empty_frame

UNFINISHED = "unfinished"


@dataclass
class Night:
    """What one run found in the inbox and made of it.

    Parameters
    ----------
    state : State
        What there was.
    book : HistoryBook
        The records, with what came.
    ingested, waiting, rejected : pandas.DataFrame
        The tables with what came; of ``rejected`` the rows that are new.
    outdated : dict of int to int
        Files whose last lines were read again, and the last line that was not: what was rejected behind it counts anew.
    headers : list of SwfHeader
        Of the new files.
    taken : list of dict
        Rows of the table ``ingested`` for the new files.
    """

    state: State
    book: HistoryBook
    ingested: pd.DataFrame
    waiting: list[dict[str, Any]] = field(default_factory=list)
    rejected: list[pd.DataFrame] = field(default_factory=list)
    outdated: dict[int, int] = field(default_factory=dict)
    headers: list[Any] = field(default_factory=list)
    taken: list[dict[str, Any]] = field(default_factory=list)

    @property
    def waiting_table(self) -> pd.DataFrame:
        """The table ``waiting``, in the order of names."""
        form = empty_frame("waiting")
        if not self.waiting:
            return form
        table = pd.DataFrame(self.waiting, columns=form.columns).astype(form.dtypes.to_dict())
        return table.sort_values(["file", "outcome"], ignore_index=True)


@dataclass(frozen=True)
class _Read:
    """A file whose new records were read."""

    arrival: Arrival
    row: dict[str, Any]
    records: FileRecords
    header: Any
    first: float


def look(state: State, inbox: Inbox, seen: Seen) -> tuple[list[Arrival], list[Unreadable]]:
    """Return the files of the inbox with a line that the history does not have, and those that cannot be read."""
    beginnings = list(state.beginnings)
    known = {each.sha256 for each in beginnings if each.is_whole}
    arrivals, unreadable = [], []
    for name, stamp in inbox.stamps().items():
        if seen.sha256(stamp[0]) in known:
            continue
        begun = time.time_ns()
        found = inbox.read(name, beginnings)
        if isinstance(found, Unreadable):
            unreadable.append(found)
            continue
        if found.known is not None and found.length == found.known.length:
            seen.remember(stamp, found.sha256, begun)
            continue
        arrivals.append(found)
    return arrivals, unreadable


def ingest(
    state: State,
    arrivals: list[Arrival],
    unreadable: list[Unreadable],
    how: HowRead,
    tell: Callable[[int, int], None],
    begins: float = -np.inf,
) -> Night:
    """Put what has arrived into the history.

    Parameters
    ----------
    state : State
        The history.
    arrivals, unreadable : list
        As ``look`` returns them.
    how : HowRead
        How files are read.
    tell : callable
        Takes how many files are read, and how many there are.
    begins : float
        When the history begins, in seconds since 1970: older jobs have no place in it.

    Returns
    -------
    Night
        Files are taken in the order of their first submissions, so that it does not matter which was found first.
    """
    night = Night(state, state.book(), state.ingested)
    for each in unreadable:
        night.waiting.append(_waits(each.name, each.sha256, each.outcome, each.reason))
    left_before = {
        (str(name), str(sha256))
        for name, sha256, outcome in zip(
            state.waiting["file"], state.waiting["sha256"], state.waiting["outcome"], strict=True
        )
        if outcome == UNFINISHED
    }
    read = []
    texts: set[str] = set()
    for place, arrival in enumerate(arrivals):
        tell(place, len(arrivals))
        is_finished = arrival.ended == arrival.length or (arrival.name, arrival.sha256) in left_before
        end = arrival.length if is_finished else arrival.ended
        if not is_finished:
            missing = f"its last line has no end: {arrival.length - arrival.ended:,} bytes are left for the next run"
            night.waiting.append(_waits(arrival.name, arrival.sha256, UNFINISHED, missing))
        if end <= (arrival.known.length if arrival.known else 0):
            continue
        try:
            found = _read(arrival, end, how)
        except (SwfToolsError, UnicodeError) as error:
            night.waiting.append(_waits(arrival.name, arrival.sha256, "unreadable", str(error)))
            continue
        if found.row["sha256"] in texts:  # the same file under two names
            continue
        if found.records.begins_in is not None and found.first < begins:
            night.waiting.append(_waits(arrival.name, arrival.sha256, "unreadable", _too_old(found.first, begins)))
            continue
        texts.add(found.row["sha256"])
        read.append(found)
    # Those that do not say when they begin come last, lest one of them decide for all.
    read.sort(key=lambda each: (each.records.begins_in is None, each.first, each.row["bytes"], each.row["sha256"]))
    for file in read:
        _take(night, file)
    if night.taken:
        rows = pd.DataFrame(night.taken, columns=night.ingested.columns).astype(night.ingested.dtypes.to_dict())
        night.ingested = pd.concat([night.ingested, rows], ignore_index=True)
    return night


def _take(night: Night, read: _Read) -> None:
    """Put the records of one file into the book, and the file into the ledger."""
    number = len(night.ingested) + len(night.taken) + 1
    try:
        taken: Taken = night.book.take(read.records, number)
    except HistoryError as error:
        night.waiting.append(_waits(read.arrival.name, read.arrival.sha256, "unreadable", str(error)))
        return
    known = read.arrival.known
    if known is not None:
        night.outdated[known.file_number] = read.arrival.resumes.lines
    rejected = read.records.rejected
    if len(rejected):
        night.rejected.append(rejected.assign(file_number=pd.array([number] * len(rejected), dtype="Int64")))
    night.headers.append(read.header)
    submit = read.records.records["submit_time"]
    night.taken.append(
        {
            "file_number": number,
            **read.row,
            "records": taken.records,
            "new": taken.new,
            "merged": taken.merged,
            "replaced": taken.replaced,
            "quarantined": taken.quarantined,
            "not_ended": taken.not_ended,
            "joined": taken.joined,
            "begins": float(submit.min()) if len(submit) else np.nan,
            "ends": float(submit.max()) if len(submit) else np.nan,
        }
    )


def _read(arrival: Arrival, end: int, how: HowRead) -> _Read:
    """Read the new part of a file up to an end.

    Raises
    ------
    SwfToolsError
        It cannot be read.
    """
    name = how.format or detect(arrival.head, arrival.name)[0]
    kind, options = find_format(name)
    reader = kind(**options)
    preface = _preface(reader, arrival)
    text = arrival.text[: end - arrival.resumes.length]
    trace = HowRead(name, how.anonymise).read(_Named(preface + text, arrival.name))
    records = file_records(trace, arrival.resumes.lines - preface.count(b"\n"))
    if not len(trace.jobs) and not arrival.known and len(records.rejected) and not records.not_ended:
        first = records.rejected.iloc[0]
        raise SwfFormatError(
            f"not one of {len(records.rejected)} lines is a job; line {first['line_number']}: {first['reason']}"
        )
    cut = max(reader.parting()(preface + text) - len(preface), 0)
    row = {
        "file": arrival.name,
        "sha256": arrival.hash_to(end),
        "bytes": end,
        "resumes_sha256": arrival.hash_to(arrival.resumes.length + cut),
        "resumes_bytes": arrival.resumes.length + cut,
        "resumes_lines": arrival.resumes.lines + text.count(b"\n", 0, cut),
        "continues": arrival.known.file_number if arrival.known else 0,
        "format": name,
    }
    submit = records.records["submit_time"]
    return _Read(arrival, row, records, trace.header, float(submit.min()) if len(submit) else np.inf)


def _preface(reader: LogFormat, arrival: Arrival) -> bytes:
    """Return what the new part of a file is to be read behind: nothing where that is all of it."""
    if not arrival.resumes.length:
        return b""
    preface = reader.preface(arrival.head)
    if preface is None:
        raise LogFormatError("its beginning is in the history, and the rest cannot be read without it")
    return preface


def _too_old(first: float, begins: float) -> str:
    """Say that a file has jobs from before the history begins."""
    day, start = (datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d") for moment in (first, begins))
    return (
        f"its first job is of {day}, and the history begins in {start}; set begins: {day[:4]}-01-01 in the settings: "
        "all is made anew then"
    )


class _Named(io.BytesIO):
    """A text with a name for messages."""

    def __init__(self, text: bytes, name: str) -> None:
        super().__init__(text)
        self.name = name


def _waits(name: str, sha256: str | None, outcome: str, reason: str) -> dict[str, Any]:
    """Return a row of the table ``waiting``; the reason in a line, without the name that stands before it."""
    reason = " ".join(reason.split()).removeprefix(f"{name}: ").partition(" What is missing for each:")[0]
    return {"file": name, "sha256": sha256, "outcome": outcome, "reason": reason}
