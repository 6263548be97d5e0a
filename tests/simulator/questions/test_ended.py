# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs have ended by now, beside the schedule of the same moment."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.simulator import Simulation
from swftools.simulator.questions.ended import ends_so_far
from tests.drawn import draw_trace

TRACE = draw_trace(
    """
    job submit run width request
    A   0      10  3     20
    B   1      30  1     30
    C   2      5   4     5
    D   3      9   1     40
    E   40     .   1     5
    """,
    processors=4,
)


@pytest.mark.parametrize("policy", ["easy", "pv-easy"])
def test_ends_are_those_of_the_schedule(policy: str) -> None:
    """At any instant, also where jobs were stopped, or taken out, and have not ended since."""
    for until in range(60):
        simulation = Simulation(TRACE, policy).run(until=until)
        for seen in (simulation, simulation.copy().without(np.array([True, False, False, False, False]))):
            schedule = seen.schedule()
            expected = schedule.jobs.set_index("job_number")["end_time"].reindex(TRACE.jobs["job_number"])
            np.testing.assert_array_equal(ends_so_far(seen), expected)
