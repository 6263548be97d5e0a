# SPDX-License-Identifier: BSD-3-Clause
"""The engine on machines of nodes does what the naive twin does, on machines by lot and in cases by hand."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Schedule, Trace, simulate
from swftools.errors import ParameterError
from swftools.machines import requests
from swftools.machines.node_table import PartitionNodes
from swftools.simulator.nodes.words import HALF
from tests.naive.nodes import DECISIONS
from tests.nodes_cases import CASES, Case
from tests.nodes_drawn import Ask, Workload, asked_of, random_workload, ranges_of
from tests.simulator.nodes.test_naive_nodes import run_naively

HEADS = ["partition", "machine"]

IN_ORDER = ["first-fit", "lowest-weight", "best-fit", "first-fit:sparing=false", "best-fit:sparing=false"]

CHOOSY = [
    *("worst-fit", "fewest-switches", "contiguous", "gpu-packing", "dot-product"),
    *("worst-fit:sparing=false", "fewest-switches:sparing=false", "contiguous:must=false", "gpu-packing:sparing=false"),
    *("dot-product:sparing=false", "contiguous:sparing=false", "contiguous:sparing=false,must=false"),
]

PLACEMENTS = [*IN_ORDER, *CHOOSY]

REHEARSED = [
    *((policy, "first-fit") for policy in ("fcfs", "easy", "sjf-backfill", "lxf-backfill", "prio-fifo")),
    ("easy", "best-fit"),
]
"""What is compiled ahead; all else runs interpreted by day, and compiled at night."""

LONG = (100,)
"""Long queues by lot, of which the tests of the night have forty."""

BY_NIGHT = dict.fromkeys(IN_ORDER, 100) | dict.fromkeys(CHOOSY, 42)
"""Machines by lot of each policy and placement at night; each policy sees 500 of either kind of placements."""

Run = Callable[..., Schedule]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return what simulates what jobs ask for as it stands there, and not as a log would tell it."""

    def on_nodes(workload: Workload, policy: str, placement: str, heads: str, **options: Any) -> Schedule:
        monkeypatch.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)
        trace = log_of(workload)
        return simulate(
            trace, policy, machine=workload.table, placement=placement, heads=heads, overrun="run-on", **options
        )

    return on_nodes


def log_of(workload: Workload) -> Trace:
    """Return the jobs of a workload, numbered from 0, with their ranks."""
    count = len(workload.submit)
    trace = Trace.from_columns(
        job_number=list(range(count)),
        submit_time=workload.submit,
        run_time=workload.run,
        requested_time=workload.request,
        requested_processors=[1] * count,
    )
    trace = trace.with_jobs(trace.jobs.assign(priority_rank=pd.array(workload.rank, dtype="Int64").copy()))
    trace.jobs["priority_rank"] = trace.jobs["priority_rank"].where(trace.jobs["priority_rank"] >= 0)
    return trace


def starts_and_nodes(schedule: Schedule) -> list[tuple[int, float, str]]:
    """Return job, start and nodes of each run, by job."""
    segments = schedule.segments
    rows = []
    for job, start, ranges in zip(segments["job_number"], segments["start_time"], segments["nodes"], strict=True):
        nodes = [node for i in range(0, len(ranges), 2) for node in range(ranges[i], ranges[i + 1] + 1)]
        rows.append((int(job), float(start), ranges_of(nodes)))
    return sorted(rows)


def told_naively(workload: Workload, policy: str, placement: str, heads: str) -> list[tuple[int, float, str]]:
    """Return the same of the naive twin."""
    jobs = run_naively(workload, policy, placement, heads)
    return sorted((job.row, float(job.start or 0.0), ranges_of(job.where)) for job in jobs)


def with_requests(workload: Workload) -> Workload:
    """Return a workload in which no job that runs asks for 0 s, which logs do not tell from asking for nothing."""
    request = [max(asked, min(run, 1.0)) for asked, run in zip(workload.request, workload.run, strict=True)]
    return replace(workload, request=request)


def check_by_lot(
    run: Run, policy: str, placement: str, heads: str, seed: int, *, is_long: bool = False, **options: Any
) -> None:
    """Check that every start and every node is the twin's, on a machine by lot; ``is_long``: with many that wait."""
    size = {"most_jobs": 150, "most_nodes": 16, "is_plain": seed % 2 == 0} if is_long else {}
    workload = with_requests(random_workload(seed, **size))
    want = told_naively(workload, policy, placement, heads)
    assert starts_and_nodes(run(workload, policy, placement, heads, **options)) == want, (placement, heads, seed)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_by_hand(case: Case, run: Run, compiled: bool) -> None:
    """Starts and nodes are those that were worked out by hand."""
    workload = case.workload()
    for policy, placement, heads, (_, *rows) in case.runs():
        want = [(row, float(start), nodes) for row, (_, start, nodes) in enumerate(rows) if start != "-"]
        found = starts_and_nodes(run(workload, policy, placement, heads, compiled=compiled))
        assert found == want, (policy, placement, heads)


@pytest.mark.parametrize("policy", DECISIONS)
def test_as_the_naive_twin_interpreted(policy: str, run: Run) -> None:
    """Every start and every node of it is the twin's, under each placement of the first, and in turn of the others."""
    first = list(DECISIONS).index(policy)
    some = [CHOOSY[(3 * first + place) % len(CHOOSY)] for place in range(3)]
    for place, placement in enumerate([*IN_ORDER, *some]):
        heads = HEADS[(first + place) % 2]
        check_by_lot(run, policy, placement, heads, seed=5 * first + place, compiled=False)


@pytest.mark.parametrize("policy", ["fcfs", "easy", "easy:reservations=2"])
def test_contiguous_nodes_are_neighbours(policy: str, run: Run) -> None:
    """Each run has one range of them, and a job that has none even on the idle machine is excluded for that reason."""
    reasons: set[str] = set()
    for seed in range(60, 66):
        workload = with_requests(random_workload(seed))
        schedule = run(workload, policy, "contiguous", HEADS[seed % 2], compiled=False)
        assert {len(ranges) for ranges in schedule.segments["nodes"]} == {2}
        reasons |= set(schedule.excluded["reason"])
    assert "asks for more neighbouring nodes than the machine has" in reasons


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize(("policy", "placement"), REHEARSED)
def test_as_the_naive_twin(policy: str, placement: str, heads: str, run: Run) -> None:
    """So it is compiled."""
    for seed in range(3):
        check_by_lot(run, policy, placement, heads, seed)
    for seed in LONG:
        check_by_lot(run, policy, placement, heads, seed, is_long=True)


@pytest.mark.slow
@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("policy", ["fcfs", "easy", "sjf-backfill", "lxf-backfill"])
def test_long_queues_as_the_naive_twin(policy: str, placement: str, heads: str, run: Run) -> None:
    """What is kept from one decision to the next shows where many wait."""
    for seed in range(100, 140):
        check_by_lot(run, policy, placement, heads, seed, is_long=True)


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("policy", DECISIONS)
def test_as_the_naive_twin_on_many_machines(policy: str, placement: str, run: Run) -> None:
    """So it is on 500 machines."""
    first = sum(BY_NIGHT[each] for each in PLACEMENTS[: PLACEMENTS.index(placement)])
    for seed in range(first, first + BY_NIGHT[placement]):
        check_by_lot(run, policy, placement, HEADS[seed % 2], seed)


def check_alike(run: Run, policy: str, placement: str, seed: int, compiled: bool | str = True) -> None:
    """Check that compiled and interpreted simulations have equal schedules, with all that they say of nodes."""
    workload = with_requests(random_workload(seed))
    made, slowly = (run(workload, policy, placement, HEADS[seed % 2], compiled=each) for each in (compiled, False))
    pd.testing.assert_frame_equal(made.segments, slowly.segments)
    pd.testing.assert_frame_equal(made.jobs, slowly.jobs)
    pd.testing.assert_frame_equal(made.excluded, slowly.excluded)
    assert made.options == slowly.options


@pytest.mark.parametrize(("policy", "placement"), REHEARSED)
def test_compiled_is_interpreted(policy: str, placement: str, run: Run) -> None:
    """To the last column."""
    for seed in (40, 41):
        check_alike(run, policy, placement, seed)


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("policy", DECISIONS)
def test_compiled_is_interpreted_everywhere(policy: str, placement: str, run: Run) -> None:
    """Of each policy with each placement."""
    for seed in range(50, 65):
        check_alike(run, policy, placement, seed)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "placement"), [("easy", "first-fit"), ("fcfs", "best-fit")])
def test_checked_is_interpreted(policy: str, placement: str, run: Run) -> None:
    """No index is outside its array."""
    for seed in range(70, 100):
        check_alike(run, policy, placement, seed, compiled="checked")


def many_partitions(seed: int) -> Workload:
    """Return a machine whose partitions, and the places that jobs ask for, are more than the bits of a word."""
    lot = random.Random(seed)
    table = random_workload(seed, most_nodes=12).table
    count = len(table)
    parts = [sorted(lot.sample(range(count), lot.randint(1, count))) for _ in range(90)]
    table = replace(table, partitions=tuple(PartitionNodes(f"p{i}", np.array(part)) for i, part in enumerate(parts)))
    asks = []
    for _ in range(120):
        chosen = lot.sample(range(len(parts)), lot.choice([1, 1, 2]))
        sets = tuple((partition, tuple(parts[partition])) for partition in chosen)
        cores = int(table.cores[lot.choice(parts[chosen[0]])])
        asks.append(Ask(lot.randint(1, len(parts[chosen[0]])), cores, alone=lot.random() < 0.2, sets=sets))
    submit = sorted(float(lot.randint(0, 60)) for _ in asks)
    run = [float(lot.randint(1, 20)) for _ in asks]
    request = [each + lot.randint(0, 10) for each in run]
    return Workload(table, asked_of(asks, table), submit, run, request, [0] * len(asks))


@pytest.mark.parametrize(
    ("policy", "heads"),
    [
        *(("fcfs", heads) for heads in HEADS),
        *((policy, "machine") for policy in ("easy", "lxf-backfill")),
        # For the naive twin that many reservations are a matter of seconds.
        *(pytest.param(policy, "partition", marks=pytest.mark.slow) for policy in ("easy", "lxf-backfill")),
    ],
)
def test_more_partitions_than_the_bits_of_a_word(policy: str, heads: str, run: Run) -> None:
    """Partitions and places of both words, and of either, are told apart."""
    workload = many_partitions(1)
    places = {int(place) for place in workload.asked.place if place >= 0}
    assert len(workload.table.partitions) > HALF
    assert len(places) > HALF
    assert starts_and_nodes(run(workload, policy, "first-fit", heads)) == told_naively(
        workload, policy, "first-fit", heads
    )


def test_too_many_of_either_are_refused(run: Run) -> None:
    """What two words cannot tell is refused before anything runs."""
    workload = many_partitions(1)
    parts = workload.table.partitions
    with pytest.raises(ParameterError, match="the machine has 180 partitions; simulations know at most 124"):
        run(
            replace(workload, table=replace(workload.table, partitions=(*parts, *parts))),
            "easy",
            "first-fit",
            "machine",
        )
