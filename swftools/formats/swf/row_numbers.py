# SPDX-License-Identifier: BSD-3-Clause
"""Lines of SWF with the number of the row in front, as data frames write their index: each field one to the right."""

from __future__ import annotations

import numpy as np
import pandas as pd

from swftools.errors import LogFormatError

_LOOKED_AT = 1000
_LEAST = 2
_STATUSES = 5  # -1 to 5


class RowNumbers:
    """Looks at the first jobs of a log, however few of them come at once.

    Parameters
    ----------
    name : str
        What messages call the log.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: list[pd.DataFrame] = []
        self._is_settled = False

    def refuse(self, jobs: pd.DataFrame) -> None:
        """Raise LogFormatError if the jobs so far begin with the numbers of their rows.

        Parameters
        ----------
        jobs : pandas.DataFrame
            The next ones, as ``read_block`` returns them.
        """
        if self._is_settled or not len(jobs):
            return
        self._seen.append(jobs.head(_LOOKED_AT).copy())  # the memory of a piece may be used again
        rows = sum(map(len, self._seen))
        if "extra_fields" not in jobs or rows >= _LEAST:
            self._is_settled = True
            if all("extra_fields" in each for each in self._seen) and _are_shifted(pd.concat(self._seen)):
                raise LogFormatError(
                    f"{self._name}: its lines have 19 fields, and the first is the number of the row, as pandas writes "
                    "an index: every field stands one further right than SWF has it. Take that column off, by "
                    "to_csv(..., index=False) or by sed -E 's/^[ \\t]*[0-9]+[ \\t]+//' on all lines but comments"
                )
            self._seen.clear()


def _are_shifted(jobs: pd.DataFrame) -> bool:
    """Whether jobs that were read one field too far left say so: row and job numbers rise, a status where users are."""
    if not jobs["extra_fields"].str.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?").fillna(False).all():
        return False
    row, number, submit, status = (
        jobs[name].to_numpy("float64", na_value=-1.0) for name in ("job_number", "submit_time", "wait_time", "user_id")
    )
    is_in_order = (np.diff(row) > 0).all() and (np.diff(number) > 0).all() and (np.diff(submit) >= 0).all()
    is_counted = (row == np.arange(len(row))).all() or set((number - row).tolist()) <= {0.0, 1.0}
    return bool(is_in_order and is_counted and ((status >= -1) & (status <= _STATUSES)).all())
