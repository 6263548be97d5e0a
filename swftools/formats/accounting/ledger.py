# SPDX-License-Identifier: BSD-3-Clause
"""The ledger of an accounting log: every record becomes a job, part of a job, or a line of the quarantine.

A format says what stands in each record (``records.py``). Here it is judged whether that can be, the same for all
formats; names become numbers, and of records of one id that say the same the first one counts. Rows without an id are
jobs, however alike: of several files, which may overlap, as many of equal rows count as the one that has most of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from swftools.fields.definition import MAX_TIME
from swftools.fields.dictionary import JOBS
from swftools.formats.accounting.decision import LogDecision
from swftools.formats.accounting.dependencies import NAMESAKES, Dependencies, group_keys, read_waits
from swftools.formats.accounting.identity import id_keys, record_keys
from swftools.formats.accounting.names import NameBook
from swftools.formats.accounting.records import (
    COUNTS,
    ENERGIES,
    ESTIMATES,
    NAMES,
    OF_NODES,
    PRIVATE,
    SECONDS,
    SHARES,
    SIZES,
    TEXTS,
    TIMES,
    Records,
    Stretch,
    plain_words,
)
from swftools.formats.privacy import Privacy
from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.tables import empty_frame, frame_of

_KEPT = 1 << 16
"""Bytes of a record's text that the quarantine keeps."""

MAXIMA = {column.name: column.maximum for column in JOBS if column.maximum is not None}
"""The largest values of the columns of jobs that have one."""

NOT_FOLLOWED = "a dependency on something else than the end of jobs by their ids, of which only the words are kept"
UNKNOWN_BEFORE = "waited for a job that is not in the log, or that came only later"
"""What is said of jobs that waited."""

REPEATS = "repeats an earlier record: merged into it"
"""What is said of a record that is no job for that reason."""


@dataclass
class LooseLines:
    """Lines that are part of a record elsewhere in the log, as in ``Loose``, with hashes for ids.

    Parameters
    ----------
    text : list of str or None
        The text of each, None where words are withheld.
    """

    line: IntArray
    key: npt.NDArray[np.uint64]
    time: FloatArray
    used_memory: FloatArray
    cpu_time: FloatArray
    text: list[str | None]

    @classmethod
    def together(cls, found: list[LooseLines | None]) -> LooseLines | None:
        """Return those of several parts as one; None where there are none."""
        there = [each for each in found if each is not None]
        if not there:
            return None
        columns = {
            name: np.concatenate([getattr(each, name) for each in there])
            for name in ("line", "key", "time", "used_memory", "cpu_time")
        }
        return cls(**columns, text=[text for each in there for text in each.text])


@dataclass
class Part:
    """The records of a stretch that can be jobs, and what became of its other lines.

    Parameters
    ----------
    line : ndarray of int64
        The line at which each record begins.
    key, id_key : ndarray of uint64
        Hashes of what makes two records the same, and of the id.
    numbers : dict of str to ndarray of float64
        As in ``Records``; names as numbers.
    words : dict of str to pyarrow.LargeStringArray
        ``TEXTS``.
    waits : Dependencies, optional
        What records wait for; None where the log does not say it.
    groups : dict of str to ndarray of uint64
        Hashes of what several records have in common, as in ``dependencies.GROUPS``.
    is_ambiguous : ndarray of bool
        As in ``Records``.
    quarantine : pandas.DataFrame
        Lines that are not jobs.
    merged_line, merged_into : ndarray of int64
        Lines that became part of a record, and the line of that.
    loose : LooseLines, optional
        Lines that are part of a record elsewhere.
    """

    line: IntArray
    key: npt.NDArray[np.uint64]
    id_key: npt.NDArray[np.uint64]
    numbers: dict[str, FloatArray]
    words: dict[str, pa.LargeStringArray]
    waits: Dependencies | None
    groups: dict[str, npt.NDArray[np.uint64]]
    is_ambiguous: BoolArray
    quarantine: pd.DataFrame
    merged_line: IntArray
    merged_into: IntArray
    loose: LooseLines | None = None


@dataclass
class Ledger:
    """What is known of a log while it is read.

    Parameters
    ----------
    privacy : Privacy
        What may be told of its words.
    are_several : bool
        Whether it is a log of several files.
    """

    privacy: Privacy
    are_several: bool = False
    names: NameBook = field(default_factory=NameBook)
    anomalies: Counter[str] = field(default_factory=Counter)
    _refused: set[int] = field(default_factory=set)
    """Lines of the records that are not jobs."""
    refused_ids: dict[int, int] = field(default_factory=dict)
    """Hashes of their ids, where lines elsewhere may be part of them, and the line of each."""
    cut: list[dict[str, npt.NDArray[Any]]] = field(default_factory=list)
    """Of records of a part of a run that went on: ``id_key``, and the times."""
    withholds_text: bool = False
    """Whether the text of lines was not told, since what is read is published and they may hold secrets."""

    def take(self, records: Records, stretch: Stretch) -> Part:
        """Judge the records of a stretch."""
        _find_zeros(records, stretch.text if records.text is None else records.text)
        _judge(records)
        records.count_doubts()
        self.withholds_text |= records.is_private and self._is_withheld(records)
        self._note(records)
        faulty = records.is_faulty
        kept: Any = ~faulty
        key, id_key = record_keys(records, are_several=self.are_several)
        of_faulty = faulty[records.merged_into]
        if records.has_loose:
            self.refused_ids.update(zip(id_key[faulty].tolist(), records.line[faulty].tolist(), strict=True))
        if records.is_cut is not None and records.is_cut.any():
            names = ("submit", "start", "end", "run_time")
            times = {name: records.number(name)[records.is_cut] for name in names}
            self.cut.append({"id_key": id_key[records.is_cut], **times})
        self._refused.update(records.line[faulty].tolist())
        late_of_faulty = np.array([line in self._refused for line in records.late_into.tolist()], bool)
        waits = read_waits(records)
        words, numbers = dict(records.words), dict(records.numbers)
        if faulty.any():
            mask = pa.array(kept)
            words = {name: texts.filter(mask) for name, texts in words.items()}
            numbers = {name: values[kept] for name, values in numbers.items()}
        else:  # nearly always: nothing is copied
            kept = slice(None)
        numbers |= {name: self.names.numbers(name, words[name]) for name in NAMES if name in words}
        ambiguous = records.is_ambiguous
        return Part(
            line=records.line[kept],
            key=key[kept],
            id_key=id_key[kept],
            numbers=numbers,
            words={name: plain_words(words[name]) for name in TEXTS if name in words and self._may_tell(name, records)},
            waits=waits if waits is None or isinstance(kept, slice) else waits.of(kept),
            groups={name: keys[kept] for name, keys in group_keys(records).items()},
            is_ambiguous=np.zeros(len(key), bool)[kept] if ambiguous is None else ambiguous[kept],
            quarantine=self._quarantine(records, stretch, of_faulty, late_of_faulty),
            merged_line=np.append(records.merged_line[~of_faulty], records.late_line[~late_of_faulty]),
            merged_into=np.append(records.line[records.merged_into[~of_faulty]], records.late_into[~late_of_faulty]),
            loose=self._loose(records, stretch.text if records.text is None else records.text),
        )

    def note_repeats(self, count: int) -> None:
        """Count records that repeat an earlier one."""
        if count:
            self.anomalies[REPEATS] += count

    def note_unknown(self, waits: Dependencies | None, decision: LogDecision) -> None:
        """Count jobs that waited for others, none of which is known."""
        if waits is not None:
            waited = np.zeros(len(decision.number), np.bool_)
            waited[waits.row[waits.mark & NAMESAKES == 0]] = True
            waited[decision.waiting] = False
            self._count(UNKNOWN_BEFORE, waited & (decision.number > 0))

    def _loose(self, records: Records, text: bytes) -> LooseLines | None:
        """Return the lines of a stretch that are part of records elsewhere."""
        loose = records.loose
        if records.is_private and self._is_withheld(records):
            text = b""
        if loose is None or not len(loose.line):
            return None
        places = zip(loose.begin.tolist(), loose.end.tolist(), strict=True)
        return LooseLines(
            loose.line,
            id_keys(loose.log_id, loose.scope, len(loose.line)),
            loose.time,
            loose.used_memory,
            loose.cpu_time,
            [self._text(text, begin, end) for begin, end in places],
        )

    def _may_tell(self, name: str, records: Records) -> bool:
        """Whether a text goes into the jobs table: words of the batch system itself always do."""
        if name in ("logged_state", "scheduler_flags"):
            return True
        if name == "preceding" or not self.privacy.tells_words:
            return False
        return name not in PRIVATE or not self._is_withheld(records)

    def _is_withheld(self, records: Records) -> bool:
        """Whether what may be a secret is not told, because it would be published."""
        return self.privacy.for_publication and not records.may_publish

    def _note(self, records: Records) -> None:
        """Count what is odd."""
        self.anomalies.update(records.anomalies)
        procs, run = records.number("allocated_processors"), _run_time(records)
        with np.errstate(invalid="ignore", divide="ignore"):
            over = records.number("cpu_time") / procs > 1.02 * run + 2.0
            longer = run > records.number("requested_time") + 60.0
        sound = ~records.is_faulty
        self._count("CPU time per processor above the run time", over & sound)
        self._count("run time more than a minute above the requested time", longer & sound)
        told, named = (records.words.get(name) for name in ("dependency", "preceding"))
        if told is not None and named is not None:
            waits = np.asarray(pc.and_(told.is_valid(), named.is_null()))
            self._count(NOT_FOLLOWED, waits & sound)
        if records.wait_holds_restarts:
            self._count("started more than once: the wait holds earlier runs", (records.number("restarts") > 0) & sound)
        if records.is_ambiguous is not None:
            told = "time in an hour that the zone repeats: the first of the two was taken where nothing told them apart"
            self._count(told, records.is_ambiguous & sound)

    def _count(self, told: str, mask: BoolArray) -> None:
        if count := int(mask.sum()):
            self.anomalies[told] += count

    def _quarantine(
        self, records: Records, stretch: Stretch, of_faulty: BoolArray, late_of_faulty: BoolArray
    ) -> pd.DataFrame:
        """Return the quarantine of a stretch, in the order of its lines."""
        text = stretch.text if records.text is None else records.text
        shows = self.privacy.tells_words
        if records.is_private and self._is_withheld(records):
            text = b""
        rows = np.flatnonzero(records.is_faulty).tolist()
        reasons = records.reasons(with_values=shows)
        found = [
            (int(records.line[row]), why, self._told(records, row, text))
            for row, why in zip(rows, reasons, strict=True)
        ]
        found += [(each.line, each.reason, self._text(text, each.begin, each.end)) for each in records.rejects]
        parts = np.append(records.merged_line[of_faulty], records.late_line[late_of_faulty])
        into = np.append(records.line[records.merged_into[of_faulty]], records.late_into[late_of_faulty])
        found += [
            (line, f"belongs to the record of line {at}, which is no job", None)
            for line, at in zip(parts.tolist(), into.tolist(), strict=True)
        ]
        if not found:
            return empty_frame("quarantine")
        found.sort(key=lambda item: item[0])
        lines, why_all, texts = zip(*found, strict=True)
        return frame_of(
            "quarantine", {"line_number": lines, "rule": ["read"] * len(found), "reason": why_all, "text": texts}
        )

    def _told(self, records: Records, row: int, text: bytes) -> str | None:
        """Return the text of a record; none where words are withheld."""
        if records.show is not None:
            return records.show(row)[:_KEPT] if self.privacy.tells_words else None
        return self._text(text, int(records.begin[row]), int(records.end[row]))

    def _text(self, text: bytes, begin: int, end: int) -> str | None:
        """Return the text of a record, bytes that are not UTF-8 as escapes; none where words are withheld.

        A line of an earlier stretch, of which it is only known now that it is not a record, has none either.
        """
        if not self.privacy.tells_words or begin == end or not text:
            return None
        return text[begin : min(end, begin + _KEPT)].rstrip(b"\r\n").decode("utf-8", "backslashreplace")


def _run_time(records: Records) -> FloatArray:
    """Return the run time of each record: as given, or from start to end."""
    given = records.number("run_time")
    return np.where(np.isfinite(given), given, records.number("end") - records.number("start"))


def _find_zeros(records: Records, text: bytes) -> None:
    """Say which records have a byte of zero in them, as crashes and damaged disks leave it: it is in no name."""
    told = "a byte of zero within the record"
    if b"\0" in text:
        places = np.flatnonzero(np.frombuffer(text, np.uint8) == 0)
        following = np.append(places, len(text))[np.searchsorted(places, records.begin)]
        records.fault(following < records.end, told)
    for words in records.words.values():  # of JSON, which spells it out; or of a line that was merged
        plain = words.dictionary if pa.types.is_dictionary(words.type) else words
        letters = plain.buffers()[2] if len(plain) else None
        if letters is not None and letters.size and not np.frombuffer(letters, np.uint8).all():
            records.fault(
                pc.match_substring(plain_words(words), "\0").fill_null(False).to_numpy(zero_copy_only=False), told
            )


def _judge(records: Records) -> None:
    """Say which records cannot be jobs, whatever their format."""
    submit, start, end = (records.number(name) for name in ("submit", "start", "end"))
    given = records.numbers
    times = [name for name in TIMES if name in given]
    for name in times:
        records.fault(given[name] < 0, f"{name} before {records.zero}")
    records.fault(start < submit, "start before submit")
    records.fault(end < start, "end before start")
    records.fault(end < submit, "end before submit")
    for name in (*SECONDS, *COUNTS, *SHARES, *SIZES):
        if name not in given:
            continue
        values = given[name]
        most = MAXIMA.get(name, MAX_TIME)
        if name not in ("exit_code", "status"):
            records.fault(values < 0, f"negative {name}")
        records.fault(np.abs(values) > most, f"{name} beyond {most:g}")
        if name in COUNTS:
            records.fault(np.isfinite(values) & (values != np.trunc(values)), f"{name} is not a whole number")
    for name in (*ENERGIES, *ESTIMATES, *OF_NODES):  # which a job need not have
        if name in given:
            is_odd = ~((given[name] >= 0) & (given[name] <= MAXIMA[name])) & ~np.isnan(given[name])
            records.doubt(is_odd, f"{name} is below 0 or beyond {MAXIMA[name]:g}")
            given[name] = np.where(is_odd, np.nan, given[name])
    records.fault(_run_time(records) > MAX_TIME, f"run_time beyond {MAX_TIME:g}")
    for name in times:  # which no calendar of the header's may hold
        records.fault(given[name] > MAX_TIME, f"{name} beyond the year 2286")
