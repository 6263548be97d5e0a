"""Whether a log continues another: a log that grows keeps its name, one that only shares the name must not."""

from __future__ import annotations

import hashlib
from pathlib import Path

from swftools.formats.compression import open_log

_BLOCK = 1 << 20


def continues(path: Path, length: int, sha256: str) -> bool:
    """Whether a log's text begins with an earlier one.

    Parameters
    ----------
    path : Path
        The log, plain or compressed.
    length : int
        Of the earlier text, bytes.
    sha256 : str
        Hash of the earlier text.

    Raises
    ------
    UnreadableLogError
        The log is missing, truncated or corrupt.
    """
    digest = hashlib.sha256()
    with open_log(path) as stream:
        while length and (block := stream.read(min(length, _BLOCK))):
            digest.update(block)
            length -= len(block)
    return not length and digest.hexdigest() == sha256
