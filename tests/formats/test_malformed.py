# SPDX-License-Identifier: BSD-3-Clause
"""Malformed logs: each ends in a clear error or in the quarantine, never otherwise, and no row is silently wrong."""

from __future__ import annotations

import io
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd
import pytest

from swftools import iter_swf, read_swf, write_swf
from swftools.errors import SwfFormatError, SwfToolsError, UnreadableLogError
from swftools.fields.dictionary import SWF_NAMES
from swftools.formats.compression import open_log
from swftools.trace import Trace
from tests.examples import by_day
from tests.formats.malformed import (
    COMPRESS,
    FAMILIES,
    FILES_PER_FAMILY,
    MAX_BYTES,
    Malformed,
    flipped,
    malformed,
    sound_lines,
)
from tests.naive.swf import NaiveJob, naive_read_swf

BY_DAY = 3
"""Files of each family by day; the others are slow tests."""

each_file = pytest.mark.parametrize(
    ("family", "index"),
    [
        pytest.param(
            *(family, index),
            id=f"{family.replace(' ', '-')}-{index}",
            marks=() if index < BY_DAY else (pytest.mark.slow,),
        )
        for family in FAMILIES
        for index in range(FILES_PER_FAMILY)
    ],
)
each_count = pytest.mark.parametrize("count", [BY_DAY, pytest.param(FILES_PER_FAMILY, marks=pytest.mark.slow)])


@contextmanager
def alarm(seconds: int = 60) -> Iterator[None]:
    """Turn a hang into a failure; no measure of speed."""

    def ring(number: int, frame: object) -> None:
        raise TimeoutError(f"hangs: still reading after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def rows(trace: Trace) -> list[tuple[object, ...]]:
    """Return the jobs of a trace as the slow reader gives them: line, values, and the text behind them."""
    columns = [trace.jobs[name].tolist() for name in SWF_NAMES]
    values = [tuple(None if pd.isna(value) else value for value in row) for row in zip(*columns, strict=True)]
    behind: list[object] = [None] * len(trace)
    if "extra_fields" in trace.jobs:
        behind = [text if isinstance(text, str) else None for text in trace.jobs["extra_fields"]]
    if "utility" in trace.jobs:
        functions = trace.jobs["utility"].array.to_numpy()
        behind = [None if f is None else tuple((p["time"], p["value"]) for p in f) for f in functions]
    return list(zip(trace.jobs["line_number"].tolist(), values, behind, strict=True))


def naive_rows(jobs: list[NaiveJob], *, utility: bool) -> list[tuple[object, ...]]:
    """Return the jobs of the slow reader in the same form."""
    behind = [(tuple(job.points) if job.points else None) if utility else job.extra for job in jobs]
    return [(job.line_number, tuple(job.values), text) for job, text in zip(jobs, behind, strict=True)]


def outcome(file: Malformed) -> Trace | SwfToolsError:
    """Return the trace of a file, or the error that it ends in; anything else is raised."""
    try:
        return read_swf(io.BytesIO(file.data), max_bytes=file.max_bytes)
    except SwfToolsError as error:
        return error


def first_files(count: int) -> list[Malformed]:
    """Return so many files of each family."""
    return [malformed(family, index) for family in FAMILIES for index in range(count)]


@each_count
def test_they_differ_and_are_the_same_in_every_run(count: int) -> None:
    """All but the shortest are different; the generator is seeded."""
    files = first_files(count)
    assert len({file.data for file in files}) > 0.95 * len(files)
    assert files[::5] == [malformed(file.family, place % count) for place, file in enumerate(files)][::5]
    assert files[0].data != malformed(files[0].family, 0, seed=1).data


@each_count
def test_each_family_ends_as_its_damage_demands(count: int) -> None:
    """The generator does damage: rejected lines or errors in each family but the headers'."""
    outcomes = {family: Counter[str]() for family in FAMILIES}
    for file in first_files(count):
        trace = outcome(file)
        kind = "sound" if isinstance(trace, Trace) and not len(trace.quarantine) else type(trace).__name__
        outcomes[file.family][kind] += 1
    assert {"UnreadableLogError": count} == outcomes["bombs"] == outcomes["compressed truncations"]
    for family in ("wrong fields", "wrong numbers", "binary", "utility tuples"):
        assert {"Trace": count} == outcomes[family]
    for family in ("byte flips", "byte flips with utility tuples", "truncations", "line ends", "long lines"):
        assert outcomes[family]["Trace"] > count / 3, family
    assert outcomes["compressed flips"]["UnreadableLogError"] > count / 2


def check_rows(trace: Trace, text: bytes) -> None:
    """Assert that jobs and rejected lines are what the slow reader says."""
    utility = "utility" in trace.jobs
    expected = naive_read_swf(text, utility=utility)
    assert naive_rows(expected.jobs, utility=utility) == rows(trace)
    assert [line for line, _ in expected.quarantine] == trace.quarantine["line_number"].tolist()


@each_file
def test_a_malformed_file_ends_in_an_error_or_in_the_quarantine(family: str, index: int) -> None:
    """And every row that is read is what the slow reader says of the same line, and every sound line is read."""
    file = malformed(family, index)
    with alarm():
        trace = outcome(file)
        if isinstance(trace, SwfToolsError):
            assert isinstance(trace, UnreadableLogError | SwfFormatError)
            assert str(trace).startswith("<stream>: ")
            assert () == file.untouched
            return
        with open_log(io.BytesIO(file.data), max_bytes=file.max_bytes) as stream:
            text = stream.read()
    assert file.original in {None, text}
    check_rows(trace, text)
    utility = "utility" in trace.jobs
    sound = naive_rows(naive_read_swf(b"".join(file.untouched), utility=utility).jobs, utility=utility)
    found = iter(row[1:] for row in rows(trace))
    assert [] == [row for row in sound if row[1:] not in found], "sound lines lost or changed"


@each_file
def test_a_malformed_file_reads_the_same_in_pieces_strictly_and_again(family: str, index: int) -> None:
    """In pieces the outcome is the same; strict reading raises if anything is wrong; what was read can be written."""
    file = malformed(family, index)
    with alarm():
        trace = outcome(file)
        if isinstance(trace, SwfToolsError):
            with pytest.raises(type(trace)):
                list(iter_swf(io.BytesIO(file.data), max_bytes=file.max_bytes, chunk_bytes=200_000))
            with pytest.raises(type(trace)):
                read_swf(io.BytesIO(file.data), max_bytes=file.max_bytes, strict=True)
            return
        parts = list(iter_swf(io.BytesIO(file.data), max_bytes=file.max_bytes, chunk_bytes=700))
        assert rows(trace) == [row for part in parts for row in rows(part)]
        assert trace.quarantine.to_dict("list") == pd.concat([part.quarantine for part in parts]).to_dict("list")
        assert trace.header == parts[-1].header
        if len(trace.quarantine):
            line = trace.quarantine["line_number"].iloc[0]
            with pytest.raises(
                SwfFormatError, match=f"<stream>, line {line}: .*; mend the line, or read without strict"
            ):
                read_swf(io.BytesIO(file.data), max_bytes=file.max_bytes, strict=True)
        else:
            assert trace.equals(read_swf(io.BytesIO(file.data), max_bytes=file.max_bytes, strict=True))
        written = io.BytesIO()
        write_swf(trace, written)
        assert trace.equals(read_swf(io.BytesIO(written.getvalue()), strict=True))


@pytest.mark.parametrize("index", by_day(range(25), 8))
def test_damaged_zstandard_gives_an_error_or_rows_of_its_text(index: int) -> None:
    """Its files may lack a checksum, so that damage can go unseen; what is read is what the text then says."""
    rng = random.Random(index)
    data, _ = flipped(rng, COMPRESS["zstd"](b"".join(sound_lines(rng))), rng.randrange(1, 4), keep=4)
    with alarm():
        trace = outcome(Malformed("", data))
        if not isinstance(trace, SwfToolsError):
            with open_log(io.BytesIO(data), max_bytes=MAX_BYTES) as stream:
                check_rows(trace, stream.read())
