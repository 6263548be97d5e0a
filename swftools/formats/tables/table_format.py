# SPDX-License-Identifier: BSD-3-Clause
"""A format of tables: it declares which column is which of ours, and this reads files by it into a Trace.

A subclass has its declaration as class variables. What a row may say that columns cannot (attempts in lists, a join of
several tables) is a method to override: ``adapt`` or ``pieces``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np

from swftools.errors import LogFormatError, ParameterError, UnreadableLogError
from swftools.formats.accounting.assembly import jobs_of, log_header, merged_lines
from swftools.formats.accounting.date_order import DateOrder
from swftools.formats.accounting.decision import LogDecision
from swftools.formats.accounting.format import Tally, placed, refuse
from swftools.formats.accounting.ledger import Ledger, Part
from swftools.formats.accounting.ordered_ids import InOrder
from swftools.formats.accounting.records import Records, Stretch
from swftools.formats.accounting.written_dates import WrittenDates
from swftools.formats.compression import LogSource, source_name
from swftools.formats.multi_file import LogFiles, open_joined
from swftools.formats.registry import Fit, Reading
from swftools.formats.tables.capacity_check import demand, joined_column
from swftools.formats.tables.column_reader import Filler
from swftools.formats.tables.columns import Column, Declaration
from swftools.formats.tables.files import as_file, end_line, pass_over
from swftools.formats.tables.heads import Head, head_of, least_value, place_of
from swftools.formats.tables.json_rows import Row
from swftools.formats.tables.parquet_rows import parquet_sheets
from swftools.formats.tables.rows import Sheet
from swftools.formats.tables.text_rows import TextReader
from swftools.parameters import text
from swftools.trace import Trace

_ROW_BYTES = 64
"""Bytes of a chunk that a row of Parquet is counted as: 65,536 rows in a chunk of 4 MiB."""
_LONG_ROW_BYTES = 4096
"""The same, of rows with lists."""
_WHOLE, _WHOLE_TEXT = 4, 2
"""Batches, and chunks of a text, that are read at once where all jobs are wanted: names that many rows share are looked
up less often."""
_HEAD_ROWS = 200


@dataclass(frozen=True)
class TableFormat(WrittenDates):
    """Base of the formats of tables.

    Parameters
    ----------
    width : str, optional
        What the width of a job counts, where the table tells several: one of the words of ``WIDTHS``.
    """

    COLUMNS: ClassVar[dict[str, Column]] = {}
    """What stands where, by the names of ours."""
    KEYS: ClassVar[tuple[str, ...]] = ()
    """Columns by which such a table is recognised: it has all of them."""
    NOT: ClassVar[tuple[str, ...]] = ()
    """Columns that such a table does not have."""
    BESIDE: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Tables that come with it and hold no jobs, each by columns that it has: they are passed over, and counted."""
    STATES: ClassVar[dict[str, int | None]] = {}
    """The status that a state means; None for one of jobs that have not ended."""
    FURTHER: ClassVar[tuple[str, ...]] = ()
    """Columns that ``adapt`` asks for."""
    KEEPS_RUNNING: ClassVar[bool] = False
    """Whether what started and has no end is a job without a run time; else it is quarantined."""
    WIDTHS: ClassVar[dict[str, dict[str, Column]]] = {}
    """What the width may count; the first is the default."""
    MISSING: ClassVar[tuple[str, ...]] = ()
    ZONE: ClassVar[str | None] = None
    """The zone of times that are printed without one."""
    HEADLESS: ClassVar[tuple[str, ...]] = ()
    """The names of the columns of a table that has no line with them."""
    SEPARATOR: ClassVar[str | None] = None
    COMMENT: ClassVar[str] = ""
    """The letter with which lines begin that are no rows."""
    JOB: ClassVar[str] = ""
    """What a job is, for its page."""
    WIDTH: ClassVar[str] = ""
    """What the width is, for its page."""
    MACHINE: ClassVar[str] = ""
    """On which machine jobs ran, for its page."""
    TRIED: ClassVar[str] = ""
    """On what the reading was tried, for its page."""
    TRAPS: ClassVar[tuple[str, ...]] = ()
    """What to know of it, for its page."""
    LICENCE: ClassVar[str] = ""
    """Whose the rows of the example are, and on what terms."""
    EXAMPLE: ClassVar[str] = ""
    """A few rows, for its page, whose snippet is run."""

    width: str | None = text(None, words="what the width counts")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width is not None and self.width not in self.WIDTHS:
            there = ", ".join(self.WIDTHS) or "none: this table tells one only"
            raise ParameterError(f"{self.NAME}: width={self.width!r} is not one of {there}")

    @property
    def declaration(self) -> Declaration:
        """What is declared of the table, with the width that was chosen."""
        chosen = self.WIDTHS.get(self.width or next(iter(self.WIDTHS), ""), {})
        return Declaration(
            {**self.COLUMNS, **chosen},
            self.STATES,
            self.MISSING,
            self.ZONE,
            self.HAS_DATES,
            self.SEPARATOR,
            self.HEADLESS,
            further=self.FURTHER,
            keeps_running=self.KEEPS_RUNNING,
        )

    @property
    def comment(self) -> str:
        """The letter with which lines begin that are no rows."""
        return self.COMMENT

    @property
    def zone(self) -> str | None:
        """The zone of times that are printed without one."""
        return self.time_zone or self.declaration.zone

    @property
    def date_order(self) -> str | None:
        """Which of day and month comes first in dates with slashes; None where the table has to show it."""
        return self.dates or self.declaration.date_order

    @property
    def origin(self) -> Any:
        """What the header tells of the log from outside of it."""
        return super().origin._replace(time_zone=self.zone, has_dates=self.declaration.has_dates)

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether a file has the columns by which this table is known."""
        found = head_of(head)
        if found is None:
            return Fit(False, f"no table with the columns {', '.join(cls.KEYS)}")
        beside = cls.beside(found)
        if beside:
            return Fit(True, f"the columns of its table of {beside}")
        missing = [name for name in cls.KEYS if place_of(found.columns, [name]) < 0]
        missing += [f"none of {name}" for name in cls.NOT if place_of(found.columns, [name]) >= 0]
        if missing or not cls.KEYS:
            return Fit(False, f"no column {', '.join(missing)}")
        return Fit(True, f"the columns {', '.join(cls.KEYS)}")

    @classmethod
    def beside(cls, head: Head) -> str | None:
        """Return which of the tables without jobs that come with it a file is; None for none of them."""
        for title, names in cls.BESIDE.items():
            if all(place_of(head.columns, [name]) >= 0 for name in names):
                return title
        return None

    def records(self, stretches: Iterable[Stretch]) -> NoReturn:
        """Tables are not read from a text alone; see ``pieces``."""
        raise NotImplementedError("tables are read by pieces")

    def preface(self, head: bytes) -> bytes | None:
        """Return the header of a CSV; JSON lines need nothing; of others None."""
        found = head_of(head)
        if found is None or found.kind == "parquet" or head.lstrip()[:1] == b"[":
            return None
        return head[: head.find(b"\n") + 1] if found.kind == "csv" and not self.declaration.headless else b""

    def adapt(self, sheet: Sheet, records: Records, rows: Sequence[Row]) -> None:
        """Add to the records of a sheet what columns cannot declare; nothing by default.

        Parameters
        ----------
        sheet : Sheet
            The rows.
        records : Records
            What the declaration made of them.
        rows : sequence of dict
            The objects of JSON; empty for other files.
        """

    def first_time(self, head: bytes) -> float | None:
        """Return when the rows in the beginning of a file ended, or else were submitted: the median time.

        Of Parquet, whose beginning is not read for it, it is the least submission that the footer tells.
        """
        found = head_of(head)
        if found is None:
            return None
        if found.kind == "parquet":
            return least_value(head, place_of(found.columns, self.declaration.columns["submit"].names))
        try:
            return super().first_time(head)
        except LogFormatError:
            return None

    def head_records(self, head: bytes) -> Iterator[Records]:
        """Yield the records of the first rows of a text."""
        found = head_of(head)
        if found is None or found.kind == "parquet":
            return
        whole = head[: head.rfind(b"\n") + 1] or head
        part = b"\n".join(whole.split(b"\n", _HEAD_ROWS)[:_HEAD_ROWS]) + b"\n"
        yield self._text_reader(part, 1).take(Stretch(part, 1, is_last=True))[0]

    def pieces(self, files: LogFiles, how: Reading, tally: Tally) -> Iterator[tuple[Stretch, Records]]:
        """Read the files of a table piece by piece."""
        files.begins = []
        first = 1
        passed: Counter[str] = Counter()
        for number, source in enumerate(files.sources):
            files.begins.append(first)
            head = files.head(number)
            if (found := head_of(head)) and (title := self.beside(found)):
                passed[f"a table of {title}, which has no jobs: passed over"] += 1
                pass_over(source, how, tally, is_last_file=number == len(files.sources) - 1)
                continue
            one = LogFiles([source], files.name)
            is_last_file = number == len(files.sources) - 1
            kind = head_of(head) if head else None
            if kind and kind.kind == "parquet":
                files.unit = "row"
                rows = self._of_parquet(source, how, tally, first, is_last_file=is_last_file)
            else:
                if head.lstrip()[:1] == b"[":
                    files.unit = "row"
                rows = self.text_pieces(one, how, tally, first, self._text_reader, is_last_file=is_last_file)
            for stretch, records, behind in rows:
                yield stretch, records
                first = behind
        if sum(passed.values()) == len(files.sources):
            raise LogFormatError(f"there are only tables without jobs: {', '.join(passed)}; give the table of jobs too")
        if passed:
            nothing = np.empty(0, np.int64)
            yield Stretch(b"", first, is_last=True), Records(nothing, nothing, nothing, anomalies=passed)

    def _filler(self) -> Filler:
        return Filler(self.declaration, self.NAME, self.zone, self.date_order)

    def _text_reader(self, beginning: bytes, first: int) -> TextReader:
        """Return what reads a text with this beginning, whose first line has this number."""
        return TextReader(beginning, first, self.declaration, self._filler(), self.comment, self.adapt)

    def _of_parquet(
        self, source: LogSource, how: Reading, tally: Tally, first: int, *, is_last_file: bool
    ) -> Iterator[tuple[Stretch, Records, int]]:
        """Read a Parquet file."""
        name = source_name(source)
        opened, size = as_file(source, how.max_bytes, tally)
        tally.count += size
        end_line(tally, ends_line=is_last_file)
        filler = self._filler()
        row = _LONG_ROW_BYTES if self.declaration.has_lists else _ROW_BYTES
        batch = max(how.chunk_bytes // row, 1) * (1 if tally.digest is None else _WHOLE)
        is_checked = False
        for sheet, columns, share in parquet_sheets(opened, name, self.declaration, first, batch):
            if not is_checked:
                filler.require_columns(columns)
                is_checked = True
            records = filler.fill(sheet)
            self.adapt(sheet, records, ())
            yield Stretch(b"", first, is_last=False), records, int(sheet.line[-1]) + 1 if len(sheet) else first
            if how.progress:
                how.progress(int(share * size), size)

    def text_pieces(
        self,
        one: LogFiles,
        how: Reading,
        tally: Tally,
        first: int,
        begin: Callable[[bytes, int], TextReader],
        *,
        is_last_file: bool,
    ) -> Iterator[tuple[Stretch, Records, int]]:
        """Read a text file piece by piece: the text of each, its records, and the number of the line behind it.

        Parameters
        ----------
        one : LogFiles
            The file.
        how, tally
            As ``pieces`` takes them.
        first : int
            Number of its first line in the log.
        begin : callable
            Makes what reads it, of its beginning and that number.
        is_last_file : bool
            Whether no file of the log comes behind it.
        """
        reader: TextReader | None = None
        left, line, ends_line = b"", first, True
        with open_joined(one, max_bytes=how.max_bytes, progress=how.progress) as stream:
            is_last = False
            while not is_last:
                size = max(how.chunk_bytes * (1 if tally.digest is None else _WHOLE_TEXT), len(left))
                data = stream.read(size)
                is_last = not data
                while 0 < len(data) < size and (more := stream.read(size - len(data))):
                    data += more
                is_last = is_last or len(data) < size
                if tally.digest is not None:
                    tally.digest.update(data)
                ends_line = data.endswith(b"\n") if data else ends_line
                cut = len(data) if is_last else data.rfind(b"\n") + 1
                if not cut and not is_last:
                    left += data
                    continue
                # Copied once, since the text of a table may be as large as what is made of it.
                text = b"".join((left, memoryview(data)[:cut])) if left or cut < len(data) else data
                behind = data[cut:]
                del data
                if reader is None:
                    reader = begin(text, first)
                given = Stretch(text, line, is_last)
                records, read_to, line = reader.take(given)
                yield given, records, reader.behind(line)
                left = text[read_to:] + behind
                del given, records, text
            tally.count += stream.count
            tally.unverified = tally.unverified or stream.unverified
        end_line(tally, ends_line=ends_line or is_last_file)

    def iterate(self, files: LogFiles, how: Reading) -> Iterator[Trace]:
        """Read a table in chunks, twice: see ``swftools.iter_log``.

        Where rows stand in the order of submission nothing is kept of them from the first time.
        """
        files.again()

        def counted(dates: DateOrder) -> tuple[InOrder | None, Ledger, DateOrder]:
            ledger, order = Ledger(how.privacy, files.are_several), InOrder()
            is_in_order = all(order.take(part) is not None for part in self._parts(files, how, ledger, Tally(), dates))
            return order if is_in_order else None, ledger, dates

        order, ledger, dates = self._by_its_dates(files, how, counted)
        if order is None:
            files.again()
            yield from super().iterate(files, how)
            return
        ledger.note_repeats(order.repeats)
        header = log_header(self.origin, order.jobs, order.origin, order.last_end, ledger)
        again, order = Ledger(how.privacy, files.are_several), InOrder()
        files.again()
        for part in self._parts(files, how, again, Tally(), dates):
            decided = order.take(part)
            if decided is None:  # it was in order a moment ago
                raise UnreadableLogError(f"{files.name}: it has changed while it was read; read it again")
            own, whole = decided
            if how.strict and len(part.quarantine):
                refuse(files, part)
            yield Trace(
                header,
                jobs_of([part], own, np.empty(0), in_order=False),
                placed(files, [part]),
                self.processors,
                provenance={"name": Path(files.name).name or files.name, "format": self.origin.options},
                merged=merged_lines([part], own, whole),
                names=again.names.table(how.privacy),
            )

    def look_over(self, parts: list[Part], decision: LogDecision, ledger: Ledger) -> None:
        """Count what is wider than the machine, and tell when jobs together were."""
        if self.processors is None:
            return
        width = joined_column(parts, "allocated_processors")
        width = np.where(np.isfinite(width), width, joined_column(parts, "requested_processors"))
        width = np.where(decision.number > 0, width, np.nan)
        if count := int((width > self.processors).sum()):
            ledger.anomalies["wider than the machine, by what was told of it"] += count
        submit, start, end, run = (joined_column(parts, name) for name in ("submit", "start", "end", "run_time"))
        start = np.where(np.isfinite(start), start, submit)
        end = np.where(np.isfinite(end), end, start + run)
        most, over = demand(start, end, width, self.processors)
        if over:
            told = (
                f"up to {most:.0f} processors in use at once, of a machine of {self.processors}: jobs that overbook it"
            )
            ledger.anomalies[told] += over
