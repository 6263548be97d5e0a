# SPDX-License-Identifier: BSD-3-Clause
"""The command for tags, and how other commands show and take them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.names import TAGS
from pipelines.store.data_root import DataRoot
from tests.pipelines.store.samples import date, publish


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    """Publish three versions on successive days."""
    root = DataRoot.open(tmp_path / "data")
    for version in ("v1", "v2", "v3"):
        publish(root, version)
    date(tmp_path / "data", "v1", "v2", "v3")
    return root


def call(root: DataRoot, *arguments: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [*arguments, "--data-root", root.location])


def test_a_tag_is_given_listed_and_deleted(root: DataRoot) -> None:
    """One line tells of each; a tag that would be moved is a mistake in the command."""
    assert "sdsc: tag paper names v1\n" == call(root, "tag", "sdsc", "v1", "paper").stdout
    assert "sdsc: tag Cited names v3\n" == call(root, "tag", "sdsc", "latest", "Cited").stdout
    assert "tag Cited: v3\ntag paper: v1\n" == call(root, "tag", "sdsc").stdout
    moved = call(root, "tag", "sdsc", "v2", "paper")
    assert (2, "", 1) == (moved.exit_code, moved.stdout, moved.stderr.count("\n"))
    assert "the tag names v1; choose another, or move it by --force" in moved.stderr
    assert "sdsc: tag paper names v2\n" == call(root, "tag", "--force", "sdsc", "v2", "paper").stdout
    assert "sdsc: tag Cited is deleted\n" == call(root, "tag", "sdsc", "Cited", "--delete").stdout
    assert "tag paper: v2\n" == call(root, "tag", "sdsc").stdout


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["ctc"], 20),
        (["ctc", "v1", "paper"], 20),
        (["sdsc", "v9", "paper"], 20),
        (["--delete", "sdsc", "paper"], 20),
        (["sdsc", "v1", "../paper"], 2),
        (["sdsc", "v1"], 2),
        (["sdsc", "v1", "paper", "more"], 2),
        (["sdsc", "--delete"], 2),
        (["sdsc", "v1", "paper", "--delete"], 2),
        (["sdsc", "--force"], 2),
        (["sdsc", "paper", "--delete", "--force"], 2),
    ],
)
def test_mistakes(root: DataRoot, arguments: list[str], status: int) -> None:
    """What is not there is 20, what is wrong is 2, and nothing is tagged."""
    done = call(root, "tag", *arguments)
    assert (status, "") == (done.exit_code, done.stdout)
    assert [] == root.tags("sdsc")


def test_versions_shows_tags(root: DataRoot) -> None:
    """Below their version; damaged ones, and those of what is gone, below all; without tags nothing of them."""
    before = call(root, "versions", "sdsc").stdout
    assert "tag" not in before
    for name in ("paper", "zeta"):
        root.tag("sdsc", "v1", name)
    lines = call(root, "versions").stdout.splitlines()
    assert ("  v1  2026-01-01", "    tags: paper, zeta") == (lines[-2][:16], lines[-1])
    root.remove_tag("sdsc", "zeta")
    assert f"{before}    tag: paper\n" == call(root, "versions", "sdsc").stdout
    root.tag("sdsc", "v2", "lost")
    Path(root.location, "sdsc", TAGS, "bad").write_text("?")
    shutil.rmtree(root.path("sdsc", "v2"))
    shown = call(root, "versions", "sdsc")
    lines = shown.stdout.splitlines()
    assert (0, "    tag: paper") == (shown.exit_code, lines[-3])
    assert lines[-2].startswith(f"  tag bad: damaged: {root.location}/sdsc/.tags/bad: names no version ('?'); delete")
    assert "  tag lost: v2, which is gone" == lines[-1]


def test_commands_take_tags(root: DataRoot) -> None:
    """Promote, rollback, verify and versions."""
    root.tag("sdsc", "v1", "paper")
    for command in ("promote", "rollback"):
        assert "sdsc: latest is now v1\n" == call(root, command, "sdsc", "paper").stdout
    assert "sdsc v1: sound\n" == call(root, "verify", "sdsc", "paper").stdout
    assert root.path("sdsc", "v1") == call(root, "versions", "sdsc", "paper").stdout.splitlines()[0]


def test_prune_says_what_stays_for_its_tag(root: DataRoot) -> None:
    """A line counts it, whether something else goes or not; a damaged tag ends the command before anything goes."""
    root.tag("sdsc", "v1", "paper")
    done = call(root, "prune", "sdsc", "--yes")
    assert ["sdsc/v2", "kept for their tags: 1 version"] == [
        done.stdout.split()[2].removeprefix(f"{root.location}/"),
        done.stdout.splitlines()[-2],
    ]
    assert "kept for their tags: 1 version\nnothing to remove\n" == call(root, "prune", "sdsc").stdout
    Path(root.location, "sdsc", TAGS, "bad").touch()
    refused = call(root, "prune", "sdsc", "--keep", "0", "--yes")
    assert (30, "", True) == (refused.exit_code, refused.stdout, "swftools tag --delete sdsc bad" in refused.stderr)
    assert ["v3", "v1"] == [each.version for each in root.versions("sdsc")]
