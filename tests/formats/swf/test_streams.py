# SPDX-License-Identifier: BSD-3-Clause
"""Logs from pipes, logs without a line, the longest line, and the progress of reading."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest

from swftools import Trace, iter_swf, read_swf, write_swf
from swftools.errors import SwfFormatError, UnreadableLogError
from swftools.fields.dictionary import SWF_NAMES
from swftools.formats.compression import create_log, open_log
from swftools.formats.swf.kernel import COMMENT, DOUBTFUL, LONGEST_LINE, scan
from swftools.header import SwfHeader
from tests.examples import pairs

JOB = b"1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"
JOBS = 1500
TEXT = b"; Version: 2.2\n" + JOB * JOBS  # longer than what a pipe holds


def zstd_of(text: bytes, folder: Path) -> bytes:
    """Return a text compressed by our own writer."""
    with create_log(folder / "text.zst") as stream:
        stream.write(text)
    return (folder / "text.zst").read_bytes()


COMPRESS: dict[str, Callable[[bytes, Path], bytes]] = {
    "plain": lambda text, _: text,
    "gzip": lambda text, _: gzip.compress(text),
    "bz2": lambda text, _: bz2.compress(text),
    "xz": lambda text, _: lzma.compress(text),
    "zstd": zstd_of,
}
each_kind = pytest.mark.parametrize("kind", COMPRESS)


@contextmanager
def pipe_with(data: bytes, buffering: int) -> Iterator[BinaryIO]:
    """Open the reading end of a pipe into which another thread writes."""
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as file:
            file.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(reading, "rb", buffering) as file:
        yield file  # type: ignore[misc]
    writer.join()


# ---------------------------------------------------------------- pipes


@each_kind
@pytest.mark.parametrize("buffering", [-1, 0], ids=["buffered", "raw"])
def test_a_pipe_is_read_to_its_end(kind: str, buffering: int, tmp_path: Path) -> None:
    """Whole or in chunks, with the text's hash as from a file; it cannot seek, and stays open."""
    data = COMPRESS[kind](TEXT, tmp_path)
    (tmp_path / "log").write_bytes(TEXT)
    expected = read_swf(tmp_path / "log")
    with pipe_with(data, buffering) as pipe:
        assert not pipe.seekable()
        trace = read_swf(pipe)
        assert not pipe.closed
    assert trace.equals(expected)
    assert "<stream>" == trace.provenance["name"]
    assert [expected.provenance[key] for key in ("sha256", "bytes")] == [
        trace.provenance[key] for key in ("sha256", "bytes")
    ]
    with pipe_with(data, buffering) as pipe:
        assert JOBS == sum(len(part) for part in iter_swf(pipe, chunk_bytes=10_000))


@pytest.mark.parametrize(
    ("kind", "is_piped"),
    [("gzip", True), *(pytest.param(*case, marks=pytest.mark.slow) for case in [("plain", True), ("gzip", False)])],
)
def test_standard_input(kind: str, is_piped: bool, tmp_path: Path) -> None:
    """``sys.stdin.buffer`` of another process is a log like any other, through a pipe and from a file."""
    path = tmp_path / "log"
    path.write_bytes(COMPRESS[kind](TEXT, tmp_path))
    program = "import sys, swftools; trace = swftools.read_swf(sys.stdin.buffer); print(len(trace), trace.provenance)"
    with path.open("rb") as file:
        source: dict[str, Any] = {"input": file.read()} if is_piped else {"stdin": file}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=120, **source)
    assert done.stdout.startswith(b"%d {'name': '<stdin>', 'bytes': %d" % (JOBS, len(TEXT)))


def test_a_truncated_pipe(tmp_path: Path) -> None:
    """A writer that dies in the middle is one clear error."""
    with (
        pipe_with(gzip.compress(TEXT)[:-9], -1) as pipe,
        pytest.raises(UnreadableLogError, match="<stream>: gzip data truncated or corrupt"),
    ):
        read_swf(pipe)


def test_a_dash_is_the_name_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library does not guess; where there is none, the error tells what standard input is called."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        UnreadableLogError, match=r"^-: No such file or directory; standard input is sys\.stdin\.buffer"
    ):
        read_swf("-")
    Path("-").write_bytes(TEXT)
    assert JOBS == len(read_swf("-"))


# ---------------------------------------------------------------- no line

WITHOUT_JOBS = {
    "no byte": (b"", ()),
    "blank lines": (b"\n \t\n\r\n\n", ()),
    "a byte-order mark": (b"\xef\xbb\xbf", ()),
    "comments": (b"; Version: 2.2\n; MaxProcs: 8", ("Version", "MaxProcs")),
    "comments and blank lines": (b"\n; Version: 2.2\n\n\n", ("Version",)),
}


@pytest.mark.parametrize(("name", "kind"), pairs(list(WITHOUT_JOBS), list(COMPRESS), 2))
def test_a_log_without_jobs(name: str, kind: str, tmp_path: Path) -> None:
    """It is a Trace without jobs, by every way of reading, and is written and read back as the same."""
    text, labels = WITHOUT_JOBS[name]
    path = tmp_path / "log"
    path.write_bytes(COMPRESS[kind](text, tmp_path))
    traces = [read_swf(path), read_swf(path, strict=True), *iter_swf(path), *iter_swf(path, chunk_bytes=1)]
    with path.open("rb") as file:
        traces.append(read_swf(file))
    assert 5 == len(traces), "iter_swf yields one Trace"
    for trace in traces:
        assert (0, 0) == (len(trace), len(trace.quarantine))
        assert list(labels) == [entry.label for entry in trace.header.entries]
        assert [*SWF_NAMES, "line_number"] == [name for name in trace.jobs if name != "job_occurrence"]
    assert len(text) == traces[0].provenance["bytes"]
    copy = io.BytesIO()
    write_swf(traces[0], copy)
    assert traces[0].equals(read_swf(io.BytesIO(copy.getvalue())))


# ---------------------------------------------------------------- the longest line


def line_of(length: int, kind: str) -> bytes:
    """Return a line of some bytes, its end not among them: a job, one with further fields, or a comment."""
    beginning = {"job": JOB[:-1], "further fields": JOB[:-1] + b" 19 ", "comment": b"; Note: "}[kind]
    return beginning + (b" " if kind == "job" else b"x") * (length - len(beginning))


KINDS = ["job", "further fields", "comment"]
ENDS = [b"\n", b"\r\n", b""]


@pytest.mark.parametrize(
    ("kind", "end", "excess"),
    [  # by day each two of these together
        pytest.param(*(kind, end, excess), marks=() if (i + j + excess) % 3 == 0 else (pytest.mark.slow,))
        for i, kind in enumerate(KINDS)
        for j, end in enumerate(ENDS)
        for excess in (-1, 0, 1)
    ],
)
def test_the_longest_line_to_the_byte(kind: str, end: bytes, excess: int) -> None:
    """A line of 1 MiB with its LF is read; a byte more is damage. The end of the file counts as an LF."""
    carriage_return = len(end.removesuffix(b"\n"))
    line = line_of(LONGEST_LINE - 1 - carriage_return + excess, kind)
    text = JOB + line + end
    traces = [read_swf(io.BytesIO(text))]
    for size in (1000, 1 << 19, (1 << 20) + 46, (1 << 20) + 47, 1 << 24):
        parts = list(iter_swf(io.BytesIO(text), chunk_bytes=size))
        jobs, rejected = sum(len(part) for part in parts), sum(len(part.quarantine) for part in parts)
        assert (1 + (excess < 1 and kind != "comment"), excess == 1) == (jobs, rejected), size
    for trace in traces:
        assert [1, 2][: 1 + (excess < 1 and kind != "comment")] == trace.jobs["line_number"].tolist()
        assert (["a line of 1,048,576 bytes and more"] if excess == 1 else []) == trace.quarantine["reason"].tolist()
        assert (excess < 1 and kind == "comment") == bool(trace.header.notes)


@pytest.mark.parametrize(("kind", "read"), [("job", "job"), ("comment", COMMENT)])
def test_the_scanner_itself_takes_the_longest_line(kind: str, read: Any) -> None:
    """It leaves to the judge in Python only the line that is a byte longer."""
    for excess, expected in ((0, read), (1, DOUBTFUL)):
        for end in (b"\n", b""):
            arrays, jobs, others = scan(line_of(LONGEST_LINE - 1 + excess, kind) + end, 1)
            found: Any = ["job"] * jobs + arrays.other_kind[:others].tolist()
            assert [expected] == found, (excess, end)


@pytest.mark.parametrize("excess", [0, 1])
def test_the_longest_line_written(excess: int) -> None:
    """Whatever is written reads back, to the byte; what would not is refused."""
    file = io.BytesIO()
    plain = Trace.from_columns(job_number=[1], submit_time=[0], run_time=[60])
    write_swf(plain, file)
    room = LONGEST_LINE - len(file.getvalue()) - 1  # a blank goes before the text
    long = plain.with_jobs(plain.jobs.assign(extra_fields=["x" * (room + excess)]))
    note = Trace.from_columns(SwfHeader.from_lines([f"; Note: {'x' * (LONGEST_LINE - 9 + excess)}"]), job_number=[1])
    for trace in (long, note):
        copy = io.BytesIO()
        if excess:
            with pytest.raises(SwfFormatError, match="1,048,576 bytes and more would not read back"):
                write_swf(trace, copy)
        else:
            write_swf(trace, copy)
            assert LONGEST_LINE == max(map(len, copy.getvalue().splitlines(keepends=True)))
            assert trace.equals(read_swf(io.BytesIO(copy.getvalue()), strict=True))


# ---------------------------------------------------------------- progress


@each_kind
@pytest.mark.parametrize("way", ["path", "file", "raw file", "pipe"])
def test_progress(kind: str, way: str, tmp_path: Path) -> None:
    """It grows to the bytes of the file, whose size is told where it is known; the trace is the same."""
    data = COMPRESS[kind](TEXT, tmp_path)
    path = tmp_path / "log"
    path.write_bytes(data)
    calls: list[tuple[int, int | None]] = []

    def note(done: int, total: int | None) -> None:
        calls.append((done, total))

    if way == "path":
        trace = read_swf(path, progress=note)
    elif way == "pipe":
        with pipe_with(data, -1) as pipe:
            trace = read_swf(pipe, progress=note)
    else:
        with path.open("rb", -1 if way == "file" else 0) as file:  # type: ignore[call-overload]
            trace = read_swf(file, progress=note)
    assert trace.equals(read_swf(path))
    assert trace.provenance["sha256"] == read_swf(path).provenance["sha256"]
    done = [count for count, _ in calls]
    assert sorted(done) == done
    assert len(data) == done[-1]
    assert {None if way == "pipe" else len(data)} == {total for _, total in calls}


def test_progress_of_a_large_plain_file(tmp_path: Path) -> None:
    """It is told on the way, not only at the end; a file that stands in its middle counts from there."""
    path = tmp_path / "log"
    path.write_bytes(b";\n" * (20 << 20))
    calls: list[tuple[int, int | None]] = []
    with open_log(path, progress=lambda *call: calls.append(call)) as stream:
        assert 40 << 20 == len(stream.read())
    steps = np.diff([0, *(done for done, _ in calls)])
    assert 0 <= min(steps) < max(steps) <= 16 << 20
    with path.open("rb") as file:
        file.seek(30 << 20)
        with open_log(file, progress=lambda *call: calls.append(call)) as stream:
            assert 10 << 20 == len(stream.read())
    assert (10 << 20, 10 << 20) == calls[-1]


def test_what_progress_raises_stops_the_reading() -> None:
    """It is no fault of the log."""

    def stop(done: int, total: int | None) -> None:
        raise ZeroDivisionError

    for text in (TEXT, gzip.compress(TEXT)):
        with pytest.raises(ZeroDivisionError):
            read_swf(io.BytesIO(text), progress=stop)
