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


def test_nodes_are_those_of_the_schedule() -> None:
    """Who asks for three cores needs two nodes of two; the prices are those of that machine, and not of a pool."""
    trace = trace_of(crowd(5, 12), submit=[float(place) for place in range(12)])
    table = draw_machine("count cores / 2 2", "p:0-1")
    on_nodes, on_pool = (
        swftools.price(swftools.simulate(trace, "easy", compiled=False, **machine), "vcg", trace=trace)
        for machine in ({"machine": table}, {"processors": PROCESSORS})
    )
    assert (on_nodes.jobs["price"] > 0).sum() > 2
    assert on_nodes.jobs["price"].tolist() != on_pool.jobs["price"].tolist()
