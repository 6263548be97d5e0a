# SPDX-License-Identifier: BSD-3-Clause
"""Logs read in pieces: of any size, however damaged, with the tables of the whole, in time that grows with the log."""

from __future__ import annotations

import io
from itertools import chain

import pytest

from swftools import Trace, iter_log, read_log
from swftools.errors import SwfToolsError
from swftools.formats.loadleveler.reader import LoadLeveler
from swftools.formats.multi_file import LogFiles, open_joined
from swftools.formats.sge.reader import Sge
from tests.examples import by_day
from tests.formats.mutations import mutations
from tests.formats.test_every_format import OPTIONS, SAMPLES, each_by_day

STEPS = "loadleveler llsummary-l_mixed_aix.txt"


def told(traces: list[Trace]) -> dict[str, list[int]]:
    """Return the lines of each table."""
    tables = ("jobs", "quarantine", "merged")
    return {
        name: sorted(chain.from_iterable(getattr(trace, name)["line_number"].tolist() for trace in traces))
        for name in tables
    }


def check(sample: str, text: bytes, chunk_bytes: int) -> None:
    """Assert that a log is refused both ways, or told alike."""
    kind = sample.split(maxsplit=1)[0]
    try:
        whole = told([read_log(io.BytesIO(text), kind, **OPTIONS[kind])])
    except SwfToolsError:
        with pytest.raises(SwfToolsError):
            list(iter_log(io.BytesIO(text), kind, chunk_bytes=chunk_bytes, **OPTIONS[kind]))
        return
    assert whole == told(list(iter_log(io.BytesIO(text), kind, chunk_bytes=chunk_bytes, **OPTIONS[kind])))


@each_by_day
@pytest.mark.parametrize("seed", by_day(range(2), 1))
def test_damaged_logs(sample: str, seed: int) -> None:
    """Every record is in one table, and in the same one."""
    check(sample, mutations(SAMPLES[sample], seed), 997)


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("seed", range(100, 160))
def test_many_damaged_logs(sample: str, seed: int) -> None:
    """So it is for more damage, with and without the last line end, and for pieces of other sizes."""
    text = mutations(SAMPLES[sample], seed)
    check(sample, text, (1 + seed * 37) % 5000 + 1)
    check(sample, text.rstrip(b"\n"), 2003)


@pytest.mark.parametrize("seed", [219, 237])
def test_headers_of_jobs_without_steps(seed: int) -> None:
    """What stood in a job without steps once went to the step before it, if both were in one piece."""
    sample = STEPS if seed == 219 else "loadleveler llsummary-l_dst_nozone_ambiguous.txt"
    check(sample, mutations(SAMPLES[sample], seed).rstrip(b"\n"), 997)


def test_a_step_that_is_no_last_one() -> None:
    """Behind it stands the header of another job: it was not cut off, in one piece or in several."""
    text = SAMPLES[STEPS]
    header = next(line for line in text.splitlines(keepends=True) if b" Job " in line and b"Step" not in line)
    begin = text.rindex(b"Completion Code")
    check(STEPS, text[: text.rindex(b"\n", 0, begin) + 1] + header, 997)


@pytest.mark.parametrize("lines", [500, 4000])
def test_pieces_of_a_byte(lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked at grows with the log, not with its square: a step of many lines is not looked at line by line."""
    text = SAMPLES[STEPS][:3000].rpartition(b"\n")[0] + b"\n" + b"    Comment: x\n" * lines
    looked = 0
    cut = LoadLeveler.cut

    def counted(self: LoadLeveler, text: bytes) -> int:
        nonlocal looked
        looked += len(text)
        return cut(self, text)

    monkeypatch.setattr(LoadLeveler, "cut", counted)
    check(STEPS, text, 1)
    assert looked < 8 * len(text)


def test_pieces_grow_with_the_log() -> None:
    """Each costs what is remembered: a log of many small records comes in fewer pieces than it has lines."""
    line = SAMPLES["sge sample"].splitlines(keepends=True)[-1]
    files = LogFiles([io.BytesIO(line * 20_000)], "log")
    with open_joined(files) as stream:
        pieces = list(Sge()._stretches(stream, files, 1, None))
    assert b"".join(piece.text for piece in pieces) == line * 20_000
    assert len(pieces) < 3000
    assert max(len(piece.text) for piece in pieces) < len(line) * 20_000 / 100
