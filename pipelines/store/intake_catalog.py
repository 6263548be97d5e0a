"""The catalogue of what is published: ``catalog.yaml`` on the data root, for people and for intake 2.

Every table of every version is the entry ``<data set>@<version>.<table>``; ``<data set>.<table>`` is the
table of the latest version. Each has an alias that is a Python name, because intake lists aliases only.
intake demands the empty ``user_parameters`` everywhere, and fills in ``{CATALOG_DIR}`` itself, so that the
catalogue works from any working directory and after the data root has moved.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

_HEADING = "# Generated from the published versions and written anew with each; edits are lost.\n"
_COPIED = ("licence", "acknowledgement", "citation", "source_url")


@dataclass(frozen=True)
class CatalogVersion:
    """One published version: where it stands, whether `latest` names it, and its manifest."""

    data_set: str
    version: str
    is_latest: bool
    manifest: Mapping[str, Any]


def catalog_text(versions: Iterable[CatalogVersion]) -> str:
    """Write the catalogue of some published versions; equal versions give equal text.

    Parameters
    ----------
    versions : iterable of CatalogVersion
        All that the data root holds, in any order.

    Returns
    -------
    str
        YAML that ``intake.open_catalog`` opens as it is.
    """
    data: dict[str, Any] = {}
    entries: dict[str, Any] = {}
    for version in versions:
        for table in version.manifest["tables"]:
            source = f"{version.data_set}/{version.version}/{table}"
            data[source] = _source(version, table)
            entries[f"{version.data_set}@{version.version}.{table}"] = _entry(source)
            if version.is_latest:
                entries[f"{version.data_set}.{table}"] = _entry(source)
    catalog = {
        "version": 2,
        "metadata": {"description": "Published job traces; <data set>.<table> is the latest version."},
        "user_parameters": {},
        "aliases": _aliases(entries),
        "data": data,
        "entries": entries,
    }
    return _HEADING + yaml.safe_dump(catalog, allow_unicode=True, sort_keys=True, width=120)


def _source(version: CatalogVersion, table: str) -> dict[str, Any]:
    """Return where a table's files are and what a reader must know about them."""
    described = version.manifest["tables"][table]
    files = version.manifest["files"]
    metadata = {
        "data_set": version.data_set,
        "version": version.version,
        "table": table,
        "rows": described["rows"],
        "units": {name: column["unit"] for name, column in described["columns"].items()},
        "sha256": {name: file["sha256"] for name, file in files.items() if name.startswith(f"{table}/")},
        **{key: version.manifest.get(key) for key in _COPIED},
    }
    return {
        "datatype": "intake.readers.datatypes:Parquet",
        "kwargs": {"url": f"{{CATALOG_DIR}}/{version.data_set}/{version.version}/{table}"},
        "metadata": metadata,
        "user_parameters": {},
    }


def _entry(source: str) -> dict[str, Any]:
    """Return a reader of a source; intake hands it the source's metadata."""
    return {
        "reader": "intake.readers.readers:PandasParquet",
        "kwargs": {"data": f"{{data({source})}}"},
        "output_instance": "pandas:DataFrame",
        "metadata": {},
        "user_parameters": {},
    }


def _aliases(names: Iterable[str]) -> dict[str, str]:
    """Return a Python name for each entry, leaving out those that two entries would share."""
    safe = {name: re.sub(r"^(?=\d)", "_", re.sub(r"\W", "_", name)) for name in names}
    shared = Counter(safe.values())
    return {alias: name for name, alias in safe.items() if shared[alias] == 1}
