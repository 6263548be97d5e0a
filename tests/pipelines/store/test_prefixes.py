# SPDX-License-Identifier: BSD-3-Clause
"""Versions by the beginning of their name, where only one begins so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.store.data_root import DataRoot
from swftools.errors import UnsafeNameError, VersionNotFoundError
from tests.pipelines.store.samples import publish

ONE, OTHER, THIRD = "518608227b61c1aa", "51869c0000000000", "late000000000000"


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    """Publish three versions, two of which begin alike."""
    root = DataRoot.open(tmp_path / "data")
    for rows, version in enumerate((ONE, OTHER, THIRD), start=2):
        publish(root, version, rows=rows)
    return root


ASKS: dict[str, Callable[[DataRoot, str], Any]] = {
    "resolve": lambda root, version: root.resolve("sdsc", version),
    "manifest": lambda root, version: root.manifest("sdsc", version)["version"],
    "promote": lambda root, version: root.promote("sdsc", version),
    "rollback": lambda root, version: root.rollback("sdsc", version),
    "read_table": lambda root, version: {2: ONE, 3: OTHER, 4: THIRD}[root.read_table("sdsc", "jobs", version).num_rows],
    "verify": lambda root, version: ONE if root.verify("sdsc", version) == [] else "damaged",
}


@pytest.mark.parametrize("ask", ASKS)
def test_a_unique_beginning_is_enough(root: DataRoot, ask: str) -> None:
    """The version that alone begins so is meant; one that begins so too makes it a mistake that lists both."""
    assert ONE == ASKS[ask](root, "51860") == ASKS[ask](root, ONE)
    with pytest.raises(
        VersionNotFoundError, match=rf"'sdsc' has 2 versions that begin with '5186'; they are {ONE}, {OTHER} \(list"
    ):
        ASKS[ask](root, "5186")
    for unknown in ("51861", "518", ONE + "0", "atest"):
        with pytest.raises(VersionNotFoundError, match=rf"no version '{unknown}'; it has {ONE}, {OTHER}, {THIRD} "):
            ASKS[ask](root, unknown)


def test_a_whole_name_is_not_taken_for_a_beginning(root: DataRoot) -> None:
    """A version whose name begins another's is meant by it, and latest is never the beginning of a name."""
    publish(root, "5186")
    publish(root, "latest-but-one")
    publish(root, "v1")
    assert ("5186", "v1", "v1") == tuple(root.resolve("sdsc", name) for name in ("5186", "v1", "latest"))
    Path(root.location, "sdsc", "latest").unlink()
    with pytest.raises(VersionNotFoundError, match=r"no version 'latest'"):
        root.resolve("sdsc", "latest")


def test_a_pointer_is_not_taken_for_a_beginning(root: DataRoot) -> None:
    """What `latest` names is a whole name: a cut-off pointer is not mended by a guess."""
    Path(root.location, "sdsc", "latest").write_text("51860\n")
    with pytest.raises(VersionNotFoundError, match=r"no version 'latest'"):
        root.manifest("sdsc")


def test_whether_a_version_is_published_is_asked_by_its_whole_name(root: DataRoot) -> None:
    """A stage is not complete because another version begins like its own."""
    assert root.is_published("sdsc", ONE)
    assert not root.is_published("sdsc", "51860")
    assert root.path("sdsc", "51860").endswith("/sdsc/51860")


def test_unsafe_beginnings_are_refused(root: DataRoot) -> None:
    """A beginning is a name like any other."""
    with pytest.raises(UnsafeNameError):
        root.resolve("sdsc", "../51860")
