# SPDX-License-Identifier: BSD-3-Clause
"""What is generated from the column dictionary: ``schemas/*.schema.json``, and the site's page of all columns.

``python -m swftools.fields.generate`` writes the schemas into a checkout; ``--check`` only compares, and exits with 1
where a file differs. Nobody edits these files by hand. A table whose columns are no longer those of its schema gets
the next schema version in ``tables.csv`` first.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

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
from swftools.fields.dictionary import (
    COMMON_VERSION,
    RAISED_VERSIONS,
    TABLE_MEANINGS,
    TABLES,
    required_columns,
    table_fields,
    table_version,
)

_TYPES = {
    INT64: "integer",
    FLOAT64: "float",
    STRING: "text",
    BOOL: "boolean",
    TIMESTAMP: "time",
    UTILITY: "list of (time, value)",
    INTEGERS: "list of integers",
    RANGES: "list of integers (int32)",
}
_JSON_TYPES: dict[pa.DataType, dict[str, Any]] = {
    INT64: {"type": "integer"},
    FLOAT64: {"type": "number"},
    STRING: {"type": "string"},
    BOOL: {"type": "boolean"},
    TIMESTAMP: {"type": "string", "format": "date-time"},
    UTILITY: {
        "type": "array",
        "minItems": 2,
        "items": {
            "type": "object",
            "properties": {"time": {"type": "number", "minimum": 0}, "value": {"type": "number", "minimum": 0}},
            "required": ["time", "value"],
            "additionalProperties": False,
        },
    },
    INTEGERS: {"type": "array", "minItems": 1, "items": {"type": "integer"}},
    RANGES: {"type": "array", "minItems": 2, "items": {"type": "integer", "minimum": 0}},
}
_HEADINGS = ("column", "type", "unit", "meaning", "missing", "SWF field", "stage", "known")


def json_schema(table: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one row of a table, as published in ``schemas/``.

    Units, missing-value rules, SWF positions, the stage that adds a column, when it is known, that it is not stable
    under growth, and that it is generated, are annotations that begin with ``x-``. Columns that every file of the table
    has are required.

    Raises
    ------
    SchemaError
        The dictionary has no table of that name.
    """
    properties: dict[str, Any] = {}
    for field in table_fields(table).values():
        kind = dict(_JSON_TYPES[field.type])
        if field.missing != NEVER:
            kind["type"] = [kind["type"], "null"]
        kind |= {"description": field.meaning, "x-unit": field.unit, "x-missing": field.missing}
        kind |= {"x-arrow-type": str(field.type), "x-stage": field.stage, "x-known": field.known}
        if field.swf_position is not None:
            kind["x-swf-position"] = field.swf_position
        if not field.stable_under_growth:
            kind["x-stable-under-growth"] = False
        if field.is_generated:
            kind["x-origin"] = GENERATED
        bounds = {"minimum": field.minimum, "maximum": field.maximum}
        kind |= {name: int(bound) for name, bound in bounds.items() if bound is not None}
        properties[field.name] = kind
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"swftools table {table}, one row",
        "description": TABLE_MEANINGS[table],
        "x-schema-version": table_version(table),
        "type": "object",
        "properties": properties,
        "required": required_columns(table),
        "additionalProperties": False,
    }


def generated_files() -> dict[str, str]:
    """Return the text of every generated file by its path below the root of a checkout.

    Examples
    --------
    >>> sorted(generated_files())[:2]
    ['schemas/arrivals.schema.json', 'schemas/candidate_advice.schema.json']
    """
    return {
        f"schemas/{table}.schema.json": json.dumps(json_schema(table), indent=2, ensure_ascii=False) + "\n"
        for table in TABLES
    }


def data_dictionary() -> str:
    """Return the data dictionary as Markdown: one table for each table, one row a column."""
    sections = [
        "# Data dictionary\n\n"
        "The meaning, type, unit and bounds of every column of every published table.\n\n"
        "* **missing**: what a null means. A missing value is null in Parquet and -1 in SWF text.\n"
        "* **stage**: what adds the column: *read*, *clean* or an augmentation. *Whole trace* marks a column "
        "that is fitted to all jobs of a trace, so that old jobs get other values when the trace grows; in a "
        "history it is drawn from parameters that were fixed before. *Generated, not logged* marks what a model "
        "or a survey made up: it is no property of the logged jobs.\n"
        "* **known**: when the value of a job is known: at its *submission*, its *start*, its *end*, or "
        "*never*, if we add it or it follows from other jobs of the log. A predictor sees only what is known "
        "at the submission of a job ([predictors](../predictors.md#what-it-sees)).\n"
        "* **type**: a type of Parquet. Integer is int64, float is float64, time is milliseconds since 1970 "
        "in UTC, and a utility function is a list of structs (time, value).\n\n"
        "For programs, `schemas/<table>.schema.json` has the same (JSON Schema of one row). "
        f"Each table has a schema version of its own: {COMMON_VERSION} where the table does not say another.\n"
    ]
    for table, fields in TABLES.items():
        optional = ""
        if table in {"jobs", "schedule"}:
            optional = " Only the 18 SWF fields are always there."
        elif lacking := [f"`{field.name}`" for field in fields if field.optional]:
            optional = f" Not every file has {', '.join(lacking)}."
        if table_version(table) != COMMON_VERSION:
            optional += f" Schema version {table_version(table)}."
        rows = [_HEADINGS, tuple("---" for _ in _HEADINGS), *map(_row, fields)]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        sections.append(f"## {table}\n\n{TABLE_MEANINGS[table]}{optional}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(sections)


def _row(field: Field) -> tuple[str, ...]:
    """Return the cells of a column."""
    position = "" if field.swf_position is None else str(field.swf_position)
    stage = field.stage if field.stable_under_growth else f"{field.stage}, whole trace"
    stage += f"; {GENERATED}" if field.is_generated else ""
    return (
        f"`{field.name}`",
        _TYPES[field.type],
        field.unit,
        field.meaning,
        field.missing,
        position,
        stage,
        field.known,
    )


def stale_files(root: Path) -> list[str]:
    """Return the generated files below a root that differ from the column dictionary, or should not be there."""
    files = generated_files()
    surplus = {path.relative_to(root).as_posix() for path in root.glob("schemas/*.schema.json")} - files.keys()
    differing = {name for name, text in files.items() if not _is_text(root / name, text)}
    return sorted(differing | surplus)


def _is_text(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def write_files(root: Path) -> None:
    """Write the generated files below a root, and remove schemas of tables that are no more."""
    files = generated_files()
    for name in stale_files(root):
        path = root / name
        if name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name].encode())
        else:
            path.unlink()


def changed_tables(root: Path) -> list[str]:
    """Return the tables below a root with other columns than their schema of that version; wording is left aside.

    Columns that only some files have are no change: files without them are what they were.
    """
    return [table for table in TABLES if _is_changed(table, root / f"schemas/{table}.schema.json")]


def _is_changed(table: str, path: Path) -> bool:
    if not path.is_file():
        return False
    before, now = json.loads(path.read_bytes()), json_schema(table)
    if before["x-schema-version"] != now["x-schema-version"]:
        return False
    optional = {field.name for field in TABLES[table] if field.optional}
    return _shape(before, optional) != _shape(now, optional)


def _shape(schema: dict[str, Any], optional: set[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return what a schema says of the columns that every file has: all but wording, and when and by what they come."""
    wording = {"description", "x-stage", "x-known", "x-stable-under-growth", "x-origin"}
    return [
        (name, {key: value for key, value in kind.items() if key not in wording})
        for name, kind in schema["properties"].items()
        if name not in optional
    ]


def raise_versions(root: Path) -> list[str]:
    """Raise the versions of the tables that changed, in ``tables.csv`` below a root and here; return which."""
    path = root / "swftools" / "fields" / "tables.csv"
    changed = changed_tables(root) if path.is_file() else []
    for table in changed:
        version = table_version(table) + 1
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(rf"^{table},\d+,", f"{table},{version},", text, flags=re.MULTILINE), encoding="utf-8")
        RAISED_VERSIONS[table] = version
    return changed


def main(arguments: list[str] | None = None) -> int:
    """Write or check the generated files of a checkout; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m swftools.fields.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if a file differs")
    parser.add_argument("--root", type=Path, default=Path(), help="root of the checkout; default: where you are")
    options = parser.parse_args(arguments)
    for table in [] if options.check else raise_versions(options.root):
        sys.stdout.write(f"{table} has other columns: its version in tables.csv is {table_version(table)} now\n")
    stale = stale_files(options.root)
    if not options.check:
        write_files(options.root)
    for name in stale:
        verb = "differs from swftools/fields; run python -m swftools.fields.generate" if options.check else "written"
        sys.stdout.write(f"{name}: {verb}\n")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
