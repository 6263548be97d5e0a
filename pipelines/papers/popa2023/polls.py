# SPDX-License-Identifier: BSD-3-Clause
"""The rows of the study: what it learns from, what was known at the poll, and which days are for training and tests.

Popa and Alain 2023, docs/0_Data.md and docs/1_Methods.md. A row is a job that was submitted before noon of a day and
still waited at noon. What is predicted is log10 of the seconds that it still had to wait.

Reading chosen
    Days are drawn as the public code draws them: from all days of the set, in order, by numpy's RandomState(46). A day
    that is missing on this machine is drawn, too, and lacks its rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pipelines.logs.tables import Tables
from swftools.kernel import BoolArray, FloatArray, IntArray

SEED = 46
"""Of the days that are drawn."""

SHARE, PAST_SHARE = 0.1, 0.2
"""Of the days that are for tests, and again for validation; and for validation of those before a day."""

LEFT_OUT = (
    *("wait_ahead", "waited", "file", "requested_time", "time_limit", "req_tres", "run_time", "poll_wait", "end_time"),
    *("submit_wait", "submit_wait_sec", "eligible_wait", "eligible_wait_sec", "job_augment_id", "job_summary_id"),
    *("q_core_run_hours", "q_p_core_run_hours", "q_a_core_run_hours", "q_p_a_core_run_hours"),
    *("logged_state", "priority_x"),
)
"""Columns that the study does not learn from: it calls them ground truth, the requested time among them."""

LEAKS = (
    *("elapsed_time", "alloc_nodes"),
    *("q_gpu_run_hours", "q_p_gpu_run_hours", "q_a_gpu_run_hours", "q_p_a_gpu_run_hours"),
)
"""Columns of the study that nobody knew at the poll: the run time of the job, granted nodes, run times of others."""

KEYS = ("log_id", "cluster_id", "pending_id", "running_id", "sshare_id")
"""Columns of the study that number rows, of the log or of the snapshot."""

DATES = ("submit_time", "eligible_time", "poll_time")

THEIRS, WITHOUT_RUN_TIME, HONEST = COLUMN_SETS = ("theirs", "without-run-time", "honest")
"""What is learnt from: the 76 columns of the study; these without ``elapsed_time``; what was known at the poll."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Days(NamedTuple):
    """Days for training, validation and tests, by their dates; with replacement where a day stands twice."""

    train: list[str]
    valid: list[str]
    test: list[str]


class Rows(NamedTuple):
    """Rows of which no column is missing or infinite.

    ``table`` has all their columns, ``day`` the place of each row's day among ``days``, which are all of the set, and
    ``target`` log10 of the seconds that it still waits.
    """

    table: pd.DataFrame
    day: IntArray
    days: list[str]
    target: FloatArray

    def of(self, days: Sequence[str]) -> IntArray:
        """Return the rows of some days, day by day; of a day that is named twice, twice."""
        places = {day: place for place, day in enumerate(self.days)}
        parts = [np.flatnonzero(self.day == places[day]) for day in days]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def known_by(self, poll: float) -> BoolArray:
        """Return whether the wait of each row was over at some time, s since 1970."""
        table = self.table
        known: BoolArray = (table["poll_time"] + table["wait_ahead"]).to_numpy() <= poll
        return known


def day_of(file: str) -> str:
    """Return the date in the name of a file."""
    found = _DAY.search(file)
    return found[0] if found else file


def complete_rows(polls: Tables) -> Rows:
    """Return the rows that the study keeps: it drops each in which a column is missing or infinite."""
    table = polls.table.replace([np.inf, -np.inf], np.nan).dropna().reset_index(drop=True)
    return rows_of(polls, table)


def rows_of(polls: Tables, table: pd.DataFrame) -> Rows:
    """Return rows of a table, with their days."""
    days = [day_of(file) for file in polls.files]
    places = {file: place for place, file in enumerate(polls.files)}
    day: IntArray = np.array([places[file] for file in table["file"]], dtype=np.int64)
    return Rows(table, day, days, np.log10(table["wait_ahead"].to_numpy(np.float64)))


def random_days(days: Sequence[str]) -> Days:
    """Return the days as the study draws them: a tenth for tests, as many of the others for validation."""
    rng = np.random.RandomState(SEED)
    count = math.ceil(SHARE * len(days))
    test = sorted(map(str, rng.choice(sorted(days), count, replace=False)))
    valid = sorted(map(str, rng.choice(sorted(set(days) - set(test)), count, replace=False)))
    return Days(sorted(set(days) - {*test, *valid}), valid, test)


def days_before(days: Sequence[str], place: int) -> Days:
    """Return the day at a place, from 0 on, for tests, and those before it for training, a fifth for validation.

    These are drawn with replacement, as the code of the study does it, so a day may be in them twice.
    """
    rng = np.random.RandomState(SEED)
    before = sorted(days)[:place]
    valid = sorted(map(str, rng.choice(before, math.ceil(PAST_SHARE * place))))
    return Days(sorted(set(before) - set(valid)), valid, [sorted(days)[place]])


def columns_of(table: pd.DataFrame, columns: str) -> pd.DataFrame:
    """Return what is learnt from, as numbers.

    Parameters
    ----------
    table : pandas.DataFrame
        Polls with all columns.
    columns : {"theirs", "without-run-time", "honest"}
        Which ones. Of the honest set times are told from the poll on: how long it has waited, and for how long it has
        been eligible (0 if it is not yet); it has the requested time and the day of the week, and no number of a row.
    """
    theirs = table.drop(columns=[name for name in LEFT_OUT if name in table])
    seconds = {name: _seconds(table[name]) for name in DATES}
    numbers: pd.DataFrame = theirs.drop(columns=list(DATES)).apply(pd.to_numeric).astype(np.float64)
    numbers = numbers.assign(**seconds)
    if columns == THEIRS:
        return numbers
    if columns == WITHOUT_RUN_TIME:
        return numbers.drop(columns="elapsed_time")
    poll = seconds["poll_time"]
    return numbers.drop(columns=[*LEAKS, *KEYS, *DATES]).assign(
        requested_time=table["requested_time"].to_numpy(np.float64),
        waited=poll - seconds["submit_time"],
        eligible_for=poll - np.minimum(seconds["eligible_time"], poll),
        weekday=(poll // 86400 + 3) % 7,
    )


def _seconds(times: pd.Series[Any]) -> FloatArray:
    """Return times in seconds since 1970, whether as numbers or as text."""
    if pd.api.types.is_numeric_dtype(times):
        return times.to_numpy(np.float64)
    return pd.to_datetime(times).to_numpy("datetime64[s]").astype(np.float64)
