"""The records of a file, put into those of a month: a job that is there already is merged, and its later state counts.

A state is later if the job has ended in it and in the other it has not; of two ends the later one; else that of the
file that came later. So a file that comes late, or again, takes nothing back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

_ENDED = (0, 1, 5)
_KEY = ["submit_time", "record_key"]
_PLACE = ("file_number", "line_number")
_KEPT = ("job_number", "job_occurrence")
"""The key of a job, which it keeps whatever comes."""

_GIVEN = (*_KEPT, "preceding_job_number", "think_time")
"""What a history says of jobs where it numbers them itself."""


class Merged(NamedTuple):
    """What became of the records of a file: the month with them, and how many were new, merged, replaced."""

    records: pd.DataFrame
    new: int
    merged: int
    replaced: int


def find_known(month: pd.DataFrame, records: pd.DataFrame) -> npt.NDArray[np.intp]:
    """Return the row of the month that each record is the same job as, -1 for none."""
    if month.empty or records.empty:
        return np.full(len(records), -1, dtype=np.intp)
    rows = pd.MultiIndex.from_frame(month[_KEY])
    return np.asarray(rows.get_indexer(pd.MultiIndex.from_frame(records[_KEY])), dtype=np.intp)


def merge_month(month: pd.DataFrame, records: pd.DataFrame) -> Merged:
    """Put records of one file into a month.

    Parameters
    ----------
    month : pandas.DataFrame
        Its records so far, in order; no two are the same job.
    records : pandas.DataFrame
        Of the file, all of this month; with the same columns, no two the same job.

    Returns
    -------
    Merged
        ``records`` is ``month`` itself where nothing changed.
    """
    known = find_known(month, records)
    there = known >= 0
    new = records[~there]
    again, rows = records[there], known[there]
    before = month.iloc[rows]
    wins = _is_later(again, before) & _differs(again, before)
    if not wins.any() and new.empty:
        return Merged(month, 0, int(there.sum()), 0)
    keys = {name: month[name].array[rows[wins]] for name in _KEPT}
    stays = np.ones(len(month), np.bool_)
    stays[rows[wins]] = False
    parts = [month[stays], again[wins].assign(**keys), new]
    whole = pd.concat([part[list(records.columns)] for part in parts if len(part)], ignore_index=True)
    whole = whole.sort_values(["submit_time", "job_number", "job_occurrence"], kind="stable", ignore_index=True)
    return Merged(whole, len(new), int(there.sum()), int(wins.sum()))


def _is_later(records: pd.DataFrame, before: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Whether each record is of a later state than another, or of none that is earlier."""
    ended, had_ended = _has_ended(records), _has_ended(before)
    end, other = _end_of(records), _end_of(before)
    later: npt.NDArray[np.bool_] = np.where(ended != had_ended, ended, end >= other)
    return later


def _has_ended(records: pd.DataFrame) -> npt.NDArray[np.bool_]:
    known: npt.NDArray[np.bool_] = records["run_time"].notna().to_numpy(dtype=bool)
    return known | records["status"].isin(_ENDED).to_numpy(dtype=bool)


def _end_of(records: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Return how long after its submission each job had ended, as far as is known."""
    wait, run = (records[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in ("wait_time", "run_time"))
    return np.nan_to_num(wait, nan=-1.0) + np.nan_to_num(run, nan=-1.0)


def _differs(records: pd.DataFrame, before: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Whether each record says anything else than another, but for where it stood and what a history gives."""
    differs = np.zeros(len(records), np.bool_)
    for name in before.columns:
        if name in (*_PLACE, *_GIVEN):
            continue
        one, other = records[name].reset_index(drop=True), before[name].reset_index(drop=True)
        same = (one == other).fillna(False).to_numpy(dtype=bool) | (one.isna() & other.isna()).to_numpy(dtype=bool)
        differs |= ~same
    return differs
