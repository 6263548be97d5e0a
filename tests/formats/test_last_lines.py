# SPDX-License-Identifier: BSD-3-Clause
"""A log without its last line end: a whole record is taken, one that is cut off is told, whatever the format."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from swftools import Trace, iter_log, read_log
from swftools.formats.accounting.last_record import UNKNOWN, Endings
from swftools.formats.accounting.records import Stretch
from tests.formats.test_every_format import BY_DAY, OPTIONS, SAMPLES

SWF = b"; MaxProcs: 8\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n2 1 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"
LOGS = SAMPLES | {"swf": SWF}
KINDS = {kind: next(sample for sample in LOGS if sample.split()[0] == kind) for kind in (*OPTIONS, "swf")}


def read(sample: str, source: object, **how: object) -> Trace:
    """Read what became of a sample."""
    kind = sample.split(maxsplit=1)[0]
    return read_log(source, kind, **OPTIONS.get(kind, {}), **how)  # type: ignore[arg-type]


def same(one: Trace, other: Trace) -> None:
    """Assert that two traces have the same jobs and the same lines that are none."""
    assert one.jobs.equals(other.jobs)
    assert one.quarantine["line_number"].equals(other.quarantine["line_number"])
    assert one.merged.equals(other.merged)


@pytest.mark.parametrize(
    "sample", [pytest.param(name, marks=() if name in (*BY_DAY, "swf") else (pytest.mark.slow,)) for name in LOGS]
)
def test_a_sample_without_its_last_line_end(sample: str, tmp_path: Path) -> None:
    """It is what it is with it: in one piece, in many, compressed."""
    text = LOGS[sample]
    whole = read(sample, io.BytesIO(text))
    bare = text.removesuffix(b"\n")
    same(whole, read(sample, io.BytesIO(bare)))
    (tmp_path / "log.gz").write_bytes(gzip.compress(bare))
    same(whole, read(sample, tmp_path / "log.gz"))
    kind = sample.split(maxsplit=1)[0]
    pieces = list(iter_log(tmp_path / "log.gz", kind, chunk_bytes=999, **OPTIONS.get(kind, {})))
    numbers = [number for piece in pieces for number in piece.jobs["line_number"].tolist()]
    assert sorted(numbers) == sorted(whole.jobs["line_number"].tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_through_a_pipe(kind: str) -> None:
    """A stream that cannot go back."""
    text = LOGS[KINDS[kind]]
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as stream:
            stream.write(text.removesuffix(b"\n"))

    beside = Thread(target=write)
    beside.start()
    with os.fdopen(reading, "rb") as stream:
        same(read(KINDS[kind], io.BytesIO(text)), read(KINDS[kind], stream))
    beside.join()


@pytest.mark.parametrize("kind", ["pbs", "sge", "lsf"])
def test_a_folder_of_files(kind: str, tmp_path: Path) -> None:
    """Each of the files may lack its last line end."""
    lines = LOGS[KINDS[kind]].splitlines(keepends=True)
    for folder, ends in (("with", True), ("without", False)):
        (tmp_path / folder).mkdir()
        for name, part in (("1", lines[: len(lines) // 2]), ("2", lines[len(lines) // 2 :])):
            text = b"".join(part)
            (tmp_path / folder / name).write_bytes(text if ends else text.removesuffix(b"\n"))
    same(read(KINDS[kind], tmp_path / "with"), read(KINDS[kind], tmp_path / "without"))


@pytest.mark.parametrize("cuts", [8, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["pbs", "sge", "lsf", "loadleveler", "slurm"])
def test_a_cut_record_is_never_half_a_job(kind: str, cuts: int) -> None:
    """Cut anywhere in its last record, a log has the jobs before it, or all that is read of the last one too."""
    sample = "loadleveler llsummary-l_mixed_aix.txt" if kind == "loadleveler" else KINDS[kind]
    text = LOGS[sample].removesuffix(b"\n")
    whole = read(sample, io.BytesIO(text)).jobs
    last = int(whole["line_number"].max())
    begin = len(b"\n".join(text.split(b"\n")[: last - 1]))
    for stop in range(begin + 2, len(text), max(1, (len(text) - begin) // cuts)):
        trace = read(sample, io.BytesIO(text[:stop]))
        told = {*trace.jobs["line_number"], *trace.quarantine["line_number"], *trace.merged["line_number"]}
        assert len(trace) <= len(whole)
        if last in trace.jobs["line_number"].tolist():
            one, other = (jobs[jobs["line_number"] == last].drop(columns="used_memory") for jobs in (trace.jobs, whole))
            same_columns = [name for name in one if name in other]
            assert one[same_columns].reset_index(drop=True).equals(other[same_columns].reset_index(drop=True)), stop
        else:
            assert last in told or stop <= begin + 80  # a header that is cut is none


def test_the_rule() -> None:
    """The last record is whole if it ends as one before it; alone, as the format says."""
    text, ends = b"a\nb\nc", np.array([1, 3, 5])
    for form, is_cut in (
        ([1, 2, 1], False),
        ([1, 2, 3], True),
        ([1, 2, UNKNOWN], True),
        ([UNKNOWN, UNKNOWN, 3], False),
    ):
        assert Endings().is_cut_off(Stretch(text, 1, is_last=True), ends, np.array(form)) == is_cut
        assert not Endings().is_cut_off(Stretch(text + b"\n", 1, is_last=True), ends, np.array(form))
        assert not Endings().is_cut_off(Stretch(text, 1, is_last=False), ends, np.array(form))
    later = Endings()
    assert not later.is_cut_off(Stretch(b"a\n", 1, is_last=False), np.array([1]), np.array([7]))
    assert later.is_cut_off(Stretch(b"b", 2, is_last=True), np.array([1]), np.array([8]))
    assert not later.is_cut_off(Stretch(b"b", 2, is_last=True), np.array([1]), np.array([7]))
    assert Endings().is_cut_off(Stretch(b"b", 1, is_last=True), np.array([1]), np.array([7]), alone=False)
    assert not Endings().is_cut_off(Stretch(b"", 1, is_last=True), np.array([], int), np.array([], int))
