# SPDX-License-Identifier: BSD-3-Clause
"""Every situation of the corpus through every door: as a whole, in pieces, without names, on the console, by night."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from swftools import Trace, iter_log, read_log
from swftools.errors import SwfToolsError
from tests.corpus.situation import Situation, load, said, situations
from tests.pipelines.history.nights import SETTINGS, Site

SITUATIONS = situations()
CASES = {name: load(path) for name, path in SITUATIONS.items()}
READ = [name for name, case in CASES.items() if case.jobs is not None]
REFUSED = [name for name, case in CASES.items() if case.refused]
PIECE = 64
"""Bytes of the smallest pieces: less than most lines."""
WITHHELD = ("user", "group", "executable", "log_id")
"""What is told of a job that nothing may quote where names are withheld."""


def some(names: list[str], many: int = 3) -> list[Any]:
    """Return situations as parameters: the first ones of each folder, and the others as slow ones."""
    place: Counter[str] = Counter()
    found = []
    for name in names:
        folder = name.partition("/")[0]
        place[folder] += 1
        found.append(name if place[folder] <= many else pytest.param(name, marks=pytest.mark.slow))
    return found


def reader_of(case: Situation) -> str | None:
    """Return the format that is told to the reader; None where it must see it."""
    return None if case.recognised else case.format


def check_words(case: Situation, message: str) -> None:
    """Assert that a refusal says what it should."""
    assert [words for words in case.refused if words not in message] == [], message


@pytest.mark.parametrize("name", READ)
def test_it_is_read_as_it_is_meant(name: str, tmp_path: Path) -> None:
    """The jobs and their values, the quarantine, what was merged, what is told; without names nobody is named."""
    case = CASES[name]
    source = case.write(tmp_path)
    trace = read_log(source, reader_of(case), **case.options)
    assert said(trace, case.jobs) == case.jobs
    put_aside = list(zip(trace.quarantine["line_number"], trace.quarantine["reason"], strict=True))
    assert [line for line, _ in put_aside] == [line for line, _ in case.quarantined], put_aside
    for (_, reason), (_, words) in zip(put_aside, case.quarantined, strict=True):
        assert words in reason
    if case.merged is not None:
        assert trace.merged[["line_number", "into_line_number"]].to_numpy().tolist() == case.merged
    told = trace.provenance.get("anomalies", {})
    for words, number in case.anomalies.items():
        found = {text: count for text, count in told.items() if words in text}
        assert list(found.values()) == [number] * (number > 0), f"{words!r} is not told so often: {told}"
    if case.format is not None:
        assert trace.provenance.get("format", "swf").partition(":")[0] == case.format.partition(":")[0]
    check_nobody_is_named(case, source)


@pytest.mark.parametrize("name", some([name for name in READ if CASES[name].text is not None], 1))
def test_compressed_it_is_the_same(name: str) -> None:
    """Compression is undone before any format is looked at, so that one of each will do by day."""
    case = CASES[name]
    trace = read_log(io.BytesIO((case.text or "").encode()), reader_of(case), **case.options)
    packed = io.BytesIO(gzip.compress((case.text or "").encode(), 1))
    pd.testing.assert_frame_equal(read_log(packed, reader_of(case), **case.options).jobs, trace.jobs)


def check_nobody_is_named(case: Situation, source: Path) -> None:
    """Assert that reading without names quotes none of those that the situation tells, and reads the same."""
    trace: Trace = read_log(source, reader_of(case), **{**case.options, "anonymise": "numbers"})
    assert case.jobs is not None
    assert len(trace) == len(case.jobs)
    frames = [frame.to_csv() for frame in (trace.jobs, trace.quarantine, trace.names) if frame is not None]
    told = repr([frames, trace.header.to_lines(), {**trace.provenance, "name": "", "files": []}])
    words: set[Any] = {job[key] for job in case.jobs for key in WITHHELD if job.get(key) is not None}
    assert [word for word in words if len(str(word)) > 3 and str(word) in told] == []


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    """By the reader, as a whole and in pieces."""
    case = CASES[name]
    source = case.write(tmp_path)
    with pytest.raises(SwfToolsError) as refusal:
        read_log(source, reader_of(case), **case.options)
    check_words(case, str(refusal.value))
    with pytest.raises(SwfToolsError) as refusal:
        list(iter_log(source, reader_of(case), chunk_bytes=PIECE, **case.options))
    check_words(case, str(refusal.value))


@pytest.mark.parametrize("name", some(REFUSED))
def test_on_the_console_it_is_refused(name: str, tmp_path: Path) -> None:
    """With the status of input that cannot be read."""
    case = CASES[name]
    result = console(case, "describe", str(case.write(tmp_path)))
    assert result.exit_code == 30, result.output
    check_words(case, result.output)


@pytest.mark.parametrize("name", [name for name in READ if CASES[name].text is not None])
def test_in_pieces_it_is_the_same(name: str, tmp_path: Path) -> None:
    """The same jobs and as many lines in the quarantine, in about three pieces."""
    check_pieces(CASES[name], tmp_path, max(PIECE, len(CASES[name].text or "") // 3))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in READ if CASES[name].text is not None])
def test_in_small_pieces_it_is_the_same(name: str, tmp_path: Path) -> None:
    """Also in pieces of less than a line."""
    check_pieces(CASES[name], tmp_path, PIECE)


def check_pieces(case: Situation, folder: Path, size: int) -> None:
    """Assert that a log is read piece by piece as it is meant."""
    parts = list(iter_log(case.write(folder), reader_of(case), chunk_bytes=size, **case.options))
    assert case.jobs is not None
    jobs = pd.concat([part.jobs for part in parts], ignore_index=True)
    assert said(replace(parts[-1], jobs=jobs), case.jobs) == case.jobs
    assert sum(len(part.quarantine) for part in parts) == len(case.quarantined)


@pytest.mark.parametrize("name", some(READ))
def test_on_the_console_it_is_the_same(name: str, tmp_path: Path) -> None:
    """``convert`` writes as many jobs, and says how many lines are none."""
    case = CASES[name]
    result = console(case, "convert", str(case.write(tmp_path)), str(tmp_path / "out.swf"), "--raw")
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "out.swf").read_text().splitlines()
    assert case.jobs is not None
    assert sum(not line.startswith(";") for line in lines) == len(case.jobs)


def console(case: Situation, *arguments: str) -> Any:
    """Run a command in this process."""
    given = dict(case.options)
    told = [f"--anonymise={given.pop('anonymise')}"] if "anonymise" in given else []
    options = ",".join(f"{name}={value}" for name, value in given.items())
    if case.format is not None and (options or not case.recognised):
        told.append(f"--format={case.format}:{options}".rstrip(":"))
    return CliRunner().invoke(main, [*arguments, *told, "--quiet"])


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_by_night_it_is_the_same(name: str, tmp_path: Path) -> None:
    """A history takes as many jobs, whatever the files that they stand in."""
    case = CASES[name]
    options = ",".join(f"{key}={value}" for key, value in case.options.items() if key != "anonymise")
    settings = f"log: {{format: '{case.format}:{options}'}}\n".replace(":'", "'")
    site = Site(tmp_path, SETTINGS + settings)
    for file, text in (case.files or {case.name: case.text or ""}).items():
        site.put(file, text.encode())
    assert case.jobs is not None
    assert sum(row["new"] for row in site.night().taken) == len(case.jobs)
