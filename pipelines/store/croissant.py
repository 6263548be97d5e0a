# SPDX-License-Identifier: BSD-3-Clause
"""croissant.json of a version: files, tables and columns as Croissant, which loaders of machine learning read.

It is written last, as datapackage.json is, since it tells the hash of every other file. It follows from the content
alone: it has no date of publication and no address, which a deposit of the version gets (``deposit.py``).

References
----------
MLCommons, "Croissant Format Specification", version 1.1, 2026 (mlcommons.org/croissant/1.1).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pipelines.names import PART
from pipelines.store.bibtex import bibtex_text, references_of_version
from pipelines.store.data_package import Entries
from pipelines.store.manifest import column_entry
from pipelines.store.readme import sources_of
from swftools.fields.dictionary import PRIMARY_KEYS, TABLE_MEANINGS, highest_version, table_fields
from swftools.output.shown_text import shown_in_json

CROISSANT = "croissant.json"
"""The name of the file."""

Columns = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""By table and column what a manifest says of the column: type, unit, meaning, rule of missing values."""

_TYPES = {"int64": "cr:Int64", "double": "cr:Float64", "string": "sc:Text", "bool": "sc:Boolean"}
_LISTS = {"int64": "cr:Int64", "int32": "cr:Int32"}
"""Types of what lists are of."""

_PARQUET = "application/x-parquet"
_MEDIA_TYPES = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": _PARQUET,
}
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context of the specification's appendix: tools compare it word by word."""


def writes_croissant(facts: Mapping[str, Any], columns: Mapping[str, Iterable[str]]) -> Callable[[Entries], str]:
    """Return what writes the description of a version as JSON-LD, once its other files are there.

    Parameters
    ----------
    facts : mapping
        The manifest's entries; with ``data_set``, ``version`` and ``made_by`` (the task).
    columns : mapping of str to iterable of str
        Columns of each table.
    """
    described: dict[str, dict[str, Any]] = {}
    for table, names in columns.items():
        fields = table_fields(table)
        described[table] = {name: column_entry(fields[name], 0) for name in names}
    return lambda entries: croissant_text({"schema_version": highest_version(columns), **facts}, described, entries)


def croissant_text(facts: Mapping[str, Any], columns: Columns, entries: Entries) -> str:
    """Write the description of a version as JSON-LD; equal facts give equal text.

    Parameters
    ----------
    facts : mapping
        A manifest, or its entries with ``data_set``, ``version``, ``made_by`` and ``schema_version``.
    columns : mapping
        By table and column, as a manifest has them; they are told in the order of their names.
    entries : mapping
        Size and hash of each file to be told of, by name.
    """
    sources = sources_of(facts)
    described = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": facts["data_set"],
        "alternateName": facts.get("title"),
        "description": description_of(facts),
        "version": semantic_version(facts),
        "license": [{"@type": "sc:CreativeWork", "name": terms} for terms in licences_of(sources)],
        "creator": [{"@type": "sc:Organization", "name": name} for name in creators_of(sources)],
        "citeAs": bibtex_text(references_of_version(facts, None)).strip(),
        "isBasedOn": [source["source_url"] for source in sources if source.get("source_url")],
        "keywords": list(KEYWORDS),
        "distribution": [*map(_file, sorted(entries), map(entries.__getitem__, sorted(entries)))],
        "recordSet": [],
    }
    for table in sorted(columns):
        parts = sorted(name for name in entries if name.startswith(f"{table}/"))
        if parts != [f"{table}/{PART}"]:
            described["distribution"].append(_file_set(table))
        described["recordSet"].append(_record_set(table, columns[table], parts))
    known = {key: value for key, value in described.items() if value}
    return shown_in_json(json.dumps(known, indent=1, ensure_ascii=False)) + "\n"


KEYWORDS = ("workload trace", "parallel job scheduling", "high-performance computing", "batch logs")
"""What repositories may list any version under."""


def description_of(facts: Mapping[str, Any]) -> str:
    """Return in a sentence what a version is."""
    logs = ", ".join(str(source["log"]["name"]) for source in sources_of(facts) if source.get("log"))
    made_by = f" by the task {facts['made_by']}" if facts.get("made_by") else ""
    return (
        f"{facts.get('title') or facts['data_set']}: version {facts['version']} of the data set {facts['data_set']}, "
        f"made{f' of {logs}' if logs else ''}{made_by} of swftools. README.md tells what became of the jobs."
    )


def semantic_version(facts: Mapping[str, Any]) -> str:
    """Return a version's name as Croissant has versions: the schema's number, and behind a plus sign the name."""
    return f"{facts['schema_version']}.0.0+{re.sub('[^0-9A-Za-z-]', '-', str(facts['version']))}"


def licences_of(sources: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the terms of the logs in words, each once; of several logs with whose they are."""
    if len(sources) == 1:
        return [str(sources[0].get("licence") or "none stated")]
    return [f"{source['log']['name']}: {source.get('licence') or 'none stated'}" for source in sources]


def creators_of(sources: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the sites that logged what a version holds, each once; of one that is not named, that it is not."""
    names = [str(source.get("installation") or "unknown: the log names no site") for source in sources]
    return list(dict.fromkeys(" ".join(name.split()) for name in names))


def media_type(name: str) -> str:
    """Return the media type of a file by its suffix."""
    return _MEDIA_TYPES.get(f".{name.rpartition('.')[2]}", "application/octet-stream")


def _file(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{entry['bytes']} B",
        "encodingFormat": media_type(name),
        "sha256": entry["sha256"],
    }


def _file_set(table: str) -> dict[str, Any]:
    """Return what takes the parts of a table for one."""
    return {
        "@type": "cr:FileSet",
        "@id": f"{table}-parts",
        "name": f"{table}-parts",
        "encodingFormat": _PARQUET,
        "includes": f"{table}/*.parquet",
    }


def _record_set(table: str, columns: Mapping[str, Mapping[str, Any]], parts: Sequence[str]) -> dict[str, Any]:
    """Return what describes a table; columns for which Croissant has no type are named, but are no fields."""
    is_whole = list(parts) == [f"{table}/{PART}"]
    place = {"fileObject": {"@id": parts[0]}} if is_whole else {"fileSet": {"@id": f"{table}-parts"}}
    types = {name: _type_of(str(columns[name]["type"])) for name in sorted(columns)}
    left_out = [name for name, kind in types.items() if not kind]
    key = PRIMARY_KEYS.get(table, ())
    is_keyed = key and set(key) <= set(types) - set(left_out)
    without = f" Without what Croissant has no type for: {', '.join(left_out)}." if left_out else ""
    return {
        "@type": "cr:RecordSet",
        "@id": table,
        "name": table,
        "description": TABLE_MEANINGS.get(table, f"The table {table}.") + without,
        **({"key": [{"@id": f"{table}/{name}"} for name in key]} if is_keyed else {}),
        "field": [_field(table, name, columns[name], kind, place) for name, kind in types.items() if kind],
    }


def _field(
    table: str, name: str, column: Mapping[str, Any], kind: Mapping[str, Any], place: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what describes a column; Croissant has no place but the description for unit and missing values."""
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{name}",
        "name": name,
        "description": f"{column['meaning']}; unit: {column['unit']}; missing: {column['missing']}"
        + (f"; {column['origin']}" if "origin" in column else ""),
        **kind,
        "source": {**place, "extract": {"column": name}},
    }


def _type_of(name: str) -> dict[str, Any]:
    """Return the type of a column by its name in Arrow; nothing where Croissant has none, as for lists of points."""
    if name.startswith("timestamp"):
        return {"dataType": "sc:DateTime"}
    for of_arrow, of_lists in _LISTS.items():
        if name.startswith("list") and name.endswith(f": {of_arrow} not null>"):
            return {"dataType": of_lists, "isArray": True, "arrayShape": "-1"}
    return {"dataType": _TYPES[name]} if name in _TYPES else {}
