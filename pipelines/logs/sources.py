# SPDX-License-Identifier: BSD-3-Clause
"""Whether a log continues another: a log that grows keeps its name, one that only shares the name must not."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pipelines.logs.how_read import HowRead
from swftools.formats.multi_file import LogFiles, open_joined

_BLOCK = 1 << 20


def continues(path: Path, length: int, sha256: str, how: HowRead | None = None) -> bool:
    """Whether a log's text begins with an earlier one.

    Parameters
    ----------
    path : Path
        The log, plain or compressed; or a folder or pattern of several files.
    length : int
        Of the earlier text, bytes.
    sha256 : str
        Hash of the earlier text.
    how : HowRead, optional
        How the log is read, which puts several files in order.

    Raises
    ------
    UnreadableLogError
        The log is missing, truncated or corrupt.
    """
    digest = hashlib.sha256()
    files = LogFiles([path], str(path)) if path.is_file() else (how or HowRead()).files(path)
    with open_joined(files, is_text=False) as stream:
        while length and (block := stream.read(min(length, _BLOCK))):
            digest.update(block)
            length -= len(block)
    return digest.hexdigest() == sha256
