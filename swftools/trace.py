# SPDX-License-Identifier: BSD-3-Clause
"""Trace: a log's header and jobs, with what could not be read, and where it came from.

Everything that reads a log makes a Trace, and every later stage takes one. This is also the one place where a
jobs table becomes arrays for compiled kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from swftools.errors import ParameterError
from swftools.fields.definition import FLOAT64, INT64
from swftools.fields.dictionary import SWF_FIELDS, SWF_NAMES
from swftools.header import SwfHeader
from swftools.named import Known, names_by_kind
from swftools.output.jobs_table import HasJobs
from swftools.output.package import swftools_package
from swftools.output.plotter import Plotter
from swftools.output.shown_html import ShowsItself
from swftools.tables import LONG, empty_frame
from swftools.trace_in_brief import lines_of, rows_of

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

_FLOATS = frozenset(field.name for field in SWF_FIELDS if field.type == FLOAT64)

_LAST_MILLISECOND = 253_402_300_799_999
"""The end of the year 9999, in milliseconds since 1970."""


class LineSource(Protocol):
    """What gives lines of a log by their numbers."""

    def at(self, numbers: Sequence[int]) -> list[bytes]:
        """Return lines by number, the first being 1."""


class JobArrays:
    """The 18 SWF columns and the width as writable, contiguous arrays, one element for each job.

    Integers are int64 with -1 for missing, times and memory float64 with NaN for missing. ``width`` is
    allocated_processors where known and positive, else requested_processors. Each array is made when it is first asked
    for: all of them are 152 bytes a job, and hardly anybody wants more than five.

    Parameters
    ----------
    jobs : pandas.DataFrame
        Of a trace.
    shares : bool
        Whether arrays may share the memory of the table, where a column has what they have. Then nobody may write to
        them, although numpy would let: kernels take writable arrays only. The table itself may be written to, since
        pandas then copies what is shared.
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

    _fields: ClassVar[tuple[str, ...]] = (*SWF_NAMES, "width")

    def __init__(self, jobs: pd.DataFrame, *, shares: bool = False) -> None:
        self._jobs = jobs.copy(deep=False)  # by which pandas knows that a column is in use
        self._shares = shares

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        """Return all arrays in order; they are made."""
        return (getattr(self, name) for name in self._fields)

    def __getattr__(self, name: str) -> npt.NDArray[Any]:
        """Make an array."""
        if name not in self._fields:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        made = self._width() if name == "width" else self._made(name)
        setattr(self, name, made)
        return made

    def _made(self, name: str) -> npt.NDArray[Any]:
        """Return a column as an array, which is not kept."""
        column = self._jobs[name]
        if name in _FLOATS:
            return np.require(np.array(column.array, np.float64, copy=None if self._shares else True), None, ["C", "W"])
        made = column.array.to_numpy(dtype=np.int64, na_value=-1, copy=not self._shares)
        return np.require(made, None, ["C", "W"])

    def _width(self) -> IntArray:
        """Return the width of jobs; what it is made of is not kept, which would be 16 bytes a job."""
        allocated = self._made("allocated_processors")
        if (allocated > 0).all():
            return allocated
        return width_of(allocated, self._made("requested_processors"))


@dataclass(frozen=True, eq=False, repr=False)
class Trace(HasJobs, ShowsItself):
    """A workload trace; prints as three lines, and in a notebook with its first jobs.

    ``head()``, ``trace["wait_time"]``, ``columns``, ``to_pandas()``, ``to_csv()`` and ``to_parquet()`` are those of its
    jobs.

    Parameters
    ----------
    header : SwfHeader
        The log's header; empty for a model.
    jobs : pandas.DataFrame
        One row for each job, with the columns of the table ``jobs`` of the column dictionary: at least the 18 SWF
        fields. Integers are Int64, times float64 in seconds; missing is NA or NaN, never -1.
    quarantine : pandas.DataFrame
        Lines that are not jobs, and jobs removed by cleaning: line_number, rule, reason, text.
    machine_processors : int, optional
        Processors of the machine, if a better source than the header says (a card of the catalogue).
    source : pyarrow.LargeBinaryArray, optional
        Every line of the source file in order, so that line n is ``source[n - 1]``; or an object that gives lines by
        number (``swftools.formats.source_lines``).
    merged : pandas.DataFrame
        Lines that became part of a job during reading: line_number, job_number, into_line_number, text.
    names : pandas.DataFrame
        The names behind the numbers of users, groups, executables, queues and partitions: kind, number, name. Empty
        if the log has only numbers, or names are withheld.
    provenance : mapping
        Where the trace comes from: name, sha256 and size of the text, and the format.

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
    source: pa.LargeBinaryArray | LineSource | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    merged: pd.DataFrame = field(default_factory=lambda: empty_frame("merged"))
    names: pd.DataFrame = field(default_factory=lambda: empty_frame("names"))

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
        """Make a Trace from columns of equal length; -1 and NaN mean missing, and so do absent columns.

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
            A name is not an SWF column, a column is not a sequence of numbers (whole ones where the column dictionary
            says Int64), or the lengths differ.
        """
        if unknown := sorted(set(columns) - set(SWF_NAMES)):
            raise ParameterError(f"not SWF columns: {unknown}; the names are {', '.join(SWF_NAMES)}")
        series = {}
        for swf in SWF_FIELDS:
            if swf.name in columns:
                convert = integer_series if swf.type == INT64 else float_series
                try:
                    series[swf.name] = convert(columns[swf.name])
                except ParameterError as error:
                    raise ParameterError(f"column {swf.name!r}: {error}") from error
        lengths = {name: len(values) for name, values in series.items()}
        if len(set(lengths.values())) > 1:
            raise ParameterError(f"columns of different lengths: {lengths}")
        missing = np.full(next(iter(lengths.values()), 0), -1)
        for swf in SWF_FIELDS:
            if swf.name not in series:
                series[swf.name] = integer_series(missing) if swf.type == INT64 else float_series(missing)
        series["line_number"] = integer_series(missing)
        jobs = pd.DataFrame({name: series[name].array for name in (*SWF_NAMES, "line_number")})
        return cls(header or SwfHeader(), jobs, machine_processors=machine_processors)

    @property
    def processors(self) -> int | None:
        """Processors of the machine: ``machine_processors``, else the header's MaxProcs, else its MaxNodes."""
        return self.machine_processors or self.header.max_procs or self.header.max_nodes or None

    @cached_property
    def arrays(self) -> JobArrays:
        """The jobs as arrays for compiled kernels: each made once, writable, contiguous."""
        return JobArrays(self.jobs)

    @cached_property
    def views(self) -> JobArrays:
        """The same for whoever only reads: most share the memory of ``jobs``, so nobody may write to them."""
        return JobArrays(self.jobs, shares=True)

    @cached_property
    def known_names(self) -> Known:
        """The names behind numbers, by kind (user, group, executable, queue, partition): ``known_names["queue"][3]``.

        Those of ``names``, else those of the header; a kind of which the log has none is not there.
        """
        return names_by_kind(self.names, self.header)

    @property
    def plot(self) -> Plotter:
        """Draws pictures of it: ``trace.plot()``, ``trace.plot("arrivals")``; ``trace.plot.names()`` lists them."""
        return Plotter(self, "overview")

    def describe(self) -> dict[str, Any]:
        """Return what the log holds, in figures: what ``swftools describe`` prints; see ``swftools.describe``."""
        facts: dict[str, Any] = swftools_package().describe(self)
        return facts

    def _lines(self) -> list[str]:
        name = self.provenance.get("name")
        return lines_of(self.jobs, self.header, self.processors, name, len(self.quarantine))

    def _rows(self) -> tuple[pd.DataFrame, int]:
        return rows_of(self.jobs, self.known_names), len(self)

    def with_jobs(self, jobs: pd.DataFrame, quarantine: pd.DataFrame | None = None) -> Trace:
        """Return a trace with other jobs (and quarantine), all else the same."""
        return replace(self, jobs=jobs, quarantine=self.quarantine if quarantine is None else quarantine)

    def line_texts(self, line_numbers: pd.Series[Any]) -> pd.Series[Any]:
        """Return the text of source lines; missing where there is no source or no line number.

        Parameters
        ----------
        line_numbers : pandas.Series of Int64
            Lines of the source file, first line = 1.

        Raises
        ------
        ParameterError
            The source has no such lines.
        """
        texts: list[str | None] = [None] * len(line_numbers)
        if self.source is not None and line_numbers.notna().any():
            if isinstance(self.source, pa.LargeBinaryArray):
                lines = _taken(self.source, line_numbers)
            else:
                known = line_numbers.dropna()
                found = dict(zip(known.index, self.source.at(known.astype(int).tolist()), strict=True))
                lines = [found.get(row) for row in line_numbers.index]
            texts = [
                None if line is None else line.rstrip(b"\r\n").decode("utf-8", "backslashreplace") for line in lines
            ]
        return pd.Series(pd.array(texts, dtype="str"), index=line_numbers.index)

    def equals(self, other: Trace) -> bool:
        """Whether header, jobs and machine are the same.

        Line numbers, source lines, quarantine, merged lines, names and provenance do not count, and neither does a
        column ``extra_fields`` that has no text.
        """
        ours, theirs = _compared(self.jobs), _compared(other.jobs)
        same = self.header == other.header and self.machine_processors == other.machine_processors
        return same and list(ours) == list(theirs) and ours.equals(theirs)


def width_of(allocated_processors: IntArray, requested_processors: IntArray) -> IntArray:
    """Return the width of jobs: allocated processors where known and positive, else requested ones; -1 is missing."""
    return np.where(allocated_processors > 0, allocated_processors, requested_processors)


def _taken(source: pa.LargeBinaryArray, line_numbers: pd.Series[Any]) -> list[bytes | None]:
    """Return lines by number, none where there is no number."""
    first, last = line_numbers.min(), line_numbers.max()
    if first < 1 or last > len(source):
        raise ParameterError(
            f"lines {first} to {last} of a source of {len(source)} lines: it is not the log of this trace"
        )
    lines: list[bytes | None] = source.take(pc.subtract(pa.array(line_numbers, type=INT64), 1)).to_pylist()
    return lines


def submit_timestamps(submit_time: pd.Series[Any], header: SwfHeader) -> pd.Series[Any]:
    """Return submissions as absolute times, UTC to the millisecond.

    Parameters
    ----------
    submit_time : pandas.Series of float
        Seconds from the start of the log; NaN is missing.
    header : SwfHeader
        Its UnixStartTime is second 0.

    Returns
    -------
    pandas.Series of datetime64[ms, UTC]
        Missing without a submission, without UnixStartTime, and beyond the year 9999.
    """
    if len(submit_time) > LONG:  # in parts, since numbers on the way take several times as much memory
        parts = [submit_time.iloc[begin : begin + LONG] for begin in range(0, len(submit_time), LONG)]
        return pd.concat([submit_timestamps(part, header) for part in parts])
    start = header.unix_start_time
    milliseconds = (submit_time * 1000).round() + 1000 * (start or 0)
    known = (milliseconds <= _LAST_MILLISECOND) & (start is not None)
    stamps = pd.to_datetime(milliseconds.where(known, 0).astype("int64"), unit="ms", utc=True).dt.as_unit("ms")
    return stamps.where(known)


def integer_series(values: npt.ArrayLike) -> pd.Series[Any]:
    """Return an Int64 series in which -1 (and NaN, None and NA) is missing.

    Raises
    ------
    ParameterError
        The values are not a sequence of whole numbers of at most 64 bits.
    """
    whole = _numbers(values)
    wrong = (whole >= 2**63) | (whole < -(2**63))
    if whole.dtype.kind == "f":
        whole = np.where(np.isnan(whole), -1, whole)
        wrong |= whole != np.trunc(whole)
    if wrong.any():
        raise ParameterError(f"{whole[wrong][0]} is not a whole number of 64 bits")
    integers = whole.astype(np.int64)
    return pd.Series(pd.arrays.IntegerArray(integers, integers == -1))


def float_series(values: npt.ArrayLike) -> pd.Series[Any]:
    """Return a float64 series in which -1 (and None and NA) is missing (NaN).

    Raises
    ------
    ParameterError
        The values are not a sequence of numbers.
    """
    array = _numbers(values).astype(np.float64)
    array[array == -1] = np.nan
    return pd.Series(array)


def _numbers(values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return values as a one-dimensional array of numbers, whatever their kind; None and NA as -1."""
    # An array of pandas would make floats of integers, to say NA.
    is_extension = isinstance(getattr(values, "dtype", None), pd.api.extensions.ExtensionDtype)
    array = np.asarray(values, dtype=object if is_extension else None)
    if array.dtype.kind == "O" and array.ndim == 1:
        array = np.array([-1 if value is None or value is pd.NA else value for value in array])
    if array.ndim != 1 or (array.dtype.kind not in "iuf" and array.size):
        raise ParameterError(f"{array.dtype} values of shape {array.shape}; give a sequence of numbers")
    return array


def _compared(jobs: pd.DataFrame) -> pd.DataFrame:
    """Return what ``Trace.equals`` compares of the jobs."""
    without = [name for name in ("extra_fields",) if name in jobs and jobs[name].isna().all()]
    return jobs.drop(columns=["line_number", *without], errors="ignore").reset_index(drop=True)
