# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are away: the engine does what the naive twin does, on machines by lot and in cases by hand."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Schedule, Trace, simulate
from swftools.machines import requests
from swftools.machines.outages import DOWN, DRAIN, RESERVATION, Holders, NodeOutages
from tests.naive.node_plans import PLANS
from tests.naive.nodes import DECISIONS, jobs_of
from tests.naive.nodes_away import CHECKPOINT, LOST, REQUEUE, Rule, Run, simulate_away
from tests.naive.placements import Placement
from tests.nodes_drawn import Workload, draw_machine, draw_workload, random_workload, ranges_of
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
        end = np.inf if lot.random() < 0.03 else end
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


def trace_of(workload: Workload, rule: Rule) -> Trace:
    """Return the jobs of a workload, with their users, and checkpoints where there are some."""
    trace = log_of(workload)
    columns: dict[str, Any] = {"user_id": pd.array(users_of(workload), dtype="Int64")}
    if np.isfinite(rule.interval):
        columns["checkpoint_interval"] = rule.interval
    return trace.with_jobs(trace.jobs.assign(**columns))


class Engine:
    """Simulates what jobs ask for as it stands there, and not as a log would tell it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def asks(self, workload: Workload) -> None:
        """Let jobs ask for what a workload has."""
        self._monkeypatch.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)

    def schedule(self, workload: Workload, policy: str, rule: Rule | None = None, **options: Any) -> Schedule:
        """Return the schedule."""
        rule = rule or Rule()
        self.asks(workload)
        on_outage = rule.on_outage + (f":delay={rule.delay:g}" if rule.delay else "")
        options = {"overrun": "run-on", "restart_overhead": rule.overhead, **options}
        return simulate(trace_of(workload, rule), policy, machine=workload.table, on_outage=on_outage, **options)

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
        jobs,
        workload.table,
        (DECISIONS | PLANS)[policy],
        placement=chosen,
        heads=heads,
        rule=rule,
        users=users_of(workload),
    )
    return sorted((run.row, run.start, run.end, ranges_of(run.where), run.is_stopped) for run in done)


def case_by_lot(seed: int, most_jobs: int = 60, **options: Any) -> tuple[Workload, Rule]:
    """Return a machine with outages and its jobs, and what becomes of those that are stopped."""
    lot = random.Random(f"rule {seed}")
    size: dict[str, Any] = {"most_jobs": most_jobs, "most_nodes": most_jobs // 6} if seed % 5 == 4 else {}
    workload = with_requests(random_workload(seed, **size))
    table = replace(workload.table, outages=outages_by_lot(seed, len(workload.table), **options))
    kind = lot.choice([REQUEUE, REQUEUE, CHECKPOINT, LOST])
    delay = lot.choice([0.0, 0.0, 7.0]) if kind != LOST else 0.0
    of_checkpoints = (lot.choice([2.0, 5.0]), lot.choice([0.0, 1.0])) if kind == CHECKPOINT else (np.inf, 0.0)
    return replace(workload, table=table), Rule(kind, delay, *of_checkpoints)


def check_by_lot(
    engine: Engine, policy: str, placement: str, heads: str, seed: int, most_jobs: int = 60, **options: Any
) -> int:
    """Check that all runs are the twin's; return how many were stopped."""
    workload, rule = case_by_lot(seed, most_jobs)
    given = {"placement": placement, "heads": heads}
    want = naive_runs(workload, policy, rule, **given)
    assert engine.runs(workload, policy, rule, **given, **options) == want, (policy, placement, heads, seed, rule)
    return sum(run[-1] for run in want)


@pytest.mark.parametrize("policy", DECISIONS)
def test_as_the_naive_twin_interpreted(policy: str, engine: Engine) -> None:
    """All runs are the twin's, in turn under all placements."""
    first = list(DECISIONS).index(policy)
    for turn in range(4):
        placement = PLACEMENTS[(4 * first + turn) % len(PLACEMENTS)]
        heads = HEADS[(first + turn) % 2]
        check_by_lot(engine, policy, placement, heads, 4 * first + turn, compiled=False)


COMPILED = ["fcfs", "easy", "lxf-backfill", "easy:reservations=2"]


@pytest.mark.slow
@pytest.mark.parametrize("placement", ["first-fit", "best-fit", "contiguous"])
@pytest.mark.parametrize("policy", COMPILED)
def test_as_the_naive_twin_on_many_machines(policy: str, placement: str, engine: Engine) -> None:
    """So it is compiled, on 540 machines, some of which had jobs stopped."""
    first = 3000 + 45 * COMPILED.index(policy)
    assert sum(check_by_lot(engine, policy, placement, HEADS[seed % 2], seed) for seed in range(first, first + 45)) > 5


@pytest.mark.parametrize(
    ("policy", "compiled"),
    [
        pytest.param(policy, compiled, marks=[] if (policy, compiled) == ("fcfs", True) else pytest.mark.slow)
        for policy in COMPILED
        for compiled in (True, "checked")
    ],
)
def test_compiled_is_interpreted(policy: str, compiled: bool | str, engine: Engine) -> None:
    """To the last column; no index is outside its array."""
    for seed in range(50, 65):
        workload, rule = case_by_lot(seed)
        slowly = engine.schedule(workload, policy, rule, compiled=False)
        made = engine.schedule(workload, policy, rule, compiled=compiled)
        pd.testing.assert_frame_equal(made.segments, slowly.segments)
        pd.testing.assert_frame_equal(made.jobs, slowly.jobs)
        pd.testing.assert_frame_equal(made.excluded, slowly.excluded)


# ---------------------------------------------------------------- by hand

INF = np.inf

ALWAYS, SURPRISE = -INF, INF

TWO = "count cores / 2 1"
ONE = "cores / 1"


@dataclass(frozen=True)
class AwayCase:
    """A machine, its outages (node, begin, end, kind, known since, who), its jobs, and their runs, stopped ones with x.

    The user of a job is its row: the first has user 0.
    """

    name: str
    nodes: str
    outages: tuple[tuple[Any, ...], ...]
    jobs: str
    runs: str
    policy: str = "easy"
    rule: Rule | None = None

    def workload(self) -> Workload:
        """Return what is simulated."""
        count = len(draw_machine(self.nodes, "p:0").names)
        workload = draw_workload(self.nodes, f"p:0-{count - 1}", self.jobs)
        return replace(workload, table=replace(workload.table, outages=outages_of(*self.outages)))

    def expected(self) -> Runs:
        """Return its runs."""
        letters = {name: row for row, name in enumerate(self.workload().names)}
        found = []
        for job, start, end, nodes, *stopped in (line.split() for line in self.runs.split("/")):
            found.append((letters[job], float(start), float(end), nodes, bool(stopped)))
        return sorted(found)


DOWN_AT_5 = ((0, 5, 8, DOWN, SURPRISE, -1),)

BY_HAND = [
    AwayCase(
        "a drained node keeps who runs there, and starts nobody",
        TWO,
        ((0, 2, 8, DRAIN, ALWAYS, -1),),
        "job submit run / A 0 5 / B 3 2 / C 3 1 / D 4 3",
        "A 0 5 0 / B 3 5 1 / C 5 6 1 / D 6 9 1",
    ),
    AwayCase(
        "a node that goes down by surprise: its job begins anew at its old place",
        TWO,
        DOWN_AT_5,
        "job submit run / A 0 10 / B 0 4 / C 5 3",
        "A 0 5 0 x / B 0 4 1 / A 5 15 1 / C 8 11 0",
    ),
    AwayCase(
        "with a delay it comes again behind all others",
        TWO,
        DOWN_AT_5,
        "job submit run / A 0 10 / B 0 6 / C 5 3 / D 10 2 / E 12 1",
        "A 0 5 0 x / B 0 6 1 / C 6 9 1 / D 10 12 0 / E 12 13 1 / A 12 22 0",
        rule=Rule(REQUEUE, 7.0),
    ),
    AwayCase(
        "from its last checkpoint, with the overhead of going on; what was done since is done again",
        TWO,
        DOWN_AT_5,
        "job submit run / A 0 10 / B 0 4",
        "A 0 5 0 x / B 0 4 1 / A 5 12 1",
        rule=Rule(CHECKPOINT, 0.0, 2.0, 1.0),
    ),
    AwayCase(
        "a lost job is over",
        TWO,
        DOWN_AT_5,
        "job submit run nodes / A 0 10 1 / B 0 4 1 / C 1 3 2",
        "A 0 5 0 x / B 0 4 1 / C 8 11 0-1",
        rule=Rule(LOST),
    ),
    AwayCase(
        "who would run into a node's going down that is known does not start there; who ends just then does",
        ONE,
        ((0, 5, 8, DOWN, ALWAYS, -1),),
        "job submit run / A 0 6 / B 0 5",
        "B 0 5 0 / A 8 14 0",
    ),
    AwayCase(
        "nobody foresees what is not known",
        ONE,
        DOWN_AT_5,
        "job submit run / A 0 6 / B 0 5",
        "A 0 5 0 x / A 8 14 0 / B 14 19 0",
    ),
    AwayCase(
        "what becomes known at 3 s is known from then on",
        ONE,
        ((0, 8, 9, DOWN, 3, -1),),
        "job submit run / A 2 7 / B 2 1",
        "A 2 8 0 x / A 9 16 0 / B 16 17 0",
    ),
    AwayCase(
        "when it becomes known the head is promised a later time, and a long job goes ahead at once",
        TWO,
        ((0, 12, 40, DOWN, 3, -1),),
        "job submit run nodes / A 0 10 1 / B 1 5 2 / C 1 20 1",
        "A 0 10 0 / C 3 23 1 / B 40 45 0-1",
    ),
    AwayCase(
        "and not before",
        ONE,
        ((0, 8, 9, DOWN, 3, -1),),
        "job submit run / A 3 7 / B 3 1",
        "B 3 4 0 / A 9 16 0",
    ),
    AwayCase(
        "jobs run into a drain that is known",
        ONE,
        ((0, 5, 8, DRAIN, ALWAYS, -1),),
        "job submit run / A 0 6 / B 1 1",
        "A 0 6 0 / B 8 9 0",
    ),
    AwayCase(
        "a reserved node serves its users only; others wait for it as if it was away",
        ONE,
        ((0, 2, 10, RESERVATION, ALWAYS, 0),),
        "job submit run / A 0 3 / B 3 4",
        "B 3 7 0 / A 10 13 0",
    ),
    AwayCase(
        "whoever runs when a reservation begins that nobody foresaw runs on",
        ONE,
        ((0, 2, 10, RESERVATION, SURPRISE, 0),),
        "job submit run / A 0 3 / B 3 4 / C 3 1",
        "A 0 3 0 / B 3 7 0 / C 10 11 0",
    ),
    AwayCase(
        "two outages of one node, of which one begins in the other",
        ONE,
        ((0, 2, 6, DOWN, SURPRISE, -1), (0, 4, 9, DRAIN, ALWAYS, -1)),
        "job submit run / A 3 1",
        "A 9 10 0",
    ),
    AwayCase(
        "who ends at the instant at which its node goes down has ended",
        ONE,
        ((0, 5, 7, DOWN, SURPRISE, -1),),
        "job submit run / A 0 5 / B 1 1",
        "A 0 5 0 / B 7 8 0",
    ),
    AwayCase(
        "all nodes are away, and come back",
        TWO,
        ((0, -INF, 100, DOWN, SURPRISE, -1), (1, 0, 90, DOWN, SURPRISE, -1)),
        "job submit run nodes / A 0 5 2 / B 1 2 1",
        "B 90 92 1 / A 100 105 0-1",
    ),
    AwayCase(
        "the head is promised nodes that are known to be back",
        TWO,
        ((1, 0, 10, DOWN, ALWAYS, -1),),
        "job submit run nodes / A 0 4 1 / B 1 5 2 / C 3 20 1 / D 3 6 1",
        "A 0 4 0 / D 4 10 0 / B 10 15 0-1 / C 15 35 0",
    ),
    AwayCase(
        "where they are not known to be back, it is promised nothing",
        TWO,
        ((1, 0, 10, DOWN, SURPRISE, -1),),
        "job submit run nodes / A 0 4 1 / B 1 5 2 / C 3 20 1",
        "A 0 4 0 / C 4 24 0 / B 24 29 0-1",
    ),
    AwayCase(
        "it is not promised a node that is away before it would end",
        TWO,
        ((0, 8, 20, DOWN, ALWAYS, -1),),
        "job submit run / A 0 4 / C 0 6 / B 1 10 / D 2 3",
        "A 0 4 0 / C 0 6 1 / D 4 7 0 / B 6 16 1",
    ),
    AwayCase(
        "strict orders wait for nodes too",
        TWO,
        ((1, 0, 10, DOWN, ALWAYS, -1),),
        "job submit run nodes / A 0 4 1 / B 1 5 2 / C 3 6 1",
        "A 0 4 0 / B 10 15 0-1 / C 15 21 0",
        policy="fcfs",
    ),
    *(
        AwayCase(
            f"a sparing reservation takes the node that is away, and leaves the free one to a long job: {policy}",
            "count cores / 3 1",
            ((2, 0, 6, DOWN, ALWAYS, -1),),
            "job submit run nodes / A 0 6 1 / B 1 5 2 / C 2 20 1",
            "A 0 6 0 / C 2 22 1 / B 6 11 0,2",
            policy=policy,
        )
        for policy in ("easy", "easy:reservations=2")
    ),
]


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("case", BY_HAND, ids=lambda case: case.name)
def test_by_hand(case: AwayCase, heads: str, engine: Engine) -> None:
    """Runs are those that were worked out by hand, of the twin too."""
    workload = case.workload()
    assert naive_runs(workload, case.policy, case.rule, heads=heads) == case.expected()
    assert engine.runs(workload, case.policy, case.rule, heads=heads, compiled=False) == case.expected()


def test_what_a_stopped_run_shows(engine: Engine) -> None:
    """Its work, what of it was lost, and how often a job was stopped; a lost job took as long as it ran."""
    work = {}
    for rule, wanted in ((Rule(), (10, 1)), (Rule(CHECKPOINT, 0.0, 2.0), (11, 1)), (Rule(LOST), (5, 0))):
        schedule = engine.schedule(BY_HAND[1].workload(), "easy", rule, compiled=False)
        of_first = schedule.segments[schedule.segments["job_number"] == 0]
        work[rule.on_outage] = of_first[["work", "lost_work"]].to_numpy().tolist()
        first = schedule.jobs.iloc[0]
        assert (first["run_time"], first["preemptions"]) == wanted
        assert schedule.options["on_outage"].startswith(rule.on_outage)
    assert work == {REQUEUE: [[5, 5], [10, 0]], CHECKPOINT: [[5, 1], [6, 0]], LOST: [[5, 5]]}


def test_each_run_has_its_own_nodes_and_partition(engine: Engine) -> None:
    """Also those that were stopped: the last one of the job was in another partition."""
    workload = draw_workload(TWO, "p:0 q:1", "job submit run partition / A 0 10 p,q")
    workload = replace(workload, table=replace(workload.table, outages=outages_of(*DOWN_AT_5)))
    segments = engine.schedule(workload, "easy", compiled=False).segments
    assert segments["partition"].tolist() == ["p", "q"]
    assert [list(nodes) for nodes in segments["nodes"]] == [[0, 0], [1, 1]]


def test_there_is_room_for_the_nodes_of_many_runs(engine: Engine) -> None:
    """A wide job is stopped again and again."""
    outages = tuple((node % 8, 10.0 * node, 10.0 * node + 2, DOWN, SURPRISE, -1) for node in range(1, 40))
    jobs = "job submit run nodes / A 0 30 8 / B 1 5 1 / C 2 40 7"
    case = AwayCase("", "count cores / 8 2", outages, jobs, "")
    want = naive_runs(case.workload(), "easy", Rule(delay=1.0))
    assert sum(8 for run in want if run[-1]) > 200
    assert engine.runs(case.workload(), "easy", Rule(delay=1.0), compiled=False) == want
