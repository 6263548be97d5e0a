# SPDX-License-Identifier: BSD-3-Clause
"""The records of a file, put into those of a month: each run of a job once, and of several records of it the latest.

What is kept depends on which records came, and not on their order. Of two records of one run that counts in which it
has ended; of two ends the later one; of two that end together the one that says more, and else the one with the larger
value in the first column in which they differ. A record of a job that had not ended gives way to any end of that job,
each of its runs that ended stays, and of these the later ones tell how many there were before (``restarts``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.history.records import has_ended, job_keys, names_of
from swftools.named import NUMBERED

_RUN = ["submit_time", "record_key"]
_PLACE = ("file_number", "line_number")
_KEPT = ("job_number", "job_occurrence")
"""The key of a job, which it keeps whatever comes."""

_GIVEN = ("preceding_job_number", "think_time", *NUMBERED.values())
"""Columns in which a history may give numbers of its own, as things come: they decide last."""


class Merged(NamedTuple):
    """What became of the records of a file: the month with them, and how many were new, merged, replaced.

    ``gone`` counts jobs that the month had and that turned out to be one with another.
    """

    records: pd.DataFrame
    new: int
    merged: int
    replaced: int
    gone: int


def settle(records: pd.DataFrame, names: pd.DataFrame) -> pd.DataFrame:
    """Return the records that count, of some of one month or file; of equal ones the first.

    Parameters
    ----------
    records : pandas.DataFrame
        With the history's own numbers for names.
    names : pandas.DataFrame
        The table ``names``: what these numbers stand for. It is empty where the numbers are the log's.
    """
    runs = pd.MultiIndex.from_frame(records[_RUN])
    stays = np.ones(len(records), np.bool_)
    if (several := runs.duplicated(keep=False)).any():
        among = records[several]
        rank = np.empty(len(among), np.int64)
        rank[np.lexsort([-np.arange(len(among)), *reversed(_decisive(among, names))])] = np.arange(len(among))
        of_run = runs[several].factorize()[0]
        stays[several] = rank == pd.Series(rank).groupby(of_run).transform("max").to_numpy()
        restarts = records["restarts"].copy()
        restarts[several] = among["restarts"].groupby(of_run).transform("max")
        records = records.assign(restarts=restarts)
    ended = has_ended(records)
    if not ended.all():
        jobs = _jobs(records)
        stays &= ended | ~jobs.isin(jobs[ended])
    return records if stays.all() else records[stays]


def find_known(month: pd.DataFrame, records: pd.DataFrame) -> npt.NDArray[np.intp]:
    """Return the row of the month that each record is another state of; -1 where it is new.

    Parameters
    ----------
    month : pandas.DataFrame
        Its records so far, settled.
    records : pandas.DataFrame
        Of one file, settled. Of several runs of a job that had not ended the first takes its row.
    """
    found = np.full(len(records), -1, dtype=np.intp)
    if month.empty or records.empty:
        return found
    runs = pd.MultiIndex.from_frame(month[_RUN])
    found[:] = runs.get_indexer(pd.MultiIndex.from_frame(records[_RUN]))
    ended, had_ended = has_ended(records), has_ended(month)
    for looks, stands in ((ended, ~had_ended), (~ended, had_ended)):
        mine, theirs = np.flatnonzero(looks & (found < 0)), np.flatnonzero(stands)
        if len(mine) and len(theirs):
            known = _jobs(month.iloc[theirs])
            is_first = ~known.duplicated()
            theirs = theirs[is_first]
            at = known[is_first].get_indexer(_jobs(records.iloc[mine]))
            found[mine[at >= 0]] = theirs[at[at >= 0]]
    ends = np.flatnonzero((found >= 0) & ended)
    ends = ends[~had_ended[found[ends]]]
    found[ends[pd.Index(found[ends]).duplicated()]] = -1
    return found


def merge_month(
    month: pd.DataFrame, records: pd.DataFrame, names: pd.DataFrame, rows: npt.NDArray[np.intp] | None = None
) -> Merged:
    """Put records of one file into a month.

    Parameters
    ----------
    month : pandas.DataFrame
        Its records so far, settled, in order.
    records : pandas.DataFrame
        Of the file, all of this month, settled; with the same columns.
    names : pandas.DataFrame
        As for ``settle``.
    rows : ndarray, optional
        What ``find_known`` returns of these, where it is known.

    Returns
    -------
    Merged
        ``records`` is ``month`` itself where nothing changed.
    """
    rows = find_known(month, records) if rows is None else rows
    there = rows >= 0
    touched = ~has_ended(month)
    if touched.any():
        touched[touched] = _jobs(month[touched]).isin(_jobs(records))
    touched[rows[there]] = True
    again = records[there].assign(**{name: month[name].array[rows[there]] for name in _KEPT})
    before, columns = month[touched], list(month.columns)
    counts = settle(_joined([before, again], columns), names) if len(before) or len(again) else before[columns]
    replaced = int((counts.index >= len(before)).sum())
    whole = _with_restarts(_joined([month[~touched], counts, records[~there]], columns))
    whole = whole.sort_values(["submit_time", "job_number", "job_occurrence"], kind="stable", ignore_index=True)
    new = len(records) - len(again)
    if not new and not replaced and whole["restarts"].equals(month["restarts"]):
        return Merged(month, 0, len(again), 0, 0)
    return Merged(whole, new, len(again), replaced, len(month) + new - len(whole))


def _joined(parts: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """Return records of several tables behind one another."""
    filled = [part[columns] for part in parts if len(part)]
    return pd.concat(filled or [parts[0][columns]], ignore_index=True)


def _jobs(records: pd.DataFrame) -> pd.MultiIndex:
    """Return the job that each record is of."""
    return pd.MultiIndex.from_arrays([records["submit_time"], job_keys(records)])


def _decisive(records: pd.DataFrame, names: pd.DataFrame) -> list[npt.NDArray[Any]]:
    """Return what decides which of several records counts, the first thing first; the larger value wins.

    A job before another has a number of the history's own too: it decides behind all that the log says.
    """
    wait, run = (_numbers(records[name], missing=-1.0) for name in ("wait_time", "run_time"))
    own = [name for name in records.columns if name not in (*_RUN, *_PLACE, *_KEPT, *_GIVEN, "restarts")]
    told = [names_of(records[column], names, kind).to_numpy(dtype=np.str_) for kind, column in NUMBERED.items()]
    given = _GIVEN if names.empty else ("think_time", *_GIVEN)
    values = [
        records[name].fillna("").to_numpy(dtype=np.str_)
        if pd.api.types.is_string_dtype(records[name].dtype)
        else _numbers(records[name], missing=-np.inf)
        for name in (*own, *given)
    ]
    values[len(own) : len(own)] = told
    return [has_ended(records), wait + run, records[own].notna().sum(axis=1).to_numpy(), *values]


def _numbers(values: pd.Series[Any], missing: float) -> npt.NDArray[np.float64]:
    """Return a column as numbers."""
    found = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isnan(found), missing, found)


def _with_restarts(records: pd.DataFrame) -> pd.DataFrame:
    """Return records of a month in which each run of a job tells how many of its runs started before it.

    A file tells of those that stand in it, and before it. A record without a start counts as the last.
    """
    named = records["log_id"].notna().to_numpy()
    if not named.any():
        return records
    several = _jobs(records).duplicated(keep=False) & named
    if not several.any():
        return records
    among = records[several].sort_values("wait_time", kind="stable", na_position="last")
    before = among.groupby([among["submit_time"], job_keys(among)], sort=False).cumcount()
    counted = before.astype("Int64").mask((before == 0) & among["restarts"].ne(0).fillna(True).astype(bool))
    return records.assign(restarts=records["restarts"].mask(several, counted.reindex(records.index)))
