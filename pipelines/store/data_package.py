"""datapackage.json of a version: its tables and files as a Frictionless Data Package, from the column dictionary.

References
----------
Frictionless Data, "Data Package" and "Table Schema", version 2 (datapackage.org).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from pipelines.names import PART
from pipelines.store.readme import sources_of
from swftools.fields.definition import BOOL, FLOAT64, INT64, INTEGERS, NEVER, STRING, TIMESTAMP, UTILITY, Field
from swftools.fields.dictionary import TABLE_MEANINGS, table_fields

_TYPES: dict[pa.DataType, str] = {
    INT64: "integer",
    FLOAT64: "number",
    STRING: "string",
    BOOL: "boolean",
    TIMESTAMP: "datetime",
    UTILITY: "array",
    INTEGERS: "array",
}
_PARQUET = {"format": "parquet", "mediatype": "application/vnd.apache.parquet"}


def data_package_text(
    facts: Mapping[str, Any],
    columns: Mapping[str, Sequence[str]],
    files: Iterable[str],
    parts: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> str:
    """Write the descriptor of a version as JSON; equal facts give equal text.

    Parameters
    ----------
    facts : mapping
        The manifest's entries; with ``data_set``, ``version`` and ``made_by`` (the task).
    columns : mapping of str to sequence of str
        Columns of each table.
    files : iterable of str
        Names of the files beside the tables.
    parts : mapping of str to sequence of str
        The files of each table that is in parts.
    """
    sources = sources_of(facts)
    made_of = f"log{'s' * (len(sources) > 1)} {', '.join(source['log']['name'] for source in sources)}"
    tables = [_table_resource(table, names, parts.get(table, f"{table}/{PART}")) for table, names in columns.items()]
    package = {
        "name": _identifier(facts["data_set"]),
        "title": facts.get("title") or facts["data_set"],
        "version": facts["version"],
        "description": f"Made of the {made_of} by {facts['made_by']} of swftools; see README.md.",
        "licence_of_the_log": facts["licence"],
        "acknowledgement": facts.get("acknowledgement"),
        "citation": facts.get("citation"),
        "sources": [_source(source, alone=len(sources) == 1) for source in sources],
        "resources": [*tables, *map(_file_resource, files)],
    }
    known = {key: value for key, value in package.items() if value}
    return json.dumps(known, indent=2, ensure_ascii=False) + "\n"


def _source(facts: Mapping[str, Any], *, alone: bool) -> dict[str, Any]:
    """Return a log that the version was made of; with its terms where there are several."""
    source = {"title": facts["log"]["name"], "path": facts.get("source_url"), "sha256": facts["log"]["key"]}
    if not alone:
        source |= {name: facts.get(name) for name in ("licence", "acknowledgement", "citation")}
    return {key: value for key, value in source.items() if value}


def _table_resource(table: str, columns: Sequence[str], path: str | Sequence[str]) -> dict[str, Any]:
    """Return the description of a table, which is one file or several."""
    fields = table_fields(table)
    return {
        "name": table,
        "type": "table",
        "path": path,
        "description": TABLE_MEANINGS[table],
        **_PARQUET,
        "schema": {"fields": [_field(fields[name]) for name in columns]},
    }


def _field(field: Field) -> dict[str, Any]:
    """Return the description of a column; one without nulls is required, and bounds are constraints."""
    constraints: dict[str, Any] = {"required": True} if field.missing == NEVER else {}
    bounds = {"minimum": field.minimum, "maximum": field.maximum}
    constraints |= {name: int(bound) for name, bound in bounds.items() if bound is not None}
    described: dict[str, Any] = {
        "name": field.name,
        "type": _TYPES[field.type],
        "description": field.meaning,
        "unit": field.unit,
        "missing": field.missing,
    }
    return described | ({"constraints": constraints} if constraints else {})


def _file_resource(name: str) -> dict[str, Any]:
    """Return the description of a file that is no table; its format by its suffix."""
    stem, _, suffix = name.removesuffix(".gz").rpartition(".")
    described = {"name": _identifier(f"file-{name}"), "path": name, "format": suffix}
    return described | ({"compression": "gz"} if name.endswith(".gz") else {}) if stem else described


def _identifier(name: str) -> str:
    """Return a name as Data Packages have them: small letters, digits and . _ -."""
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower())
