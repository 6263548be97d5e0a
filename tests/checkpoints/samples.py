# SPDX-License-Identifier: BSD-3-Clause
"""A few jobs, and surveys of them, that the tests of checkpoints share."""

from __future__ import annotations

import io

from swftools import Trace
from swftools.checkpoints.inference import CheckpointParameters
from swftools.checkpoints.survey import CheckpointSurvey, read_checkpoint_survey

HEADER = "user_id,processors,job_number,submit_time,choice,interval_minutes\n"
ANSWERS_ALONE = CheckpointParameters(workload="answers")


def survey_of(*lines: str, comment: str = "") -> CheckpointSurvey:
    """Return the survey of some lines."""
    return read_checkpoint_survey(io.StringIO(comment + HEADER + "\n".join(lines)))


def drawn_trace() -> Trace:
    """Return six jobs of two users, and one of nobody."""
    return Trace.from_columns(
        job_number=[1, 2, 3, 4, 5, 6, 7],
        submit_time=[0, 10, 20, 30, 40, 50, 60],
        user_id=[7, 7, 7, 8, 8, 7, -1],
        allocated_processors=[4, -1, 8, 4, 4, -1, 4],
        requested_processors=[9, 4, 8, 4, 4, -1, 4],
        run_time=[3600, -1, 7200, 1800, 60, 5, 3600],
    )
