# SPDX-License-Identifier: BSD-3-Clause
"""The names behind the numbers of users, groups, executables, queues and partitions, as the log has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from swftools.header import SwfHeader

NUMBERED = {
    "user": "user_id",
    "group": "group_id",
    "executable": "executable_id",
    "queue": "queue_id",
    "partition": "partition_id",
}
"""The column of the numbers of each kind of names."""

Known = Mapping[str, Mapping[int, str]]
"""Names by kind and number; a kind without names is not there."""

NO_NAMES: Known = MappingProxyType({})

_DIGITS = 19
"""Of the largest number in a column; Python refuses to read numbers of thousands."""


def names_by_kind(names: pd.DataFrame, header: SwfHeader) -> Known:
    """Return the names behind numbers, by kind: those of the table of names, else those of the header.

    Parameters
    ----------
    names : pandas.DataFrame
        Of a trace: kind, number, name.
    header : SwfHeader
        May have names of queues and partitions.
    """
    known = {"queue": dict(header.queues), "partition": dict(header.partitions)}
    told = names.dropna(subset=["number", "name"]) if len(names) else names
    for kind, number, name in zip(told["kind"], told["number"], told["name"], strict=True):
        known.setdefault(str(kind), {})[int(number)] = str(name)
    return {kind: found for kind, found in known.items() if found}


def kind_of(column: str) -> str:
    """Return the kind of names behind the numbers of a column; a kind, and any other column, is itself.

    Examples
    --------
    >>> kind_of("queue_id"), kind_of("user"), kind_of("submit_time")
    ('queue', 'user', 'submit_time')
    """
    return next((kind for kind, numbers in NUMBERED.items() if numbers == column), column)


def with_number(number: int, names: Mapping[int, str]) -> str:
    """Return a number with its name behind it, if it has one.

    Examples
    --------
    >>> with_number(3, {3: "batch"}), with_number(4, {3: "batch"})
    ('3 batch', '4')
    """
    return f"{number} {names.get(number, '')}".strip()


def named_group(group: str, by: Sequence[str], names: Known) -> str:
    """Return a group of jobs by the names that the log has; numbers without one stay.

    Examples
    --------
    >>> named_group("3/17", ("queue", "user"), {"queue": {3: "batch"}})
    'batch/17'
    """
    parts = group.split("/")
    if len(parts) != len(by):
        return group
    known = (names.get(kind_of(each), {}) for each in by)
    return "/".join(
        told.get(int(part), part) if part.isdecimal() and len(part) <= _DIGITS else part
        for told, part in zip(known, parts, strict=True)
    )


def named_groups(groups: Iterable[str], by: Sequence[str], names: Known) -> dict[str, str]:
    """Return what groups of jobs are called, by group; where two have one name, their numbers tell them apart.

    Examples
    --------
    >>> named_groups(["1", "3", "4", "5"], ["queue"], {"queue": {1: "batch", 3: "night", 4: "night"}})
    {'1': 'batch', '3': '3 night', '4': '4 night', '5': '5'}
    """
    called = {group: named_group(group, by, names) for group in groups}
    often = Counter(called.values())
    return {group: name if often[name] == 1 else f"{group} {name}" for group, name in called.items()}


def names_within(groups: Iterable[str], by: Sequence[str], names: Known) -> Known:
    """Return the names of what groups of jobs are made of, and no others.

    Examples
    --------
    >>> names_within(["3/17"], ["queue", "user"], {"queue": {3: "batch", 4: "night"}, "group": {3: "staff"}})
    {'queue': {3: 'batch'}}
    """
    parts = [group.split("/") for group in groups]
    found: dict[str, dict[int, str]] = {}
    for place, column in enumerate(by):
        met = {each[place] for each in parts if len(each) == len(by)}
        known = names.get(kind_of(column), {})
        if kept := {number: name for number, name in sorted(known.items()) if str(number) in met}:
            found[kind_of(column)] = kept
    return found
