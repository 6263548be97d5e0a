# SPDX-License-Identifier: BSD-3-Clause
"""Commands for what is published: versions by their beginning, damaged ones, and what is removed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.store.data_root import DataRoot
from tests.pipelines.luigi_runs import SWFTOOLS, run

LOG = "; MaxProcs: 8\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with three versions of a data set, and what the stages kept."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "mine.swf").write_text(LOG)
    for seed in range(3):
        flags = ["--log", "mine.swf", "--augment", "utility", "--seed", str(seed), "--quiet"]
        done = run([*SWFTOOLS, "augment", *flags], folder)
        assert (0, "") == (done.returncode, done.stderr)
    return folder / "data"


@pytest.fixture
def root(published: Path, tmp_path: Path) -> Path:
    """A copy of it for each test."""
    return Path(shutil.copytree(published, tmp_path / "data", symlinks=True))


def call(*arguments: object, root: Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [*map(str, arguments), "--data-root", str(root)])


def names(root: Path) -> list[str]:
    """Return the versions, newest first."""
    return [listed.version for listed in DataRoot.open(root).versions("mine")]


def test_versions_are_known_by_their_beginning(root: Path) -> None:
    """In rollback, promote, verify and versions; an unknown one is 20, and lists those there are."""
    newest, _, oldest = names(root)
    for command in ("rollback", "promote"):
        for version in (oldest, newest):
            result = call(command, "mine", version[:5], root=root)
            assert (0, f"mine: latest is now {version}\n") == (result.exit_code, result.stdout)
    assert f"mine {oldest}: sound\n" == call("verify", "mine", oldest[:5], root=root).stdout
    listed = call("versions", "mine", oldest[:5], root=root).stdout
    assert f"{root}/mine/{oldest}" == listed.splitlines()[0]
    assert re.search(r"^  jobs +1 rows$", listed, re.MULTILINE)
    for command in ("rollback", "promote", "verify", "versions"):
        unknown = call(command, "mine", "zzzz", root=root)
        assert (20, True) == (unknown.exit_code, oldest in unknown.stderr)


def test_a_damaged_version_is_shown(root: Path) -> None:
    """It does not hide the others."""
    (root / "mine" / names(root)[1] / "manifest.json").write_text("[")
    result = call("versions", root=root)
    assert (0, 1) == (result.exit_code, result.stdout.count("    damaged: "))
    assert 3 == len(re.findall(r"^[* ] [0-9a-f]{16}  ", result.stdout, re.MULTILINE))


def test_prune_says_what_would_go_and_leaves_it(root: Path) -> None:
    """The dry run is the default."""
    before = sorted(root.rglob("*"))
    versions = names(root)
    result = call("prune", "mine", root=root)
    assert (0, True) == (result.exit_code, "could be removed" in result.stdout)
    assert [(versions[0] in result.stdout), *(version in result.stdout for version in versions[1:])] == [
        *(False, True, True)
    ]
    assert before == sorted(root.rglob("*"))


def test_prune_removes_what_neither_latest_nor_the_newest_need(root: Path) -> None:
    """After a rollback both stay; --keep 0 leaves the latest alone; the work directory goes with the whole root."""
    newest, middle, oldest = names(root)
    call("rollback", "mine", oldest, root=root)
    assert 0 == call("prune", "mine", "--yes", root=root).exit_code
    assert [newest, oldest] == names(root)
    assert list((root / ".work").glob("*/[0-9a-f]*"))
    assert 0 == call("prune", "--keep", "0", "--yes", root=root).exit_code
    assert ([oldest], []) == (names(root), list((root / ".work").glob("*/[0-9a-f]*")))
    assert 0 == call("verify", "mine", root=root).exit_code
    assert "nothing to remove\n" == call("prune", "--keep", "0", "--yes", root=root).stdout
    assert middle not in call("versions", root=root).stdout
