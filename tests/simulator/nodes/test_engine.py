# SPDX-License-Identifier: BSD-3-Clause
"""The engine on machines of nodes does what the naive twin does, on machines by lot and in cases by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from swftools import Schedule, Trace, simulate
from swftools.simulator import run_setup
from tests.naive.nodes import DECISIONS
from tests.nodes_cases import CASES, Case
from tests.nodes_drawn import Workload, random_workload, ranges_of
from tests.simulator.nodes.test_naive_nodes import run_naively

PLACEMENTS = ["first-fit", "lowest-weight", "best-fit", "first-fit:sparing=false", "best-fit:sparing=false"]

SEEDS = 3

Run = Callable[..., Schedule]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return what simulates what jobs ask for as it stands there, and not as a log would tell it."""

    def on_nodes(workload: Workload, policy: str, placement: str, heads: str, **options: Any) -> Schedule:
        monkeypatch.setattr(run_setup, "ask_of", lambda trace, table: workload.asked)
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
        return simulate(
            trace, policy, machine=workload.table, placement=placement, heads=heads, overrun="run-on", **options
        )

    return on_nodes


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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_by_hand(case: Case, run: Run) -> None:
    """Starts and nodes are those that were worked out by hand."""
    workload = case.workload()
    for policy, placement, heads, (_, *rows) in case.runs():
        want = [(row, float(start), nodes) for row, (_, start, nodes) in enumerate(rows) if start != "-"]
        assert starts_and_nodes(run(workload, policy, placement, heads)) == want, (policy, placement, heads)


@pytest.mark.parametrize("heads", ["partition", "machine"])
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("policy", DECISIONS)
def test_as_the_naive_twin(policy: str, placement: str, heads: str, run: Run) -> None:
    """Every start and every node of it is the twin's, on machines by lot."""
    for seed in range(SEEDS):
        workload = with_requests(random_workload(seed))
        want = told_naively(workload, policy, placement, heads)
        assert starts_and_nodes(run(workload, policy, placement, heads)) == want, seed
