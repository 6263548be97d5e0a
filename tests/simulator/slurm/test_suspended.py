# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that stand for others, drawn by hand: when they stop, what stays theirs, when they go on; with the slow twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd
import pytest

import swftools
from swftools.machines.description import MachineDescription
from swftools.simulator.validation.report import validate

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

TIERS = {"low": 1, "mid": 2, "high": 3}
"""Of partitions, which have it as their name."""

COLUMNS = ("job", "partition", "submit", "run", "limit", "cpus", "memory", "gpus")
SCHEDULER = {"batch_sched_delay": 0, "bf_interval": 1, "bf_resolution": 1}


def runs(
    jobs: str,
    nodes: str = "1 4 1000 0",
    *,
    alone: Sequence[str] = (),
    modes: Mapping[str, str] = MappingProxyType({}),
    outages: Sequence[Any] = (),
    **slurm: Any,
) -> dict[str, str]:
    """Return the runs of each job as ``0-20 50-130``.

    A line of ``jobs`` is a letter, a partition (low, mid, high), submission, run time, limit, CPUs, memory (MB), GPUs;
    ``nodes`` has their number, and cores, memory and GPUs of each; ``alone``: partitions of whole nodes.
    """
    rows = [line.split() for line in jobs.split("/")]
    count, cores, memory, gpus = (int(each) for each in nodes.split())
    kind: dict[str, Any] = {"kind": "a", "names": f"a[0-{count - 1}]", "cores": cores, "memory": memory}
    machine = MachineDescription.from_mapping(
        {
            "nodes": [kind | ({"gpus": {"g": gpus}} if gpus else {})],
            "partitions": [
                {"name": str(tier), "nodes": "a", "tier": tier, "exclusive": name in alone}
                | ({"preempt_mode": modes[name]} if name in modes else {})
                for name, tier in TIERS.items()
            ],
            "outages": list(outages),
            "slurm": {"preempt_type": "partition_prio", "preempt_mode": "suspend", "scheduler": SCHEDULER, **slurm},
        }
    )
    column = dict(
        zip(
            ["job", "partition", "submit", "run", "limit", "cpus", "memory", "gpus"],
            zip(*rows, strict=True),
            strict=True,
        )
    )
    trace = swftools.Trace.from_columns(
        job_number=range(1, len(rows) + 1),
        submit_time=[int(each) for each in column["submit"]],
        run_time=[int(each) for each in column["run"]],
        requested_time=[int(each) for each in column["limit"]],
        partition_id=[TIERS[each] for each in column["partition"]],
        requested_processors=[int(each) for each in column["cpus"]],
    )
    asked = {
        "requested_memory_per_node": [float(each) for each in column["memory"]],
        "requested_gpus": [float(each) for each in column["gpus"]],
        "qos": pd.array(column["partition"], "str"),
    }
    schedule = swftools.simulate(trace.with_jobs(trace.jobs.assign(**asked)), "slurm", machine=machine, compiled=False)
    assert validate(schedule, trace=trace).ok
    found = dict.fromkeys(column["job"], "")
    for row in schedule.segments.sort_values("start_time").itertuples():
        name = column["job"][row.job_number - 1]
        found[name] = f"{found[name]} {row.start_time:g}-{row.end_time:g}".strip()
    return found


LOW = "A low 0 100 100 4 0 0"


def test_stands_until_its_cpus_are_free() -> None:
    """Its end and its limit are later by the time that it stood; the CPUs that are left are for nobody of its tier."""
    assert runs(f"{LOW} / B high 20 30 60 2 0 0 / C low 25 5 5 1 0 0") == {
        "A": "0-20 50-130",
        "B": "20-50",
        "C": "130-135",
    }


def test_who_fits_beside_does_not_stand() -> None:
    """Idle CPUs come first; of two jobs the one that began first keeps its CPUs."""
    assert runs("A low 0 100 100 2 0 0 / B high 20 30 60 2 0 0") == {"A": "0-100", "B": "20-50"}
    assert runs("A low 0 100 100 2 0 0 / B low 1 100 100 2 0 0 / C high 20 30 60 1 0 0") == {
        "A": "0-100",
        "B": "1-20 50-131",
        "C": "20-50",
    }


def test_memory_and_gpus_stay_its_own() -> None:
    """Who needs them waits until the job has ended; who needs only CPUs does not."""
    for one, other, starts in (
        ("4 900 0", "2 200 0", "100-130"),
        ("4 900 0", "2 100 0", "20-50"),
        ("4 0 1", "2 0 1", "100-130"),
        ("4 0 1", "2 0 0", "20-50"),
    ):
        assert runs(f"A low 0 100 100 {one} / B high 20 30 60 {other}", "1 4 1000 1")["B"] == starts


def test_the_lowest_tier_stands() -> None:
    """Who is in between runs on where it can, and preempts and stands, too."""
    assert runs("A low 1 100 100 2 0 0 / B mid 0 100 100 2 0 0 / C high 20 30 60 2 0 0") == {
        "A": "1-20 50-131",
        "B": "0-100",
        "C": "20-50",
    }
    assert runs(f"{LOW} / B mid 20 100 100 4 0 0 / C high 30 30 60 4 0 0") == {
        "A": "0-20 150-230",
        "B": "20-30 60-150",
        "C": "30-60",
    }


def test_nodes_of_lower_tiers_first() -> None:
    """On two nodes, of a low and of a middle job, the high one goes where the low one is, whichever node that is."""
    for first, second in (("low", "mid"), ("mid", "low")):
        jobs = f"A {first} 0 100 100 4 0 0 / B {second} 1 100 100 4 0 0 / C high 20 30 60 4 0 0"
        found = runs(jobs, "2 4 1000 0")
        assert [name for name in "AB" if " " in found[name]] == ["A" if first == "low" else "B"]


def test_whole_nodes_are_not_shared() -> None:
    """Neither does a job stand that has its nodes alone, nor is one made room for that wants them alone."""
    for alone, starts in (((), "20-50"), (("low",), "100-130"), (("high",), "100-130")):
        assert runs(f"{LOW} / B high 20 30 60 2 0 0", alone=alone)["B"] == starts


def test_modes_of_partitions() -> None:
    """A partition's own mode counts before the cluster's."""
    jobs = f"{LOW} / B high 20 30 60 2 0 0"
    assert runs(jobs, modes={"low": "off"})["B"] == "100-130"
    assert runs(jobs, modes={"low": "suspend"}, preempt_mode="cancel")["A"] == "0-20 50-130"
    assert runs(jobs, modes={"low": "requeue"})["A"] == "0-20 141-241"


def test_by_qos() -> None:
    """Whoever may be preempted by the QOS stands, in the same partition, too, after its exempt time."""
    jobs = "A low 0 100 100 4 0 0 / B high 20 30 60 2 0 0"
    for exempt, starts in ((0, "20-50"), (20, "20-50"), (31, "31-61")):
        qos = [{"name": "low", "preempt_exempt_time": exempt}, {"name": "high", "priority": 1, "preempt": ["low"]}]
        found = runs(jobs, preempt_type="qos", qos=qos)
        assert found["B"] == starts
        assert found["A"].split()[0] == f"0-{starts.split('-')[0]}"


def test_node_that_goes_down_under_a_job_that_stands() -> None:
    """It starts again after a while, and what it has done is kept; its CPUs were free for no time before that."""
    outages = [{"nodes": "a", "begin": 30, "end": 40, "kind": "down"}]
    assert runs(f"{LOW} / B high 20 5 5 4 0 0 / C high 24 30 30 4 0 0", outages=outages) == {
        "A": "0-20 181-261",
        "B": "20-25",
        "C": "25-30 151-181",
    }


def test_by_qos_the_first_says_how() -> None:
    """Where suspending the first that may be preempted does not help, nobody is requeued instead."""
    qos: list[dict[str, Any]] = [
        {"name": "low"},
        {"name": "mid", "priority": 1, "preempt_mode": "requeue"},
        {"name": "high", "priority": 2, "preempt": ["low", "mid"]},
    ]
    jobs = "A low 0 100 100 2 100 0 / B mid 0 100 100 2 900 0 / C high 20 30 60 2 900 0"
    assert runs(jobs, preempt_type="qos", qos=qos)["C"] == "100-130"


def test_limit_of_who_stood_twice() -> None:
    """A has run 40 s when it goes on at 80, so its limit ends at 240: who would run into that waits for the other."""
    jobs = "A low 0 200 200 3 0 0 / B high 20 20 20 4 0 0 / C high 60 20 20 4 0 0 / D low 70 10 10 4 0 0"
    for limit, starts in ((150, "81"), (170, "250")):
        found = runs(f"{jobs} / E low 81 5 {limit} 1 0 0")
        assert (found["A"], found["D"]) == ("0-20 40-60 80-240", "240-250")
        assert found["E"].split("-")[0] == starts


def test_limit_of_who_stands() -> None:
    """It ends when it would without standing: C is planned at 100, so that D may run until then; from 80 on, at 180."""
    jobs = "A low 0 100 100 4 0 0 / F mid 0 22 30 4 0 0 / B high 20 60 60 4 0 0 / C low 25 10 10 8 0 0"
    for limit, starts in ((69, "30"), (71, "80")):
        found = runs(f"{jobs} / D low 30 5 {limit} 1 0 0", "2 4 1000 0")
        assert (found["A"], found["C"]) == ("0-20 80-160", "160-170")
        assert found["D"].split("-")[0] == starts


def test_what_a_job_did_before_it_was_queued_again_does_not_count() -> None:
    """L stands twice, and starts anew between: it may run to 261 s, so K has ended when W has both nodes."""
    outage = {"nodes": "a1", "begin": 30, "end": 35, "kind": "down"}
    jobs = """
        O high 0 181 181 4 0 0 / L low 0 100 100 4 0 0 / H high 10 10 10 4 0 0 / I high 170 10 10 4 0 0
        / W low 182 10 10 8 0 0 / K low 183 75 75 4 0 0
    """
    found = runs(jobs, "2 4 1000 0", outages=[outage])
    assert (found["L"], found["W"], found["K"]) == ("0-10 20-30 151-170 180-261", "261-271", "183-258")
