# SPDX-License-Identifier: BSD-3-Clause
"""What is published under a data root, for reading: data sets, versions, their manifests and tables.

A damaged version is told of where versions are listed and is an error where it is asked for; it never keeps the
others from being used.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

import pyarrow as pa

from pipelines.names import CURRENT, LATEST, MANIFEST, PART, PENDING, REPORT, check_name, is_name, is_version_name
from pipelines.store.locations import open_storage
from pipelines.store.order import COUNT, places_of
from pipelines.store.parse_manifest import parse_manifest
from pipelines.store.storage import Storage
from pipelines.store.table_files import concat_parts, read_part
from pipelines.store.tags import Tag, list_tags, read_tag
from swftools.errors import StorageError, SwfToolsError, VersionNotFoundError

MEND = "restore it from a copy, or remove the version's directory and publish it again"

_SHOWN = 10
_SHORTEST_PREFIX = 4


@dataclass(frozen=True)
class PublishedVersion:
    """One line of a data set's history."""

    version: str
    published_at: datetime
    is_latest: bool
    jobs: int | None
    """None for a version without a table of jobs, and for a damaged one."""
    bytes: int
    """Size of its files, without the manifest; of a damaged version, of all that is there."""
    damage: str | None = None
    """What is wrong with its manifest, None if nothing is."""
    tags: tuple[str, ...] = ()
    """Names that people gave it."""


class PublishedData:
    """What is published under a root. Versions may be given by a tag, or the beginning of a name that only one has."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    @classmethod
    def open(cls, location: str | os.PathLike[str]) -> Self:
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
        return self.storage.location

    def path(self, data_set: str, version: str = LATEST) -> str:
        """Return the path or URI of a version by its whole name or a tag, for messages and other tools.

        A version that is given by its name need not exist.
        """
        is_tag = version != LATEST and not self.is_there(data_set, version) and self._tagged(data_set, version)
        if version == LATEST or is_tag:
            version = self.resolve(data_set, version)
        return self.storage.address(self._key(data_set, version))

    def is_there(self, data_set: str, version: str) -> bool:
        """Return whether a version, by its whole name, can be read; it may be damaged."""
        return self._exists(self._key(data_set, version))

    def is_published(self, data_set: str, version: str) -> bool:
        """Return whether a version, by its whole name, is there and `latest` and the catalogue have followed it."""
        key = self._key(data_set, version)
        manifest, pending = self.storage.modified([f"{key}/{MANIFEST}", f"{key}/{PENDING}"])
        return manifest is not None and pending is None

    def is_settled(self, data_set: str) -> bool:
        """Return whether `latest` names a version that is there."""
        try:
            latest = self._pointed(data_set)
        except ValueError:
            return False
        return latest is not None and self.is_there(data_set, latest)

    def settled_versions(self, data_set: str) -> list[str]:
        """Return the versions that `latest` has followed, by the time of their publication."""
        times = self._published(data_set)
        markers = self.storage.modified(f"{data_set}/{name}/{PENDING}" for name in times)
        settled = [name for name, pending in zip(times, markers, strict=True) if pending is None]
        return sorted(settled, key=lambda name: (times[name], name))

    def check_whole(self, data_set: str, version: str, *, tables_only: bool = False) -> None:
        """Raise if a version, by its whole name, lacks a file, or has one of another size than its manifest says.

        ``verify`` hashes the files as well, which takes as long as reading them.

        Raises
        ------
        StorageError
            Names what is wrong first, and the remedy; or the manifest is damaged.
        """
        manifest, key = self.manifest(data_set, version), self._key(data_set, version)
        present = self.storage.files(key)
        faults = []
        for name, told in manifest["files"].items():
            if tables_only and name.partition("/")[0] not in manifest["tables"]:
                continue
            if name not in present:
                faults.append(f"{name} is missing")
            elif present[name] != told["bytes"]:
                faults.append(f"{name} has {present[name]:,} bytes, and {told['bytes']:,} by the manifest")
        if faults:
            more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
            raise StorageError(f"{self.storage.address(key)}: damaged: {faults[0]}{more}; {MEND}")

    def report_path(self, data_set: str, version: str) -> str:
        """Return where the report on a version is, by the version's whole name, or would be."""
        return self.storage.address(self._key(data_set, version) + REPORT)

    def has_report(self, data_set: str, version: str) -> bool:
        """Return whether there is a report beside a version, by its whole name."""
        return self.storage.exists(self._key(data_set, version) + REPORT)

    def manifest(self, data_set: str, version: str = LATEST) -> dict[str, Any]:
        """Return a version's manifest.

        Raises
        ------
        VersionNotFoundError
            There is no such version.
        StorageError
            The manifest is damaged.
        """
        version = self.resolve(data_set, version)
        try:
            return self._manifest(data_set, version)
        except ValueError as error:
            address = self.storage.address(f"{data_set}/{version}/{MANIFEST}")
            raise StorageError(f"{address}: damaged manifest ({error}); {MEND}") from None

    def data_sets(self) -> list[str]:
        """Return the names of the data sets that have a version."""
        return [name for name in self.storage.directories() if is_name(name) and self._published(name)]

    def versions(self, data_set: str) -> list[PublishedVersion]:
        """Return a data set's versions, newest first: of a history by its files, of others by their publication.

        Raises
        ------
        VersionNotFoundError
            Nothing is published under that name; lists what is.
        """
        self._require(data_set)
        latest = self.latest(data_set)
        tags = self.tags(data_set)
        found, manifests = [], {}
        for version, published_at in self._published(data_set).items():
            jobs, damage = None, None
            try:
                manifest = self._manifest(data_set, version)
            except VersionNotFoundError:  # removed since it was listed
                continue
            except ValueError as error:
                size, damage = sum(self.storage.files(f"{data_set}/{version}").values()), str(error)
            else:
                manifests[version] = manifest
                jobs = manifest["tables"].get("jobs", {}).get("rows")
                size = sum(file["bytes"] for file in manifest["files"].values())
            names = tuple(tag.name for tag in tags if tag.version == version)
            found.append(PublishedVersion(version, published_at, version == latest, jobs, size, damage, names))
        places = self._places(manifests, latest)
        return sorted(
            found,
            key=lambda each: (places.get(each.version, -1), *_age(each.published_at, each.version, latest)),
            reverse=True,
        )

    def latest(self, data_set: str) -> str | None:
        """Return the version that `latest` names, None if the data set has none.

        Raises
        ------
        StorageError
            The pointer is damaged.
        """
        key = self._pointer(data_set)
        try:
            return self._pointed(data_set)
        except ValueError as error:
            raise StorageError(f"{self.storage.address(key)}: {error}") from None

    def tags(self, data_set: str) -> list[Tag]:
        """Return the tags of a data set by name, also damaged ones and those of versions that are gone."""
        return list_tags(self.storage, data_set)

    def published_at(self, data_set: str, version: str) -> datetime:
        """Return the UTC time of a version's publication, by its whole name.

        Raises
        ------
        VersionNotFoundError
            There is no such version.
        """
        key = self._key(data_set, version)
        (time,) = self.storage.modified([f"{key}/{MANIFEST}"])
        if time is None:
            raise VersionNotFoundError(f"{self.storage.address(key)}: there is no such version any more")
        return time

    def previous(self, data_set: str) -> str:
        """Return the version just before the one that `latest` names, by ``versions``; damaged ones do not count.

        Raises
        ------
        VersionNotFoundError
            There is none, or `latest` names none that is there.
        """
        self._require(data_set)
        latest = self.latest(data_set)
        times = self._published(data_set)
        names = sorted(times, key=lambda name: _age(times[name], name, latest), reverse=True)
        with suppress(ValueError, VersionNotFoundError):
            if latest is not None and COUNT in self._manifest(data_set, latest):
                names = [each.version for each in self.versions(data_set)]
        for name in names[names.index(latest) + 1 :] if latest in names else []:
            with suppress(ValueError, VersionNotFoundError):  # damaged, or removed since it was listed
                return str(self._manifest(data_set, name)["version"])
        raise VersionNotFoundError(
            f"{self.location}: data set {data_set!r} has no version before {latest!r}; it has {listing(names)} "
            "(list them with `swftools versions`)"
        )

    def resolve(self, data_set: str, version: str) -> str:
        """Return the name of a version that exists.

        Parameters
        ----------
        data_set : str
            Name of a data set.
        version : str
            A version's name, a tag, the beginning of just one name (at least 4 characters), or ``latest``; where it
            can mean several of these, the first.

        Raises
        ------
        VersionNotFoundError
            There is none, or several begin so; lists them. Or there is none any more that the tag names.
        StorageError
            The tag is damaged.
        """
        exact = (self.latest(data_set) or version) if version == LATEST else version
        if exact.lower() not in (LATEST, CURRENT) and self.is_there(data_set, exact):
            return exact
        if version != LATEST and (tagged := self._tagged(data_set, version)):
            if self.is_there(data_set, tagged):
                return tagged
            raise VersionNotFoundError(
                f"{self.location}: tag {version!r} of data set {data_set!r} names {tagged}, which is not there any "
                f"more; restore it, or delete the tag by `swftools tag --delete {data_set} {version}`"
            )
        self._require(data_set)
        names = list(self._published(data_set))
        is_prefix = len(version) >= _SHORTEST_PREFIX and version != LATEST
        meant = [name for name in names if is_prefix and name.startswith(version)]
        if len(meant) == 1:
            return meant[0]
        problem = f"{len(meant)} versions that begin with {version!r}" if meant else f"no version {version!r}"
        raise VersionNotFoundError(
            f"{self.location}: data set {data_set!r} has {problem}; "
            f"{'they are' if meant else 'it has'} {listing(meant or names)} (list them with `swftools versions`)"
        )

    def read_table(
        self,
        data_set: str,
        table: str,
        version: str = LATEST,
        *,
        parts: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Read a table of a version and check it against the column dictionary.

        Parameters
        ----------
        data_set, table, version : str
            Names.
        parts : collection of str, optional
            Files of a table in parts, such as ``part-2001-03.parquet``; by default all of them.
        columns : sequence of str, optional
            Which columns; by default all.

        Raises
        ------
        VersionNotFoundError
            There is no such version, or it has no such table.
        SchemaError
            The file is damaged or its columns differ from the dictionary.
        """
        check_name(table, "table")
        return self.read_described(self.manifest(data_set, version), table, parts=parts, columns=columns)

    def read_described(
        self,
        manifest: Mapping[str, Any],
        table: str,
        *,
        parts: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Read a table of the version that a manifest is of, as ``read_table`` does, which looks that up each time."""
        check_name(table, "table")
        key = self._key(manifest["data_set"], manifest["version"])
        if table not in manifest["tables"]:
            raise VersionNotFoundError(
                f"{self.storage.address(key)}: no table {table!r}; it has {', '.join(manifest['tables']) or 'none'}"
            )
        names = [name for name in manifest["tables"][table].get("parts", [PART]) if parts is None or name in parts]
        read = []
        for name in names:
            path = f"{key}/{table}/{name}"
            with self.storage.open(path) as file:
                read.append(read_part(file, table, self.storage.address(path), MEND, columns))
        return read[0] if len(read) == 1 else concat_parts(read, table, manifest["tables"][table]["columns"], columns)

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
        expected, present = manifest["files"], set(self.storage.files(key)) - {MANIFEST, PENDING}
        problems = []
        for name in sorted(expected.keys() | present):
            address = self.storage.address(f"{key}/{name}")
            if name not in present:
                problems.append(f"{address}: missing")
            elif name not in expected:
                problems.append(f"{address}: not in the manifest")
            else:
                with self.storage.open(f"{key}/{name}") as file:
                    actual = hashlib.file_digest(file, "sha256").hexdigest()
                if actual != expected[name]["sha256"]:
                    problems.append(f"{address}: sha256 is {actual}, the manifest says {expected[name]['sha256']}")
        return problems

    def faults_of_link(self, data_set: str) -> list[str]:
        """Return what is wrong with ``current``, the link to the latest version; none of it is no fault.

        File systems without such links have none, nor have data sets that older packages published.

        Raises
        ------
        StorageError
            `latest` is damaged.
        """
        latest, leads_to = self.latest(data_set), self.storage.linked(f"{data_set}/{CURRENT}")
        if leads_to is None or leads_to.rstrip("/") == latest:
            return []
        found = f"leads to {leads_to}" if leads_to else "is no symbolic link (a copy of one?)"
        remedy = "" if leads_to else "move it away, then: "
        return [
            f"{self.storage.address(f'{data_set}/{CURRENT}')}: {found}, and latest is {latest}; "
            f"{remedy}swftools promote {data_set} {latest}"
        ]

    def _key(self, data_set: str, version: str) -> str:
        """Return the key of a version, once it is sure to stay inside the root."""
        return self.storage.check_inside(f"{check_name(data_set, 'data set')}/{check_name(version, 'version')}")

    def _pointer(self, data_set: str) -> str:
        """Return the key of a data set's pointer, once it is sure to stay inside the root."""
        return self.storage.check_inside(f"{check_name(data_set, 'data set')}/{LATEST}")

    def _tagged(self, data_set: str, name: str) -> str | None:
        """Return the version that a tag names, None if there is no such tag."""
        return read_tag(self.storage, data_set, name)

    def _exists(self, key: str) -> bool:
        return self.storage.exists(f"{key}/{MANIFEST}")

    def _published(self, data_set: str) -> dict[str, datetime]:
        """Return the versions of a data set with the time of their publication."""
        names = [name for name in self.storage.directories(data_set) if is_version_name(name)]
        times = self.storage.modified(f"{data_set}/{name}/{MANIFEST}" for name in names)
        return {name: time for name, time in zip(names, times, strict=True) if time is not None}

    def _require(self, data_set: str) -> None:
        """Raise VersionNotFoundError if nothing is published under a name."""
        self._pointer(data_set)
        if not self._published(data_set):
            raise VersionNotFoundError(
                f"{self.location}: no data set {data_set!r}; there are {listing(self.data_sets())} "
                "(list them with `swftools versions`)"
            )

    def _places(self, manifests: Mapping[str, Mapping[str, Any]], latest: str | None) -> dict[str, int]:
        """Return where versions of a history stand by their files; nothing of others, or where that cannot be read."""
        try:
            return places_of(
                manifests, latest, lambda each: self.read_described(each, "ingested", columns=["sha256"])[0].to_pylist()
            )
        except (SwfToolsError, KeyError):
            return {}

    def _manifest(self, data_set: str, version: str) -> dict[str, Any]:
        """Return a version's manifest; ValueError tells how it is damaged, VersionNotFoundError that it is gone."""
        key = f"{data_set}/{version}"
        try:
            content = self.storage.read(f"{key}/{MANIFEST}")
        except StorageError:
            if self._exists(key):
                raise
            raise VersionNotFoundError(f"{self.storage.address(key)}: there is no such version any more") from None
        return parse_manifest(content, data_set, version)

    def _pointed(self, data_set: str) -> str | None:
        """Return the version that `latest` names, None if there is none; ValueError tells how it is damaged."""
        key = self._pointer(data_set)
        if not self.storage.exists(key):
            return None
        version = self.storage.read(key).decode(errors="replace").strip()
        if not is_name(version):
            raise ValueError(f"names no version ({version!r}); promote one to mend it")
        return version


def _age(published_at: datetime, version: str, latest: str | None) -> tuple[datetime, bool, str]:
    """Return what versions are sorted by: S3 counts whole seconds; of two in one second the latest is the newer."""
    return published_at, version == latest, version


def listing(names: Iterable[str]) -> str:
    """Return some names for a message."""
    shown = list(names)
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "") or "none"
