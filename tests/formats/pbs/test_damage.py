# SPDX-License-Identifier: BSD-3-Clause
"""Damaged logs of PBS: whatever the damage, one clear error or a trace in which every line is accounted for."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from swftools.errors import SwfToolsError
from swftools.formats.pbs.lines import find_lines, is_empty
from swftools.formats.read_log import read_log
from tests.examples import by_day
from tests.formats.mutations import mutations
from tests.formats.pbs.compared import accounts

SAMPLES = {path.stem: path.read_bytes() for path in sorted(Path(__file__).parent.glob("samples/*.txt"))}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", by_day(range(100), 20))
def test_damaged(name: str, seed: int) -> None:
    """No traceback, no hang, and nothing lost: lines read = jobs + quarantined + merged."""
    text = mutations(SAMPLES[name], seed)
    try:
        trace = read_log(io.BytesIO(text), "pbs", time_zone="UTC")
    except SwfToolsError:
        return
    jobs, merged, refused = accounts(trace)
    filled = {
        number
        for number, line in enumerate(text.split(b"\n"), start=1)
        if not all(is_empty.py_func(byte) for byte in line)
    }
    assert jobs | set(merged) | refused == filled


def test_damage_leaves_something() -> None:
    """The test above would see nothing if all that is damaged were refused."""
    left = [
        len(find_lines(mutations(text, seed), 1, is_cut=False)[0].line)
        for text in SAMPLES.values()
        for seed in range(100)
    ]
    assert sum(count > 3 for count in left) > 100


@pytest.mark.timeout(60)
def test_marks_that_nothing_closes() -> None:
    """A message of a million quotation marks is read in one pass."""
    words = b'="' * 500_000 + b"='" * 500_000 + b" x=1" * 100_000
    text = (
        b"07/06/2023 09:00:00;E;1;" + words + b"\n" + b"07/06/2023 09:00:00;E;1;exec_host=" + b"h+" * 500_000 + b"h\n"
    )
    trace = read_log(io.BytesIO(text), "pbs")
    assert len(trace.quarantine) == 2
