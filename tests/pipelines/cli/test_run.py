# SPDX-License-Identifier: BSD-3-Clause
"""swftools run: the task's path, and its parameters in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import pipelines
from pipelines.cli.main import main
from tests.pipelines.luigi_runs import SWFTOOLS, run


def test_the_path_of_the_output_is_printed(tmp_path: Path) -> None:
    """Also if it is there already; nothing else stands on standard output."""
    for _ in range(2):
        done = run([*SWFTOOLS, "run", "ParseLog", "--quiet"], tmp_path)
        assert (0, "") == (done.returncode, done.stderr)
        path = Path(done.stdout.removesuffix("\n"))
        assert (path.is_absolute(), path.parent) == (True, tmp_path / "data/.work/parsed")
        assert (path / "jobs.parquet").is_file()


# luigi would have each task's setting stand in a section of its own; ours share one.
SHARED_SETTING = pytest.mark.filterwarnings("ignore:The use of the configuration .swftools. data_root is deprecated")


@SHARED_SETTING
@pytest.mark.parametrize("name", dir(pipelines))
def test_help_of_a_task_lists_its_parameters(name: str) -> None:
    """Each with its description, and its default where there is one."""
    result = CliRunner().invoke(main, ["run", name, "--help"])
    assert 0 == result.exit_code
    text = " ".join(result.output.split())
    assert f"swftools run {name} [OPTIONS]" in text
    for parameter, kind in getattr(pipelines, name).get_params():
        assert f"--{parameter.replace('_', '-')} " in text
        assert kind.description.split()[0] in text


@SHARED_SETTING
def test_help_shows_defaults() -> None:
    """As a user would give them."""
    text = " ".join(CliRunner().invoke(main, ["run", "SimulatePolicy", "-h"]).output.split())
    assert "or leave both as they are. extend, kill, run-on [default: extend]" in text


@pytest.mark.parametrize("arguments", [["run", "--help"], ["run", "-h"]])
def test_help_of_run_itself(arguments: list[str]) -> None:
    """Without a task, the command's own."""
    result = CliRunner().invoke(main, arguments)
    assert (0, True) == (result.exit_code, "Example: swftools run CleanTrace" in result.output)
    assert f"Tasks: {', '.join(dir(pipelines))}." in " ".join(result.output.split())
