"""The wheel: all that is needed is in it, and it works outside the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pipelines.logs.find import SHIPPED_LOG
from tests.folders import ROOT
from tests.pipelines.luigi_runs import LUIGI, SWFTOOLS, run


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that holds what the wheel installs."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("swftools", "pipelines", "schemas"):
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "luigi.cfg", "data_catalog.yaml"):
        shutil.copy(ROOT / name, source / name)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        str(source),
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def test_it_holds_log_catalogue_schemas_and_defaults(installed: Path) -> None:
    """The resources are files in the wheel, not links that lead nowhere."""
    resources = installed / "pipelines" / "resources"
    expected = {"data_catalog.yaml", "luigi.cfg", "schemas/jobs.schema.json", f"logs/{SHIPPED_LOG}.swf.gz"}
    found = {str(path.relative_to(resources)) for path in resources.rglob("*") if path.is_file()}
    assert set() == expected - found
    assert not [path for path in resources.rglob("*") if path.is_symlink()]


def test_it_publishes_from_an_empty_directory(installed: Path, tmp_path: Path) -> None:
    """Without luigi.cfg, catalogue or checkout at hand the same command does the same."""
    where = run(
        [sys.executable, "-c", "import pipelines; print(pipelines.__file__)"], tmp_path, PYTHONPATH=str(installed)
    )
    assert str(installed) in where.stdout
    result = run([*LUIGI, "BuildAugmentedTrace"], tmp_path, PYTHONPATH=str(installed))
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "data" / SHIPPED_LOG / "latest").is_file()
    listed = run([*SWFTOOLS, "versions"], tmp_path, PYTHONPATH=str(installed))
    assert SHIPPED_LOG in listed.stdout


def test_it_tells_the_truth_by_its_exit_status(installed: Path, tmp_path: Path) -> None:
    """The return codes come from the package where no configuration is found."""
    command = [*LUIGI, "BuildAugmentedTrace", "--BuildAugmentedTrace-log", "no-such-log"]
    assert run(command, tmp_path, PYTHONPATH=str(installed)).returncode == 20
