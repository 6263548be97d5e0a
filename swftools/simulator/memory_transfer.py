# SPDX-License-Identifier: BSD-3-Clause
"""What a policy remembers, taken along into a light copy of a simulation, where jobs have other numbers.

A policy that can be copied so says how by ``carry`` in its decorator: a function of the memory, of another one, which
is as at the beginning, and of the jobs that are taken along, by their old numbers in ascending order. It writes into
the other what is still to be known. Of a job the new number is its place among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.kernel import IntArray
from swftools.simulator.machine.state import SUBMITTED, Machine


def carry_nothing(old: Any, new: Any, jobs: IntArray) -> None:
    """Copy nothing: for a memory that lasts for one decision only, or is rebuilt from the machine if it is empty."""


def restore_by(carry: Callable[[Any, Any, IntArray], None]) -> Callable[[Any, Any, Machine], None]:
    """Return what takes a memory out of a saved state: by what takes it along into a copy, of all jobs."""

    def restore(old: Any, new: Any, machine: Machine) -> None:
        carry(old, new, np.arange(machine.counts[SUBMITTED]))

    return restore


def check_sound(condition: object, what: str) -> None:
    """Raise ValueError about what a saved memory says, unless a condition holds."""
    if not condition:
        raise ValueError(f"what the policy remembers: {what}")


def renumber(some: npt.NDArray[Any], jobs: IntArray) -> IntArray:
    """Return the new numbers of those of some jobs that are taken along, in their order."""
    if not len(jobs):
        return np.zeros(0, np.int64)
    place = np.searchsorted(jobs, some)
    is_there = jobs[np.minimum(place, len(jobs) - 1)] == some
    return np.asarray(place if is_there.all() else place[is_there], dtype=np.int64)


def renumber_count(count: int, jobs: IntArray) -> int:
    """Return how many of the first so many jobs are taken along."""
    return int(np.searchsorted(jobs, count))
