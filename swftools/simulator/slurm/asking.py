# SPDX-License-Identifier: BSD-3-Clause
"""Something that asks for a pass of the main scheduler: a job that comes or ends, nodes that come back."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.slurm.state import ASKED_AT, CHANGED, LAST_TICK, MAIN_ASKED, TICK, Dynamic, Given


@kernel(allocates=False)
def ask_main(given: Given, state: Dynamic, machine: Machine) -> None:
    """Ask for a pass of the main scheduler, at the next tick that is not over."""
    now, tick = machine.clock[NOW], given.number[TICK]
    state.counts[CHANGED] = 1
    if state.counts[MAIN_ASKED] == 0:
        state.counts[MAIN_ASKED] = 1
        state.clock[ASKED_AT] = np.ceil(now - tick) + (1.0 if state.clock[LAST_TICK] == now else 0.0)
