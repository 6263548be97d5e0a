# SPDX-License-Identifier: BSD-3-Clause
"""Every situation of the corpus through every door: read as a whole, in pieces, and recognised for what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from swftools import iter_log, read_log
from swftools.errors import SwfToolsError
from tests.corpus.situation import load, said, situations

SITUATIONS = situations()
PIECE = 200
"""Bytes of the pieces: less than most lines."""


@pytest.mark.parametrize("name", SITUATIONS)
def test_it_is_read_as_it_is_meant(name: str, tmp_path: Path) -> None:
    """The jobs and their values, the quarantine, what was merged, what is told; or one clear refusal."""
    case = load(SITUATIONS[name])
    source = case.write(tmp_path)
    given = None if case.recognised else case.format
    if case.refused:
        with pytest.raises(SwfToolsError) as refusal:
            read_log(source, given, **case.options)
        assert [words for words in case.refused if words not in str(refusal.value)] == [], str(refusal.value)
        return
    trace = read_log(source, given, **case.options)
    assert case.jobs is not None
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
        assert list(found.values()) == [number], f"{words!r} is not told so often: {told}"
    if case.format is not None:
        assert trace.provenance.get("format", "swf").partition(":")[0] == case.format.partition(":")[0]


@pytest.mark.parametrize("name", [name for name, path in SITUATIONS.items() if "\nfiles:" not in path.read_text()])
def test_in_pieces_it_is_the_same(name: str, tmp_path: Path) -> None:
    """As many jobs and lines in the quarantine, however small the pieces; refused by the same words."""
    case = load(SITUATIONS[name])
    source = case.write(tmp_path)
    given = None if case.recognised else case.format
    if case.refused:
        with pytest.raises(SwfToolsError) as refusal:
            list(iter_log(source, given, chunk_bytes=PIECE, **case.options))
        assert [words for words in case.refused if words not in str(refusal.value)] == [], str(refusal.value)
        return
    parts = list(iter_log(source, given, chunk_bytes=PIECE, **case.options))
    assert case.jobs is not None
    assert sum(len(part) for part in parts) == len(case.jobs)
    assert sum(len(part.quarantine) for part in parts) == len(case.quarantined)
