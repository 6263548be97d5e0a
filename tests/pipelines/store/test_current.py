# SPDX-License-Identifier: BSD-3-Clause
"""`current`, the link beside `latest`: it leads where that points, and is no version; and ``swftools.load``."""

from __future__ import annotations

import errno
from pathlib import Path

import pandas as pd
import pytest

import swftools
from pipelines.logs.published import version_folder
from pipelines.store.data_root import DataRoot
from pipelines.store.prune import carry_out, plan_prune
from swftools.errors import SwfToolsError, UnsafeNameError, VersionNotFoundError
from tests.pipelines.store.samples import publish


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    """Make a data set of two versions, of 3 and 4 jobs; the second is the latest."""
    root = DataRoot.open(tmp_path)
    publish(root, "v1")
    publish(root, "v2", rows=4)
    return root


def rows_of(tmp_path: Path) -> int:
    """Count the jobs to which the link leads, as pandas does."""
    return len(pd.read_parquet(tmp_path / "sdsc" / "current" / "jobs"))


def test_the_link_follows_latest(root: DataRoot, tmp_path: Path) -> None:
    """After each way of moving `latest` the link, which is relative, leads to the same version."""
    assert (str((tmp_path / "sdsc" / "current").readlink()), rows_of(tmp_path)) == ("v2", 4)
    root.rollback("sdsc")
    assert rows_of(tmp_path) == 3
    root.promote("sdsc", "v2")
    assert rows_of(tmp_path) == 4
    (tmp_path / "sdsc" / "latest").unlink()
    (tmp_path / "sdsc" / "current").unlink()
    root.restore_latest("sdsc")
    assert root.storage.linked("sdsc/current") == root.latest("sdsc")


def test_nothing_takes_the_link_for_a_version(root: DataRoot, tmp_path: Path) -> None:
    """Not lists, catalogue, prune, names of versions; but as a path it is the version."""
    assert [each.version for each in root.versions("sdsc")] == ["v2", "v1"]
    assert "current" not in (tmp_path / "catalog.yaml").read_text()
    carry_out(plan_prune(root, keep=0))
    assert rows_of(tmp_path) == 4
    with pytest.raises(VersionNotFoundError, match="no version 'current'; it has v2"):
        root.resolve("sdsc", "current")
    with pytest.raises(UnsafeNameError, match="link to the latest version"):
        publish(root, "current")
    assert version_folder(tmp_path / "sdsc" / "current" / "jobs") == tmp_path / "sdsc" / "current"


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda link: link.symlink_to("v1"), "leads to v1, and latest is v2; swftools promote sdsc v2"),
        (lambda link: link.mkdir(), "is no symbolic link (a copy of one?), and latest is v2; move it away, then: "),
    ],
    ids=["another version", "a copy"],
)
def test_what_is_wrong_with_the_link_is_told(root: DataRoot, tmp_path: Path, spoil, told) -> None:  # type: ignore[no-untyped-def]
    """A link that leads elsewhere is told with the remedy, which mends it; what is no link is left alone."""
    link = tmp_path / "sdsc" / "current"
    link.unlink()
    assert root.faults_of_link("sdsc") == []
    spoil(link)
    (fault,) = root.faults_of_link("sdsc")
    assert told in fault
    root.promote("sdsc", "v2")
    assert (root.faults_of_link("sdsc") == []) is link.is_symlink()


def test_a_file_system_without_links_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Publication goes on without it, and nothing is wrong."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    root = DataRoot.open(tmp_path)
    publish(root, "v1")
    assert (root.latest("sdsc"), root.faults_of_link("sdsc")) == ("v1", [])
    assert not (tmp_path / "sdsc" / "current").exists()
    assert len(swftools.load("sdsc", data_root=tmp_path)) == 3


def test_load_reads_what_latest_names(root: DataRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default the latest version below ./data or the root of the environment; others by name and tag."""
    root.tag("sdsc", "v1", "paper")
    monkeypatch.setenv("SWFTOOLS_DATA_ROOT", str(tmp_path))
    loaded = swftools.load("sdsc")
    assert (len(loaded), loaded.provenance) == (4, {"name": "sdsc", "version": "v2"})
    assert [len(swftools.load("sdsc", version)) for version in ("v1", "paper")] == [3, 3]


@pytest.mark.parametrize(
    ("name", "version", "data_root", "told"),
    [
        ("blue", "latest", None, "no data set 'blue'; there are sdsc"),
        ("sdsc", "v3", None, "no version 'v3'; there are v1, v2"),
        ("sdsc", "current", None, "no version 'current'"),
        ("sdsc", "latest", "s3://here/data", "DataRoot.open('s3://here/data')"),
        ("sdsc", "latest", "nowhere", "no such directory; give the directory of the data sets"),
    ],
)
def test_load_says_what_is_there(
    root: DataRoot, tmp_path: Path, name: str, version: str, data_root: str | None, told: str
) -> None:
    """A name that is not there is answered with those that are."""
    assert root.latest("sdsc")
    with pytest.raises(SwfToolsError) as caught:
        swftools.load(name, version, data_root=data_root or tmp_path)
    assert told in str(caught.value)
