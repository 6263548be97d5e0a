# SPDX-License-Identifier: BSD-3-Clause
"""Values in the bytes of accounting logs: decimal numbers, durations, sizes; and words looked up in a table.

A value is the stretch of text from ``start`` to ``end``, without blanks around it; a start below 0 says that there is
none. What a kernel cannot read plainly it leaves to ``spans.py``, which judges it in Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import FloatArray, IntArray, kernel

PLAIN, ABSENT, DOUBTFUL = 0, 1, 2
"""What became of a value: read, not there, or left to be judged."""

StateArray = npt.NDArray[np.int8]

_BLANK, _PLUS, _COMMA, _MINUS, _POINT, _COLON = 32, 43, 44, 45, 46, 58
_OPEN, _CLOSE = 40, 41
_MOST_DIGITS = 18
_UNITS = b"bkmgtp"
"""Letters of units of size, each of 1024 of those before."""


class Labels(NamedTuple):
    """Words to be found, as a table of hashes with room between them."""

    letters: npt.NDArray[np.uint8]
    begin: IntArray
    end: IntArray
    slots: IntArray  # which word stands there, -1 for none


def label_table(words: list[bytes]) -> Labels:
    """Return the table in which ``find_label`` looks for words; each is known by its place in the list."""
    slots = np.full(4 << len(words).bit_length(), -1, np.int64)
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    for number, word in enumerate(words):
        at = _hash.py_func(word, 0, len(word)) % len(slots)
        while slots[at] >= 0:
            at = (at + 1) % len(slots)
        slots[at] = number
    return Labels(np.frombuffer(b"".join(words), np.uint8), np.append(0, ends[:-1]), ends, slots)


@kernel(allocates=False)
def _hash(text: bytes, start: int, end: int) -> int:
    """Return a hash of a stretch of text, of 31 bits."""
    value = 17
    for at in range(start, end):
        value = (value * 31 + text[at]) & 0x7FFFFFFF
    return value


@kernel(allocates=False)
def find_label(text: bytes, start: int, end: int, labels: Labels) -> int:
    """Return which of the words a stretch of text is; -1 if none."""
    at = _hash(text, start, end) % len(labels.slots)
    while labels.slots[at] >= 0:
        number = labels.slots[at]
        begin = labels.begin[number]
        if labels.end[number] - begin == end - start:
            same = True
            for offset in range(end - start):
                if text[start + offset] != labels.letters[begin + offset]:
                    same = False
                    break
            if same:
                return int(number)
        at = (at + 1) % len(labels.slots)
    return -1


@kernel(allocates=False)
def begins_with(text: bytes, begin: int, end: int, word: bytes) -> bool:
    """Whether a stretch of text begins with a word."""
    if end - begin < len(word):
        return False
    for offset in range(len(word)):
        if text[begin + offset] != word[offset]:
            return False
    return True


@kernel(allocates=False)
def is_word(text: bytes, begin: int, end: int, word: bytes) -> bool:
    """Whether a stretch of text is a word."""
    return end - begin == len(word) and begins_with(text, begin, end, word)


@kernel(allocates=False)
def is_same(text: bytes, begin: int, end: int, other: int, other_end: int) -> bool:
    """Whether two stretches of text are the same."""
    if end - begin != other_end - other:
        return False
    for offset in range(end - begin):
        if text[begin + offset] != text[other + offset]:
            return False
    return True


@kernel(allocates=False)
def gather(text: bytes, start: IntArray, offsets: IntArray, out: npt.NDArray[np.uint8]) -> None:
    """Copy stretches of text one behind the other: that of row r to ``offsets[r]``."""
    for row in range(len(start)):
        to = offsets[row]
        for at in range(start[row], start[row] + offsets[row + 1] - to):
            out[to] = text[at]
            to += 1


@kernel(allocates=False)
def read_number(text: bytes, start: int, end: int) -> tuple[float, int]:
    """Return the decimal number that a stretch of text is, and whether it is one that can be read here.

    It is mantissa / 10**decimals, exact to the last bit while both are below 2**53; others are left.
    """
    if start < 0 or start == end:
        return np.nan, ABSENT
    at = start
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    mantissa = 0
    digits = 0
    scale = 0
    while at < end:
        digit = text[at] - 48
        if 0 <= digit <= 9:
            mantissa = mantissa * 10 + digit
            digits += 1
            scale *= 10
        elif text[at] == _POINT and scale == 0:
            scale = 1
        else:
            return np.nan, DOUBTFUL
        if digits > _MOST_DIGITS:
            return np.nan, DOUBTFUL
        at += 1
    if digits == 0 or (scale > 1 and mantissa >= 1 << 53):
        return np.nan, DOUBTFUL
    value = float(mantissa)
    if scale > 1:
        value /= float(scale)
    return -value if negative else value, PLAIN


@kernel(allocates=False)
def _bracketed(text: bytes, start: int, end: int) -> tuple[float, int]:
    """Return the number behind the bracket of ``00:10:00 (600 seconds)``; doubtful where there is none."""
    if text[end - 1] != _CLOSE:
        return np.nan, DOUBTFUL
    at = end - 1
    while at > start and text[at] != _OPEN:
        at -= 1
    at += 1
    stop = at
    while stop < end - 1 and text[stop] != _BLANK:
        stop += 1
    return read_number(text, at, stop)


@kernel(allocates=False)
def _duration(text: bytes, start: int, end: int) -> tuple[float, int]:
    """Return the seconds of a duration, and whether it is one that can be read here."""
    if start < 0 or start == end:
        return np.nan, ABSENT
    value, state = _bracketed(text, start, end)
    if state == PLAIN:
        return value, state
    at = start
    negative = text[at] == _MINUS
    if negative:
        at += 1
    days = 0.0
    has_days = False
    total = 0.0
    colons = 0
    begin = at
    first = 0.0
    while True:
        if at < end and (48 <= text[at] <= 57 or text[at] == _POINT):
            at += 1
            continue
        part, state = read_number(text, begin, at)
        if state != PLAIN:
            return np.nan, DOUBTFUL
        if at < end and (text[at] == _PLUS or text[at] == _MINUS) and not has_days and colons == 0:
            has_days = True
            days = part
        else:
            if colons and part >= 60.0:
                return np.nan, DOUBTFUL
            if colons == 0:
                first = part
            total = total * 60.0 + part
            if at == end:
                break
            if text[at] != _COLON or colons == 3 or (colons == 2 and has_days):
                return np.nan, DOUBTFUL
            colons += 1
        at += 1
        begin = at
    if colons == 3:  # the first of four parts is days, not sixty hours each
        total -= (60.0 - 24.0) * 3600.0 * first
    if has_days:  # the first part behind the days is hours, however many follow
        for _ in range(2 - colons):
            total *= 60.0
    total += 86400.0 * days
    return -total if negative else total, PLAIN


@kernel(allocates=False)
def _size(text: bytes, start: int, end: int, unit: float) -> tuple[float, int, int]:
    """Return the bytes of a size, the letter behind its unit (0 for none), and whether it can be read here."""
    if start < 0 or start == end:
        return np.nan, 0, ABSENT
    value, state = _bracketed(text, start, end)
    if state == PLAIN:
        return value, 0, state
    at = start
    while at < end and (48 <= text[at] <= 57 or text[at] == _POINT or (at == start and text[at] == _MINUS)):
        at += 1
    value, state = read_number(text, start, at)
    if state != PLAIN:
        return np.nan, 0, DOUBTFUL
    while at < end and text[at] == _BLANK:
        at += 1
    scale = unit
    if at < end:
        power = -1
        for place in range(len(_UNITS)):
            if text[at] | 32 == _UNITS[place]:
                power = place
        if power >= 0:
            scale = 1.0
            for _ in range(power):
                scale *= 1024.0
            at += 1
            if at < end and (text[at] | 32) == 105:  # i
                at += 1
            if at < end and power > 0 and (text[at] | 32) == 98:
                at += 1
    suffix = 0
    if at < end:
        suffix = int(text[at])
        at += 1
    if at < end:
        return np.nan, 0, DOUBTFUL
    return value * scale, suffix, PLAIN


@kernel(allocates=False)
def fill_numbers(text: bytes, start: IntArray, end: IntArray, value: FloatArray, state: StateArray) -> None:
    """Read a decimal number of each row."""
    for row in range(len(start)):
        value[row], state[row] = read_number(text, start[row], end[row])


@kernel(allocates=False)
def fill_durations(text: bytes, start: IntArray, end: IntArray, value: FloatArray, state: StateArray) -> None:
    """Read a duration of each row."""
    for row in range(len(start)):
        value[row], state[row] = _duration(text, start[row], end[row])


@kernel(allocates=False)
def fill_sizes(
    text: bytes,
    start: IntArray,
    end: IntArray,
    unit: float,
    value: FloatArray,
    suffix: StateArray,
    state: StateArray,
) -> None:
    """Read a size of each row."""
    for row in range(len(start)):
        value[row], suffix[row], state[row] = _size(text, start[row], end[row], unit)
