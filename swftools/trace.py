"""Trace: a log's header and jobs, with what could not be read, and where it came from.

Everything that reads a log makes a Trace, and every later stage takes one. This is also the one place where a
jobs table becomes arrays for compiled kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.errors import ParameterError
from swftools.fields import FLOAT64, INT64, SWF_FIELDS, SWF_NAMES
from swftools.header import SwfHeader
from swftools.tables import empty_frame

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


class JobArrays(NamedTuple):
    """The 18 SWF columns and the width as writable, contiguous arrays, one element a job.

    Integers are int64 with -1 for missing, times and memory float64 with NaN for missing. ``width`` is
    allocated_processors where known and positive, else requested_processors.
    """

    job_number: IntArray
    submit_time: FloatArray
    wait_time: FloatArray
    run_time: FloatArray
    allocated_processors: IntArray
    average_cpu_time: FloatArray
    used_memory: FloatArray
    requested_processors: IntArray
    requested_time: FloatArray
    requested_memory: FloatArray
    status: IntArray
    user_id: IntArray
    group_id: IntArray
    executable_id: IntArray
    queue_id: IntArray
    partition_id: IntArray
    preceding_job_number: IntArray
    think_time: FloatArray
    width: IntArray


@dataclass(frozen=True, eq=False)
class Trace:
    """A workload trace.

    Parameters
    ----------
    header : SwfHeader
        The log's header; empty for a model.
    jobs : pandas.DataFrame
        One row a job, with the columns of the table ``jobs`` of the column dictionary: at least the 18 SWF
        fields. Integers are Int64, times float64 in seconds; missing is NA or NaN, never -1.
    quarantine : pandas.DataFrame
        Lines that are not jobs, and jobs removed by cleaning: line_number, rule, reason, text.
    machine_processors : int, optional
        Processors of the machine where known better than by the header (a card of the catalogue).
    source : pyarrow.LargeBinaryArray, optional
        Every line of the source file in order, so that line n is ``source[n - 1]``.
    provenance : mapping
        Where the trace comes from: name and sha256 of the text, its size, the format.

    Raises
    ------
    ParameterError
        A column is missing or ``machine_processors`` is not positive.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 60], run_time=[100, -1])
    >>> trace.jobs["run_time"].isna().tolist()
    [False, True]
    """

    header: SwfHeader
    jobs: pd.DataFrame
    quarantine: pd.DataFrame = field(default_factory=lambda: empty_frame("quarantine"))
    machine_processors: int | None = None
    source: pa.LargeBinaryArray | None = field(default=None, repr=False)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if missing := [name for name in SWF_NAMES if name not in self.jobs.columns]:
            raise ParameterError(f"jobs lack the columns {missing}; Trace.from_columns fills what is not given")
        if self.machine_processors is not None and self.machine_processors < 1:
            raise ParameterError(f"machine_processors={self.machine_processors}: a machine has at least 1")

    def __len__(self) -> int:
        return len(self.jobs)

    @classmethod
    def from_columns(
        cls, header: SwfHeader | None = None, *, machine_processors: int | None = None, **columns: npt.ArrayLike
    ) -> Self:
        """Make a Trace from columns of equal length; -1 (and NaN) is missing, absent columns are missing.

        Parameters
        ----------
        header : SwfHeader, optional
            Empty by default.
        machine_processors : int, optional
            Processors of the machine.
        **columns : array_like, shape (jobs,)
            SWF columns by name.

        Raises
        ------
        ParameterError
            A name is not an SWF column, or the lengths differ.
        """
        if unknown := sorted(set(columns) - set(SWF_NAMES)):
            raise ParameterError(f"not SWF columns: {unknown}; the names are {', '.join(SWF_NAMES)}")
        arrays = {name: np.asarray(values) for name, values in columns.items()}
        lengths = {len(values) for values in arrays.values()} or {0}
        if len(lengths) > 1:
            raise ParameterError(f"columns of different lengths: { {n: len(v) for n, v in arrays.items()} }")
        (count,) = lengths
        frame = {}
        for swf in SWF_FIELDS:
            values = arrays.get(swf.name, np.full(count, -1))
            frame[swf.name] = integer_series(values) if swf.type == INT64 else float_series(values)
        frame["line_number"] = integer_series(np.full(count, -1))
        return cls(header or SwfHeader(), pd.DataFrame(frame), machine_processors=machine_processors)

    @property
    def processors(self) -> int | None:
        """Processors of the machine: ``machine_processors``, else the header's MaxProcs, else its MaxNodes."""
        return self.machine_processors or self.header.max_procs or self.header.max_nodes

    @cached_property
    def arrays(self) -> JobArrays:
        """The jobs as arrays for compiled kernels: made once, writable, contiguous."""
        columns = {}
        for swf in SWF_FIELDS:
            series = self.jobs[swf.name]
            if swf.type == FLOAT64:
                columns[swf.name] = np.array(series, dtype=np.float64)
            else:
                columns[swf.name] = series.to_numpy(dtype=np.int64, na_value=-1, copy=True)
        allocated = columns["allocated_processors"]
        columns["width"] = np.where(allocated > 0, allocated, columns["requested_processors"])
        return JobArrays(**columns)

    def with_jobs(self, jobs: pd.DataFrame, quarantine: pd.DataFrame | None = None) -> Trace:
        """Return a trace with other jobs (and quarantine), all else the same."""
        return replace(self, jobs=jobs, quarantine=self.quarantine if quarantine is None else quarantine)

    def line_texts(self, line_numbers: pd.Series[Any]) -> pd.Series[Any]:
        """Return the text of source lines; missing where there is no source or no line number.

        Parameters
        ----------
        line_numbers : pandas.Series of Int64
            Lines of the source file, first line = 1.
        """
        if self.source is None or not len(line_numbers):
            return pd.Series(pd.array([None] * len(line_numbers), dtype="str"), index=line_numbers.index)
        positions = pa.array(line_numbers, type=INT64)
        lines = self.source.take(pa.compute.subtract(positions, 1)).to_pylist()
        texts = [None if line is None else line.decode("utf-8", "backslashreplace").rstrip("\r\n") for line in lines]
        return pd.Series(pd.array(texts, dtype="str"), index=line_numbers.index)

    def equals(self, other: Trace) -> bool:
        """Whether header, jobs and machine are the same; source lines, quarantine and provenance do not count."""
        ours, theirs = (trace.jobs.drop(columns="line_number", errors="ignore") for trace in (self, other))
        same = self.header == other.header and self.machine_processors == other.machine_processors
        return same and list(ours) == list(theirs) and ours.reset_index(drop=True).equals(theirs.reset_index(drop=True))


def integer_series(values: npt.ArrayLike) -> pd.Series[Any]:
    """Return an Int64 series in which -1 (and NaN) is missing."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1, array)
        if not np.array_equal(array, np.trunc(array)):
            raise ParameterError(f"{array[array != np.trunc(array)][0]} is not a whole number")
    array = array.astype(np.int64)
    return pd.Series(pd.arrays.IntegerArray(array, array == -1))


def float_series(values: npt.ArrayLike) -> pd.Series[Any]:
    """Return a float64 series in which -1 is missing (NaN)."""
    array = np.array(values, dtype=np.float64)
    array[array == -1] = np.nan
    return pd.Series(array)
