# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that clean up behind a job (COMPLETING): for some seconds nobody starts there, though plans count them as free.

Slurm does so until the last epilog of a job is over. ``sacct`` does not tell how long that is.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.slurm.asking import ask_main
from swftools.simulator.slurm.node_sets import BITS, has_node, put_node
from swftools.simulator.slurm.state import CLEANS, CLEANS_UNTIL, COMPLETING, WORDS, Dynamic, Given


@kernel(allocates=False)
def note_cleaning(given: Given, state: Dynamic, machine: Machine, job: int) -> None:
    """Let the nodes of a job that ends clean up, if they take time for it."""
    takes = given.number[COMPLETING]
    if takes <= 0.0:
        return
    first, until = given.first_held[job], machine.clock[NOW] + takes
    for i in range(first, first + state.held_count[job]):
        put_node(state.cleaning, 0, state.held_node[i])
        state.clean_time[state.held_node[i]] = until
    state.counts[CLEANS] = 1
    state.clock[CLEANS_UNTIL] = min(state.clock[CLEANS_UNTIL], until)


@kernel(allocates=False)
def let_be_clean(given: Given, state: Dynamic, machine: Machine, now: float) -> None:
    """Let the nodes be free that are clean by now; the main scheduler is asked for then."""
    if state.counts[CLEANS] == 0 or state.clock[CLEANS_UNTIL] > now:
        return
    state.counts[CLEANS], state.clock[CLEANS_UNTIL], is_any = 0, np.inf, False
    for node in range(len(state.clean_time)):
        if not has_node(state.cleaning, 0, node):
            continue
        if state.clean_time[node] <= now:
            state.cleaning[node // BITS] &= ~(1 << (node % BITS))
            is_any = True
        else:
            state.counts[CLEANS] = 1
            state.clock[CLEANS_UNTIL] = min(state.clock[CLEANS_UNTIL], state.clean_time[node])
    if is_any:  # not where another job has ended there since
        ask_main(given, state, machine)


@kernel(allocates=False)
def keep_off_cleaning(state: Dynamic) -> None:
    """Take the nodes out of ``state.available`` that clean up."""
    if state.counts[CLEANS] != 0:
        for word in range(state.counts[WORDS]):
            state.available[word] &= ~state.cleaning[word]
