# SPDX-License-Identifier: BSD-3-Clause
"""What the engine is handed of jobs that wait for others, and what is said of it; and the slow simulator that waits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator.dependent import Dependent, find_dependent
from swftools.simulator.entry_points import simulate
from swftools.simulator.simulation import Simulation
from swftools.simulator.validation.report import validate
from tests.drawn import draw_trace
from tests.examples import examples
from tests.naive.dependencies import eligible, read_nodes
from tests.naive.simulator import Policy, easy, strict
from tests.simulator.twin import naive_runs, naive_starts_of

FOLLOWED = "{} of {} jobs wait for others: they are eligible when these have ended and their think time is over"


def found_of(trace: Trace, *left_out: int, dependencies: str = "follow") -> Dependent:
    """Return what waits for what where some rows of a trace are not simulated."""
    rows = [row for row in range(len(trace)) if row not in left_out]
    return find_dependent(trace, np.array(rows, dtype=np.int32), dependencies)


def edges(found: Dependent) -> list[tuple[int, int, float]]:
    """Return the job before, the job that waits and the think time, of each pair."""
    before = np.repeat(np.arange(len(found.pending)), np.diff(found.first))
    return list(zip(before.tolist(), found.successor.tolist(), found.think_time.tolist(), strict=True))


FORK = """job submit wait run after think
            1    0    5  30   .     .
            2    1    .   .   1     .
            3    2    3  10   1     4
            4    3    1   2   3     1"""


def test_edges() -> None:
    """By the job that is waited for; types are those of the engine."""
    found = found_of(draw_trace(FORK))
    assert edges(found) == [(0, 1, 0.0), (0, 2, 4.0), (2, 3, 1.0)]
    assert (found.pending.tolist(), found.ready.tolist()) == ([0, 1, 1, 1], [0.0] * 4)
    types = [array.dtype for array in found[:5]]
    assert types == [np.int32, np.float64, np.int64, np.int32, np.float64]
    assert found.told == (f"{FOLLOWED.format(3, 4)} (dependencies=follow)",)


def test_jobs_that_are_not_simulated() -> None:
    """They ended at their logged end, or at once where that is not known; both are counted."""
    trace = draw_trace(FORK.replace("2   3     1", "2   2     1"))
    found = found_of(trace, 0, 1)
    assert (edges(found), found.pending.tolist(), found.ready.tolist()) == ([], [0, 0], [39.0, 0.0])
    assert found.told[0].startswith("2 of 2 jobs wait")
    outside = "jobs that others wait for and that are not simulated: "
    assert found.told[1:] == (f"{outside}1 count as ended at their logged end, 1 as ended at once",)
    assert found_of(trace, 0, 1, 2, 3).told == ()


def test_jobs_that_cleaning_put_aside() -> None:
    """They ended at their logged end; of who is not simulated nothing is said."""
    trace = draw_trace("job submit wait run after think\n3 5 9 80 1 4\n4 6 9 1 1 .\n5 7 1 1 . .")
    aside = pd.DataFrame({"line_number": [1], "rule": ["mine"], "reason": ["no"], "text": ["1 0 10 30"]})
    trace = trace.with_jobs(trace.jobs, aside)
    found = found_of(trace)
    assert (found.ready.tolist(), found.pending.tolist()) == ([44.0, 40.0, 0.0], [0, 0, 0])
    outside = "jobs that others wait for and that are not simulated: "
    assert found.told == (
        f"{FOLLOWED.format(2, 3)} (dependencies=follow)",
        f"{outside}2 count as ended at their logged end",
    )
    assert found_of(trace, 0).told[1] == f"{outside}1 count as ended at their logged end"
    assert found_of(trace, 0, 1).told == ()


def test_ends_and_think_times_are_added_as_decimals() -> None:
    """.1 + .2 is .3, as everywhere in a simulation."""
    table = "job submit wait run after think\n1 0 0 0.1 . .\n2 1 0 5 1 0.2"
    assert found_of(draw_trace(table), 0).ready.tolist() == [0.3]


@pytest.mark.parametrize("dependencies", ["follow", "ignore"])
def test_nobody_waits(dependencies: str) -> None:
    """Then there are no rows, and only what means nothing is told."""
    trace = draw_trace("job submit after\n1 0 .\n2 1 .")
    assert all(len(part) == 0 for part in found_of(trace, dependencies=dependencies))
    dummy = found_of(draw_trace("job submit after\n1 0 1\n2 1 1"), dependencies=dependencies)
    assert [len(part) for part in dummy[:5]] == [0] * 5
    assert dummy.told == ("preceding_job_number is 1 in every row, which says nothing: no job waits for it",)


def test_what_is_said() -> None:
    """How many are ignored, or what of it means nothing and why."""
    trace = draw_trace("job submit after\n1 0 3\n2 1 2\n3 1 9\n4 2 1\n5 2 6\n6 2 5")
    left_out = "5 dependencies left out: 1 names the job itself, 1 names a job that is not there, "
    left_out += "1 names a job that is submitted later, 2 lead in a circle"
    assert found_of(trace).told == (f"{FOLLOWED.format(1, 6)} (dependencies=follow)", left_out)
    ignored = found_of(trace, dependencies="ignore")
    assert ignored.told == (
        "1 of 6 jobs depend on another: dependencies (preceding_job_number, think_time) are ignored",
    )
    assert [len(part) for part in ignored[:5]] == [0] * 5
    assert found_of(trace, 3).told == (left_out,)


_jobs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.booleans()), min_size=2, max_size=12)


@given(jobs=_jobs)
def test_twin(jobs: list[tuple[int, int, bool]]) -> None:
    """As plain loops find it, whatever is simulated."""
    trace = Trace.from_columns(
        job_number=np.arange(len(jobs)) + 1,
        submit_time=np.sort([job[0] for job in jobs]),
        wait_time=[place % 3 for place in range(len(jobs))],
        run_time=[place % 5 - 1 for place in range(len(jobs))],
        preceding_job_number=[job[1] or -1 for job in jobs],
        think_time=[place % 4 - 1 for place in range(len(jobs))],
    )
    rows = [row for row, job in enumerate(jobs) if job[2]]
    nodes, _ = read_nodes(trace)
    found = find_dependent(trace, np.array(rows, dtype=np.int64))
    pairs = [(other, node) for node in nodes for other in node.waits_for if {node.row, other.row} <= {*rows}]
    if not any(node.waits_for for node in nodes if node.row in rows):
        assert len(found.pending) == 0
        return
    expected = [(rows.index(other.row), rows.index(node.row), node.think) for other, node in pairs]
    assert sorted(edges(found)) == sorted(expected)
    assert found.pending.tolist() == [sum(job == own for _, own, _ in expected) for job in range(len(rows))]
    alone = [eligible(nodes[row], dict.fromkeys(rows, np.nan)) for row in rows]
    assert np.fmax(found.ready, trace.views.submit_time[rows]).tolist() == alone


CHAIN = """job submit run width request after think
             1    0   100   3     100     .     .
             2   10    50   4      50     .     .
             3   20    10   1      10     2     5"""
MEANWHILE = """job submit run width request after think
                 1    0    10   4      10     .     .
                 2    1    20   4      20     1     5
                 3    2     3   2       3     .     .
                 4    9     6   4       6     .     ."""
TIES = """job submit run width request after think
            1    0    10   4      10     .     .
            3    1     5   4       5     1     .
            2    1     6   4       6     1     .
            4   10     7   4       7     .     ."""


@pytest.mark.parametrize(
    ("table", "policy", "starts"),
    [
        (CHAIN, strict("fcfs"), [0, 100, 155]),
        (CHAIN, easy(), [0, 100, 155]),
        # Job 2 is eligible at 15, when 4, which came behind it, runs: it stands behind 3 and 4.
        (MEANWHILE, strict("fcfs"), [0, 19, 10, 13]),
        (MEANWHILE, easy(), [0, 19, 10, 13]),
        # At 10 three are eligible at once: they stand in order of submission, then of their numbers.
        (TIES, strict("fcfs"), [0, 16, 10, 21]),
    ],
    ids=["chain", "chain, easy", "queue", "queue, easy", "ties"],
)
def test_the_slow_simulator_waits(table: str, policy: Policy, starts: list[float]) -> None:
    """Starts by hand; and the check of schedules finds nothing wrong, unless a job starts a second earlier."""
    trace = draw_trace(table, processors=4)
    work, jobs, _ = naive_runs(trace, policy, dependencies="follow")
    by_row = dict(zip(work.coming.row.tolist(), [job.start for job in jobs], strict=True))
    assert [by_row[row] for row in range(len(trace))] == starts
    made = pd.DataFrame({"job_number": trace.jobs["job_number"], "start_time": starts})
    report = validate(made, trace=trace, policy="easy", semantics="instant", dependencies="follow")
    assert report.ok, str(report)
    waits = trace.jobs["preceding_job_number"].notna().to_numpy()
    early = made.assign(start_time=made["start_time"] - 10 * waits)
    broken = validate(early, trace=trace, dependencies="follow").violations
    assert "dependencies" in set(broken["rule"])


@pytest.mark.parametrize(("until", "count"), [(1000.0, 3), (20.0, 2)])
def test_columns_of_schedules(until: float, count: int) -> None:
    """When each job was eligible stands beside its start, in the order of the trace; else there are no columns."""
    table = "job submit run width request after think\n3 5 10 4 10 . .\n1 0 10 1 10 . .\n2 2 3 1 3 1 1.5"
    trace = draw_trace(table, processors=4)
    assert not {"ready_time", "ready_wait"} & {*simulate(trace, "fcfs", dependencies="ignore").jobs.columns}
    jobs = Simulation(trace, "fcfs").run(until).schedule().jobs
    assert len(jobs) == count
    told = {1: (0.0, 0.0, 0.0), 2: (11.5, 20.0, 8.5), 3: (5.0, 10.0, 5.0)}
    if count == 2:
        told = {number: told[number] for number in (1, 3)}
    columns = jobs[["ready_time", "start_time", "ready_wait"]].itertuples(index=False, name=None)
    assert dict(zip(jobs["job_number"].tolist(), columns, strict=True)) == told


_crowd = st.tuples(st.integers(0, 9), st.integers(1, 6), st.integers(1, 4), st.integers(0, 12), st.integers(0, 3))


@examples(0.5)
@given(jobs=st.lists(_crowd, min_size=2, max_size=14), name=st.sampled_from(["fcfs", "easy"]))
def test_engine_and_slow_simulator(jobs: list[tuple[int, int, int, int, int]], name: str) -> None:
    """The same starts, whatever waits for what; and the check of schedules finds nothing wrong."""
    submit, run, width, before, think = (list(column) for column in zip(*jobs, strict=True))
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=np.arange(len(jobs)) + 1,
        submit_time=np.sort(submit),
        run_time=run,
        requested_time=[time + place % 3 for place, time in enumerate(run)],
        requested_processors=width,
        preceding_job_number=[number or -1 for number in before],
        think_time=think,
    )
    schedule = simulate(trace, name)
    work, slow, _ = naive_runs(trace, strict("fcfs") if name == "fcfs" else easy(), dependencies="follow")
    assert schedule.jobs["start_time"].tolist() == naive_starts_of(work, slow)
    if "ready_time" in schedule.jobs:
        assert schedule.jobs["ready_time"].tolist() == [job.ready() for job in slow]
    report = validate(schedule, trace=trace)
    assert report.ok, str(report)
