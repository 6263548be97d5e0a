# SPDX-License-Identifier: BSD-3-Clause
"""From the rows of a table to records: what the declaration says of each column, carried out.

What cannot be read sends a row to the quarantine where a job needs it (times, state), and is missing and counted where
it does not. Nothing is guessed: a table whose times cannot be in the unit that is declared is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from swftools.errors import LogFormatError
from swftools.fields.definition import MAX_TIME
from swftools.formats.accounting.records import BEGIN, COUNTS, ENERGIES, NAMES, SIZES, TIMES, Records
from swftools.formats.accounting.times import Moments, in_order, require_zones
from swftools.formats.tables.columns import EXPECTED, NUMBERS_TOLD, TEXT, WAIT, Column, Declaration
from swftools.formats.tables.heads import place_of
from swftools.formats.tables.rows import Sheet, missing_column
from swftools.formats.tables.values import ColumnValues, differs
from swftools.kernel import FloatArray

_DAY = 86400.0
_JUDGED = 1000
"""Rows from which it is judged whether times are in the unit that is declared."""
_YEAR_1980 = 315_532_800.0
_SEVERAL_NOTATIONS = "dates in another notation than the first one of the log"
_COVERED = 0.9
"""Share of its run that the powers of a job have to cover."""
_GAPS = f"powers that cover less than {_COVERED:.0%} of the run: the energy is that of what they cover"
_NO_WIDTH = "asks for none of what the width counts: a job without a width"


@dataclass
class Filler:
    """Fills records from sheets, stretch by stretch, and remembers what has to be judged over all of them.

    Parameters
    ----------
    declaration : Declaration
        What the columns mean.
    name : str
        Of the format, for reasons.
    zone : str, optional
        Of times that are printed without one.
    dates : str, optional
        The order of day and month in dates with slashes.
    """

    declaration: Declaration
    name: str
    zone: str | None
    dates: str | None = None
    _judged: int = 0
    _too_late: int = 0
    _too_early: int = 0
    _marks: dict[str, int] = field(default_factory=dict)

    def require_columns(self, there: Sequence[str]) -> None:
        """Raise LogFormatError unless the columns are there without which a row says nothing."""
        for name, each in self.declaration.columns.items():
            if each.is_needed and place_of(there, each.names) < 0:
                raise missing_column(each.names, there, f"{name!r} of each job")

    def fill(self, sheet: Sheet) -> Records:
        """Return the records of a sheet."""
        records = Records(sheet.line, sheet.begin, sheet.end, text=sheet.text, rejects=sheet.rejects, show=sheet.show)
        records.zero = "1970" if self.declaration.has_dates else "second 0 of the log"
        for mask, reason in sheet.faults:
            records.fault(mask, reason)
        if sheet.repeated_headers:
            records.anomalies["the header again, as in files that were put behind each other"] += sheet.repeated_headers
        if not len(sheet):
            return records
        states = self._fill_state(records, sheet)
        self._fill_times(records, sheet)
        self._fill_numbers(records, sheet)
        self._fill_words(records, sheet)
        self._judge(records, states)
        return records

    def _values(self, sheet: Sheet, each: Column) -> ColumnValues | None:
        """Return the first of a column's names that is there."""
        return next((sheet.columns[name] for name in each.names if name in sheet.columns), None)

    def _fill_state(self, records: Records, sheet: Sheet) -> npt.NDArray[np.int64] | None:
        """Read the state of each job; return the status that it means, 9 for one that has not ended."""
        each = self.declaration.columns.get("state")
        values = self._values(sheet, each) if each else None
        if each is None or values is None:
            return None
        words = values.names((*each.missing, *self.declaration.missing))
        found = words if pa.types.is_dictionary(words.type) else words.dictionary_encode()
        known = {word.upper(): status for word, status in self.declaration.states.items()}
        kinds, is_open, is_unknown = [], [], []
        for word in [*found.dictionary.to_pylist(), None]:
            plain = None if word is None else word.strip().upper()
            plain = plain if plain in known else (plain or "").split(" ")[0]  # CANCELLED by 1000
            kinds.append(known.get(plain))
            is_open.append(plain in known and known[plain] is None)
            is_unknown.append(bool(word) and plain not in known)
        places = found.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        status = np.array([np.nan if kind is None else kind for kind in kinds], np.float64)[places]
        records.fault(np.array(is_unknown)[places], f"a state that {self.name} does not have", words)
        records.fault(np.array(is_open)[places], "not ended", words)
        records.numbers["status"] = status
        records.words["logged_state"] = words
        return np.where(np.isfinite(status), status, -1).astype(np.int64)

    def _fill_times(self, records: Records, sheet: Sheet) -> None:
        """Read times, put those of repeated hours in order, and judge whether they can be of the unit declared."""
        told: dict[str, Moments] = {}
        for name in TIMES:
            each = self.declaration.columns.get(name)
            values = self._values(sheet, each) if each else None
            if each is None or values is None:
                continue
            none = (*each.missing, *self.declaration.missing)
            unit = self.declaration.unit_of(name)
            moments = values.moments(unit, self.declaration.factor_of(name), self.zone, none, self.dates)
            if unit == TEXT:
                self._note_notations(records, name, values)
            told[name] = moments
            if name == "eligible":
                records.doubt(moments.is_bad, "an eligible time that cannot be read")
            else:
                records.fault(moments.is_bad, f"{name} is no time", values.words(()) if moments.is_bad.any() else None)
            records.fault(moments.is_skipped, f"{name} in an hour that the zone skips")
        if not told:
            return
        expected, begin = (self._moment(records, sheet, name) for name in (EXPECTED, BEGIN))
        every = (*told.values(), *(each for each in (expected, begin) if each))
        require_zones(*every)
        records.note_dates(*every)
        times, ambiguous = in_order(*told.values())
        for name, seconds in zip(told, times, strict=True):
            # Where times count from 1970, one of that day is how a time that never came is told.
            is_none = (np.abs(seconds) <= _DAY) & self.declaration.has_dates
            records.numbers[name] = np.where(is_none, np.nan, seconds)
        if ambiguous.any():
            records.is_ambiguous = ambiguous
        if begin is not None:
            is_none = (np.abs(begin.early) <= _DAY) & self.declaration.has_dates
            records.doubt(np.abs(begin.early) > MAX_TIME, f"{BEGIN} beyond the year 2286")
            records.numbers[BEGIN] = np.where(is_none | (np.abs(begin.early) > MAX_TIME), np.nan, begin.early)
        wait = self.declaration.columns.get(WAIT)
        waited = self._number(records, sheet, WAIT, wait) if wait else None
        if waited is not None and "start" not in told:
            records.fault(waited < 0, "negative wait_time")
            records.numbers["start"] = records.numbers["submit"] + waited
        if self.declaration.is_part:
            return
        if expected is not None:
            submit = records.numbers["submit"]
            records.numbers["estimated_wait_time"] = (
                np.where(expected.early < submit, expected.late, expected.early) - submit
            )
        self._judge_units(records.numbers["submit"])
        records.fault(~np.isfinite(records.numbers["submit"]), "no time of submission")

    def _moment(self, records: Records, sheet: Sheet, name: str) -> Moments | None:
        """Return a time that a job need not have; None where the table does not tell it."""
        each = self.declaration.columns.get(name)
        values = self._values(sheet, each) if each else None
        if each is None or values is None:
            return None
        none = (*each.missing, *self.declaration.missing)
        unit, factor = self.declaration.unit_of(name), self.declaration.factor_of(name)
        moments = values.moments(unit, factor, self.zone, none, self.dates)
        records.doubt(moments.is_bad, f"an {name} that cannot be read" if name == EXPECTED else f"{name} is no time")
        return moments

    def _note_notations(self, records: Records, name: str, values: ColumnValues) -> None:
        """Count dates that are written otherwise than the first one."""
        marks = values.notations()
        if name not in self._marks and marks.any():
            self._marks[name] = int(marks[np.flatnonzero(marks)[0]])
        others = differs(marks, self._marks.get(name, 0))
        if others.any() and (count := int((others & np.isfinite(values.moments(TEXT, 1.0, "UTC", ()).early)).sum())):
            records.anomalies[f"{_SEVERAL_NOTATIONS}: {name}"] += count

    def _judge_units(self, submit: FloatArray) -> None:
        """Raise LogFormatError if the first rows say that times are in another unit than is declared."""
        if self._judged >= _JUDGED or self.declaration.unit_of("submit") == TEXT:
            return
        known = submit[: _JUDGED - self._judged]
        known = known[np.isfinite(known)]
        self._judged += len(known)
        self._too_late += int((known > MAX_TIME).sum())
        self._too_early += int((known < _YEAR_1980).sum()) if self.declaration.has_dates else 0
        if not len(known) or 2 * max(self._too_late, self._too_early) <= self._judged:
            return
        unit = self.declaration.unit_of("submit")
        name = self.declaration.columns["submit"].names[0]
        if self._too_late > self._too_early:
            raise LogFormatError(
                f"column {name!r}: read in {unit}, most times are beyond the year 2286: 1,000 times too late? They may "
                "be in ms, us or ns; say so in a mapping (unit: ms)"
            )
        raise LogFormatError(
            f"column {name!r}: read in {unit}, most times are before 1980: 1,000 times too early, or without a date? "
            "They may be in s, or count from the beginning of the log; say so in a mapping (unit: s, or dates: false)"
        )

    def _fill_numbers(self, records: Records, sheet: Sheet) -> None:
        """Read durations, counts, sizes and energies."""
        for name in NUMBERS_TOLD:
            each = self.declaration.columns.get(name)
            if each is None:
                continue
            found = self._number(records, sheet, name, each)
            if found is None:
                continue
            if each.is_rounded_up:
                exact = {"gpus": "exact_gpus", "processors": "exact_processors"}.get(name.rpartition("_")[2])
                if exact and exact not in records.numbers:
                    records.numbers[exact] = found
                found = np.ceil(np.round(found, 9))
            records.numbers[name] = found
        for name in (*COUNTS, *ENERGIES):
            each = self.declaration.columns.get(name)
            if each and each.of == "node" and name in records.numbers:
                records.numbers[name] = records.numbers[name] * _either(records, "allocated_nodes", "requested_nodes")
        for name in SIZES:
            each = self.declaration.columns.get(name)
            if each and each.of in ("job", "node") and name in records.numbers:
                records.numbers[name] = self._of_processor(records, records.numbers[name], each.of)

    def _number(self, records: Records, sheet: Sheet, name: str, each: Column) -> FloatArray | None:
        """Return one column, multiplied by others if it is declared so; None where it is not there."""
        values = self._values(sheet, each)
        if values is None:
            return None
        if each.every:
            return self._of_lists(records, name, values, each)
        none = (*each.missing, *self.declaration.missing)
        is_text = self.declaration.unit_of(name) == TEXT
        read = values.durations(none) if is_text else values.numbers(none)
        records.doubt(read.is_bad, f"a {name} that cannot be read")
        found = read.value * self.declaration.factor_of(name)
        for other in each.times:
            if other not in sheet.columns:
                raise missing_column([other], list(sheet.columns), f"what {name} is multiplied by")
            factor = sheet.columns[other].numbers(none)
            records.doubt(factor.is_bad, f"a {other} that cannot be read")
            found = found * factor.value
        for other in each.over:
            if other not in sheet.columns:
                raise missing_column([other], list(sheet.columns), f"what {name} is divided by")
            divisor = sheet.columns[other].numbers(none)
            records.doubt(divisor.is_bad, f"a {other} that cannot be read")
            found = found / np.where(divisor.value > 0, divisor.value, np.nan)
        return found

    def _of_lists(self, records: Records, name: str, values: ColumnValues, each: Column) -> FloatArray:
        """Return the energy, the mean or the highest power of lists of powers, NaN of empty ones."""
        power, owner, is_bad = values.lists((*each.missing, *self.declaration.missing))
        count = len(records)
        records.doubt(np.bincount(owner, is_bad, minlength=count) > 0, f"a power for the {name} that cannot be read")
        is_told = np.isfinite(power)
        power, owner = power[is_told], owner[is_told]
        samples = np.bincount(owner, minlength=count).astype(np.float64)
        if name == "max_power":
            most = np.full(count, np.nan)
            first = np.flatnonzero(np.diff(owner, prepend=-1))
            most[owner[first]] = np.maximum.reduceat(power, first) if len(first) else []
            return most
        total = np.where(samples > 0, np.bincount(owner, power, minlength=count), np.nan)
        if name == "energy":
            self._note_gaps(records, samples * each.every)
            return total * each.every
        return total / np.maximum(samples, 1)

    def _note_gaps(self, records: Records, covered: FloatArray) -> None:
        """Count jobs whose powers do not cover their run: their energy is told too low."""
        run = records.number("run_time")
        run = np.where(np.isfinite(run), run, records.number("end") - records.number("start"))
        is_short = (covered > 0) & (covered < _COVERED * run) & ~records.is_faulty
        if is_short.any():
            records.anomalies[_GAPS] += int(is_short.sum())

    def _of_processor(self, records: Records, amount: FloatArray, of: str) -> FloatArray:
        """Return memory of a job, or of each node, as that of each processor."""
        procs = _either(records, "allocated_processors", "requested_processors")
        with np.errstate(invalid="ignore", divide="ignore"):
            if of == "node":
                amount = amount * _either(records, "allocated_nodes", "requested_nodes")
            return np.where(procs > 0, amount / procs, np.nan)

    def _fill_words(self, records: Records, sheet: Sheet) -> None:
        """Read names and texts."""
        for name in (*NAMES, "log_id", "dependency", "preceding", "constraints", "gpu_types"):
            each = self.declaration.columns.get(name)
            values = self._values(sheet, each) if each else None
            if each is not None and values is not None:
                words_of = values.names if name in NAMES else values.words
                records.words[name] = words_of((*each.missing, *self.declaration.missing))
        if "dependency" in records.words and "preceding" not in records.words:
            records.words["preceding"] = pc.replace_substring_regex(records.words["dependency"], r"[\[\](),;]+", " ")

    def _judge(self, records: Records, states: npt.NDArray[np.int64] | None) -> None:
        """Say which rows cannot be jobs by what the table says of them."""
        declared = self.declaration.columns
        start, end, run = (records.number(name) for name in ("start", "end", "run_time"))
        if "start" in declared and "start" in records.numbers:
            never = ~np.isfinite(start)
            ended_well = np.zeros(len(records), bool) if states is None else states == 1
            records.fault(never & ended_well, "completed without a start")
            records.fault(
                never & np.isfinite(run) & (run > 0) & (states is None or states < 0), "a run time without a start"
            )
            records.fault(never & np.isfinite(end) & (states is None or states < 0), "an end without a start")
            records.numbers["run_time"] = np.where(never, np.nan, run) if "run_time" in records.numbers else run
            if ("end" in declared or "run_time" in declared) and not self.declaration.keeps_running:
                open_ = np.isfinite(start) & ~np.isfinite(end) & ~np.isfinite(run)
                records.fault(open_, "not ended: it started, and has no end")
            if not np.isfinite(records.numbers["run_time"]).any():
                del records.numbers["run_time"]
        width = records.number("allocated_processors")
        width = np.where(np.isfinite(width), width, records.number("requested_processors"))
        is_none = width == 0
        if is_none.any():
            records.anomalies[_NO_WIDTH] += int((is_none & ~records.is_faulty).sum())
            for name in ("allocated_processors", "requested_processors"):
                if name in records.numbers:
                    records.numbers[name] = np.where(is_none, np.nan, records.numbers[name])


def _either(records: Records, first: str, second: str) -> FloatArray:
    """Return a column, and where it is missing another."""
    values: FloatArray = records.number(first)
    return np.where(np.isfinite(values), values, records.number(second))
