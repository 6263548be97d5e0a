# SPDX-License-Identifier: BSD-3-Clause
"""EASY as the paper's simulator runs it: it is asked at submissions and completions only (section 5.1.1).

``easy`` of swftools is also asked when a prediction is outlived: the reservation moves then, and others may go ahead.
With PV-EASY that makes no difference, since nothing that fits waits after any of its decisions; nor where users'
requests are what is predicted, which no job outlives. These policies are the paper's alone, and not registered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.parameters import Parameters, choice
from swftools.simulator import Policy, can_start_any, first_waiting, fits, next_waiting, start
from swftools.simulator.job_orders import ORDERS, simple_order
from swftools.simulator.machine.state import ENDED, SUBMITTED, Machine
from swftools.simulator.policies.ordered_easy import backfill


class SubmittedCount(NamedTuple):
    """How many jobs had been submitted by the last decision."""

    submitted: npt.NDArray[np.int64]


def nothing_seen(jobs: int, processors: int) -> SubmittedCount:  # noqa: ARG001 (as all memories)
    """Return the memory at the beginning."""
    return SubmittedCount(np.zeros(1, np.int64))


@dataclass(frozen=True)
class EasyAtEventsParameters(Parameters):
    """In which order the jobs behind the first go ahead."""

    NAME = "easy-at-events"
    backfill_order: str = choice(*ORDERS)


def easy_at_events(machine: Machine, parameters: Any, memory: SubmittedCount) -> None:
    """Decide as ``easy`` does, where a job was submitted or has ended."""
    if machine.counts[ENDED] == 0 and machine.counts[SUBMITTED] == memory.submitted[0]:
        return
    memory.submitted[0] = machine.counts[SUBMITTED]
    head = first_waiting(machine)
    while fits(machine, head):
        start(machine, head)
        head = next_waiting(machine, head)
    if can_start_any(machine):
        backfill(machine, simple_order(parameters.backfill_order), head)


EASY_AT_EVENTS = Policy(
    "easy-at-events",
    easy_at_events,
    EasyAtEventsParameters,
    memory=nothing_seen,
    promises=("backfilling",),
    allocates=False,
)

POLICIES = {
    "easy-at-events": EASY_AT_EVENTS,
    "sjf-at-events": replace(EASY_AT_EVENTS, name="sjf-at-events", fixed={"backfill_order": "sjf"}),
}
"""By name."""


def named(policy: str) -> str | Policy:
    """Return a policy of these by name; of any other the name."""
    return POLICIES.get(policy, policy)
