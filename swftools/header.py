# SPDX-License-Identifier: BSD-3-Clause
"""The header of an SWF log: its comment lines as labelled entries, in order, and the values read from them.

A header is what stands behind ``;`` in a Standard Workload Format file. Nothing of it is lost: repeated
labels, labels that no version of the format knows, continued lines and free comments are all kept in order.

References
----------
Chapin et al. 1999 and the Parallel Workloads Archive's definition of SWF 2.2 (header comments).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from itertools import zip_longest
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from swftools.errors import SwfFormatError

KNOWN_LABELS = frozenset(
    {
        *("Version", "Computer", "Installation", "Acknowledge", "Information", "Conversion", "Copyright"),
        *("MaxJobs", "MaxRecords", "Preemption", "UnixStartTime", "TimeZone", "TimeZoneString", "StartTime", "EndTime"),
        *("MaxNodes", "MaxProcs", "MaxRuntime", "MaxMemory", "AllowOveruse", "MaxQueues", "Queues", "Queue"),
        *("MaxPartitions", "Partitions", "Partition", "Note"),
    }
)
"""Labels of SWF 2.2, and the Copyright that real logs carry."""

UTILITY_NOTE = "Fields after the 18th are the job's utility function: alternating time (s since submission) and value."
"""The Note by which an extended SWF file says that its lines end in utility tuples (Lee 2009, section 2.6.1)."""

_LABEL = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)\s*:(?!//)\s*(.*)", re.DOTALL)
_NUMBER = re.compile(
    r"""\s*(?P<number>[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?)(?=\s|[(;]|$)"""
)
_MOST = 10**18
_LONGEST = 40
NUMBERS = ("MaxJobs", "MaxRecords", "MaxNodes", "MaxProcs", "MaxRuntime", "MaxMemory", "UnixStartTime", "TimeZone")
"""Labels that are read as whole numbers."""

_NUMBERED = re.compile(r"([0-9]{1,18})\b\s*(.*)", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_LATEST = 253_402_300_799  # the last second of the year 9999


@dataclass(frozen=True)
class HeaderEntry:
    """One comment of a header: a label (None for a free comment) and its text, continued lines after newlines."""

    label: str | None
    text: str


@dataclass(frozen=True)
class SwfHeader:
    """The labelled comment lines of a log, in order.

    Properties read the labels of SWF 2.2, in upper or lower case; each is None or empty if the log has no such
    label, or says -1. Words may follow a number, because logs write ``338 (batch partition)`` (see
    ``whole_number``). If a label that should occur once is repeated, its first line counts.

    Examples
    --------
    >>> header = SwfHeader.from_lines(["; MaxProcs: 1664 (72, 1368, 224)", ";Note: first", "; Note: second"])
    >>> header.max_procs, header.notes
    (1664, ('first', 'second'))
    """

    entries: tuple[HeaderEntry, ...] = ()

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> SwfHeader:
        """Read a header from its comment lines, each with its leading ``;``.

        A comment is a labelled entry if it looks like one (``Label: text``), and continues the entry above if it is
        indented by more than one blank. A comment that could be either is a new entry if SWF knows the label, and a
        continuation otherwise. Indentation, and the number of ``;`` and blanks at the beginning, are not kept.
        """
        return cls().extended(lines)

    def extended(self, lines: Iterable[str]) -> SwfHeader:
        """Return the header with further comment lines read, as if all had been read together."""
        entries = list(self.entries)
        rest: list[str] = []  # lines that continue the last entry
        for line in lines:
            body = line.strip().lstrip(";")
            text = body.strip()
            goes_on = len(body) - len(body.lstrip()) > 1 and bool(entries) and entries[-1].label is not None
            match = _LABEL.fullmatch(text)
            is_label = match is not None and (match[1] in KNOWN_LABELS or not goes_on)
            if text and goes_on and not is_label:
                rest.append(text)
            else:
                _continue(entries, rest)
                entries.append(HeaderEntry(match[1], match[2]) if match and is_label else HeaderEntry(None, text))
        _continue(entries, rest)
        return SwfHeader(tuple(entries))

    def to_lines(self) -> list[str]:
        """Return the comment lines; ``from_lines`` reads the same header back.

        Raises
        ------
        SwfFormatError
            An entry cannot be written so that it reads back, such as a line that looks like another label.
        """
        lines: list[str] = []
        for entry in self.entries:
            first, *rest = entry.text.split("\n")
            lines.append(f"; {first}" if entry.label is None else f"; {entry.label}: {first}")
            lines.extend(f";   {line}" for line in rest)
        lines = [line.rstrip() for line in lines]
        pairs = zip_longest(self.entries, SwfHeader.from_lines(lines).entries)
        wrong = next((entry or back for entry, back in pairs if entry != back or _has_stray(entry.text)), None)
        if wrong:
            raise SwfFormatError(f"header entry {wrong} would not read back as written; give it a label or reword it")
        return lines

    def with_entry(self, label: str, text: str) -> SwfHeader:
        """Return a header with one more entry at its end."""
        return SwfHeader((*self.entries, HeaderEntry(label, text)))

    def without_note(self, text: str) -> SwfHeader:
        """Return a header without the Notes of exactly this text."""
        return SwfHeader(tuple(e for e in self.entries if e.label != "Note" or e.text != text))

    def texts(self, label: str) -> tuple[str, ...]:
        """Return the texts of every entry with a label, in order."""
        wanted = label.casefold()
        return tuple(entry.text for entry in self.entries if entry.label and entry.label.casefold() == wanted)

    def text(self, label: str) -> str | None:
        """Return the text of the first entry with a label, or None."""
        return next(iter(self.texts(label)), None)

    def integer(self, label: str) -> int | None:
        """Return the first entry with a label as a whole number; None if there is none, or one that cannot be read."""
        return whole_number(self.text(label) or "")

    @property
    def unread(self) -> tuple[str, ...]:
        """The labels whose entries should be numbers and cannot be read, so that they count as missing."""
        return tuple(label for label in NUMBERS if (self.text(label) or "").strip() and self.integer(label) is None)

    def _count(self, label: str) -> int | None:
        """Return an integer of which -1 means that it is not known."""
        count = self.integer(label)
        return count if count is not None and count >= 0 else None

    @property
    def version(self) -> str | None:
        """Version of the format, such as ``2.2``."""
        return self.text("Version")

    @property
    def computer(self) -> str | None:
        """Make and model of the machine."""
        return self.text("Computer")

    @property
    def installation(self) -> str | None:
        """Site and machine."""
        return self.text("Installation")

    @property
    def acknowledgements(self) -> tuple[str, ...]:
        """People to acknowledge when the log is used."""
        return self.texts("Acknowledge")

    @property
    def information(self) -> tuple[str, ...]:
        """Addresses and facts."""
        return self.texts("Information")

    @property
    def conversion(self) -> str | None:
        """Who converted the log, and when."""
        return self.text("Conversion")

    @property
    def copyright(self) -> str | None:
        """Copyright and conditions of use; must be kept with every copy."""
        return self.text("Copyright")

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks."""
        return self.texts("Note")

    @property
    def max_jobs(self) -> int | None:
        """Jobs in the original log."""
        return self._count("MaxJobs")

    @property
    def max_records(self) -> int | None:
        """Lines in this file."""
        return self._count("MaxRecords")

    @property
    def preemption(self) -> str | None:
        """``No``, ``Yes``, ``Double`` or ``TS``."""
        return self.text("Preemption")

    @property
    def max_nodes(self) -> int | None:
        """Nodes of the machine."""
        return self._count("MaxNodes")

    @property
    def max_procs(self) -> int | None:
        """Processors of the machine."""
        return self._count("MaxProcs")

    @property
    def max_runtime(self) -> int | None:
        """Longest run time allowed, seconds."""
        return self._count("MaxRuntime")

    @property
    def max_memory(self) -> int | None:
        """Most memory allowed, KB."""
        return self._count("MaxMemory")

    @property
    def allow_overuse(self) -> bool | None:
        """Whether jobs may use more than they asked for."""
        text = self.text("AllowOveruse")
        return None if text is None else text.strip().lower().startswith("y")

    @property
    def unix_start_time(self) -> int | None:
        """Second 0 of the log, in seconds since 1970-01-01 UTC; None where missing or out of the calendar."""
        seconds = self.integer("UnixStartTime")
        return seconds if seconds is not None and 0 < seconds <= _LATEST else None

    @property
    def start(self) -> datetime | None:
        """Second 0 of the log as a UTC time."""
        seconds = self.unix_start_time
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)

    @property
    def time_zone(self) -> int | None:
        """Offset of local time from UTC, seconds (deprecated by the format)."""
        return self.integer("TimeZone")

    @property
    def time_zone_name(self) -> str | None:
        """Name of the time zone (label TimeZoneString)."""
        return self.text("TimeZoneString")

    @property
    def start_time(self) -> str | None:
        """Start of the log, as written (label StartTime)."""
        return self.text("StartTime")

    @property
    def end_time(self) -> str | None:
        """Last termination in the log, as written (label EndTime)."""
        return self.text("EndTime")

    @property
    def queues(self) -> dict[int, str]:
        """Names of the queues by number."""
        return _numbered(self.texts("Queue"))

    @property
    def partitions(self) -> dict[int, str]:
        """Names of the partitions by number."""
        return _numbered(self.texts("Partition"))

    @property
    def has_utility(self) -> bool:
        """Whether the header says that lines end in utility tuples."""
        return any(entry.label == "Note" and entry.text == UTILITY_NOTE for entry in self.entries)


def whole_number(text: str) -> int | None:
    """Return the whole number at the beginning of a header's entry; None if there is none.

    It is of digits, perhaps with commas between thousands, a fraction of zeros or an exponent, and ends with the
    text, at a blank, a bracket or a semicolon; anything else, and what is beyond 18 digits, is not guessed at.

    Examples
    --------
    >>> [whole_number(text) for text in ("338 (batch partition)", "843,480,031", "1e9", "-1", "12.0")]
    [338, 843480031, 1000000000, -1, 12]
    >>> [whole_number(text) for text in ("12abc", "1,2,3", "0.5", "0x10", "twelve")]
    [None, None, None, None, None]
    """
    match = _NUMBER.match(text)
    if not match or len(match["number"]) > _LONGEST:
        return None
    value = Decimal(match["number"].replace(",", ""))
    return int(value) if abs(value) < _MOST and value == value.to_integral_value() else None


def zone_of(header: SwfHeader) -> tzinfo:
    """Return a log's local time: the zone of TimeZoneString, else the offset of TimeZone, else UTC.

    A name that is no zone's counts as none, and so does an offset of a day or more.

    Examples
    --------
    >>> str(zone_of(SwfHeader.from_lines(["; TimeZone: -28800"])))
    'UTC-08:00'
    """
    try:
        return ZoneInfo(header.time_zone_name or "")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    try:
        return timezone(timedelta(seconds=header.time_zone or 0))
    except (ValueError, OverflowError):
        return UTC


def local_start_of(header: SwfHeader) -> datetime | None:
    """Return second 0 of a log by its own clock; in UTC where that clock would be behind the end of the calendar."""
    try:
        return header.start and header.start.astimezone(zone_of(header))
    except OverflowError:
        return header.start


def zone_called(name: str) -> tzinfo:
    """Return the zone of the name that ``str(zone_of(header))`` gives.

    Examples
    --------
    >>> [str(zone_called(name)) for name in ("UTC", "UTC-08:00", "Europe/Rome")]
    ['UTC', 'UTC-08:00', 'Europe/Rome']
    """
    if name == "UTC":
        return UTC
    offset = datetime.strptime(name[3:], "%z").tzinfo if name[:4] in ("UTC+", "UTC-") else None
    return ZoneInfo(name) if offset is None else offset


def _numbered(texts: Iterable[str]) -> dict[int, str]:
    """Return {number: rest of the text} of sound entries like ``3 normal (36 hours)``; others are skipped."""
    named: dict[int, str] = {}
    for text in texts:
        if (match := _NUMBERED.match(text)) and "\0" not in text:
            named.setdefault(int(match[1]), match[2].strip())
    return named


def _continue(entries: list[HeaderEntry], rest: list[str]) -> None:
    """Move lines to the end of the last entry's text."""
    if rest:
        entries[-1] = HeaderEntry(entries[-1].label, "\n".join([entries[-1].text, *rest]))
        rest.clear()


def _has_stray(text: str) -> bool:
    """Whether a text has what no line of a file in UTF-8 can have: a carriage return, half a surrogate pair."""
    return "\r" in text or bool(_SURROGATE.search(text))
