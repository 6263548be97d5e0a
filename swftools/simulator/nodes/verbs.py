# SPDX-License-Identifier: BSD-3-Clause
"""What policies may look up of, and do to, a machine of nodes: these stand in the place of a pool's verbs."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.faults import NO_NODES, NO_SUCH_JOB, NOT_WAITING, fail
from swftools.simulator.machine.running_jobs import expect_end
from swftools.simulator.machine.state import WAITING
from swftools.simulator.machine.verbs import go_away, occupy
from swftools.simulator.machine.waiting_queue import ANY, NOBODY, is_waiting, next_fitting_place, put
from swftools.simulator.nodes.classes import may_start, note_found, quit_class
from swftools.simulator.nodes.holding import take_nodes
from swftools.simulator.nodes.placements.first_fit import choose_first
from swftools.simulator.nodes.searching import find_now
from swftools.simulator.nodes.state import BY_AMOUNT, CHANGED, CHOOSES, HEAD, IS_FRESH, NodeMachine
from swftools.simulator.nodes.usable import NOW
from swftools.simulator.nodes.words import bits_of, suffices


@kernel(allocates=False)
def next_waiting_on_nodes(machine: NodeMachine, job: int) -> int:
    """Return the next waiting job after another one, or NOBODY; after NOBODY the first."""
    queue = machine.queue
    place = next_fitting_place(queue, 0 if job == NOBODY else queue.place[job] + 1, ANY, ANY, ANY)
    return NOBODY if place == NOBODY else queue.job[place]


@kernel(allocates=False)
def fits_on_nodes(machine: NodeMachine, job: int) -> bool:
    """Whether there is a job, it waits, and enough nodes fit it now."""
    if job == NOBODY or not may_start(machine, job):
        return False
    got, _ = find_now(machine, job)
    note_found(machine, job, got)
    return got == machine.asked.nodes[job]


@kernel(allocates=False)
def start_on_nodes(machine: NodeMachine, job: int) -> None:
    """Start a waiting job now, on nodes that the placement chooses."""
    if job < 0 or job >= len(machine.allocated):
        fail(machine, NO_SUCH_JOB, job)
    if not is_waiting(machine.queue, job):
        fail(machine, NOT_WAITING, job)
    got, group = find_now(machine, job)
    if got < machine.asked.nodes[job]:
        fail(machine, NO_NODES, job)
    place_and_begin(machine, job, group, NOW, 0.0)
    machine.classes.counts[IS_FRESH] = 0
    machine.classes.counts[HEAD] = NOBODY  # nobody looked whether it delays the first waiting job


@kernel(allocates=False)
def place_and_begin(machine: NodeMachine, job: int, group: int, how: int, end: float) -> None:
    """Start a waiting job on nodes of a set, of which enough were found; ``how`` and ``end`` as of ``usable``."""
    asked, nodes, counts = machine.asked, machine.nodes, machine.classes.counts
    first, wanted = asked.first[job], asked.nodes[job]
    nodes.group[job] = group
    choose_first(machine, group, asked.need[job], wanted, how, end, nodes.held, first)
    head = counts[HEAD]
    if head != NOBODY and counts[CHOOSES] > 0 and counts[CHANGED] == 0:
        at, need = asked.place[head], asked.need[head]
        head0, head1 = bits_of(at)
        for i in range(first, first + wanted):
            node = nodes.held[i]
            inside = ((machine.places.inside0[node] & head0) | (machine.places.inside1[node] & head1)) != 0
            if inside and (counts[CHOOSES] == BY_AMOUNT or suffices(nodes.free[node], need)):
                counts[CHANGED] = 1
    put(machine.queue, machine.queue.place[job], np.inf, np.inf)
    machine.counts[WAITING] -= 1
    quit_class(machine, job)
    occupy(machine, job, take_nodes(machine, job), 1.0)


@kernel(allocates=False)
def go_away_on_nodes(machine: NodeMachine, job: int) -> None:
    """Let a waiting job leave the queue for good; it may have a reservation, so what is reserved is found anew."""
    machine.classes.counts[HEAD], machine.classes.counts[IS_FRESH] = NOBODY, 0
    quit_class(machine, job)
    go_away(machine, job)


@kernel(allocates=False)
def expect_end_on_nodes(machine: NodeMachine, job: int, end: float) -> None:
    """Expect another end of a running job: whatever is reserved is to be found anew."""
    machine.classes.counts[HEAD], machine.classes.counts[IS_FRESH] = NOBODY, 0
    expect_end(machine, job, end)
