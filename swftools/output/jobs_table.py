# SPDX-License-Identifier: BSD-3-Clause
"""What a trace and a schedule take over from the table of their jobs: what people type who know tables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class HasJobs:
    """A thing with a table ``jobs``, to which a few usual names are passed on; all else is asked of ``jobs``.

    Examples
    --------
    >>> from swftools.trace import Trace
    >>> trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 60], run_time=[100, 30])
    >>> trace["run_time"].mean()
    np.float64(65.0)
    >>> trace[["job_number", "run_time"]].to_csv(index=False).splitlines()
    ['job_number,run_time', '1,100.0', '2,30.0']
    """

    jobs: pd.DataFrame

    __iter__ = None  # it is not its columns one after the other, as a table is

    @property
    def columns(self) -> pd.Index:
        """Names of the columns of ``jobs``."""
        return self.jobs.columns

    def __getitem__(self, key: Any) -> Any:
        """Return what ``jobs[key]`` is: a column by its name, several by a list of names, rows by a mask."""
        return self.jobs[key]

    def head(self, n: int = 5) -> pd.DataFrame:
        """Return the first rows of ``jobs``."""
        return self.jobs.head(n)

    def to_pandas(self) -> pd.DataFrame:
        """Return ``jobs`` as a table of your own: what you write to it is not written here."""
        return self.jobs.copy(deep=False)

    def to_csv(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str | None:
        """Write ``jobs`` as CSV, without the numbers of rows; without a path return the text.

        Parameters
        ----------
        path : str or path, optional
            File to make or replace.
        **options
            As ``pandas.DataFrame.to_csv`` takes them.
        """
        text: str | None = self.jobs.to_csv(path, **{"index": False, **options})
        return text

    def to_parquet(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write ``jobs`` as Parquet, as ``pandas.DataFrame.to_parquet`` does; the header of a log is not kept.

        ``swftools.formats.parquet.write_parquet`` keeps it.

        Parameters
        ----------
        path : str or path
            File to make or replace.
        **options
            As ``pandas.DataFrame.to_parquet`` takes them.
        """
        self.jobs.to_parquet(path, **{"index": False, **options})
