# SPDX-License-Identifier: BSD-3-Clause
"""What tests ask of every reader of accounting logs: pieces as the whole, damage survived, totals that balance."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pandas as pd

from swftools.errors import SwfToolsError
from swftools.formats.multi_file import LogFiles
from swftools.formats.read_log import read_log
from swftools.formats.registry import Reading, find_format
from swftools.trace import Trace
from tests.formats.mutations import mutations
from tests.frames import assert_same
from tests.naive.accounting_log import NaiveTrace, check

TABLES = ("jobs", "quarantine", "merged")


def read_in_pieces(text: bytes, name: str, chunk_bytes: int, **options: Any) -> Trace:
    """Read a log of a format, so many bytes at once."""
    kind, _ = find_format(name)
    return kind(**options).read(LogFiles([io.BytesIO(text)], "<stream>"), Reading(chunk_bytes=chunk_bytes))


def check_same(expected: Trace, trace: Trace) -> None:
    """Assert that two traces have the same tables, whatever the order of the lines that are no jobs."""
    for name in TABLES:
        one, other = (
            getattr(each, name).sort_values("line_number", kind="stable").reset_index(drop=True)
            for each in (expected, trace)
        )
        assert_same(other, one)
    assert_same(trace.names, expected.names)
    assert expected.header == trace.header


def survives(
    text: bytes, name: str, seed: int, records_of: Callable[[bytes], list[int]], naive: Callable[[bytes], NaiveTrace]
) -> None:
    """Assert that a damaged log is refused, or that each of its records is a job, part of one or in the quarantine.

    Parameters
    ----------
    text : bytes
        A sound log.
    name : str
        Its format.
    seed : int
        Of the damage.
    records_of : callable
        Returns the lines of a text that are records.
    naive : callable
        The slow reader.
    """
    damaged = mutations(text, seed)
    try:
        trace = read_log(io.BytesIO(damaged), name)
    except SwfToolsError:
        return
    lines = pd.concat([getattr(trace, table)["line_number"] for table in TABLES]).tolist()
    assert sorted(records_of(damaged)) == sorted(lines)
    check(naive(damaged), trace)
    check_same(trace, read_in_pieces(damaged, name, 4999))
