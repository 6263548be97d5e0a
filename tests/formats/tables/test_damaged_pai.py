# SPDX-License-Identifier: BSD-3-Clause
"""Damage to the tables of PAI, which are read as one: no row of any is lost, and pieces give what the whole gives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from swftools import Trace
from swftools.errors import SwfToolsError
from swftools.formats.multi_file import LogFiles
from swftools.formats.registry import Reading, find_format
from tests.formats.accounting_checks import check_same
from tests.formats.mutations import mutations
from tests.formats.tables.made import PAI
from tests.naive.tables import naive_rows

PASSED = "pai_instance_table.csv"


def longer(copies: int = 9) -> dict[str, bytes]:
    """Return the tables with many jobs, each copy with other names; the tags of all copies but one are of no job."""
    tables = {}
    for name, text in PAI.items():
        rows = text.splitlines(keepends=True)
        tables[name] = "".join(f"{copy:x}{row[1:]}" for copy in range(copies) for row in rows).encode()
    return tables


def read(folder: Path, chunk_bytes: int = 1 << 22) -> Trace:
    """Read the tables of a folder, so many bytes at once."""
    kind, _ = find_format("pai")
    return kind().read(LogFiles(sorted(folder.iterdir()), folder.name), Reading(chunk_bytes=chunk_bytes))


def rows_of(tables: dict[str, bytes]) -> list[int]:
    """Return the lines of all rows that are no instances, counted through the tables that are read."""
    lines: list[int] = []
    first = 1
    for name in sorted(tables):
        text = tables[name].decode("latin-1")
        if name == PASSED or not text.strip():
            continue
        text = text.removeprefix("ï»¿")
        lines += [row.line for row in naive_rows(text, ",", "", first)]
        first += text.count("\n") + (not text.endswith("\n"))
    return lines


def survives(folder: Path, seed: int) -> bool:
    """Assert that the tables, of which some are damaged, are refused or read whole; return whether they were read."""
    tables = longer()
    random = Random(seed)
    # A piece of the table that is passed over may look like another one's, and is read then.
    for name in random.sample(sorted(set(tables) - {PASSED}), random.choice([1, 1, 2, 3])):
        tables[name] = mutations(tables[name], seed)
    folder.mkdir()
    for name, text in tables.items():
        (folder / name).write_bytes(text)
    try:
        trace = read(folder)
    except SwfToolsError:
        return False
    told = [line for table in (trace.jobs, trace.quarantine, trace.merged) for line in table["line_number"].tolist()]
    assert Counter(told) == Counter(rows_of(tables))
    check_same(trace, read(folder, 499))
    return True


def test_sound_tables(tmp_path: Path) -> None:
    """All rows are jobs, parts of jobs, or told of, and the lines count through the files."""
    for name, text in longer().items():
        (tmp_path / name).write_bytes(text)
    trace = read(tmp_path)
    assert (len(trace), len(trace.merged), len(trace.quarantine)) == (2 * 9, 3 * 9 + 1, 3 * 9 + 8)
    told = [line for table in (trace.jobs, trace.quarantine, trace.merged) for line in table["line_number"].tolist()]
    assert sorted(told) == rows_of(longer())
    assert trace.quarantine["text"].str.len().min() > 1  # the whole line, also of what is of no job


def test_damaged_tables(tmp_path: Path) -> None:
    """Whatever is damaged, in one table or several."""
    read_whole = [survives(tmp_path / str(seed), seed) for seed in range(12)]
    assert sum(read_whole) >= 5


@pytest.mark.slow
def test_200_damaged_tables(tmp_path: Path) -> None:
    """So it is for more damage."""
    for seed in range(100, 300):
        survives(tmp_path / str(seed), seed)
