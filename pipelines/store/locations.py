# SPDX-License-Identifier: BSD-3-Clause
"""Where a data root can be: which storage a location means."""

from __future__ import annotations

import os

from pipelines.store.local import LocalStorage
from pipelines.store.storage import Storage
from swftools.errors import ParameterError


def open_storage(location: str | os.PathLike[str]) -> Storage:
    """Open a local directory or ``s3://bucket/prefix``; neither needs to hold anything yet.

    Parameters
    ----------
    location : str or path
        A directory (``~`` is expanded), or an S3 URI whose query may give ``region``, ``scheme`` and
        ``endpoint_override``.

    Raises
    ------
    ParameterError
        Neither a directory nor a valid S3 URI.
    """
    text = check_location(os.fspath(location))
    if text.startswith("s3://"):
        # Half a second that a local directory need not take.
        from pipelines.store.s3 import S3Storage  # noqa: PLC0415

        return S3Storage(text)
    return LocalStorage(text)


def check_location(text: str) -> str:
    """Return a location of a kind that there is, before anything is looked up there.

    Raises
    ------
    ParameterError
        It is neither a directory nor an S3 URI.
    """
    if not text or ("://" in text and not text.startswith("s3://")):
        raise ParameterError(f"data root {text!r}: give a local directory or s3://bucket/prefix")
    return text
