# SPDX-License-Identifier: BSD-3-Clause
"""One run at a time of a history on this machine; on S3, of two that publish the second begins anew."""

from __future__ import annotations

import fcntl
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.store.staging import make_directories
from pipelines.store.storage import storage_errors

progress = logging.getLogger("pipelines")


@contextmanager
def one_at_a_time(folder: Path, what: str) -> Iterator[None]:
    """Hold the lock of a folder; wait for who has it.

    The system takes it from a process that dies. The file stays, for a lock on a file that is removed holds nothing.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    what : str
        What is worked on, for the message.
    """
    path = folder / f"{what}.lock"
    with storage_errors(f"{path}: cannot be locked"):
        make_directories(folder)
        file = path.open("ab")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.info("another run is at work on %s; this one waits for it", what)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
