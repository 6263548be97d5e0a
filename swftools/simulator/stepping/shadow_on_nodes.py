# SPDX-License-Identifier: BSD-3-Clause
"""When a waiting job could start on nodes, if nobody else does: asked of a light copy, which is thrown away."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from swftools.errors import PolicyError
from swftools.kernel import FloatArray, kernel
from swftools.simulator.nodes.acts import note_shadow
from swftools.simulator.policy_abi import machine_at
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.forks import fork


def shadow_on_nodes(simulation: Simulation, job: int) -> tuple[float, int]:
    """Return from when on a waiting job could have nodes, s, and how many cores are left then; infinity: never."""
    try:
        ahead, jobs = fork(simulation, 0)
        mine = int(np.flatnonzero(jobs == job)[0])
    except PolicyError:  # it has acted already, or has a memory that no fork copies
        ahead, mine = simulation.copy(), job
    found = np.zeros(2)
    driver = ahead._driver
    driver.called.taken(look_ahead_kernel())(driver.seat.places[1], mine, found)
    return float(found[0]), int(found[1])


def look_ahead(place: Any, job: int, found: FloatArray) -> None:
    """Write when a job could start, and what is left then, into an array."""
    note_shadow(machine_at(place), job, found)


@cache
def look_ahead_kernel() -> Any:
    """Return ``look_ahead`` as a kernel: compiled at its first use, from then on taken from the cache on disk."""
    from numba import types  # noqa: PLC0415 (takes half a second, and is needed from here on)

    return kernel(types.void(types.int64, types.int64, types.float64[::1]), allocates=False)(look_ahead)
