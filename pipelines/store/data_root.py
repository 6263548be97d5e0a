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

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.names import CATALOG, LATEST, MANIFEST, PENDING, check_name, is_name
from pipelines.store.intake_catalog import CatalogVersion, catalog_text
from pipelines.store.manifest import describe_file, describe_table, file_metadata, manifest_bytes, parse_manifest
from pipelines.store.storage import Storage, open_storage, storage_errors
from swftools.errors import ParameterError, SchemaError, StorageError, VersionNotFoundError
from swftools.fields.dictionary import SCHEMA_VERSION, arrow_schema
from swftools.tables import check_table, write_table

_OWN_KEYS = ("data_set", "version", "schema_version", "tables", "files")
_SHOWN = 10
_MEND = "restore it from a copy, or remove the version's directory and publish it again"


@dataclass(frozen=True)
class Publication:
    """What became of a publication: the version's path, its name, and whether this call made it."""

    path: str
    version: str
    is_new: bool


@dataclass(frozen=True)
class PublishedVersion:
    """One line of a data set's history; `jobs` is None for a version without a table of jobs."""

    version: str
    published_at: datetime
    is_latest: bool
    jobs: int | None
    bytes: int


class DataRoot:
    """Where data sets are published: a local directory or ``s3://bucket/prefix``."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @classmethod
    def open(cls, location: str | os.PathLike[str]) -> DataRoot:
        """Open a data root; it is created by the first publication.

        Parameters
        ----------
        location : str or path
            Local directory or S3 URI. Credentials come from the environment; the endpoint from
            ``AWS_ENDPOINT_URL`` or the URI's query.

        Raises
        ------
        ParameterError
            Neither a directory nor an S3 URI.
        StorageError
            The service cannot be reached.
        """
        return cls(open_storage(location))

    @property
    def location(self) -> str:
        """The root's absolute path or URI, without credentials."""
        return self._storage.location

    def path(self, data_set: str, version: str = LATEST) -> str:
        """Return the path or URI of a version, for messages and other tools; it need not exist."""
        if version == LATEST:
            version = self._resolve(data_set, version)
        return self._storage.address(self._key(data_set, version))

    def publish(
        self,
        data_set: str,
        version: str,
        tables: Mapping[str, pa.Table],
        *,
        manifest: Mapping[str, Any],
        files: Mapping[str, Path] = MappingProxyType({}),
    ) -> Publication:
        """Publish a version and move `latest` to it; do nothing if it is published already.

        Parameters
        ----------
        data_set, version : str
            Names; the version should be a hash of what determines the content.
        tables : mapping of str to pyarrow.Table
            Tables of the column dictionary by name.
        manifest : mapping
            What to record beside the store's own entries. The catalogue shows ``licence``,
            ``acknowledgement``, ``citation`` and ``source_url``.
        files : mapping of str to path
            Further files by published name, copied as they are.

        Raises
        ------
        UnsafeNameError, SchemaError, ParameterError
            A name, a table or the manifest cannot be published; nothing was.
        StorageError
            Writing failed. The message says whether the version is published; running again is safe.
        """
        key = self._key(data_set, version)
        for name in tables:
            check_name(name, "table")
        for name in files:
            check_name(name, "file")
        if reserved := sorted(set(manifest) & set(_OWN_KEYS)):
            raise ParameterError(f"manifest of {key}: the store itself writes {reserved}; leave them out")
        record = {**manifest, "data_set": data_set, "version": version, "schema_version": SCHEMA_VERSION}
        path = self._storage.address(key)
        with storage_errors(f"{path}: nothing was published"):
            is_new = not self._exists(key) and self._commit(key, record, tables, files)
        if is_new or self._storage.exists(f"{key}/{PENDING}"):
            self._point(data_set, version, settles_all=is_new)
        return Publication(path, version, is_new)

    def is_published(self, data_set: str, version: str) -> bool:
        """Return whether a version is there and `latest` and the catalogue have followed it."""
        key = self._key(data_set, version)
        manifest, pending = self._storage.modified([f"{key}/{MANIFEST}", f"{key}/{PENDING}"])
        return manifest is not None and pending is None

    def manifest(self, data_set: str, version: str = LATEST) -> dict[str, Any]:
        """Return a version's manifest.

        Raises
        ------
        VersionNotFoundError
            There is no such version.
        StorageError
            The manifest is damaged.
        """
        version = self._resolve(data_set, version)
        key = f"{data_set}/{version}/{MANIFEST}"
        content = self._storage.read(key)
        try:
            return parse_manifest(content, data_set, version)
        except ValueError as error:
            raise StorageError(f"{self._storage.address(key)}: damaged manifest ({error}); {_MEND}") from None

    def data_sets(self) -> list[str]:
        """Return the names of the data sets that have a version."""
        return [name for name in self._storage.directories() if is_name(name) and self._published(name)]

    def versions(self, data_set: str) -> list[PublishedVersion]:
        """Return a data set's versions, newest first.

        Raises
        ------
        VersionNotFoundError
            Nothing is published under that name; lists what is.
        """
        self._require(data_set)
        latest = self.latest(data_set)
        found = []
        for version, published_at in self._published(data_set).items():
            manifest = self.manifest(data_set, version)
            jobs = manifest["tables"].get("jobs", {}).get("rows")
            size = sum(file["bytes"] for file in manifest["files"].values())
            found.append(PublishedVersion(version, published_at, version == latest, jobs, size))
        # S3 counts whole seconds; of two versions in one second the latest is the newer.
        return sorted(found, key=lambda v: (v.published_at, v.is_latest, v.version), reverse=True)

    def latest(self, data_set: str) -> str | None:
        """Return the version that `latest` names, None if the data set has none.

        Raises
        ------
        StorageError
            The pointer is damaged.
        """
        key = self._pointer(data_set)
        if not self._storage.exists(key):
            return None
        version = self._storage.read(key).decode(errors="replace").strip()
        if not is_name(version):
            raise StorageError(f"{self._storage.address(key)}: names no version ({version!r}); promote one to mend it")
        return version

    def promote(self, data_set: str, version: str) -> str:
        """Move `latest` to a published version and return it.

        Raises
        ------
        VersionNotFoundError
            There is no such version; lists those there are.
        """
        version = self._resolve(data_set, version)
        self._point(data_set, version, settles_all=True)
        return version

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
            There is no such version, or none before the current one.
        """
        if version is None:
            names = [listed.version for listed in self.versions(data_set)]
            current = self.latest(data_set)
            if current not in names[:-1]:
                raise VersionNotFoundError(
                    f"{self.location}: data set {data_set!r} has no version before {current!r} to go back to; "
                    f"it has {_listing(names)} (list them with `swftools versions`)"
                )
            version = names[names.index(current) + 1]
        return self.promote(data_set, version)

    def read_table(self, data_set: str, table: str, version: str = LATEST) -> pa.Table:
        """Read a table of a version and check it against the column dictionary.

        Raises
        ------
        VersionNotFoundError
            There is no such version, or it has no such table.
        SchemaError
            The file is damaged or its columns differ from the dictionary.
        """
        check_name(table, "table")
        manifest = self.manifest(data_set, version)
        key = self._key(data_set, manifest["version"])
        if table not in manifest["tables"]:
            raise VersionNotFoundError(
                f"{self._storage.address(key)}: no table {table!r}; it has {', '.join(manifest['tables']) or 'none'}"
            )
        key = f"{key}/{table}/part-0.parquet"
        with self._storage.open(key) as file:
            try:
                data = pq.ParquetFile(file, page_checksum_verification=True).read()
            except (pa.ArrowException, OSError) as error:
                cause = " ".join(str(error).split())
                raise SchemaError(f"{self._storage.address(key)}: damaged Parquet file ({cause}); {_MEND}") from None
        check_table(data, table)
        return data

    def verify(self, data_set: str, version: str = LATEST) -> list[str]:
        """Hash every file of a version again and return what differs from its manifest, nothing if all is well.

        Raises
        ------
        VersionNotFoundError
            There is no such version.
        StorageError
            The manifest is damaged.
        """
        manifest = self.manifest(data_set, version)
        key = self._key(data_set, manifest["version"])
        expected, present = manifest["files"], set(self._storage.files(key)) - {MANIFEST, PENDING}
        problems = []
        for name in sorted(expected.keys() | present):
            address = self._storage.address(f"{key}/{name}")
            if name not in present:
                problems.append(f"{address}: missing")
            elif name not in expected:
                problems.append(f"{address}: not in the manifest")
            else:
                with self._storage.open(f"{key}/{name}") as file:
                    actual = hashlib.file_digest(file, "sha256").hexdigest()
                if actual != expected[name]["sha256"]:
                    problems.append(f"{address}: sha256 is {actual}, the manifest says {expected[name]['sha256']}")
        return problems

    def _key(self, data_set: str, version: str) -> str:
        """Return the key of a version, once it is sure to stay inside the root."""
        return self._storage.check_inside(f"{check_name(data_set, 'data set')}/{check_name(version, 'version')}")

    def _pointer(self, data_set: str) -> str:
        """Return the key of a data set's pointer, once it is sure to stay inside the root."""
        return self._storage.check_inside(f"{check_name(data_set, 'data set')}/{LATEST}")

    def _exists(self, key: str) -> bool:
        return self._storage.exists(f"{key}/{MANIFEST}")

    def _published(self, data_set: str) -> dict[str, datetime]:
        """Return the versions of a data set with the time of their publication."""
        names = [name for name in self._storage.directories(data_set) if is_name(name)]
        times = self._storage.modified(f"{data_set}/{name}/{MANIFEST}" for name in names)
        return {name: time for name, time in zip(names, times, strict=True) if time is not None}

    def _require(self, data_set: str) -> None:
        """Raise VersionNotFoundError if nothing is published under a name."""
        self._pointer(data_set)
        if not self._published(data_set):
            raise VersionNotFoundError(
                f"{self.location}: no data set {data_set!r}; there are {_listing(self.data_sets())} "
                "(list them with `swftools versions`)"
            )

    def _resolve(self, data_set: str, version: str) -> str:
        """Return the name of a version that exists, following `latest`."""
        wanted = version
        if version == LATEST:
            version = self.latest(data_set) or version
        if version == LATEST or not self._exists(self._key(data_set, version)):
            self._require(data_set)
            raise VersionNotFoundError(
                f"{self.location}: data set {data_set!r} has no version {wanted!r}; "
                f"it has {_listing(self._published(data_set))} (list them with `swftools versions`)"
            )
        return version

    def _commit(
        self, key: str, record: dict[str, Any], tables: Mapping[str, pa.Table], files: Mapping[str, Path]
    ) -> bool:
        """Stage a version and make it visible; return False if another process was faster."""
        data_set, version = key.split("/")
        with self._storage.scratch(data_set, version) as staged:
            described = {table: _write(data, table, staged / table, record) for table, data in tables.items()}
            for name, source in files.items():
                shutil.copyfile(source, staged / name)
            written = sorted(path for path in staged.rglob("*") if path.is_file())
            hashes = {path.relative_to(staged).as_posix(): describe_file(path) for path in written}
            content = manifest_bytes({**record, "tables": described, "files": hashes}, key)
            (staged / PENDING).touch()
            (staged / MANIFEST).write_bytes(content)
            is_new = self._storage.commit(staged, key)
        if not is_new and not self._exists(key):
            raise StorageError("the path is taken by something without a manifest; move that away and run again")
        return is_new

    def _point(self, data_set: str, version: str, *, settles_all: bool) -> None:
        """Move `latest`, write the catalogue, then take away the version's marker, or those of all versions."""
        with storage_errors(f"{self.path(data_set, version)} is published, but `latest` or {CATALOG} may not show it"):
            settled = self._published(data_set) if settles_all else [version]
            self._storage.replace(self._pointer(data_set), f"{version}\n".encode())
            self._write_catalog()
            for marker in [f"{data_set}/{name}/{PENDING}" for name in settled]:
                if self._storage.exists(marker):
                    self._storage.remove(marker)

    def _write_catalog(self) -> None:
        """Write the catalogue until it shows what is on the root: another process may publish meanwhile."""
        manifests: dict[tuple[str, str], dict[str, Any]] = {}
        written = None
        while (found := self._catalog_versions(manifests)) != written:
            self._storage.replace(CATALOG, catalog_text(found).encode())
            written = found

    def _catalog_versions(self, manifests: dict[tuple[str, str], dict[str, Any]]) -> list[CatalogVersion]:
        """Return all versions on the root, reading only manifests not read before."""
        found = []
        for data_set in self.data_sets():
            latest = self.latest(data_set)
            for version in self._published(data_set):
                if (data_set, version) not in manifests:
                    manifests[data_set, version] = self.manifest(data_set, version)
                found.append(CatalogVersion(data_set, version, version == latest, manifests[data_set, version]))
        return found


def _listing(names: Iterable[str]) -> str:
    """Return some names for a message."""
    shown = list(names)
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "") or "none"


def _write(data: pa.Table, table: str, directory: Path, record: Mapping[str, Any]) -> dict[str, Any]:
    """Write a table into a new directory, with its origin by the manifest; return its description for that."""
    check_table(data, table)
    # One chunk a column and the dictionary's own schema: else the bytes would tell how the table was made.
    schema = arrow_schema(table, data.column_names)
    data = data.select(schema.names).combine_chunks().cast(schema).replace_schema_metadata(file_metadata(record))
    directory.mkdir()
    write_table(data, directory / "part-0.parquet", table)
    return describe_table(data, table)
