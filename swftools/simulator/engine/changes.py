# SPDX-License-Identifier: BSD-3-Clause
"""What the event loop does where parts of a machine go away, and return: here nothing, as of a pool nothing does.

A machine of nodes with outages has others in the place of these, which then are nothing in compiled code.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.engine.replay import Replay
from swftools.simulator.machine.state import Machine


@kernel(allocates=False)
def next_change(machine: Machine) -> float:  # noqa: ARG001 (a machine that changes needs them)
    """Return when the machine changes next, s; infinity: never."""
    return np.inf


@kernel(allocates=False)
def lacks_room(machine: Machine, now: float) -> bool:  # noqa: ARG001
    """Whether more room is needed before the machine changes at an instant."""
    return False


@kernel(allocates=False)
def let_change(machine: Machine, replay: Replay) -> int:  # noqa: ARG001
    """Let the machine change as it does at this instant; return how many runs that stops.

    ``machine.stops`` has these runs, and how: ``OUTAGE`` where the job is over.
    """
    return 0


@kernel(allocates=False)
def let_leave(machine: Machine, replay: Replay) -> int:  # noqa: ARG001
    """Let waiting jobs leave for good that can never start, where nothing runs and nothing is to come.

    Return how many these are, of which the last places of ``machine.held`` have the jobs; or ``WAITS``.
    """
    return 0


WAITS = -1
"""What ``let_leave`` returns where there are such jobs, and the simulation is to go to a time only: they wait on."""
