# SPDX-License-Identifier: BSD-3-Clause
"""Standard output that says when it cannot take what is printed: a full disk is an error, a reader who left is none."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from swftools.errors import StorageError
from swftools.output.whole_files import remedy_of


def print_out(text: str) -> None:
    """Print a text and its end of line, so that it is out when this returns.

    Raises
    ------
    StorageError
        It could not be written, as on a full disk. That nobody reads any more, as behind ``| head -1``, is no error.
    """
    try:
        print(text, flush=True)  # noqa: T201 (this is where tasks answer their users)
    except BrokenPipeError:
        lose_the_rest(sys.stdout)
    except OSError as error:
        lose_the_rest(sys.stdout)
        raise StorageError(
            f"standard output: cannot be written: {error.strerror or error}; {remedy_of(error)}"
        ) from error


def lose_the_rest(stream: TextIO) -> None:
    """Let all that comes go nowhere, also what the interpreter flushes at its end, and what children write."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
