# SPDX-License-Identifier: BSD-3-Clause
"""Which of a data set's versions are newer: of a history by its files, of all others by the time of publication.

A version of a history has the files of the one before it and more, in one order. So its manifest says where it stands,
whatever times its folder got from a restore, or from a clock that was set back; between versions of the same files the
time decides. Versions that `latest` did not come from, as those that a rollback left behind, are the oldest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipelines.keys import content_key

COUNT = "files_ingested"
"""What the manifest of a history says of how many files it has; no other data set has it."""


def key_of_files(hashes: Sequence[str]) -> str:
    """Return the key of the texts of a history, in the order in which they were taken."""
    return content_key("files", 1, {"files": list(hashes)})


def places_of(
    manifests: Mapping[str, Mapping[str, Any]], latest: str | None, files_of: Callable[[Mapping[str, Any]], list[str]]
) -> dict[str, int]:
    """Return how many files the versions of a history have that are of one line with `latest`; none of other data sets.

    Parameters
    ----------
    manifests : mapping of str to mapping
        By version.
    latest : str or None
        The version that `latest` names.
    files_of : callable
        Returns the hashes of a version's files, of its manifest.
    """
    counts = {version: int(found[COUNT]) for version, found in manifests.items() if COUNT in found}
    if latest not in counts:
        return {}
    most = max(counts, key=lambda version: (counts[version], version == latest, version))
    keys = {version: manifests[version]["log"]["key"] for version in counts}
    files = files_of(manifests[most])
    if key_of_files(files[: counts[latest]]) != keys[latest]:  # of a line that a rollback left behind
        files = files_of(manifests[latest])
    of_line = {count: key_of_files(files[:count]) for count in set(counts.values()) if count <= len(files)}
    return {version: count for version, count in counts.items() if of_line.get(count) == keys[version]}
