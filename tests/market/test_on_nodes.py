# SPDX-License-Identifier: BSD-3-Clause
"""Prices by what a job costs the others, of schedules on nodes."""

from __future__ import annotations

import pandas as pd
import pytest

import swftools
from tests.market.crowds import PROCESSORS, crowd, trace_of
from tests.nodes_drawn import draw_machine


@pytest.mark.parametrize("policy", ["fcfs", "easy"])
def test_nodes_of_one_core_are_a_pool(policy: str) -> None:
    """On as many nodes as a pool has processors every price is that of the pool."""
    trace = trace_of(crowd(5, 12), submit=[0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 3.0, 4.0, 6.0, 8.0, 9.0])
    table = draw_machine("count / 4", "p:0-3")
    assert table.processors == PROCESSORS
    on_pool, on_nodes = (
        swftools.price(swftools.simulate(trace, policy, compiled=False, **machine), "vcg", trace=trace)
        for machine in ({"processors": PROCESSORS}, {"machine": table})
    )
    pd.testing.assert_frame_equal(on_nodes.jobs, on_pool.jobs)
    assert (on_pool.jobs["price"] > 0).sum() > 2
