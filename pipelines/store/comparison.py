# SPDX-License-Identifier: BSD-3-Clause
"""What changed between two versions of a data set, by their manifests and their tables of results.

Flow: two manifests, and where both versions have a table of ``compared_tables`` that table of either, become one
mapping that JSON can hold; ``difference_text`` puts it in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from pipelines.names import PART, PENDING
from pipelines.store.compare_facts import compare_facts
from pipelines.store.compare_metrics import compare_metrics
from pipelines.store.compared_tables import COMPARED_TABLES, ComparedTable
from pipelines.store.manifest import version_of_table
from pipelines.store.published import PublishedData
from swftools.fields.dictionary import table_fields

_STATISTICS = ("nulls", "min", "max", "mean")
_PAGES = ("README.md", "croissant.json", "datapackage.json")


def compare_versions(root: PublishedData, data_set: str, a: str, b: str) -> dict[str, Any]:
    """Compare two versions of a data set.

    Parameters
    ----------
    root : PublishedData
        Where they are published.
    data_set : str
        Name of the data set.
    a, b : str
        The versions: names, their beginnings, tags or ``latest``. Changes are described from `a` to `b`.

    Returns
    -------
    dict
        ``data_set``; ``a`` and ``b``, each with ``version``, ``published_at``, ``is_latest`` and ``tags``;
        ``is_different``; ``facts`` as ``compare_facts`` returns them; ``metrics``, by table as ``compare_metrics``
        returns them, or ``problem``, why the table could not be compared; ``tables``, by name ``change`` ("added",
        "gone" or "changed"), ``rows`` of each and, if changed, ``columns``: ``added``, ``gone``, ``redefined`` and
        ``moved`` (by how far); ``files``: ``added``, ``gone`` and ``changed`` with their bytes, and how many are
        ``equal``. Files that always differ, because they contain the version's name, are in ``tells_version``.

    Raises
    ------
    VersionNotFoundError
        There is no such data set or version.
    StorageError, SchemaError
        A manifest, or a table of results, is damaged.
    """
    manifests = [root.manifest(data_set, version) for version in (a, b)]
    one, other = manifests
    metrics = {
        table: _metrics(root, data_set, manifests, table, how)
        for table, how in COMPARED_TABLES.items()
        if one["version"] != other["version"] and table in one["tables"] and table in other["tables"]
    }
    found: dict[str, Any] = {
        "data_set": data_set,
        "a": _about(root, data_set, one["version"]),
        "b": _about(root, data_set, other["version"]),
        "facts": compare_facts(one, other),
        "metrics": metrics,
        "tables": _tables(one["tables"], other["tables"]),
        "files": _files(one, other),
    }
    return found | {"is_different": _is_different(found)}


def _about(root: PublishedData, data_set: str, version: str) -> dict[str, Any]:
    """Return when a version was published, and by which names it is known."""
    return {
        "version": version,
        "published_at": root.published_at(data_set, version).isoformat(timespec="seconds"),
        "is_latest": version == root.latest(data_set),
        "tags": [tag.name for tag in root.tags(data_set) if tag.version == version],
    }


def _metrics(
    root: PublishedData, data_set: str, manifests: Iterable[Mapping[str, Any]], table: str, how: ComparedTable
) -> dict[str, Any]:
    """Compare a table of results; one that was made under another schema may not be comparable."""
    values = [name for value in how.values for name in (value.column, value.spread, value.runs)]
    needed = {name for name in (*how.keys, *values, how.over) if name}
    manifests = list(manifests)
    for manifest in manifests:
        schema = version_of_table(manifest, table)
        columns = manifest["tables"][table]["columns"].keys()
        if odd := sorted((needed - columns) | (columns - table_fields(table).keys())):
            return {
                "problem": f"version {manifest['version']} was made under schema version {schema}, "
                f"in which column {odd[0]} is another or none"
            }
    a, b = (root.read_table(data_set, table, manifest["version"]) for manifest in manifests)
    return compare_metrics(a, b, how)


def _tables(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    """Return what changed in the tables that manifests describe."""
    found: dict[str, Any] = {}
    for name in sorted(a.keys() | b.keys()):
        one, other = a.get(name), b.get(name)
        rows = {"a": one and one["rows"], "b": other and other["rows"]}
        if one is None or other is None:
            found[name] = {"change": "added" if one is None else "gone", "rows": rows}
            continue
        columns = _columns(one, other)
        if one["rows"] != other["rows"] or any(columns.values()):
            found[name] = {"change": "changed", "rows": rows, "columns": columns}
    return found


def _columns(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return which columns of a table are new, gone or redefined, and whose statistics moved, the furthest first."""
    a, b = one["columns"], other["columns"]
    redefined, moved = [], []
    for name in (name for name in b if name in a):
        changed = {key: _pair(a[name], b[name], key) for key in sorted(a[name].keys() | b[name].keys())}
        changed = {key: pair for key, pair in changed.items() if pair["a"] != pair["b"]}
        definition = {key: pair for key, pair in changed.items() if key not in _STATISTICS}
        statistics = {key: changed[key] for key in _STATISTICS if key in changed}
        if definition:
            redefined.append({"column": name, **definition})
        if statistics:
            nulls = abs(_share(a[name]["nulls"], one["rows"]) - _share(b[name]["nulls"], other["rows"]))
            moved.append({"column": name, "by": max(nulls, _distance(a[name], b[name])), **statistics})
    return {
        "added": [name for name in b if name not in a],
        "gone": [name for name in a if name not in b],
        "redefined": redefined,
        "moved": sorted(moved, key=lambda change: -change["by"]),
    }


def _pair(a: Mapping[str, Any], b: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {"a": a.get(key), "b": b.get(key)}


def _share(part: int, rows: int) -> float:
    return part / rows if rows else 0.0


def _distance(a: Mapping[str, Any], b: Mapping[str, Any]) -> float:
    """Return how far the mean of a column moved, as a share of the column's range; 0 for one that is not a number."""
    found = [column.get(key) for column in (a, b) for key in ("min", "max", "mean")]
    numbers = [float(number) for number in found if isinstance(number, int | float)]
    if len(numbers) < len(found):
        return 0.0
    low_a, high_a, mean_a, low_b, high_b, mean_b = numbers
    width = max(high_a, high_b) - min(low_a, low_b)
    share = abs(mean_b - mean_a) / width if width > 0 else 0.0
    return share if math.isfinite(share) else 0.0


def _files(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    """Return which files of a version are new, gone, changed or equal."""
    one, other = ({name: file for name, file in m["files"].items() if name != PENDING} for m in (a, b))
    changed = [name for name in sorted(one.keys() & other.keys()) if one[name]["sha256"] != other[name]["sha256"]]
    return {
        "added": [{"name": name, "bytes": other[name]["bytes"]} for name in sorted(other.keys() - one.keys())],
        "gone": [{"name": name, "bytes": one[name]["bytes"]} for name in sorted(one.keys() - other.keys())],
        "changed": [
            {
                "name": name,
                "bytes": {"a": one[name]["bytes"], "b": other[name]["bytes"]},
                "tells_version": _tells_version(name, a) and _tells_version(name, b),
            }
            for name in changed
        ],
        "equal": len(one.keys() & other.keys()) - len(changed),
    }


def _tells_version(name: str, manifest: Mapping[str, Any]) -> bool:
    """Return whether a file has its version's name in it: the pages, and tables that are one file."""
    table, _, part = name.partition("/")
    described = manifest["tables"].get(table)
    is_whole_table = part == PART and described is not None and "parts" not in described
    return name in _PAGES or is_whole_table


def _is_different(found: Mapping[str, Any]) -> bool:
    """Return whether versions differ by more than their names."""
    files = found["files"]
    names_are_as_long = len(found["a"]["version"]) == len(found["b"]["version"])
    changed = [
        file
        for file in files["changed"]
        if not file["tells_version"] or (names_are_as_long and file["bytes"]["a"] != file["bytes"]["b"])
    ]
    metrics = [each for each in found["metrics"].values() if any(each.get(key) for key in ("rows", "only_a", "only_b"))]
    return any((found["facts"], found["tables"], metrics, files["added"], files["gone"], changed))
