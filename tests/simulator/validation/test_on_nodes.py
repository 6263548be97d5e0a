# SPDX-License-Identifier: BSD-3-Clause
"""Schedules on nodes: those of the naive twin are valid, and each thing that is broken is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.machines import requests
from swftools.machines.asked import Place
from swftools.machines.description import MachineDescription
from swftools.simulator import simulate
from swftools.simulator.validation import node_heads, node_promises, node_use
from swftools.simulator.validation.on_nodes import NODE_RULES
from swftools.simulator.validation.report import ValidationReport, validate
from swftools.trace import Trace
from tests.naive.nodes import Job
from tests.node_schedules import schedule_on_nodes, simulated, trace_of, with_values
from tests.nodes_cases import CASES
from tests.nodes_drawn import TOO_LARGE, draw_machine, draw_workload, numbers_of, random_workload
from tests.simulator.validation.broken_on_nodes import (
    WORKLOAD,
    Change,
    both,
    broken,
    check,
    moved,
    shifted,
    sound,
    wider,
    with_machine,
    without_job,
)

BREAKS: dict[str, tuple[Change, set[str]]] = {
    "no list of nodes": (moved("A", nodes=None), {"nodes"}),
    "an empty list": (moved("A", nodes=[]), {"nodes"}),
    "an odd list": (moved("A", nodes=[0, 1, 1]), {"nodes"}),
    "a range that ends before it begins": (moved("A", nodes=[1, 0]), {"nodes"}),
    "a node twice": (moved("A", nodes=[0, 0, 0, 0]), {"nodes"}),
    "ranges that fall": (moved("A", nodes=[1, 1, 0, 0]), {"nodes"}),
    "a node that the machine has not": (moved("D", nodes=[3, 4]), {"nodes"}),
    "a node with a number below 0": (moved("A", nodes=[-1, 0]), {"nodes"}),
    "no cores on its nodes": (moved("E", cores_per_node=0), {"nodes", "asked"}),
    "more processors than its nodes give": (wider("A", 9), {"nodes"}),
    "fewer processors than an exclusive job has": (wider("C", 1), {"nodes"}),
    "a core too many on a node": (moved("E", nodes=[2, 2], partition="q"), {"node-capacity", "asked"}),
    "too much memory on a node": (moved("E", memory_per_node=9), {"node-capacity", "asked"}),
    "more GPUs than are left": (moved("F", gpus_per_node=0.6), {"asked", "node-capacity"}),
    "half a GPU more than are left": (moved("H", nodes=[2, 2]), {"node-capacity"}),
    "cores in use until an end that has not come": (shifted("D", 9.5), {"node-capacity"}),
    "an exclusive job beside another": (moved("C", nodes=[2, 2]), {"exclusive"}),
    "a job joins an exclusive one": (both(shifted("H", 5.0), moved("H", nodes=[3, 3])), {"exclusive"}),
    "a node without the GPUs that a job has": (moved("B", nodes=[1, 1]), {"node-size", "node-capacity"}),
    "an exclusive job on a node that is too small": (moved("C", memory_per_node=17), {"node-size", "asked"}),
    "a node outside of its partition": (moved("D", nodes=[1, 2]), {"partition", "asked", "node-capacity"}),
    "a partition that it did not ask for": (moved("B", partition="p"), {"partition", "asked"}),
    "a partition that the machine has not": (moved("B", partition="z"), {"partition", "asked"}),
    "one node too few": (wider("A", 4, nodes=[0, 0]), {"asked"}),
    "one node too many": (wider("B", 8, nodes=[2, 3]), {"asked", "exclusive", "node-capacity"}),
    "fewer cores than asked for": (wider("E", 3, cores_per_node=3), {"asked"}),
    "less memory than asked for": (moved("E", memory_per_node=3), {"asked"}),
    "no GPU where one was asked for": (moved("H", gpus_per_node=0.0), {"asked"}),
    "its nodes alone, unasked": (wider("D", 16, is_exclusive=True), {"asked"}),
    "not alone, though it asked": (wider("C", 1, is_exclusive=False), {"asked"}),
    "earlier than it asked to run": (shifted("G", 44.0), {"ready"}),
    "earlier than submitted": (shifted("E", 2.0), {"submission"}),
    "beyond the longest time of its partition": (with_machine(max_time=29.0), {"limits"}),
    "more nodes than its partition allows": (with_machine(max_nodes=1), {"limits"}),
    "fewer nodes than its partition allows": (with_machine(min_nodes=2), {"limits"}),
    "more cores on a node than its partition allows": (with_machine(max_cores=7), {"limits"}),
    "more memory a core than its partition allows": (with_machine(max_memory_per_core=1), {"limits"}),
    "shared nodes in a partition of whole ones": (with_machine(is_exclusive=True), {"limits"}),
    "a node twice, in ranges that rise": (moved("A", nodes=[0, 1, 1, 1]), {"nodes"}),
    "excluded for nothing": (without_job("H", TOO_LARGE), {"asked"}),
    "excluded for a reason that is none": (without_job("H", "maintenance"), {"asked"}),
    "excluded without a reason": (without_job("H", ""), {"asked"}),
    "excluded for what the trace has": (without_job("H", "no run_time"), {"asked"}),
    "a head that waits in vain": (shifted("D", 14.0), {"head-reservation", "no-idle-head", "backfilling"}),
    "a head that is overtaken": (
        both(shifted("E", 8.0), shifted("D", 12.0)),
        {"head-reservation", "backfilling"},
    ),
}
"""One thing that is changed in a sound schedule, and the rules that are broken by it."""


def test_the_schedule_to_be_broken_is_sound() -> None:
    """What is broken below is broken by the change alone; all rules and promises are checked."""
    report = check(sound())
    assert report.ok, report
    assert set(NODE_RULES) <= set(report.checked)
    assert {"head-reservation", "backfilling", "no-idle-head"} <= set(report.checked)
    starts = dict(zip(WORKLOAD.names, sound().jobs["start_time"], strict=False))
    assert starts == {"A": 0, "B": 0, "C": 1, "D": 10, "E": 3, "F": 4, "G": 45, "H": 6}


@pytest.mark.parametrize("name", BREAKS)
def test_each_break_is_told(name: str) -> None:
    """A change breaks the rules that it should, and no others."""
    change, rules = BREAKS[name]
    report = check(change(sound()))
    assert broken(report) == rules, report


MESSAGES = {
    "a core too many on a node": "9 of 8 cores of node n2 in use from 4 s on, by jobs 2, 5, 6",
    "cores in use until an end that has not come": "12 of 8 cores of node n0 in use from 9.5 s on, by jobs 1, 4",
    "an exclusive job beside another": "jobs 2, 3 are on node n2 from 1 s on; one of them has it alone",
    "a node outside of its partition": "a run of job 4 has nodes outside of partition p",
    "one node too few": "a run of job 1 has 1 nodes; it asks for 2",
    "no GPU where one was asked for": "a run of job 8 has 0 GPUs a node; it asks for 2",
    "half a GPU more than are left": "4 of 2 GPUs of node n2 in use from 6 s on, by jobs 2, 6, 8",
    "earlier than it asked to run": "job 7 starts at 44 s; it asked to run from 45 s on",
    "beyond the longest time of its partition": "job 4 asks for more time than partition p allows",
    "excluded for nothing": ("job 8 is excluded (asks for more than the machine has), and can run on this machine"),
    "excluded for a reason that is none": "job 8 is excluded (maintenance), and can run on this machine",
    "excluded without a reason": "job 8 is excluded without a reason, and can run on this machine",
    "excluded for what the trace has": "job 8 is excluded (no run_time), and can run on this machine",
    "no list of nodes": "a run of job 1 has no node",
    "a node twice": "a run of job 1 has node 0 (n0) twice",
    "a node twice, in ranges that rise": "a run of job 1 has node 1 (n1) twice",
    "a node that the machine has not": "a run of job 4 has node 4; the machine has 4: 0 to 3",
    "a node with a number below 0": "a run of job 1 has node -1; the machine has 4: 0 to 3",
    "ranges that fall": (
        "a run of job 1 has no ranges of nodes that rise: each is its first and its last node, the least first"
    ),
    "a head that waits in vain": "job 4 starts at 14 s; as the first waiting job it was to start at 10 s at the latest",
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_says_what_is_wrong_where_and_when(name: str) -> None:
    """It names the job, the node, what is in use of how much, and the time."""
    assert MESSAGES[name] in check(BREAKS[name][0](sound())).violations["message"].tolist()


def test_names_cannot_steer_a_terminal() -> None:
    """Names of nodes and partitions come from a file; they are told as they are shown."""
    names = tuple(f"\x1b[2J{name}" for name in WORKLOAD.table.names)
    told = str(
        check(
            replace(BREAKS["half a GPU more than are left"][0](sound()), machine=replace(WORKLOAD.table, names=names))
        )
    )
    assert "node \\x1b[2Jn2" in told
    assert "\x1b" not in told


@pytest.mark.parametrize("heads", ["machine", "partition"])
@pytest.mark.parametrize("placement", ["first-fit", "lowest-weight", "best-fit"])
def test_what_the_twin_makes_is_valid(placement: str, heads: str) -> None:
    """Schedules of the naive twin break nothing, and its first waiting jobs keep their reservations."""
    policies = ("fcfs", "easy", "sjf-backfill", "lxf-backfill")
    for seed in range(12):
        workload = random_workload(seed)
        schedule = simulated(workload, policies[seed % 4], placement, heads, sparing=seed % 3 > 0)
        report = check(schedule, workload.asked, workload)
        assert report.ok, (seed, report)


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 200), marks=pytest.mark.slow)])
@pytest.mark.parametrize("heads", ["machine", "partition"])
def test_what_the_engine_makes_is_valid(heads: str, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its segments have what the rules look at, and its first waiting jobs keep their reservations."""
    for seed in seeds:
        workload = random_workload(seed)
        monkeypatch.setattr(requests, "ask_of", lambda trace, table, workload=workload, **_: workload.asked)
        policy = ["fcfs", "easy", "sjf-backfill", "easy:backfill_order=widest"][seed % 4]
        trace = trace_of(workload)
        schedule = simulate(trace, policy, machine=workload.table, heads=heads, overrun="run-on")
        assert len(schedule) == int((workload.asked.code == 0).sum())
        assert (report := check(schedule, workload.asked, workload)).ok, (seed, report)
        assert set(NODE_RULES) <= set(report.checked)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases_by_hand_are_valid(case: Any) -> None:
    """So are those that were worked out by hand."""
    workload = case.workload()
    for policy, placement, heads, _ in case.runs():
        schedule = simulated(workload, policy, placement, heads, sparing="sparing=false" not in placement)
        if len(schedule) + len(schedule.excluded) < len(workload.asked.code):  # who has no room under the placement
            continue
        assert (report := check(schedule, workload.asked, workload)).ok, report


def test_without_a_trace_promises_and_requests_are_not_checked() -> None:
    """And the report says so; what is said of nodes is checked all the same."""
    report = validate(sound())
    assert report.ok
    assert "asked" not in report.checked
    assert "node-capacity" in report.checked
    assert "promises not checked: what jobs ask for stands in the trace, and none is given" in report.notes
    change, _ = BREAKS["half a GPU more than are left"]
    assert broken(validate(change(sound()))) == {"node-capacity"}


def test_a_schedule_without_columns_of_nodes_is_refused() -> None:
    """They are named."""
    schedule = sound()
    poor = replace(schedule, segments=schedule.segments.drop(columns=["nodes", "partition"]))
    with pytest.raises(ParameterError, match="no columns nodes, partition"):
        check(poor)
    odd = replace(schedule, segments=schedule.segments.assign(nodes="n1"))
    with pytest.raises(ParameterError, match="no lists of numbers"):
        check(odd)


def test_runs_of_no_length_fit_beside_those_that_run_on() -> None:
    """One that takes no time is told if what runs before and after it leaves too little."""
    workload = draw_workload(
        "cores / 2", "p:0", "job submit run request cores / A 0 10 10 1 / B 10 5 5 2 / C 3 0 1 1 / D 10 0 1 2"
    )
    jobs = [
        Job(row, workload.submit[row], workload.run[row], workload.request[row], 1, cores, 0, 0, False, [[0]], [0])
        for row, cores in enumerate([1, 2, 1, 2])
    ]
    for job in jobs:
        job.start, job.end, job.where = job.submit, job.submit + job.run, [0]
    assert check(schedule_on_nodes(workload, jobs, "", "machine"), workload.asked, workload).ok
    jobs[3].start = jobs[3].end = 9.0
    jobs[3].submit = 9.0
    early = replace(workload, submit=[0.0, 10.0, 3.0, 9.0])
    report = check(schedule_on_nodes(early, jobs, "", "machine"), early.asked, early)
    assert report.violations["message"].tolist() == ["3 of 2 cores of node n0 in use from 9 s on, by jobs 1, 4"]


def test_a_machine_may_be_given_instead_of_the_schedules_own() -> None:
    """And not together with a number of processors."""
    smaller = replace(WORKLOAD.table, memory=np.full(4, 15))
    assert "node-size" in broken(check(sound(), machine=smaller))
    with pytest.raises(ParameterError, match="are both given"):
        check(sound(), machine=smaller, processors=32)
    assert numbers_of("0-2,5") == [0, 1, 2, 5]


def test_what_is_of_a_pool_is_refused_on_nodes_and_the_other_way_round() -> None:
    """Both would change what is checked, or nothing, without a word."""
    with pytest.raises(
        ParameterError, match=r"processors= .* is of a pool, and this schedule is on a machine of nodes"
    ):
        check(sound(), processors=99)
    pool = simulate(trace_of(WORKLOAD), "easy", processors=32)
    assert validate(pool, trace=trace_of(WORKLOAD), processors=32).ok
    with pytest.raises(ParameterError, match=r"heads= .* is of a machine of nodes, and this schedule is on a pool"):
        validate(pool, trace=trace_of(WORKLOAD), heads="machine")


def test_a_report_says_that_placement_is_not_checked() -> None:
    """Any node that fits will do, whatever placement says; a pool has none."""
    note = "placement not checked: which of the nodes that fit a job has"
    assert note in check(sound()).notes
    assert note in validate(sound()).notes
    assert note not in validate(simulate(trace_of(WORKLOAD), "easy", processors=32)).notes


def test_who_is_lost_without_a_reason_is_told() -> None:
    """A table of excluded jobs that gives none does not excuse anybody who can run."""
    lost = without_job("H", "")(sound())
    told = check(replace(lost, excluded=lost.excluded.drop(columns="reason")))
    assert told.violations["message"].tolist() == ["job 8 is excluded without a reason, and can run on this machine"]
    assert check(replace(sound(), excluded=sound().excluded.drop(columns="reason"))).ok  # I cannot run


def test_who_may_be_excluded_although_it_can_run() -> None:
    """Who has no submission or no run time; and who had not ended where the simulation was not over."""
    lost = without_job("H", "no run_time (cancelled=drop)")(sound())
    trace = trace_of(WORKLOAD)
    for name in ("run_time", "submit_time"):
        column = trace.jobs[name].astype("float64").where(trace.jobs["job_number"] != 8)
        lacking = trace.with_jobs(trace.jobs.assign(**{name: column}))
        assert validate(lost, trace=lacking, asked=WORKLOAD.asked).ok
        asks_all = replace(lost, options={**lost.options, "cancelled": "full-request"})
        report = validate(asks_all, trace=lacking, asked=WORKLOAD.asked)
        assert broken(report) == ({"asked"} if name == "run_time" else set())
    for reason in ("not ended by 9 s", "taken out at 5 s"):
        assert check(without_job("H", reason)(sound())).ok
    assert broken(check(replace(without_job("H", "maintenance")(sound()), is_partial=True))) == {"asked"}


def test_limits_may_be_reached() -> None:
    """Only what is beyond them is told."""
    edge = with_machine(max_time=30.0, max_nodes=2, min_nodes=1, max_cores=8, max_memory_per_core=2)(sound())
    assert check(edge).ok
    told = check(with_machine(min_nodes=2)(sound())).violations
    assert [WORKLOAD.names[number - 1] for number in told["job_number"]] == ["E"]


def test_a_request_that_was_raised_to_the_run_was_within_limits() -> None:
    """With overrun="extend" a job that ran as long as it says to have asked for asked for less."""
    raised = with_machine(max_time=29.0)(sound())
    assert broken(check(replace(raised, options={**raised.options, "overrun": "extend"}))) == set()
    shorter = with_machine(max_time=4.0)(sound())  # E asks for 5 s and runs 4 s
    told = check(replace(shorter, options={**shorter.options, "overrun": "extend"})).violations
    assert [WORKLOAD.names[number - 1] for number in told["job_number"]] == ["E"]


def test_ends_come_before_starts_without_any_tolerance() -> None:
    """D starts at the instant at which A ends, on the same nodes."""
    assert check(sound(), tolerance=0.0).ok


def test_a_node_of_the_partition_may_lack_what_was_asked_for_by_name() -> None:
    """The nodes of a set are those that a job may use, not all of its partition."""
    workload = draw_workload("count cores / 3 4", "p:0-2", "job submit run cores / A 0 10 4 / B 0 10 4")
    some = Place((np.array([1, 2]),), (0,))
    asked = replace(workload.asked, places=(*workload.asked.places, some), place=np.array([0, 1]))
    workload = replace(workload, asked=asked)
    schedule = simulated(workload, "easy")
    assert check(schedule, asked, workload).ok
    moved_on = both(with_values("segments", 0, nodes=[1, 1]), with_values("segments", 1, nodes=[0, 0]))(schedule)
    report = check(moved_on, asked, workload)
    assert report.violations["message"].tolist() == [
        "a run of job 2 has nodes on which the job may not run, or not in that partition"
    ]


def test_a_machine_of_another_kind_is_refused() -> None:
    """What may be given is said."""
    with pytest.raises(ParameterError, match="machine of type int: give the path of a file"):
        check(sound(), machine=4)


def test_compiled_and_interpreted_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels of nodes say the same in Python."""
    changes = [change for change, _ in BREAKS.values()][::3]
    reports = [*(check(change(sound())) for change in changes), _of_another_policy()]
    for module in (node_use, node_heads, node_promises):
        for name, value in list(vars(module).items()):
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    again = [*(check(change(sound())) for change in changes), _of_another_policy()]
    assert [(str(each), each.violations.to_dict()) for each in reports] == [
        (str(each), each.violations.to_dict()) for each in again
    ]


def _of_another_policy() -> ValidationReport:
    workload = random_workload(9)
    return check(simulated(workload, "lxf"), workload.asked, workload, policy="easy")


def test_who_waits_for_another_and_asked_to_run_later() -> None:
    """A job is eligible when both are over; a schedule that says it was so before is told."""
    machine = MachineDescription.from_mapping({"nodes": [{"kind": "a", "count": 2, "cores": 2}]})
    trace = Trace.from_columns(
        job_number=[1, 2, 3, 4],
        submit_time=[0, 1, 2, 3],
        run_time=[10, 5, 5, 5],
        requested_time=[10, 5, 5, 5],
        requested_processors=[1, 1, 1, 1],
        preceding_job_number=pd.array([None, 1, None, 1], dtype="Int64"),
    )
    trace = trace.with_jobs(trace.jobs.assign(begin_time=[np.nan, np.nan, 30.0, 40.0]))
    schedule = simulate(trace, "easy", machine=machine)
    assert schedule.jobs["ready_time"].tolist() == [0, 10, 30, 40]
    report = validate(schedule, trace=trace)
    assert report.ok, str(report)
    assert {"dependencies", "ready"} <= {*report.checked}
    earlier = replace(schedule, jobs=schedule.jobs.assign(ready_time=[0, 10, 2, 40]))
    told = validate(earlier, trace=trace).violations
    messages = told["message"][told["rule"] == "dependencies"]
    assert messages.tolist() == ["job 3: ready_time is 2, and would be 30"]


def test_who_has_no_neighbouring_nodes_is_excluded_rightly() -> None:
    """Under a placement that must have neighbours; promises are not checked then, and a note says why."""
    table = draw_machine("cores / 2 / 1 / 2", "p:0-2")
    trace = Trace.from_columns(submit_time=[0, 0], run_time=[5, 5], requested_time=[5, 5], requested_processors=[4, 2])
    trace = trace.with_jobs(trace.jobs.assign(requested_nodes=pd.array([2, 2], dtype="Int64")))
    for must, excluded in ((True, 1), (False, 0)):
        placement = f"contiguous:must={str(must).lower()}"
        schedule = simulate(trace, "easy", machine=table, placement=placement, compiled=False)
        assert len(schedule.excluded) == excluded
        report = validate(schedule, trace=trace)
        assert report.ok
        assert any("lets jobs wait for nodes that lie together" in note for note in report.notes) == must
