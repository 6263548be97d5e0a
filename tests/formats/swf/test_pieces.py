# SPDX-License-Identifier: BSD-3-Clause
"""A long log is read in pieces that are forgotten: the trace is that of the text read at once."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import pandas as pd
import pytest

from swftools.errors import SwfFormatError, SwfToolsError, UnreadableLogError
from swftools.formats.source_lines import SourceLines
from swftools.formats.swf.reader import read_swf
from swftools.trace import Trace

HEADER = "; Version: 2.2\n; UnixStartTime: 0\n; MaxProcs: 64\n; MaxNodes: many\n"


def lines(count: int, **changed: str) -> list[str]:
    """Return jobs of which some fields are missing in the first part, in the last, or throughout."""
    jobs = []
    for number in range(count):
        user, group = (-1 if number < count // 2 else 7), (3 if number < count // 2 else -1)
        status = (1, 0, -1)[number % 3]
        wait = -1 if number < count - 5 else 2.5
        jobs.append(
            f"{number + 1} {10 * number} {wait} {60 + number} 4 -1 -1 4 900 -1 {status} {user} {group} -1 0 -1 -1 -1"
        )
    for place, line in changed.items():
        jobs[int(place.removeprefix("at_"))] = line
    return jobs


TEXTS = {
    "plain": HEADER + "\n".join(lines(400)) + "\n",
    "no newline at the end": HEADER + "\n".join(lines(300)),
    "carriage returns": (HEADER + "\n".join(lines(300)) + "\n").replace("\n", "\r\n"),
    "a byte-order mark before a job": "\ufeff" + "\n".join(lines(300)) + "\n",
    "damage, blank lines and comments between": HEADER
    + "\n".join(
        lines(
            300,
            at_0="not a job",
            at_100="",
            at_150="; Note: in the middle",
            at_299="7 -3 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        )
    ),
    "judged in Python": HEADER + "\n".join(lines(300, at_10="+11 1e2 -1 6.5e1 4 -1 -1 4 9 -1 1 1 1 -1 0 -1 -1 -1")),
    "more fields": HEADER + "\n".join(lines(300, at_200=f"{lines(1)[0]} some more")),
    "too many fields": HEADER + "\n".join(lines(300, at_200=lines(1)[0] + " 1" * 20)),
    "utility functions": "; Note: utility\n" + HEADER + "\n".join(lines(50)),
    "since 1970": "\n".join(line.replace(f" {10 * n} ", f" {946684800 + n} ", 1) for n, line in enumerate(lines(300))),
    "comments alone": HEADER,
    "nothing": "",
}


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is long, and read in pieces of some lines."""
    monkeypatch.setattr("swftools.formats.swf.pieces.LONG_TEXT", 0)
    monkeypatch.setattr("swftools.formats.swf.pieces._PIECE", 900)


def same(ours: Trace, theirs: Trace) -> None:
    """Compare all but the lines."""
    assert ours.header == theirs.header
    pd.testing.assert_frame_equal(ours.jobs, theirs.jobs)
    pd.testing.assert_frame_equal(ours.quarantine, theirs.quarantine)
    assert {**ours.provenance, "name": ""} == {**theirs.provenance, "name": ""}


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_pieces_make_the_same_trace(text: str, tmp_path: Path) -> None:
    """Jobs, header, quarantine, hash; and the texts of lines."""
    path, whole = tmp_path / "log.swf", read_swf(io.BytesIO(text.encode()))
    path.write_bytes(text.encode())
    (tmp_path / "log.swf.gz").write_bytes(gzip.compress(text.encode()))
    for trace in (read_swf(path), read_swf(tmp_path / "log.swf.gz")):
        same(trace, whole)
        numbers = whole.jobs["line_number"].iloc[::7]
        assert trace.line_texts(numbers).tolist() == whole.line_texts(numbers).tolist()
    if "some more" not in text and "94668" not in text:
        assert isinstance(read_swf(path).source, SourceLines)


@pytest.mark.usefixtures("pieces")
def test_strict_raises_the_same(tmp_path: Path) -> None:
    """At the first line that is no job."""
    path, text = tmp_path / "log.swf", TEXTS["damage, blank lines and comments between"]
    path.write_text(text)
    with pytest.raises(SwfFormatError, match=r"line 5: .*not a job"):
        read_swf(path, strict=True)
    with pytest.raises(SwfToolsError, match="width='wide'"):
        read_swf(path, width="wide")  # type: ignore[arg-type]


@pytest.mark.usefixtures("pieces")
def test_a_file_that_has_changed_is_not_quoted(tmp_path: Path) -> None:
    """Its lines would be of another text."""
    path = tmp_path / "log.swf"
    path.write_text(TEXTS["plain"])
    trace = read_swf(path)
    os.utime(path, ns=(0, 0))
    with pytest.raises(UnreadableLogError, match="changed since it was read"):
        trace.line_texts(trace.jobs["line_number"].head())


@pytest.mark.usefixtures("pieces")
def test_columns_that_are_alike_are_written_to_apart(tmp_path: Path) -> None:
    """They may share memory, till somebody writes."""
    path = tmp_path / "log.swf"
    path.write_text(TEXTS["plain"])
    jobs = read_swf(path).jobs
    jobs.loc[0, "allocated_processors"] = 9
    jobs.loc[1, "average_cpu_time"] = 5.0
    jobs.loc[2, "executable_id"] = 5
    assert jobs["requested_processors"].tolist() == [4] * 400
    assert jobs["used_memory"].isna().all()
    assert jobs["partition_id"].isna().all()
    assert jobs["requested_memory"].isna().all()
