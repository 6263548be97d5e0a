# SPDX-License-Identifier: BSD-3-Clause
"""A checkpoint survey of a trace that grows: answers are assigned to jobs once, and stay.

In a whole trace an answer belongs to the job that fits it best, and a synthetic survey is made up over all jobs; so a
further job may change those of others. Here the answers are given to the jobs of a beginning of the trace. Each later
job draws by its own key, user and width alone, and so has the same answer whatever jobs come, and in any order.

References
----------
Lee 2009, "On the user-scheduler relationship in high-performance computing", section 6.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.checkpoints.inference import CheckpointParameters, match_answers
from swftools.checkpoints.pools import columns_of_answers, users_of
from swftools.checkpoints.survey import CheckpointSurvey
from swftools.errors import ParameterError
from swftools.keyed_random import count_occurrences
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]

_INTEGERS = ("user_id", "processors", "choice", "job_number", "job_occurrence")
_COLUMNS = (*_INTEGERS, "interval")


@dataclass(frozen=True, eq=False)
class FixedCheckpointSurvey:
    """Survey answers that are assigned to jobs.

    Parameters
    ----------
    answers : pandas.DataFrame
        One row for each answer: user_id, processors, choice, the key job_number and job_occurrence of its job, -1 where
        unknown, int64; interval, s, float64. Without a job the occurrence is -1.
    is_synthetic : bool
        Whether it was made up, and no user was asked.

    Raises
    ------
    ParameterError
        The columns differ from these.
    """

    answers: pd.DataFrame
    is_synthetic: bool

    def __post_init__(self) -> None:
        if tuple(self.answers) != _COLUMNS:
            raise ParameterError(f"checkpoints: columns {list(self.answers)}, not {list(_COLUMNS)}; fit them again")

    @classmethod
    def from_mapping(cls, fitted: Mapping[str, Any]) -> Self:
        """Return what ``to_mapping`` returned.

        Raises
        ------
        ParameterError
            It is damaged.
        """
        try:
            columns = {name: np.array(fitted[name], dtype=np.int64) for name in _INTEGERS}
            interval = [np.nan if seconds is None else seconds for seconds in fitted["interval"]]
            answers = pd.DataFrame({**columns, "interval": np.array(interval, dtype=np.float64)})
            return cls(answers, bool(fitted["is_synthetic"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ParameterError(f"checkpoints: what was fitted is damaged ({error}); fit it again") from error

    def to_mapping(self) -> dict[str, Any]:
        """Return it as JSON holds it, to the last bit."""
        columns: dict[str, Any] = {name: self.answers[name].tolist() for name in _INTEGERS}
        interval = [None if np.isnan(seconds) else seconds for seconds in self.answers["interval"].tolist()]
        return {"is_synthetic": self.is_synthetic, **columns, "interval": interval}


def fix_checkpoint_survey(trace: Trace, survey: CheckpointSurvey) -> FixedCheckpointSurvey:
    r"""Assign the answers of a survey to jobs of a trace.

    Parameters
    ----------
    trace : Trace
        As for ``infer_checkpoints``.
    survey : CheckpointSurvey
        Answers that fit no job of the trace still count for their user, but are not given to a later job.

    Raises
    ------
    ParameterError
        As ``infer_checkpoints`` says.

    Examples
    --------
    >>> import io
    >>> from swftools.checkpoints.survey import read_checkpoint_survey
    >>> trace = Trace.from_columns(job_number=[1], user_id=[7], requested_processors=[4])
    >>> survey = io.StringIO("user_id,processors,job_number,choice,interval_minutes\n7,4,1,0,15")
    >>> fixed = fix_checkpoint_survey(trace, read_checkpoint_survey(survey))
    >>> later = Trace.from_columns(job_number=[1, 2], user_id=[7, 7], requested_processors=[4, 4])
    >>> infer_fixed_checkpoints(later, fixed)["checkpoint_source"].tolist()
    ['survey', 'inferred']
    """
    answers, row, _ = match_answers(trace, survey)
    is_known = row >= 0
    number = np.append(trace.views.job_number, -1)[row]
    occurrence = np.append(count_occurrences(trace.jobs), -1)[row]
    columns = {
        "user_id": users_of(answers, row, trace.views),
        "processors": answers["processors"].to_numpy(np.int64),
        "choice": answers["choice"].to_numpy(np.int64),
        "job_number": np.where(is_known, number, -1),
        "job_occurrence": np.where(is_known, occurrence, -1),
        "interval": answers["interval"].to_numpy(np.float64),
    }
    return FixedCheckpointSurvey(pd.DataFrame(columns), survey.is_synthetic)


def infer_fixed_checkpoints(
    trace: Trace, fixed: FixedCheckpointSurvey, parameters: CheckpointParameters | None = None
) -> pd.DataFrame:
    """Infer which jobs of a trace write checkpoints, from answers that are assigned to jobs.

    Parameters
    ----------
    trace : Trace
        The trace for which the answers were assigned, or a part or a continuation of it, with the same keys.
    fixed : FixedCheckpointSurvey
        From ``fix_checkpoint_survey``.
    parameters : CheckpointParameters, optional
        Defaults if not given.

    Returns
    -------
    pandas.DataFrame
        The same columns as from ``infer_checkpoints``, with equal values for the trace for which they were assigned.
    """
    chosen = parameters or CheckpointParameters()
    row = _rows(trace, fixed.answers)
    is_pooled = chosen.workload == "pooled"
    answers = fixed.answers
    return columns_of_answers(
        trace, answers, row, seed=chosen.seed, is_pooled=is_pooled, is_synthetic=fixed.is_synthetic
    )


def _rows(trace: Trace, answers: pd.DataFrame) -> IntArray:
    """Return the row of the job of each answer, -1 for those whose job is not in the trace."""
    wanted = answers["job_occurrence"] >= 0
    keys = {
        key: place
        for place, key in zip(
            np.flatnonzero(wanted),
            zip(answers["job_number"][wanted], answers["job_occurrence"][wanted], strict=True),
            strict=True,
        )
    }
    row = np.full(len(answers), -1)
    numbers, occurrences = trace.views.job_number, count_occurrences(trace.jobs)
    for job in np.flatnonzero(np.isin(numbers, answers["job_number"][wanted])).tolist():
        place = keys.get((numbers[job], occurrences[job]))
        if place is not None:
            row[place] = job
    return row
