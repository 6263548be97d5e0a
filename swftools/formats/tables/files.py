# SPDX-License-Identifier: BSD-3-Clause
"""Files of tables whose bytes are taken as they are: Parquet, and tables that are passed over."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import BinaryIO, cast

from swftools.errors import UnreadableLogError
from swftools.formats.accounting.format import Tally
from swftools.formats.compression import LogSource, open_log, source_name
from swftools.formats.multi_file import Peeked
from swftools.formats.registry import Reading


def pass_over(source: LogSource, how: Reading, tally: Tally, *, is_last_file: bool) -> None:
    """Read a file of a log of which nothing is wanted but that it belongs to the log."""
    ends_line = True
    with open_log(source, max_bytes=how.max_bytes, is_text=False) as stream:
        while block := stream.read(1 << 20):
            tally.count += len(block)
            ends_line = block.endswith(b"\n")
            if tally.digest is not None:
                tally.digest.update(block)
    end_line(tally, ends_line=ends_line or is_last_file)


def end_line(tally: Tally, *, ends_line: bool) -> None:
    """Count the line end that stands between two files of one log, as ``Joined`` puts it there."""
    if not ends_line:
        tally.count += 1
        if tally.digest is not None:
            tally.digest.update(b"\n")


def as_file(source: LogSource, max_bytes: int, tally: Tally) -> tuple[BinaryIO | str, int]:
    """Return a Parquet file to be read from any place, and its bytes; compressed ones are unpacked in memory."""
    if isinstance(source, str | os.PathLike):
        path = Path(os.fsdecode(source))
        with path.open("rb") as raw:
            if raw.read(4) == b"PAR1":
                if tally.digest is not None:
                    tally.digest.add_file(path)
                return str(path), path.stat().st_size
    elif isinstance(cast(object, source), Peeked):
        raise UnreadableLogError(f"{source_name(source)}: Parquet is read from its end, which a pipe has not; save it")
    with open_log(source, max_bytes=max_bytes, is_text=False) as stream:
        data = stream.read()
    if tally.digest is not None:
        tally.digest.update(data)
    return io.BytesIO(data), len(data)
