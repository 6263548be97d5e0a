# SPDX-License-Identifier: BSD-3-Clause
"""What the batch system itself said of waits, where a log has it, as predictions like any other."""

from __future__ import annotations

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.qbets.log_columns import group_labels, prediction_table, read_column, read_submissions
from swftools.qbets.queue_state import TOO_FEW, TRAINING, no_answers
from swftools.trace import Trace

COLUMN = "estimated_wait_time"
METHOD = "batch-system"


def logged_estimates(log: Trace, by: str | None = "queue", *, like: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the waits that the batch system itself predicted at submission, as a table of predictions.

    Parameters
    ----------
    log : Trace
        Jobs with a column ``estimated_wait_time`` (s).
    by : str or None
        What jobs are grouped by, as in ``replay``.
    like : pandas.DataFrame, optional
        Predictions of the same log: jobs of their training do not count here either, so that methods are compared on
        the same jobs.

    Returns
    -------
    pandas.DataFrame
        The table ``wait_predictions`` of the column dictionary, with the method ``batch-system``, for ``evaluate``. A
        job without an estimate has no prediction (``too-few-waits``). An estimate is a guess of the wait, not a bound.

    Raises
    ------
    ParameterError
        The log has no such column, no waits, or ``like`` is of other jobs.
    """
    jobs = log.jobs
    if COLUMN not in jobs:
        raise ParameterError(f"the log has no column {COLUMN!r}: what its batch system said of waits is not known")
    answers = no_answers(len(jobs))
    answers.bound[:] = read_column(jobs, COLUMN)
    answers.reason[np.isnan(answers.bound)] = TOO_FEW
    if like is not None:
        if len(like) != len(jobs) or not (like["job_number"].to_numpy() == jobs["job_number"].to_numpy()).all():
            raise ParameterError("the predictions of like= are of other jobs than the log's")
        answers.reason[like["no_prediction"].eq("training").fillna(False).to_numpy(bool)] = TRAINING
    labels = group_labels(jobs, () if by is None else tuple(each.strip() for each in by.split(",")))
    return prediction_table(log, labels, METHOD, read_submissions(jobs, "requested_time"), answers)
