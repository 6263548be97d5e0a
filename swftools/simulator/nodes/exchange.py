# SPDX-License-Identifier: BSD-3-Clause
"""Which kernel stands in the place of which on a machine of nodes, as those say that have a twin there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

EXCHANGED: dict[Any, Any] = {}
"""The kernel of nodes for each of a pool that has one."""


def on_nodes(other: Any) -> Callable[[Any], Any]:
    """Return what stands before a kernel of a pool, and names the one that does the same on nodes."""

    def register(kernel: Any) -> Any:
        EXCHANGED[kernel] = other
        return kernel

    return register
