# SPDX-License-Identifier: BSD-3-Clause
"""The side file of checkpoints: written, read back, and refused where it is not one."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.checkpoints.inference import infer_checkpoints, read_checkpoints, write_checkpoints
from swftools.checkpoints.synthetic_survey import generate_checkpoint_survey
from swftools.errors import ParameterError
from tests.checkpoints.samples import drawn_trace, survey_of
from tests.naive.checkpoints import plain


def side_file_of(jobs: pd.DataFrame) -> str:
    """Return the text of the side file of jobs."""
    file = io.StringIO()
    write_checkpoints(jobs, file)
    return file.getvalue()


def test_a_hand_drawn_side_file() -> None:
    """One line a job in the order of the jobs, below what the file is."""
    trace = drawn_trace()
    columns = infer_checkpoints(trace, survey_of("7,4,1,,0,7.5", "7,8,3,,2,")).columns
    lines = side_file_of(trace.jobs.join(columns)[2::-1]).splitlines()
    assert [
        "job_number,performs_checkpointing,interval_minutes,source",
        "3,false,,survey",
        "2,true,7.5,inferred",
        "1,true,7.5,survey",
    ] == lines[2:]
    assert all(line.startswith("# ") and "synthetic" not in line for line in lines[:2])


def test_the_side_file_of_a_synthetic_survey_says_so(cleaned: Trace, tmp_path: Path) -> None:
    """Its first line is the mark, and what is read back has it; everything else is as written, to the last bit."""
    jobs = cleaned.jobs.join(infer_checkpoints(cleaned, generate_checkpoint_survey(cleaned)).columns)
    write_checkpoints(jobs, tmp_path / "side.csv")
    assert (tmp_path / "side.csv").read_text(encoding="utf-8").startswith("# synthetic: ")
    read = read_checkpoints(tmp_path / "side.csv")
    pd.testing.assert_frame_equal(jobs[list(read)], read, check_index_type=False)


def test_jobs_of_one_number_have_their_occurrence() -> None:
    """The column job_occurrence stands where the number is not the key, and only there."""
    trace = Trace.from_columns(job_number=[5, 5, -1], user_id=[1, 2, 1], requested_processors=[4, 4, 4])
    jobs = trace.jobs.join(infer_checkpoints(trace, survey_of("1,4,90,,0,5")).columns)
    text = side_file_of(jobs)
    assert ["job_number,job_occurrence,performs_checkpointing,interval_minutes,source", "5,0,true,5,inferred"] == (
        text.splitlines()[2:4]
    )
    assert [(5, 0), (5, 1), (None, 0)] == plain(read_checkpoints(io.StringIO(text)), "job_number", "job_occurrence")
    assert "job_occurrence" not in side_file_of(jobs.iloc[1:])
    assert "job_occurrence" in side_file_of(jobs.assign(job_occurrence=[0, 1, 0]).iloc[1:])


@given(st.lists(st.none() | st.floats(5e-324, 1e10, exclude_min=True), max_size=8))
def test_intervals_are_read_back_exactly(intervals: list[float | None]) -> None:
    """Seconds are written as minutes that give the same seconds."""
    jobs = pd.DataFrame(
        {
            "job_number": pd.array(range(len(intervals)), dtype="Int64"),
            "performs_checkpointing": np.array([interval is not None for interval in intervals], bool),
            "checkpoint_interval": np.array([math.nan if i is None else i for i in intervals], float),
            "checkpoint_source": pd.array(["inferred"] * len(intervals), dtype="str"),
            "is_checkpoint_survey_synthetic": np.zeros(len(intervals), bool),
        }
    )
    file = io.BytesIO()
    write_checkpoints(jobs, file)
    file.seek(0)
    read = read_checkpoints(file)
    pd.testing.assert_frame_equal(jobs, read.drop(columns="job_occurrence"), check_index_type=False)


def test_jobs_without_the_columns_are_refused() -> None:
    """The message names what is missing and where it comes from."""
    with pytest.raises(ParameterError, match=r"lack the columns \['performs_checkpointing', .*infer_checkpoints"):
        write_checkpoints(drawn_trace().jobs, io.StringIO())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "job_number,performs_checkpointing,source\n1,true,survey",
            "line 1: columns job_number,performs_checkpointing,",
        ),
        ("job_number,performs_checkpointing,interval_minutes,source,source\n", "(job_occurrence may be left out)"),
        ("1.5,true,5,survey", "line 2: job '1.5', occurrence '0': not whole numbers of 0 or more"),
        ("1,yes,5,survey", "line 2: performs_checkpointing='yes' is not true or false"),
        ("1,true,,survey", "line 2: interval_minutes='': a number above 0 where true, empty where false"),
        ("1,false,5,survey", "line 2: interval_minutes='5': a number above 0 where true, empty where false"),
        ("1,true,0,survey", "line 2: interval_minutes='0': a number above 0"),
        ("1,true,5,guess", "line 2: source='guess' is not survey, inferred, assumed-none"),
        (
            "1,true,5,assumed-none",
            "line 2: source='assumed-none' is not survey, inferred, assumed-none (which is never",
        ),
        ("1,true,5", "line 2: 3 cells, the header has 4"),
        ("", "no header line"),
    ],
)
def test_a_bad_side_file_is_refused(text: str, message: str) -> None:
    """The message names line, value and remedy."""
    header = "job_number,performs_checkpointing,interval_minutes,source\n"
    with pytest.raises(ParameterError) as caught:
        read_checkpoints(io.StringIO(text if text.startswith("job") or not text else header + text))
    assert message in str(caught.value)
