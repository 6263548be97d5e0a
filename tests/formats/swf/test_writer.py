# SPDX-License-Identifier: BSD-3-Clause
"""What ``write_swf`` writes reads back as the same Trace; what would not, it refuses."""

from __future__ import annotations

import io
import os
import stat
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

from swftools import SwfHeader, Trace, read_swf, write_swf
from swftools.errors import ParameterError, StorageError, SwfFormatError, UtilityError
from swftools.fields.definition import UTILITY
from swftools.formats.swf.kernel import LONGEST_LINE
from swftools.header import UTILITY_NOTE, HeaderEntry
from tests.examples import examples
from tests.frames import assert_same
from tests.strategies import log_texts, traces

LOGS = [
    "SDSC-BLUE-2000-4.2-cln",
    "CTC-SP2-1996-3.1-cln",
    "SDSC-DS-2004-2.1-cln",
    "SDSC-SP2-1998-4.2-cln",
    "KTH-SP2-1996-2.1-cln",
]


def written(trace: Trace) -> bytes:
    """Return the text of a trace."""
    file = io.BytesIO()
    write_swf(trace, file)
    return file.getvalue()


def reread(trace: Trace) -> Trace:
    """Return what reads back of a trace, strictly."""
    return read_swf(io.BytesIO(written(trace)), strict=True)


def with_column(trace: Trace, **columns: Any) -> Trace:
    """Return a trace with other columns."""
    return trace.with_jobs(trace.jobs.assign(**columns))


def utility_column(*functions: list[tuple[float, float]] | None) -> pd.Series[Any]:
    """Return a column of utility functions from their points."""
    points = [f and [{"time": t, "value": v} for t, v in f] for f in functions]
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(points, UTILITY)])))


# ---------------------------------------------------------------- the same Trace


@examples(0.5)
@given(traces())
def test_a_trace_reads_back_as_it_was_written(trace: Trace) -> None:
    """Header, 18 fields, text behind them and utility functions, to the last bit."""
    back = reread(trace)
    assert trace.header == back.header
    assert_same(back.jobs.drop(columns="line_number"), trace.jobs.drop(columns="line_number"), check_exact=True)
    assert trace.equals(back)


@examples(0.5)
@given(traces())
def test_a_trace_is_written_in_one_way(trace: Trace) -> None:
    """Equal traces give equal bytes, also when one of them has been written and read."""
    assert written(trace) == written(reread(trace))


@examples(0.5)
@given(log_texts())
def test_whatever_was_read_can_be_written_and_reads_back(text: bytes) -> None:
    """A trace read from any text, damaged or not, is one that can be written."""
    trace = read_swf(io.BytesIO(text))
    assert trace.equals(reread(trace))


def test_the_shipped_log_reads_back(shipped_log: Path, tmp_path: Path) -> None:
    """A real log, through every compression, recognised whatever the name."""
    trace = read_swf(shipped_log)
    assert 5000 == len(trace)
    for suffix in ("", ".gz", ".bz2", ".xz", ".zst", ".GZ"):
        path = tmp_path / f"log.swf{suffix}"
        write_swf(trace, path)
        nameless = path.rename(tmp_path / "log")
        assert trace.equals(read_swf(nameless)), suffix
        assert trace.equals(read_swf(str(nameless))), suffix


@pytest.mark.full
@pytest.mark.parametrize("name", LOGS)
def test_the_five_logs_read_back(shared: Path, tmp_path: Path, name: str) -> None:
    """The real logs, whole."""
    trace = read_swf(shared / "traces" / f"{name}.swf.gz")
    write_swf(trace, tmp_path / "log.swf")
    back = read_swf(tmp_path / "log.swf", strict=True)
    assert trace.header == back.header
    assert trace.equals(back)


def test_an_extended_trace_is_announced_by_a_note() -> None:
    """The lines end in times and values, missing functions in nothing; the Note is not in the header read."""
    trace = with_column(
        Trace.from_columns(SwfHeader.from_lines(["; MaxProcs: 8"]), job_number=[1, 2]),
        utility=utility_column([(0, 8), (1e-300, 0.1), (60.25, 0)], None),
    )
    missing = b" -1" * 17
    text = b"; MaxProcs: 8\n; Note: %b\n1%b 0 8 1e-300 0.1 60.25 0\n2%b\n" % (UTILITY_NOTE.encode(), missing, missing)
    assert text == written(trace)
    assert trace.equals(reread(trace))
    assert () == reread(trace).header.notes


def test_fields_stand_in_straight_columns() -> None:
    """A written log is pleasant to read: each field is as wide as its widest value."""
    trace = Trace.from_columns(job_number=[1, 100], submit_time=[0, 0.25], status=[5, -1])
    rest = " -1" * 8
    assert f"  1    0{rest}  5{' -1' * 7}\n100 0.25{rest} -1{' -1' * 7}\n".encode() == written(trace)


def test_an_empty_trace_reads_back() -> None:
    """No jobs and no header make an empty file; an empty utility column is remembered."""
    assert b"" == written(Trace.from_columns())
    assert Trace.from_columns().equals(reread(Trace.from_columns()))
    empty = with_column(Trace.from_columns(), utility=utility_column())
    assert empty.equals(reread(empty))


def test_columns_without_a_place_in_swf_are_not_written() -> None:
    """What cleaning and augmentation add stays behind; with utility functions, so does text of unknown meaning."""
    trace = with_column(Trace.from_columns(job_number=[7]), is_cancelled=[True], extra_fields=["x"])
    assert trace.with_jobs(trace.jobs.drop(columns="is_cancelled")).equals(reread(trace))
    both = with_column(trace, utility=utility_column([(0, 1), (1, 0)]))
    assert both.with_jobs(both.jobs.drop(columns=["is_cancelled", "extra_fields"])).equals(reread(both))


def test_many_jobs_are_written_in_order() -> None:
    """More jobs than are joined to text at once."""
    count = 200_001
    trace = Trace.from_columns(job_number=np.arange(count), run_time=np.arange(count) / 7)
    trace = with_column(trace, extra_fields=pd.Series(["x"] + [None] * (count - 2) + ["y z"], dtype="str"))
    assert trace.equals(reread(trace))


# ---------------------------------------------------------------- what would not read back


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("run_time", -5.0, "'run_time', row 1"),
        ("run_time", float("inf"), "'run_time', row 1"),
        ("run_time", 1e10 + 1, "'run_time', row 1"),
        ("user_id", -3, "'user_id', row 1"),
        ("requested_processors", 2**31, "'requested_processors', row 1"),
        ("status", -1, "row 1: status -1 would read back as missing"),
    ],
)
def test_a_value_that_would_not_read_back_is_refused(column: str, value: float, message: str) -> None:
    """Such as a negative time; the message names column and row."""
    trace = Trace.from_columns(job_number=[1, 2])
    trace.jobs.loc[1, column] = value
    with pytest.raises(SwfFormatError, match=message):
        written(trace)


def test_a_column_of_another_kind_is_refused() -> None:
    """Text where numbers are due."""
    with pytest.raises(SwfFormatError, match="'user_id'"):
        written(with_column(Trace.from_columns(job_number=[1]), user_id=["anna"]))


@pytest.mark.parametrize("text", ["", " ", "a ", " a", "a\nb", "a\rb", "a\x00", "1 " * 14 + "1", "\ud800", "a\x1fb"])
def test_text_that_would_not_read_back_is_refused(text: str) -> None:
    """Text behind the 18th field: blanks at its ends, line ends, control characters, too many words."""
    trace = Trace.from_columns(job_number=[1, 2])
    with pytest.raises(SwfFormatError, match="extra_fields"):
        written(with_column(trace, extra_fields=pd.Series([None, text], dtype=object)))


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        (HeaderEntry("Two words", "x"), "Two words"),
        (HeaderEntry("Note", "a\nMaxProcs: 3"), "MaxProcs: 3"),
        (HeaderEntry("Note", "a\n"), "Note"),
        (HeaderEntry("Note", " a"), "Note"),
        (HeaderEntry("Note", "a\rb"), "Note"),
        (HeaderEntry("Note", "\udc80"), "Note"),
        (HeaderEntry(None, "Label: text"), "Label: text"),
        (HeaderEntry(None, "a\nb"), "None"),
        (HeaderEntry("Note", "x" * LONGEST_LINE), "a header entry of 1,048,576 bytes and more"),
    ],
)
def test_a_header_entry_that_would_not_read_back_is_refused(entry: HeaderEntry, shown: str) -> None:
    """A line that looks like another label, a carriage return, blanks at the ends."""
    with pytest.raises(SwfFormatError, match=shown):
        written(Trace.from_columns(SwfHeader((HeaderEntry("Version", "2.2"), entry)), job_number=[1]))


def test_an_overlong_line_is_refused() -> None:
    """A line as long as those that the reader rejects; one byte less reads back."""
    trace = Trace.from_columns(job_number=[1])
    room = LONGEST_LINE - len("1" + " -1" * 17 + " ")
    fitting = with_column(trace, extra_fields=["x" * (room - 1)])
    assert fitting.equals(reread(fitting))
    with pytest.raises(SwfFormatError, match="row 0: a line of 1,048,576 bytes and more"):
        written(with_column(trace, extra_fields=["x" * room]))


@pytest.mark.parametrize(
    "function",
    [[(0, 1)], [(1, 2), (2, 1)], [(0, 1), (0, 0)], [(0, 1), (1, 2)], [(0, 1), (1, -1)], [(0, 1), (1, np.nan)]],
)
def test_a_utility_function_that_would_not_read_back_is_refused(function: list[tuple[float, float]]) -> None:
    """One that breaks the form."""
    with pytest.raises(UtilityError, match="utility function 1"):
        written(with_column(Trace.from_columns(job_number=[1, 2]), utility=utility_column(None, function)))


# ---------------------------------------------------------------- where it is written


def test_a_refused_trace_leaves_what_was_there(tmp_path: Path) -> None:
    """A path changes only when all is written, and nothing is left beside it."""
    path = tmp_path / "log.swf"
    path.write_text("before")
    bad = with_column(Trace.from_columns(job_number=[1, 2]), extra_fields=["x", "y" * LONGEST_LINE])
    with pytest.raises(SwfFormatError):
        write_swf(bad, path)
    assert "before" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    """The file that the link names is replaced, not the link."""
    (tmp_path / "link").symlink_to(tmp_path / "log")
    write_swf(Trace.from_columns(job_number=[1]), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert 1 == len(read_swf(tmp_path / "log"))


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    """What is no regular file, such as a pipe or /dev/null, is written into, and never replaced."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    trace = Trace.from_columns(job_number=[1, 2])
    writer = threading.Thread(target=write_swf, args=(trace, pipe))
    writer.start()
    back = read_swf(pipe)
    writer.join()
    assert trace.equals(back)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_names_of_any_length_can_be_written(tmp_path: Path) -> None:
    """The temporary file has a name of its own, so that the longest name a file system takes is fine."""
    write_swf(Trace.from_columns(job_number=[1]), tmp_path / ("x" * 255))
    assert 1 == len(read_swf(tmp_path / ("x" * 255)))


class OneByteAtATime(io.RawIOBase):
    """A raw stream, which takes what it likes of the bytes it is given."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: Any) -> int:
        """Take one byte."""
        self.data += bytes(data[:1])
        return 1


def test_a_raw_stream_gets_every_byte() -> None:
    """Also one that takes few at a time."""
    stream = OneByteAtATime()
    trace = Trace.from_columns(job_number=[1, 2])
    write_swf(trace, stream)  # type: ignore[arg-type]
    assert written(trace) == stream.data


class Full(io.RawIOBase):
    """A raw stream that takes nothing more."""

    def write(self, data: Any) -> None:
        """Take nothing."""


class Broken:
    """A file object whose write fails in a way of its own."""

    def write(self, data: Any) -> None:
        """Fail."""
        raise RuntimeError("no route to host")


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ("missing/log.swf", StorageError, "missing/log.swf: cannot be written"),
        (".", StorageError, "cannot be written"),
        ("nul\0byte", StorageError, "null (byte|character)"),
        (io.StringIO(), ParameterError, "binary mode"),
        (None, ParameterError, "give a path"),
        (Full(), StorageError, "takes no more bytes"),
        (Broken(), StorageError, "no route to host"),
    ],
)
def test_a_target_that_cannot_be_written_is_one_clear_error(
    target: Any, error: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the target and the reason."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        write_swf(Trace.from_columns(job_number=[1]), target)
    assert [] == list(tmp_path.iterdir())
