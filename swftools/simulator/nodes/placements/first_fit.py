# SPDX-License-Identifier: BSD-3-Clause
"""First fit: of the nodes that fit a job, those with the lowest numbers."""

from __future__ import annotations

from swftools.kernel import ShortArray, kernel
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.placement import placement
from swftools.simulator.nodes.state import MARK, NodeMachine
from swftools.simulator.nodes.usable import (
    FIRST,
    OTHER,
    PLANNED_THEN,
    SPARING_NOW,
    SPARING_PLANNED,
    SPARING_RESPECTING,
    SPARING_THEN,
    THEN,
    usable,
)
from swftools.simulator.nodes.words import GUARD


@placement("first-fit", when="The default: it is what most batch systems do on nodes that are alike.")
@kernel(allocates=False)
def choose_first(
    machine: NodeMachine, group: int, need: int, wanted: int, how: int, end: float, out: ShortArray, at: int
) -> None:
    """Write down the first nodes of a set that may be taken, where they were not found so already."""
    if how == SPARING_NOW:
        choose_sparing_now(machine, group, need, wanted, out, at)
    elif how == SPARING_THEN:
        choose_sparing_then(machine, group, need, wanted, out, at)
    elif how in (SPARING_PLANNED, PLANNED_THEN):
        choose_planned(machine, group, need, wanted, how, out, at)
    elif how in (SPARING_RESPECTING, THEN):
        _first_of_two(machine, group, need, wanted, how, end, out, at)


@kernel(allocates=False)
def choose_sparing_now(machine: NodeMachine, group: int, need: int, wanted: int, out: ShortArray, at: int) -> None:
    """Write down nodes that fit now, of which there are enough, those that are reserved first."""
    free, reserved, mark = machine.nodes.free, machine.nodes.reserved, machine.classes.counts[MARK]
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    got = 0
    for others in range(2):
        for piece in range(ranges[group], ranges[group + 1]):
            for node in range(low[piece], high[piece]):
                fits = ((free[node] | GUARD) - need) & GUARD == GUARD
                if fits and (reserved[node] != mark) == (others == 1):
                    out[at + got] = node
                    got += 1
                    if got == wanted:
                        return


@kernel(allocates=False)
def choose_sparing_then(machine: NodeMachine, group: int, need: int, wanted: int, out: ShortArray, at: int) -> None:
    """Write down nodes that fit at the reserved time, of which there are enough, those that do not fit now first."""
    free, then = machine.nodes.free, machine.nodes.then
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    got = 0
    for now in range(2):
        for piece in range(ranges[group], ranges[group + 1]):
            for node in range(low[piece], high[piece]):
                fits = ((free[node] | GUARD) - need) & GUARD == GUARD
                if ((then[node] | GUARD) - need) & GUARD == GUARD and fits == (now == 1):
                    out[at + got] = node
                    got += 1
                    if got == wanted:
                        return


@kernel(allocates=False)
def choose_planned(
    machine: NodeMachine, group: int, need: int, wanted: int, how: int, out: ShortArray, at: int
) -> None:
    """Write down nodes of which it stands in ``was`` that they may be taken, of which there are enough."""
    free, was = machine.nodes.free, machine.nodes.was
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    got = 0
    for now in range(0 if how == SPARING_PLANNED else 1, 2):
        for piece in range(ranges[group], ranges[group + 1]):
            for node in range(low[piece], high[piece]):
                fits = how == PLANNED_THEN or ((free[node] | GUARD) - need) & GUARD == GUARD
                if was[node] != NOBODY and fits == (now == 1):
                    out[at + got] = node
                    got += 1
                    if got == wanted:
                        return


@kernel(allocates=False)
def _first_of_two(
    machine: NodeMachine, group: int, need: int, wanted: int, how: int, end: float, out: ShortArray, at: int
) -> None:
    """Write down nodes that may be taken, of which there are enough: those that are to be taken sooner first."""
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    got = 0
    for others in range(2):
        for piece in range(ranges[group], ranges[group + 1]):
            for node in range(low[piece], high[piece]):
                if got < wanted and usable(machine, node, need, how, end) == (OTHER if others == 1 else FIRST):
                    out[at + got] = node
                    got += 1
