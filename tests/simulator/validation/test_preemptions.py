# SPDX-License-Identifier: BSD-3-Clause
"""The promises of PV-EASY: kept by its schedules, whatever is predicted, and broken by others and by changed ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swftools
from swftools import Trace
from swftools.simulator import find_heads, find_policy, measure, simulate, validate
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.preemptions import find_idle_processors, find_unfair_delays
from swftools.simulator.validation.runs import read_runs
from tests.drawn import draw_schedule
from tests.examples import examples
from tests.strategies import crowded_trace, workloads

PROMISES = {"strict-fairness", "no-idle-processors", "no-stop-in-vain"}


def broken(schedule: Schedule, **options: Any) -> dict[str, int]:
    """Return how often each rule is broken."""
    violations = validate(schedule, **options).violations
    return dict(zip(violations["rule"], violations["count"], strict=True))


def test_what_it_promises_depends_on_its_parameters() -> None:
    """In another order, or without a half, less."""
    policy = find_policy("pv-easy")
    assert set(policy.promised({})) == PROMISES
    assert set(policy.promised({"slp": False})) == PROMISES - {"strict-fairness"}
    assert set(policy.promised({"venture": False})) == PROMISES - {"no-idle-processors"}
    assert set(policy.promised({"order": "lxf"})) == {"no-idle-processors"}


@examples(0.4)
@given(
    trace=workloads(),
    predictor=st.sampled_from(["request", "exact", "last-model", "virtual:error=0.9"]),
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
    parameters=st.fixed_dictionaries(
        {
            "slp": st.booleans(),
            "venture": st.booleans(),
            "order": st.sampled_from(["fcfs", "fcfs", "widest", "lxf"]),
            "victims": st.sampled_from(["lowest", "spare-needless"]),
            "preemption": st.sampled_from(["kill", "suspend"]),
        }
    ),
)
def test_they_are_kept(trace: Trace, predictor: str, overrun: str, parameters: dict[str, Any]) -> None:
    """On small crowds."""
    schedule = simulate(trace, "pv-easy", predictor=predictor, overrun=overrun, **parameters)
    report = validate(schedule, trace=trace)
    assert report.ok, report
    assert set(find_policy("pv-easy").promised(parameters)) <= set(report.checked)


@pytest.mark.parametrize("seed", range(5))
def test_they_are_kept_on_a_busy_machine(seed: int) -> None:
    """Where many are stopped; and what EASY does there breaks two of them."""
    trace = crowded_trace(400, seed=seed)
    schedule = simulate(trace, "pv-easy", predictor="last-model")
    report = validate(schedule, trace=trace)
    assert report.ok, report
    assert schedule.jobs["preemptions"].sum() > 20
    told = measure(schedule).set_index(["measure", "statistic"])["value"]
    assert told["head_delay", "count"] == told["reservation_violation", "count"] == 0
    assert told["is_blocked", "count"] > 20
    easy = broken(simulate(trace, "easy", predictor="last-model"), policy="pv-easy")
    assert set(easy) == {"strict-fairness", "no-idle-processors"}
    assert easy["strict-fairness"] >= 5


DRAWN = """
job submit width run request start backfilled
1   0      3     10  10      0     0
2   1      2     5   5       10    0
3   2      1     4   4       2     1
"""


def test_each_is_broken_where_it_should_be() -> None:
    """A head that starts late for one behind it; a job that waits beside free processors; the same, in time."""
    assert not broken(draw_schedule(DRAWN), policy="pv-easy")
    late = draw_schedule(
        DRAWN.replace("3   2      1     4   4       2 ", "3   2      4     9   9       10").replace(
            "5       10", "5       19"
        )
    )
    found = validate(late, policy="pv-easy").violations
    assert found["rule"].tolist() == ["no-idle-processors", "strict-fairness"] or set(found["rule"]) >= {
        "strict-fairness"
    }
    assert "job 2 starts at 19 s; as the first waiting job it would have at 10 s" in " ".join(found["message"])
    idle = draw_schedule(DRAWN.replace("4       2 ", "4       7 "))
    found = validate(idle, policy="pv-easy").violations
    assert found["message"].tolist() == ["job 3 starts at 7 s; it waits, and fits, from 2 s on"]
    assert broken(idle, policy="pv-easy:venture=false") == {}


def test_who_went_ahead_of_another_head_counts_too() -> None:
    """4 goes ahead of 2; that it still runs when 3 is the head is not its right: alone 3 would start at 8 s."""
    schedule = draw_schedule("""
    job submit width run request start backfilled
    1   0      3     5   5       0     0
    2   1      3     3   3       5     0
    3   1      4     2   2       12    0
    4   2      1     10  10      2     1
    """)
    found = validate(schedule, policy="pv-easy").violations
    assert found["rule"].tolist() == ["strict-fairness"]
    assert found["message"].tolist() == [
        "job 3 starts at 12 s; as the first waiting job it would have at 8 s without those of lower priority"
    ]


@examples(0.4)
@given(
    trace=workloads(max_jobs=20),
    policy=st.sampled_from(["easy", "pv-easy", "sjf", "conservative", "pv-easy:order=widest", "fcfs"]),
    predictor=st.sampled_from(["request", "last-model", "virtual:error=0.9"]),
)
def test_delays_of_heads_are_those_that_are_measured(trace: Trace, policy: str, predictor: str) -> None:
    """Two ways of one meaning, written apart: this one and ``find_heads``."""
    schedule = simulate(trace, policy, predictor=predictor)
    heads = find_heads(schedule)
    late = heads[heads["start_time"] > heads["start_alone"] + 1e-6]
    of_jobs, of_runs, _ = read_runs(schedule)
    found = find_unfair_delays(of_jobs, of_runs, schedule.processors, 1e-6)
    keys = list(zip(of_jobs.number[found.job], of_jobs.occurrence[found.job], found.latest, strict=True))
    measured = zip(late["job_number"], late["job_occurrence"], late["start_alone"], strict=True)
    assert sorted(keys) == sorted(measured)
    assert found.made == len(heads)


def test_a_stop_for_nobody_is_found() -> None:
    """The job that it was for starts a second later; or is one of lower priority."""
    trace = crowded_trace(120, seed=3)
    schedule = simulate(trace, "pv-easy", predictor="last-model")
    segments = schedule.segments
    run = np.flatnonzero(segments["ended_by"] == "killed")[0]
    earlier = segments.copy()
    earlier.loc[run, "end_time"] -= 0.5
    for name in ("work", "lost_work"):
        earlier.loc[run, name] -= 0.5
    found = validate(replace(schedule, segments=earlier)).violations
    assert "no-stop-in-vain" in set(found["rule"])
    number = segments.loc[run, "job_number"]
    assert f"job {number} starts at" in found.loc[found["rule"] == "no-stop-in-vain", "message"].iloc[0]


def test_a_stop_for_one_of_lower_priority_is_found() -> None:
    """3 starts in the place of 2, which was submitted before it."""
    schedule = draw_schedule("""
    job submit width request runs
    1   0      2     9       0-9
    2   1      2     9       1-5,9-18
    3   2      2     4       5-9
    """)
    found = validate(schedule, policy="pv-easy").violations.set_index("rule")["message"]
    said = "job 2 starts at 9 s; it is stopped at 5 s, when none of higher priority starts for good"
    assert found["no-stop-in-vain"] == said
    assert set(found.index) == {"strict-fairness", "no-stop-in-vain"}


def test_a_stop_for_one_that_is_stopped_itself_is_found() -> None:
    """3 is stopped for 2, which is stopped for 3."""
    schedule = draw_schedule("""
    job submit width request runs
    1   0      2     11      0-11
    2   1      2     9       5-7,11-20
    3   2      2     4       2-5,7-11
    """)
    found = validate(schedule, policy="pv-easy").violations
    assert sorted(found.loc[found["rule"] == "no-stop-in-vain", "job_number"]) == [2, 3]


@examples(1)
@given(
    jobs=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 20), st.integers(1, 4), st.integers(0, 9)), min_size=1, max_size=9
    )
)
def test_idle_processors_are_those_that_one_finds_step_by_step(jobs: list[tuple[int, int, int, int]]) -> None:
    """Of schedules by lot, possible or not: the first second at which a job that waits fits, for each job."""
    lines = [f"{submit} {width} {run} {run} {submit + wait}" for submit, wait, width, run in jobs]
    table = ["submit width run request start", *lines]
    schedule = draw_schedule("\n".join(f"{place or 'job'} {line}" for place, line in enumerate(table)))
    runs = [(submit + wait, submit + wait + run, width) for submit, wait, width, run in jobs]

    def free(second: int) -> int:
        return 4 - sum(width for start, end, width in runs if start <= second < end)

    expected = {
        place: next((s for s in range(submit, submit + wait) if free(s) >= width), None)
        for place, (submit, wait, width, _) in enumerate(jobs)
    }
    of_jobs, of_runs, _ = read_runs(schedule)
    found = find_idle_processors(of_jobs, of_runs, 4, 1e-6)
    assert dict(zip(found.job.tolist(), found.latest.tolist(), strict=True)) == {
        place: second for place, second in expected.items() if second is not None
    }


stretches = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=3)


@examples(1)
@given(jobs=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4), stretches), min_size=1, max_size=5))
def test_idle_processors_of_stopped_jobs_are_found_step_by_step(
    jobs: list[tuple[int, int, list[tuple[int, int]]]],
) -> None:
    """A job waits before its first run and between its runs; while it runs it may leave any number idle."""
    runs, waits = [], {}
    for job, (submit, width, parts) in enumerate(jobs):
        waits[job], since = [], submit
        for wait, run in parts:
            waits[job] += range(since, since + wait)
            runs.append((job, since + wait, since + wait + run, width))
            since += wait + run
    shown = [",".join(f"{start}-{end}" for of, start, end, _ in runs if of == job) for job in waits]
    lines = [f"{submit} {width} 1 {text}" for (submit, width, _), text in zip(jobs, shown, strict=True)]
    schedule = draw_schedule("\n".join(["submit width request runs", *lines]))

    def free(second: int) -> int:
        return 4 - sum(width for _, start, end, width in runs if start <= second < end)

    found = find_idle_processors(*read_runs(schedule)[:2], 4, 1e-6)
    expected = {job: next((s for s in waits[job] if free(s) >= jobs[job][1]), None) for job in waits}
    assert dict(zip(found.job.tolist(), found.latest.tolist(), strict=True)) == {
        job: second for job, second in expected.items() if second is not None
    }


def test_a_policy_text_says_what_is_promised() -> None:
    """Of a schedule from elsewhere."""
    checked = validate(draw_schedule(DRAWN), policy="pv-easy:slp=false").checked
    assert "strict-fairness" not in checked
    assert "no-idle-processors" in checked
    ours = simulate(crowded_trace(40), "pv-easy")
    assert "no-idle-processors" in validate(ours).checked
    assert "no-idle-processors" not in validate(ours, policy="pv-easy:venture=false").checked


def test_a_table_of_starts_does_not_tell_of_stops() -> None:
    """Our own table says how often jobs were stopped, and has one run of each: nothing is made of that."""
    trace = crowded_trace(120, seed=3)
    schedule = simulate(trace, "pv-easy", predictor="last-model")
    report = validate(schedule.jobs, trace=trace, policy="pv-easy", overrun="run-on")
    assert report.ok, report
    assert "promises not checked: jobs were stopped, of whose runs a table of starts has the last only" in report.notes
    never = simulate(trace, "pv-easy", slp=False, venture=False)
    assert "strict-fairness" in validate(never.jobs, trace=trace, policy="pv-easy").checked


LOGS = {"CTC-SP2-1996-3.1-cln": 430, "KTH-SP2-1996-2.1-cln": 100, "SDSC-SP2-1998-4.2-cln": 128}
LOGS |= {"SDSC-BLUE-2000-4.2-cln": 1152, "SDSC-DS-2004-2.1-cln": 1664}


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS)
def test_whole_logs(log: str, shared: Path) -> None:
    """No violation on five logs, and thousands by EASY."""
    trace, _ = swftools.clean(swftools.read_swf(shared / "traces" / f"{log}.swf.gz"))
    schedule = simulate(trace, "pv-easy", LOGS[log], predictor="last-model")
    assert validate(schedule, trace=trace).ok
    assert broken(simulate(trace, "easy", LOGS[log], predictor="last-model"), policy="pv-easy")["strict-fairness"] > 500
