# SPDX-License-Identifier: BSD-3-Clause
"""How hard gzip is asked to try: as ever for plain SWF, and less for long decimals, at little cost."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

import pandas as pd

from swftools import Trace, read_swf, write_swf
from swftools.utility.model import generate_utility


def text_of(trace: Trace) -> bytes:
    """Return the text of a trace."""
    file = io.BytesIO()
    write_swf(trace, file)
    return file.getvalue()


def test_levels_of_plain_and_extended_swf(shipped_log: Path, tmp_path: Path) -> None:
    """The bytes are those of zlib at level 6, and of an extended file at level 1; no name and no time before them."""
    trace = read_swf(shipped_log)
    extended = trace.with_jobs(pd.concat([trace.jobs, generate_utility(trace)], axis=1))
    for written, level in ((trace, 6), (extended, 1)):
        path = tmp_path / f"log-{level}.swf.gz"
        write_swf(written, path)
        data, text = path.read_bytes(), text_of(written)
        assert text == gzip.decompress(data)
        assert zlib.compress(text, level, wbits=-15) == data[10:-8]
        assert b"\x1f\x8b\x08\x00" + bytes(4) == data[:8]


def test_speed_costs_at_most_a_tenth_of_the_size(shipped_log: Path, tmp_path: Path) -> None:
    """An extended file is little larger than it would be at level 6."""
    trace = read_swf(shipped_log)
    extended = trace.with_jobs(pd.concat([trace.jobs, generate_utility(trace)], axis=1))
    write_swf(extended, tmp_path / "log.swf.gz")
    assert (tmp_path / "log.swf.gz").stat().st_size < 1.1 * len(gzip.compress(text_of(extended), 6))
