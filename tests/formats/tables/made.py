# SPDX-License-Identifier: BSD-3-Clause
"""Tables for tests: the rows that each format's page shows, as CSV, JSON and Parquet; and those that are a join."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from swftools.formats.detect import detect  # noqa: F401 (registers all formats)
from swftools.formats.registry import list_formats
from swftools.formats.tables.table_format import TableFormat
from tests.naive.tables import NaiveRow, naive_rows

TABLES: dict[str, type[TableFormat]] = {
    name: kind for name, kind in list_formats().items() if issubclass(kind, TableFormat) and kind.EXAMPLE
}
"""The formats of published tables with rows on their page."""

OPTIONS: dict[str, dict[str, Any]] = {"alcf": {"time_zone": "America/Chicago"}}
JSON = {name for name, kind in TABLES.items() if kind.EXAMPLE.lstrip()[:1] in "[{"}
WITH_HEADER = sorted(name for name in TABLES if name not in JSON and not TABLES[name].HEADLESS)


def example(name: str) -> bytes:
    """Return the rows that a format's page shows."""
    return TABLES[name].EXAMPLE.encode()


def separator_of(name: str) -> str:
    """Return what stands between values of a format's CSV."""
    return TABLES[name].SEPARATOR or ","


def longer(name: str, times: int = 12) -> bytes:
    """Return many rows of a CSV: those of the page, each copy with other numbers of its id."""
    text = TABLES[name].EXAMPLE
    header = 0 if TABLES[name].HEADLESS else 1
    lines = text.splitlines(keepends=True)
    head, body = lines[:header], [line for line in lines[header:] if not line.startswith("#")]
    return "".join([*head, *(f"{copy}{line}" if copy else line for copy in range(times) for line in body)]).encode()


def lines_of(name: str, text: bytes) -> list[int]:
    """Return the lines of a CSV at which rows stand, by the slow scanner."""
    return [row.line for row in rows_of(name, text)]


def rows_of(name: str, text: bytes) -> list[NaiveRow]:
    """Return the rows of a CSV, the header and its repetitions left out."""
    told = text.decode("latin-1").removeprefix("ï»¿")
    separator, comment = separator_of(name), TABLES[name].COMMENT
    if TABLES[name].HEADLESS:
        return naive_rows(told, separator, comment)
    line = 1
    while told and not told.split("\n", 1)[0].strip():
        told, line = told.partition("\n")[2], line + 1
    header, _, rest = told.partition("\n")
    separator = max(",\t;|", key=header.count)
    found = naive_rows(rest, separator, comment, line + 1)
    lines = rest.split("\n")
    return [row for row in found if lines[row.line - line - 1].strip() != header.strip()]


def as_dicts(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV with a header by the library's own reader."""
    rows = csv.DictReader(io.StringIO(TABLES[name].EXAMPLE), skipinitialspace=True)
    return [{key.strip(): value.strip() for key, value in row.items()} for row in rows]


def as_json_lines(name: str) -> bytes:
    """Return those rows as lines of JSON, every value a text."""
    return "".join(json.dumps(row) + "\n" for row in as_dicts(name)).encode()


def as_json_list(name: str) -> bytes:
    """Return those rows as a list on one line, empty values left out."""
    return json.dumps([{key: value for key, value in row.items() if value} for row in as_dicts(name)]).encode()


def as_parquet(name: str) -> bytes:
    """Return those rows as Parquet, every value a text."""
    return parquet(pa.Table.from_pylist(as_dicts(name)))


def as_typed_parquet(name: str) -> bytes:
    """Return those rows as Parquet, numbers as numbers, of which those with missing ones are floats."""
    columns: dict[str, list[Any]] = {key: [row[key] for row in as_dicts(name)] for key in as_dicts(name)[0]}
    return parquet(pa.table({key: _typed(values) for key, values in columns.items()}))


def _typed(values: list[str]) -> Any:
    try:
        numbers = [float(value) if value else None for value in values]
    except ValueError:
        return pa.array(values)
    if None in numbers or any(number != int(number) for number in numbers if number is not None):
        return pa.array(numbers, pa.float64())
    return pa.array([int(value) for value in map(float, values)], pa.int64())


def parquet(table: pa.Table, **how: Any) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    file = io.BytesIO()
    pq.write_table(table, file, **how)
    return file.getvalue()


JOB_A, JOB_B, JOB_C = "4b3f04b66a525d2df903eb16", "af724763f4f5d0beef445849", "0c" * 12
ID_A, ID_B, ID_C = "8cb3bec2" * 7, "e387fbc1" * 7, "0d0d0d0d" * 7
PAI = {
    "pai_job_table.csv": (
        f"{JOB_A},{ID_A},58540f191766,Terminated,4550879.0,4551416.0\n"
        f"{JOB_B},{ID_B},58540f191766,Failed,4550900.0,4551000.0\n"
        f"{JOB_C},{ID_C},ab540f191766,Running,4550901.0,\n"
    ),
    "pai_task_table.csv": (
        f"{JOB_A},ps,1.0,Terminated,4550890.0,4551400.0,600.0,10.0,0.0,MISC\n"
        f"{JOB_A},worker,2.0,Terminated,4550885.0,4551400.0,400.0,29.0,75.0,V100\n"
        f"{JOB_B},worker,1.0,Failed,,,450.0,29.3,,T4\n"
        f"{'ff' * 12},worker,1.0,Failed,,,400.0,29.3,,T4\n"
        f"{JOB_C},worker,1.0,Running,4550902.0,,400.0,29.3,50.0,T4\n"
    ),
    "pai_group_tag_table.csv": f"{ID_A},58540f191766,V100,{'aa' * 12},bert\n",
    "pai_instance_table.csv": f"{JOB_A},ps,{'ab' * 30},{'cd' * 30},{ID_A},Terminated,4550890.0,4551400.0,{'ef' * 12}\n",
}
"""The tables of PAI, made by its description: three jobs, five tasks (one of no job), a tag, an instance."""


def write_pai(folder: Path, **others: str) -> Path:
    """Write the tables of PAI into a folder; others take the place of some by their names without .csv."""
    folder.mkdir(exist_ok=True)
    for name, text in PAI.items():
        (folder / name).write_text(others.get(name.removesuffix(".csv"), text))
    return folder
