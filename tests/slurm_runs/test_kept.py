# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of a run agrees with itself: its accounts are read, and cores by node are those that sacct adds up."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from swftools import read_log
from swftools.machines.hostlist import expand_hosts

RUNS = sorted(path.parent for path in Path(__file__).parent.glob("*/sacct.txt.gz"))

MOST_UNSEEN = 20
"""Starts of a run whose cores by node nobody saw: jobs that were queued again before one looked."""


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_cores_by_node(run: Path) -> None:
    """Each start has a row; its nodes are those of the list, and its cores sum up to what was allocated."""
    trace = read_log(run / "sacct.txt.gz", "slurm:time_zone=UTC")
    assert set(trace.quarantine["reason"]) <= {"not ended: 'PENDING'", "not ended: 'RUNNING'"}
    jobs = trace.jobs[trace.jobs["host_list"].notna()]
    start = trace.header.unix_start_time + jobs["submit_time"] + jobs["wait_time"]
    told = pd.read_csv(run / "cores.txt.gz", sep="|", dtype=str, index_col=["job", "start"])
    assert told.index.is_unique
    keys = list(zip(jobs["log_id"], pd.to_datetime(start, unit="s").dt.strftime("%Y-%m-%dT%H:%M:%S"), strict=True))
    is_seen = pd.Index(keys).isin(told.index)
    assert (~is_seen).sum() <= MOST_UNSEEN
    assert is_seen.sum() > 200
    jobs, told = jobs[is_seen], told.loc[[key for key, seen in zip(keys, is_seen, strict=True) if seen]]
    assert jobs["host_list"].map(expand_hosts).tolist() == told["nodes"].str.split(",").tolist()
    sums = told["cores"].str.split(",").map(lambda each: sum(map(int, each)))
    assert sums.tolist() == jobs["allocated_processors"].tolist()
