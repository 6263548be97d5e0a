# SPDX-License-Identifier: BSD-3-Clause
"""The publishing store: versioned, immutable data sets that any Parquet reader opens by path.

Last station of the flow. Under the data root stand ``<data set>/<version>/<table>/part-0.parquet``, extra
files and ``manifest.json`` of each version, ``<data set>/latest``, a text file that names one version, and
``catalog.yaml``, generated from all of it. The manifest holds no clock time and no path of the machine, so
equal content gives equal bytes wherever and whenever it is published.

A version becomes visible in one step, together with a marker that says: `latest` and the catalogue have yet
to follow. A process killed in between leaves the marker, the version does not count as published, and the
next ``publish`` of it finishes the work.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType, MappingProxyType
from typing import Any

import pyarrow as pa

from pipelines.names import CATALOG, LATEST, MANIFEST, PENDING, REPORT, check_name
from pipelines.store.catalog_notes import Blocks, CatalogNotes
from pipelines.store.intake_catalog import CatalogVersion, blocks_of, catalog_text
from pipelines.store.manifest import describe_file, file_metadata, manifest_bytes
from pipelines.store.parse_manifest import parse_manifest
from pipelines.store.parts import LongTable, PartedTable, Shared, part_name
from pipelines.store.published import MEND, PublishedData, listing
from pipelines.store.storage import storage_errors
from pipelines.store.table_files import write_long, write_part, write_parts
from pipelines.store.tags import tag_key, tags_by_version
from swftools.errors import ParameterError, StorageError, SupersededError, VersionNotFoundError
from swftools.fields.dictionary import highest_version, table_version

progress = logging.getLogger("pipelines")

_OWN_KEYS = ("data_set", "version", "schema_version", "tables", "files")


@dataclass(frozen=True)
class Publication:
    """What became of a publication: the version's path, its name, and whether this call made it."""

    path: str
    version: str
    is_new: bool


class _Shares:
    """Files that a new version shares with others of its data set."""

    def __init__(self, root: DataRoot, data_set: str) -> None:
        self._root, self._data_set = root, data_set
        self._manifests: dict[str, dict[str, Any]] = {}
        self.hashes: dict[str, Any] = {}
        """What the manifest says of each, by its name."""
        self.keys: dict[str, str] = {}
        """The key of each where it stands, by its name."""

    def add(self, name: str, source: Shared) -> dict[str, Any]:
        """Share a file; return the manifest of the version that has it."""
        if source.version not in self._manifests:
            self._manifests[source.version] = self._root.manifest(self._data_set, source.version)
        manifest = self._manifests[source.version]
        self.hashes[name] = manifest["files"][name]
        self.keys[name] = f"{self._data_set}/{source.version}/{name}"
        return manifest


class DataRoot(PublishedData):
    """Where data sets are published: a local directory or ``s3://bucket/prefix``."""

    def publish(
        self,
        data_set: str,
        version: str,
        tables: Mapping[str, pa.Table | PartedTable | LongTable],
        *,
        manifest: Mapping[str, Any],
        files: Mapping[str, Path | Shared] = MappingProxyType({}),
        last: Mapping[str, Callable[[Mapping[str, Mapping[str, Any]]], str]] = MappingProxyType({}),
        after: str | EllipsisType | None = ...,
    ) -> Publication:
        """Publish a version and move `latest` to it; do nothing if it is published already.

        Parameters
        ----------
        data_set, version : str
            Names; the version should be a hash of what determines the content.
        tables : mapping of str to pyarrow.Table, PartedTable or LongTable
            Tables of the column dictionary by name.
        manifest : mapping
            What to record besides the store's own entries. The catalogue shows ``licence``,
            ``acknowledgement``, ``citation`` and ``source_url``.
        files : mapping of str to path or Shared
            More files by published name, copied as they are, or shared with another version.
        last : mapping of str to callable
            Files that describe all others, by published name: each function gets what the manifest says of the others
            and returns the text.
        after : str or None, optional
            The version that `latest` must name, or None for none. So if two runs start from the same version, the
            second one is not published. By default `latest` may name any version.

        Raises
        ------
        UnsafeNameError, SchemaError, ParameterError
            A name, a table or the manifest cannot be published; nothing was.
        SupersededError
            `latest` names another version than ``after``.
        StorageError
            Writing failed. The message says whether the version is published; running again is safe.
        """
        key = self._key(data_set, version)
        for name in tables:
            check_name(name, "table")
        for name in (*files, *last):
            check_name(name, "file")
        if reserved := sorted(set(manifest) & set(_OWN_KEYS)):
            raise ParameterError(f"manifest of {key}: the store itself writes {reserved}; leave them out")
        record = {**manifest, "data_set": data_set, "version": version, "schema_version": highest_version(tables)}
        path = self.storage.address(key)
        with storage_errors(f"{path}: nothing was published"):
            is_new = not self._exists(key) and self._commit(key, record, tables, files, last, after)
        if is_new or self.storage.exists(f"{key}/{PENDING}"):
            self._point(data_set, version, settles_all=is_new, after=after)
        return Publication(path, version, is_new)

    def put_report(self, data_set: str, version: str, page: str) -> str:
        """Put a report beside a version, or in place of the one that is there; return its path.

        It is not part of the version, whose bytes must not depend on matplotlib. It is removed with the version.
        """
        key = self._key(data_set, version) + REPORT
        with storage_errors(f"{self.storage.address(key)}: cannot be written"):
            self.storage.replace(key, page.encode())
        return self.storage.address(key)

    def promote(self, data_set: str, version: str) -> str:
        """Move `latest` to a published version and return it.

        Raises
        ------
        VersionNotFoundError
            There is no such version; lists those there are.
        StorageError
            Its manifest is damaged.
        """
        version = str(self.manifest(data_set, version)["version"])
        self._point(data_set, version, settles_all=True)
        return version

    def restore_latest(self, data_set: str) -> str:
        """Let `latest`, which was lost or damaged, name the version published last, and return that.

        Raises
        ------
        VersionNotFoundError
            Nothing is published under that name.
        """
        self._require(data_set)
        newest = (self.settled_versions(data_set) or list(self._published(data_set)))[-1]
        self._point(data_set, newest, settles_all=True)
        progress.warning(
            "warning: %s was lost or damaged; it names %s again, the version published last",
            self.storage.address(f"{data_set}/{LATEST}"),
            newest,
        )
        return newest

    def rollback(self, data_set: str, version: str | None = None) -> str:
        """Move `latest` back and return the version it now names.

        Parameters
        ----------
        data_set : str
            Name of a data set.
        version : str, optional
            Where to; by default the version published just before the current one.

        Raises
        ------
        VersionNotFoundError
            There is no such version, or none before the current one; damaged versions are skipped.
        """
        return self.promote(data_set, self.previous(data_set) if version is None else version)

    def tag(self, data_set: str, version: str, name: str, *, force: bool = False) -> str:
        """Give a version a name for good, and return the version.

        Parameters
        ----------
        data_set, version : str
            Names; the version also by a tag, the beginning of its name, or ``latest``.
        name : str
            The tag.
        force : bool
            If the tag names another version, or is damaged, let it name this one from now on.

        Raises
        ------
        VersionNotFoundError
            There is no such version; lists those there are.
        ParameterError
            The tag names another version, or is the name of one.
        UnsafeNameError
            It is not a name for a tag.
        StorageError
            The version's manifest, or the tag, is damaged, or the tag could not be written.
        """
        key = tag_key(self.storage, data_set, name)
        version = str(self.manifest(data_set, version)["version"])
        if self.is_there(data_set, name):
            raise ParameterError(f"tag {name!r}: data set {data_set!r} has a version of that name; choose another tag")
        content = f"{version}\n".encode()
        if force:
            self.storage.replace(key, content)
        elif not self.storage.create(key, content) and (named := self._tagged(data_set, name)) != version:
            address = self.storage.address(key)
            if named is None:
                raise StorageError(f"{address}: was deleted meanwhile, or is not a file; look there and run again")
            raise ParameterError(f"{address}: the tag names {named}; choose another, or move it by --force")
        if not self.is_there(data_set, version):
            self.storage.remove(key)
            raise VersionNotFoundError(f"{self.path(data_set, version)}: was removed while it was being tagged")
        return version

    def remove_tag(self, data_set: str, name: str) -> None:
        """Delete a tag, also a damaged one; the version that it names stays.

        Raises
        ------
        VersionNotFoundError
            There is no such tag; lists those there are.
        StorageError
            It could not be deleted.
        """
        key = tag_key(self.storage, data_set, name)
        if not self.storage.exists(key):
            names = [tag.name for tag in self.tags(data_set)]
            raise VersionNotFoundError(
                f"{self.location}: data set {data_set!r} has no tag {name!r}; it has {listing(names)}"
            )
        self.storage.remove(key)

    def withdraw(self, versions: Collection[tuple[str, str]]) -> None:
        """Remove versions for good. They leave the catalogue first, so that it never names a version that is gone.

        Parameters
        ----------
        versions : collection of (str, str)
            Data set and version, by its whole name. It is not a mistake if one is gone already.

        Raises
        ------
        StorageError
            `latest` or a tag names one of them in the meantime, a tag of the data set is damaged, or one could not be
            removed. Those before it are already removed.
        """
        keys = [self._key(data_set, version) for data_set, version in versions]
        with storage_errors(f"{self.location}: not all versions were removed"):
            self._write_catalog(without=versions)
            try:
                for (data_set, version), key in zip(versions, keys, strict=True):
                    if version == self.latest(data_set):
                        raise StorageError(f"{self.storage.address(key)} has become the latest; promote another first")
                    if tags := tags_by_version(self.storage, data_set).get(version):
                        raise StorageError(
                            f"{self.storage.address(key)} has the tag {tags[0]!r}; delete that first by `swftools tag "
                            f"--delete {data_set} {tags[0]}`"
                        )
                    self.storage.withdraw(key)
                    self.storage.remove(key + REPORT)
            finally:
                self._write_catalog()

    def _commit(
        self,
        key: str,
        record: dict[str, Any],
        tables: Mapping[str, pa.Table | PartedTable | LongTable],
        files: Mapping[str, Path | Shared],
        last: Mapping[str, Callable[[Mapping[str, Mapping[str, Any]]], str]],
        after: str | EllipsisType | None,
    ) -> bool:
        """Stage a version and make it visible; return False if another process was faster."""
        data_set, version = key.split("/")
        with self.storage.scratch(data_set, version) as staged:
            shares = _Shares(self, data_set)
            described = {name: self._write_table(name, data, staged, record, shares) for name, data in tables.items()}
            for name, table in described.items():
                if table_version(name) != record["schema_version"]:
                    table["schema_version"] = table_version(name)
            for name, source in files.items():
                if isinstance(source, Shared):
                    shares.add(name, source)
                else:
                    (staged / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(source, staged / name)
            written = sorted(path for path in staged.rglob("*") if path.is_file())
            hashes = {path.relative_to(staged).as_posix(): describe_file(path) for path in written} | shares.hashes
            texts = {name: write(hashes) for name, write in last.items()}
            for name, text in texts.items():
                (staged / name).write_bytes(text.encode())
                hashes[name] = describe_file(staged / name)
            content = manifest_bytes({**record, "tables": described, "files": dict(sorted(hashes.items()))}, key)
            try:
                parse_manifest(content, data_set, version)
            except ValueError as error:
                raise ParameterError(f"manifest of {key}: {error}") from None
            (staged / PENDING).touch()
            (staged / MANIFEST).write_bytes(content)
            if not isinstance(after, EllipsisType) and (latest := self.latest(data_set)) != after:
                raise SupersededError(f"{self.storage.address(key)}: latest is {latest} by now, not {after}; run again")
            is_new = self.storage.commit(staged, key, shares.keys)
        if not is_new and not self._exists(key):
            raise StorageError("the path is taken by something without a manifest; move that away and run again")
        return is_new

    @staticmethod
    def _write_table(
        name: str, data: pa.Table | PartedTable | LongTable, staged: Path, record: Mapping[str, Any], shares: _Shares
    ) -> dict[str, Any]:
        """Write a table, or the parts of it that are new, and return what the manifest says of it."""
        notes = file_metadata(record)
        if isinstance(data, LongTable):
            return write_long(data, name, staged / name, notes)
        if not isinstance(data, PartedTable):
            return write_part(data, name, staged / name, notes)
        del notes["version"]
        described: dict[str, Mapping[str, Any]] = {}
        for label, part in data.parts.items():
            if isinstance(part, Shared):
                file = part_name(label)
                manifest = shares.add(f"{name}/{file}", part)
                described[file] = manifest["tables"][name]["parts"][file]
        return write_parts(data, name, staged / name, notes, described)

    def _point(self, data_set: str, version: str, *, settles_all: bool, after: str | EllipsisType | None = ...) -> None:
        """Move `latest`, write the catalogue, then take away the version's marker, or those of all versions."""
        address = self.storage.address(self._key(data_set, version))
        with storage_errors(f"{address} is published, but `latest` or {CATALOG} may not show it"):
            settled = self._published(data_set) if settles_all else [version]
            pointer, new = self._pointer(data_set), f"{version}\n".encode()
            if isinstance(after, EllipsisType):
                self.storage.replace(pointer, new)
            elif not self._exchange(pointer, after, new):
                raise SupersededError(f"{address}: another run published after {after} first; run again")
            self._write_catalog()
            for marker in [f"{data_set}/{name}/{PENDING}" for name in settled]:
                if self.storage.exists(marker):
                    self.storage.remove(marker)

    def _exchange(self, pointer: str, after: str | None, new: bytes) -> bool:
        """Move `latest` if it names a version, or nothing; return False if it does not."""
        there = self.storage.read(pointer) if self.storage.exists(pointer) else None
        named = None if there is None else there.decode(errors="replace").strip()
        return named == after and self.storage.exchange(pointer, there, new)

    def _write_catalog(self, without: Collection[tuple[str, str]] = ()) -> None:
        """Write the catalogue until it shows what is on the root: another process may publish meanwhile."""
        notes = CatalogNotes(self.storage)
        known: dict[tuple[str, str], tuple[str, Blocks]] = {}
        damage: dict[str, str] = {}
        written = None
        while (found := self._catalog_versions(notes, known, damage, without)) != written:
            self.storage.replace(CATALOG, catalog_text(found).encode())
            written = found
        notes.write(found, {key: fingerprint for key, (fingerprint, _) in known.items()})
        for address, problem in damage.items():
            progress.warning("warning: %s: %s; %s goes without it", address, problem, CATALOG)

    def _catalog_versions(
        self,
        notes: CatalogNotes,
        known: dict[tuple[str, str], tuple[str, Blocks]],
        damage: dict[str, str],
        without: Collection[tuple[str, str]],
    ) -> list[CatalogVersion]:
        """Return all sound versions on the root but some, looking only at those not known; note what is not sound."""
        found = []
        for data_set in self.data_sets():
            latest = None
            try:
                latest = self._pointed(data_set)
            except ValueError as error:
                damage[self.storage.address(f"{data_set}/{LATEST}")] = str(error)
            versions = [name for name in self._published(data_set) if (data_set, name) not in without]
            unknown = [name for name in versions if (data_set, name) not in known]
            fingerprints = self.storage.fingerprints(f"{data_set}/{name}/{MANIFEST}" for name in unknown)
            for version, fingerprint in zip(unknown, fingerprints, strict=True):
                if fingerprint is None:  # removed since it was listed
                    continue
                try:
                    blocks = notes.find(data_set, version, fingerprint)
                    if blocks is None:
                        blocks = blocks_of(data_set, version, self._manifest(data_set, version))
                    known[data_set, version] = fingerprint, blocks
                except ValueError as error:
                    address = self.storage.address(f"{data_set}/{version}/{MANIFEST}")
                    damage[address] = f"damaged manifest ({error}); {MEND}"
                except VersionNotFoundError:  # removed since it was listed
                    continue
            found += [
                CatalogVersion(data_set, name, name == latest, known[data_set, name][1])
                for name in versions
                if (data_set, name) in known
            ]
        return found
