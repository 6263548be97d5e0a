# SPDX-License-Identifier: BSD-3-Clause
"""From answers to jobs: a job has its own answer, or one drawn from its user's answers for jobs as wide.

Where answers belong is found by ``inference.py``, for a whole trace, or was found before, for one that grows
(``fixed_survey.py``). Draws are keyed by job, so any order of jobs and of answers gives the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.checkpoints.survey import DECLINED, YES
from swftools.kernel import kernel
from swftools.keyed_random import STATE_LENGTH, count_occurrences, next_uniform, start_stream, step_key
from swftools.trace import JobArrays, Trace

IntArray = npt.NDArray[np.int64]

SOURCES = ("survey", "inferred", "assumed-none")
SURVEY, INFERRED, ASSUMED_NONE = range(3)


class _Pools(NamedTuple):
    """Answers sorted by user, processors, choice and interval, and where each job's pool is in them."""

    choice: IntArray
    interval: npt.NDArray[np.float64]
    first: IntArray
    size: IntArray


def columns_of_answers(
    trace: Trace, answers: pd.DataFrame, row: IntArray, *, seed: int, is_pooled: bool, is_synthetic: bool
) -> pd.DataFrame:
    """Return the columns of the augmentation ``checkpoints``.

    Parameters
    ----------
    trace : Trace
        Its key (job_number, job_occurrence), user and width are used.
    answers : pandas.DataFrame
        With user_id, processors, choice and interval (s), one answer for each job.
    row : array of int, shape (answers,)
        The row of the job of each answer, -1 for none; no job has two.
    seed : int
        Seed of the draws.
    is_pooled : bool
        Whether jobs without an answer draw one from those of their user for jobs as wide.
    is_synthetic : bool
        What the column says of the survey.
    """
    arrays = trace.views
    choice = answers["choice"].to_numpy(np.int64)
    source = np.full(len(trace), ASSUMED_NONE, np.int8)
    job_choice, job_interval = np.full(len(trace), -1), np.full(len(trace), np.nan)
    given = (row >= 0) & (choice != DECLINED)
    source[row[given]] = SURVEY
    job_choice[row[given]], job_interval[row[given]] = choice[given], answers["interval"].to_numpy(float)[given]
    if is_pooled:
        pools = _pools(answers, row, arrays)
        drawn, sizes = np.full(len(trace), -1), np.where(source == SURVEY, 0, pools.size)
        step = np.uint64(step_key("checkpoints"))
        _draw(np.uint64(seed), step, arrays.job_number, count_occurrences(trace.jobs), pools.first, sizes, drawn)
        inferred = drawn >= 0
        source[inferred] = INFERRED
        job_choice[inferred], job_interval[inferred] = pools.choice[drawn[inferred]], pools.interval[drawn[inferred]]
    columns: dict[str, Any] = {
        "performs_checkpointing": job_choice == YES,
        "checkpoint_interval": job_interval,
        "checkpoint_choice": pd.arrays.IntegerArray(job_choice, job_choice < 0),
        "checkpoint_source": words(source, SOURCES),
        "is_checkpoint_survey_synthetic": np.full(len(trace), is_synthetic),
    }
    return pd.DataFrame(columns, index=trace.jobs.index)


def words(codes: npt.NDArray[np.int8], names: tuple[str, ...]) -> Any:
    """Return a column of words from their codes."""
    return pa.DictionaryArray.from_arrays(codes, list(names)).cast(pa.string()).to_pandas().astype("str").array


def users_of(answers: pd.DataFrame, row: IntArray, arrays: JobArrays) -> IntArray:
    """Return the user of each answer, that of its job where the answer does not tell; -1 for unknown."""
    user = answers["user_id"].to_numpy(np.int64, na_value=-1)
    return np.where(user >= 0, user, np.where(row >= 0, np.append(arrays.user_id, -1)[row], -1))


def _pools(answers: pd.DataFrame, row: IntArray, arrays: JobArrays) -> _Pools:
    """Return the pooled answers, and the pool of every job (size 0: none)."""
    user = users_of(answers, row, arrays)
    choice = answers["choice"].to_numpy(np.int64)
    usable = (user >= 0) & (choice != DECLINED)
    user, choice = user[usable], choice[usable]
    processors, interval = answers["processors"].to_numpy(np.int64)[usable], answers["interval"].to_numpy(float)[usable]
    order = np.lexsort((interval, choice, processors, user))
    user, processors = user[order], processors[order]
    users, widths = np.unique(user), np.unique(processors)
    key = np.searchsorted(users, user) * len(widths) + np.searchsorted(widths, processors)
    known = np.isin(arrays.user_id, users) & np.isin(arrays.width, widths)
    theirs = np.searchsorted(users, arrays.user_id) * len(widths) + np.searchsorted(widths, arrays.width)
    wanted = np.where(known, theirs, -1)
    first, last = np.searchsorted(key, wanted), np.searchsorted(key, wanted, "right")
    return _Pools(choice[order], interval[order], first, last - first)


@kernel
def _draw(
    seed: np.uint64,
    step: np.uint64,
    job_number: IntArray,
    occurrence: IntArray,
    first: IntArray,
    size: IntArray,
    out: IntArray,
) -> None:
    """Fill in the place of the answer drawn for every job whose pool is not empty."""
    state = np.zeros(STATE_LENGTH, np.uint64)
    for i in range(len(out)):
        if size[i] > 0:
            start_stream(state, seed, step, job_number[i], occurrence[i])
            out[i] = first[i] + np.int64(next_uniform(state) * size[i])
