# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are away: the engine does what the naive twin does, on machines by lot and in cases by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Schedule, simulate
from swftools.errors import PolicyError
from swftools.machines import requests
from swftools.machines.outages import DOWN, DRAIN, RESERVATION, Holders, NodeOutages
from tests.naive.nodes import DECISIONS, jobs_of
from tests.naive.nodes_away import CHECKPOINT, LOST, REQUEUE, NeverBackError, Rule, Run, simulate_away
from tests.naive.placements import Placement
from tests.nodes_drawn import Workload, random_workload, ranges_of
from tests.simulator.nodes.test_engine import HEADS, PLACEMENTS, log_of, with_requests

HOLDERS = (Holders(("1",)), Holders(("1", "2")))

Runs = list[tuple[int, float, float, str, bool]]


def outages_of(*rows: tuple[Any, ...], holders: tuple[Holders, ...] = HOLDERS) -> NodeOutages:
    """Return outages of rows (node, begin, end, kind, known, who)."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    kinds = (np.int64, np.float64, np.float64, np.int64, np.float64, np.int64)
    return NodeOutages(*(column.astype(kind) for column, kind in zip(columns, kinds, strict=True)), holders)


def outages_by_lot(seed: int, nodes: int, *, known: bool | None = None) -> NodeOutages:
    """Return some outages of a machine; sometimes of many nodes at once, sometimes two of one node at once."""
    lot, rows = random.Random(seed), []
    for _ in range(lot.choice([1, 4, 8, 16, 30])):
        kind = lot.choice([DOWN, DOWN, DOWN, DRAIN, RESERVATION])
        begin = float(lot.choice([0, lot.randint(0, 20), lot.randint(0, 60), lot.randint(0, 200)]))
        end = begin + lot.choice([1, lot.randint(1, 10), lot.randint(1, 40)])
        end = np.inf if lot.random() < 0.01 else end
        since = lot.choice([-np.inf, -np.inf, np.inf, lot.randint(0, 80)])
        if known is not None:
            since = -np.inf if known else np.inf
        who = lot.choice([-1, 0, 1]) if kind == RESERVATION else -1
        first = lot.randrange(nodes)
        last = lot.choice([first, first, lot.randint(first, nodes - 1)])
        rows += [(node, begin, end, kind, since, who) for node in range(first, last + 1)]
    return outages_of(*rows)


def users_of(workload: Workload) -> list[int]:
    """Return a user of each job."""
    return [row % 4 for row in range(len(workload.submit))]


class Engine:
    """Simulates what jobs ask for as it stands there, and not as a log would tell it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def schedule(self, workload: Workload, policy: str, rule: Rule | None = None, **options: Any) -> Schedule:
        """Return the schedule."""
        rule = rule or Rule()
        self._monkeypatch.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)
        trace = log_of(workload)
        columns: dict[str, Any] = {"user_id": pd.array(users_of(workload), dtype="Int64")}
        if np.isfinite(rule.interval):
            columns["checkpoint_interval"] = rule.interval
        trace = trace.with_jobs(trace.jobs.assign(**columns))
        on_outage = rule.on_outage + (f":delay={rule.delay:g}" if rule.delay else "")
        options = {"overrun": "run-on", "restart_overhead": rule.overhead, **options}
        return simulate(trace, policy, machine=workload.table, on_outage=on_outage, **options)

    def runs(self, *given: Any, **options: Any) -> Runs:
        """Return what ran when and where."""
        return runs_of(self.schedule(*given, **options))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Return what simulates."""
    return Engine(monkeypatch)


def runs_of(schedule: Schedule) -> Runs:
    """Return job, start, end, nodes, and whether it was stopped, of each run."""
    segments = schedule.segments
    names = ("job_number", "start_time", "end_time", "nodes", "ended_by")
    rows = []
    for job, start, end, ranges, how in zip(*(segments[name] for name in names), strict=True):
        nodes = [node for i in range(0, len(ranges), 2) for node in range(ranges[i], ranges[i + 1] + 1)]
        assert how in ("completed", "outage")
        rows.append((int(job), float(start), float(end), ranges_of(nodes), how == "outage"))
    return sorted(rows)


def naive_runs(
    workload: Workload, policy: str, rule: Rule | None = None, placement: str = "first-fit", heads: str = "partition"
) -> Runs:
    """Return the same of the naive twin."""
    jobs = jobs_of(workload.asked, workload.submit, workload.run, workload.request, workload.rank)
    chosen = Placement.read(placement)
    done: list[Run] = simulate_away(
        jobs, workload.table, DECISIONS[policy], placement=chosen, heads=heads, rule=rule, users=users_of(workload)
    )
    return sorted((run.row, run.start, run.end, ranges_of(run.where), run.is_stopped) for run in done)


def case_by_lot(seed: int, **options: Any) -> tuple[Workload, Rule]:
    """Return a machine with outages and its jobs, and what becomes of those that are stopped."""
    lot = random.Random(f"rule {seed}")
    size: dict[str, Any] = {"most_jobs": 60, "most_nodes": 10} if seed % 5 == 4 else {}
    workload = with_requests(random_workload(seed, **size))
    table = replace(workload.table, outages=outages_by_lot(seed, len(workload.table), **options))
    kind = lot.choice([REQUEUE, REQUEUE, CHECKPOINT, LOST])
    delay = lot.choice([0.0, 0.0, 7.0]) if kind != LOST else 0.0
    of_checkpoints = (lot.choice([2.0, 5.0]), lot.choice([0.0, 1.0])) if kind == CHECKPOINT else (np.inf, 0.0)
    return replace(workload, table=table), Rule(kind, delay, *of_checkpoints)


def check_by_lot(engine: Engine, policy: str, placement: str, heads: str, seed: int, **options: Any) -> int:
    """Check that all runs are the twin's; return how many were stopped."""
    workload, rule = case_by_lot(seed)
    given = {"placement": placement, "heads": heads}
    try:
        want = naive_runs(workload, policy, rule, **given)
    except NeverBackError:
        with pytest.raises(PolicyError, match="away for ever"):
            engine.runs(workload, policy, rule, **given, **options)
        return 0
    assert engine.runs(workload, policy, rule, **given, **options) == want, (policy, placement, heads, seed, rule)
    return sum(run[-1] for run in want)


@pytest.mark.parametrize("policy", DECISIONS)
def test_as_the_naive_twin_interpreted(policy: str, engine: Engine) -> None:
    """All runs are the twin's, in turn under all placements."""
    first = list(DECISIONS).index(policy)
    for turn in range(8):
        placement = PLACEMENTS[(8 * first + turn) % len(PLACEMENTS)]
        heads = HEADS[(first + turn) % 2]
        check_by_lot(engine, policy, placement, heads, 8 * first + turn, compiled=False)
