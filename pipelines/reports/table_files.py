# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a report as CSV: a file each, with numbers as they are, not as people write them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pipelines.reports.report import NumberCell, ReportTable, Section, unit_of
from swftools.output.whole_files import create_file


def write_tables(parts: Iterable[Section], folder: Path) -> list[Path]:
    """Write each table of a report into a folder, which is made; return the files in the order of the report."""
    folder.mkdir(exist_ok=True)
    written = []
    for name, table in named_tables(parts):
        path = folder / name
        with create_file(path) as file:
            file.write(csv_of(table).encode())
        written.append(path)
    return written


def named_tables(parts: Iterable[Section]) -> Iterator[tuple[str, ReportTable]]:
    """Yield each table with the name of its file: its number in the report, the heading above it, its caption."""
    tables = [(part, table) for part in parts for table in part.tables]
    for number, (part, table) in enumerate(tables, 1):
        words = re.findall(r"\w+", f"{part.heading} {table.caption.partition(';')[0]}".lower())
        yield f"{number:02}-{'-'.join(words)[:60]}.csv", table


def csv_of(table: ReportTable) -> str:
    r"""Return a table as CSV: cells that have words of their own as numbers, in the unit that stands in the heading.

    Examples
    --------
    >>> csv_of(ReportTable(["queue", "wait"], [["short", NumberCell(7200.0, "2 h", "s")], ["long", None]]))
    'queue,"wait, s"\r\nshort,7200.0\r\nlong,\r\n'
    """
    units = [unit_of(table, place) for place in range(len(table.columns))]
    heads = [f"{head}, {unit}" if unit else head for head, unit in zip(table.columns, units, strict=True)]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(heads)
    writer.writerows([_value(cell) for cell in row] for row in table.rows)
    return text.getvalue()


def _value(cell: object) -> object:
    """Return what a cell is in CSV; nothing of what is missing."""
    value = cell.value if isinstance(cell, NumberCell) else cell
    return "" if value is None or value != value else value  # noqa: PLR0124 (NaN)
