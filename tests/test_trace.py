# SPDX-License-Identifier: BSD-3-Clause
"""Trace: columns in, arrays out, and what makes two traces the same."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

from swftools import SwfHeader, Trace, read_swf
from swftools.errors import ParameterError
from swftools.fields.dictionary import SWF_FIELDS, SWF_NAMES
from swftools.trace import JobArrays, float_series, integer_series
from tests.strategies import traces

HEADER = SwfHeader.from_lines(["; MaxProcs: 8", "; MaxNodes: 4"])


def missing(values: Any) -> list[Any]:
    """Return the values of a series, None where missing."""
    return [None if pd.isna(value) else value for value in values]


# ---------------------------------------------------------------- columns in


def test_columns_become_the_dtypes_of_the_dictionary() -> None:
    """Whatever kind of sequence they come in; columns not given are missing."""
    trace = Trace.from_columns(
        job_number=[1, -1, 3], submit_time=np.array([0, 1, 2], np.int32), run_time=pd.Series([1.5, -1, np.nan])
    )
    assert [*SWF_NAMES, "line_number"] == list(trace.jobs)
    assert [1, None, 3] == missing(trace.jobs["job_number"])
    assert [0.0, 1.0, 2.0] == missing(trace.jobs["submit_time"])
    assert [1.5, None, None] == missing(trace.jobs["run_time"])
    assert [None] * 3 == missing(trace.jobs["status"]) == missing(trace.jobs["line_number"])
    expected = [{"int64": "Int64", "double": "float64"}[str(field.type)] for field in SWF_FIELDS]
    assert expected == [str(trace.jobs[name].dtype) for name in SWF_NAMES]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, None, pd.NA, -1, 3], [1, None, None, None, 3]),
        ([1.0, np.nan, 2.0], [1, None, 2]),
        (pd.array([2**53 + 1, None], "Int64"), [2**53 + 1, None]),
        (np.array([2**62], np.uint64), [2**62]),
        ([], []),
        (range(3), [0, 1, 2]),
    ],
)
def test_whole_numbers(values: Any, expected: list[Any]) -> None:
    """Integers to the last digit, missing in every way that Python knows."""
    series = integer_series(values)
    assert ("Int64", expected) == (str(series.dtype), missing(series))


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1, None, pd.NA, -1, 2.5], [1, None, None, None, 2.5]), ([-1.0, np.nan], [None, None]), ([], []), ([0], [0])],
)
def test_times(values: Any, expected: list[Any]) -> None:
    """Numbers as float64, -1 and its like as NaN."""
    series = float_series(values)
    assert ("float64", expected) == (str(series.dtype), missing(series))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"users": [1]}, r"not SWF columns: \['users'\]; the names are job_number, "),
        ({"job_number": [1, 2], "run_time": [1]}, "columns of different lengths: {'job_number': 2, 'run_time': 1}"),
        ({"user_id": [1.5]}, r"column 'user_id': 1\.5 is not a whole number"),
        ({"user_id": [np.inf]}, "column 'user_id': inf is not a whole number"),
        ({"user_id": [2.0**63]}, "column 'user_id': .* is not a whole number of 64 bits"),
        ({"user_id": np.array([2**63], np.uint64)}, "column 'user_id': .* is not a whole number of 64 bits"),
        ({"user_id": [2**70]}, "column 'user_id': object values"),
        ({"user_id": ["anna"]}, "column 'user_id': <U4 values"),
        ({"run_time": ["1"]}, "column 'run_time': <U1 values"),
        ({"run_time": 5}, r"column 'run_time': int64 values of shape \(\); give a sequence of numbers"),
        ({"run_time": [[1, 2]]}, r"column 'run_time': int64 values of shape \(1, 2\)"),
        ({"run_time": [True]}, "column 'run_time': bool values"),
    ],
)
def test_columns_that_are_none(columns: dict[str, Any], message: str) -> None:
    """One clear error that names the column."""
    with pytest.raises(ParameterError, match=message):
        Trace.from_columns(**columns)


def test_jobs_need_the_18_columns() -> None:
    """A table without them is refused, and so is a machine without processors."""
    with pytest.raises(ParameterError, match=r"jobs lack the columns \['run_time'\]; Trace.from_columns fills"):
        Trace(HEADER, Trace.from_columns(job_number=[1]).jobs.drop(columns="run_time"))
    with pytest.raises(ParameterError, match="machine_processors=0: a machine has at least 1"):
        Trace.from_columns(machine_processors=0)


# ---------------------------------------------------------------- arrays out


@given(traces())
def test_arrays_hold_what_the_table_holds(trace: Trace) -> None:
    """Integers with -1, times with NaN for missing; writable, contiguous, and made once."""
    arrays = trace.arrays
    assert arrays is trace.arrays
    for field in SWF_FIELDS:
        array = getattr(arrays, field.name)
        kind = np.int64 if str(field.type) == "int64" else np.float64
        assert (kind, True, True) == (array.dtype, array.flags.writeable, array.flags.c_contiguous)
        values = array.tolist() if kind is np.int64 else [-1 if np.isnan(value) else value for value in array]
        assert missing(trace.jobs[field.name]) == [None if value == -1 else value for value in values]


def test_the_width_of_a_job() -> None:
    """Processors allocated where known and positive, else those requested."""
    trace = Trace.from_columns(allocated_processors=[4, 0, -1, -1], requested_processors=[8, 8, 8, -1])
    assert [4, 8, 8, -1] == trace.arrays.width.tolist()
    assert (*SWF_NAMES, "width") == JobArrays._fields
    idle = Trace.from_columns(allocated_processors=[4, 0], requested_processors=[8, 8])
    assert [4, 8] == idle.arrays.width.tolist() == idle.views.width.tolist()


def test_arrays_are_not_the_table() -> None:
    """A kernel that writes into them changes no job."""
    trace = Trace.from_columns(job_number=[1], run_time=[5])
    trace.arrays.run_time[0] = 7
    trace.arrays.job_number[0] = 7
    assert [(1, 5.0)] == list(zip(trace.jobs["job_number"], trace.jobs["run_time"], strict=True))


@given(traces())
def test_views_are_the_arrays(trace: Trace) -> None:
    """For whoever only reads: the same values, made once, in arrays that kernels take."""
    views = trace.views
    assert views is trace.views
    for name, view, array in zip(JobArrays._fields, views, trace.arrays, strict=True):
        assert (array.dtype, True, True) == (view.dtype, view.flags.writeable, view.flags.c_contiguous), name
        assert np.array_equal(view, array, equal_nan=True), name


def test_views_share_the_memory_of_the_table() -> None:
    """Where a column says the same as the array; and what is written to the table then is not seen in them."""
    trace = Trace.from_columns(job_number=[1, 2], run_time=[5, 6], allocated_processors=[2, 4], user_id=[7, -1])
    views = trace.views
    for name in ("job_number", "run_time"):
        assert np.shares_memory(getattr(views, name), getattr(trace.views, name))
        assert np.shares_memory(getattr(views, name), np.asarray(trace.jobs[name].array.__array__()))
        assert not np.shares_memory(getattr(views, name), getattr(trace.arrays, name))
    assert np.shares_memory(views.width, trace.jobs["allocated_processors"].array.to_numpy())
    assert views.user_id.tolist() == [7, -1]
    trace.jobs.loc[0, ["job_number", "run_time", "allocated_processors"]] = 9
    assert (views.job_number.tolist(), views.run_time.tolist(), views.width.tolist()) == ([1, 2], [5, 6], [2, 4])
    assert trace.jobs["run_time"].tolist() == [9, 6]


def test_the_width_keeps_nothing_else() -> None:
    """The widths that it is made of are made for it, and forgotten."""
    arrays = Trace.from_columns(allocated_processors=[4, -1], requested_processors=[8, 8]).arrays
    assert arrays.width.tolist() == [4, 8]
    assert not {"allocated_processors", "requested_processors"} & {*vars(arrays)}


@pytest.mark.parametrize(
    ("known", "lines", "processors"),
    [
        (16, ["; MaxProcs: 8"], 16),
        (None, ["; MaxProcs: 8", "; MaxNodes: 4"], 8),
        (None, ["; MaxProcs: -1", "; MaxNodes: 4"], 4),
        (None, ["; MaxProcs: 0", "; MaxNodes: 4"], 4),
        (None, ["; MaxNodes: 0"], None),
        (None, [], None),
    ],
)
def test_processors_of_the_machine(known: int | None, lines: list[str], processors: int | None) -> None:
    """What is known better, else MaxProcs, else MaxNodes; -1 and 0 are unknown."""
    assert processors == Trace.from_columns(SwfHeader.from_lines(lines), machine_processors=known).processors


# ---------------------------------------------------------------- the same and others


def test_equal_traces() -> None:
    """Header, machine and jobs count; where they come from does not."""
    trace = Trace.from_columns(HEADER, job_number=[1, 2], run_time=[5, -1], machine_processors=16)
    text = b"bad\n; MaxProcs: 8\n; MaxNodes: 4\n"
    rows = b"".join(b"%d -1 -1 %d" % row + b" -1" * 14 + b"\n" for row in ((1, 5), (2, -1)))
    other = read_swf(io.BytesIO(text + rows))
    same = Trace(other.header, other.jobs, other.quarantine, 16, other.source, other.provenance)
    assert trace.equals(same)
    assert not trace.equals(other)
    assert not trace.equals(Trace.from_columns(job_number=[1, 2], run_time=[5, -1], machine_processors=16))
    assert not trace.equals(trace.with_jobs(trace.jobs[::-1]))
    assert not trace.equals(trace.with_jobs(trace.jobs.assign(run_time=[5.0, 6.0])))
    assert not trace.equals(trace.with_jobs(trace.jobs.assign(extra_fields=["x", None])))
    assert trace.equals(trace.with_jobs(trace.jobs.assign(extra_fields=pd.Series([None, None], dtype="str"))))
    assert trace.equals(trace.with_jobs(trace.jobs.set_index(pd.Index([7, 3]))))


def test_a_trace_with_other_jobs() -> None:
    """All else stays, the quarantine too unless another is given."""
    trace = read_swf(io.BytesIO(b"; MaxProcs: 8\nbad\n"))
    jobs = Trace.from_columns(job_number=[7]).jobs
    other = trace.with_jobs(jobs)
    assert (1, 8, 1) == (len(other), other.processors, len(other.quarantine))
    assert 0 == len(trace.with_jobs(jobs, trace.quarantine[:0]).quarantine)
    assert (trace.source, trace.provenance) == (other.source, other.provenance)


def test_source_lines() -> None:
    """Their text without its end; none without a line number, or without a source."""
    trace = Trace.from_columns(job_number=[1, 2, 3])
    quoted = Trace(HEADER, trace.jobs, source=pa.array([b"a\xff\r\n", b"b\n", b""], pa.large_binary()))
    numbers = pd.Series([3, 1, None, 1], index=[5, 6, 7, 8], dtype="Int64")
    texts = quoted.line_texts(numbers)
    assert (["", "a\\xff", None, "a\\xff"], [5, 6, 7, 8]) == (missing(texts), texts.index.tolist())
    assert "str" == str(texts.dtype)
    assert [None] * 4 == missing(trace.line_texts(numbers))
    assert [] == missing(quoted.line_texts(numbers[:0]))
    for wrong in ([0], [4], [-1, 1]):
        with pytest.raises(ParameterError, match="of a source of 3 lines: it is not the log of this trace"):
            quoted.line_texts(pd.Series(wrong, dtype="Int64"))
