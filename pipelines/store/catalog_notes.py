# SPDX-License-Identifier: BSD-3-Clause
"""What the catalogue says of each version, kept beside it, so that writing it anew reads no manifest twice.

Every publication writes the whole catalogue, and a data set that grows has hundreds of versions. What the catalogue
says of one follows from its manifest alone. So it is kept with the manifest's fingerprint, and taken from there as long
as the manifest has this fingerprint: a manifest that was damaged, or mended, since then is read again. The notes may
be removed at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from pipelines.names import CATALOG_NOTES
from pipelines.store.intake_catalog import CatalogVersion, blocks_of
from pipelines.store.storage import Storage

Blocks = Mapping[str, Sequence[str]]


class CatalogNotes:
    """The notes of a data root, as they were last written."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._written = storage.read(CATALOG_NOTES) if storage.exists(CATALOG_NOTES) else b""
        self._known = _versions_in(self._written)

    def find(self, data_set: str, version: str, fingerprint: str) -> Blocks | None:
        """Return what the catalogue says of a version whose manifest has a fingerprint, None if it is not known."""
        found = self._known.get(f"{data_set}/{version}")
        return found["blocks"] if found and found["manifest"] == fingerprint else None

    def write(self, versions: Iterable[CatalogVersion], fingerprints: Mapping[tuple[str, str], str]) -> None:
        """Keep what the catalogue says of these versions, and of no other; write nothing if that is known.

        Parameters
        ----------
        versions : iterable of CatalogVersion
            All that the catalogue has.
        fingerprints : mapping of (str, str) to str
            Of the manifest of each, by data set and version.

        Raises
        ------
        StorageError
            They could not be written.
        """
        known = {
            f"{each.data_set}/{each.version}": {
                "manifest": fingerprints[each.data_set, each.version],
                "blocks": each.blocks,
            }
            for each in versions
        }
        text = json.dumps({"form": _form(), "versions": known}, sort_keys=True, ensure_ascii=False).encode()
        content = f"{_checksum(text)}\n".encode() + text + b"\n"
        if content != self._written:
            self._storage.replace(CATALOG_NOTES, content)


def _versions_in(content: bytes) -> dict[str, Any]:
    """Return what notes say by data set and version; nothing if they are damaged, or of another form."""
    checksum, _, text = content.partition(b"\n")
    if checksum.decode(errors="replace") != _checksum(text.removesuffix(b"\n")):
        return {}
    notes = json.loads(text)
    versions: dict[str, Any] = notes["versions"] if notes["form"] == _form() else {}
    return versions


def _checksum(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


@cache
def _form() -> str:
    """Return what stands for the code that makes the catalogue, and PyYAML's: the hash of what it makes of a sample.

    Notes of a code that would write something else are not used; a number to be raised by hand would be forgotten.
    """
    column = {"type": "double", "unit": "s"}
    sample = {
        "tables": {"jobs": {"rows": 3, "columns": {"run_time": column, "y": column | {"unit": "1"}}}},
        "files": {"jobs/part-0.parquet": {"sha256": "0123" * 16}, "x.swf.gz": {"sha256": "4567" * 16}},
        "licence": "none: stated ",
        "citation": "Zoë, 'On \"logs\"'\n" + "and of their many words \u202e" * 8,
    }
    return _checksum(json.dumps(blocks_of("a data set", "0e1", sample)).encode())
