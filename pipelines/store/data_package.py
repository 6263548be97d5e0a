# SPDX-License-Identifier: BSD-3-Clause
"""datapackage.json of a version: its tables and files as a Frictionless Data Package, from the column dictionary.

It is written last, since it tells size and hash of every other file.

References
----------
Frictionless Data, "Data Package", "Table Schema" and "Table Dialect", version 2 (datapackage.org).
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from pipelines.names import PART
from pipelines.store.parts import label_of
from pipelines.store.readme import sources_of
from swftools.fields.definition import (
    BOOL,
    FLOAT64,
    GENERATED,
    INT64,
    INTEGERS,
    NEVER,
    RANGES,
    STRING,
    TIMESTAMP,
    UTILITY,
    Field,
)
from swftools.fields.dictionary import PRIMARY_KEYS, TABLE_MEANINGS, table_fields
from swftools.output.shown_text import shown_in_json

DATA_PACKAGE = "datapackage.json"
"""The name of the file."""

_TYPES: dict[pa.DataType, str] = {
    INT64: "integer",
    FLOAT64: "number",
    STRING: "string",
    BOOL: "boolean",
    TIMESTAMP: "datetime",
    # A list of Parquet is no text in JSON, which is what "array" means.
    UTILITY: "any",
    INTEGERS: "any",
    RANGES: "any",
}
_NO_VALUE = {"number": "nan", "integer": "nan", "datetime": "NaT"}
"""What readers that go through pandas make of a null, by type; of other types they make none."""
_COMMENTED = {"commentChar": "#"}
_PARQUET = {"format": "parquet", "mediatype": "application/vnd.apache.parquet"}

Entries = Mapping[str, Mapping[str, Any]]
"""Size and hash of the files of a version by name, as the manifest has them."""


@dataclass(frozen=True)
class CsvForm:
    """How a CSV file is to be read: its columns, and how many lines that begin with # stand before them."""

    columns: tuple[str, ...]
    comments: int


def csv_form(path: Path) -> CsvForm:
    """Return how a CSV file that we wrote is to be read."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = iter(file)
        first, comments = next(lines, ""), 0
        while first.startswith("#"):
            first, comments = next(lines, ""), comments + 1
    return CsvForm(tuple(next(csv.reader([first]), [])), comments)


def csv_forms(files: Mapping[str, Path]) -> dict[str, CsvForm]:
    """Return how those of some files that are CSV are to be read, by name."""
    return {name: csv_form(path) for name, path in files.items() if name.endswith(".csv")}


def writes_data_package(
    facts: Mapping[str, Any],
    columns: Mapping[str, Sequence[str]],
    files: Iterable[str],
    forms: Mapping[str, CsvForm] = MappingProxyType({}),
) -> Callable[[Entries], str]:
    """Return what writes the descriptor of a version as JSON, once its other files are there; equal facts, equal text.

    Parameters
    ----------
    facts : mapping
        The manifest's entries; with ``data_set``, ``version`` and ``made_by`` (the task).
    columns : mapping of str to sequence of str
        Columns of each table.
    files : iterable of str
        Names of the files beside the tables.
    forms : mapping of str to CsvForm
        How those that are CSV are to be read.
    """
    sources, files = sources_of(facts), list(files)
    made_of = f"log{'s' * (len(sources) > 1)} {', '.join(source['log']['name'] for source in sources)}"

    def write(entries: Entries) -> str:
        tables = [each for table, names in columns.items() for each in _table_resources(table, names, entries)]
        package = {
            "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
            "name": _identifier(facts["data_set"]),
            "title": facts.get("title") or facts["data_set"],
            "version": facts["version"],
            "description": f"Made of the {made_of} by {facts['made_by']} of swftools; see README.md.",
            "licenses": _licences(sources),
            "licence_of_the_log": facts["licence"],
            "acknowledgement": facts.get("acknowledgement"),
            "citation": facts.get("citation"),
            "sources": [_source(source, alone=len(sources) == 1) for source in sources],
            "resources": [*tables, *(_file_resource(name, entries[name], forms.get(name), columns) for name in files)],
        }
        known = {key: value for key, value in package.items() if value}
        return shown_in_json(json.dumps(known, indent=2, ensure_ascii=False)) + "\n"

    return write


def schema_file(table: str) -> str:
    """Return the name of the file that holds the schema of a table in parts, which all its parts refer to."""
    return f"{table}.schema.json"


def table_schema_text(table: str, columns: Sequence[str]) -> str:
    """Write the schema of a table as JSON."""
    return json.dumps(_schema(table, columns), indent=2, ensure_ascii=False) + "\n"


def _licences(sources: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the terms of the logs as they were stated; where none were, the licence's name is that for none."""
    found = []
    for source in sources:
        terms = str(source["licence"])
        title = terms if len(sources) == 1 else f"{source['log']['name']}: {terms}"
        unstated = {"name": "notspecified"} if terms.startswith("none stated") else {}
        found.append({**unstated, "path": "README.md", "title": title})
    return found


def _source(facts: Mapping[str, Any], *, alone: bool) -> dict[str, Any]:
    """Return a log that the version was made of; with its terms where there are several."""
    source = {"title": facts["log"]["name"], "path": facts.get("source_url"), "sha256": facts["log"]["key"]}
    if not alone:
        source |= {name: facts.get(name) for name in ("licence", "acknowledgement", "citation")}
    return {key: value for key, value in source.items() if value}


def _table_resources(table: str, columns: Sequence[str], entries: Entries) -> Iterator[dict[str, Any]]:
    """Yield what describes a table's file; of one in parts, each: Parquet files one behind the other are none."""
    paths = sorted(name for name in entries if name.startswith(f"{table}/"))
    is_whole = paths == [f"{table}/{PART}"]
    for path in paths:
        yield {
            "name": table if is_whole else _identifier(f"{table}.{label_of(path.rpartition('/')[2])}"),
            "type": "table",
            "path": path,
            "description": TABLE_MEANINGS[table],
            **_PARQUET,
            # Without "bytes": frictionless 5 counts none of a Parquet file, and would find any number wrong.
            "hash": _size_and_hash(entries[path])["hash"],
            "schema": _schema(table, columns) if is_whole else schema_file(table),
        }


def _size_and_hash(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return size and hash of a file as descriptors have them."""
    return {"bytes": entry["bytes"], "hash": f"sha256:{entry['sha256']}"}


def _schema(table: str, columns: Sequence[str]) -> dict[str, Any]:
    """Return the schema of a table: its columns, and which of them tell its rows apart."""
    fields = table_fields(table)
    # Parquet has nulls: there no text, also not the empty one, stands for a value that is missing.
    schema: dict[str, Any] = {"fields": [_field(fields[name]) for name in columns], "missingValues": []}
    key = PRIMARY_KEYS.get(table, ())
    return schema | ({"primaryKey": list(key)} if key and set(key) <= set(columns) else {})


def _field(field: Field) -> dict[str, Any]:
    """Return the description of a column; one without nulls is required, and bounds are constraints."""
    kind = _TYPES[field.type]
    constraints: dict[str, Any] = {"required": True} if field.missing == NEVER else {}
    bounds = {"minimum": field.minimum, "maximum": field.maximum}
    constraints |= {name: int(bound) for name, bound in bounds.items() if bound is not None}
    described: dict[str, Any] = {
        "name": field.name,
        "type": kind,
        "description": field.meaning,
        "unit": field.unit,
        "missing": field.missing,
    }
    if field.is_generated:
        described["origin"] = GENERATED
    if field.missing != NEVER and kind in _NO_VALUE:
        described["missingValues"] = [_NO_VALUE[kind]]
    return described | ({"constraints": constraints} if constraints else {})


def _file_resource(
    name: str, entry: Mapping[str, Any], form: CsvForm | None, columns: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return the description of a file that is no Parquet table; its format by its suffix."""
    stem, _, suffix = name.removesuffix(".gz").rpartition(".")
    described: dict[str, Any] = {"name": _identifier(f"file-{name}"), "path": name, **_size_and_hash(entry)}
    if not stem:
        return described
    described |= {"format": suffix} | ({"compression": "gz"} if name.endswith(".gz") else {})
    if form is None:
        return described
    known = {field: described for table in columns for field, described in table_fields(table).items()}
    return described | {
        "type": "table",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "dialect": {"header": True} | (_COMMENTED | {"headerRows": [form.comments + 1]} if form.comments else {}),
        "schema": {"fields": [_csv_field(column, known.get(column)) for column in form.columns]},
    }


def _csv_field(name: str, field: Field | None) -> dict[str, Any]:
    """Return the description of a column of a CSV file; of one that no table of the version has, its name alone."""
    if field is None:
        return {"name": name, "type": "any"}
    return {"name": name, "type": _TYPES[field.type], "description": field.meaning, "unit": field.unit}


def _identifier(name: str) -> str:
    """Return a name as Data Packages have them: small letters, digits and . _ -."""
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower())
