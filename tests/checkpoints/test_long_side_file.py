# SPDX-License-Identifier: BSD-3-Clause
"""Side files of more lines than are written at once."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from swftools.checkpoints import inference, survey
from swftools.checkpoints.inference import read_checkpoints, write_checkpoints
from swftools.checkpoints.synthetic_survey import (
    CheckpointSurveyParameters,
    generate_checkpoint_survey,
    synthetic_survey,
)
from swftools.trace import Trace


def jobs(count: int) -> pd.DataFrame:
    """Return jobs every third of which writes checkpoints, and every fifth of which has no number."""
    number = np.arange(count)
    performs = number % 3 == 0
    return pd.DataFrame(
        {
            "job_number": pd.array(np.where(number % 5 == 0, -1, number), dtype="Int64"),
            "job_occurrence": pd.array(number % 2, dtype="Int64"),
            "performs_checkpointing": performs,
            "checkpoint_interval": np.where(performs, 60.0 * (1 + number % 7), np.nan),
            "checkpoint_source": pd.array(np.where(performs, "survey", "assumed-none"), dtype="str"),
            "is_checkpoint_survey_synthetic": False,
        }
    ).replace({"job_number": {-1: pd.NA}})


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 8, 9])
def test_every_line_is_written(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, to a path as to a file object, wherever the pieces part."""
    monkeypatch.setattr(inference, "_LINES_AT_ONCE", 4)
    monkeypatch.setattr(survey, "_LINES_AT_ONCE", 3)
    table = jobs(count)
    write_checkpoints(table, tmp_path / "side.csv")
    file = io.BytesIO()
    write_checkpoints(table, file)
    assert file.getvalue() == (tmp_path / "side.csv").read_bytes()
    pd.testing.assert_frame_equal(table, read_checkpoints(tmp_path / "side.csv"), check_dtype=False)


def test_a_made_up_survey_tells_all_of_its_jobs() -> None:
    """So its answers make the same survey again."""
    trace = Trace.from_columns(
        job_number=range(60),
        submit_time=range(60),
        user_id=[5, 6] * 30,
        requested_processors=[8] * 60,
        run_time=[9] * 60,
    )
    parameters = CheckpointSurveyParameters(seed=3)
    made = generate_checkpoint_survey(trace, parameters)
    again = synthetic_survey(made.answers, parameters)
    assert (made.comments, made.name) == (again.comments, again.name)
    assert "seed 3" in str(again.synthetic_note)
    assert made.answers[["job_number", "user_id", "processors", "submit_time"]].notna().all(axis=None)
