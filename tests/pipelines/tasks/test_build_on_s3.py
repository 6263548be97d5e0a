# SPDX-License-Identifier: BSD-3-Clause
"""BuildAugmentedTrace with its data root on S3: the same version, byte for byte, and the same second run."""

from __future__ import annotations

from pathlib import Path

import luigi
import pytest
from pyarrow import fs

from pipelines.tasks.build import BuildAugmentedTrace
from tests.pipelines.conftest import BUCKET
from tests.pipelines.luigi_runs import build

LOG = "; UnixStartTime: 956700003\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"


@pytest.fixture
def task(bucket: fs.S3FileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BuildAugmentedTrace:
    """A build to S3 whose stages work in a local directory."""
    monkeypatch.setenv("SWFTOOLS_WORK_ROOT", str(tmp_path / "work"))
    (tmp_path / "tiny.swf").write_text(LOG)
    return BuildAugmentedTrace(log=str(tmp_path / "tiny.swf"), data_root=f"s3://{BUCKET}/traces", augment="")


def test_it_publishes_the_bytes_that_a_directory_gets(
    task: BuildAugmentedTrace, bucket: fs.S3FileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every object under the version equals the local file; no directory named after the address appears."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    assert not task.complete()
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    assert task.complete()
    assert [] == list(empty.iterdir())
    assert 0 == build(tmp_path, "--BuildAugmentedTrace-log", "tiny.swf", "--augment", "").returncode
    local = tmp_path / "data" / "tiny" / task.version
    files = [path.relative_to(local).as_posix() for path in local.rglob("*") if path.is_file()]
    assert {"manifest.json", "jobs/part-0.parquet", "tiny.swf.gz"} <= set(files)
    for name in files:
        with bucket.open_input_file(f"{BUCKET}/traces/tiny/{task.version}/{name}") as remote:
            assert (local / name).read_bytes() == remote.readall(), name
