# SPDX-License-Identifier: BSD-3-Clause
"""A format of accounting logs: it says what stands in the records, and this reads files by it into a Trace.

A subclass has its options as fields beside those here, and two methods: ``recognise`` and ``records``. Reading in
pieces, numbers for names, the ledger of every record, the header, and the order of jobs are done here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from swftools.errors import DateOrderError, LogFormatError, SwfFormatError
from swftools.formats.accounting.assembly import Origin, ends_of, jobs_of, last_end, log_header, merged_lines
from swftools.formats.accounting.date_order import USUAL, DateOrder, OtherOrder
from swftools.formats.accounting.decision import Known, LogDecision, decide
from swftools.formats.accounting.dependencies import Dependencies, groups_together, together
from swftools.formats.accounting.digest import Digest
from swftools.formats.accounting.identity import told_apart
from swftools.formats.accounting.late_facts import Settled, carry_out, whole_column
from swftools.formats.accounting.ledger import Ledger, Part
from swftools.formats.accounting.records import Records, Stretch
from swftools.formats.accounting.spans import line_ends
from swftools.formats.accounting.times import zone_named
from swftools.formats.accounting.whole_log import Gathered
from swftools.formats.compression import source_name
from swftools.formats.multi_file import JoinedFiles, LogFiles, open_joined
from swftools.formats.registry import LogFormat, Reading
from swftools.kernel import FloatArray, IntArray
from swftools.parameters import text, whole
from swftools.parameters.as_text import write_entry
from swftools.tables import empty_frame
from swftools.trace import Trace

T = TypeVar("T")

LONGEST_RECORD = 1 << 26
"""Bytes of a record beyond which no end of it is waited for."""

_LEAST_PIECE = 1 << 16
"""Bytes to which the pieces of a log grow that is asked for in smaller ones."""


@dataclass
class Tally:
    """What is known of a log's text once it has been read.

    Parameters
    ----------
    digest : Digest, optional
        Takes the text.
    count : int
        Bytes of it.
    unverified : str, optional
        Why damage would not have shown; None where it would.
    """

    digest: Digest | None = None
    count: int = 0
    unverified: str | None = None


@dataclass(frozen=True)
class AccountingFormat(LogFormat):
    """Base of the formats of accounting logs.

    Parameters
    ----------
    time_zone : str, optional
        Zone of the batch system, by its name in the tz database. Times without a zone are read in it, and it becomes
        TimeZoneString in the header.
    computer, installation : str, optional
        Names for the header.
    processors, nodes : int, optional
        Size of the machine, for the header (MaxProcs, MaxNodes).
    """

    NOTES: ClassVar[tuple[str, ...]] = ()
    """What the header should tell of the mapping to SWF."""
    SETTLED_BY: ClassVar[tuple[str, ...]] = ()
    """Columns, beside the times, by which it is settled what is of one job."""
    HAS_DATES: ClassVar[bool] = True
    """Whether its times count from 1970, or else from the beginning of the log."""
    ANY_ORDER: ClassVar[bool] = False
    """Whether a job may wait for one that is submitted later, as a task of a workflow; no id comes again then."""
    READER_VERSION: ClassVar[int] = 2
    """1: of ids that came again the first was a predecessor, and rows without an id that were equal were one job."""

    time_zone: str | None = text(None, words="a zone of the tz database")
    computer: str | None = text(None)
    installation: str | None = text(None)
    processors: int | None = whole(None, least=1, most=2**31 - 1, optional=True)
    nodes: int | None = whole(None, least=1, most=2**31 - 1, optional=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.time_zone is not None:
            zone_named(self.time_zone)

    @property
    def origin(self) -> Origin:
        """What the header tells of the log from outside of it."""
        usual = type(self)().to_mapping()
        given = {name: value for name, value in self.to_mapping().items() if value != usual[name]}
        told = write_entry(self.NAME, given)
        machine = (self.computer, self.installation, self.time_zone, self.nodes, self.processors)
        return Origin(self.TITLE, told, *machine, self.NOTES, self.HAS_DATES)

    @abstractmethod
    def records(self, stretches: Iterable[Stretch]) -> Iterator[Records]:
        """Say what stands in a log.

        Parameters
        ----------
        stretches : iterable of Stretch
            The log in pieces, as ``cut`` divides it; the last one says so. Keep what spans pieces in local variables.

        Yields
        ------
        Records
            One for each stretch.
        """

    def read(self, files: LogFiles, how: Reading) -> Trace:
        """Read a whole log; see ``swftools.read_log``."""
        return self._by_its_dates(files, how, lambda dates: self._read(files, how, dates))

    def _read(self, files: LogFiles, how: Reading, dates: DateOrder) -> Trace:
        """Read a whole log by an order of day and month."""
        ledger = Ledger(how.privacy, files.are_several)
        gathered = Gathered()
        with Digest() as digest:
            tally = Tally(digest)
            first_fault: Part | None = None
            for part in self._parts(files, how, ledger, tally, dates):
                if how.strict and len(part.quarantine):
                    first_fault = part if first_fault is None else first_fault
                    if not dates.is_open:  # else it may be none by the order that a later date shows
                        refuse(files, first_fault)
                gathered.add(part)
            if first_fault is not None:
                refuse(files, first_fault)
        gathered.close()
        pa.default_memory_pool().release_unused()
        parts = gathered.parts
        settled = self.settle(parts, ledger)
        decision = _decide(parts, settled, files, any_order=self.ANY_ORDER)
        ledger.note_repeats(int(np.count_nonzero(decision.into)) - len(settled.into))
        ledger.note_unknown(_waits_of(parts), decision)
        self._carry_out(settled, parts, np.concatenate([part.line for part in parts]), files, how, 0)
        for part in parts:
            part.key = part.id_key = np.empty(0, np.uint64)
        self.look_over(parts, decision, ledger)
        merged = merged_lines(parts, decision)
        quarantine = placed(files, parts)
        jobs_there = int((decision.number > 0).sum())
        header = log_header(self.origin, jobs_there, decision.origin, last_end(parts), ledger)
        jobs = jobs_of(parts, decision, ends_of(parts, decision))
        provenance = {
            "name": Path(files.name).name or files.name,
            "bytes": tally.count,
            "sha256": digest.hexdigest(),
            "format": self.origin.options,
            **({"dates": dates.shown} if dates.shown else {}),
            **({"unverified": tally.unverified} if tally.unverified else {}),
            **({"withholds_text": True} if ledger.withholds_text else {}),
            **({"anomalies": dict(sorted(ledger.anomalies.items()))} if ledger.anomalies else {}),
            **({"files": [Path(source_name(source)).name for source in files.sources]} if files.are_several else {}),
        }
        names = ledger.names.table(how.privacy)
        return Trace(header, jobs, quarantine, self.processors, provenance=provenance, merged=merged, names=names)

    def iterate(self, files: LogFiles, how: Reading) -> Iterator[Trace]:
        """Read a log in chunks, twice: see ``swftools.iter_log``."""
        files.again()  # which also refuses at once what cannot be read twice

        def outlined(dates: DateOrder) -> tuple[list[Part], Ledger, DateOrder]:
            ledger = Ledger(how.privacy, files.are_several)
            parts = self._parts(files, how, ledger, Tally(), dates)
            return [_outline(part, self.SETTLED_BY) for part in parts], ledger, dates

        seen, ledger, dates = self._by_its_dates(files, how, outlined)
        settled = self.settle(seen, ledger)
        decision = _decide(seen, settled, files, any_order=self.ANY_ORDER)
        ledger.note_repeats(int(np.count_nonzero(decision.into)) - len(settled.into))
        ledger.note_unknown(_waits_of(seen), decision)
        jobs_there = int((decision.number > 0).sum())
        header = log_header(self.origin, jobs_there, decision.origin, last_end(seen), ledger)
        row = 0
        lines = np.concatenate([part.line for part in seen])
        carry_out(settled, seen, lines)
        ends = ends_of(seen, decision)
        seen.clear()  # most of what is kept of a record
        again = Ledger(how.privacy, files.are_several)
        files.again()
        for part in self._parts(files, how, again, Tally(), dates):
            self._carry_out(settled, [part], lines, files, how, row)
            own = decision.of(row, row + len(part.line))
            row += len(part.line)
            is_closed = np.isin(np.append(part.merged_into, own.into[own.into > 0]), part.line).all()
            if how.strict and len(part.quarantine):
                refuse(files, part)
            yield Trace(
                header,
                jobs_of([part], own, ends, in_order=False),
                placed(files, [part]),
                self.processors,
                provenance={"name": Path(files.name).name or files.name, "format": self.origin.options},
                merged=merged_lines([part], own, None if is_closed else (lines, decision)),
                names=again.names.table(how.privacy),
            )

    @property
    def date_order(self) -> str | None:
        """Which of day and month comes first in dates with slashes; None where the log has to show it.

        That is for formats whose dates are as a site or a locale has them (``WrittenDates``); by default none are.
        """
        return USUAL

    def assuming(self, order: str) -> Self:  # noqa: ARG002 (as ``WrittenDates`` has it)
        """Return this, to read dates with slashes by an order."""
        return self

    def _by_its_dates(self, files: LogFiles, how: Reading, read: Callable[[DateOrder], T]) -> T:
        """Read a log, and once more if dates show another order of day and month than it was read by."""
        try:
            return read(DateOrder(self.date_order, how.dates, files.dates))
        except OtherOrder as other:
            order = other.order
        try:
            files.again()
        except LogFormatError as error:
            raise DateOrderError(
                f"{files.name}: its dates turn out to be {order} only after its beginning, and this stream can be read "
                f"only once; say dates={order} (--format {self.NAME}:dates={order}), or save it as a file"
            ) from error
        files.dates = order
        if files.are_several:
            self.put_in_order(files, files.heads())
        return read(DateOrder(self.date_order, order, order))

    def head_records(self, head: bytes) -> Iterator[Records]:
        """Yield the records in the beginning of a file, as far as its lines are whole."""
        yield from self.records([Stretch(head[: head.rfind(b"\n") + 1], 1, is_last=True)])

    def first_time(self, head: bytes) -> float | None:
        """Return when the records in the beginning of a file ended, or else were submitted: the median time."""
        for records in self.head_records(head):
            for name in ("end", "submit"):
                times = records.number(name)
                if np.isfinite(times).any():
                    return float(np.median(times[np.isfinite(times)]))
        return None

    def settle(self, parts: list[Part], ledger: Ledger) -> Settled:  # noqa: ARG002 (what subclasses take)
        """Return what the records of a whole log, or their ``SETTLED_BY``, change of each other; nothing by default."""
        return Settled()

    def _carry_out(
        self, settled: Settled, parts: list[Part], lines: IntArray, files: LogFiles, how: Reading, first: int
    ) -> None:
        """Change parts as was settled; what is a line of no record then is refused where that was asked for."""
        carry_out(settled, parts, lines, first)
        if how.strict and settled.rejected:
            for part in parts:
                if len(part.quarantine):
                    refuse(files, part)

    def look_over(self, parts: list[Part], decision: LogDecision, ledger: Ledger) -> None:
        """Count among the anomalies what only shows once the whole log is known; nothing by default."""

    def pieces(self, files: LogFiles, how: Reading, tally: Tally) -> Iterator[tuple[Stretch, Records]]:
        """Read a log piece by piece: the text of each, and what stands in it.

        Parameters
        ----------
        files : LogFiles
            The log; ``begins`` is filled in as files are reached.
        how : Reading
            As for ``read``.
        tally : Tally
            Becomes what is known of the text once all has been read.
        """
        present: list[Stretch] = []

        def stretches() -> Iterator[Stretch]:
            for stretch in self._stretches(stream, files, how.chunk_bytes, tally.digest):
                present[:] = [stretch]
                yield stretch

        with open_joined(files, max_bytes=how.max_bytes, progress=how.progress) as stream:
            for records in self.records(stretches()):
                yield present[0], records
            tally.count, tally.unverified = stream.count, stream.unverified

    def _parts(self, files: LogFiles, how: Reading, ledger: Ledger, tally: Tally, dates: DateOrder) -> Iterator[Part]:
        """Read a log piece by piece by an order of day and month, and take each piece into the ledger."""
        may_quote = how.privacy.tells_words
        try:
            for stretch, records in self.assuming(dates.used).pieces(files, how, tally):
                dates.take(records.dates, files.place, may_quote=may_quote)
                yield ledger.take(records, stretch)
            dates.require(files.place, may_quote=may_quote)
        except LogFormatError as error:
            told = str(error).replace("--format NAME:", f"--format {self.NAME}:")
            raise type(error)(f"{files.name}: {told}") from error

    def _stretches(
        self, stream: JoinedFiles, files: LogFiles, chunk_bytes: int, digest: Digest | None
    ) -> Iterator[Stretch]:
        """Yield a stream in pieces of whole records; at least one, which may be empty.

        What is remembered of earlier pieces costs time with each: pieces that are asked for too small grow with the
        log. Where no record ends, the next attempt waits until there is twice the text. So time grows with the log.
        """
        files.begins = []
        cut = self.parting()
        parts: list[bytes] = []
        held = awaited = 0
        line = 1
        offset = 0
        while True:
            size = max(chunk_bytes, min(offset >> 8, _LEAST_PIECE))
            data = stream.read(size)
            is_last = not data
            if 0 < len(data) < size:  # as at the end: a small log is one piece, not one and an empty one
                more = stream.read(size - len(data))
                is_last = not more
                data += more
            if digest is not None:
                digest.update(data)
            parts.append(data)
            held += len(data)
            if not is_last and held <= max(LONGEST_RECORD, chunk_bytes) and (held < awaited or b"\n" not in data):
                continue
            pending = b"".join(parts) if len(parts) > 1 else data
            if is_last:
                end = len(pending)
            else:
                lines_end = pending.rfind(b"\n") + 1
                end = cut(pending[:lines_end] if lines_end < len(pending) else pending) if lines_end else 0
                if end == 0 and len(pending) > max(LONGEST_RECORD, chunk_bytes):
                    end = lines_end or len(pending)
            if end or is_last:
                text = pending[:end] if end < len(pending) else pending
                while len(files.begins) < len(stream.joints) and stream.joints[len(files.begins)] < offset + end:
                    joint = stream.joints[len(files.begins)] - offset
                    files.begins.append(line + line_ends(text, max(joint, 0)))
                yield Stretch(text, line, is_last=is_last)
                line += line_ends(text)
                offset += end
                pending = pending[end:]
            awaited = 0 if end else 2 * len(pending)
            parts, held = [pending], len(pending)
            if is_last:
                return


def _decide(parts: list[Part], settled: Settled, files: LogFiles, *, any_order: bool) -> LogDecision:
    """Return what the records of all parts decide; before it is carried out what was settled."""
    counts = [len(part.line) for part in parts]
    waits = _waits_of(parts)
    nothing = np.broadcast_to(np.nan, sum(counts))

    def column(name: str) -> FloatArray:
        """Return what only those need that wait for others."""
        return nothing if waits is None else whole_column(parts, name)

    line, key, id_key = (np.concatenate([getattr(part, name) for part in parts]) for name in ("line", "key", "id_key"))
    if files.are_several:
        key = told_apart(key, id_key, line, files.begins)
    return decide(
        Known(
            whole_column(parts, "submit"),
            column("start"),
            column("end"),
            line,
            key,
            id_key,
            waits,
            groups_together([part.groups for part in parts], counts) if waits is not None else {},
            column("status"),
            settled.into,
            any_order,
        )
    )


def _waits_of(parts: list[Part]) -> Dependencies | None:
    """Return what the records of all parts wait for; None where none does."""
    waits = together([part.waits for part in parts], [len(part.line) for part in parts])
    return waits if waits is not None and len(waits.row) else None


def _outline(part: Part, columns: tuple[str, ...]) -> Part:
    """Return of a part only what the whole is decided by."""
    wanted = ("submit", "end", *(("start", "status") if part.waits is not None else ()), *columns)
    numbers: dict[str, FloatArray] = {name: part.numbers[name] for name in wanted if name in part.numbers}
    nothing = np.empty(0, np.int64)
    return Part(
        part.line,
        part.key,
        part.id_key,
        numbers,
        {},
        part.waits,
        part.groups,
        part.is_ambiguous,
        empty_frame("quarantine"),
        nothing,
        nothing,
        part.loose,
    )


def placed(files: LogFiles, parts: list[Part]) -> pd.DataFrame:
    """Return the quarantine of parts in the order of lines; of several files each reason says where the line stands."""
    frames = [part.quarantine for part in parts if len(part.quarantine)]
    if not frames:
        return empty_frame("quarantine")
    frame = pd.concat(frames).sort_values("line_number", kind="stable", ignore_index=True)
    if files.are_several:
        places = [files.place(line) for line in frame["line_number"].tolist()]
        frame["reason"] = [f"{place}: {why}" for place, why in zip(places, frame["reason"], strict=True)]
    return frame


def refuse(files: LogFiles, part: Part) -> None:
    """Raise at the first line that is not a job."""
    first = part.quarantine.iloc[0]
    text = first["text"]
    shown = f": {text.splitlines()[0][:80]!r}" if isinstance(text, str) and text else ""
    raise SwfFormatError(
        f"{files.name}, {files.place(int(first['line_number']))}: {first['reason']}{shown}; mend the record, or read "
        "without strict to put it into the quarantine"
    )
