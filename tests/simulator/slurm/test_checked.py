# SPDX-License-Identifier: BSD-3-Clause
"""Schedules of policy ``slurm`` held against what jobs ask of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import read_log
from swftools.machines.slurm_site import SlurmSite
from swftools.simulator import allocations_of, simulate
from swftools.simulator.schedule import Schedule
from swftools.simulator.slurm.placed import columns_of_parts
from swftools.simulator.validation.report import ValidationReport, validate
from tests.interpreted import all_interpreted
from tests.machines.tables import log_of, machine
from tests.simulator.slurm.site import table_of

MACHINE = replace(
    machine("a 2 4 8000 0 +slow / b 2 8 16000 2 +fast", "p a,b / q b exclusive / r a,b"), slurm=SlurmSite()
)
LINE = "sbatch -p p -n 6 -c 2 --mem-per-cpu=100 x"
"""Twelve CPUs in tasks of two."""
PARTS = [(0, 4, 400, 0), (1, 2, 200, 0), (2, 6, 600, 0)]
"""Node, cores, MB, GPUs."""


def schedule_of(parts: list[tuple[int, int, int, int]], partition: str, *, alone: bool, start: float) -> Schedule:
    """Return a schedule of one job that ran once."""
    node, cores, memory, gpus = (np.array(each, np.int64) for each in zip(*parts, strict=True))
    names = [part.name for part in MACHINE.partitions]
    columns = columns_of_parts(
        np.array([0, len(parts)]),
        node,
        cores,
        memory,
        gpus,
        MACHINE,
        np.array([names.index(partition)]),
        np.array([alone]),
    )
    has = int(MACHINE.cores[node].sum() if alone else cores.sum())
    keys = {"job_number": pd.array([1], dtype="Int64"), "job_occurrence": [0]}
    times = {"start_time": [start], "end_time": [start + 10.0], "allocated_processors": pd.array([has], dtype="Int64")}
    jobs = {
        "submit_time": [0.0],
        "wait_time": [start],
        "run_time": [10.0],
        "requested_time": [10.0],
        "estimated_time": [10.0],
    }
    of_runs = {"work": [10.0], "lost_work": [0.0], "overhead": [0.0], "ended_by": pd.array(["completed"], dtype="str")}
    table = pd.DataFrame(
        {**keys, **times, **jobs, "preemptions": pd.array([0], dtype="Int64"), "is_backfilled": [False]}
    )
    runs = pd.DataFrame({**keys, **times, **of_runs, **columns})
    excluded = table[["job_number", "job_occurrence"]][:0].assign(reason="")
    options = {"overrun": "extend", "cancelled": "drop", "least_run_time": 0.0, "semantics": "instant"}
    return Schedule(table, runs, excluded, MACHINE.processors, "slurm", options, machine=MACHINE)


def check(
    line: str,
    parts: list[tuple[int, int, int, int]],
    partition: str = "p",
    *,
    alone: bool = False,
    start: float = 0.0,
    **columns: Any,
) -> ValidationReport:
    """Validate it against the trace of its job, and of one that never ran, and asked for another partition."""
    rows = [
        {"submit_line": line, "run_time": 10.0, "requested_time": 10.0, **columns},
        {"submit_line": "sbatch -p r -n 1 x"},
    ]
    schedule = schedule_of(parts, partition, alone=alone, start=start)
    left = pd.DataFrame({"job_number": pd.array([2], dtype="Int64"), "job_occurrence": [0], "reason": ["no run time"]})
    with all_interpreted():
        return validate(replace(schedule, excluded=left), trace=log_of(rows))


def test_a_sound_schedule() -> None:
    """Uneven parts of whole tasks; the rules that need the trace are checked."""
    report = check(LINE, PARTS)
    assert report.violations.empty
    assert {"asked", "ready", "node-capacity", "partition", "exclusive"} <= set(report.checked)
    no_memory = check("sbatch -p p -n 1 x", [(0, 1, 0, 0)])
    assert no_memory.violations.empty
    assert "assumed: no memory, as the log tells none and the partition has no default: 2 jobs" in no_memory.notes


@pytest.mark.parametrize(
    ("line", "parts", "options", "words"),
    [
        (LINE, [(0, 4, 400, 0), (2, 6, 600, 0)], {}, "has fewer cores for whole tasks than it asks for"),
        (LINE, [(0, 3, 300, 0), (1, 3, 300, 0), (2, 6, 600, 0)], {}, "has fewer cores for whole tasks"),
        (LINE, [(0, 4, 400, 0), (1, 2, 200, 0), (2, 6, 599, 0)], {}, "has less memory on a node"),
        ("sbatch -p p -n 4 --mem=500 x", [(0, 2, 500, 0), (1, 2, 499, 0)], {}, "has less memory on a node"),
        ("sbatch -p p -n 4 --mem=500 x", [(0, 2, 500, 0), (1, 2, 500, 0)], {}, ""),
        ("sbatch -p p -N 3 -n 4 x", [(0, 2, 0, 0), (1, 2, 0, 0)], {}, "has fewer nodes"),
        ("sbatch -p p -N 1-2 -n 4 x", [(0, 1, 0, 0), (1, 1, 0, 0), (2, 2, 0, 0)], {}, "has more nodes"),
        ("sbatch -p p -N 1-2 -n 4 x", [(0, 1, 0, 0), (1, 3, 0, 0)], {}, ""),
        ("sbatch -p p -n 4 --ntasks-per-node=2 x", [(0, 1, 0, 0), (2, 3, 0, 0)], {}, "has more tasks on a node"),
        ("sbatch -p p -n 4 --ntasks-per-node=2 x", [(0, 2, 0, 0), (2, 2, 0, 0)], {}, ""),
        ("sbatch -p p -n 2 --gpus-per-node=1 x", [(2, 1, 0, 1), (3, 1, 0, 0)], {}, "has fewer GPUs on a node"),
        ("sbatch -p p -n 2 --gpus=3 x", [(2, 1, 0, 2), (3, 1, 0, 0)], {}, "has fewer GPUs than it asks for"),
        ("sbatch -p p -n 2 --gpus=3 x", [(2, 1, 0, 2), (3, 1, 0, 1)], {}, ""),
        ("sbatch -p p -n 2 x", [(2, 8, 0, 0)], {"alone": True}, "did not ask to have its nodes alone"),
        ("sbatch -p p -n 2 --exclusive x", [(2, 2, 0, 0)], {}, "has to have its nodes alone"),
        ("sbatch -p p -n 2 --exclusive x", [(2, 8, 0, 0)], {"alone": True}, ""),
        ("sbatch -p p -n 9 --exclusive x", [(2, 8, 0, 0)], {"alone": True}, "has fewer cores for whole tasks"),
        ("sbatch -p p,q -n 2 x", [(2, 8, 0, 0)], {"alone": True, "partition": "q"}, ""),
        ("sbatch -p p,q -n 2 x", [(2, 2, 0, 0)], {}, ""),
        ("sbatch -p p,q -n 2 x", [(2, 2, 0, 0)], {"partition": "r"}, "or not in that partition"),
        ("sbatch -p p -n 2 -C fast x", [(2, 2, 0, 0)], {}, ""),
        ("sbatch -p p -n 2 -C fast x", [(1, 2, 0, 0)], {}, "nodes on which the job may not run"),
        ("sbatch -p p -n 99 x", [(1, 2, 0, 0)], {}, "cannot run on this machine: asks for more cores than"),
        ("sbatch -p p -n 2 x", [(1, 2, 0, 0)], {"begin_time": 5.0, "start": 5.0}, ""),
        ("sbatch -p p -n 2 x", [(1, 2, 0, 0)], {"begin_time": 5.0, "start": 4.0}, "asked to run from 5 s on"),
    ],
)
def test_what_is_found(line: str, parts: list[tuple[int, int, int, int]], options: dict[str, Any], words: str) -> None:
    """One rule after the other."""
    report = check(line, parts, **options)
    assert set(report.violations["rule"]) == ({"ready" if "from 5 s" in words else "asked"} if words else set())
    assert words in " ".join(report.violations["message"])


def test_who_is_left_out_in_vain() -> None:
    """A job that could run, and one that cannot."""
    for cpus, rules in ((24, {"asked"}), (25, set())):
        lines = [LINE, f"sbatch -p p -n {cpus} x"]
        rows = [{"submit_line": line, "run_time": 10.0, "requested_time": 10.0} for line in lines]
        schedule = schedule_of(PARTS, "p", alone=False, start=0.0)
        excluded = pd.DataFrame(
            {"job_number": pd.array([2], dtype="Int64"), "job_occurrence": [0], "reason": ["no room"]}
        )
        with all_interpreted():
            report = validate(replace(schedule, excluded=excluded), trace=log_of(rows))
        assert set(report.violations["rule"]) == rules


def test_what_the_policy_does() -> None:
    """Of a real run: uneven runs, whole nodes, jobs on hold; jobs have the processors of their runs."""
    log = read_log(Path(__file__).parent / "sacct.txt", "slurm:time_zone=UTC")
    is_one = log.jobs["log_id"].isin(["1", "5_0", "13", "17", "20"])
    log = replace(log, jobs=log.jobs[is_one].reset_index(drop=True))
    with all_interpreted():
        schedule = simulate(log, "slurm", machine=table_of(), compiled=False)
        report = validate(schedule, trace=log)
    assert report.violations.empty
    assert "dependencies" in report.checked
    held = allocations_of(schedule)
    of_runs = np.bincount(held.run, held.cores)
    jobs = schedule.jobs.set_index("job_number")["allocated_processors"]
    assert jobs[schedule.segments["job_number"]].tolist() == of_runs.tolist()
    by_id = schedule.jobs.set_index("log_id")["allocated_processors"]
    assert by_id[["13", "5_0", "1"]].tolist() == [16, 28, 17]
