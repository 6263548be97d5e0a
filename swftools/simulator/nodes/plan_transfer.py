# SPDX-License-Identifier: BSD-3-Clause
"""A plan on nodes, taken along into a light copy, or out of a saved state: its reservations, of which the rest is made.

When each job begins and ends is taken; on which nodes stands in ``NodeState.held``. What that leaves free of each node
is found anew at the next decision, and so is which nodes have gained room.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.simulator.machine.state import DISTURBED, LATE, RUNNING, SUBMITTED
from swftools.simulator.machine.views import waiting_jobs
from swftools.simulator.memory_transfer import check_sound, renumber_count
from swftools.simulator.nodes.away.state import COMEBACKS as HAVE_COME_BACK
from swftools.simulator.nodes.conservative import DISTURBANCES, MOST_LISTED, MOVED, NOTED, SEEN, KeptNodesPlan
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.nodes.timelines import KNOWS
from swftools.simulator.nodes.words import amounts_of


def carry_plan_on_nodes(old: KeptNodesPlan, new: KeptNodesPlan, jobs: IntArray) -> None:
    """Take along reservations, and how far the plan has followed."""
    plan, theirs, count = old.plan, new.plan, len(jobs)
    theirs.begin[:count], theirs.end[:count] = plan.begin[jobs], plan.end[jobs]
    theirs.is_placed[:count] = plan.is_placed[jobs]
    new.due[0], new.counts[:] = old.due[0], old.counts
    new.counts[SEEN] = renumber_count(int(old.counts[SEEN]), jobs)
    new.counts[NOTED] = 2 * MOST_LISTED  # more than are listed, so that nobody knows any of them
    new.known[:] = 0
    theirs.lines.counts[KNOWS] = 0


def restore_plan_on_nodes(old: KeptNodesPlan, new: KeptNodesPlan, machine: NodeMachine) -> None:
    """Take the same out of a saved state: reservations must leave room for one another, and for who runs."""
    submitted = int(machine.counts[SUBMITTED])
    plan, counts = old.plan, old.counts
    check_sound(0 <= counts[SEEN] <= submitted, "more jobs than were submitted")
    check_sound(counts[MOVED] >= 0 and not np.isnan(old.due[0]), "a time that is none")
    waiting = waiting_jobs.py_func(machine)
    placed = waiting[plan.is_placed[waiting]]
    times = np.concatenate([plan.begin[placed], plan.end[:submitted]])  # who has no place begins at no time
    check_sound((times >= 0.0).all() and np.isfinite(times).all(), "a reservation at a time that is none")
    check_sound((plan.begin[placed] < plan.end[placed]).all(), "a reservation that ends before it begins")
    running = machine.running[: machine.counts[RUNNING]]
    outages: Any = getattr(machine, "outages", None)
    followed = machine.counts[LATE] if outages is None else outages.counts[HAVE_COME_BACK]
    if counts[DISTURBANCES] + followed == machine.counts[DISTURBED]:  # else it is made anew
        begin = np.concatenate([np.zeros(len(running)), plan.begin[placed]])
        end = np.concatenate([plan.end[running], plan.end[placed]])
        _check_room(machine, np.concatenate([running, placed]), begin, end)
    carry_plan_on_nodes(old, new, np.arange(submitted))


def _check_room(machine: NodeMachine, jobs: IntArray, begin: FloatArray, end: FloatArray) -> None:
    """Refuse jobs that have more of a node at once than there is, from one time to another."""
    many = machine.asked.nodes[jobs].astype(np.int64)
    row = np.repeat(np.arange(len(jobs)), many)
    row = row[begin[row] < end[row]]
    many = np.bincount(row, minlength=len(jobs))
    offset = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    node = machine.nodes.held[machine.asked.first[jobs][row] + offset].astype(np.int64)
    *amounts, is_whole = amounts_of(machine.asked.need[jobs][row])
    times, twice = np.concatenate([begin[row], end[row]]), np.tile(node, 2)
    order = np.lexsort((np.repeat([1, 0], len(row)), times, twice))  # who ends gives back before others begin
    for amount, most in zip(amounts, amounts_of(machine.nodes.capacity)[:3], strict=True):
        own = np.where(is_whole, most[node], amount)
        held = np.cumsum(np.concatenate([own, -own])[order])
        check_sound((held <= most[twice[order]]).all(), "more of a node than there is")
