# SPDX-License-Identifier: BSD-3-Clause
"""What stands for the beginning of a Parquet file where formats are recognised: its magic and its footer.

A Parquet file says what it holds at its end. Its first four bytes with the footer behind them are a Parquet file of
which all but the schema and the statistics has been left out, and short enough to be looked at like a text.
"""

from __future__ import annotations

import os
from typing import BinaryIO

from swftools.errors import UnreadableLogError

MAGIC = b"PAR1"
_LENGTH = 4


def parquet_head(stream: BinaryIO, name: str) -> bytes | None:
    """Return the magic and the footer of a Parquet file; None of any other. The stream stands where it stood.

    Raises
    ------
    UnreadableLogError
        The file is cut off, or its footer is damaged.
    """
    place = stream.tell()
    try:
        if stream.read(len(MAGIC)) != MAGIC:
            return None
        size = stream.seek(0, os.SEEK_END) - place
        tail = len(MAGIC) + _LENGTH
        if size < len(MAGIC) + tail:
            raise _cut_off(name)
        stream.seek(-tail, os.SEEK_END)
        end = stream.read(tail)
        length = int.from_bytes(end[:_LENGTH], "little")
        if end[_LENGTH:] != MAGIC or length > size - len(MAGIC) - tail:
            raise _cut_off(name)
        stream.seek(-tail - length, os.SEEK_END)
        return MAGIC + stream.read(length) + end
    finally:
        stream.seek(place)


def _cut_off(name: str) -> UnreadableLogError:
    return UnreadableLogError(f"{name}: a Parquet file that is cut off: it has no footer; fetch it again")
