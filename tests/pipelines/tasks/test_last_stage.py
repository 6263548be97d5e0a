# SPDX-License-Identifier: BSD-3-Clause
"""The last stage of BuildAugmentedTrace: files agree with tables, and nothing is read that is not needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipelines.logs.find import SHIPPED_LOG
from pipelines.store.data_root import DataRoot
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.clean import CleanTrace
from swftools import read_swf, write_swf
from swftools.checkpoints.inference import read_checkpoints, write_checkpoints
from swftools.checkpoints.survey import write_checkpoint_survey
from swftools.checkpoints.synthetic_survey import generate_checkpoint_survey
from swftools.formats.parquet import read_parquet
from tests.pipelines.small_logs import build, small_log


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> BuildAugmentedTrace:
    """The shipped log, published."""
    finished = BuildAugmentedTrace(log=SHIPPED_LOG, data_root=str(tmp_path_factory.mktemp("data")))
    assert build(finished)
    return finished


def test_files_are_those_of_a_trace_with_all_columns(task: BuildAugmentedTrace, tmp_path: Path) -> None:
    """As ``write_swf`` and the writers of checkpoints make them of one DataFrame, which this stage never has."""
    version, name = Path(task.output().path), task.data_set_name
    trace = task.clone(CleanTrace).load()
    whole = trace.with_jobs(read_parquet(version / "jobs" / "part-0.parquet").jobs)
    write_swf(whole, tmp_path / "log.swf.gz")
    write_checkpoints(whole.jobs, tmp_path / "checkpoints.csv")
    write_checkpoint_survey(generate_checkpoint_survey(trace), tmp_path / "survey.csv")
    expected = {
        f"{name}.swf.gz": "log.swf.gz",
        f"{name}.synthetic-checkpoints.csv": "checkpoints.csv",
        f"{name}.synthetic-checkpoint-survey.csv": "survey.csv",
    }
    for published, ours in expected.items():
        assert (tmp_path / ours).read_bytes() == (version / published).read_bytes(), published
    assert 5000 == len(read_swf(version / f"{name}.swf.gz"))
    pd.testing.assert_series_equal(
        whole.jobs["checkpoint_interval"],
        read_checkpoints(version / f"{name}.synthetic-checkpoints.csv")["checkpoint_interval"],
    )


def test_no_table_is_read_to_say_that_it_is_there(
    task: BuildAugmentedTrace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second run tells what is published from the manifest."""

    def read_table(*_: Any) -> None:
        raise AssertionError("a table was read")

    monkeypatch.setattr(DataRoot, "read_table", read_table)
    assert build(task)
    assert capsys.readouterr().out.startswith("already complete: data set")


def test_a_log_without_jobs_to_ask_about_has_its_files_too(tmp_path: Path) -> None:
    """Three jobs, one answer or none: the side files are there, and the SWF file reads back."""
    (tmp_path / "small.swf").write_text(small_log(3))
    small = BuildAugmentedTrace(log=str(tmp_path / "small.swf"), data_root=str(tmp_path / "data"))
    assert build(small)
    version = Path(small.output().path)
    assert 3 == len(read_checkpoints(version / "small.synthetic-checkpoints.csv"))
    assert (version / "small.synthetic-checkpoint-survey.csv").read_text().startswith("# synthetic")
    assert [1, 2, 3] == read_swf(version / "small.swf.gz").jobs["job_number"].tolist()
