# SPDX-License-Identifier: BSD-3-Clause
"""Reading a manifest: everything that the store relies on is checked, whatever else it says is left as it is."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import from_json

from pipelines.names import LONGEST_OF_FILES, PART, is_name


def _file_name(name: str) -> str:
    if not all(is_name(part, LONGEST_OF_FILES) for part in name.split("/")):
        raise ValueError("is not the path of a file in a version")
    return name


def _table_name(name: str) -> str:
    if not is_name(name):
        raise ValueError("is not the name of a table")
    return name


Count = Annotated[int, Field(ge=0)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Part(BaseModel):
    """A part of a manifest; types are as they stand, and further keys are no matter of the store."""

    model_config = ConfigDict(strict=True, extra="allow")


class _File(_Part):
    sha256: Sha256
    bytes: Count


class _Column(_Part):
    type: str
    unit: str
    meaning: str
    missing: str
    nulls: Count


class _TablePart(_Part):
    rows: Count


class _Table(_Part):
    rows: Count
    columns: dict[str, _Column]
    schema_version: Count = 0
    parts: dict[Annotated[str, AfterValidator(_file_name)], _TablePart] | None = None


class _Manifest(_Part):
    data_set: str
    version: str
    schema_version: Count
    tables: dict[Annotated[str, AfterValidator(_table_name)], _Table]
    files: dict[Annotated[str, AfterValidator(_file_name)], _File]
    licence: str | None = None
    acknowledgement: str | None = None
    citation: str | None = None
    source_url: str | None = None


def parse_manifest(content: bytes, data_set: str, version: str) -> dict[str, Any]:
    """Read a manifest.

    Raises
    ------
    ValueError
        It is damaged, or that of another version; the message is a part of a sentence.
    """
    # Unlike the standard library's, this reader refuses NaN and bounds how deep it goes.
    manifest = from_json(content, allow_inf_nan=False)
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(part for part in map(str, first["loc"]) if part != "[key]")
        raise ValueError(f"{where or 'manifest'}: {first['msg']}") from None
    for table, described in manifest["tables"].items():
        for name in described.get("parts", {PART: None}):
            if f"{table}/{name}" not in manifest["files"]:
                raise ValueError(f"no file is {table}/{name}, of table {table!r}")
    owner = f"{manifest['data_set']}/{manifest['version']}"
    if owner != f"{data_set}/{version}":
        raise ValueError(f"that of {owner}")
    found: dict[str, Any] = manifest
    return found
