# SPDX-License-Identifier: BSD-3-Clause
"""The lowest versions of all that setup.cfg asks for: they say a number, and swftools works with them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from swftools.kernel import numba_adapter
from tests.folders import ROOT
from tests.test_packaging import setup

TOOLS = ("pytest", "pytest-benchmark", "pytest-timeout", "hypothesis", "jsonschema")
"""What tests need beside, of any version that agrees."""

TESTS = (
    *("tests/kernel/test_inner.py", "tests/kernel/test_layout.py", "tests/kernel/test_numba_adapter.py"),
    *("tests/formats/sge/test_sge_twin.py", "tests/formats/pbs/test_generated.py", "tests/cleaning"),
    *("tests/parameters", "tests/output", "tests/test_trace.py", "tests/test_selection.py", "tests/pipelines/store"),
)
"""What is run with them: some of each library's uses."""


def requirements() -> list[tuple[str, str, str]]:
    """Return of each requirement the name, the lowest version, and what is behind a semicolon."""
    lines = setup()["options"]["install_requires"].strip().splitlines()
    found = [re.fullmatch(r"([\w.-]+) >= ([\w.]+)(?:, < [\w.]+)?(; .*)?", line) for line in lines]
    return [(one[1], one[2], one[3] or "") for one in found if one]


def test_each_requirement_says_its_lowest_version() -> None:
    """Otherwise nobody knows what is to be tried."""
    lines = setup()["options"]["install_requires"].strip().splitlines()
    assert len(requirements()) == len(lines) > 15


def test_the_versions_of_numba_are_those_of_the_adapter() -> None:
    """What it takes for tried, and names as the remedy, is what is installed."""
    (line,) = (line for line in setup()["options"]["install_requires"].splitlines() if line.startswith("numba "))
    assert 'pip install "{}"'.format(line.replace(" ", "")) == numba_adapter.REMEDY


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has all in its lowest version."""
    folder = tmp_path_factory.mktemp("lowest")
    lowest = folder / "lowest.txt"
    lowest.write_text("".join(f"{name}=={version}{behind}\n" for name, version, behind in requirements()))
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    interpreter = folder / "venv/bin/python"
    pip = [interpreter, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    small = ["download", "--no-deps", "--dest", folder, f"anyascii=={requirements()[0][1]}"]
    reached = subprocess.run([*pip, *small], capture_output=True, text=True, check=False)
    if reached.returncode:
        pytest.skip(f"no package index can be reached: {reached.stderr.strip().splitlines()[-1]}")
    done = subprocess.run(
        [*pip, "install", "--only-binary", ":all:", "-r", lowest, *TOOLS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"the lowest versions do not agree, or have no wheels:\n{done.stderr}"
    return interpreter


def run(python: Path, folder: Path, *words: str) -> str:
    """Run Python with the lowest versions, and with compiled code in a folder of its own; return what it prints."""
    variables = {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(python.parent.parent / "kernels")}
    known = {
        name: value for name, value in os.environ.items() if not name.startswith(("SWFTOOLS_", "LUIGI_", "PYTEST"))
    }
    command = [str(python), *words]
    done = subprocess.run(
        command, cwd=folder, env={**known, **variables}, capture_output=True, text=True, check=False, timeout=3000
    )
    assert done.returncode == 0, f"{words}:\n{done.stdout[-8000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_a_data_set_and_a_simulation(python: Path, tmp_path: Path, shipped_log: Path) -> None:
    """What a user does first."""
    built = run(python, tmp_path, "-m", "luigi", "--module", "pipelines", "BuildAugmentedTrace")
    assert "5,000 jobs kept" in built
    main = "from pipelines.cli.main import main; main()"
    for words in (["describe"], ["simulate", "--policy", "easy"]):
        first, *options = words
        here = subprocess.run(
            [sys.executable, "-c", main, first, str(shipped_log), *options],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run(python, tmp_path, "-c", main, first, str(shipped_log), *options) == here.stdout


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_quick_tests(python: Path) -> None:
    """Those by day, of what uses the libraries most."""
    assert " passed" in run(python, ROOT, "-m", "pytest", "-q", "-x", *TESTS)
