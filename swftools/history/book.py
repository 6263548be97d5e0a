# SPDX-License-Identifier: BSD-3-Clause
"""The book of a history: its records by month, the names in it, and what becomes of the records of a further file.

Months are loaded when something of theirs comes, so that a night costs the months that it touches. Jobs of accounting
logs are numbered here, in the order in which they come, and names too: an old job's numbers never change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import HistoryError
from swftools.history.merging import find_known, merge_month, settle
from swftools.history.months import by_month
from swftools.history.records import FileRecords
from swftools.named import NUMBERED
from swftools.tables import empty_frame

INTERACTIVE = "interactive"
"""The queue that is number 0, as in the archive's logs."""


@dataclass(frozen=True)
class TakenRecords:
    """What became of the records of a file.

    ``gone`` counts jobs that the history had and that are none any more: one with another, or of a line that was cut.
    """

    records: int
    new: int
    merged: int
    replaced: int
    quarantined: int
    not_ended: int
    joined: int
    gone: int = 0


class HistoryBook:
    """What a history has, and what it takes.

    Parameters
    ----------
    load : callable
        Returns the records of a month by its label, from 1970-01 on.
    numbers : mapping of str to (int, int)
        Of each month that there is, its least and its largest job number.
    names : pandas.DataFrame
        The table ``names`` so far.
    says_when : bool, optional
        Whether its files say when they begin; None where there is none yet.
    months : mutable mapping of str to pandas.DataFrame, optional
        Where months are kept once they are loaded; by default in memory, all of them.
    """

    def __init__(
        self,
        load: Callable[[str], pd.DataFrame],
        numbers: Mapping[str, tuple[int, int]],
        names: pd.DataFrame,
        says_when: bool | None,
        months: MutableMapping[str, pd.DataFrame] | None = None,
    ) -> None:
        self._load, self._numbers = load, dict(numbers)
        self.names, self.says_when = names, says_when
        self._months: MutableMapping[str, pd.DataFrame] = {} if months is None else months
        self.changed: set[str] = set()
        """Months that are not as they were loaded."""

    @property
    def labels(self) -> list[str]:
        """All months, in order."""
        return sorted(self._numbers)

    def month(self, label: str) -> pd.DataFrame:
        """Return the records of a month, none if there is no such month."""
        if label not in self._months:
            self._months[label] = self._load(label) if label in self._numbers else empty_frame("records")
        return self._months[label]

    @property
    def last_number(self) -> int:
        """The largest number that a job has, or had in this run."""
        return max((most for _, most in self._numbers.values()), default=0)

    def put(self, label: str, month: pd.DataFrame) -> None:
        """Let a month be as it is given; numbers that a job of it had are not given to another in this run."""
        self._months[label] = month
        self.changed.add(label)
        if len(month):
            low, high = _range_of(month)
            least, most = self._numbers.get(label, (low, high))
            self._numbers[label] = min(low, least), max(high, most)

    def drop_empty(self, label: str) -> None:
        """Let a month without records be none; what was made of those behind it followed from it too."""
        if label in self._numbers and self.month(label).empty:
            del self._numbers[label]
            self.changed.update(later for later in self._numbers if later > label)

    def check(self, file: FileRecords) -> None:
        """Raise HistoryError if a file has no place here; see ``take``."""
        says_when = file.begins_in is not None
        if len(file.records) and self.says_when not in (None, says_when):
            raise HistoryError(
                "it does not say when it begins (UnixStartTime), and the history's other files do; add the comment"
                if self.says_when
                else "it says when it begins (UnixStartTime), and the history's other files do not: they have no "
                "place beside it; begin another history"
            )

    def take(self, file: FileRecords, number: int) -> TakenRecords:
        """Put the records of a file into their months.

        Parameters
        ----------
        file : FileRecords
            The records.
        number : int
            Of the file.

        Raises
        ------
        HistoryError
            It does not say when it begins, and those before did; or the other way round. Nothing is taken of it.
        """
        self.check(file)
        records = self._named(file).assign(file_number=pd.array([number] * len(file.records), dtype="Int64"))
        records = settle(records, self.names).reset_index(drop=True)
        places = {label: part.index.to_numpy() for label, part in by_month(records)}
        known = {label: find_known(self.month(label), records.iloc[rows]) for label, rows in places.items()}
        had, is_known = np.full(len(records), -1, np.int64), np.zeros(len(records), np.bool_)
        for label, rows in places.items():
            there = known[label] >= 0
            had[rows[there]] = self.month(label)["job_number"].to_numpy(np.int64, na_value=-1)[known[label][there]]
            is_known[rows] = there
        is_new = ~is_known
        if not file.is_numbered:
            records = self._numbered(records, is_new, had)
        occurrences = np.zeros(len(records), np.int64)
        occurrences[is_new] = self.next_occurrences(records["job_number"][is_new])
        records["job_occurrence"] = pd.array(occurrences, dtype="Int64")
        new, merged, replaced, gone = 0, len(file.records) - len(records), 0, 0
        for label, rows in places.items():
            month = self.month(label)
            found = merge_month(month, records.iloc[rows].reset_index(drop=True), self.names, known[label])
            if found.records is not month:
                self.put(label, found.records)
            new, merged, replaced = new + found.new, merged + found.merged, replaced + found.replaced
            gone += found.gone
        if len(records):
            self.says_when = file.begins_in is not None
        return TakenRecords(file.count, new, merged, replaced, len(file.rejected), file.not_ended, file.joined, gone)

    def _numbered(
        self, records: pd.DataFrame, is_new: npt.NDArray[np.bool_], had: npt.NDArray[np.int64]
    ) -> pd.DataFrame:
        """Return records of an accounting log, the new ones numbered as they stand, behind all that there are."""
        last = self.last_number
        by_reader: Any = records["job_number"].to_numpy(np.int64)
        numbers = had.copy()
        numbers[is_new] = np.arange(last + 1, last + 1 + int(is_new.sum()), dtype=np.int64)
        # A job of another file has another number in the history than its reader gave.
        of_reader = dict(zip(by_reader.tolist(), numbers.tolist(), strict=True))
        before = records["preceding_job_number"].map(of_reader).astype("Int64")
        return records.assign(job_number=pd.array(numbers, dtype="Int64"), preceding_job_number=before)

    def next_occurrences(self, numbers: pd.Series[Any]) -> npt.NDArray[np.int64]:
        """Return the next free occurrence of each job number: behind those of the history, then in their own order."""
        found: Any = numbers.groupby(numbers).cumcount().to_numpy(np.int64)
        if not len(numbers):
            return found
        least, most = int(numbers.min()), int(numbers.max())
        last = pd.Series(-1, numbers.dropna().unique())
        for label, (low, high) in self._numbers.items():
            if high >= least and low <= most:
                stands = self.month(label)[["job_number", "job_occurrence"]]
                here = stands[stands["job_number"].isin(numbers)].groupby("job_number")["job_occurrence"].max()
                last = last.combine(here.reindex(last.index).fillna(-1).astype(np.int64), max)
        behind: Any = numbers.map(last + 1).to_numpy(np.int64, na_value=0)
        return found + behind

    def _named(self, file: FileRecords) -> pd.DataFrame:
        """Return the records of a file with the history's own numbers for its names."""
        records = file.records
        if file.names.empty:
            return records
        changed: dict[str, Any] = {}
        for kind, column in NUMBERED.items():
            here = file.names[file.names["kind"] == kind]
            if here.empty:
                continue
            known = self.names[self.names["kind"] == kind]
            book = dict(zip(known["name"], known["number"].astype(int), strict=True))
            added = [str(name) for name in here["name"] if name not in book]
            for name in added:
                is_interactive = kind == "queue" and name == INTERACTIVE
                book[name] = 0 if is_interactive else 1 + max(book.values(), default=0)
            if added:
                rows = pd.DataFrame({"kind": kind, "number": [book[name] for name in added], "name": added})
                self.names = pd.concat([self.names, rows.astype(self.names.dtypes.to_dict())], ignore_index=True)
            numbers = {int(number): book[str(name)] for number, name in zip(here["number"], here["name"], strict=True)}
            changed[column] = records[column].map(numbers).astype("Int64")
        return records.assign(**changed)


def _range_of(records: pd.DataFrame) -> tuple[int, int]:
    """Return the least and the largest job number of a month."""
    return int(records["job_number"].min()), int(records["job_number"].max())
