# SPDX-License-Identifier: BSD-3-Clause
"""The names behind the numbers of users, groups, executables, queues and partitions, as the log has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    kinds = {column: kind for kind, column in NUMBERED.items()}
    known = (names.get(kinds.get(each, each), {}) for each in by)
    return "/".join(
        told.get(int(part), part) if part.isdecimal() else part for told, part in zip(known, parts, strict=True)
    )
