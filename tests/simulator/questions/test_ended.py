# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs have ended by now, beside the schedule of the same moment."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.simulator import Simulation, simulate
from swftools.simulator.questions.ended_jobs import ends_so_far
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
    runs = simulate(TRACE, policy).segments
    happens = {*TRACE.arrays.submit_time.tolist(), *runs["start_time"], *runs["end_time"]}
    simulation = Simulation(TRACE, policy)
    for until in sorted({*happens, *np.arange(0.5, 60.0, 8.0).tolist()}):
        simulation.run(until=until)
        for seen in (simulation, simulation.copy().without(np.array([True, False, False, False, False]))):
            schedule = seen.schedule()
            expected = schedule.jobs.set_index("job_number")["end_time"].reindex(TRACE.jobs["job_number"])
            np.testing.assert_array_equal(ends_so_far(seen), expected)
