# SPDX-License-Identifier: BSD-3-Clause
"""Lists of hosts as Slurm writes them, ``n[01-04,7],m1``: read, counted and written.

Numbers keep the digits of the first of their range; a name may have several brackets, and text behind them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import prod

from swftools.errors import ParameterError

MOST_HOSTS = 200_000
"""That a list may name."""

_DIGITS = 9
"""That a number may have: more nobody counts."""

_RANGE = re.compile(rf"([0-9]{{1,{_DIGITS}}})(?:-([0-9]{{1,{_DIGITS}}}))?", re.ASCII)
_TEXT = re.compile(r"[^\s\[\],]*")
_NUMBERED = re.compile(rf"(.*?)([0-9]{{1,{_DIGITS}}})([^0-9]*)", re.ASCII)
_COMMA = re.compile(r",(?![^\[]*\])")
_PARTS = re.compile(r"([0-9]+)", re.ASCII)

_Ranges = list[tuple[int, int, int]]
"""First, last, digits."""


def expand_hosts(text: str, most: int = MOST_HOSTS) -> list[str]:
    """Return the hosts that a list names, in its order; one that is named twice is there twice.

    Parameters
    ----------
    text : str
        Names and brackets, separated by commas.
    most : int
        More are refused, before there is memory for them.

    Raises
    ------
    ParameterError
        It is no such list, or names too many.

    Examples
    --------
    >>> expand_hosts("n[08-10,1],r[1-2]c[3,5]-ib")
    ['n08', 'n09', 'n10', 'n1', 'r1c3-ib', 'r1c5-ib', 'r2c3-ib', 'r2c5-ib']
    """
    items = [*_items(text)]
    count = sum(map(_count, items))
    if count > most:
        raise ParameterError(f"{_short(text)!r} names {count:,} hosts, more than {most:,}; shorten the list")
    return [host for parts in items for host in _hosts(parts)]


def count_hosts(text: str) -> int:
    """Return how many hosts a list names, however many.

    Raises
    ------
    ParameterError
        It is no such list.

    Examples
    --------
    >>> count_hosts("n[000-999]x[000000-999999]")
    1000000000
    """
    return sum(map(_count, _items(text)))


def fold_hosts(hosts: Iterable[str]) -> str:
    """Return the list that names these hosts in this order; ``expand_hosts`` gives them back.

    Examples
    --------
    >>> fold_hosts(["n08", "n09", "n10", "m1", "m3", "login"])
    'n[08-10],m[1,3],login'
    """
    items: list[tuple[str, list[tuple[str, int]], str]] = []  # before, ranges as text of the first and last, behind
    for host in hosts:
        found = _NUMBERED.fullmatch(host)
        if found is None:
            items.append((host, [], ""))
            continue
        before, digits, behind = found.groups()
        number = int(digits)
        if not items or not items[-1][1] or (items[-1][0], items[-1][2]) != (before, behind):
            items.append((before, [(digits, number)], behind))
            continue
        ranges = items[-1][1]
        first, last = ranges[-1]
        if number == last + 1 and digits == f"{number:0{len(first)}d}":
            ranges[-1] = (first, number)
        else:
            ranges.append((digits, number))
    return ",".join(before + _bracket(ranges) + behind for before, ranges, behind in items)


def fold_ranges(names: Sequence[str], ranges: Sequence[int]) -> str:
    """Return the list of hosts that stands for ranges of numbers of nodes.

    Parameters
    ----------
    names : sequence of str
        The name of each node.
    ranges : sequence of int
        The first and last number of each range, one behind another.

    Examples
    --------
    >>> fold_ranges(["n1", "n2", "n3", "n4"], [0, 1, 3, 3])
    'n[1-2,4]'
    """
    pairs = zip(ranges[::2], ranges[1::2], strict=True)
    return fold_hosts(name for first, last in pairs for name in names[first : last + 1])


def split_hosts(text: str) -> list[str]:
    """Return the items of a list of hosts, brackets and all; commas within brackets part nothing.

    Examples
    --------
    >>> split_hosts("n[1-2,4],m1")
    ['n[1-2,4]', 'm1']
    """
    return [item for item in _COMMA.split(text) if item]


def in_order(host: str) -> tuple[tuple[tuple[str, int, str], ...], str]:
    """Return the key by which hosts are sorted as people number them: n2 before n10.

    Examples
    --------
    >>> sorted(["n10", "n2", "m3"], key=in_order)
    ['m3', 'n2', 'n10']
    """
    parts = _PARTS.split(host)
    digits = [part.lstrip("0") if place % 2 else "" for place, part in enumerate(parts)]
    # Numbers by their lengths and digits: a name may have thousands of these.
    key = [("", len(number), number) if place % 2 else (parts[place], -1, "") for place, number in enumerate(digits)]
    return tuple(key), host


def numbered_on(host: str, count: int, taken: Collection[str] = ()) -> list[str]:
    """Return names of so many more hosts, numbered on behind a host; those that are taken are passed over.

    Raises
    ------
    ParameterError
        The name has no number.

    Examples
    --------
    >>> numbered_on("n08", 3, ["n09"])
    ['n10', 'n11', 'n12']
    """
    if count <= 0:
        return []
    found = _NUMBERED.fullmatch(host)
    if found is None:
        raise ParameterError(f"host {host!r} has no number that others could follow; name them")
    before, digits, behind = found.groups()
    names = (f"{before}{number:0{len(digits)}d}{behind}" for number in itertools.count(int(digits) + 1))
    return list(itertools.islice((name for name in names if name not in taken), count))


def _items(text: str) -> Iterator[list[str | _Ranges]]:
    """Yield the names of a list, each as text, ranges, text, ranges, ... text."""
    place = 0
    while True:
        parts: list[str | _Ranges] = []
        while True:
            found = _TEXT.match(text, place)
            parts.append(found[0] if found else "")
            place += len(str(parts[-1]))
            if text[place : place + 1] != "[":
                break
            end = text.find("]", place)
            if end < 0:
                raise ParameterError(f"{_short(text)!r} is no list of hosts: a bracket is not closed")
            parts.append([_range(text, each) for each in text[place + 1 : end].split(",")])
            place = end + 1
        if parts == [""]:
            raise ParameterError(f"{_short(text)!r} is no list of hosts such as n[01-04,7],m1: a name is missing")
        yield parts
        if place == len(text):
            return
        if text[place] != ",":
            raise ParameterError(f"{_short(text)!r} is no list of hosts: {text[place]!r} stands in a name")
        place += 1


def _range(text: str, inside: str) -> tuple[int, int, int]:
    """Return first, last and digits of what stands between commas of a bracket."""
    found = _RANGE.fullmatch(inside)
    no_list = f"{_short(text)!r} is no list of hosts"
    if found is None:
        raise ParameterError(f"{no_list}: [{_short(inside)}] should be numbers, as in [01-04,7]")
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise ParameterError(f"{no_list}: {inside} runs backwards; write {found[2]}-{found[1]}")
    return first, last, len(found[1])


def _count(parts: list[str | _Ranges]) -> int:
    return prod(sum(last - first + 1 for first, last, _ in each) for each in parts if not isinstance(each, str))


def _hosts(parts: list[str | _Ranges]) -> Iterator[str]:
    """Yield the hosts of a name, the last bracket counted first."""
    each = [[part] if isinstance(part, str) else [*_numbers(part)] for part in parts]
    return map("".join, itertools.product(*each))


def _numbers(ranges: _Ranges) -> Iterator[str]:
    return (f"{number:0{digits}d}" for first, last, digits in ranges for number in range(first, last + 1))


def _bracket(ranges: list[tuple[str, int]]) -> str:
    """Return numbers as they stand in a name: bare if it is one."""
    told = [first if int(first) == last else f"{first}-{last:0{len(first)}d}" for first, last in ranges]
    return told[0] if len(told) == 1 and "-" not in told[0] else f"[{','.join(told)}]" if told else ""


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
