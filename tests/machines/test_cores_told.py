# SPDX-License-Identifier: BSD-3-Clause
"""How many CPUs jobs had of each node, as ``scontrol show job -d`` and tables tell it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.machines.cores_told import with_cores
from swftools.machines.node_table import NodeTable, PartitionNodes
from swftools.referee.followed import followed_run

SCONTROL = """JobId=7 JobName=a
   UserId=u(1) GroupId=g(1)
   StartTime=2024-01-01T00:00:00 EndTime=2024-01-01T01:00:00
   NodeList=n[1-3]
   NumNodes=3 NumCPUs=8
   Nodes=n[1-2] CPU_IDs=0-2 Mem=300 GRES=
   Nodes=n3 CPU_IDs=1,4-5 Mem=300 GRES=gpu:1(IDX:0)

JobId=9 ArrayJobId=8 ArrayTaskId=2 JobName=b
   StartTime=2024-01-01T00:00:01
   Nodes=n2 CPU_IDs=3 Mem=100 GRES=
JobId=8 ArrayJobId=8 ArrayTaskId=3-5 JobName=b
   StartTime=Unknown
JobId=10 JobName=c
   StartTime=2024-01-01T00:00:02
   Nodes=n1 CPU_IDs=0-1 Mem=100 GRES=
"""
LATER = "JobId=10 JobName=c\n   StartTime=2024-01-01T00:00:30\n   Nodes=n1 CPU_IDs=0-3 Mem=100 GRES=\n"


def log(*jobs: tuple[str, float, str | None]) -> Trace:
    """Return a log of jobs: id, start, nodes."""
    run = Trace.from_columns(
        job_number=range(1, len(jobs) + 1),
        submit_time=[0] * len(jobs),
        wait_time=[job[1] for job in jobs],
        run_time=[10] * len(jobs),
        requested_processors=[1] * len(jobs),
    )
    ids, hosts = (pd.array([job[place] for job in jobs], "str") for place in (0, 2))
    return run.with_jobs(run.jobs.assign(log_id=ids, host_list=hosts))


def cores_of(trace: Trace, threads: int = 1) -> list[list[int]]:
    """Return what the referee takes of each job: cores by node."""
    many = np.full(3, 8)
    table = NodeTable(
        *(("n1", "n2", "n3"), np.zeros(3, np.int64), ("n",), many, many, 0 * many, many),
        *((PartitionNodes("p", np.arange(3)),),),
        threads=np.full(3, threads),
    )
    found = followed_run(trace, table).logged
    return [found.cores[a:b].tolist() for a, b in zip(found.first[:-1], found.first[1:], strict=True)]


JOBS = (("7", 0, "n[1-3]"), ("8_2", 1, "n2"), ("10", 30, "n1"), ("10", 2, "n1"), ("11", 3, "n[1-2]"), ("12", 4, None))


def test_what_scontrol_printed(tmp_path: Path) -> None:
    """Printed twice, once for each run of job 10 in their order; job 11 is not told."""
    path = tmp_path / "jobs.txt"
    path.write_text(SCONTROL + SCONTROL + LATER + LATER)
    found = with_cores(log(*JOBS), path)
    assert cores_of(found) == [[3, 3, 3], [1], [4], [2], [0, 0], []]
    assert cores_of(found, threads=2) == [[2, 2, 2], [1], [2], [1], [0, 0], []]
    assert cores_of(log(*JOBS)) == [[0, 0, 0], [0], [0], [0], [0, 0], []]


def test_a_table(tmp_path: Path) -> None:
    """Nodes in any order, columns in any order; nodes that are not those of the log are of another run."""
    path = tmp_path / "cores.txt"
    path.write_text("cores|job|gpus|nodes\n1,2,3|7||n3,n1,n2\n5|8_2||n1\n")
    assert cores_of(with_cores(log(*JOBS), path)) == [[2, 3, 1], [0], [0], [0], [0, 0], []]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("job|nodes|cores\n7|n1|x\n", "line 2: is no job, nodes and CPUs of each; write such as"),
        ("job|nodes|cores\n1|n1|2\n7|n[1-2]|1\n", "line 3: is no job"),
        ("job|nodes|cores\n7\n", "line 2: is no job"),
        ("job|nodes|cores\n99|n1|1\n", "tells of no job of the log"),
        ("JobId=99\n   Nodes=n1 CPU_IDs=0 Mem=1 GRES=\n", "tells of no job of the log"),
        ("", "tells of no job of the log"),
    ],
)
def test_what_it_is_not(tmp_path: Path, text: str, told: str) -> None:
    """One sentence with the line."""
    path = tmp_path / "cores.txt"
    path.write_text(text)
    with pytest.raises(ParameterError, match=told):
        with_cores(log(*JOBS), path)


def test_a_log_without_ids(tmp_path: Path) -> None:
    """Has no job that could be found."""
    run = log(*JOBS)
    with pytest.raises(ParameterError, match="export it with JobID and NodeList"):
        with_cores(run.with_jobs(run.jobs.drop(columns="log_id")), tmp_path / "none.txt")
