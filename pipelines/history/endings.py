# SPDX-License-Identifier: BSD-3-Clause
"""Whether JSON is whole: no bracket is open at its end. What has lines says so by the end of its last line."""

from __future__ import annotations

import re
from typing import Protocol

_PIECE = 1 << 22
_LONGEST = 1 << 26
"""Bytes of a string beyond which no end of it is waited for."""
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


class Stream(Protocol):
    """What can be read in pieces."""

    def read(self, size: int = ..., /) -> bytes:
        """Return the next bytes, none at the end."""


def is_closed(stream: Stream) -> bool:
    """Return whether all objects, lists and strings of a JSON text are closed at its end.

    Examples
    --------
    >>> import io
    >>> [is_closed(io.BytesIO(text)) for text in (b'{"a": "}"}', b'{"a": "}"', b'{"a": [1]}, {"b"')]
    [True, False, False]
    """
    depth, left = 0, b""
    while piece := stream.read(_PIECE):
        bare = _STRING.sub(b"", left + piece)
        open_at = bare.find(b'"')
        left = bare[open_at:] if open_at >= 0 else b""
        bare = bare[:open_at] if open_at >= 0 else bare
        depth += bare.count(b"{") + bare.count(b"[") - bare.count(b"}") - bare.count(b"]")
        if len(left) > _LONGEST:
            return False
    return depth == 0 and not left
