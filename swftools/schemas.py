"""What is generated from the column dictionary: ``schemas/*.schema.json`` and ``docs/data_dictionary.md``.

``python -m swftools.schemas`` writes them into a checkout; ``--check`` only compares, and exits with 1 where a
file differs. Nobody edits these files by hand.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from swftools.fields import (
    BOOL,
    FLOAT64,
    INT64,
    SCHEMA_VERSION,
    STRING,
    TABLE_MEANINGS,
    TABLES,
    TIMESTAMP,
    UTILITY,
    Field,
    json_schema,
    required_columns,
)

_TYPES = {
    INT64: "integer",
    FLOAT64: "float",
    STRING: "text",
    BOOL: "boolean",
    TIMESTAMP: "time",
    UTILITY: "list of (time, value)",
}
_HEADINGS = ("column", "type", "unit", "meaning", "missing", "SWF field", "stage")


def generated_files() -> dict[str, str]:
    """Return the text of every generated file by its path below the root of a checkout.

    Examples
    --------
    >>> sorted(generated_files())[:2]
    ['docs/data_dictionary.md', 'schemas/cleaning_report.schema.json']
    """
    files = {
        f"schemas/{table}.schema.json": json.dumps(json_schema(table), indent=2, ensure_ascii=False) + "\n"
        for table in TABLES
    }
    return {**files, "docs/data_dictionary.md": data_dictionary()}


def data_dictionary() -> str:
    """Return the data dictionary as Markdown: one table for each table, one row a column."""
    sections = [
        "# Data dictionary\n\n"
        "Generated from `swftools/fields.py` by `python -m swftools.schemas`; do not edit. "
        f"Schema version {SCHEMA_VERSION}.\n\n"
        "Missing is null, in SWF text -1. The stage is that which adds the column: *read*, *clean* or an augmentation. "
        "Types are those of Parquet: integer is int64, float is float64, time is milliseconds since 1970 in UTC, "
        "and a utility function is a list of structs (time, value). "
        "The same, for machines: `schemas/<table>.schema.json` (JSON Schema of one row).\n"
    ]
    for table, fields in TABLES.items():
        optional = "" if len(required_columns(table)) == len(fields) else " Only the 18 SWF fields are always there."
        rows = [_HEADINGS, tuple("---" for _ in _HEADINGS), *map(_row, fields)]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        sections.append(f"## {table}\n\n{TABLE_MEANINGS[table]}{optional}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(sections)


def _row(field: Field) -> tuple[str, ...]:
    """Return the cells of a column."""
    position = "" if field.swf_position is None else str(field.swf_position)
    return (f"`{field.name}`", _TYPES[field.type], field.unit, field.meaning, field.missing, position, field.stage)


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


def main(arguments: list[str] | None = None) -> int:
    """Write or check the generated files of a checkout; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m swftools.schemas", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if a file differs")
    parser.add_argument("--root", type=Path, default=Path(), help="root of the checkout; default: where you are")
    options = parser.parse_args(arguments)
    stale = stale_files(options.root)
    if not options.check:
        write_files(options.root)
    for name in stale:
        verb = "differs from swftools/fields.py; run python -m swftools.schemas" if options.check else "written"
        sys.stdout.write(f"{name}: {verb}\n")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
