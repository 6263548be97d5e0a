# SPDX-License-Identifier: BSD-3-Clause
"""A log may come in whatever pieces: cut at any byte, over any nights, some of which find it unchanged."""

from __future__ import annotations

import bz2
import gzip
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.formats.test_every_format import OPTIONS, SAMPLES
from tests.pipelines.history.in_memory import Books
from tests.pipelines.history.nights import HEADER, days, job

_OF = {name: SAMPLES[name] for name in SAMPLES if not name.startswith("loadleveler")}
_OF |= {name: SAMPLES[f"loadleveler llsummary-l_{name}.txt"] for name in ("dst_zone", "broken_latin1_crlf")}
LOGS = {name: (name.split()[0] if name in SAMPLES else "loadleveler", text) for name, text in _OF.items()}
LOGS["swf"] = "swf", (HEADER + "".join(days(3)) + "no job\n").encode()
PACKED: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}


def read_as(kind: str) -> str:
    """Return a format with its options."""
    options = ",".join(f"{key}={value}" for key, value in OPTIONS.get(kind, {}).items())
    return f"{kind}:{options}" if options else kind


@cache
def jobs_at_once(name: str) -> pd.DataFrame:
    """Return the jobs of a log that came whole, in one night."""
    kind, text = LOGS[name]
    with tempfile.TemporaryDirectory() as folder:
        books = Books(Path(folder, "once"), read_as(kind))
        (books.inbox / "log").write_bytes(text)
        books.night()
        return books.jobs()


def assert_one_delivery(books: Books, name: str) -> None:
    """Assert that the jobs are those of one delivery, and that the table of files accounts for each."""
    expected = jobs_at_once(name)
    pd.testing.assert_frame_equal(books.jobs(), expected, check_exact=True)
    files = books.state.ingested
    assert files["new"].sum() - files["withdrawn"].sum() == len(expected) > 0
    counts = ["new", "merged", "quarantined", "not_ended", "joined"]
    assert (files["records"] == files[counts].sum(axis=1)).all()


def nights_of_pieces(name: str, folder: Path, data: st.DataObject) -> None:
    """Deliver a log in pieces, cut at any byte, or within its last lines."""
    kind, text = LOGS[name]
    anywhere = st.integers(1, len(text) - 1)
    cuts = sorted(data.draw(st.lists(anywhere | st.integers(len(text) - 90, len(text) - 1), min_size=1, max_size=3)))
    ending = data.draw(st.sampled_from(list(PACKED)))
    books = Books(folder, read_as(kind))
    for cut in (*cuts, len(text)):
        (books.inbox / f"log{ending}").write_bytes(PACKED[ending](text[:cut]))
        for _ in range(data.draw(st.integers(1, 3))):
            books.night()
    assert_one_delivery(books, name)


_QUICK = settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


BY_DAY = ("swf", "slurm sacct", "sge sample", "pbs torque", "dst_zone")
"""Logs that are cut by day: of each way to write records one."""


@pytest.mark.parametrize(
    "name", [name if name in BY_DAY else pytest.param(name, marks=pytest.mark.slow) for name in LOGS]
)
@_QUICK
@given(data=st.data())
def test_any_pieces(name: str, tmp_path: Path, data: st.DataObject) -> None:
    """The jobs of nights are those of one delivery."""
    nights_of_pieces(name, tmp_path / "nights", data)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", LOGS)
@settings(_QUICK, max_examples=150)
@given(data=st.data())
def test_many_pieces(name: str, tmp_path: Path, data: st.DataObject) -> None:
    """Likewise, of many more."""
    nights_of_pieces(name, tmp_path / "nights", data)


@pytest.mark.parametrize("name", ["swf", "slurm sacct"])
@settings(_QUICK, max_examples=2)
@given(data=st.data())
def test_several_files_in_any_order(name: str, tmp_path: Path, data: st.DataObject) -> None:
    """A log in three files that overlap, each of which grows as it likes, from night to night."""
    kind, text = LOGS[name]
    lines = text.splitlines(keepends=True)
    head = next(place for place, line in enumerate(lines) if line[:1].isdigit())
    starts = [place for place, line in enumerate(lines) if place >= head and b"." not in line.split(b"|")[0]]
    firsts = [head, *(data.draw(st.sampled_from(starts)) for _ in range(2))]
    lasts = [
        data.draw(st.sampled_from([start for start in (*starts, len(lines)) if start > first])) for first in firsts
    ]
    lasts[0] = len(lines)
    files = {
        f"{number}.log": b"".join(lines[:head] + lines[first:last])
        for number, (first, last) in enumerate(zip(firsts, lasts, strict=True))
    }
    books = Books(tmp_path / "nights", read_as(kind))
    for _ in range(data.draw(st.integers(1, 5))):
        which = data.draw(st.sampled_from(list(files)))
        path = books.inbox / which
        done = path.stat().st_size if path.exists() else 0
        path.write_bytes(files[which][: data.draw(st.integers(done, len(files[which])))])
        books.night()
    for which in data.draw(st.permutations(list(files))):
        (books.inbox / which).write_bytes(files[which])
        for _ in range(data.draw(st.integers(1, 2))):
            books.night()
    pd.testing.assert_frame_equal(books.jobs(), jobs_at_once(name), check_exact=True)


@pytest.mark.parametrize("is_first", [True, False])
def test_copy_that_was_cut(is_first: bool, tmp_path: Path) -> None:
    """Under another name, before the whole file or behind it: its last line says nothing that the whole does not."""
    kind, text = LOGS["slurm sacct"]
    line = b"900|900|u9|g1|a1|batch|normal|COMPLETED|2024-03-12T01:00:00|2024-03-12T01:00:00|2024-03-12T02:00:00|"
    line += b"2024-03-12T03:00:00|01:00:00|3600|02:00:00|120|1|4|4|||||0:0|0|n1|a long name\n"
    books = Books(tmp_path / "nights", read_as(kind))
    for name in ("copy", "log") if is_first else ("log", "copy"):
        whole = text + line + line.replace(b"900", b"901")
        (books.inbox / name).write_bytes(whole if name == "log" else (text + line)[:-5])
        for _ in range(3):
            books.night()
    names = books.state.tables["names"].set_index(["kind", "number"])["name"]
    records = books.state.table("records")
    assert [names["executable", number] for number in records.loc[records["log_id"] == "900", "executable_id"]] == [
        "a long name"
    ]


def test_line_that_two_nights_see_cut(tmp_path: Path) -> None:
    """Job 5060 is cut behind 50, and the file stays so for a night: it is job 5060, and nobody else."""
    books = Books(tmp_path)
    whole = HEADER + job(1, 0) + job(5060, 50)
    for text in (whole[: whole.index("5060") + 2], whole):
        (books.inbox / "log.swf").write_text(text)
        for _ in range(3):
            books.night()
    assert books.state.table("records")["job_number"].tolist() == [1, 5060]
    assert books.state.waiting.empty


def test_history_that_resumes_within_a_line(tmp_path: Path) -> None:
    """As an earlier package left it: the line is read anew from its beginning."""
    books = Books(tmp_path)
    whole = HEADER + job(1, 0) + job(5060, 50) + job(5061, 60)
    cut = whole.index("5060") + 2
    log = books.inbox / "log.swf"
    log.write_text(whole[:cut])
    books.night()
    books.night()
    files = books.state.tables["ingested"]
    assert files["bytes"].max() == cut
    within = {"resumes_bytes": files["bytes"], "resumes_sha256": files["sha256"]}
    books.state.tables["ingested"] = files.assign(**within)
    log.write_text(whole)
    books.night()
    assert books.state.table("records")["job_number"].tolist() == [1, 5060, 5061]
