# SPDX-License-Identifier: BSD-3-Clause
"""Tags: names that people give to versions for good, such as ``paper-2026``; what has one is not pruned.

A tag is a text file of its data set, ``<data set>/.tags/<tag>``, that names a version, as ``latest`` does.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.names import TAGS, check_name, is_name
from pipelines.store.storage import Storage
from swftools.errors import StorageError, UnsafeNameError


@dataclass(frozen=True)
class Tag:
    """A tag of a data set."""

    name: str
    version: str | None
    """The version that it names, which need not be there any more; None if it is damaged."""
    damage: str | None = None
    """What is wrong with it and what to do, None if nothing is."""


def tag_key(storage: Storage, data_set: str, name: str) -> str:
    """Return the key of a tag, once it is sure to stay inside the root.

    Raises
    ------
    UnsafeNameError
        It is not a name for a tag, or a symbolic link leads out of the root.
    """
    return storage.check_inside(f"{check_name(data_set, 'data set')}/{TAGS}/{check_name(name, 'tag')}")


def list_tags(storage: Storage, data_set: str) -> list[Tag]:
    """Return the tags of a data set by name, damaged ones among them."""
    try:
        directory = storage.check_inside(f"{check_name(data_set, 'data set')}/{TAGS}")
    except UnsafeNameError as error:
        return [Tag(TAGS, None, str(error))]
    found = []
    for name in filter(is_name, storage.files(directory)):
        try:
            version = read_tag(storage, data_set, name)
        except (StorageError, UnsafeNameError) as error:
            found.append(Tag(name, None, str(error)))
        else:
            found += [Tag(name, version)] if version else []  # deleted since it was listed
    return found


def read_tag(storage: Storage, data_set: str, name: str) -> str | None:
    """Return the version that a tag names, None if there is no such tag.

    Raises
    ------
    StorageError
        It is damaged, or cannot be read.
    """
    key = tag_key(storage, data_set, name)
    if not storage.exists(key):
        return None
    try:
        version = storage.read(key).decode(errors="replace").strip()
    except StorageError:
        if storage.exists(key):
            raise
        return None
    if not is_name(version):
        raise StorageError(
            f"{storage.address(key)}: names no version ({version[:40]!r}); delete the tag by `swftools tag --delete "
            f"{data_set} {name}`, or give it again by `swftools tag --force {data_set} VERSION {name}`"
        )
    return version


def tags_by_version(storage: Storage, data_set: str) -> dict[str, tuple[str, ...]]:
    """Return the tags of each version that has some, for whoever is about to remove versions.

    Raises
    ------
    StorageError
        A tag is damaged: it is not known what it protects.
    """
    found: dict[str, tuple[str, ...]] = {}
    for tag in list_tags(storage, data_set):
        if tag.version is None:
            raise StorageError(f"it is not known which version a damaged tag protects: {tag.damage}")
        found[tag.version] = (*found.get(tag.version, ()), tag.name)
    return found
