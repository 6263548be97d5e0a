# SPDX-License-Identifier: BSD-3-Clause
"""The kernels that only tests want, compiled ahead with all others: ``python -m tests.warm``, which ``make test`` does.

They are the engine and EASY in the form that looks at each index, and what few users call on machines of nodes: what
decides there from outside, and FCFS where nodes are away. Two processes of tests would each compile them where they
meet them first, and wait. Other policies are interpreted by day where nodes are away: EASY takes twice as long to
compile there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from swftools.kernel import rehearsed, warm_up
from swftools.simulator import Stepper, simulate
from tests.nodes_drawn import draw_machine
from tests.simulator.nodes.test_away import outages_by_lot
from tests.simulator.nodes.test_going_on import crowd, with_waits
from tests.strategies import crowded_trace

MACHINE = draw_machine("count cores / 4 4", "p:0-3")
AWAY = replace(MACHINE, outages=outages_by_lot(1, len(MACHINE), known=True))


def _step_on_nodes() -> None:
    """Decide from outside, fork, and go on from bytes, where jobs wait for others."""
    stepper = Stepper(with_waits(crowd(1), 1), "easy", machine=MACHINE)
    stepper.advance()
    stepper = Stepper.from_bytes(stepper.to_bytes())
    stepper.copy().finish()
    stepper.fork(None).finish()
    stepper.start_or_fill(int(stepper.waiting[0])).finish()


def _simulate_where_nodes_go_away() -> None:
    simulate(crowded_trace(6), "fcfs", machine=AWAY, on_outage="requeue")


@rehearsed
def _steps() -> list[tuple[str, Callable[[], object]]]:
    """Return what is called, by name."""
    return [
        ("checked engine and easy", partial(simulate, crowded_trace(3), "easy", compiled="checked")),
        ("fcfs where nodes are away", _simulate_where_nodes_go_away),
        ("decisions from outside on nodes", _step_on_nodes),
    ]


if __name__ == "__main__":
    warm_up(workers=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
