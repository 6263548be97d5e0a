# SPDX-License-Identifier: BSD-3-Clause
"""Compiled forms that come with a package: they are loaded where they fit, and nothing else is changed by them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from swftools.kernel import sources
from swftools.kernel.numba_adapter import pipeline
from tests.folders import ROOT
from tests.kernel.test_cache import FIRST_WAITING, kept, needs_jit, run

FOR_FAMILY = {"NUMBA_CPU_NAME": pipeline.FAMILY, "NUMBA_CPU_FEATURES": ""}
"""Lets numba compile for the family of processors for which packages are made."""

COMPILED = "-1 first_waiting first_place next_fitting_place"

is_of_family = pytest.mark.skipif(not pipeline._is_of_family(), reason=f"the processor is no {pipeline.FAMILY}")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that has its compiled kernels."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copytree(sources.PACKAGE, folder / "swftools", ignore=shutil.ignore_patterns("__pycache__"))
    assert run(folder, is_new=True, **FOR_FAMILY) == COMPILED
    for path in [*folder.rglob("*.nbi"), *folder.rglob("*.nbc")]:
        place = path.parent.parent / pipeline.SHIPPED
        place.mkdir(exist_ok=True)
        path.rename(place / path.name)
    return folder


@pytest.fixture
def shipped(made: Path, tmp_path: Path) -> Path:
    """The same for a test of its own."""
    return shutil.copytree(made, tmp_path / "shipped")


@needs_jit
@is_of_family
def test_nothing_is_compiled(shipped: Path) -> None:
    """By whoever can write beside the sources or not; and nothing is written."""
    assert run(shipped) == "-1"
    assert {path.parent.name for path in shipped.rglob("*.nbi")} == {pipeline.SHIPPED}
    for folder in {path.parent for path in shipped.rglob("*.py")}:  # where nothing can be kept beside the sources
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
        (folder / "__pycache__").write_text("a file")
    assert run(shipped, XDG_CACHE_HOME="/dev/null/cache") == "-1"


@needs_jit
def test_another_processor_compiles(shipped: Path) -> None:
    """One that is no such; and one that the user names to numba."""
    lacks = f"""
from llvmlite import binding
features = binding.get_host_cpu_features
binding.get_host_cpu_features = lambda: {{**features(), {pipeline.NEEDED[1]!r}: False}}
"""
    assert run(shipped, lacks + FIRST_WAITING) == COMPILED
    for path in shipped.rglob("__pycache__"):
        shutil.rmtree(path)
    named = "import numba; numba.config.CPU_NAME = 'x86-64'"
    assert run(shipped, named + FIRST_WAITING) == COMPILED


@needs_jit
@is_of_family
def test_a_change_is_compiled(shipped: Path) -> None:
    """What calls it too; what the package has is left as it is."""
    before = {path.name: path.read_bytes() for path in shipped.rglob("*.nb?")}
    views = shipped / "swftools/simulator/machine/views.py"
    text = views.read_text()
    assert "def first_waiting(machine: Machine) -> int:" in text
    head, rest = text.split("def first_waiting(machine: Machine) -> int:", 1)
    views.write_text(f"{head}def first_waiting(machine: Machine) -> int:{rest.replace('return ', 'return 0 + ', 1)}")
    assert run(shipped) == "-1 first_waiting"
    assert run(shipped) == "-1"
    assert before == {path.name: path.read_bytes() for path in shipped.rglob(f"{pipeline.SHIPPED}/*")}


@pytest.mark.slow
@needs_jit
@is_of_family
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damage(shipped: Path, suffix: str) -> None:
    """It is compiled, once."""
    for path in shipped.rglob(f"*.{suffix}"):
        path.write_bytes(b"no pickle at all")
    assert run(shipped) == COMPILED
    assert run(shipped) == "-1"
    assert len(kept(shipped)) == 6


@pytest.mark.slow
@needs_jit
@is_of_family
def test_a_wheel_with_compiled_kernels(tmp_path: Path, shipped_log: Path) -> None:
    """What it was made to have is not compiled by who installs it."""
    words = ["simulate", str(shipped_log), "--policy", "fcfs"]
    subprocess.run([sys.executable, ROOT / "recipe/compiled_wheel.py", tmp_path / "dist", *words], check=True, cwd=ROOT)
    (wheel,) = (tmp_path / "dist").iterdir()
    assert f"-cp{sys.version_info[0]}{sys.version_info[1]}-none-linux_x86_64.whl" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path / "installed")
    text = f"""
from swftools import read_swf, simulate
from swftools.kernel.compiling import WATCH
simulate(read_swf({str(shipped_log)!r}), "fcfs")
print(WATCH.count)
"""
    assert run(tmp_path / "installed", text, is_new=True) == "0"
