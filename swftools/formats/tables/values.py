# SPDX-License-Identifier: BSD-3-Clause
"""The values of one column of a table: as numbers, times, durations or words, whatever the file has them as.

A column of a text is spans of it, one of Parquet is an array of a type, one of JSON is what the objects have. Each
becomes the same: float64 with NaN for missing, and which values cannot be read.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from swftools.errors import LogFormatError
from swftools.formats.accounting.kernel import PLAIN
from swftools.formats.accounting.spans import Read, Spans, durations, is_any, numbers, texts
from swftools.formats.accounting.times import Moments, PlainDates, moments_of, read_times, wall_clock
from swftools.formats.tables.columns import NONE, TEXT
from swftools.formats.tables.kernel import DATES, NUMBERS
from swftools.kernel import BoolArray, FloatArray, IntArray, TinyArray, kernel

_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)


class ColumnValues(Protocol):
    """One column of a stretch of rows."""

    def numbers(self, none: Collection[str]) -> Read:
        """Return the values as numbers; words of ``none`` say that there is none."""

    def durations(self, none: Collection[str]) -> Read:
        """Return hours and minutes in seconds."""

    def moments(
        self, unit: str, factor: float, zone: str | None, none: Collection[str], dates: str | None = None
    ) -> Moments:
        """Return times in seconds since 1970: dates, or numbers of a unit that is so many seconds.

        ``dates`` is the order of day and month in dates with slashes.
        """

    def words(self, none: Collection[str]) -> pa.LargeStringArray:
        """Return the values as words, null where there is none."""

    def names(self, none: Collection[str]) -> pa.LargeStringArray | pa.DictionaryArray:
        """Return words that many rows share, as they come, null where there is none."""

    def lists(self, none: Collection[str]) -> tuple[FloatArray, IntArray, BoolArray]:
        """Return the numbers of all lists, the row of each, and which cannot be read."""

    def notations(self) -> npt.NDArray[np.uint8]:
        """Return, of dates, by which byte each is parted first; 0 where that tells nothing."""


class ParsedValues(NamedTuple):
    """What was read of the values of a column where they were found.

    Parameters
    ----------
    kind : int
        As what: ``NUMBERS`` or ``DATES``.
    value, offset : ndarray of float64
        The number; or the seconds of the date on the wall's clock from 1970 on, and its offset.
    state : ndarray of int8
        What became of it: read, absent, or left.
    """

    kind: int
    value: FloatArray
    offset: FloatArray
    state: TinyArray


@dataclass(frozen=True)
class TextValues:
    """A column of a text.

    Parameters
    ----------
    spans : Spans
        Where the values stand.
    found : ParsedValues, optional
        What was read of them where they were found.
    """

    spans: Spans
    found: ParsedValues | None = None

    def numbers(self, none: Collection[str]) -> Read:
        """Return the values as numbers."""
        plain = (self.found.value, self.found.state) if self.found and self.found.kind == NUMBERS else None
        return without(numbers(self.spans, none=NONE | frozenset(none), plain=plain), none)

    def durations(self, none: Collection[str]) -> Read:
        """Return hours and minutes in seconds."""
        return without(durations(self._told(none), none=NONE | frozenset(none)), none)

    def moments(
        self, unit: str, factor: float, zone: str | None, none: Collection[str], dates: str | None = None
    ) -> Moments:
        """Return times in seconds since 1970."""
        if unit == TEXT:
            found = self.found if self.found and self.found.kind == DATES else None
            plain = PlainDates(found.value, found.offset, found.state) if found else None
            return read_times(self._told(none), zone, plain=plain, dates=dates)
        read = self.numbers(none)
        return moments_of(read.value * factor, read.is_bad)

    def words(self, none: Collection[str]) -> pa.LargeStringArray:
        """Return the values as words."""
        return texts(self._told(none))

    def names(self, none: Collection[str]) -> pa.LargeStringArray | pa.DictionaryArray:
        """Return the values as words."""
        return self.words(none)

    def lists(self, none: Collection[str]) -> tuple[FloatArray, IntArray, BoolArray]:
        """Return the numbers of lists such as ``[250, 260]`` or ``250 260``, the row of each, and which are none."""
        plain = pc.utf8_trim_whitespace(pc.replace_substring_regex(self.words(none), r"[\[\](),;]+", " "))
        return _of_lists(pc.utf8_split_whitespace(_or_null(plain, {""})), none)

    def notations(self) -> npt.NDArray[np.uint8]:
        """Return by which byte each date is parted first."""
        marks = np.zeros(len(self.spans), np.uint8)
        if self.found is None or self.found.kind != DATES:
            _fill_marks(self.spans.text, self.spans.start, self.spans.end, marks)
            return marks
        marks[:] = ord("-")
        left = np.flatnonzero(self.found.state != PLAIN)
        of_left = np.zeros(len(left), np.uint8)
        _fill_marks(self.spans.text, self.spans.start[left], self.spans.end[left], of_left)
        marks[left] = of_left
        return marks

    def _told(self, none: Collection[str]) -> Spans:
        """Return the spans without those that say that there is none."""
        words = NONE | frozenset(none)
        begins = np.zeros(256, np.bool_)
        begins[[word.encode()[0] for word in words if word]] = True
        may_be = np.zeros(len(self.spans), np.bool_)
        most = max(len(word.encode()) for word in words)
        _find_short(self.spans.text, self.spans.start, self.spans.end, most, begins, may_be)
        rows = np.flatnonzero(may_be)
        if not len(rows):
            return self.spans
        absent = rows[is_any(self.spans.rows(rows), words)]
        if not len(absent):
            return self.spans
        start = self.spans.start.copy()
        start[absent] = -1
        return Spans(self.spans.text, start, self.spans.end)


@dataclass(frozen=True)
class ArrowValues:
    """A column of Parquet.

    Parameters
    ----------
    array : pyarrow.Array
        The values.
    name : str
        What the column is called, for errors.
    """

    array: pa.Array
    name: str

    def numbers(self, none: Collection[str]) -> Read:
        """Return the values as numbers."""
        kind = self.array.type
        if is_text(kind):
            return self._as_text().numbers(none)
        if pa.types.is_duration(kind):
            parts = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[kind.unit]
            return without(_plain(_floats(self.array.cast(pa.int64())) * parts), none)
        if pa.types.is_boolean(kind):
            return without(_plain(_floats(self.array.cast(pa.int8()))), none)
        if (
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_decimal(kind)
            or pa.types.is_null(kind)
        ):
            return without(_plain(_floats(self.array)), none)
        raise self._refused("numbers are")

    def durations(self, none: Collection[str]) -> Read:
        """Return hours and minutes in seconds."""
        return self._as_text().durations(none) if is_text(self.array.type) else self.numbers(none)

    def moments(
        self, unit: str, factor: float, zone: str | None, none: Collection[str], dates: str | None = None
    ) -> Moments:
        """Return times in seconds since 1970."""
        kind = self.array.type
        if is_text(kind):
            return self._as_text().moments(unit, factor, zone, none, dates)
        if pa.types.is_date(kind):
            return self._stamps(self.array.cast(pa.timestamp("s")), zone)
        if pa.types.is_timestamp(kind):
            return self._stamps(self.array, zone)
        if unit == TEXT and not pa.types.is_null(kind):
            raise self._refused("dates are")
        read = self.numbers(none)
        return moments_of(read.value * factor, read.is_bad)

    def words(self, none: Collection[str]) -> pa.LargeStringArray:
        """Return the values as words."""
        kind = self.array.type
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            joined = pc.binary_join(self.array.cast(pa.list_(pa.string())), " ")
            return _or_null(joined.cast(pa.large_string()), {"", *none})
        if pa.types.is_nested(kind):
            raise self._refused("words are")
        array = self.array
        if pa.types.is_floating(kind):  # as pandas leaves integers of which some are missing
            whole = pc.all(pc.equal(array, pc.trunc(array)), min_count=0).as_py()
            array = pc.if_else(pc.is_finite(array), array, None)
            array = array.cast(pa.int64(), safe=False) if whole is not False else array
        return _or_null(array.cast(pa.large_string()), NONE | frozenset(none))

    def names(self, none: Collection[str]) -> pa.LargeStringArray | pa.DictionaryArray:
        """Return the values as words; those that the file tells by numbers of a dictionary stay so."""
        array = self.array
        if not pa.types.is_dictionary(array.type) or not is_text(array.type):
            return self.words(none)
        told = _or_null(array.dictionary.cast(pa.large_string()), NONE | frozenset(none))
        return pa.DictionaryArray.from_arrays(array.indices, told)

    def lists(self, none: Collection[str]) -> tuple[FloatArray, IntArray, BoolArray]:
        """Return the numbers of lists, the row of each, and which cannot be read."""
        kind = self.array.type
        if is_text(kind):
            return self._as_text().lists(none)
        if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_null(kind)):
            raise self._refused("lists of powers are")
        return _of_lists(self.array if not pa.types.is_null(kind) else self.array.cast(pa.list_(pa.float64())), none)

    def notations(self) -> npt.NDArray[np.uint8]:
        """Return by which byte each date is parted first."""
        return self._as_text().notations() if is_text(self.array.type) else np.zeros(len(self.array), np.uint8)

    def _stamps(self, array: pa.Array, zone: str | None) -> Moments:
        """Return what a column of times says: of the zone that it names, else of wall clocks."""
        kind = array.type
        seconds = _floats(array.cast(pa.int64())) * {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[kind.unit]
        nothing = np.zeros(len(seconds), bool)
        return moments_of(seconds, nothing) if kind.tz else wall_clock(seconds, zone)

    def _as_text(self) -> TextValues:
        """Return a column of words as spans of the text that they stand in."""
        array = self.array
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        array = array.cast(pa.large_binary() if pa.types.is_binary(array.type) else pa.large_string())
        _, offsets, letters = array.buffers()
        places = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        text = letters.to_pybytes() if letters is not None else b""
        absent = array.is_null().to_numpy(zero_copy_only=False)
        return TextValues(Spans(text, np.where(absent, -1, places[:-1]), places[1:].copy()))

    def _refused(self, wanted: str) -> LogFormatError:
        return LogFormatError(
            f"column {self.name!r} is of the type {self.array.type}, where {wanted} expected; is it another table, or "
            "another version of it? A mapping of your own (swftools formats propose FILE) may say what it is"
        )


def _of_lists(lists: pa.Array, none: Collection[str]) -> tuple[FloatArray, IntArray, BoolArray]:
    """Return the numbers of all lists, the row of each, and which cannot be read."""
    owner = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    value, is_bad = ArrowValues(pc.list_flatten(lists), "a list").numbers(none)
    return value, owner, is_bad


def is_text(kind: pa.DataType) -> bool:
    """Whether a column is of words, or of bytes, or of a dictionary of these."""
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(test(kind) for test in (*tests, pa.types.is_binary, pa.types.is_large_binary))


def without(read: Read, none: Collection[str]) -> Read:
    """Return numbers without those that say that there is none, such as -1."""
    for word in none:
        try:
            value = float(word)
        except ValueError:
            continue
        read.value[read.value == value] = np.nan
    return read


def _plain(values: FloatArray) -> Read:
    values[~np.isfinite(values)] = np.nan
    return Read(values, np.zeros(len(values), bool))


def _floats(array: pa.Array) -> FloatArray:
    """Return numbers as float64 that may be written to, NaN for null."""
    values: FloatArray = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values if values.flags.writeable and array.type != pa.float64() else values.copy()


def _or_null(words: pa.LargeStringArray, none: Collection[str]) -> pa.LargeStringArray:
    """Return words, null for those that say that there is none."""
    is_none = pc.is_in(words, pa.array(sorted(none), pa.large_string()))
    return pc.if_else(is_none, None, words) if pc.any(is_none).as_py() else words


@kernel(allocates=False)
def _find_short(text: bytes, start: IntArray, end: IntArray, most: int, begins: BoolArray, found: BoolArray) -> None:
    """Find values that are no longer than the words for missing ones, and begin like one of these."""
    for row in range(len(start)):
        if 0 <= start[row] < end[row] <= start[row] + most:
            found[row] = begins[text[start[row]]]


@kernel(allocates=False)
def _fill_marks(text: bytes, start: IntArray, end: IntArray, marks: npt.NDArray[np.uint8]) -> None:
    """Find in each value the first byte that is no digit."""
    for row in range(len(start)):
        for at in range(max(start[row], 0), end[row] if start[row] >= 0 else 0):
            if not 48 <= text[at] <= 57:
                marks[row] = text[at]
                break


def differs(marks: npt.NDArray[np.uint8], first: int) -> BoolArray:
    """Return which dates are in another notation than the first one of the log."""
    return (marks != first) & (marks != 0)
