# SPDX-License-Identifier: BSD-3-Clause
"""``convert --strict`` fails at the first line that is no job; without it the line is left out and counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.exit_statuses import FAILED

JOB = "1 0 -1 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n"


@pytest.mark.parametrize(("flags", "status"), [([], 0), (["--strict"], FAILED)])
def test_a_line_that_is_no_job(tmp_path: Path, flags: list[str], status: int) -> None:
    """With the flag nothing is written, and the line is named."""
    log, output = tmp_path / "log.swf", tmp_path / "out.swf"
    log.write_text(f"; MaxProcs: 4\n{JOB}half a line\n")
    result = CliRunner().invoke(main, ["convert", str(log), str(output), *flags])
    assert status == result.exit_code, result.output
    assert output.exists() == (status == 0)
    assert ("line 3" in result.output) == (status == FAILED)
