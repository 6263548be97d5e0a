# SPDX-License-Identifier: BSD-3-Clause
"""The wheel: all that is needed is in it, and it works outside the checkout."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pipelines.logs.find import SHIPPED_LOG
from tests.folders import ROOT
from tests.pipelines.luigi_runs import LUIGI, SWFTOOLS, start

# By day tests/test_packaging.py holds what the packages have against what setup.cfg names.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that holds what the source distribution does, made of a copy of the checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    not_ours = shutil.ignore_patterns(".git", ".venv", ".*_cache", "build", "data", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, folder / "source", symlinks=True, ignore=not_ours)
    _build("--sdist", folder / "source", folder)
    (archive,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder / "unpacked", filter="data")
    (top,) = (folder / "unpacked").iterdir()
    return top


@pytest.fixture(scope="module")
def installed(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that holds what the wheel installs, made of the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(unpacked, folder / "source", symlinks=True)
    _build("--wheel", folder / "source", folder)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    # What is compiled in the checkout is of the same code, and so is found there too.
    for kept in (ROOT / "swftools").rglob("*.nb[ic]"):
        place = folder / "installed" / kept.relative_to(ROOT)
        place.parent.mkdir(exist_ok=True)
        shutil.copy(kept, place)
    return folder / "installed"


def _build(kind: str, source: Path, folder: Path) -> None:
    """Build a distribution."""
    command = [sys.executable, "-m", "build", kind, "--no-isolation", "--outdir", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True)


def test_the_source_distribution_can_be_tested(unpacked: Path) -> None:
    """It holds the Makefile and all that ``make test`` needs, and the documentation."""
    wanted = [
        "Makefile",
        ".ci/run",
        "constraints.txt",
        "README.md",
        "CHANGELOG.md",
        "docs/why.md",
        "examples/read_data_set.py",
    ]
    wanted += ["schemas/jobs.schema.json", "tests/conftest.py", "tests/reference/golden.json", "luigi.cfg"]
    assert [] == [name for name in wanted if not (unpacked / name).is_file()]


def test_what_a_package_index_shows_has_no_link_that_leads_nowhere(installed: Path) -> None:
    """Links that work in the checkout only, and pictures, would be dead there."""
    (metadata,) = installed.glob("swftools-*.dist-info/METADATA")
    headers, _, description = metadata.read_text(encoding="utf-8").partition("\n\n")
    assert "Project-URL: " in headers
    links = re.findall(r"\]\(([^)]*)\)", description)
    assert links
    assert [] == [link for link in links if not link.startswith("https://")]


def test_it_holds_log_catalogue_schemas_and_defaults(installed: Path) -> None:
    """The resources are files in the wheel, not links that lead nowhere."""
    resources = installed / "pipelines" / "resources"
    expected = {"data_catalog.yaml", "luigi.cfg", "schemas/jobs.schema.json", f"logs/{SHIPPED_LOG}.swf.gz"}
    found = {str(path.relative_to(resources)) for path in resources.rglob("*") if path.is_file()}
    assert set() == expected - found
    assert not [path for path in resources.rglob("*") if path.is_symlink()]


def test_it_publishes_from_an_empty_directory(installed: Path, tmp_path: Path) -> None:
    """Without luigi.cfg, catalogue or checkout at hand the same command does the same."""
    where = start(
        [sys.executable, "-c", "import pipelines; print(pipelines.__file__)"], tmp_path, PYTHONPATH=str(installed)
    )
    assert str(installed) in where.stdout
    result = start([*LUIGI, "BuildAugmentedTrace"], tmp_path, PYTHONPATH=str(installed))
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "data" / SHIPPED_LOG / "latest").is_file()
    listed = start([*SWFTOOLS, "versions"], tmp_path, PYTHONPATH=str(installed))
    assert SHIPPED_LOG in listed.stdout


def test_it_tells_the_truth_by_its_exit_status(installed: Path, tmp_path: Path) -> None:
    """The return codes come from the package where no configuration is found."""
    command = [*LUIGI, "BuildAugmentedTrace", "--BuildAugmentedTrace-log", "no-such-log"]
    assert start(command, tmp_path, PYTHONPATH=str(installed)).returncode == 20
