# SPDX-License-Identifier: BSD-3-Clause
"""Decompress gzip, bzip2, xz and Zstandard, which come in members (frames): one after another they are one text.

So their own tools have it, and parallel compressors write nothing else. Anything but a further member, or padding
of zeros (which Zstandard does not know), behind a member is damage. Below ``compression.py``, which says so in one
error.
"""

from __future__ import annotations

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable
from typing import Protocol

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_INPUT = 1 << 18  # compressed bytes read at once
_ZSTD_FRAME = b"\x28\xb5\x2f\xfd"  # other frames are not text, and are skipped
_ZSTD_CHECKSUM = 4  # the bit of the byte behind it that says whether a checksum ends the frame
_XZ_MEMORY = 1 << 30  # a dictionary beyond this is damage; xz -9 needs 65 MiB


class Reader(Protocol):
    """What decompression reads from."""

    def read(self, size: int = -1, /) -> bytes:
        """Return up to so many bytes, all for -1, none at the end."""


class _Decompressor(Protocol):
    """What the standard library offers to decompress one member."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether it can go on only with more input."""

    @property
    def unused_data(self) -> bytes:
        """Input behind the end of the member."""

    def decompress(self, data: bytes, /, max_length: int) -> bytes:
        """Take input and return up to so many bytes."""


class _Gzip:
    """A gzip member, with the interface of the other decompressors."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, /, max_length: int) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


_DECOMPRESSORS: dict[str, Callable[[], _Decompressor]] = {
    "gzip": _Gzip,
    "bz2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY),
    "zstd": zstd.ZstdDecompressor,
}


class Members:
    """The text of compressed members one after another, which must end with the file or in padding of zeros.

    The readers of the standard library pass over whatever else follows a bzip2 or xz member, and with it over
    every later member whose first bytes are damaged.

    Each member is verified by its checksum, if it has one: gzip and bzip2 always do.
    """

    def __init__(self, raw: Reader, compression: str) -> None:
        self._raw, self._begin = raw, _DECOMPRESSORS[compression]
        self._member = self._begin()
        self._head = b""  # of the present member
        self._were_verified = True

    @property
    def is_verified(self) -> bool:
        """Whether every member so far has a checksum, and one that is known here."""
        return self._were_verified and self._has_checksum()

    def _has_checksum(self) -> bool:
        """Whether the present member has a checksum; true while nothing of it has been read."""
        if isinstance(self._member, lzma.LZMADecompressor):
            check = self._member.check
            return check == lzma.CHECK_UNKNOWN or (check != lzma.CHECK_NONE and lzma.is_check_supported(check))
        if isinstance(self._member, zstd.ZstdDecompressor) and self._head.startswith(_ZSTD_FRAME):
            return bool(self._head[len(_ZSTD_FRAME) :] and self._head[len(_ZSTD_FRAME)] & _ZSTD_CHECKSUM)
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Return up to so many bytes of text, none at the end.

        Raises
        ------
        EOFError, OSError, lzma.LZMAError, zlib.error
            The input is truncated or damaged.
        """
        while True:
            given, is_at_end = b"", False
            if self._member.eof:
                given = self._skip_padding(self._member.unused_data)
                if not given:
                    return b""
                self._were_verified = self.is_verified
                self._member, self._head = self._begin(), b""
            elif self._member.needs_input:
                given = self._raw.read(_INPUT)
                is_at_end = not given
            self._head += given[: len(_ZSTD_FRAME) + 1 - len(self._head)]
            if data := self._member.decompress(given, max_length=size):
                return data
            if is_at_end:
                raise EOFError("it ends in the middle")

    def _skip_padding(self, data: bytes) -> bytes:
        """Return the input from the first byte on that is not zero; none at the end of the file."""
        if isinstance(self._member, zstd.ZstdDecompressor):
            return data or self._raw.read(_INPUT)
        while not (data := data.lstrip(b"\0")):
            data = self._raw.read(_INPUT)
            if not data:
                break
        return data
