"""The promises of PV-EASY: kept by its schedules, whatever is predicted, and broken by others and by changed ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swftools
from swftools import Trace
from swftools.simulator import find_policy, measure, simulate, validate
from swftools.simulator.schedule import Schedule
from tests.drawn import draw_schedule
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


@settings(max_examples=150)
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


def test_a_policy_text_says_what_is_promised() -> None:
    """Of a schedule from elsewhere."""
    checked = validate(draw_schedule(DRAWN), policy="pv-easy:slp=false").checked
    assert "strict-fairness" not in checked
    assert "no-idle-processors" in checked


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
