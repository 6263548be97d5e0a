# SPDX-License-Identifier: BSD-3-Clause
"""The schedule that a log tells, against what stands in the log."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import MachineDescription, Trace, measure, read_log, read_machine, simulate, validate
from swftools.errors import ParameterError
from swftools.simulator.logged import logged_schedule, spread

RUN = Path(__file__).parents[1] / "slurm_runs" / "plain"
NODES = MachineDescription.from_mapping(
    {
        "nodes": [{"kind": "n", "names": "n[0-2]", "cores": 4}, {"kind": "m", "names": "m0", "cores": 8}],
        "partitions": [{"name": "all", "nodes": "n[0-2],m0"}, {"name": "big", "nodes": "m0"}],
    }
)


def _trace(**columns: list[Any]) -> Trace:
    usual: dict[str, Any] = {
        "job_number": [1, 2, 3, 4],
        "submit_time": [0, 1, 2, 3],
        "wait_time": [0, 4, None, 2],
        "run_time": [5, 6, 7, None],
        "requested_processors": [10, 3, 2, 1],
        "requested_time": [8, 0, 9, 9],
    }
    trace = Trace.from_columns(**{name: columns.get(name, values) for name, values in usual.items()})
    others = {name: pd.Series(values, dtype="str") for name, values in columns.items() if name not in usual}
    return trace.with_jobs(trace.jobs.assign(**others))


def test_what_the_log_says_is_the_schedule() -> None:
    """Submissions, starts and ends are those of the log; who has none is left out, with the reason."""
    schedule = logged_schedule(_trace())
    told = ["job_number", "submit_time", "start_time", "end_time", "wait_time", "requested_time"]
    assert schedule.jobs[told].to_numpy().tolist() == [[1, 0, 0, 5, 0, 8], [2, 1, 5, 11, 4, 6]]
    assert schedule.policy == "logged"
    assert schedule.excluded.to_numpy().tolist() == [
        [3, 0, "the log does not tell when it started"],
        [4, 0, "the log does not tell how long it ran"],
    ]


def test_the_machine_is_as_large_as_what_was_busy_at_once() -> None:
    """Where nobody says how large the machine is."""
    assert logged_schedule(_trace()).processors == 10  # what ends at 5 s is free for what starts then
    assert logged_schedule(_trace(wait_time=[0, 3, None, 2])).processors == 13


def test_nodes_are_those_of_the_log_and_cores_are_spread_over_them() -> None:
    """Slurm's list of hosts does not say how many each gave."""
    schedule = logged_schedule(_trace(host_list=["n[0-1],m0", "n2", "n0", "n0"]), NODES.table())
    assert schedule.with_nodes()["nodes"].tolist() == ["n[0-1],m0", "n2"]
    assert list(schedule.segments["cores_by_node"].iloc[0]) == [4, 3, 3]
    assert schedule.segments["cores_by_node"].isna().tolist() == [False, True]
    assert schedule.segments["cores_per_node"].tolist() == [4, 3]


def test_a_text_that_says_what_each_node_gave_counts() -> None:
    """As PBS writes it."""
    texts = ["n1/0*1+m0/0*8+n0/0*1", "n2/0-2", "n0/0", "n0/0"]
    schedule = logged_schedule(_trace(host_list=texts), NODES.table())
    assert list(schedule.segments["cores_by_node"].iloc[0]) == [1, 1, 8]
    assert schedule.segments["cores_per_node"].tolist() == [8, 3]


@pytest.mark.parametrize(
    ("cores", "whole", "expected"),
    [(10, [4, 2, 8], [4, 2, 4]), (3, [1, 1], [1, 1]), (0, [4], [0]), (7, [4, 4, 4], [3, 2, 2]), (5, [], [])],
)
def test_spread(cores: int, whole: list[int], expected: list[int]) -> None:
    """By hand."""
    assert spread(cores, np.array(whole, np.int64)).tolist() == expected


def test_when_a_job_was_eligible_is_its_ready_time() -> None:
    """It is neither before its submission nor behind its start."""
    trace = _trace()
    trace = trace.with_jobs(trace.jobs.assign(eligible_time=[0.0, 3.0, 2.0, 3.0]))
    assert logged_schedule(trace).jobs[["ready_time", "ready_wait"]].to_numpy().tolist() == [[0, 0], [3, 2]]
    late = trace.with_jobs(trace.jobs.assign(eligible_time=[np.nan, 30.0, 2.0, 3.0]))  # after its start: not known so
    assert logged_schedule(late).jobs["ready_time"].tolist() == [0, 5]


def test_what_cannot_be_told_is_said() -> None:
    """One sentence each."""
    with pytest.raises(ParameterError, match="does not tell of any job when it started"):
        logged_schedule(_trace(wait_time=[None] * 4))
    with pytest.raises(ParameterError, match="on which nodes jobs ran; export it with NodeList"):
        logged_schedule(_trace(), NODES.table())
    with pytest.raises(ParameterError, match="nodes that the machine has not: n7; describe"):
        logged_schedule(_trace(host_list=["n7", "n0", "n0", "n0"]), NODES.table())
    some = logged_schedule(_trace(host_list=["n[0-2]", None, "n0", "n0"]), NODES.table())
    assert some.excluded["reason"].tolist()[0] == "the log does not name its nodes"


def test_a_simulated_schedule_that_is_logged_is_found_again() -> None:
    """What a policy does, written as a log, is the same schedule."""
    trace = Trace.from_columns(
        machine_processors=20,
        job_number=[1, 2, 3, 4, 5],
        submit_time=[0, 0, 1, 2, 9],
        run_time=[9, 5, 5, 5, 2],
        requested_time=[9, 5, 5, 5, 2],
        requested_processors=[8, 8, 16, 4, 3],
    )
    made = simulate(trace, "easy", machine=NODES)
    log = trace.with_jobs(
        trace.jobs.assign(wait_time=made.jobs["wait_time"].to_numpy(), host_list=made.with_nodes()["nodes"].to_numpy())
    )
    found = logged_schedule(log, NODES.table())
    assert validate(found, trace=log, machine=NODES).ok
    assert found.jobs["start_time"].tolist() == made.jobs["start_time"].tolist()
    assert [list(each) for each in found.segments["nodes"]] == [list(each) for each in made.segments["nodes"]]
    assert made.jobs["wait_time"].sum() > 0
    figures, own = (measure(each).set_index(["measure", "statistic"])["value"].rename() for each in (found, made))
    is_told = own.index.get_level_values("measure") != "is_backfilled"  # a log does not tell who overtook whom
    pd.testing.assert_series_equal(figures[is_told], own[is_told])


def test_a_real_run(tmp_path: Path) -> None:
    """Of a real Slurm: the cores of each job add up, and its nodes are those of the log."""
    log = tmp_path / "sacct.txt"
    log.write_bytes(gzip.decompress((RUN / "sacct.txt.gz").read_bytes()))
    trace = read_log(log, "slurm:time_zone=UTC")
    site = read_machine(RUN / "slurm.conf").table()
    schedule = logged_schedule(trace, site)
    uneven = schedule.segments[schedule.segments["cores_by_node"].notna()]
    assert len(uneven) > 30
    assert [sum(each) for each in uneven["cores_by_node"]] == uneven["allocated_processors"].tolist()
    assert (
        schedule.with_nodes()["nodes"].tolist() == trace.jobs.loc[trace.jobs["wait_time"].notna(), "host_list"].tolist()
    )
