# SPDX-License-Identifier: BSD-3-Clause
"""Sixty jobs run in a real Slurm: its accounts are read, and its decisions are held against policy ``slurm``."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from swftools import read_log, read_machine
from swftools.machines.hostlist import expand_hosts
from swftools.referee import referee
from tests.real_slurm.cluster import CORES, running_slurm, what_is_missing
from tests.real_slurm.driven import CONFIGURATION, JOBS, KINDS, NODES, Driven, drive

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Driven:
    """The run, which two minutes go by for."""
    if missing := what_is_missing():
        pytest.skip(missing)
    folder = tmp_path_factory.mktemp("run")
    with running_slurm(folder / "own", CONFIGURATION, NODES) as slurm:
        return drive(slurm, folder)


@pytest.fixture(scope="module")
def jobs(driven: Driven) -> pd.DataFrame:
    """Its jobs, as they are read; nothing of them is refused."""
    trace = read_log(driven.sacct, "slurm:time_zone=UTC")
    assert trace.quarantine.empty
    return trace.jobs


def test_every_job_has_ended(driven: Driven, jobs: pd.DataFrame) -> None:
    """All but the one that was cancelled while it ran are completed."""
    assert len(jobs) == driven.tasks
    ends = jobs["logged_state"].str.split().str[0].value_counts()
    assert ends.to_dict() == {"COMPLETED": driven.tasks - 1, "CANCELLED": 1}
    assert jobs["host_list"].notna().all()


def test_who_started_each(jobs: pd.DataFrame) -> None:
    """The main scheduler or backfill, and nobody before its job was eligible."""
    flags = jobs["scheduler_flags"].str.split(",")
    assert flags.map(lambda each: len({"SchedMain", "SchedBackfill"} & set(each))).eq(1).all()
    assert (jobs["submit_time"] + jobs["wait_time"] >= jobs["eligible_time"]).all()
    assert jobs["priority"].notna().all()


def test_nodes(jobs: pd.DataFrame) -> None:
    """Each has as many as its host list names, whole ones where it asked for these; never more cores than there are."""
    hosts = jobs["host_list"].map(expand_hosts)
    assert hosts.map(len).eq(jobs["allocated_nodes"]).all()
    assert set(hosts.explode()) <= {f"n{k + 1}" for k in range(NODES)}
    is_whole = jobs["submit_line"].str.contains("--exclusive|--partition=whole")
    assert 0 < is_whole.sum() < len(jobs)
    assert jobs["allocated_processors"][is_whole].eq(CORES * jobs["allocated_nodes"][is_whole]).all()
    assert _most_at_once(jobs, jobs["allocated_processors"]) <= NODES * CORES


def test_tasks_of_an_array(jobs: pd.DataFrame) -> None:
    """Each is a row; as many at once as the array says."""
    tasks = jobs[jobs["array_number"].notna()]
    assert tasks["array_number"].nunique() == JOBS // len(KINDS)
    for number, array in tasks.groupby("array_number"):
        limit = re.search(r"--array=0-5%(\d)", array["submit_line"].iloc[0])
        assert limit is not None
        assert sorted(array["array_index"]) == list(range(6)), number
        assert _most_at_once(array, pd.Series(1, array.index)) <= int(limit[1])


def test_the_referee(driven: Driven) -> None:
    """In each state of the run the rules make as many of its starts at the right time as of the kept runs."""
    log = read_log(driven.sacct, "slurm:time_zone=UTC,unended=kept")
    figures = referee(log, read_machine(driven.site).simulated(log.header)).figures
    assert figures["starts"] == driven.tasks
    assert figures["right"] >= 0.85
    assert figures["waited_right"] >= 0.75
    assert figures["on_nodes"] >= 0.80


def _most_at_once(jobs: pd.DataFrame, weight: pd.Series) -> float:
    """Return the largest sum of weights at a time; who ends in the second in which others start is gone before."""
    start = jobs["submit_time"] + jobs["wait_time"]
    changes = pd.concat(
        [
            pd.DataFrame({"at": start + jobs["run_time"], "change": -weight.astype(float)}),
            pd.DataFrame({"at": start, "change": weight.astype(float)}),
        ]
    )
    return float(changes.sort_values("at", kind="stable")["change"].cumsum().max())
