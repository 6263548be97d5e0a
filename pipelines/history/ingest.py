# SPDX-License-Identifier: BSD-3-Clause
"""What has arrived in an inbox is put into a history: each text once, whatever its file is called.

One file is read at a time, and what is made of it waits on disk until all are read: they are taken in the order of
their first submissions. A file that raises, whatever it raises, is left with the reason; the others are taken.
"""

from __future__ import annotations

import io
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipelines.history.inbox import (
    CHANGED,
    CONTEXT,
    NOTHING,
    Arrival,
    Beginning,
    FileStamps,
    Inbox,
    NewPart,
    Unreadable,
)
from pipelines.history.monthly_files import MonthlyFiles
from pipelines.history.state import HistoryState
from pipelines.logs.how_read import HowRead
from swftools.errors import DateOrderError, HistoryError, LogFormatError, SwfFormatError, SwfToolsError
from swftools.formats.accounting.format import AccountingFormat
from swftools.formats.detect import detect
from swftools.formats.parquet_head import MAGIC
from swftools.formats.registry import LogFormat, find_format
from swftools.history.book import HistoryBook
from swftools.history.copies import without_copies
from swftools.history.provisional import FilePart, Provisional
from swftools.history.records import FileRecords, file_records
from swftools.tables import empty_frame, to_arrow

UNFINISHED = "unfinished"


@dataclass
class Night:
    """What one run found in the inbox and made of it.

    Parameters
    ----------
    state : HistoryState
        What there was.
    book : HistoryBook
        The records, with what came.
    provisional : Provisional
        Of these, those that may change when their files grow.
    ingested, waiting, rejected : pandas.DataFrame
        The tables with what came; of ``rejected`` the rows that are new.
    outdated : dict of int to int
        Files whose last lines were read again, and the last line that was not: what was rejected behind it counts anew.
    headers : list of SwfHeader
        Of the new files.
    taken : list of dict
        Rows of the table ``ingested`` for the new files.
    dates : dict of str to str
        Of each format the order of day and month that its files have shown: dmy or mdy.
    """

    state: HistoryState
    book: HistoryBook
    provisional: Provisional
    ingested: pd.DataFrame
    waiting: list[dict[str, Any]] = field(default_factory=list)
    rejected: list[pd.DataFrame] = field(default_factory=list)
    outdated: dict[int, int] = field(default_factory=dict)
    headers: list[Any] = field(default_factory=list)
    taken: list[dict[str, Any]] = field(default_factory=list)
    dates: dict[str, str] = field(default_factory=dict)

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

    name: str
    sha256: str
    known: Beginning | None
    resumes_lines: int
    row: dict[str, Any]
    records: FileRecords
    copies: int
    header: Any
    first: float

    @property
    def place(self) -> tuple[Any, ...]:
        """What files are put in order by; those that do not say when they begin come last, lest one decide for all."""
        return self.records.begins_in is None, self.first, self.row["bytes"], self.row["sha256"]


def look(state: HistoryState, inbox: Inbox, seen: FileStamps) -> tuple[list[Arrival], list[Unreadable]]:
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
    state: HistoryState,
    inbox: Inbox,
    looked: tuple[list[Arrival], list[Unreadable]],
    how: HowRead,
    folder: Path,
    tell: Callable[[int, int], None],
    begins: float = -np.inf,
) -> Night:
    """Put what has arrived into the history.

    Parameters
    ----------
    state : HistoryState
        The history.
    inbox : Inbox
        Where the files are.
    looked : tuple of lists
        What ``look`` returns.
    how : HowRead
        How files are read.
    folder : Path
        Where months and files wait.
    tell : callable
        Takes how many files are read, and how many there are.
    begins : float
        When the history begins, in seconds since 1970: older jobs have no place in it.

    Returns
    -------
    Night
        Files are taken in the order of their first submissions, so that it does not matter which was found first.
    """
    arrivals, unreadable = looked
    night = Night(state, state.book(MonthlyFiles(folder / "records")), state.provisional(), state.ingested.copy())
    for each in unreadable:
        night.waiting.append(_waits(each.name, each.sha256, each.outcome, each.reason))
    left_before = {
        (str(name), str(sha256))
        for name, sha256, outcome in zip(
            state.waiting["file"], state.waiting["sha256"], state.waiting["outcome"], strict=True
        )
        if outcome == UNFINISHED
    }
    night.dates.update(state.manifest.get("dates", {}))
    read: dict[str, tuple[tuple[Any, ...], Path]] = {}
    later: list[Arrival] = []  # what their dates mean may be told by those of the others
    for place, arrived in enumerate(chain(arrivals, later)):
        is_again = place >= len(arrivals)
        tell(min(place, len(arrivals)), len(arrivals))
        is_document = _is_document(arrived, how)
        nowhere = Beginning(0, NOTHING, 0, 0, is_whole=False)
        arrival = replace(arrived, resumes=nowhere) if is_document else arrived
        was_left = (arrival.name, arrival.sha256) in left_before
        is_finished = (arrival.is_whole if is_document else arrival.ended == arrival.length) or was_left
        end = arrival.length if is_finished else 0 if is_document else arrival.ended
        if end > arrival.ended and not is_document and inbox.has_longer(arrival):
            end = arrival.ended  # a copy that was cut: the line is whole there
        if not is_finished and not is_again:
            night.waiting.append(_waits(arrival.name, arrival.sha256, UNFINISHED, _missing(arrival, is_document)))
        if end <= (arrival.known.length if arrival.known else 0):
            continue
        try:
            found = _read(inbox, arrival, end, how, night.dates)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 (a fence: no file keeps the others out)
            if isinstance(error, DateOrderError) and not is_again:
                later.append(arrival)
                continue
            night.waiting.append(_left(arrival.name, arrival.sha256, inbox.reason(arrival.path, error)))
            continue
        if found is None:
            night.waiting.append(_waits(arrival.name, None, UNFINISHED, CHANGED))
        elif found.row["sha256"] in read:  # the same file under two names
            continue
        elif found.records.begins_in is not None and found.first < begins:
            night.waiting.append(_left(arrival.name, arrival.sha256, _too_old(found.first, begins)))
        else:
            path = folder / f"file-{place}"
            path.write_bytes(pickle.dumps(found, pickle.HIGHEST_PROTOCOL))
            read[found.row["sha256"]] = found.place, path
    for _, path in sorted(read.values()):
        file: _Read = pickle.loads(path.read_bytes())  # noqa: S301 (written above)
        path.unlink()
        _take(night, file)
    if night.taken:
        rows = pd.DataFrame(night.taken, columns=night.ingested.columns).astype(night.ingested.dtypes.to_dict())
        night.ingested = pd.concat([night.ingested, rows], ignore_index=True)
    return night


def _take(night: Night, read: _Read) -> None:
    """Put the records of one file into the book, and the file into the ledger."""
    number = len(night.ingested) + len(night.taken) + 1
    known = read.known.file_number if read.known else 0
    part = FilePart(read.records, number, read.row["resumes_lines"], known)
    try:
        taken = night.provisional.take(night.book, part)
    except HistoryError as error:
        night.waiting.append(_left(read.name, read.sha256, str(error)))
        return
    _outdate(night, known, read.resumes_lines)
    rejected = read.records.rejected
    if len(rejected):
        night.rejected.append(rejected.assign(file_number=pd.array([number] * len(rejected), dtype="Int64")))
    night.headers.append(read.header)
    header, widest = read.header, read.records.records[["allocated_processors", "requested_processors"]].max().max()
    submit = read.records.records["submit_time"]
    night.taken.append(
        {
            "file_number": number,
            **read.row,
            "records": taken.records + read.copies,
            "new": taken.new,
            "merged": taken.merged + read.copies,
            "replaced": taken.replaced,
            "quarantined": taken.quarantined,
            "not_ended": taken.not_ended,
            "joined": taken.joined,
            "withdrawn": taken.gone,
            "computer": header.computer,
            "processors": header.max_procs or header.max_nodes,
            "widest": None if pd.isna(widest) else int(widest),
            "begins": float(submit.min()) if len(submit) else np.nan,
            "ends": float(submit.max()) if len(submit) else np.nan,
        }
    )


def _outdate(night: Night, number: int, lines: int) -> None:
    """Take back what was rejected behind some line of a text, the first part of which is a file, by all parts of it.

    Such a line belongs to a record that is read anew: it counts as joined to it.
    """
    while number:
        night.outdated[number] = lines
        row = night.ingested["file_number"] == number
        if night.ingested.loc[row, "quarantined"].sum():
            rejected = night.state.rejected_of(number)
            again = int(((rejected["file_number"] == number) & (rejected["line_number"] > lines)).sum())
            night.ingested.loc[row, "quarantined"] -= again
            night.ingested.loc[row, "joined"] += again
        number = int(night.ingested.loc[row, "continues"].sum())


def _read(inbox: Inbox, arrival: Arrival, end: int, how: HowRead, dates: dict[str, str]) -> _Read | None:
    """Read the new part of a file up to an end; None where the file has changed meanwhile.

    ``dates`` has of each format the order of day and month that files have shown, and gets what this one shows.

    Raises
    ------
    SwfToolsError
        It cannot be read.
    """
    name = how.format or detect(arrival.head, arrival.name)[0]
    kind, options = find_format(name)
    reader = kind(**options)
    part = inbox.new_part(arrival, CONTEXT if issubclass(kind, AccountingFormat) else 0)
    if part is None:
        return None
    preface = _preface(reader, arrival, part)
    text = part.text[: end - part.starts]
    before = preface + part.context
    known = dates.get(kind.NAME)
    source = _Named(before + text, arrival.name)
    trace = HowRead(name, how.anonymise).read(source, dates=known, for_publication=True)
    if shown := trace.provenance.get("dates"):
        dates.setdefault(kind.NAME, shown)
    resumes = arrival.resumes.lines
    lines = before.count(b"\n")
    records, copies = without_copies(file_records(trace, resumes - lines, lines))
    to_arrow(
        records.records.assign(file_number=1, job_occurrence=1), "records"
    )  # lest what no table holds be found later
    if (
        not len(records.records)
        and not copies
        and not arrival.known
        and len(records.rejected)
        and not records.not_ended
    ):
        first = records.rejected.iloc[0]
        raise SwfFormatError(
            f"not one of {len(records.rejected)} lines is a job; line {first['line_number']}: {first['reason']}"
        )
    whole = text[: max(arrival.ended - part.starts, 0)]
    if reader.preface(arrival.head) is None:  # a document: if it is whole it does not grow, else it is read anew
        cut = len(text) if arrival.is_whole else 0
        numbered = [int(each["line_number"].max()) for each in (records.records, records.rejected) if len(each)]
        lines_read = max([text.count(b"\n") + 1, *numbered]) if arrival.is_whole else 0
    else:
        cut = max(reader.parting()(before + whole) - len(before), 0)
        cut = whole.rfind(b"\n", 0, cut) + 1
        lines_read = resumes + text.count(b"\n", 0, cut)
    row = {
        "file": arrival.name,
        "sha256": part.hash_to(end),
        "bytes": end,
        "resumes_sha256": part.hash_to(part.starts + cut),
        "resumes_bytes": part.starts + cut,
        "resumes_lines": lines_read,
        "continues": arrival.known.file_number if arrival.known else 0,
        "format": name,
    }
    submit = records.records["submit_time"]
    begins = float(submit.min()) if len(submit) else np.inf
    return _Read(arrival.name, arrival.sha256, arrival.known, resumes, row, records, copies, trace.header, begins)


def _is_document(arrival: Arrival, how: HowRead) -> bool:
    """Whether a file can only be read from its beginning to its end: Parquet, and JSON that is one object or list."""
    try:
        kind, options = find_format(how.format or detect(arrival.head, arrival.name)[0])
        return kind(**options).preface(arrival.head) is None
    except SwfToolsError:  # which reading will tell
        return arrival.head.startswith(MAGIC)


def _missing(arrival: Arrival, is_document: bool) -> str:
    """Return why a file is not, or not wholly, read in this run."""
    if is_document:
        return "it has no end yet, as if it were on its way: it is left for the next run"
    left = arrival.length - arrival.ended
    return f"its last line has no end: {left:,} byte{' is' if left == 1 else 's are'} left for the next run"


def _preface(reader: LogFormat, arrival: Arrival, part: NewPart) -> bytes:
    """Return what the new part of a file is to be read behind: nothing where what stands before it is read again."""
    if len(part.context) == part.starts:
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
        "then everything is made again"
    )


class _Named(io.BytesIO):
    """A text with a name for messages."""

    def __init__(self, text: bytes, name: str) -> None:
        super().__init__(text)
        self.name = name


def _left(name: str, sha256: str | None, reason: str) -> dict[str, Any]:
    """Return a row of the table ``waiting`` for a file that somebody must look at."""
    return _waits(name, sha256, "unreadable", reason)


def _waits(name: str, sha256: str | None, outcome: str, reason: str) -> dict[str, Any]:
    """Return a row of the table ``waiting``; the reason in a line, without the name that stands before it."""
    reason = " ".join(reason.split()).removeprefix(f"{name}: ").partition(" What is missing for each:")[0]
    return {"file": name, "sha256": sha256, "outcome": outcome, "reason": reason}
