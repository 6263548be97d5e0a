# SPDX-License-Identifier: BSD-3-Clause
"""The compiled reader against the slow one of ``tests/naive/swf.py``, on odd text, on real logs, and piece by piece."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swftools import iter_swf, read_swf, write_swf
from swftools.fields.dictionary import SWF_NAMES
from swftools.formats.compression import open_log
from swftools.formats.swf.kernel import (
    _POWERS_OF_TEN,
    IS_INTEGER,
    LONGEST_LINE,
    MAXIMUM,
    ROW_OF_FIELD,
    Scan,
    _scan,
    scan,
)
from swftools.header import UTILITY_NOTE, SwfHeader
from swftools.keyed_random import count_occurrences
from swftools.trace import Trace
from tests.examples import examples
from tests.naive.swf import NaiveLog, naive_read_swf
from tests.strategies import job_lines, log_texts, traces

JOB = b"1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1"
LOGS = [
    "SDSC-BLUE-2000-4.2-cln",
    "CTC-SP2-1996-3.1-cln",
    "SDSC-DS-2004-2.1-cln",
    "SDSC-SP2-1998-4.2-cln",
    "KTH-SP2-1996-2.1-cln",
]


def read(text: bytes, **options: Any) -> Trace:
    """Read a log's text."""
    return read_swf(io.BytesIO(text), **options)


def check(expected: NaiveLog, trace: Trace) -> None:
    """Assert that a trace holds what the slow reader found: jobs, rejected lines and comments."""
    jobs = trace.jobs
    assert [job.line_number for job in expected.jobs] == jobs["line_number"].tolist()
    for position, name in enumerate(SWF_NAMES):
        values = [job.values[position] for job in expected.jobs]
        missing = [value is None for value in values]
        assert missing == jobs[name].isna().tolist(), name
        assert [value for value in values if value is not None] == jobs[name].dropna().tolist(), name
    if "utility" not in jobs:
        extras = jobs["extra_fields"] if "extra_fields" in jobs else pd.Series([None] * len(jobs), dtype="str")
        assert [job.extra for job in expected.jobs] == [text if isinstance(text, str) else None for text in extras]
    else:
        functions = [[(p["time"], p["value"]) for p in given] for given in jobs["utility"].dropna()]
        assert [job.points for job in expected.jobs if job.points] == functions
        assert [job.points is None for job in expected.jobs] == jobs["utility"].isna().tolist()
    quarantine = trace.quarantine
    assert expected.quarantine == list(zip(quarantine["line_number"], quarantine["text"], strict=True))
    assert SwfHeader.from_lines(expected.comments).without_note(UTILITY_NOTE) == trace.header


def joined(parts: Iterator[Trace]) -> Trace:
    """Return the parts of a log as one trace; their occurrences are those that the whole is found to have."""
    found = list(parts)
    jobs, quarantine = (
        pd.concat(frames, ignore_index=True) for frames in ([p.jobs for p in found], [p.quarantine for p in found])
    )
    assert jobs.pop("job_occurrence").tolist() == count_occurrences(jobs).tolist()
    return Trace(found[-1].header, jobs, quarantine)


@examples(0.5)
@given(log_texts())
@example(b"")
@example(b"\n")
@example(b"\xef\xbb\xbf" + JOB)
@example(JOB + b"\r")
@example(JOB.replace(b" ", b"\t", 3) + b" extra\tfields \r\r\n" + JOB)
def test_the_reader_finds_what_the_slow_reader_finds(text: bytes) -> None:
    """On any mixture of real and odd lines: the same jobs, values, rejected lines and comments."""
    check(naive_read_swf(text), read(text))


@examples(0.5)
@given(st.lists(job_lines(), max_size=3), st.sampled_from([b"0 8 60 2", b"0 8 60", b"0 8 5 9", b"", b"x", b"0 8"]))
def test_the_reader_finds_what_the_slow_reader_finds_in_extended_logs(lines: list[bytes], tail: bytes) -> None:
    """With utility tuples too, broken ones among them."""
    text = b"".join(line.rstrip() + b" " + tail + b"\n" for line in [*lines, JOB])
    check(naive_read_swf(text, utility=True), read(text, utility=True))


def test_the_reader_finds_what_the_slow_reader_finds_in_the_shipped_log(shipped_log: Path) -> None:
    """A real log, whole."""
    with open_log(shipped_log) as stream:
        text = stream.read()
    expected = naive_read_swf(text)
    assert (5000, 0) == (len(expected.jobs), len(expected.quarantine))
    check(expected, read(text))


@pytest.mark.full
@pytest.mark.slow  # by day the shipped log, above
@pytest.mark.parametrize("name", LOGS)
def test_the_reader_finds_what_the_slow_reader_finds_in_the_five_logs(shared: Path, name: str) -> None:
    """The real logs, whole."""
    with open_log(shared / "traces" / f"{name}.swf.gz") as stream:
        text = stream.read()
    check(naive_read_swf(text), read(text))


def test_overlong_lines_are_cut_where_the_slow_reader_cuts_them() -> None:
    """A line of 1 MiB and more is rejected, whatever it holds, at any place in the file."""
    long = JOB + b" " * (LONGEST_LINE - len(JOB))
    for line, rejected in ((long, 1), (long[:-1], 0), (long[:-1] + b"\r", 1), (b";" * LONGEST_LINE, 1), (long * 2, 1)):
        for text in (line, line + b"\n" + JOB, JOB + b"\n" + line + b"\n" + JOB + b"\n"):
            expected = naive_read_swf(text)
            assert rejected == len(expected.quarantine)
            check(expected, read(text))
            check(expected, joined(iter_swf(io.BytesIO(text), chunk_bytes=300_000)))


# ---------------------------------------------------------------- piece by piece


@examples(0.5)
@given(log_texts(), st.integers(1, 200))
@example(b"; Version: 2.2\r\n" + JOB + b"\r\n", 15)
@example(b"\xef\xbb\xbf; Version: 2.2\n" + JOB, 1)
@example(b"; Note: first\n" + JOB + b"\n;   line\n; Note: last\n", 60)
def test_pieces_together_are_the_whole(text: bytes, chunk_bytes: int) -> None:
    """In pieces of any size, a log reads as it does at once; the last piece has the whole header."""
    whole, parts = read(text), joined(iter_swf(io.BytesIO(text), chunk_bytes=chunk_bytes))
    assert whole.equals(parts)
    assert whole.jobs["line_number"].tolist() == parts.jobs["line_number"].tolist()
    assert whole.quarantine.to_dict("list") == parts.quarantine.to_dict("list")


@examples(0.5)
@given(traces(extras=False), st.integers(1, 400))
def test_pieces_of_an_extended_log_together_are_the_whole(trace: Trace, chunk_bytes: int) -> None:
    """The Note that announces utility tuples is heeded in every piece."""
    file = io.BytesIO()
    write_swf(trace, file)
    file.seek(0)
    assert trace.equals(joined(iter_swf(file, chunk_bytes=chunk_bytes)))


NOTE = f"; Note: {UTILITY_NOTE}\n".encode()
TUPLES = JOB + b" 0 8 60 2\n"


@pytest.mark.parametrize("chunk_bytes", [1, 50, 1000])
@pytest.mark.parametrize(
    ("text", "has_utility"),
    [
        (NOTE + TUPLES, True),
        (b"; Note: x\n" + NOTE + b"\n" + TUPLES, True),
        (b"garbage\n" + NOTE + TUPLES, True),
        (b"; A: 1\n" * 50 + NOTE + TUPLES, True),
        (TUPLES + NOTE + TUPLES, False),
        (TUPLES.replace(b" 4 ", b" +4 ") + NOTE + TUPLES, False),
        (JOB + b" 1" * 30 + b"\n" + NOTE + TUPLES, False),
        (TUPLES, False),
        (NOTE, True),
    ],
)
def test_the_note_on_utility_counts_before_the_first_job(text: bytes, has_utility: bool, chunk_bytes: int) -> None:
    """At once or in pieces: what stands behind a job cannot change how that job was read."""
    whole, parts = read(text), joined(iter_swf(io.BytesIO(text), chunk_bytes=chunk_bytes))
    assert has_utility == ("utility" in whole.jobs)
    assert whole.equals(parts)
    assert whole.quarantine.to_dict("list") == parts.quarantine.to_dict("list")


def test_pieces_carry_the_header_that_stands_before_them() -> None:
    """A piece of comments alone is joined to the next, so that each trace of an ordinary log has the header."""
    text = b"; Version: 2.2\n; MaxProcs: 8\n" + (JOB + b"\n") * 4
    parts = list(iter_swf(io.BytesIO(text), chunk_bytes=50))
    assert [8] * len(parts) == [part.header.max_procs for part in parts]
    assert 4 == sum(len(part) for part in parts)
    assert len(parts) > 1


def test_comments_behind_the_last_job_come_in_a_trace_without_jobs() -> None:
    """Nothing is lost: the end of the header is yielded too."""
    parts = list(iter_swf(io.BytesIO(JOB + b"\n; Note: end\n"), chunk_bytes=len(JOB) + 1))
    assert [(1, ()), (0, ("end",))] == [(len(part), part.header.notes) for part in parts]


# ---------------------------------------------------------------- interpreted and compiled


def scanned(arrays: Scan, jobs: int, others: int) -> list[Any]:
    """Return what a scan found, as lists."""
    by_job = (*arrays.integers, *arrays.floats, arrays.line, arrays.extra_start, arrays.extra_end, arrays.extra_words)
    by_line = (arrays.other_line[:others], arrays.other_kind[:others], arrays.offsets)
    floats = [[repr(float(value)) for value in array[:jobs]] for array in by_job]
    return [jobs, others, floats, [array.tolist() for array in by_line]]


def as_interpreted(text: bytes) -> list[Any]:
    """Return what the scanner's Python function finds."""
    arrays, _, _ = scan(b"", 0)
    lines = text.count(b"\n")
    room = Scan(*(np.zeros((*array.shape[:-1], lines + 1), array.dtype) for array in arrays))
    found = _scan.py_func(text, len(text), room, IS_INTEGER, ROW_OF_FIELD, MAXIMUM, _POWERS_OF_TEN, LONGEST_LINE)
    return scanned(room._replace(offsets=room.offsets[: lines + 1]), *found)


@examples(0.5)
@given(log_texts())
def test_the_interpreted_scanner_finds_what_the_compiled_one_finds(text: bytes) -> None:
    """One source, two ways to run it, the same arrays."""
    text = text if text.endswith(b"\n") or not text else text + b"\n"
    assert as_interpreted(text) == scanned(*scan(text, text.count(b"\n")))


def test_the_reader_works_without_compilation() -> None:
    """With NUMBA_DISABLE_JIT=1, as for coverage, a log reads the same."""
    text = b"; Version: 2.2\nbad\n" + JOB + b" 19 20\n" + JOB.replace(b" 60 ", b" 123456789012345678901.5 ") + b"\n"
    code = (
        "import io, sys; from swftools import read_swf; trace = read_swf(io.BytesIO(sys.stdin.buffer.read()));"
        "print(trace.jobs.to_json(), trace.quarantine.to_json(), trace.header)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        input=text,
        capture_output=True,
        check=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
    ).stdout.decode()
    trace = read_swf(io.BytesIO(text))
    assert f"{trace.jobs.to_json()} {trace.quarantine.to_json()} {trace.header}\n" == told
    assert '"extra_fields":{"0":"19 20"}' in told
