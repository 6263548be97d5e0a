# SPDX-License-Identifier: BSD-3-Clause
"""Records that count until their file goes on: what stands behind the place from which a growing file is read again.

A last line may be cut (``50`` of ``5060``), and a last record may lack lines. Such a record counts as long as nothing
else is known. When its file grows it is read anew, and what the first reading made of it is taken back: the record
itself, and that it hid another file's record of the job that it seemed to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.history.book import HistoryBook, TakenRecords
from swftools.history.keys import KEYS, keep_keys
from swftools.history.merging import find_known, merge_month, settle
from swftools.history.months import by_month
from swftools.history.records import FileRecords
from swftools.tables import empty_frame

_WHICH = ["file_number", "line_number", "submit_time", "record_key"]
"""A record: its line may be that of many, as in a document without line ends."""


@dataclass(frozen=True)
class FilePart:
    """The records of a file, and what they mean for those of others.

    Parameters
    ----------
    records : FileRecords
        Of it.
    number : int
        Of the file.
    resumes_lines : int
        Lines behind which it is read anew if it grows.
    continues : int
        The file that it goes on; 0 for none.
    """

    records: FileRecords
    number: int
    resumes_lines: int
    continues: int


class Provisional:
    """The records of a history that may still change, and those that they hide.

    Parameters
    ----------
    rows : pandas.DataFrame
        The table ``provisional``.
    resumes : mapping of int to int
        By file, the line behind which it is read anew if it grows.
    """

    def __init__(self, rows: pd.DataFrame, resumes: Mapping[int, int]) -> None:
        self.rows, self._resumes = rows, dict(resumes)

    def take(self, book: HistoryBook, file: FilePart) -> TakenRecords:
        """Put the records of a file into the book, and return what became of them.

        A job that was there before keeps its key, whatever is lifted, hidden and put back meanwhile.
        """
        withdrawn = self.rows[self._is_open(self.rows) & (self.rows["file_number"] == file.continues)]
        book.check(file.records)
        self.rows = _without(self.rows, withdrawn)
        # Records of one job have one submission: no others have to do with these.
        submits = pd.Series(np.union1d(file.records.records["submit_time"], withdrawn["submit_time"]))
        is_moved = len(withdrawn) > 0 or bool(self.rows["submit_time"].isin(submits).any())
        stood = _rows_at(book, submits if is_moved else submits.iloc[:0])
        others = self._lift(book, withdrawn, submits)
        moved = pd.concat([withdrawn, others]) if len(others) else withdrawn
        last = book.last_number
        self._resumes[file.number] = file.resumes_lines
        is_open = file.records.records["line_number"] > file.resumes_lines
        own_submits = file.records.records.loc[is_open, "submit_time"]
        before = _rows_at(book, own_submits)
        taken = book.take(file.records, file.number)
        own = _rows_at(book, own_submits)
        self._hide(_without(before, own))
        self._keep(own[self._is_open(own) & (own["file_number"] == file.number)])
        for some in _batches(others):
            before = _rows_at(book, some["submit_time"])
            for label, rows in by_month(some):
                _merge(book, label, rows)
            self._hide(_without(before, _rows_at(book, some["submit_time"])))
        for label, _ in by_month(moved):
            book.drop_empty(label)
        if moved.empty:
            return taken
        stands = _rows_at(book, submits)
        new, gone = keep_keys(book, stood, stands, last, is_numbered=file.records.is_numbered)
        self.follow_keys(book, submits)
        of_file = taken.new + taken.merged
        # What was hidden may come back as more jobs than the file has records: they count as read again.
        more = max(new - of_file, 0)
        return replace(taken, records=taken.records + more, new=new, merged=of_file + more - new, gone=gone)

    def follow_keys(self, book: HistoryBook, submits: pd.Series[Any]) -> None:
        """Give records that are kept here the keys of their jobs."""
        here = self.rows["submit_time"].isin(submits).to_numpy(dtype=bool)
        rows, stands = self.rows[here], _rows_at(book, submits)
        at = find_known(stands, rows)
        keys = {name: self.rows[name].copy() for name in KEYS}
        places = np.flatnonzero(here)[at >= 0]
        for name, values in keys.items():
            values.iloc[places] = stands[name].iloc[at[at >= 0]].array
        self.rows = self.rows.assign(**keys)

    def _is_open(self, rows: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Whether each record stands behind the place from which its file is read anew."""
        ends = rows["file_number"].map(self._resumes).fillna(np.inf)
        found: npt.NDArray[np.bool_] = (rows["line_number"].astype(float) > ends.astype(float)).to_numpy(dtype=bool)
        return found

    def _lift(self, book: HistoryBook, withdrawn: pd.DataFrame, submits: pd.Series[Any]) -> pd.DataFrame:
        """Take what may change out of the book, put back what it hid, and return the records that are to be put in."""
        if self.rows.empty and withdrawn.empty:
            return withdrawn
        here = self.rows[self.rows["submit_time"].isin(submits)]
        is_open = self._is_open(here)
        lifted, hidden = pd.concat([here[is_open], withdrawn]), here[~is_open]
        for label, rows in by_month(lifted):
            month = book.month(label)
            kept = _without(month, rows)
            if len(kept) != len(month):
                book.put(label, kept)
        for some in _batches(hidden):
            for label, rows in by_month(some):
                _merge(book, label, rows)
        self.rows = _without(self.rows, hidden)
        return here[is_open]

    def _hide(self, rows: pd.DataFrame) -> None:
        """Keep records that one that may change has taken the place of."""
        self._keep(rows[~self._is_open(rows)])

    def _keep(self, rows: pd.DataFrame) -> None:
        if len(rows):
            parts = [part for part in (_without(self.rows, rows), rows[list(self.rows.columns)]) if len(part)]
            whole = pd.concat(parts, ignore_index=True)
            self.rows = whole.sort_values(
                ["submit_time", "file_number", "line_number"], kind="stable", ignore_index=True
            )


def _merge(book: HistoryBook, label: str, rows: pd.DataFrame) -> None:
    """Put records, of which no two are the same job, into a month."""
    month = book.month(label)
    merged = merge_month(month, settle(rows, book.names).reset_index(drop=True), book.names).records
    if merged is not month:
        book.put(label, merged)


def _rows_at(book: HistoryBook, submits: pd.Series[Any]) -> pd.DataFrame:
    """Return the records of the book that were submitted at certain times."""
    if not len(submits):
        return empty_frame("records")
    found = []
    for label, times in by_month(pd.DataFrame({"submit_time": submits.unique()})):
        month = book.month(label)
        found.append(month[month["submit_time"].isin(times["submit_time"])])
    return pd.concat(found, ignore_index=True)


def _without(rows: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return records but for some."""
    if rows.empty or others.empty:
        return rows
    of_files = rows["file_number"].isin(others["file_number"].unique())
    if not of_files.any():
        return rows
    place = pd.MultiIndex.from_frame(rows[_WHICH])
    return rows[~place.isin(pd.MultiIndex.from_frame(others[_WHICH]))].reset_index(drop=True)


def _batches(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield records of which no two are the same job, until all are told."""
    if len(rows):
        turn = rows.groupby(["submit_time", "record_key"], sort=False).cumcount()
        for number in range(int(turn.max()) + 1):
            yield rows[turn == number]
