# SPDX-License-Identifier: BSD-3-Clause
"""A survey whose answers were settled: equal to the inference of that trace, and each job's own in what comes later."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from pipelines.logs.find import SHIPPED_LOG
from pipelines.logs.load import load_log
from swftools import Trace
from swftools.checkpoints.fixed_survey import (
    FixedCheckpointSurvey,
    fix_checkpoint_survey,
    infer_fixed_checkpoints,
)
from swftools.checkpoints.inference import CheckpointParameters, infer_checkpoints
from swftools.checkpoints.survey import CheckpointSurvey, read_checkpoint_survey
from swftools.checkpoints.synthetic_survey import generate_checkpoint_survey
from swftools.errors import ParameterError

HEADER = "user_id,processors,job_number,submit_time,choice,interval_minutes\n"


def survey_of(*lines: str) -> CheckpointSurvey:
    """Return a survey."""
    return read_checkpoint_survey(io.StringIO(HEADER + "\n".join(lines)))


@pytest.mark.parametrize("workload", ["pooled", "answers"])
def test_trace_of_which_it_was_settled(workload: str) -> None:
    """Has what the inference says; so have parts of it, in any order."""
    trace = load_log(SHIPPED_LOG).trace
    survey = generate_checkpoint_survey(trace)
    parameters = CheckpointParameters.from_mapping({"workload": workload, "seed": 4})
    expected = infer_checkpoints(trace, survey, parameters).columns
    fixed = fix_checkpoint_survey(trace, survey)
    pd.testing.assert_frame_equal(infer_fixed_checkpoints(trace, fixed, parameters), expected)
    some = np.random.default_rng(1).permutation(len(trace))[:700]
    part = infer_fixed_checkpoints(trace.with_jobs(trace.jobs.iloc[some]), fixed, parameters)
    pd.testing.assert_frame_equal(part, expected.iloc[some])


def test_answers_of_all_kinds() -> None:
    """By number, by time, by a number that is there twice, declined, without a user, of a job that is not there."""
    trace = Trace.from_columns(
        job_number=[1, 2, 2, 3, 4],
        submit_time=[0, 10, 20, 30, 40],
        user_id=[7, 7, 8, 8, 7],
        requested_processors=[4] * 5,
    )
    survey = survey_of(",4,1,,0,15", "8,4,2,20,1,", "8,4,,30,6,", "7,4,99,,5,")
    fixed = fix_checkpoint_survey(trace, survey)
    assert fixed.answers["user_id"].tolist() == [7, 8, 8, 7]
    assert fixed.answers["job_number"].tolist() == [1, 2, 3, -1]
    assert fixed.answers["job_occurrence"].tolist() == [0, 1, 0, -1]
    expected = infer_checkpoints(trace, survey).columns
    found = infer_fixed_checkpoints(trace, fixed)
    pd.testing.assert_frame_equal(found, expected)
    assert found["checkpoint_source"].tolist() == ["survey", "inferred", "survey", "inferred", "inferred"]


def test_later_jobs() -> None:
    """Of a user with answers they draw one for their width; of others they have none. The answered job may be away."""
    trace = Trace.from_columns(job_number=[1], user_id=[7], requested_processors=[4])
    fixed = fix_checkpoint_survey(trace, survey_of("7,4,1,,0,15", "9,4,50,,0,30"))
    later = Trace.from_columns(job_number=[50, 51, 52, 53], user_id=[9, 7, 7, 5], requested_processors=[4, 4, 8, 4])
    found = infer_fixed_checkpoints(later, fixed)
    assert found["checkpoint_source"].tolist() == ["inferred", "inferred", "assumed-none", "assumed-none"]
    assert found["checkpoint_interval"].fillna(0).tolist() == [1800.0, 900.0, 0.0, 0.0]
    assert len(infer_fixed_checkpoints(Trace.from_columns(job_number=[]), fixed)) == 0


def test_json_holds_it() -> None:
    """Answers and intervals, to the last bit."""
    trace = load_log(SHIPPED_LOG).trace
    fixed = fix_checkpoint_survey(trace, generate_checkpoint_survey(trace))
    back = FixedCheckpointSurvey.from_mapping(json.loads(json.dumps(fixed.to_mapping())))
    pd.testing.assert_frame_equal(back.answers, fixed.answers)
    assert back.is_synthetic


@pytest.mark.parametrize("damage", [{"interval": None}, {"user_id": ["x"]}, {"choice": [1]}])
def test_damage_is_told(damage: dict[str, object]) -> None:
    """What are no answers is not inferred from."""
    trace = Trace.from_columns(job_number=[1, 2], user_id=[7, 7], requested_processors=[4, 4])
    content = fix_checkpoint_survey(trace, survey_of("7,4,1,,0,15", "7,4,2,,0,15")).to_mapping()
    with pytest.raises(ParameterError, match="fit it again"):
        FixedCheckpointSurvey.from_mapping({**content, **damage})
    with pytest.raises(ParameterError, match="fit them again"):
        FixedCheckpointSurvey(pd.DataFrame({"user_id": [1]}), is_synthetic=False)


def test_survey_of_another_system() -> None:
    """Is refused as by the inference."""
    trace = Trace.from_columns(job_number=[1], user_id=[7], requested_processors=[4])
    with pytest.raises(ParameterError, match="is it the survey of another system"):
        fix_checkpoint_survey(trace, survey_of("8,4,5,,0,15"))
