# SPDX-License-Identifier: BSD-3-Clause
"""The hash of a log's decompressed text, by which it is known."""

from __future__ import annotations

import hashlib
import os
from typing import BinaryIO

from swftools.formats.compression import TEXT_LIMIT, open_log
from swftools.formats.multi_file import LogFiles, open_joined

_BLOCK = 1 << 18


def text_sha256(path: str | os.PathLike[str] | BinaryIO, max_bytes: int = TEXT_LIMIT) -> str:
    """Return the sha256 of a log's decompressed text, as the cards of ``data_catalog.yaml`` state it.

    Parameters
    ----------
    path : path or binary file object
        Plain or compressed (gzip, bzip2, xz, Zstandard), recognised by its first bytes.
    max_bytes : int
        Most bytes that compressed text may have; plain text has no limit.

    Raises
    ------
    UnreadableLogError
        The log is missing, truncated, corrupt, or longer than ``max_bytes`` once decompressed.
    """
    digest = hashlib.sha256()
    with open_log(path, max_bytes=max_bytes, is_text=False) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def joined_sha256(files: LogFiles) -> str:
    """Return the sha256 of the text of several files that are one log.

    Raises
    ------
    UnreadableLogError
        One of them is missing, truncated or corrupt.
    """
    digest = hashlib.sha256()
    with open_joined(files, is_text=False) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
