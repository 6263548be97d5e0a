# SPDX-License-Identifier: BSD-3-Clause
"""The catalogue of what is published: ``catalog.yaml`` on the data root, for people and for intake 2.

Every table of every version is the entry ``<data set>@<version>.<table>``; ``<data set>.<table>`` is the
table of the latest version. Each has an alias that is a Python name, because intake lists aliases only.
intake demands the empty ``user_parameters`` everywhere, and fills in ``{CATALOG_DIR}`` itself, so that the
catalogue works from any working directory and after the data root has moved.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from swftools.output.shown_text import can_be_shown

_HEADING = "# Generated from the published versions and written anew with each; edits are lost.\n"
_LONGEST_KEY = 100
"""Characters of a key that both dumpers of YAML write alike; for one of more than 120 they put a question mark."""
_QUICK_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""libyaml's, where PyYAML has it: it takes a third of the time, and writes plain text as the other does."""
_COPIED = ("licence", "acknowledgement", "citation", "source_url")


@dataclass(frozen=True)
class CatalogVersion:
    """One published version: where it stands, whether `latest` names it, and what the catalogue says of it."""

    data_set: str
    version: str
    is_latest: bool
    blocks: Mapping[str, Sequence[str]]
    """As ``blocks_of`` returns them."""


def blocks_of(data_set: str, version: str, manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the lines that the catalogue has for each table of a version: source, entry, and the entry's alias."""
    blocks = {}
    for table in manifest["tables"]:
        source, name = f"{data_set}/{version}/{table}", f"{data_set}@{version}.{table}"
        blocks[table] = [
            _block("data", source, _source(data_set, version, table, manifest)),
            _block("entries", name, _entry(source)),
            _block("aliases", _alias(name), name),
        ]
    return blocks


def catalog_text(versions: Iterable[CatalogVersion]) -> str:
    """Write the catalogue of some published versions; equal versions give equal text.

    It is put together from the lines of each version: the text that dumping it as a whole would give, in a fiftieth of
    the time.

    Parameters
    ----------
    versions : iterable of CatalogVersion
        All that the data root holds, in any order.

    Returns
    -------
    str
        YAML that ``intake.open_catalog`` opens as it is.
    """
    data: dict[str, str] = {}
    entries: dict[str, str] = {}
    aliases: dict[str, str] = {}
    for each in versions:
        for table, (source, entry, alias) in each.blocks.items():
            path, name = f"{each.data_set}/{each.version}/{table}", f"{each.data_set}@{each.version}.{table}"
            data[path], entries[name], aliases[name] = source, entry, alias
            if each.is_latest:
                name = f"{each.data_set}.{table}"
                entries[name] = _block("entries", name, _entry(path))
                aliases[name] = _block("aliases", _alias(name), name)
    alias_of = {name: _alias(name) for name in entries}
    shared = Counter(alias_of.values())
    sections = {
        # A name for each entry, without those that two entries would share.
        "aliases": {alias: aliases[name] for name, alias in alias_of.items() if shared[alias] == 1},
        "data": data,
        "entries": entries,
    }
    text = "".join(_section(name, blocks) for name, blocks in sections.items())
    description = "Published job traces; <data set>.<table> is the latest version."
    return _HEADING + text + _dump({"metadata": {"description": description}, "user_parameters": {}, "version": 2})


def _section(name: str, blocks: Mapping[str, str]) -> str:
    """Return a mapping of the catalogue; its keys in the order in which YAML writes them."""
    return f"{name}:\n" + "".join(blocks[key] for key in sorted(blocks)) if blocks else _dump({name: {}})


def _block(section: str, key: str, value: Any) -> str:
    """Return the lines of a key in a section."""
    return _dump({section: {key: value}}).removeprefix(f"{section}:\n")


def _dump(content: Mapping[str, Any]) -> str:
    """Write YAML; the keys are sorted. The text does not tell whether there was libyaml."""
    dumper = _QUICK_DUMPER if _is_plain(content) else yaml.SafeDumper
    text = str(yaml.dump(content, Dumper=dumper, allow_unicode=True, sort_keys=True, width=120))
    if can_be_shown(text):
        return text
    return str(yaml.safe_dump(content, allow_unicode=False, sort_keys=True, width=120))


def _is_plain(value: Any) -> bool:
    """Whether all dumpers of YAML write a value alike: it has keys of usual length, and ASCII without line ends."""
    if isinstance(value, Mapping):
        return all(0 < len(key) <= _LONGEST_KEY and _is_plain(key) and _is_plain(each) for key, each in value.items())
    return not isinstance(value, str) or (value.isascii() and value.isprintable())


def _source(data_set: str, version: str, table: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a table's files are and what a reader must know about them."""
    described = manifest["tables"][table]
    files = manifest["files"]
    metadata = {
        "data_set": data_set,
        "version": version,
        "table": table,
        "rows": described["rows"],
        "units": {name: column["unit"] for name, column in described["columns"].items()},
        "sha256": {name: file["sha256"] for name, file in files.items() if name.startswith(f"{table}/")},
        **{key: manifest.get(key) for key in _COPIED},
    }
    return {
        "datatype": "intake.readers.datatypes:Parquet",
        "kwargs": {"url": f"{{CATALOG_DIR}}/{data_set}/{version}/{table}"},
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


def _alias(name: str) -> str:
    """Return the Python name of an entry."""
    return re.sub(r"^(?=\d)", "_", re.sub(r"\W", "_", name))
