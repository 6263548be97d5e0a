# SPDX-License-Identifier: BSD-3-Clause
"""Values in the messages of PBS's records: ``k=v k=v``, hosts with their slots, and chunks of processors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from swftools.formats.accounting.kernel import (
    ABSENT,
    DOUBTFUL,
    PLAIN,
    Labels,
    StateArray,
    begins_with,
    find_label,
    is_same,
)
from swftools.formats.accounting.lines import is_digit, read_digits
from swftools.formats.pbs.lines import hashed
from swftools.kernel import FloatArray, IntArray, kernel

_BLANK, _TAB, _QUOTE, _HASH, _APOSTROPHE, _STAR, _PLUS, _COMMA = 32, 9, 34, 35, 39, 42, 43, 44
_MINUS, _SLASH, _COLON, _EQUALS, _OPEN, _CLOSE = 45, 47, 58, 61, 91, 93
_MOST_DIGITS = 9
_MOST_HOSTS = 1 << 24


@kernel(allocates=False)
def find_values(
    text: bytes,
    start: IntArray,
    end: IntArray,
    labels: Labels,
    is_free: npt.NDArray[np.bool_],
    begin_of: IntArray,
    end_of: IntArray,
    repeated: IntArray,
) -> None:
    """Find where the values of each message stand.

    A word without ``=`` goes on with the value before it. So does ``key=value`` behind a free text, such as a job's
    name, unless the key is one of PBS's. What begins with a quotation mark ends with one.

    Parameters
    ----------
    text : bytes
        The log.
    start, end : ndarray of int64, shape (rows,)
        The messages.
    labels : Labels
        Keys: first those that are wanted, a column each in ``begin_of``, then others that are known.
    is_free : ndarray of bool
        Which of the labels are free text.
    begin_of, end_of : ndarray of int64, shape (wanted, rows)
        Filled, -1 before.
    repeated : ndarray of int64, shape (rows,)
        Filled with how often a key stands again with another value, 0 before.
    """
    wanted = begin_of.shape[0]
    for row in range(len(start)):
        at = start[row]
        stop = end[row]
        label = -1
        value = 0
        value_end = 0
        is_closed = False  # the value stood in quotation marks
        has_quote, has_apostrophe = True, True  # whether one that closes may be ahead
        while True:
            while at < stop and (text[at] == _BLANK or text[at] == _TAB):
                at += 1
            word = at
            equals = -1
            closed = -1
            while at < stop and text[at] != _BLANK and text[at] != _TAB:
                if text[at] == _EQUALS:
                    if equals < 0:
                        equals = at
                    mark = int(text[at + 1]) if at + 1 < stop else 0
                    if (mark == _QUOTE and has_quote) or (mark == _APOSTROPHE and has_apostrophe):
                        close = _closing(text, at + 2, stop, mark)
                        if close >= 0:
                            if at == equals:
                                closed = close
                            at = close
                        elif mark == _QUOTE:
                            has_quote = False
                        else:
                            has_apostrophe = False
                at += 1
            found = -1
            is_key = False
            if equals > word:
                found = find_label(text, word, equals, labels)
                is_key = found >= 0 or label < 0 or not is_free[label] or _is_resource(text, word, equals)
            if is_key or word == at:
                if 0 <= label < wanted:
                    if begin_of[label, row] < 0:
                        begin_of[label, row], end_of[label, row] = value, value_end
                    elif not is_same(text, begin_of[label, row], end_of[label, row], value, value_end):
                        repeated[row] += 1
                if word == at:
                    break
                label = found
                is_closed = closed >= 0
                value, value_end = (equals + 2, closed) if is_closed else (equals + 1, at)
            elif not is_closed:
                if value == value_end:  # nothing stood behind the key
                    value = word
                value_end = at


@kernel(allocates=False)
def _closing(text: bytes, at: int, stop: int, mark: int) -> int:
    """Return where a quotation mark stands that ends a value: before a blank, a comma or the end; -1 for nowhere."""
    while at < stop:
        if text[at] == mark and (at + 1 == stop or text[at + 1] == _BLANK or text[at + 1] == _COMMA):
            return at
        at += 1
    return -1


@kernel(allocates=False)
def _is_resource(text: bytes, begin: int, end: int) -> bool:
    """Whether a key is that of a resource, of which each site has its own."""
    return begins_with(text, begin, end, b"Resource_List.") or begins_with(text, begin, end, b"resources_used.")


@kernel(allocates=False)
def _slots(text: bytes, at: int, end: int) -> int:
    """Return how many slots ``0``, ``0-3``, ``0-1,5`` or ``0*13`` are; -1 if it is none of that.

    ``0*0`` is none: PBS Professional writes it for the first of several vnodes, and says the rest in exec_vnode.
    """
    slots = 0
    while True:
        first, at = read_digits(text, at, end, _MOST_DIGITS)
        count, least = 1, 1
        if first >= 0 and at < end and (text[at] == _MINUS or text[at] == _STAR):
            is_range = text[at] == _MINUS
            last, at = read_digits(text, at + 1, end, _MOST_DIGITS)
            count = last - first + 1 if is_range else last
            least = 1 if is_range else 0
        if first < 0 or count < least:
            return -1
        slots += count
        if at == end:
            return slots
        if text[at] != _COMMA:
            return -1
        at += 1


@kernel(allocates=False)
def _hosts(text: bytes, at: int, end: int) -> int:
    """Return how many hosts ``n1``, ``n[01-04,7]``, ``r[1-2]n[1-4]`` or ``0-4`` are; 1 where that is not to be seen."""
    first, behind = read_digits(text, at, end, _MOST_DIGITS)
    if first >= 0 and behind < end and text[behind] == _MINUS:
        last, behind = read_digits(text, behind + 1, end, _MOST_DIGITS)
        return last - first + 1 if behind == end and last >= first else 1
    hosts = 1
    while at < end:
        if text[at] != _OPEN:
            at += 1
            continue
        inside = 0
        while at < end and text[at] != _CLOSE:
            first, at = read_digits(text, at + 1, end, _MOST_DIGITS)
            last = first
            if at < end and text[at] == _MINUS:
                last, at = read_digits(text, at + 1, end, _MOST_DIGITS)
            if first < 0 or last < first or at == end or (text[at] != _COMMA and text[at] != _CLOSE):
                return 1
            inside += last - first + 1
        hosts *= inside
        if hosts > _MOST_HOSTS:
            return 1
    return hosts


@kernel(allocates=False)
def _own_processors(text: bytes, at: int, end: int) -> int:
    """Return the processors that ``ppn=4`` or ``ncpus=4`` says among words with colons between them; 1 without one."""
    while at < end:
        begin = at
        while at < end and text[at] != _COLON:
            at += 1
        size = 4 if begins_with(text, begin, at, b"ppn=") else 6 if begins_with(text, begin, at, b"ncpus=") else 0
        if size:
            own, behind = read_digits(text, begin + size, at, _MOST_DIGITS)
            return own if behind == at else -1
        at += 1
    return 1


@kernel(allocates=False)
def _is_next_host(text: bytes, at: int, end: int) -> bool:
    """Whether a part of a list of hosts ends here, behind its slots: a comma before a digit is one between slots."""
    return text[at] == _PLUS or (text[at] == _COMMA and not (at + 1 < end and is_digit(text[at + 1])))


@kernel(allocates=False)
def fill_hosts(
    text: bytes,
    start: IntArray,
    end: IntArray,
    slots: FloatArray,
    hosts: FloatArray,
    state: StateArray,
    seen: IntArray,
    seen_row: IntArray,
) -> None:
    """Count slots and different hosts of each ``h1/0-3+h2/0*4``; a host alone is one slot.

    So are ``h1,h2``, ``h[01-04]`` and ``0-4,6-7``, and ``h1:ppn=4`` is four. ``seen`` and ``seen_row`` are a table of
    hosts by their hashes. The caller gives them of a size that is a power of two and above the number of hosts of any
    row, ``seen_row`` filled with -1.
    """
    for row in range(len(start)):
        slots[row], hosts[row] = np.nan, np.nan
        if start[row] < 0 or start[row] == end[row]:
            state[row] = ABSENT
            continue
        state[row] = PLAIN
        total = 0
        different = 0
        last = -1
        at = start[row]
        while True:
            begin = at
            is_inside = False
            has_many = 48 <= text[at] <= 57 if at < end[row] else False
            while at < end[row]:
                byte = text[at]
                if byte == _OPEN:
                    is_inside, has_many = True, True
                elif byte == _CLOSE:
                    is_inside = False
                elif byte == _COLON:
                    if not (at + 1 < end[row] and is_digit(text[at + 1])):  # that is a port
                        break
                elif byte == _PLUS or byte == _SLASH or (byte == _COMMA and not is_inside):
                    break
                at += 1
            if begin == at:
                state[row] = DOUBTFUL
                break
            many = _hosts(text, begin, at) if has_many else 1
            key = hashed(text, begin, at)
            if key != last:
                last = key
                slot = key % len(seen)
                while seen_row[slot] == row and seen[slot] != key:
                    slot = (slot + 1) % len(seen)
                if seen_row[slot] != row:
                    seen[slot], seen_row[slot] = key, row
                    different += many
            count = 1
            if at < end[row] and (text[at] == _SLASH or text[at] == _COLON):
                is_slots = text[at] == _SLASH
                begin = at + 1
                while at < end[row] and not _is_next_host(text, at, end[row]):
                    at += 1
                count = _slots(text, begin, at) if is_slots else _own_processors(text, begin, at)
            if count < 0:
                state[row] = DOUBTFUL
                break
            total += many * count
            if at == end[row]:
                break
            at += 1
        if state[row] == PLAIN:
            slots[row], hosts[row] = total, different


@kernel(allocates=False)
def _amount(text: bytes, at: int, end: int) -> int:
    """Return the number that ``ncpus=4`` or ``ppn=2#shared`` says; -1 if it is none."""
    while text[at] != _EQUALS:
        at += 1
    amount, at = read_digits(text, at + 1, end, _MOST_DIGITS)
    return amount if at == end or text[at] == _HASH else -1


@kernel(allocates=False)
def fill_chunks(
    text: bytes,
    start: IntArray,
    end: IntArray,
    is_counted: bool,
    usual: int,
    chunks: FloatArray,
    processors: FloatArray,
    gpus: FloatArray,
    state: StateArray,
) -> None:
    """Count chunks, processors and GPUs of each ``2:ncpus=4:ngpus=1+1:ppn=2`` or ``(n1:ncpus=4)+(n2:ncpus=4)``.

    ``is_counted`` says whether a number in front of a chunk is how many there are of it, ``usual`` how many processors
    a chunk has that does not say it. GPUs are NaN where nothing says it.
    """
    for row in range(len(start)):
        chunks[row], processors[row], gpus[row] = np.nan, np.nan, np.nan
        if start[row] < 0 or start[row] == end[row]:
            state[row] = ABSENT
            continue
        state[row] = PLAIN
        all_chunks, all_processors, all_gpus = 0.0, 0.0, 0.0
        has_gpus = False
        at = start[row]
        while state[row] == PLAIN:
            count, own, own_gpus = 1, usual, 0
            is_head = True
            while True:
                begin = at
                while at < end[row] and text[at] != _PLUS and text[at] != _COLON:
                    at += 1
                stop = at
                while begin < stop and text[begin] == 40:
                    begin += 1
                while stop > begin and text[stop - 1] == 41:
                    stop -= 1
                if begin == stop:
                    state[row] = DOUBTFUL
                    break
                number, behind = read_digits(text, begin, stop, _MOST_DIGITS)
                if is_head and is_counted and number >= 0 and (behind == stop or text[behind] == _HASH):
                    count = number
                elif begins_with(text, begin, stop, b"ncpus=") or begins_with(text, begin, stop, b"ppn="):
                    own = _amount(text, begin, stop)
                elif begins_with(text, begin, stop, b"ngpus=") or begins_with(text, begin, stop, b"gpus="):
                    own_gpus, has_gpus = _amount(text, begin, stop), True
                if own < 0 or own_gpus < 0:
                    state[row] = DOUBTFUL
                    break
                is_head = False
                if at == end[row] or text[at] == _PLUS:
                    break
                at += 1
            all_chunks += count
            all_processors += float(count) * own
            all_gpus += float(count) * own_gpus
            if at == end[row]:
                break
            at += 1
        if state[row] == PLAIN:
            chunks[row], processors[row] = all_chunks, all_processors
            if has_gpus:
                gpus[row] = all_gpus


@kernel(allocates=False)
def fill_ids(text: bytes, start: IntArray, end: IntArray, number: FloatArray, index: FloatArray) -> None:
    """Read the number and index of each id ``12[3].server`` or ``12-3.server``; NaN for one of no array."""
    for row in range(len(start)):
        number[row], index[row] = np.nan, np.nan
        first, at = read_digits(text, start[row], end[row], _MOST_DIGITS)
        if first < 0 or at == end[row] or (text[at] != 91 and text[at] != _MINUS):
            continue
        closes = text[at] == 91
        second, at = read_digits(text, at + 1, end[row], _MOST_DIGITS)
        if second >= 0 and ((closes and at < end[row] and text[at] == 93) or not closes):
            number[row], index[row] = first, second
