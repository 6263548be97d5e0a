# SPDX-License-Identifier: BSD-3-Clause
"""Damaged logs: read as far as they say something, or refused with one clear error; every record is accounted for."""

from __future__ import annotations

from pathlib import Path

import pytest

from swftools.errors import SwfToolsError
from tests.examples import by_day
from tests.formats.mutations import mutations
from tests.formats.slurm.told import HEADER, read, reasons, row
from tests.formats.slurm.written import Drawn, Step, sacct_json
from tests.naive.slurm import jobs_in_documents

SAMPLE = (Path(__file__).parent / "sacct.txt").read_bytes()
ZONE = "America/Los_Angeles"
DRAWN = [
    Drawn(
        id=f"{number}{suffix}",
        submit=1_700_000_000 + number,
        wait=5,
        run=60,
        processors=4,
        nodes=2,
        gpus=1,
        limit=30,
        memory=1000,
        state=state,
        cpu=99,
        exit=(0, 0),
        name="name é",
        user="u1",
        account="a1",
        partition="batch",
        steps=(Step("batch", 10, 20), Step("0", 30, 40)),
        is_pending=False,
    )
    for number, (suffix, state) in enumerate([("", "COMPLETED"), ("_3", "FAILED"), ("+1", "RUNNING")] * 2)
]
DOCUMENT = sacct_json(DRAWN, indent=1).encode()


def lines_of(data: bytes) -> list[int]:
    """Return the numbers of the lines that are neither blank nor headers."""
    found = []
    for number, text in enumerate(data.split(b"\n"), 1):
        line = text.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r")
        fields = [field.strip(b" \t\r").lower() for field in line.split(b"|")]
        is_header = (b"jobid" in fields or b"jobidraw" in fields) and b"state" in fields
        if line and not (is_header and all(b"a" <= field[:1] <= b"z" for field in fields if field)):
            found.append(number)
    return found


@pytest.mark.parametrize("seed", by_day(range(200), 25))
def test_damaged_text(seed: int) -> None:
    """Each line is a header, a job, part of one or in the quarantine, once."""
    data = mutations(SAMPLE, seed)
    try:
        trace = read(data, time_zone=ZONE)
    except SwfToolsError:
        return
    lines = [*trace.jobs["line_number"], *trace.merged["line_number"], *trace.quarantine["line_number"]]
    assert sorted(lines) == lines_of(data)
    assert (trace.jobs["run_time"].dropna() >= 0).all()


@pytest.mark.parametrize("seed", by_day(range(200), 25))
def test_damaged_documents(seed: int) -> None:
    """Each job is one, or merged, or in the quarantine, once."""
    data = mutations(DOCUMENT, seed)
    try:
        trace = read(data, time_zone=None)
    except SwfToolsError:
        return
    lines = [*trace.jobs["line_number"], *trace.merged["line_number"]]
    jobs_quarantined = trace.quarantine[trace.quarantine["reason"] != "no part of a document"]
    assert len(lines) + len(jobs_quarantined) == len(jobs_in_documents(data))
    assert (trace.jobs["run_time"].dropna() >= 0).all()


def test_most_damaged_logs_are_read() -> None:
    """The tests above would say nothing if every damaged log were refused."""
    read_of = {SAMPLE: 0, DOCUMENT: 0}
    for text in read_of:
        for seed in range(30):
            try:
                read_of[text] += len(read(mutations(text, seed), time_zone=ZONE)) > 0
            except SwfToolsError:
                continue
    assert read_of[SAMPLE] > 10
    assert read_of[DOCUMENT] > 10


def test_a_log_that_is_cut_off() -> None:
    """Its last line is in the quarantine."""
    whole = f"{HEADER}\n{row()}\n{row(JobID=8)}\n"
    trace = read(whole[: whole.rindex("2024")])
    assert (len(trace), reasons(trace)) == (1, [(3, "fewer fields than the header names")])


def test_other_bytes_in_names() -> None:
    """Latin-1, as older logs have it."""
    trace = read(f"{HEADER}\n{row(JobName='Müller')}\n".encode("latin-1"))
    assert trace.names["name"].tolist()[2] == "Müller"


def test_nothing_at_all() -> None:
    """A text with a header and no rows has no jobs; so has an empty one."""
    for text in (f"{HEADER}\n", "", "\n"):
        assert len(read(text)) == 0
