# SPDX-License-Identifier: BSD-3-Clause
"""What holds for every format of tables, on the rows of its page: whatever they are in, in pieces, damaged."""

from __future__ import annotations

import gzip
import hashlib
import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swftools import Trace, clean, iter_log, read_log, read_swf, write_swf
from swftools.errors import LogFormatError, SwfToolsError
from swftools.fields.dictionary import SWF_NAMES
from swftools.formats.detect import detect
from swftools.formats.multi_file import LogFiles, open_joined
from tests.examples import by_day, pairs
from tests.formats.accounting_checks import check_same, read_in_pieces
from tests.formats.mutations import mutations
from tests.formats.tables.made import (
    JSON,
    OPTIONS,
    TABLES,
    WITH_HEADER,
    as_json_lines,
    as_json_list,
    as_parquet,
    as_typed_parquet,
    example,
    lines_of,
    longer,
)
from tests.frames import assert_same

CSV = sorted(set(TABLES) - JSON)
FORMS = {"lines": as_json_lines, "list": as_json_list, "parquet": as_parquet, "typed": as_typed_parquet}


def read(name: str, text: bytes, **how: Any) -> Trace:
    """Read a table, or what became of it."""
    return read_log(io.BytesIO(text), name, **OPTIONS.get(name, {}), **how)


def told(trace: Trace) -> list[int]:
    """Return every line that a trace tells of."""
    tables = (trace.jobs, trace.quarantine, trace.merged)
    return sorted(line for table in tables for line in table["line_number"].tolist())


@pytest.mark.parametrize("name", TABLES)
def test_it_is_recognised_and_all_rows_are_jobs(name: str) -> None:
    """As one format and no other; the rows of the page are all sound."""
    assert detect(example(name), "log")[0] == name
    trace = read(name, example(name))
    assert len(trace) >= 2
    assert not len(trace.quarantine)
    assert trace.provenance["bytes"] == len(example(name))


@pytest.mark.parametrize("name", TABLES)
def test_to_swf_and_back(name: str) -> None:
    """SWF keeps every value that it can hold, and the header; the sums balance."""
    trace = read(name, example(name))
    file = io.BytesIO()
    write_swf(trace, file)
    again = read_swf(io.BytesIO(file.getvalue()))
    pd.testing.assert_frame_equal(again.jobs[list(SWF_NAMES)], trace.jobs[list(SWF_NAMES)])
    assert again.header == trace.header
    _, report = clean(trace)
    assert report.balance["job_lines"] == len(trace) + len(trace.quarantine) + len(trace.merged)


@pytest.mark.parametrize(("name", "form"), pairs(WITH_HEADER, list(FORMS), 2))
def test_whatever_the_rows_are_in(name: str, form: str) -> None:
    """CSV, JSON in lines or in a list, and Parquet of texts or of numbers give the same jobs."""
    text = FORMS[form](name)
    assert detect(LogFiles([io.BytesIO(text)], "log").heads()[0], "log")[0] == name
    expected, trace = read(name, example(name)), read(name, text)
    assert not len(trace.quarantine)
    left = ["line_number"]
    assert_same(trace.jobs.drop(columns=left), expected.jobs.drop(columns=left))
    assert_same(trace.names, expected.names)
    assert trace.jobs["line_number"].tolist() == list(range(1, len(trace) + 1))


@pytest.mark.parametrize("name", TABLES)
def test_compressed_and_as_a_folder_of_two(name: str, tmp_path: Path) -> None:
    """A folder of daily files is one log: each file with its header, lines counted through both."""
    expected = read(name, example(name))
    assert_same(read(name, gzip.compress(example(name))).jobs, expected.jobs)
    (tmp_path / "a.csv").write_bytes(example(name).rstrip())  # the last line lacks its end, in both
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(example(name).rstrip()))
    trace = read_log(tmp_path, **OPTIONS.get(name, {}))
    assert len(trace) == len(expected), "each row of the second file repeats one"
    assert len(trace.merged) == len(expected)
    files = trace.provenance["files"]
    assert sorted(files) == ["a.csv", "b.csv.gz"]
    assert told(trace) == sorted(set(told(trace)))
    with open_joined(LogFiles([tmp_path / file for file in files], "log")) as stream:
        text = b"".join(iter(lambda: stream.read(1 << 20), b""))
    assert trace.provenance["sha256"] == hashlib.sha256(text).hexdigest()
    assert trace.provenance["bytes"] == len(text)


@pytest.mark.parametrize(
    ("name", "chunk_bytes", "times"),
    [
        *((name, (1, 97)[number % 2], 2) for number, name in enumerate(TABLES)),
        *(pytest.param(name, chunk_bytes, 12, marks=pytest.mark.slow) for name in TABLES for chunk_bytes in (1, 97)),
    ],
)
def test_in_pieces(name: str, chunk_bytes: int, times: int) -> None:
    """Pieces of any size give what the whole gives, and so does iter_log."""
    text = longer(name, times) if name in CSV else example(name)
    expected = read(name, text)
    check_same(expected, read_in_pieces(text, name, chunk_bytes, **OPTIONS.get(name, {})))
    pieces = list(iter_log(io.BytesIO(text), name, chunk_bytes=chunk_bytes, **OPTIONS.get(name, {})))
    jobs = pd.concat([piece.jobs for piece in pieces if len(piece)]).sort_values("job_number", ignore_index=True)
    assert jobs["job_number"].tolist() == expected.jobs["job_number"].tolist()
    for column in ("submit_time", "wait_time", "run_time", "line_number", "requested_processors", "think_time"):
        pd.testing.assert_series_equal(jobs[column], expected.jobs[column])


def survives(name: str, seed: int) -> None:
    """Assert that each row of a damaged table is a job, part of one or in the quarantine; or that it is refused."""
    text = mutations(longer(name), seed)
    try:
        trace = read(name, text)
    except SwfToolsError:
        return
    assert told(trace) == sorted(lines_of(name, text))
    check_same(trace, read_in_pieces(text, name, 997, **OPTIONS.get(name, {})))


@pytest.mark.parametrize("name", CSV)
@pytest.mark.parametrize("seed", by_day(range(8), 2))
def test_damaged_tables(name: str, seed: int) -> None:
    """No row is lost, and pieces give what the whole gives."""
    survives(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", CSV)
def test_200_damaged_tables(name: str) -> None:
    """So it is for more damage."""
    for seed in range(100, 300):
        survives(name, seed)


@pytest.mark.parametrize("name", sorted(JSON))
@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(100, 300), marks=pytest.mark.slow)])
def test_damaged_json(name: str, seeds: range) -> None:
    """A damaged object is refused or told of, and the others are read: none is a job twice."""
    for seed in seeds:
        text = mutations(example(name), seed)
        with suppress(SwfToolsError):
            trace = read(name, text)
            assert told(trace) == sorted(set(told(trace)))
            check_same(trace, read_in_pieces(text, name, 61, **OPTIONS.get(name, {})))


@pytest.mark.parametrize("name", WITH_HEADER)
@pytest.mark.parametrize("seeds", [range(24), pytest.param(range(100, 300), marks=pytest.mark.slow)])
def test_damaged_parquet(name: str, seeds: range) -> None:
    """Cut off or with other bytes, Parquet is refused or read; nothing else escapes."""
    sound = as_typed_parquet(name)
    refused = 0
    for seed in seeds:
        text = mutations(sound, seed)
        try:
            trace = read(name, text)
            assert told(trace) == sorted(set(told(trace)))
        except SwfToolsError:
            refused += 1
    assert refused > len(seeds) / 4


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 6), marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", TABLES)
def test_nobody_is_named(name: str, seeds: range) -> None:
    """Names, ids and rows stand nowhere where they are withheld, however damaged the table is."""
    for seed in seeds:
        text = mutations(example(name), seed) if seed else example(name)
        with suppress(LogFormatError):
            plain, trace = read(name, text), read(name, text, anonymise="numbers")
            shown = repr(
                [frame.to_csv() for frame in (trace.jobs, trace.quarantine, trace.merged, trace.names)]
                + [trace.header.to_lines(), trace.provenance]
            )
            states = set(plain.jobs.get("logged_state", pd.Series(dtype=str)).dropna())
            words = {*plain.names["name"], *plain.jobs.get("log_id", pd.Series(dtype=str)).dropna()} - states
            assert [] == [word for word in words if len(word) > 4 and word in shown and not word.isdecimal()]
            assert trace.quarantine["text"].isna().all()
            assert trace.jobs["user_id"].equals(plain.jobs["user_id"])
