# SPDX-License-Identifier: BSD-3-Clause
"""The arrays that kernels are written for, by name; and zeros that take memory only where they are written to."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
ShortArray = npt.NDArray[np.int32]
TinyArray = npt.NDArray[np.int8]

MANY_BYTES = 1 << 17
"""From so many bytes on the system is asked for zeros."""


def untouched_zeros(count: int, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
    """Return writable zeros that take memory only where they are written to.

    ``numpy.zeros`` promises the same but does not keep it: the C library hands out again what was freed, and writes the
    zeros itself. Columns that are zero in most simulations, such as work that was lost, would take 10 bytes a job each.
    """
    size = count * np.dtype(dtype).itemsize
    if size < MANY_BYTES or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.zeros(count, dtype)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, dtype, count)
