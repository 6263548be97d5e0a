"""Decompress gzip, bzip2 and xz, which come in members: one after another they are one text.

So their own tools have it, and parallel compressors write nothing else. Anything but a further member, or padding
of zeros, behind a member is damage. Below ``compression.py``, which says so in one error.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Protocol

_INPUT = 1 << 18  # compressed bytes read at once
_XZ_MEMORY = 1 << 30  # a dictionary beyond this is damage; xz -9 needs 65 MiB


class Reader(Protocol):
    """What decompression reads from."""

    def read(self, size: int = -1, /) -> bytes:
        """Return up to so many bytes, all for -1, none at the end."""


class _Decompressor(Protocol):
    """What bz2 and lzma offer to decompress one member, and ``_Gzip`` for gzip."""

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
    """A gzip member, with the interface of the decompressors of bz2 and lzma."""

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
}


class Members:
    """The text of compressed members one after another, which must end with the file or in padding of zeros.

    The readers of the standard library pass over whatever else follows a bzip2 or xz member, and with it over
    every later member whose first bytes are damaged.
    """

    def __init__(self, raw: Reader, compression: str) -> None:
        self._raw, self._begin = raw, _DECOMPRESSORS[compression]
        self._member = self._begin()

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
                self._member = self._begin()
            elif self._member.needs_input:
                given = self._raw.read(_INPUT)
                is_at_end = not given
            if data := self._member.decompress(given, max_length=size):
                return data
            if is_at_end:
                raise EOFError("it ends in the middle")

    def _skip_padding(self, data: bytes) -> bytes:
        """Return the input from the first byte on that is not zero; none at the end of the file."""
        while not (data := data.lstrip(b"\0")):
            data = self._raw.read(_INPUT)
            if not data:
                break
        return data
