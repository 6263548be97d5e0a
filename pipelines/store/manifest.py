# SPDX-License-Identifier: BSD-3-Clause
"""What a published version says of itself: ``manifest.json``, a function of the content alone."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from swftools.errors import ParameterError
from swftools.fields.definition import GENERATED, Field
from swftools.fields.dictionary import table_fields
from swftools.output.shown_text import shown_in_json


def describe_table(data: pa.Table, table: str) -> dict[str, Any]:
    """Return the manifest's entry of a table: rows, and the type, meaning and statistics of each column.

    Parameters
    ----------
    data : pyarrow.Table
        A table that ``swftools.tables.check_table`` accepts, one chunk a column.
    table : str
        Name of the table in the column dictionary.
    """
    fields = table_fields(table)
    columns = {name: _describe_column(data[name], fields[name]) for name in data.column_names}
    return {"rows": data.num_rows, "columns": columns}


def _describe_column(column: pa.ChunkedArray, field: Field) -> dict[str, Any]:
    """Return type, meaning and statistics of a column; text and lists have no extremes."""
    described = column_entry(field, column.null_count)
    if pa.types.is_string(field.type) or pa.types.is_nested(field.type):
        return described
    described |= {name: json_value(value) for name, value in pc.min_max(column).as_py().items()}
    if pa.types.is_integer(field.type) or pa.types.is_floating(field.type):
        described["mean"] = json_value(pc.mean(column).as_py())
    return described


def version_of_table(manifest: Mapping[str, Any], table: str) -> int:
    """Return the schema version by which a manifest's table was made: its own, where it has not that of the manifest.

    Manifests that were written while all tables had one version have no others.
    """
    version: int = manifest["tables"].get(table, {}).get("schema_version", manifest["schema_version"])
    return version


def column_entry(field: Field, nulls: int) -> dict[str, Any]:
    """Return what is said of every column."""
    return {
        "type": str(field.type),
        "unit": field.unit,
        "meaning": field.meaning,
        "missing": field.missing,
        "nulls": nulls,
        **({"origin": GENERATED} if field.is_generated else {}),
    }


def json_value(value: Any) -> Any:
    """Return a statistic as JSON can hold it; the mean of very large numbers is infinite."""
    if isinstance(value, datetime):
        return value.isoformat()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def describe_file(path: Path) -> dict[str, Any]:
    """Return the manifest's entry of a file: hash and size."""
    with path.open("rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}


def file_metadata(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what each Parquet file of a version says of itself: one that is copied alone must tell where it is from.

    Parameters
    ----------
    record : mapping
        The manifest. Of its entries ``data_set``, ``version``, ``licence``, ``acknowledgement``, and name and sha256
        of ``log``, those that are known are taken.
    """
    log = record.get("log")
    origin = {"log": log.get("name"), "log_sha256": log.get("sha256")} if isinstance(log, Mapping) else {}
    own = {key: record.get(key) for key in ("data_set", "version", "licence", "acknowledgement")}
    return {key: value for key, value in {**own, **origin}.items() if isinstance(value, str) and value}


_MEASURED = re.compile(r'(?<="measured": )\[(?:[^"\[\]]|"[^"\\]*"|\[[^\]]*\])*\]')
"""What is measured of a part of a table: nobody reads it, and there are many."""


def _in_one_line(found: re.Match[str]) -> str:
    """Return a list without the blanks that are for people."""
    return json.dumps(json.loads(found[0]), ensure_ascii=False, separators=(",", ":"))


def manifest_bytes(record: Mapping[str, Any], what: str) -> bytes:
    """Write a manifest as JSON; equal records give equal bytes.

    Parameters
    ----------
    record : mapping
        The whole manifest.
    what : str
        Whose it is, for the message.

    Raises
    ------
    ParameterError
        It holds something that JSON cannot, such as NaN.
    """
    try:
        text = json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
        return (shown_in_json(_MEASURED.sub(_in_one_line, text)) + "\n").encode()
    except (TypeError, ValueError) as error:
        raise ParameterError(f"manifest of {what}: {error}; give it text, finite numbers, lists and mappings") from None
