# SPDX-License-Identifier: BSD-3-Clause
"""A version as a folder to be handed to a repository of data: its files, and what each kind of repository reads.

The files are those of the version, byte by byte, and are checked on the way. What is written beside them follows from
the manifest and the time of the version's publication, so that a second folder is equal to the first.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.names import LATEST, MANIFEST
from pipelines.store.bibtex import bibtex_text, references_of_version
from pipelines.store.croissant import CROISSANT, croissant_text
from pipelines.store.data_package import DATA_PACKAGE
from pipelines.store.deposit_files import RO_CRATE, ZENODO, ro_crate_text, zenodo_text
from pipelines.store.manifest import describe_file
from pipelines.store.published import MEND, PublishedData
from pipelines.store.readme import sources_of
from pipelines.store.staging import sync
from pipelines.store.storage import storage_errors
from swftools.errors import ParameterError, StorageError

CHECKSUMS = "checksums.sha256"
"""The name of the file that ``sha256sum --check`` reads."""

CITATION = "CITATION.bib"
"""The name of the file that says what to cite."""

_PIECE = 1 << 20


@dataclass(frozen=True)
class Deposit:
    """A folder that was made: where it is, of which version, and size and hash of its files by name."""

    path: str
    data_set: str
    version: str
    files: Mapping[str, Mapping[str, Any]]


def export_version(
    root: PublishedData, data_set: str, folder: str | os.PathLike[str], version: str = LATEST
) -> Deposit:
    """Write a version into a folder, which appears whole or not at all.

    Parameters
    ----------
    root : PublishedData
        Where it is published.
    data_set, version : str
        Names; the version also by a tag, the beginning of its name, or ``latest``.
    folder : str or path
        Folder to make, in one that exists; it must not exist yet, or be empty.

    Raises
    ------
    ParameterError
        The folder is not empty, or cannot be made there.
    VersionNotFoundError
        There is no such version.
    StorageError
        A file of the version is damaged or gone, or the disk is full; nothing was written.
    """
    manifest = root.manifest(data_set, version)
    place = _checked(folder)
    with storage_errors(f"{place}: nothing was written"), _appearing(place) as made:
        return Deposit(str(place), data_set, str(manifest["version"]), _fill(root, manifest, made))


def _checked(folder: str | os.PathLike[str]) -> Path:
    """Return the path of a folder that can be made; a symbolic link stays one."""
    place = Path(os.path.realpath(Path(folder).expanduser()))
    if place.exists() and not place.is_dir():
        raise ParameterError(f"{place}: is a file; name a folder that is not there")
    if place.is_dir() and any(place.iterdir()):
        raise ParameterError(f"{place}: holds files already; name another folder, or empty it first")
    if not place.parent.is_dir():
        raise ParameterError(f"{place}: there is no folder {place.parent}; make it first, or mend the path")
    return place


@contextmanager
def _appearing(place: Path) -> Iterator[Path]:
    """Give an empty folder that takes a place at once when all is written and on disk; else nothing of it stays."""
    made = place.with_name(f".{uuid.uuid4().hex}.tmp")
    made.mkdir()
    try:
        yield made
        for path in sorted(made.rglob("*"), reverse=True):
            sync(path)
        sync(made)
        # Of a folder that is not empty any more this makes an error, and leaves it as it is.
        made.rename(place)
        sync(place.parent)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _fill(root: PublishedData, manifest: Mapping[str, Any], made: Path) -> dict[str, Mapping[str, Any]]:
    """Write all files into a folder; return size and hash of each."""
    data_set, version = str(manifest["data_set"]), str(manifest["version"])
    files: dict[str, Mapping[str, Any]] = {}
    for name, entry in sorted(manifest["files"].items()):
        _copy(root, f"{data_set}/{version}/{name}", made / name, str(entry["sha256"]))
        files[name] = describe_file(made / name)

    def write(name: str, content: bytes) -> None:
        (made / name).write_bytes(content)
        files[name] = describe_file(made / name)

    write(MANIFEST, root.storage.read(f"{data_set}/{version}/{MANIFEST}"))
    if CROISSANT not in files:  # published by a package that did not write it
        told = {name: entry for name, entry in manifest["files"].items() if name != DATA_PACKAGE}
        columns = {table: described["columns"] for table, described in manifest["tables"].items()}
        write(CROISSANT, croissant_text(manifest, columns, told).encode())
    published_at = root.published_at(data_set, version)
    references = references_of_version(manifest, published_at.year)
    write(CITATION, bibtex_text(references, notes_of(manifest)).encode())
    write(ZENODO, zenodo_text(manifest, [reference.text for reference in references[1:]]).encode())
    write(RO_CRATE, ro_crate_text(manifest, files, published_at, references[0].text).encode())
    lines = [f"{files[name]['sha256']}  {name}\n" for name in sorted(files)]
    write(CHECKSUMS, "".join(lines).encode())
    return files


def _copy(root: PublishedData, key: str, path: Path, sha256: str) -> None:
    """Copy a file of a version, unless it is not what the manifest says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with root.storage.open(key) as source, path.open("xb") as copy:
        while piece := source.read(_PIECE):
            digest.update(piece)
            copy.write(piece)
    if digest.hexdigest() != sha256:
        raise StorageError(f"{root.storage.address(key)}: its content is not what the manifest says; {MEND}")


def notes_of(manifest: Mapping[str, Any]) -> list[str]:
    """Return terms and acknowledgements of a version's logs, in words."""
    sources, notes = sources_of(manifest), []
    for source in sources:
        whose = f" of {source['log']['name']}" if "log" in source else ""
        notes.append(f"Licence{whose}: {source.get('licence') or 'none stated'}")
        if source.get("acknowledgement"):
            notes.append(f"Acknowledgement{whose}: {source['acknowledgement']}")
    return notes
