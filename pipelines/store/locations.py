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
    text = os.fspath(location)
    if text.startswith("s3://"):
        # Half a second that a local directory need not take.
        from pipelines.store.s3 import S3Storage  # noqa: PLC0415

        return S3Storage(text)
    if not text or "://" in text:
        raise ParameterError(f"data root {text!r}: give a local directory or s3://bucket/prefix")
    return LocalStorage(text)
