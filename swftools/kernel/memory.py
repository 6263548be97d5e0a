# SPDX-License-Identifier: BSD-3-Clause
"""Memory that allocators keep for later: given back between the steps of a run, which need it in other sizes."""

from __future__ import annotations

import ctypes

import pyarrow as pa


def give_back_memory() -> None:
    """Return to the system what nothing uses any more; Arrow's allocator and the system's do not share it."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's alone
    if trim:
        trim(0)
