# SPDX-License-Identifier: BSD-3-Clause
"""What the replay reads of a log, and the table of what it says; what the batch system said itself, as predictions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.errors import ParameterError
from swftools.fields.dictionary import known_later, table_fields
from swftools.header import SwfHeader
from swftools.kernel import FloatArray, IntArray
from swftools.qbets.queue_state import TOLD, TOO_FEW, TRAINING, Answers, Submissions, no_answers
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace, integer_series, submit_timestamps

REASONS = ("training", "too-few-waits", "unavailable")
"""Why a job is told nothing, in words: TRAINING, TOO_FEW and UNAVAILABLE, which begin at 1."""

GROUPS = {"queue": "queue_id", "partition": "partition_id", "user": "user_id", "group": "group_id"}
"""What jobs may be grouped by, and the column it stands in; any column by its own name too."""


def group_labels(jobs: pd.DataFrame, by: tuple[str, ...]) -> Any:
    """Return the group of each job, in words: categories in order that are all met."""
    labels = _labels(np.zeros(len(jobs), np.int64), ["all"])
    for number, name in enumerate(by):
        column = GROUPS.get(name, name)
        if known_later([column]):
            raise ParameterError(
                f"by={name!r}: column {column!r} is not known at the submission of a job, when its bound is predicted"
            )
        if column not in jobs:
            raise ParameterError(f"by={name!r}: the log has no column {column!r}; there are: {', '.join(jobs.columns)}")
        codes, distinct = pd.factorize(jobs[column])
        part = _labels(codes, pd.Series(distinct).astype("string"))
        labels = part if number == 0 else _pairs(labels, part)
    return labels


def _labels(codes: IntArray, words: Iterable[str]) -> Any:
    """Return words by code, of which -1 is unknown, as categories in order that are all met."""
    categories, place = np.unique([*words, "unknown"], return_inverse=True)
    chosen: Any = place[codes]
    return pd.Categorical.from_codes(chosen, pd.Index(categories)).remove_unused_categories()


def _pairs(one: Any, other: Any) -> Any:
    """Return the groups of two groupings, such as 3/unknown."""
    many = len(other.categories)
    codes, distinct = pd.factorize(one.codes.astype(np.int64) * many + other.codes)
    return _labels(codes, [f"{one.categories[pair // many]}/{other.categories[pair % many]}" for pair in distinct])


def read_submissions(jobs: pd.DataFrame, explanatory: str, *, may_lack_waits: bool = False) -> Submissions:
    """Return jobs as they are submitted; refuse those of which none says how long it waited, unless that may be."""
    submit, wait = read_column(jobs, "submit_time"), read_column(jobs, "wait_time")
    if np.isnan(submit).any():
        raise ParameterError(f"{np.isnan(submit).sum()} jobs have no submit_time: clean the log")
    started = np.isfinite(wait) & (wait >= 0)
    if "is_never_started" in jobs:
        started &= ~jobs["is_never_started"].fillna(False).to_numpy(dtype=bool)
    elif "run_time" in jobs:
        started &= ~np.isnan(read_column(jobs, "run_time"))
    if len(jobs) and not started.any() and not may_lack_waits:
        raise ParameterError(
            "the log does not say how long its jobs waited; simulate it: replay(simulate(trace, 'easy'))"
        )
    wait = np.where(started, wait, np.nan)
    if explanatory == "requested_time":
        x = read_column(jobs, "requested_time")
    else:
        x = read_width(jobs) * (read_column(jobs, "requested_time") if explanatory == "requested_work" else 1.0)
    return Submissions(submit, wait, np.where(x >= 0, x, -1.0))


def occurrences(jobs: pd.DataFrame) -> Any:
    """Return how often the number of each job stood in the log before; jobs of one number are in order of rows."""
    if "job_occurrence" in jobs:
        return jobs["job_occurrence"].array
    number = jobs["job_number"].to_numpy(np.int64, na_value=-1)
    rises = (number[1:] > number[:-1]).all()  # as nearly always, and then none stands twice
    return (
        np.zeros(len(jobs), np.int64)
        if rises
        else jobs.groupby("job_number", dropna=False).cumcount().to_numpy(np.int64)
    )


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
    """Return what jobs are told, as users read it: the table ``wait_predictions`` of the column dictionary.

    What the log says of them is the log's own; pandas copies it before either is changed. The bounds become part of the
    table.
    """
    jobs, is_told = log.jobs.reset_index(drop=True), answers.reason == TOLD
    withheld = np.where(is_told, np.nan, answers.bound)
    answers.bound[~is_told] = np.nan
    header = log.header if isinstance(log, Trace) else SwfHeader()
    stamps = jobs["submit_timestamp"] if "submit_timestamp" in jobs else submit_timestamps(jobs["submit_time"], header)
    made = {
        "job_number": jobs["job_number"],
        "job_occurrence": occurrences(jobs),
        "method": _text(np.zeros(len(jobs), np.int8), [method]),
        "queue": _text(labels.codes, labels.categories),
        "submit_time": columns.submit,
        "submit_timestamp": stamps,
        "wait_time": columns.wait,
        "requested_time": read_column(jobs, "requested_time"),
        "processors": integer_series(read_width(jobs)),
        "wait_bound": answers.bound,
        "withheld_bound": withheld,
        "no_prediction": _text(answers.reason - 1, REASONS),
        "cluster": answers.cluster.astype(np.int64),
        "history_length": answers.kept.astype(np.int64),
        "is_trimmed": answers.kept < answers.known,
    }
    return pd.DataFrame({name: made[name] for name in table_fields("wait_predictions")}, copy=False)


def _text(codes: npt.NDArray[Any], words: Iterable[str]) -> Any:
    """Return words by code, of which -1 is missing, without an object in Python for each."""
    return pa.array(words, pa.large_string()).take(pa.array(codes, mask=codes < 0)).to_pandas()


COLUMN = "estimated_wait_time"
METHOD = "batch-system"


def logged_estimates(
    log: Trace, by: str | None = "queue", *, like: pd.DataFrame | None = None, may_lack_waits: bool = False
) -> pd.DataFrame:
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
    may_lack_waits : bool
        Whether jobs of which none says how long it waited are taken too.

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
    return prediction_table(
        log, labels, METHOD, read_submissions(jobs, "requested_time", may_lack_waits=may_lack_waits), answers
    )
