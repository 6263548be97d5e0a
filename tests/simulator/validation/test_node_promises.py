# SPDX-License-Identifier: BSD-3-Clause
"""Promises on nodes: told are those that a naive twin finds broken, and the moments at which they were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from swftools.simulator.validation import node_promises
from tests.naive.node_promises import broken_promises
from tests.node_schedules import schedule_on_nodes, simulated
from tests.nodes_drawn import draw_workload, random_workload
from tests.simulator.validation.broken_on_nodes import (
    broken,
    check,
    jobs_in,
    shifted,
    sound,
)

pytestmark = pytest.mark.usefixtures("interpreted_by_day")


@pytest.mark.parametrize("seeds", [range(32), pytest.param(range(32, 400), marks=pytest.mark.slow)])
def test_promises_are_those_of_a_naive_twin(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of schedules that no EASY made, the same jobs are told to start too late, for the same promise."""
    monkeypatch.setattr("swftools.simulator.validation.report.EXAMPLES", 1000)
    told: dict[str, int] = {}
    for seed in seeds:
        workload = random_workload(seed)
        heads = ["machine", "partition"][seed % 2]
        schedule = simulated(workload, ["fcfs", "sjf", "lxf", "widest"][seed // 2 % 4], heads="machine")
        schedule = replace(schedule, options={**schedule.options, "heads": heads})
        report = check(schedule, workload.asked, workload, policy="easy")
        expected = broken_promises(jobs_in(schedule, workload), workload.table, heads)
        found = report.violations[report.violations["rule"].isin(expected)]
        for promise, rows in expected.items():
            numbers = found["job_number"][found["rule"] == promise]
            assert {int(number) - 1 for number in numbers} == rows, (seed, promise)
            told[promise] = told.get(promise, 0) + len(rows)
    assert min(told.values()) > 2, told


def test_who_overtakes_in_a_closed_partition_is_told() -> None:
    """Under fcfs with one head a partition others may start before a job that waits, but not on nodes it waits for."""
    workload = draw_workload(
        "count cores / 4 1",
        "p:0-1 q:1-2 r:3",
        "job submit run nodes partition / A 0 10 2 p / B 1 5 1 p / C 1 5 1 q / D 2 5 1 q / E 2 5 1 r",
    )
    fine = simulated(workload, "fcfs")
    assert check(fine, workload.asked, workload).ok
    one_head = replace(fine, options={**fine.options, "heads": "machine"})
    report = check(one_head, workload.asked, workload)
    assert report.violations["job_number"][report.violations["rule"] == "order"].tolist() == [3, 5, 4]
    jobs = jobs_in(fine, workload)
    jobs[3].start, jobs[3].end, jobs[3].where = 10.0, 15.0, [1]  # a node of p, for which nobody waits any more
    assert check(schedule_on_nodes(workload, jobs, "fcfs", "partition"), workload.asked, workload).ok
    jobs[1].start, jobs[1].end = 12.0, 17.0  # now somebody does
    report = check(schedule_on_nodes(workload, jobs, "fcfs", "partition"), workload.asked, workload)
    first = report.violations[report.violations["rule"] == "order"]
    assert first["message"].tolist() == ["job 4 starts at 10 s; one that was submitted earlier starts at 12 s"]
    assert broken(report) == {"order", "no-idle-head"}


@pytest.mark.parametrize("policy", ["sjf-backfill", "lxf-backfill", "weighted-priority", "prio-fifo"])
def test_promises_of_other_policies(policy: str) -> None:
    """One whose head is the first submitted keeps what easy does; the others promise nothing, and that is said."""
    workload = draw_workload("cores / 2", "p:0", "job submit run cores / A 0 10 1 / B 1 5 2 / C 2 5 1")
    late = simulated(workload, "easy")
    jobs = jobs_in(late, workload)
    jobs[1].start, jobs[1].end = 12.0, 17.0
    report = check(schedule_on_nodes(workload, jobs, policy, "partition"), workload.asked, workload)
    promises = {"head-reservation", "backfilling", "no-idle-head"}
    assert promises & {*report.checked} == (promises if policy == "sjf-backfill" else set())
    assert broken(report) == ({*promises} if policy == "sjf-backfill" else set())
    assert (f"{policy} promises nothing" in report.notes) == (policy != "sjf-backfill")


def test_who_overtakes_the_first_does_not_count_for_its_reservation() -> None:
    """C, the next in the queue, starts before B and delays it: that is told of the instant at which it does."""
    workload = draw_workload("cores / 2", "p:0", "job submit run cores / A 0 10 1 / B 1 5 2 / C 2 5 1")
    jobs = jobs_in(simulated(workload, "easy"), workload)
    assert [job.start for job in jobs] == [0, 10, 2]
    for job, start in ((1, 13.0), (2, 8.0)):
        jobs[job].start, jobs[job].end, jobs[job].expected_end = start, start + 5, start + 5
    report = check(schedule_on_nodes(workload, jobs, "easy", "partition"), workload.asked, workload)
    assert broken(report) == {"head-reservation", "backfilling"}, report


def test_the_first_waits_in_vain_where_any_of_its_partitions_has_room() -> None:
    """And its reservation is the earliest of all of them; a start that is late by less than is tolerated is not."""
    workload = draw_workload(
        "count cores / 2 1",
        "p:0 q:1",
        "job submit run partition / A 0 10 p / B 0 20 p,q / C 1 5 p,q / D 1 5 q,p",
    )
    fine = simulated(workload, "easy")
    assert check(fine, workload.asked, workload).ok
    jobs = jobs_in(fine, workload)
    assert [(job.start, job.where) for job in jobs] == [(0, [0]), (0, [1]), (10, [0]), (15, [0])]
    jobs[1].run = jobs[1].request = jobs[1].end = jobs[1].expected_end = 4.0
    early = replace(workload, run=[10.0, 4.0, 5.0, 5.0], request=[10.0, 4.0, 5.0, 5.0])
    report = check(schedule_on_nodes(early, jobs, "easy", "partition"), early.asked, early)
    told = report.violations[["rule", "job_number"]].itertuples(index=False, name=None)
    assert {*told} == {(rule, job) for rule in ("head-reservation", "no-idle-head") for job in (3, 4)}, report
    assert set(report.violations["message"].str.extract(r"(\d+) s(?: on| at the latest)?$")[0]) == {"4", "10"}
    late = shifted("D", 10 + 5e-7)(sound())
    assert check(late).ok
    assert "no-idle-head" in broken(check(late, tolerance=1e-7))


def test_of_very_many_promises_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many is said."""
    monkeypatch.setattr(node_promises, "STEPS", 0)
    monkeypatch.setattr(node_promises, "LEAST_LOOKED_AT", 2)
    workload = random_workload(14)
    notes = check(simulated(workload, "easy"), workload.asked, workload).notes
    assert any("of which 2 were looked at" in note for note in notes), notes


@pytest.mark.parametrize(
    ("partition", "rules"),
    [("p", {"no-idle-head", "head-reservation"}), ("all", {"no-idle-head"})],
    ids=["unused", "used"],
)
def test_a_partition_of_all_nodes_joins_the_others_only_where_a_job_asks_for_it(
    partition: str, rules: set[str]
) -> None:
    """D waits as the first of q from 1 s to 8 s, though B ended at 4 s; C waits for p and was there before.

    Nobody who waits before D may have a node of q, so D must start as soon as it fits; only a time it is not promised.
    """
    workload = draw_workload(
        "count cores / 2 1",
        "p:0 q:1 all:0-1",
        f"job submit run partition / A 0 10 p / B 0 4 q / C 1 5 p / D 1 5 q / E 30 1 {partition}",
    )
    jobs = jobs_in(simulated(workload, "easy"), workload)
    assert [job.start for job in jobs] == [0, 0, 10, 4, 30]
    jobs[3].start, jobs[3].end = 8.0, 13.0
    report = check(schedule_on_nodes(workload, jobs, "easy", "partition"), workload.asked, workload)
    assert broken(report) == rules, report
    assert set(report.violations["job_number"]) == {4}
    note = "no time was promised to 1 job that waited as the first of a partition"
    assert any(each.startswith(note) for each in report.notes) == (partition == "all")


@pytest.mark.parametrize(("third", "is_told"), [("q", False), ("q,r", True)])
def test_who_waits_behind_another_for_the_same_nodes_is_not_the_first(third: str, *, is_told: bool) -> None:
    """C waits for p, which has a node of q; D may be kept waiting for q, but not for r, which has none of them."""
    workload = draw_workload(
        "count cores / 3 1",
        "p:0-1 q:1 r:2",
        f"job submit run nodes partition / A 0 10 1 p / B 0 4 1 r / C 1 5 2 p / D 1 5 1 {third}",
    )
    jobs = jobs_in(simulated(workload, "easy"), workload)
    jobs[3].start, jobs[3].end, jobs[3].where = 15.0, 20.0, [1]
    report = check(schedule_on_nodes(workload, jobs, "easy", "partition"), workload.asked, workload)
    told = report.violations[report.violations["rule"] == "no-idle-head"]
    assert (
        told["message"].tolist()
        == ["job 4 starts at 15 s; it is the first waiting job, and fits, from 4 s on"] * is_told
    )
