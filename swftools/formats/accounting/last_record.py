# SPDX-License-Identifier: BSD-3-Clause
"""Whether the last record of a log, whose line end is missing, is whole: one rule for all formats.

A log without its last line end may be one that an editor saved, or one that was copied while it was written. Records of
a log end alike: the last one is whole if it ends as a record before it does, and cut off otherwise. What "ends alike"
means, a format says by a number: how many fields, or which key stands last.
"""

from __future__ import annotations

import numpy as np

from swftools.formats.accounting.records import Stretch
from swftools.kernel import IntArray

CUT_OFF = "the log is cut off within this record"
"""The reason of a last record that is not whole."""

UNKNOWN = -1
"""The form of a line that is no sound record: nothing is learnt of it, and it is not whole."""


def is_unfinished(stretch: Stretch, end: int) -> bool:
    """Whether the log ends in the line of which the last byte that says anything stands before ``end``."""
    return stretch.is_last and end > 0 and b"\n" not in stretch.text[end - 1 :]


class Endings:
    """The forms in which records end, as far as a log has been read."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def is_cut_off(self, stretch: Stretch, end: IntArray, form: IntArray, *, alone: bool = True) -> bool:
        """Return whether the last record of a stretch is cut off, and learn how the others end.

        Parameters
        ----------
        stretch : Stretch
            What they stand in.
        end : ndarray of int64, shape (records,)
            Where each ends in it.
        form : ndarray of int64, shape (records,)
            How each ends, or ``UNKNOWN``.
        alone : bool
            Whether the last one is whole for all that is known if no record stands before it.
        """
        unfinished = len(end) > 0 and is_unfinished(stretch, int(end[-1]))
        self._seen.update(np.unique(form[:-1] if unfinished else form).tolist())
        self._seen.discard(UNKNOWN)
        if not unfinished:
            return False
        last = int(form[-1])
        return last == UNKNOWN or (last not in self._seen if self._seen else not alone)
