# SPDX-License-Identifier: BSD-3-Clause
"""Queues where GPUs are told apart: drawn by hand, as the engine has them where GPUs are whole, and what must hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swftools import Trace, simulate, validate
from swftools.errors import ParameterError
from swftools.machines.node_table import NodeTable
from swftools.simulator.stepping.gpu_queues import GpuSchedule, simulate_on_gpus
from tests.naive.gpu_inflation import Node
from tests.simulator.nodes.gpus.cases import table_of

pytestmark = pytest.mark.usefixtures("simulated_as_python_by_day")


def jobs(rows: list[tuple[float, float, float, float]]) -> Trace:
    """Return jobs by submission, run time, cores and GPUs."""
    submit, run, cores, gpus = (list(column) for column in zip(*rows, strict=True))
    trace = Trace.from_columns(
        job_number=list(range(1, len(rows) + 1)),
        submit_time=submit,
        run_time=run,
        requested_time=run,
        requested_processors=[1] * len(rows),
    )
    return trace.with_jobs(trace.jobs.assign(requested_cores_per_node=cores, requested_gpus_per_node=gpus))


def machine(*gpus: int, cores: int = 16) -> NodeTable:
    """Return nodes with so many GPUs each."""
    return table_of([Node(1000 * cores, 64, (1000,) * number, "A") for number in gpus])


def starts(found: GpuSchedule) -> list[float]:
    """Return when jobs start."""
    values: list[float] = found.schedule.jobs["start_time"].tolist()
    return values


def test_three_shares_do_not_fit_on_two_gpus() -> None:
    """Three shares of .6 are 1.8 GPUs, and have no room on two: the third waits; the engine alone lets it start."""
    three = jobs([(0, 10, 1, 0.6)] * 3)
    found = simulate_on_gpus(three, machine(2), "weng-best-fit")
    assert starts(found) == [0, 0, 10]
    assert found.gpus == {0: [0], 1: [1], 2: [0]}
    assert simulate(three, "easy", machine=machine(2), compiled=False).jobs["start_time"].tolist() == [0, 0, 0]


def test_easy_by_hand() -> None:
    """Who ends before the reservation begins goes ahead, or who leaves room beside it; others wait."""
    rows = [
        (0.0, 20.0, 1.0, 1.0),  # GPU 0
        (0.0, 30.0, 1.0, 0.5),  # GPU 1
        (1.0, 10.0, 1.0, 1.0),  # waits for GPU 0
        (2.0, 40.0, 1.0, 0.6),  # fits nowhere
        (3.0, 60.0, 1.0, 0.5),  # goes ahead, on GPU 1, where nothing is reserved
    ]
    assert starts(simulate_on_gpus(jobs(rows), machine(2), "fgd")) == [0, 0, 20, 30, 3]
    assert starts(simulate_on_gpus(jobs(rows), machine(2), "fgd", "fcfs")) == [0, 0, 20, 30, 30]
    cpu = [
        (0.0, 20.0, 8.0, 1.0),
        (1.0, 10.0, 12.0, 0.0),
        (2.0, 30.0, 5.0, 0.0),
        (3.0, 30.0, 4.0, 0.0),
        (4.0, 15.0, 4.0, 0.0),
    ]
    assert starts(simulate_on_gpus(jobs(cpu), machine(1), "fgd")) == [0, 20, 30, 3, 4]


def test_room_beside_a_reservation_is_given_once() -> None:
    """Three of four GPUs are reserved: one job may keep the fourth for longer, the next one may not."""
    rows = [
        (0.0, 20.0, 1.0, 2.0),  # GPUs 0 and 1
        (1.0, 10.0, 1.0, 3.0),  # waits for them
        (2.0, 40.0, 1.0, 1.0),  # goes ahead, to GPU 2
        (3.0, 40.0, 1.0, 1.0),  # would leave two GPUs alone
    ]
    for placement in ("fgd", "weng-best-fit"):
        found = simulate_on_gpus(jobs(rows), machine(4), placement)
        assert starts(found) == [0, 20, 2, 30]
        assert found.gpus == {0: [0, 1], 1: [0, 1, 3], 2: [2], 3: [0]}
    at_once = jobs([rows[0], *((1.0, *row[1:]) for row in rows[1:])])
    assert starts(simulate_on_gpus(at_once, machine(4), "fgd")) == [0, 20, 1, 30]


def test_backfilling_takes_another_node() -> None:
    """Who would delay the first on its node, and fits another one too, goes there."""
    rows = [(0.0, 10.0, 1.0, 2.0), (0.0, 20.0, 1.0, 2.0), (1.0, 10.0, 1.0, 3.0), (2.0, 50.0, 1.0, 1.0)]
    found = simulate_on_gpus(jobs(rows), machine(3, 3), "random:ties=first")
    assert found.gpus[3] == [2]
    segments = found.schedule.segments.set_index("job_number")["nodes"]
    assert [list(segments[job]) for job in (1, 2, 3, 4)] == [[0, 0], [1, 1], [0, 0], [1, 1]]
    assert starts(found) == [0, 0, 10, 2]


def drawn_jobs(seed: int, count: int = 40) -> Trace:
    """Return jobs that ask for whole GPUs, more than there are."""
    draws = np.random.default_rng(seed)
    rows = [
        (
            float(draws.integers(0, 60)),
            float(draws.integers(1, 30)),
            float(draws.integers(1, 9)),
            float(draws.integers(0, 4)),
        )
        for _ in range(count)
    ]
    return jobs(sorted(rows))


@pytest.mark.parametrize("policy", ["fcfs", "easy"])
def test_whole_gpus_as_the_engine(policy: str) -> None:
    """Where all GPUs are whole the engine with first fit starts every job at the same time."""
    waited = 0
    table = machine(4, 2, 3, cores=12)
    for seed in range(6):
        trace = drawn_jobs(seed)
        found = simulate_on_gpus(trace, table, "random:ties=first", policy)
        engine = simulate(trace, policy, machine=table, placement="first-fit:sparing=false", compiled=False)
        assert starts(found) == engine.jobs["start_time"].tolist()
        waited += int((engine.jobs["wait_time"] > 0).sum())
    assert waited > 30


@pytest.mark.parametrize("placement", ["fgd", "weng-best-fit", "random", "gpu-clustering"])
def test_nobody_has_more_than_there_is(placement: str) -> None:
    """At every instant each GPU has no more than it is; the schedule is possible; EASY delays no first job."""
    table = machine(2, 4)
    trace = drawn_jobs(9)
    draws = np.random.default_rng(3)
    shares = draws.choice([0.0, 0.3, 0.5, 0.7, 1.0, 2.0], len(trace))
    trace = trace.with_jobs(trace.jobs.assign(requested_gpus_per_node=shares))
    found = simulate_on_gpus(trace, table, placement)
    assert validate(found.schedule, trace=trace).ok
    rows: Any = found.schedule.segments
    share = dict(zip(trace.jobs["job_number"], shares, strict=True))
    for time in np.unique(rows["start_time"]):
        used: dict[tuple[int, int], float] = {}
        for job, start, end, nodes in zip(
            rows["job_number"], rows["start_time"], rows["end_time"], rows["nodes"], strict=True
        ):
            if start <= time < end:
                assert len(found.gpus[job - 1]) == np.ceil(share[job])
                for gpu in found.gpus[job - 1]:
                    at = nodes[0], gpu
                    used[at] = used.get(at, 0.0) + min(share[job], 1.0)
        assert all(value <= 1.0 + 1e-9 for value in used.values())


def test_what_is_refused() -> None:
    """Another policy, or jobs of several nodes."""
    with pytest.raises(ParameterError, match="does not know GPUs apart"):
        simulate_on_gpus(drawn_jobs(1), machine(4), "fgd", "conservative")
    several = drawn_jobs(1)
    several = several.with_jobs(several.jobs.assign(requested_nodes=2))
    with pytest.raises(ParameterError, match="asks for several nodes"):
        simulate_on_gpus(several, machine(4, 4), "fgd")
