# SPDX-License-Identifier: BSD-3-Clause
"""What a policy's memory on a machine of nodes is to have room for, beside jobs."""

from __future__ import annotations

from typing import NamedTuple


class NodeRoom(NamedTuple):
    """How many nodes the machine has, and how many nodes the jobs ask for in all."""

    nodes: int
    parts: int
