# SPDX-License-Identifier: BSD-3-Clause
"""Plans beside outages: the engine does what the naive twin does, on machines by lot and in cases by hand."""

from __future__ import annotations

import pytest

from tests.naive.node_plans import PLANS
from tests.simulator.nodes.test_away import (
    HEADS,
    Engine,
    check_by_lot,
    engine,
)
from tests.simulator.nodes.test_plans import PLACEMENTS

__all__ = ["engine"]


@pytest.mark.parametrize("policy", PLANS)
def test_as_the_naive_twin_interpreted(policy: str, engine: Engine) -> None:  # noqa: F811
    """All runs are the twin's, in turn under all placements."""
    first = 12 * list(PLANS).index(policy)
    for turn in range(12):
        placement = PLACEMENTS[turn % len(PLACEMENTS)]
        check_by_lot(engine, policy, placement, HEADS[turn % 2], first + turn, compiled=False)
