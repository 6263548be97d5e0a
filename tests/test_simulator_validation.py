"""The validator: each rule and promise is broken on purpose, and what the engine makes passes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swftools import Trace, read_swf
from swftools.errors import ParameterError, UnreadableLogError
from swftools.simulator.schedule import Schedule
from swftools.simulator.simulation import simulate
from swftools.simulator.validation import promises, reservations
from swftools.simulator.validation.foreign_schedules import read_schedule, schedule_from_table
from swftools.simulator.validation.promises import find_broken_reservations, find_delayed_heads, processors_in_use
from swftools.simulator.validation.report import EXAMPLES, PROMISES, validate
from swftools.simulator.validation.reservations import Manner, Starts
from swftools.simulator.validation.rules import RULES

POLICIES = [*PROMISES]


def drawn(table: str, processors: int = 4, policy: str = "", semantics: str | None = "instant") -> Schedule:
    """Return a schedule drawn as lines of submit, width, run, request, start; jobs are numbered from 1."""
    rows = np.array([[float(cell) for cell in line.split()] for line in table.strip().splitlines()])
    submit, width, run, request, start = rows.reshape(-1, 5).T
    number = np.arange(1, len(rows) + 1)
    trace = Trace.from_columns(
        job_number=number,
        submit_time=submit,
        run_time=run,
        requested_time=request,
        requested_processors=width.astype(int),
    )
    starts = pd.DataFrame({"job_number": number, "start_time": start})
    return schedule_from_table(starts, trace, processors, policy=policy, semantics=semantics, overrun="run-on")


def broken(schedule: Schedule, **options: Any) -> dict[str, list[int]]:
    """Return the rules that a schedule breaks, with the jobs that are shown."""
    found = validate(schedule, **options).violations
    return {rule: rows["job_number"].fillna(-1).tolist() for rule, rows in found.groupby("rule", sort=False)}


SOUND = """
0 3 10 10 0
1 2 5 5 10
2 1 4 4 2
"""


def sound() -> Schedule:
    """Return a schedule without fault, of three jobs, the last of which goes ahead."""
    schedule = drawn(SOUND)
    return replace(schedule, jobs=schedule.jobs.assign(is_backfilled=[False, False, True]))


def with_job(row: int, **values: Any) -> Callable[[Schedule], Schedule]:
    """Return what changes a row of the jobs."""

    def change(schedule: Schedule) -> Schedule:
        jobs = schedule.jobs.copy()
        for name, value in values.items():
            jobs.loc[row, name] = value
        return replace(schedule, jobs=jobs)

    return change


def with_run(row: int, **values: Any) -> Callable[[Schedule], Schedule]:
    """Return what changes a row of the segments; they are in order of start."""

    def change(schedule: Schedule) -> Schedule:
        segments = schedule.segments.copy()
        for name, value in values.items():
            segments.loc[row, name] = value
        return replace(schedule, segments=segments)

    return change


def with_more_runs(**runs: list[Any]) -> Callable[[Schedule], Schedule]:
    """Return what adds segments."""

    def change(schedule: Schedule) -> Schedule:
        more = pd.DataFrame({"job_occurrence": 0, **runs})
        return replace(schedule, segments=pd.concat([schedule.segments, more], ignore_index=True))

    return change


def moved(number: int, start: float, schedule: Schedule) -> Schedule:
    """Return a schedule with the only run of a job at another time, and all columns consistent."""
    jobs, segments = schedule.jobs.copy(), schedule.segments.copy()
    row, run = jobs["job_number"] == number, segments["job_number"] == number
    end = start + jobs.loc[row, "run_time"].iloc[0]
    jobs.loc[row, ["start_time", "end_time", "wait_time"]] = [start, end, start - jobs.loc[row, "submit_time"].iloc[0]]
    segments.loc[run, ["start_time", "end_time"]] = [start, end]
    return replace(schedule, jobs=jobs.drop(columns="is_backfilled", errors="ignore"), segments=segments)


def test_sound_schedule_passes() -> None:
    """A schedule without fault is valid, and the report says what was checked."""
    report = validate(sound())
    assert report.ok
    assert report.violations.empty
    assert [rule for rule in RULES if rule != "trace"] == list(report.checked)
    assert "3 jobs on 4 processors: valid" in str(report)


def test_schedule_without_jobs_passes() -> None:
    """No jobs are nothing wrong, under any policy."""
    trace = Trace.from_columns(machine_processors=4)
    for policy in POLICIES:
        report = validate(simulate(trace, policy), trace=trace)
        assert report.ok
        assert set(PROMISES[policy]) <= set(report.checked)
    assert validate(pd.DataFrame({"job_number": [], "start": []}), trace=trace).ok


CHANGES: dict[str, tuple[Callable[[Schedule], Schedule], dict[str, list[int]]]] = {
    "missing wait": (with_job(1, wait_time=np.nan), {"values": [2]}),
    "negative count": (with_job(1, preemptions=-1), {"values": [2]}),
    "endless estimate": (with_job(0, estimated_time=np.inf), {"values": [1]}),
    "missing run": (with_run(2, end_time=np.nan), {"values": [2], "once": [2]}),
    "never run": (lambda s: replace(s, segments=s.segments.iloc[:2]), {"once": [2]}),
    "run twice": (
        with_more_runs(
            job_number=[3], start_time=[50.0], end_time=[54.0], allocated_processors=[1], is_preempted=[False]
        ),
        {"once": [3], "columns": [3, 3]},
    ),
    "run of no job": (
        with_more_runs(
            job_number=[9], start_time=[50.0], end_time=[54.0], allocated_processors=[1], is_preempted=[True]
        ),
        {"once": [-1]},
    ),
    "two rows": (
        lambda s: replace(s, jobs=pd.concat([s.jobs, s.jobs.iloc[[0]]], ignore_index=True)),
        {"once": [1]},
    ),
    "before submission": (lambda s: moved(3, 1.0, s), {"submission": [3]}),
    "longer": (
        lambda s: with_run(2, end_time=16.0)(with_job(1, end_time=16.0)(s)),
        {"run-time": [2]},
    ),
    "shorter": (
        lambda s: with_run(2, end_time=14.0)(with_job(1, end_time=14.0)(s)),
        {"run-time": [2]},
    ),
    "backwards": (
        lambda s: with_run(2, end_time=5.0)(with_job(1, end_time=5.0, run_time=0.0)(s)),
        {"run-time": [2]},
    ),
    "preempted backwards": (
        lambda s: with_more_runs(
            job_number=[2], start_time=[25.0], end_time=[24.0], allocated_processors=[2], is_preempted=[True]
        )(with_job(1, preemptions=1)(s)),
        {"run-time": [2]},
    ),
    "preempted too late": (
        lambda s: with_more_runs(
            job_number=[2], start_time=[20.0], end_time=[26.0], allocated_processors=[2], is_preempted=[True]
        )(with_job(1, preemptions=1)(s)),
        {"run-time": [2]},
    ),
    "overlap": (
        lambda s: with_more_runs(
            job_number=[2], start_time=[12.0], end_time=[13.0], allocated_processors=[2], is_preempted=[True]
        )(with_job(1, preemptions=1)(s)),
        {"overlap": [2]},
    ),
    "narrower run": (with_run(1, allocated_processors=0), {"width": [3]}),
    "wider run": (with_run(2, allocated_processors=3), {"width": [2]}),
    "wider than the machine": (
        lambda s: with_run(2, allocated_processors=5)(with_job(1, allocated_processors=5)(s)),
        {"width": [2], "capacity": [2]},
    ),
    "too many at once": (lambda s: moved(2, 3.0, s), {"capacity": [2, 2]}),
    "too many for a second": (lambda s: moved(2, 9.0, s), {"capacity": [2]}),
    "other wait": (with_job(1, wait_time=8.0), {"columns": [2]}),
    "other start": (with_job(1, start_time=11.0, wait_time=10.0), {"columns": [2]}),
    "other end": (with_job(1, end_time=16.0), {"columns": [2]}),
    "never preempted": (with_job(1, preemptions=1), {"columns": [2]}),
    "not backfilled": (with_job(1, is_backfilled=True), {"columns": [2]}),
    "backfilled": (with_job(2, is_backfilled=False), {"columns": [3]}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_rule_is_broken(name: str) -> None:
    """A fault is found by its rule, at its job, and by no other rule."""
    change, expected = CHANGES[name]
    assert expected == broken(change(sound()))


def test_preempted_job_passes() -> None:
    """A job that was stopped, and began anew, is as it should be; its promises are not checked."""
    more = with_more_runs(
        job_number=[2], start_time=[6.0], end_time=[8.0], allocated_processors=[1], is_preempted=[True]
    )
    width = with_job(1, preemptions=1, allocated_processors=1)
    schedule = with_run(2, allocated_processors=1)(width(more(sound())))
    report = validate(schedule, policy="easy")
    assert report.ok
    assert ("not checked against a trace: none is given", "promises not checked: jobs were preempted") == report.notes


def test_ends_come_before_starts() -> None:
    """A job may start where another ends, and runs of no length take nothing."""
    assert {} == broken(drawn("0 4 5 5 0\n0 4 5 5 5\n1 4 0 5 3"))


def test_capacity_at_an_instant() -> None:
    """The report names the instant, how many processors were in use, and by whom."""
    report = validate(drawn("0 3 10 10 0\n0 2 10 10 4\n0 1 1 1 20"))
    row = report.violations.iloc[0]
    assert ("capacity", 4.0, 2, 1) == (row["rule"], row["time"], row["job_number"], row["count"])
    assert "5 of 4 processors in use from 4 s on, by jobs 1, 2" in str(report)


def test_first_violations_are_shown() -> None:
    """Of many violations the first by time are shown, and all are counted."""
    lines = "\n".join(f"{20 - i} 1 1 1 {19 - i}" for i in range(20))
    found = validate(drawn(lines)).violations
    assert [0.0, 1.0, 2.0, 3.0, 4.0] == found["time"].tolist()
    assert {20} == set(found["count"])
    assert len(found) == EXAMPLES


# ---------------------------------------------------------------- against the trace


def traced() -> tuple[Schedule, Trace]:
    """Return the sound schedule and its trace, in which one more job has no width."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3, 4],
        submit_time=[0, 1, 2, 3],
        run_time=[10, 5, 4, 1],
        requested_time=[10, 5, 4, 1],
        requested_processors=[3, 2, 1, -1],
    )
    return simulate(trace, "easy"), trace


TRACE_CHANGES: dict[str, tuple[Callable[[Schedule], Schedule], list[int]]] = {
    "job lost": (
        lambda s: replace(s, jobs=s.jobs.iloc[:2], segments=s.segments[s.segments["job_number"] != 3]),
        [3],
    ),
    "exclusion lost": (lambda s: replace(s, excluded=s.excluded.iloc[:0]), [4]),
    "excluded, too": (lambda s: replace(s, excluded=s.excluded.assign(job_number=[3])), [3, 4]),
    "excluded, unknown": (
        lambda s: replace(s, excluded=pd.concat([s.excluded, s.excluded.assign(job_number=[9])])),
        [9],
    ),
    "unknown": (
        lambda s: replace(
            s, jobs=s.jobs.replace({"job_number": {3: 7}}), segments=s.segments.replace({"job_number": {3: 7}})
        ),
        [7, 3],
    ),
    "earlier submission": (with_job(1, submit_time=0.0, wait_time=10.0), [2]),
    "narrower": (lambda s: with_run(2, allocated_processors=1)(with_job(1, allocated_processors=1)(s)), [2]),
    "shorter": (lambda s: with_run(2, end_time=14.0)(with_job(1, end_time=14.0, run_time=4.0)(s)), [2]),
}


@pytest.mark.parametrize("name", TRACE_CHANGES)
def test_trace_rule_is_broken(name: str) -> None:
    """What differs from the trace is found, at its job."""
    change, jobs = TRACE_CHANGES[name]
    schedule, trace = traced()
    assert {} == broken(schedule, trace=trace)
    found = broken(change(schedule), trace=trace, policy="")
    assert {"trace"} == set(found)
    assert sorted(jobs) == sorted(found["trace"])


@pytest.mark.parametrize("semantics", ["instant", "pyss"])
@pytest.mark.parametrize("overrun", ["extend", "kill"])
@pytest.mark.parametrize("cancelled", ["drop", "end-at-once", "full-request"])
def test_options_of_the_simulation_are_known(semantics: str, overrun: str, cancelled: str) -> None:
    """Run times that options change are held against the trace as changed."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3, 4],
        submit_time=[0, 1, 2, 3],
        run_time=[10, -1, 0, 7],
        requested_time=[5, 6, 4, 9],
        requested_processors=[3, 2, 1, 4],
    )
    schedule = simulate(trace, "easy", overrun=overrun, cancelled=cancelled, semantics=semantics)
    assert {} == broken(schedule, trace=trace)


# ---------------------------------------------------------------- promises


def test_fcfs_starts_in_order() -> None:
    """A job that starts before one submitted earlier breaks the order; equal submissions go by job number."""
    assert {} == broken(drawn("0 4 9 9 0\n0 4 9 9 9\n0 1 1 1 18", policy="fcfs"))
    assert {"order": [3]} == broken(drawn("0 4 9 9 0\n0 4 9 9 10\n0 4 1 1 9", policy="fcfs", processors=4))


def test_first_waiting_job_does_not_idle() -> None:
    """The first waiting job waits for processors only, under policies that promise so."""
    table = "0 3 10 10 0\n0 2 5 5 11"
    assert {"no-idle-head": [2]} == broken(drawn(table, policy="fcfs"))
    row = validate(drawn(table, policy="fcfs")).violations.iloc[0]
    assert 10.0 == row["time"]
    assert {} == broken(drawn("0 3 10 10 0\n0 2 5 5 10", policy="fcfs"))
    assert {} == broken(drawn("0 3 10 10 0\n0 2 5 5 11", policy=""))


DELAYED = """
0 3 10 10 0
1 4 5 5 12
2 1 10 10 2
"""


@pytest.mark.parametrize("policy", ["easy", "sjf-backfill"])
def test_head_is_not_delayed(policy: str) -> None:
    """A job that goes ahead and outlasts the head's reservation breaks it; one that is done by then does not."""
    assert {"head-reservation": [2], "backfilling": [2]} == broken(drawn(DELAYED, policy=policy))
    assert 10.0 == validate(drawn(DELAYED, policy=policy)).violations["time"].iloc[0]
    assert {} == broken(drawn("0 3 10 10 0\n1 4 5 5 10\n2 1 8 8 2", policy=policy))
    assert {} == broken(drawn("0 3 10 10 0\n1 3 5 5 10\n2 1 10 10 2", policy=policy))


def test_overtaking_at_the_very_instant_is_seen() -> None:
    """A job that starts at the instant at which the head is blocked may not delay it, if it is known to be later.

    Two jobs are submitted at 1 s: with one decision an instant the third goes ahead wrongly; if it is decided after
    each event, the schedule does not say what ran before.
    """
    table = "0 3 10 10 0\n1 4 5 5 11\n1 1 10 10 1"
    assert {"head-reservation": [2]} == broken(drawn(table, policy="easy"))
    assert {} == broken(drawn(table, policy="easy", semantics="pyss"))
    assert {} == broken(drawn(table, policy="easy", semantics=None))


def test_an_early_end_brings_the_reservation_forward() -> None:
    """Later overtaking is held against the reservation of that moment: the first promise is kept, the second is not."""
    table = "0 2 10 10 0\n0 2 4 20 0\n1 4 5 5 16\n6 2 10 10 6"
    assert {"backfilling": [3]} == broken(drawn(table, policy="easy"))


def test_the_request_is_what_is_promised_by() -> None:
    """The reservation counts on requests, not on run times."""
    assert {} == broken(drawn("0 3 10 20 0\n1 4 5 5 14\n2 1 12 12 2", policy="easy"))


def test_a_job_that_outlives_its_estimate_excuses() -> None:
    """What a job that runs longer than estimated delays is no broken promise."""
    report = validate(drawn("0 3 15 10 0\n1 4 5 5 15\n2 1 5 5 2", policy="easy"))
    assert report.ok
    assert "head-reservation: 1 promises, 1 excused: a job outlived its estimate" in report.notes
    report = validate(drawn("0 3 15 10 0\n1 4 5 5 15\n2 1 5 5 20", policy="conservative"))
    assert report.ok
    assert "reservation: 3 promises, 2 excused: a job outlived its estimate" in report.notes


CONSERVATIVE = """
0 3 10 10 0
1 4 5 5 10
2 2 5 5 15
3 1 {} {} {}
"""


@pytest.mark.parametrize("policy", ["conservative", "conservative-fixed", "conservative-replanned"])
def test_no_reservation_is_broken(policy: str) -> None:
    """A job starts no later than promised at its submission, under all semantics."""
    for semantics in ("instant", "pyss", None):
        keeps = drawn(CONSERVATIVE.format(7, 7, 3), policy=policy, semantics=semantics)
        assert {} == broken(keeps)
        late = drawn(CONSERVATIVE.format(7, 7, 20), policy=policy, semantics=semantics)
        assert {"reservation": [4]} == broken(late)
        assert 3.0 == validate(late).violations["time"].iloc[0]
        behind = drawn(CONSERVATIVE.format(8, 8, 15), policy=policy, semantics=semantics)
        assert {} == broken(behind)


def test_an_early_end_frees_reservations() -> None:
    """With compression a later job is promised what an early end left over; without, it is not."""
    table = "0 4 5 10 0\n1 3 5 5 5\n6 2 5 5 {}"
    assert {} == broken(drawn(table.format(10), policy="conservative"))
    assert {"reservation": [3]} == broken(drawn(table.format(12), policy="conservative"))
    late = drawn("0 4 5 10 0\n1 3 5 5 10\n6 2 9 9 15", policy="conservative-fixed")
    assert {} == broken(late)


def test_what_cannot_be_checked_is_said() -> None:
    """A report says why promises were not checked."""
    table = "0 3 5 10 0\n1 4 5 5 10"
    for policy, note in {
        "": "promises not checked: the policy is not known",
        "mine": "promises not checked: none is known of policy 'mine'",
        "conservative": "promises not checked: those of conservative depend on the semantics; pass semantics=",
        "conservative-replanned": "promises not checked: conservative-replanned keeps reservations only with exact "
        "estimates",
    }.items():
        report = validate(drawn(table, policy=policy, semantics=None))
        assert report.ok
        assert note in report.notes
    assert "promises not checked: the rules above are broken" in validate(CHANGES["longer"][0](sound())).notes


# ---------------------------------------------------------------- schedules of the engine


@st.composite
def workloads(draw: st.DrawFn, exact: bool = False) -> Trace:
    """Draw a trace that loads a machine of 1 to 8 processors; many jobs come, end, or run for no time, at once."""
    size = draw(st.integers(1, 8))
    count = draw(st.integers(0, 20))

    def numbers(least: int, most: int) -> list[int]:
        return draw(st.lists(st.integers(least, most), min_size=count, max_size=count))

    run, more = np.array(numbers(0, 12)), np.array(numbers(0, 8))
    return Trace.from_columns(
        machine_processors=size,
        job_number=draw(st.permutations(range(1, count + 1))),
        submit_time=np.sort(numbers(0, 40)),
        run_time=run,
        requested_time=run if exact else run + more * draw(st.sampled_from([1, 10])),
        requested_processors=numbers(1, size),
    )


@pytest.mark.parametrize("policy", POLICIES)
@given(trace=workloads())
@settings(max_examples=50)
def test_schedules_of_the_engine_pass(policy: str, trace: Trace) -> None:
    """Whatever the engine makes of a trace is valid, and its policy keeps its promises."""
    report = validate(simulate(trace, policy), trace=trace)
    assert report.ok, str(report)


@pytest.mark.parametrize("policy", ["conservative-replanned", "easy"])
@given(trace=workloads(exact=True))
@settings(max_examples=20)
def test_schedules_with_exact_estimates_pass(policy: str, trace: Trace) -> None:
    """With exact estimates the replanned reservations are kept, too, also under the semantics of CQSim."""
    for semantics in ("instant", "cqsim"):
        schedule = simulate(trace, policy, predictor="exact", semantics=semantics)
        report = validate(schedule, trace=trace)
        assert report.ok, str(report)
        assert set(PROMISES[policy]) <= set(report.checked)


@pytest.mark.parametrize("policy", ["fcfs", "easy", "sjf-backfill", "conservative"])
@given(trace=workloads())
@settings(max_examples=20)
def test_schedules_by_the_semantics_of_pyss_pass(policy: str, trace: Trace) -> None:
    """Deciding after every event keeps the promises as well."""
    report = validate(simulate(trace, policy, semantics="pyss"), trace=trace)
    assert report.ok, str(report)


@pytest.mark.parametrize("predictor", ["last-model", "virtual:error=0.5", "factor:factor=2"])
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
@given(trace=workloads())
@settings(max_examples=20)
def test_schedules_by_other_estimates_pass(policy: str, predictor: str, trace: Trace) -> None:
    """Estimates that jobs outlive excuse promises, and break none."""
    report = validate(simulate(trace, policy, predictor=predictor), trace=trace)
    assert report.ok, str(report)


@given(trace=workloads(), pick=st.integers(0, 24), later=st.integers(1, 5))
@settings(max_examples=50)
def test_a_shifted_start_is_found(trace: Trace, pick: int, later: int) -> None:
    """A fcfs schedule, which its promises leave no choice, is not valid if one start is shifted."""
    schedule = simulate(trace, "fcfs")
    if not len(schedule):
        return
    job = schedule.jobs.iloc[pick % len(schedule)]
    for start in (job["start_time"] + later, job["start_time"] - later):
        if start >= 0:
            assert broken(moved(job["job_number"], start, schedule))


@given(trace=workloads(), pick=st.integers(0, 24))
@settings(max_examples=25)
def test_a_wider_job_is_found(trace: Trace, pick: int) -> None:
    """A job with one more processor than the trace says is found."""
    schedule = simulate(trace, "easy")
    if not len(schedule):
        return
    row = pick % len(schedule)
    width = schedule.jobs["allocated_processors"].iloc[row] + 1
    assert "trace" in broken(with_job(row, allocated_processors=width)(schedule), trace=trace)


@pytest.fixture(scope="module")
def shipped(shipped_log: Path) -> Trace:
    """The shipped log."""
    return read_swf(shipped_log)


@pytest.mark.parametrize(
    ("policy", "rules"),
    [
        ("fcfs", {"order", "no-idle-head"}),
        ("easy", {"head-reservation", "backfilling"}),
        ("conservative", {"reservation"}),
    ],
)
def test_shipped_log_keeps_only_its_own_promises(shipped: Trace, policy: str, rules: set[str]) -> None:
    """On a real log each schedule is valid as what it is, and breaks the promises of another policy."""
    assert validate(simulate(shipped, policy), trace=shipped).ok
    other = {"fcfs": "conservative", "easy": "conservative", "conservative": "easy"}[policy]
    assert rules <= set(broken(simulate(shipped, other), policy=policy))


def test_faults_in_the_shipped_log_are_found(shipped: Trace) -> None:
    """A start that is shifted, two that are swapped and a job that is widened are found in a real schedule."""
    schedule = simulate(shipped, "easy")
    waits = schedule.jobs[schedule.jobs["wait_time"] > 1000]
    first, other = waits.iloc[0], waits.iloc[40]
    assert broken(moved(first["job_number"], first["start_time"] - 500, schedule))
    assert broken(moved(first["job_number"], first["submit_time"] - 1, schedule))
    swapped = moved(first["job_number"], other["start_time"], schedule)
    assert broken(moved(other["job_number"], first["start_time"], swapped))
    run = int(np.flatnonzero(schedule.segments["job_number"] == first["job_number"])[0])
    assert {"width": [first["job_number"]]}.items() <= broken(
        with_run(run, allocated_processors=1151)(schedule)
    ).items()


# ---------------------------------------------------------------- slow twins


def starts_of(schedule: Schedule) -> Starts:
    """Return the jobs of a schedule in order of submission."""
    jobs = schedule.jobs.assign(turn=np.arange(len(schedule)))
    runs = schedule.segments.reset_index()[["index", "job_number"]]
    jobs = jobs.merge(runs, on="job_number").sort_values(["submit_time", "job_number"], kind="stable")
    floats = [jobs[name].to_numpy(np.float64) for name in ("submit_time", "start_time", "end_time")]
    width = jobs["allocated_processors"].to_numpy(np.int64)
    return Starts(*floats, width, jobs["estimated_time"].to_numpy(np.float64), jobs["index"].to_numpy(np.int64))


def naive_delayed_heads(starts: Starts, processors: int, one_decision: bool) -> list[int]:
    """Return the jobs that start later than the reservation they got as head, by trying every time."""
    late = []
    jobs = range(len(starts.start_time))
    for head in jobs:
        since = max([starts.submit_time[head], *starts.start_time[:head]])
        if starts.start_time[head] <= since:
            continue
        at_once = any(starts.start_time[j] == since == starts.end_time[j] for j in jobs)
        events = sum(starts.end_time[j] == since for j in jobs) + sum(starts.submit_time[j] == since for j in jobs)
        known = not at_once and (one_decision or events == 1)
        running = [
            j
            for j in jobs
            if (
                starts.start_time[j] < since
                and (starts.end_time[j] > since or (starts.end_time[j] == since and not known))
            )
            or (starts.start_time[j] == since and (j < head or not known))
        ]
        ends = {j: max(since, starts.start_time[j] + starts.estimated_time[j]) for j in running}
        for time in sorted({since, *ends.values()}):
            busy = sum(starts.processors[j] for j in running if ends[j] > time)
            # At the time of the decision itself nobody has gone yet.
            busy = busy if time > since else sum(starts.processors[j] for j in running)
            enough = busy + starts.processors[head] <= processors
            if time == since and not enough:
                busy = sum(starts.processors[j] for j in running if ends[j] > time)
                enough = busy + starts.processors[head] <= processors
            if enough:
                if starts.start_time[head] > time + 1e-6:
                    late.append(head)
                break
    return late


@given(
    trace=workloads(), policy=st.sampled_from(["easy", "conservative", "narrowest", "sjf"]), one_decision=st.booleans()
)
@settings(max_examples=50)
def test_head_reservations_equal_the_slow_twin(trace: Trace, policy: str, one_decision: bool) -> None:
    """The same heads are delayed, in schedules that break the promise often."""
    starts = starts_of(simulate(trace, policy))
    found = find_delayed_heads(starts, trace.processors, 1e-6, one_decision=one_decision, at_every_start=False)
    assert naive_delayed_heads(starts, trace.processors, one_decision) == found.job.tolist()


def naive_promises(starts: Starts, processors: int, compresses: bool) -> list[float]:
    """Return what each job is promised, with a plan that is a list of intervals; no run of no length."""
    jobs = range(len(starts.start_time))
    plan: dict[int, tuple[float, float]] = {}
    promised = [np.nan] * len(starts.start_time)

    def earliest(job: int, now: float) -> tuple[float, float]:
        taken = [(*plan[other], starts.processors[other]) for other in plan if other != job]
        for begin in sorted({now, *(end for _, end, _ in taken if end > now)}):
            end = begin + starts.estimated_time[job]
            times = {begin, *(other for other, _, _ in taken if begin <= other < end)}
            in_use = [sum(width for b, e, width in taken if b <= time < e) for time in times]
            if max(in_use) + starts.processors[job] <= processors:
                return begin, end
        raise AssertionError

    for now in sorted({*starts.submit_time, *starts.start_time, *starts.end_time}):
        ended = [job for job in plan if starts.end_time[job] == now]
        for job in ended:
            del plan[job]
        if ended and compresses:
            for job in sorted(plan):
                if plan[job][0] > now:
                    plan[job] = earliest(job, now)
        for job in jobs:
            if starts.submit_time[job] == now:
                plan[job] = earliest(job, now)
                promised[job] = plan[job][0]
    return promised


@pytest.mark.parametrize("policy", ["conservative", "conservative-fixed"])
@given(trace=workloads())
@settings(max_examples=20)
def test_reservations_equal_the_slow_twin(policy: str, trace: Trace) -> None:
    """Every promise is that of a plan kept as a list of intervals, and it is kept."""
    longer = trace.with_jobs(trace.jobs.assign(run_time=trace.jobs["run_time"] + 1, requested_time=30.0))
    starts = starts_of(simulate(longer, policy))
    manner = Manner(trace.processors, submissions_first=False, compresses=policy == "conservative")
    promised = reservations.promised_starts(starts, manner)
    assert naive_promises(starts, trace.processors, manner.compresses) == promised.tolist()
    assert not len(find_broken_reservations(starts, manner, 1e-6).job)


@given(trace=workloads(), policy=st.sampled_from(["easy", "narrowest"]))
@settings(max_examples=30)
def test_use_of_processors_equals_counting(trace: Trace, policy: str) -> None:
    """At each time, the processors in use are those of the jobs that run."""
    starts = starts_of(simulate(trace, policy))
    times, used = processors_in_use(starts.start_time, starts.end_time, starts.processors)
    counted = [int(starts.processors[(starts.start_time <= t) & (starts.end_time > t)].sum()) for t in times]
    assert counted == used.tolist()


def test_kernels_are_the_same_interpreted(shipped: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled and interpreted, the kernels find the same."""
    few = shipped.with_jobs(shipped.jobs.iloc[:400])
    starts = starts_of(simulate(few, "conservative", 300))
    manners = [Manner(300, first, compresses) for first in (False, True) for compresses in (False, True)]
    compiled = [reservations.promised_starts(starts, manner).tolist() for manner in manners]
    head = find_delayed_heads(starts, 300, 1e-6, one_decision=True, at_every_start=True)
    for module in (promises, reservations):
        for name, value in list(vars(module).items()):
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    assert compiled == [reservations.promised_starts(starts, manner).tolist() for manner in manners]
    again = find_delayed_heads(starts, 300, 1e-6, one_decision=True, at_every_start=True)
    assert head.job.tolist() == again.job.tolist()
    assert head.latest.tolist() == again.latest.tolist()


def test_nothing_of_the_engine_is_imported() -> None:
    """What checks the engine does not use it, nor its interface, profile or policies."""
    folder = Path(promises.__file__).parent
    files = sorted(folder.glob("*.py"))
    assert len(files) > 4
    for path in files:
        used = set(re.findall(r"(?:from|import) swftools\.simulator\.(\w+)", path.read_text(encoding="utf-8")))
        assert used <= {"validation", "schedule"}


# ---------------------------------------------------------------- schedules from elsewhere


def small_trace() -> Trace:
    """Return a trace with a number that occurs twice, and a job that is wider than the machine."""
    return Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 2, 5],
        submit_time=[0, 1, 2, 3],
        run_time=[10, 5, 4, 9],
        requested_time=[8, 5, -1, 9],
        requested_processors=[3, 2, 1, 9],
    )


def test_table_is_checked() -> None:
    """Columns have our names or short ones; jobs that cannot be simulated may be left out."""
    table = pd.DataFrame({"job_id": [2, 1, 2], "start": [10, 0, 2]})
    assert validate(table, trace=small_trace(), policy="easy").ok
    full = pd.DataFrame(
        {
            "job_number": [2, 1, 2],
            "job_occurrence": [1, 0, 0],
            "start_time": [2, 0, 10],
            "end_time": [6, 10, 15],
            "processors": [1, 3, 2],
        }
    )
    report = validate(full, trace=small_trace(), policy="easy")
    assert report.ok
    assert ("easy", 3, 4) == (report.policy, report.jobs, report.processors)


def test_table_that_lacks_a_job_is_not_valid() -> None:
    """A job of the trace that is neither in the table nor impossible is lost."""
    table = pd.DataFrame({"job_id": [1, 2], "start": [0, 10]})
    report = validate(table, trace=small_trace())
    assert ["trace"] == report.violations["rule"].tolist()
    assert "job 2 of the trace is neither in the schedule nor excluded" in str(report)


def test_cut_runs_and_least_run_times_are_stated() -> None:
    """How the other simulator changed run times is told by two options; without them its ends are wrong."""
    trace = small_trace().with_jobs(small_trace().jobs.iloc[:2].assign(run_time=[10.0, 0.0]))
    table = pd.DataFrame({"job_id": [1, 2], "start": [0, 8], "end": [8, 9]})
    report = validate(table, trace=trace)
    assert {"run-time"} == set(report.violations["rule"])
    assert validate(table, trace=trace, overrun="kill", least_run_time=1).ok
    assert validate(table.drop(columns="end"), trace=trace, overrun="kill", least_run_time=1).ok
    long = table.assign(job_id=[2, 1]).drop(columns="end")
    crowded = trace.with_jobs(trace.jobs.assign(requested_processors=3, submit_time=0.0, run_time=[10.0, 9.0]))
    assert {"capacity"} == set(validate(long, trace=crowded).violations["rule"])
    assert {"capacity"} == set(validate(long.assign(start=[0, 5]), trace=crowded).violations["rule"])
    assert validate(long.assign(start=[0, 5]), trace=crowded, overrun="kill").ok


def test_rounded_times_are_tolerated() -> None:
    """Times that are off by no more than the tolerance break nothing."""
    table = pd.DataFrame({"job_id": [1, 2, 2], "start": [0.0, 9.6, 2.0]})
    assert not validate(table, trace=small_trace()).ok
    assert validate(table, trace=small_trace(), tolerance=0.5).ok


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"job": [1], "start": [0]}, "no column job_number or job_id; its columns are job, start"),
        ({"job_id": [1], "begin": [0]}, "no column start_time or start"),
        ({"job_id": [1, 7], "start": [0, 1]}, "job 7 of the schedule is not in the trace"),
        ({"job_id": [1, 1], "start": [0, 1]}, "job 1 of the schedule is repeated"),
        ({"job_id": [2, 2], "job_occurrence": [1, 1], "start": [0, 1]}, "job 2 of the schedule is repeated"),
        ({"job_id": [1], "start": ["soon"]}, "column 'start' of the schedule: not numbers"),
        ({"job_id": [3], "start": [0]}, "job 3 has no run time in the trace"),
    ],
)
def test_wrong_tables_are_refused(table: dict[str, list[Any]], message: str) -> None:
    """A table that cannot be read as a schedule of the trace is refused in words."""
    trace = small_trace()
    more = Trace.from_columns(job_number=[3], submit_time=[9], requested_processors=[1]).jobs
    trace = trace.with_jobs(pd.concat([trace.jobs, more], ignore_index=True))
    with pytest.raises(ParameterError, match=re.escape(message)):
        validate(pd.DataFrame(table), trace=trace)


def test_wrong_options_are_refused() -> None:
    """A table without trace, a machine of unknown size, an unknown option and missing columns are refused."""
    table = pd.DataFrame({"job_id": [1], "start": [0]})
    trace = Trace.from_columns(job_number=[1], submit_time=[0], run_time=[1], requested_processors=[1])
    with pytest.raises(ParameterError, match="pass trace="):
        validate(table)
    with pytest.raises(ParameterError, match="pass processors="):
        validate(table, trace=trace)
    with pytest.raises(ParameterError, match="overrun='cut' is not one of"):
        validate(table, trace=trace, processors=1, overrun="cut")
    with pytest.raises(ParameterError, match=r"schedule\.jobs has no columns wait_time"):
        validate(replace(sound(), jobs=sound().jobs.drop(columns="wait_time")))


@pytest.mark.parametrize("name", ["starts.csv", "starts.csv.gz", "starts.parquet"])
def test_files_are_read(name: str, tmp_path: Path) -> None:
    """CSV, compressed or not, and Parquet; what is none of them is refused."""
    table = pd.DataFrame({"job_id": [1, 2, 2], "start": [0, 10, 2]})
    path = tmp_path / name
    table.to_parquet(path) if name.endswith("parquet") else table.to_csv(path, index=False)
    pd.testing.assert_frame_equal(table, read_schedule(path))
    assert validate(path, trace=small_trace()).ok
    path.write_bytes(b"")
    with pytest.raises(UnreadableLogError, match=re.escape(name)):
        read_schedule(path)
    with pytest.raises(UnreadableLogError, match="other"):
        read_schedule(tmp_path / f"other{name}")


def test_a_schedule_of_ours_as_a_table(shipped: Trace) -> None:
    """The jobs table of a simulation, read back, is valid too, with its promises."""
    schedule = simulate(shipped, "conservative", overrun="kill", predictor="factor:factor=2")
    options: dict[str, Any] = {"policy": "conservative", "semantics": "instant", "overrun": "kill"}
    report = validate(schedule.jobs, trace=shipped, **options)
    assert report.ok, str(report)
    assert "reservation" in report.checked


ORACLES = {"fcfs": "fcfs", "easy": "easy", "sjbf": "sjf-backfill", "cons": "conservative"}


@pytest.mark.parametrize("log", ["sdsc5k", "sdsc5kp", "lublin256e", "lublin256p", "sdscsp2"])
def test_schedules_of_other_simulators_pass(log: str, shared: Path) -> None:
    """The schedules of pyss, CQSim and a plain EASY are valid and keep the promises of their policies."""
    folder = shared / "oracles" / "schedules"
    trace = read_swf(folder / f"{log}.swf.gz")
    paths = sorted(folder.glob(f"*_{log}.csv.gz"))
    assert len(paths) >= 4
    for path in paths:
        simulator, policy, *_ = path.name.split("_")
        report = validate(
            path,
            trace=trace,
            processors=256 if "lublin" in log else 128,
            policy=ORACLES[policy],
            semantics={"naive": "instant"}.get(simulator, simulator),
            least_run_time=1.0 if simulator == "pyss" else 0.0,
        )
        assert report.ok, f"{path.name}: {report}"
        assert set(PROMISES[ORACLES[policy]]) <= set(report.checked)
