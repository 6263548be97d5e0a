"""What the replay reads of a log, and the table of what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.fields.dictionary import table_fields
from swftools.header import SwfHeader
from swftools.kernel import FloatArray
from swftools.qbets.queue_state import TOLD, TOO_FEW, TRAINING, UNAVAILABLE, Answers, Submissions
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace, integer_series, submit_timestamps

REASONS = {TRAINING: "training", TOO_FEW: "too-few-waits", UNAVAILABLE: "unavailable"}
"""Why a job is told nothing."""

GROUPS = {"queue": "queue_id", "partition": "partition_id", "user": "user_id", "group": "group_id"}
"""What jobs may be grouped by, and the column it stands in; any column by its own name too."""


def group_labels(jobs: pd.DataFrame, by: tuple[str, ...]) -> Any:
    """Return the group of each job, in words."""
    if not by:
        return np.full(len(jobs), "all", dtype=object)
    parts = []
    for name in by:
        column = GROUPS.get(name, name)
        if column not in jobs:
            raise ParameterError(f"by={name!r}: the log has no column {column!r}; there are: {', '.join(jobs.columns)}")
        text = jobs[column].astype("string").fillna("unknown")
        parts.append(text.to_numpy(dtype=object))
    return parts[0] if len(parts) == 1 else np.array(["/".join(words) for words in zip(*parts, strict=True)], object)


def read_submissions(jobs: pd.DataFrame, explanatory: str) -> Submissions:
    """Return jobs as they are submitted."""
    submit, wait = read_column(jobs, "submit_time"), read_column(jobs, "wait_time")
    if np.isnan(submit).any():
        raise ParameterError(f"{np.isnan(submit).sum()} jobs have no submit_time: clean the log")
    started = wait >= 0
    if "is_never_started" in jobs:
        started &= ~jobs["is_never_started"].fillna(False).to_numpy(dtype=bool)
    elif "run_time" in jobs:
        started &= ~np.isnan(read_column(jobs, "run_time"))
    if len(jobs) and not started.any():
        raise ParameterError(
            "the log does not say how long its jobs waited; simulate it: replay(simulate(trace, 'easy'))"
        )
    wait = np.where(started, wait, np.nan)
    time, width = read_column(jobs, "requested_time"), read_width(jobs)
    x = {"requested_time": time, "requested_processors": width, "requested_work": time * width}[explanatory]
    return Submissions(submit, submit + wait, wait, np.where(x >= 0, x, -1.0))


def occurrences(jobs: pd.DataFrame) -> Any:
    """Return how often the number of each job stood in the log before."""
    return jobs["job_occurrence"].array if "job_occurrence" in jobs else np.zeros(len(jobs), np.int64)


def read_width(jobs: pd.DataFrame) -> FloatArray:
    """Return requested processors, allocated ones where they are missing; NaN where both are."""
    requested, allocated = (read_column(jobs, f"{name}_processors") for name in ("requested", "allocated"))
    width = np.where(requested > 0, requested, allocated)
    return np.where(width > 0, width, np.nan)


def read_column(jobs: pd.DataFrame, name: str) -> FloatArray:
    """Return a column as numbers of its own; NaN where it, or a value, is missing."""
    if name not in jobs:
        return np.full(len(jobs), np.nan)
    return jobs[name].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)


def prediction_table(
    log: Trace | Schedule, labels: Any, method: str, columns: Submissions, answers: Answers
) -> pd.DataFrame:
    """Return what jobs are told, as users read it: the table ``wait_predictions`` of the column dictionary."""
    jobs, is_told = log.jobs, answers.reason == TOLD
    reason = pd.Series(answers.reason).map(REASONS)
    header = log.header if isinstance(log, Trace) else SwfHeader()
    stamps = jobs["submit_timestamp"] if "submit_timestamp" in jobs else submit_timestamps(jobs["submit_time"], header)
    table = pd.DataFrame(
        {
            "job_number": jobs["job_number"].array,
            "job_occurrence": occurrences(jobs),
            "method": method,
            "queue": labels,
            "submit_time": columns.submit,
            "submit_timestamp": stamps.array,
            "wait_time": columns.wait,
            "requested_time": read_column(jobs, "requested_time"),
            "processors": integer_series(read_width(jobs)).array,
            "wait_bound": np.where(is_told, answers.bound, np.nan),
            "withheld_bound": np.where(is_told, np.nan, answers.bound),
            "no_prediction": reason.astype("object").where(~is_told, None),
            "cluster": answers.cluster,
            "history_length": answers.kept,
            "is_trimmed": answers.kept < answers.known,
        }
    )
    return table[list(table_fields("wait_predictions"))]
