# SPDX-License-Identifier: BSD-3-Clause
"""Which kernel stands in the place of which on a machine of nodes, as those say that have a twin there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

EXCHANGED: dict[Any, Any] = {}
"""The kernel of nodes for each of a pool that has one."""


def instead_of(kernel: Any) -> Callable[[Any], Any]:
    """Return what stands before a kernel of nodes, or takes a tuple that is lent, and names what a pool has there."""

    def register(other: Any) -> Any:
        EXCHANGED[kernel] = other
        return other

    return register


def on_nodes(other: Any) -> Callable[[Any], Any]:
    """Return what stands before a kernel of a pool, and names the one that does the same on nodes."""

    def register(kernel: Any) -> Any:
        EXCHANGED[kernel] = other
        return kernel

    return register
