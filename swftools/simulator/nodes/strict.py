# SPDX-License-Identifier: BSD-3-Clause
"""Strict orders on nodes: jobs start in order until one does not fit, in each partition or on the whole machine.

A job that does not fit closes the partitions in which it may run. Nobody behind it may use a set of a closed partition,
nor a node that belongs to one: so no job of another partition keeps it from nodes that it waits for.
"""

from __future__ import annotations

from typing import Any

from swftools.kernel import kernel
from swftools.simulator.job_orders import FCFS, Order, simple_order
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.classes import any_may_start
from swftools.simulator.nodes.queue_order import close, first_in_queue, first_open, list_again, open_all
from swftools.simulator.nodes.state import HEAD_OF_PARTITION, HEADS, NodeMachine
from swftools.simulator.nodes.usable import OPEN, find_usable
from swftools.simulator.nodes.verbs import fits_on_nodes, place_and_begin, start_on_nodes


@kernel(allocates=False)
def start_by_order(machine: NodeMachine, order: Order) -> None:
    """Start waiting jobs in an order, until the first that does not fit."""
    if machine.classes.counts[HEADS] == HEAD_OF_PARTITION:
        _start_in_partitions(machine, order)
        return
    job = first_in_queue(machine, order)
    while fits_on_nodes(machine, job):
        start_on_nodes(machine, job)
        job = first_in_queue(machine, order)


@kernel(allocates=False)
def _start_in_partitions(machine: NodeMachine, order: Order) -> None:
    """Do the same in each partition."""
    open_all(machine, order)
    job = first_open(machine)
    while job != NOBODY:
        got, group = find_usable(machine, job, OPEN, 0.0)
        if got == machine.asked.nodes[job]:
            place_and_begin(machine, job, group, OPEN, 0.0)
            list_again(machine, order, machine.asked.place[job])
            if not any_may_start(machine):
                return
        else:
            close(machine, job)
        job = first_open(machine)


@kernel(allocates=False)
def start_in_turn_on_nodes(machine: NodeMachine) -> None:
    """Start waiting jobs in the order of the queue."""
    start_by_order(machine, simple_order(FCFS))


@kernel(allocates=False)
def start_in_order_on_nodes(machine: NodeMachine, kind: int) -> None:
    """Start waiting jobs in one of ``ORDERS``."""
    start_by_order(machine, simple_order(kind))


@kernel(allocates=False)
def start_from_heap_on_nodes(machine: NodeMachine, heap: Any, kind: int) -> None:  # noqa: ARG001 (a pool needs it)
    """Start waiting jobs in one of ``ORDERS``."""
    start_by_order(machine, simple_order(kind))
