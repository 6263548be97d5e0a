# SPDX-License-Identifier: BSD-3-Clause
"""A data root of a kind that there is not is a wrong value, told before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.tasks.acquire import AcquireLog
from swftools.errors import ParameterError
from tests.pipelines.luigi_runs import SWFTOOLS, run


@pytest.mark.parametrize("root", ["gs://bucket/prefix", "file:///data", ""])
def test_a_task_is_not_made(root: str) -> None:
    """The message names the root and the kinds that there are."""
    with pytest.raises(ParameterError, match=f"data root '{root}': give a local directory or s3://bucket/prefix"):
        AcquireLog(data_root=root)


def test_it_is_status_2(tmp_path: Path) -> None:
    """And nothing is made."""
    done = run([*SWFTOOLS, "augment", "--data-root", "gs://bucket"], tmp_path)
    assert 2 == done.returncode
    assert "give a local directory or s3://bucket/prefix" in done.stderr
    assert [] == list(tmp_path.iterdir())
