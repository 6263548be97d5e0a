# SPDX-License-Identifier: BSD-3-Clause
"""The keys of jobs, ``job_number`` and ``job_occurrence``: one for each job, and the same for as long as it is there.

While records are taken back and put in again a job may have another's number for a moment. So it is decided at the end,
by what stood before and what stands now: a job that was there keeps its key, and new ones get the next that are free.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.history.book import HistoryBook
from swftools.history.merging import find_known
from swftools.history.months import by_month

KEYS = ("job_number", "job_occurrence")
_RUN = ["submit_time", "record_key"]


def keep_keys(
    book: HistoryBook, stood: pd.DataFrame, stands: pd.DataFrame, last: int, *, is_numbered: bool
) -> tuple[int, int]:
    """Give each job at some submission times its key; return how many jobs are new, and how many are gone.

    Parameters
    ----------
    book : HistoryBook
        With the records as they stand now.
    stood, stands : pandas.DataFrame
        Its records of these times, before and now.
    last : int
        The largest number that a job had before: what a new job of an accounting log has is beyond it.
    is_numbered : bool
        Whether numbers are those of the log, and only occurrences are given.
    """
    before = find_known(stood, stands)
    before[pd.Index(before).duplicated()] = -1
    is_known = before >= 0
    number, occurrence = (stands[name].to_numpy(np.int64, na_value=-1) for name in KEYS)
    had = [stood[name].to_numpy(np.int64, na_value=-1)[before[is_known]] for name in KEYS]
    given = number.copy()
    given[is_known], occurrence[is_known], occurrence[~is_known] = had[0], had[1], -1
    if not is_numbered:
        # Those of the file stand as they were counted; any that was hidden, and comes back as a further job, is behind.
        new = np.flatnonzero(~is_known)
        new = new[np.lexsort((number[new], number[new] <= last))]
        given[new] = np.arange(last + 1, last + 1 + len(new))
        occurrence[new] = 0
    _put_keys(book, stands, number, given, occurrence, None if is_numbered else last)
    if is_numbered and not is_known.all():
        new = np.flatnonzero(~is_known)
        occurrence[new] = book.next_occurrences(stands["job_number"].iloc[new])
        _put_keys(book, stands, number, given, occurrence, None)
    return int((~is_known).sum()), len(stood) - int(is_known.sum())


def _put_keys(
    book: HistoryBook,
    stands: pd.DataFrame,
    number: npt.NDArray[np.int64],
    given: npt.NDArray[np.int64],
    occurrence: npt.NDArray[np.int64],
    last: int | None,
) -> None:
    """Write keys into the months of some records; numbers of jobs before others that are beyond ``last`` follow."""
    follows = {} if last is None else dict(zip(number.tolist(), given.tolist(), strict=True))
    keys = stands[_RUN].assign(number=given, occurrence=occurrence)
    for label, part in by_month(keys):
        month = book.month(label)
        rows = np.flatnonzero(month["submit_time"].isin(part["submit_time"]).to_numpy(dtype=bool))
        at = pd.MultiIndex.from_frame(part[_RUN]).get_indexer(pd.MultiIndex.from_frame(month[_RUN].iloc[rows]))
        changed: dict[str, Any] = {}
        for name, column in zip(KEYS, ("number", "occurrence"), strict=True):
            changed[name] = _with(month[name], rows, part[column].to_numpy()[at])
        before = month["preceding_job_number"].iloc[rows]
        is_later = (before > (np.inf if last is None else last)).fillna(False).to_numpy(dtype=bool)
        if is_later.any():
            moved = before[is_later].map(follows).astype("Int64").array
            changed["preceding_job_number"] = _with(month["preceding_job_number"], rows[is_later], moved)
        if all(values.equals(month[name]) for name, values in changed.items()):
            continue
        order = ["submit_time", *KEYS]
        book.put(label, month.assign(**changed).sort_values(order, kind="stable", ignore_index=True))


def _with(values: pd.Series[Any], rows: npt.NDArray[np.intp], others: Any) -> pd.Series[Any]:
    """Return a column with other values in some rows."""
    found = values.copy()
    found.iloc[rows] = others
    return found
