# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of jobs for a log whose records stand in the order of submission: nothing of them has to be remembered.

A job's number is its place by submission, and a record that says the same as an earlier one has the same submission. So
where records are in that order, all that a record's number depends on stands before it, at the same second or as a
count. Logs in another order are numbered by ``ledger.decide``, which keeps some 50 bytes of each record.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.formats.accounting.decision import LogDecision
from swftools.formats.accounting.ledger import Part
from swftools.kernel import FloatArray, IntArray


class InOrder:
    """Numbers parts of a log one after the other, as long as they are in order and of jobs alone."""

    def __init__(self) -> None:
        self.jobs = 0
        self.repeats = 0
        """Records that repeat an earlier one."""
        self.first = np.nan
        """The first submission."""
        self.last_end = np.nan
        self._last = -np.inf
        self._keys: npt.NDArray[np.uint64] = np.empty(0, np.uint64)
        self._lines: IntArray = np.empty(0, np.int64)
        self._numbers: IntArray = np.empty(0, np.int64)

    def take(self, part: Part) -> tuple[LogDecision, tuple[IntArray, LogDecision]] | None:
        """Return what is decided of the records of a part, and of these with those of its first second before it.

        None where the part cannot be numbered so: it is out of order, jobs wait for others, lines were merged, or rows
        without an id are equal, which may be of files that overlap.
        """
        submit: FloatArray = part.numbers.get("submit", np.full(len(part.line), np.nan))
        waits = part.waits is not None and len(part.waits.row)
        if waits or len(part.merged_line) or not np.isfinite(submit).all():
            return None
        if len(submit) and (submit[0] < self._last or (submit[1:] < submit[:-1]).any()):
            return None
        before = len(self._keys)
        keys, lines = np.append(self._keys, part.key), np.append(self._lines, part.line)
        is_same = pd.Series(keys).duplicated().to_numpy()
        into = np.zeros(len(keys), np.int64)
        if is_same.any():
            if not part.id_key.all():
                return None
            self.repeats += int(is_same.sum())
            order = np.argsort(keys, kind="stable")
            into[is_same] = lines[order[np.searchsorted(keys[order], keys[is_same])]]
        number = np.zeros(len(keys), np.int64)
        number[:before] = self._numbers
        is_new = ~is_same
        is_new[:before] = False
        number[is_new] = self.jobs + 1 + np.arange(is_new.sum())
        self.jobs += int(is_new.sum())
        if len(submit):
            self._note(part, submit)
            stays = np.append(np.full(before, submit[0] == self._last), np.ones(len(submit), bool))
            stays[before:] = submit == submit[-1]
            stays[:before] &= submit[0] == submit[-1]
            self._last = float(submit[-1])
            stays &= ~is_same
            self._keys, self._lines, self._numbers = keys[stays], lines[stays], number[stays]
        nothing = np.empty(0, np.int64)
        whole = LogDecision(self.origin, number, into, nothing, nothing, np.empty(0, np.bool_))
        return whole.of(before, len(keys)), (lines, whole)

    def _note(self, part: Part, submit: FloatArray) -> None:
        """Remember the first submission and the last end."""
        self.first = submit[0] if np.isnan(self.first) else self.first
        ends = part.numbers.get("end")
        if ends is not None and np.isfinite(ends).any():
            self.last_end = float(np.nanmax([self.last_end, np.nanmax(ends)]))

    @property
    def origin(self) -> int:
        """Second 0 of the log."""
        return 0 if np.isnan(self.first) else int(np.floor(self.first))
