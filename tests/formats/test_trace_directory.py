# SPDX-License-Identifier: BSD-3-Clause
"""A trace saved by one stage of a pipeline is what the next one loads."""

from __future__ import annotations

import io
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from swftools import SwfHeader, Trace, clean, read_swf
from swftools.errors import SchemaError, SwfFormatError, UnreadableLogError
from swftools.formats.trace_directory import load_trace, save_trace
from swftools.header import HeaderEntry
from tests.examples import examples
from tests.frames import assert_same
from tests.strategies import log_texts, traces

JOB = b"1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"


@examples(0.5)
@given(traces())
def test_a_trace_loads_as_it_was_saved(trace: Trace) -> None:
    """Header, every column and its dtype, machine and provenance."""
    trace = replace(trace, machine_processors=77, provenance={"name": "x", "bytes": 5})
    with tempfile.TemporaryDirectory() as folder:
        save_trace(trace, Path(folder))
        back = load_trace(Path(folder))
    assert trace.header == back.header
    assert_same(back.jobs, trace.jobs, check_exact=True)
    assert trace.equals(back)
    assert (trace.machine_processors, trace.provenance) == (back.machine_processors, back.provenance)


@examples(0.5)
@given(log_texts())
def test_what_was_read_loads_with_its_quarantine_and_source(text: bytes) -> None:
    """Any log, damaged or not; its lines are quoted from the log."""
    trace = read_swf(io.BytesIO(text))
    with tempfile.TemporaryDirectory() as folder:
        save_trace(trace, Path(folder))
        back = load_trace(Path(folder), io.BytesIO(text))
    assert trace.equals(back)
    assert trace.jobs["line_number"].tolist() == back.jobs["line_number"].tolist()
    assert_same(back.quarantine, trace.quarantine)
    assert trace.source == back.source
    lines = trace.quarantine["line_number"]
    assert trace.line_texts(lines).tolist() == back.line_texts(lines).tolist()


def test_a_cleaned_trace_loads(shipped_log: Path, tmp_path: Path) -> None:
    """With the columns that cleaning adds."""
    trace, _ = clean(read_swf(shipped_log))
    save_trace(trace, tmp_path)
    back = load_trace(tmp_path, shipped_log)
    assert_same(back.jobs, trace.jobs, check_exact=True)
    assert_same(back.quarantine, trace.quarantine)
    assert trace.line_texts(trace.jobs["line_number"]).tolist() == back.line_texts(back.jobs["line_number"]).tolist()


def test_equal_traces_are_saved_in_equal_bytes(tmp_path: Path) -> None:
    """Each file of two directories."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        save_trace(read_swf(io.BytesIO(b"; Note: \xc3\xbc\nbad\n" + JOB)), tmp_path / name)
    files = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    tables = {"jobs.parquet", "quarantine.parquet", "merged.parquet", "names.parquet"}
    assert {*tables, "header.txt", "trace.json"} == files.keys()
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert "; Note: \u00fc\n".encode() == files["header.txt"]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"provenance": {"stream": io.BytesIO()}}, SchemaError, "provenance .*not JSON serializable"),
        ({"provenance": {"share": float("nan")}}, SchemaError, "provenance .*nan"),
        ({"header": SwfHeader((HeaderEntry("a b", ""),))}, SwfFormatError, "would not read back"),
        ({"jobs": Trace.from_columns(job_number=[1]).jobs.assign(colour="red")}, SchemaError, "colour"),
    ],
)
def test_what_cannot_be_saved(changes: dict[str, Any], error: type[Exception], message: str, tmp_path: Path) -> None:
    """One clear error."""
    with pytest.raises(error, match=message):
        save_trace(replace(Trace.from_columns(), **changes), tmp_path)


@pytest.mark.parametrize("name", ["jobs.parquet", "quarantine.parquet", "header.txt", "trace.json"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "binary"])
def test_what_cannot_be_loaded(name: str, damage: str, tmp_path: Path) -> None:
    """A directory with a file missing or damaged is one clear error; a cut header is a shorter header."""
    save_trace(read_swf(io.BytesIO(b"; Note: a\n; Note: b\nbad\n" + JOB)), tmp_path)
    path = tmp_path / name
    data = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes({"empty": b"", "cut": data[: len(data) // 2], "binary": b"\xff\x00" * 50}[damage])
    if name == "header.txt" and damage in {"empty", "cut"}:
        assert 1 == len(load_trace(tmp_path))
    else:
        with pytest.raises(SchemaError, match=str(tmp_path)):
            load_trace(tmp_path)


@pytest.mark.parametrize("text", ["[]", "{}", '{"machine_processors": null, "provenance": 3}', '{"provenance": {}}'])
def test_what_is_not_written_by_save_trace(text: str, tmp_path: Path) -> None:
    """JSON of another form is one clear error too."""
    save_trace(Trace.from_columns(), tmp_path)
    (tmp_path / "trace.json").write_text(text)
    with pytest.raises(SchemaError, match="not a trace as save_trace writes it"):
        load_trace(tmp_path)


def test_a_source_that_is_gone(tmp_path: Path) -> None:
    """The log that a trace was read from is named."""
    save_trace(Trace.from_columns(), tmp_path)
    with pytest.raises(UnreadableLogError, match=r"gone\.swf"):
        load_trace(tmp_path, tmp_path / "gone.swf")
