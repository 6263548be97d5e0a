# SPDX-License-Identifier: BSD-3-Clause
"""One node that jobs share is a pool of its cores, whatever predictors say of the jobs meanwhile."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from swftools import Trace, simulate
from swftools.machines.node_table import NodeTable, PartitionNodes
from swftools.simulator.machine.events import END
from swftools.simulator.machine.state import RUNNING, Machine
from swftools.simulator.machine.verbs import predict
from swftools.simulator.machine.views import first_waiting, next_waiting
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.predictors.registry import predictor

PROCESSORS = 16

TOLD: list[dict[str, Any]] = [
    {"predictor": "last-model"},
    {"predictor": "user-average"},
    {"predictor": "exact"},
    {"predictor": "changes-its-mind"},
    {"predictor": "virtual:error=0.5", "overrun": "run-on"},
    {"requests": "factor:factor=3"},
]
"""What policies may be told of run times."""


@predictor("changes-its-mind", events=(END,))
def changes_its_mind(event: int, machine: Machine, job: int) -> None:
    """Predict some waiting jobs, and the running one that is expected to end first, anew whenever a job ends."""
    waiting = first_waiting(machine)
    while waiting != NOBODY:
        if (waiting + job) % 2 == 0:
            predict(machine, waiting, machine.requests.limit[waiting] * (0.25 if job % 3 == 0 else 0.75))
        waiting = next_waiting(machine, waiting)
    if machine.counts[RUNNING] > 0:
        runs = machine.running[0]
        predict(machine, runs, machine.requests.limit[runs] * 0.5)


@cache
def busy() -> Trace:
    """Return jobs by lot, of which many wait, and many ask for the same."""
    lot = np.random.default_rng(5)
    count = 160
    run = lot.integers(1, 40, count)
    return Trace.from_columns(
        machine_processors=PROCESSORS,
        job_number=np.arange(count) + 1,
        submit_time=np.sort(lot.integers(0, 1600, count)),
        run_time=run,
        requested_time=lot.choice([45, 60, 200], count),
        requested_processors=lot.choice([1, 1, 2, 4, 7, 16], count),
        user_id=lot.integers(1, 6, count),
    )


@cache
def one_node() -> NodeTable:
    """Return a machine of one node."""
    one = np.zeros(1, np.int64)
    partition = PartitionNodes("all", one, is_default=True)
    return NodeTable(("n1",), one, ("node",), one + PROCESSORS, one + 1000, one, one + 1, (partition,))


@pytest.mark.parametrize("policy", ["easy", "sjf-backfill", "lxf-backfill"])
@pytest.mark.parametrize("options", TOLD, ids=str)
def test_one_node_is_a_pool(policy: str, options: dict[str, Any]) -> None:
    """Every start is that of a pool."""
    pool = simulate(busy(), policy, processors=PROCESSORS, compiled=False, **options)
    node = simulate(busy(), policy, machine=one_node(), compiled=False, **options)
    assert node.jobs["start_time"].tolist() == pool.jobs["start_time"].tolist()
    assert pool.jobs["wait_time"].mean() > 10
