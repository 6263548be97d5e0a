# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs of a simulation have ended, and when; for who goes on from copies of one again and again."""

from __future__ import annotations

import numpy as np

from swftools.kernel import FloatArray
from swftools.simulator.engine.replay import COMPLETED
from swftools.simulator.simulation import Simulation


def ends_so_far(simulation: Simulation) -> FloatArray:
    """Return when each job of the trace ended, s; NaN where it has not by now.

    ``Simulation.schedule`` says the same and much more, and takes so much longer.

    Examples
    --------
    >>> from swftools import Trace
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2], submit_time=[0, 1], run_time=[5, 9],
    ...     requested_time=[5, 9], requested_processors=[3, 4])
    >>> ends_so_far(Simulation(trace, "fcfs").run(until=6)).tolist()
    [5.0, nan]
    """
    log, row = simulation._replay.log, simulation._rows
    runs = int(log.size[0])
    is_over = (log.ended_by[:runs] == COMPLETED) & (log.end[:runs] <= simulation.now)
    ends = np.full(len(simulation.trace), np.nan)
    ends[row[log.job[:runs][is_over]]] = log.end[:runs][is_over]
    return ends
