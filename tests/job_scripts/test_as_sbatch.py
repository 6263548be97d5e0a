# SPDX-License-Identifier: BSD-3-Clause
"""Scripts give the request that a real ``sbatch`` made of them; those that it refuses are refused, naming the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from swftools.errors import JobScriptError
from swftools.job_scripts import read_job_script
from tests.job_scripts.scripts import REFUSED, SCRIPTS
from tests.job_scripts.submitted import recorded, rows_of_request

RECORDED = recorded()


def test_every_script_is_recorded() -> None:
    """All 110 of them."""
    assert list(RECORDED) == list(SCRIPTS)
    assert len(RECORDED) == 110


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_request_is_that_of_sbatch(name: str, tmp_path: Path) -> None:
    """Nodes, processors, GPUs, memory where some is requested, time, partition, and how many jobs an array is."""
    script = SCRIPTS[name]
    path = tmp_path / "job.sh"
    path.write_text(script.text)
    request = read_job_script(path, arguments=script.arguments, environment=script.environment)
    assert rows_of_request(name, request, RECORDED[name]) == RECORDED[name]


@pytest.mark.parametrize("name", REFUSED)
def test_a_script_that_sbatch_refuses(name: str, tmp_path: Path) -> None:
    """The error names file and line."""
    line, script = REFUSED[name]
    path = tmp_path / "job.sh"
    path.write_text(script.text)
    with pytest.raises(JobScriptError) as raised:
        read_job_script(path, arguments=script.arguments, environment=script.environment)
    assert str(raised.value).startswith(f"{path}: line {line}: ")
    assert "; " in str(raised.value)
