# SPDX-License-Identifier: BSD-3-Clause
"""Room for what may become known: arrays of zeros that take memory only where something is written."""

from __future__ import annotations

import mmap
from math import prod

import numpy as np
import numpy.typing as npt

LARGE = 1 << 16
"""Bytes from which on a whole page that is not written to is worth the call to the system."""


def room_for(*shape: int) -> npt.NDArray[np.float64]:
    """Return an array of zeros of a shape, for far more numbers than will probably be written.

    ``np.zeros`` promises no such thing: memory that was used before is handed out again, and zeroed by writing to it.
    """
    size = 8 * prod(shape)
    if size < LARGE:
        return np.zeros(shape)
    # Private, so that a process that is forked does not write into ours.
    return np.frombuffer(mmap.mmap(-1, size, access=mmap.ACCESS_COPY), np.float64).reshape(shape)
