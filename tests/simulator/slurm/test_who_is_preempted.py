# SPDX-License-Identifier: BSD-3-Clause
"""Whom policy slurm preempts: cases drawn by hand, each of jobs that run when one comes that may preempt."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import swftools
from swftools.machines.description import MachineDescription

LOW = {"low": 10, "mid": 50}


def preempted(
    cores: int, running: str, wants: int, *, priorities: dict[str, int] = LOW, memory: float = 0.0, **scheduler: float
) -> str:
    """Return who has to leave nodes of one core so that a job of so many cores starts at 50 s.

    Running jobs, such as ``A:low B:mid:2 x``, each with its nodes, take them in their order; ``x`` is not preempted.
    """
    names = running.split()
    slurm: dict[str, Any] = {
        "preempt_type": "qos",
        "preempt_mode": "requeue",
        "qos": [
            *({"name": name, "priority": priority} for name, priority in priorities.items()),
            {"name": "other"},
            {"name": "high", "preempt": list(priorities)},
        ],
        "scheduler": {"batch_sched_delay": 1, **scheduler},
    }
    kinds = [
        {"kind": "s", "count": 1, "cores": 1, "memory": 100},
        {"kind": "a", "count": cores - 1, "cores": 1, "memory": 999},
    ]
    machine = MachineDescription.from_mapping({"nodes": kinds, "slurm": slurm})
    told = [(*name.split(":"), "other")[1] if ":" in name else "other" for name in names]
    sizes = [int((*name.split(":"), "1", "1")[2]) if name.count(":") > 1 else 1 for name in names]
    many = len(names)
    trace = swftools.Trace.from_columns(
        job_number=range(1, many + 2),
        submit_time=[0] * many + [50],
        run_time=[1000] * (many + 1),
        requested_time=[1000] * (many + 1),
        requested_processors=[*sizes, wants],
    )
    asked = pd.array([0] * many + [memory], "Float64")
    trace = trace.with_jobs(trace.jobs.assign(qos=pd.array([*told, "high"], "str"), requested_memory_per_node=asked))
    schedule = swftools.simulate(trace, "slurm", machine=machine, compiled=False)
    first = schedule.segments.sort_values("start_time", kind="stable").groupby("job_number").first()
    return "".join(names[job - 1][0] for job in range(1, many + 1) if first["end_time"][job] < 100)


CASES: list[tuple[str, dict[str, Any]]] = [
    ("B", {"cores": 2, "running": "A:mid B:low", "wants": 1}),
    ("A", {"cores": 2, "running": "A:low B:low", "wants": 1}),
    ("B", {"cores": 3, "running": "A:low:2 B:low", "wants": 1}),
    ("B", {"cores": 3, "running": "A:mid B:low:2", "wants": 1}),
    ("A", {"cores": 2, "running": "A:mid B:low", "wants": 1, "priorities": {"low": 70_000, "mid": 90_000}}),
    ("B", {"cores": 2, "running": "A:mid B:low", "wants": 1, "priorities": {"low": 65_534, "mid": 90_000}}),
    ("B", {"cores": 4, "running": "A:low B:low:3", "wants": 2}),
    ("B", {"cores": 4, "running": "A:low B:low:3", "wants": 2, "preempt_reorder_count": 0}),
    ("AB", {"cores": 4, "running": "A:low B:low:3", "wants": 2, "preempt_reorder_count": -1}),
    ("BC", {"cores": 5, "running": "A:low x B:low C:low:2", "wants": 3, "preempt_reorder_count": 0}),
    (
        "AC",
        {
            "cores": 5,
            "running": "A:low x B:low C:low:2",
            "wants": 3,
            "preempt_reorder_count": 0,
            "preempt_strict_order": 1,
        },
    ),
    ("B", {"cores": 3, "running": "A:low B:low C:low", "wants": 1, "memory": 500.0, "preempt_reorder_count": -1}),
    ("", {"cores": 2, "running": "x x", "wants": 1}),
]
"""B is not always the best: who is preempted first, and how often the order is changed."""


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(("expected", "case"), CASES, ids=str)
def test_who_is_preempted(expected: str, case: dict[str, Any]) -> None:
    """The lowest QOS, the fewest nodes, the first; and whoever helps most in place of several."""
    assert preempted(**case) == expected


@pytest.mark.usefixtures("interpreted_by_day")
def test_a_run_that_leaves_no_trace() -> None:
    """Backfill passes over job 3, of a user of whom it tests one job, and starts 4; main starts 3 there at once.

    4 starts again when 121 s are over, by main. What it had at first is no part of the schedule.
    """
    slurm = {
        "preempt_type": "qos",
        "preempt_mode": "requeue",
        "qos": [{"name": "low"}, {"name": "other"}, {"name": "high", "preempt": ["low"]}],
        "scheduler": {"bf_interval": 1000, "bf_max_job_user": 1, "bf_min_age_reserve": 5000, "batch_sched_delay": 1},
    }
    machine = MachineDescription.from_mapping({"nodes": [{"kind": "a", "count": 2, "cores": 1}], "slurm": slurm})
    trace = swftools.Trace.from_columns(
        job_number=[1, 2, 3, 4],
        submit_time=[0] * 4,
        run_time=[500, 10, 10, 10],
        requested_time=[500, 10, 10, 10],
        requested_processors=[1, 2, 1, 1],
        user_id=[1, 2, 2, 3],
    )
    trace = trace.with_jobs(trace.jobs.assign(qos=pd.array(["other", "high", "high", "low"], "str")))
    segments = swftools.simulate(trace, "slurm", machine=machine, compiled=False).segments.set_index("job_number")
    assert segments["started_by"][[1, 3]].tolist() == ["backfill", "main"]
    assert segments["start_time"][[1, 3, 4]].tolist() == [0, 0, 121]
    assert segments["started_by"][4] == "main"
