# SPDX-License-Identifier: BSD-3-Clause
"""A simulated schedule beside that of the log: over the same jobs, and a sentence where they are far apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import MachineDescription, Trace, compare, measure, simulate
from swftools.simulator.logged import logged_schedule
from swftools.simulator.metrics.beside_log import beside_log, gaps_of


def log_of(**columns: Any) -> Trace:
    """Return a log of jobs of one processor on a machine of two, each a minute, submitted together."""
    rows = len(columns["wait_time"])
    usual = {
        "job_number": range(1, rows + 1),
        "submit_time": [0] * rows,
        "run_time": [60] * rows,
        "requested_time": [60] * rows,
        "requested_processors": [1] * rows,
    }
    return Trace.from_columns(machine_processors=2, **{**usual, **columns})


def beside(trace: Trace, **options: Any) -> Any:
    """Return what is found beside a simulation under fcfs."""
    return beside_log(simulate(trace, "fcfs", compiled=False, **options), trace)


def test_the_same_jobs_are_measured() -> None:
    """Those that are simulated and whose start the log tells: neither the wide one nor the one without a start."""
    trace = log_of(wait_time=[50, 0, 0, None, 60], requested_processors=[3, 1, 1, 1, 1])
    found = beside(trace)
    assert found.logged.jobs["job_number"].tolist() == [1, 2, 3, 5]
    assert found.is_shared.tolist() == [False, True, True, True]
    assert found.logged.processors == 2
    assert found.sentence == ""


def test_a_log_without_starts_has_nothing_beside() -> None:
    """Nor one whose only known job is not simulated."""
    assert beside(log_of(wait_time=[None, None])) is None
    assert beside(log_of(wait_time=[5, None], requested_processors=[3, 1])) is None


@pytest.mark.parametrize(
    ("waits", "told"),
    [
        ([0, 0, 60, 60], ""),
        ([0, 0, 120, 120], ""),  # a minute at most
        ([0, 0, 61, 300], "the mean wait is 30 s, by the log 90.2 s"),
        (
            [0, 200, 200, 200],
            "the mean wait is 30 s, by the log 2.5 min and the median wait is 30 s, by the log 3.33 min",
        ),
        ([0, 0, 0, 0], ""),
    ],
)
def test_what_is_said_of_waits(waits: list[int], told: str) -> None:
    """Mean and median, each if it differs by more than half, and by a minute."""
    found = beside(log_of(wait_time=waits))
    assert found.sentence.partition(":")[0] == told
    assert ("the log tells no reason" in found.sentence) == bool(told)


def test_reasons() -> None:
    """Requests that are not known, jobs that are left out, an empty machine at the start."""
    rows = 200
    waits = [600.0] * rows
    trace = log_of(
        wait_time=[*waits, 600],
        submit_time=[1000.0 * row for row in range(rows + 1)],
        requested_time=[*[60] * 150, *[-1] * 51],
        requested_processors=[*[1] * rows, 3],
    )
    sentence = beside(trace).sentence
    assert "25 % of the jobs request no time" in sentence
    assert "1 job that ran by the log is left out" in sentence
    assert "the first 10 jobs waited 10 min by the log, and 0 s on a machine that is empty at the start" in sentence
    assert "down" not in sentence
    late = log_of(wait_time=[*[0] * 20, *[600] * 180], submit_time=[1000.0 * row for row in range(rows)])
    assert "empty" not in beside(late).sentence


def test_who_waits_longer_than_by_the_log() -> None:
    """Neither jobs that are left out nor a machine that was down are reasons for that."""
    second = 5 * 3600.0
    trace = log_of(
        submit_time=[0, 0, 0, second, second, second],
        wait_time=[0, 0, second, 0, 0, 0],
        run_time=[60, 60, 60, 9 * 3600, 9 * 3600, 60],
        requested_time=[60, 60, 60, 9 * 3600, 9 * 3600, 60],
        requested_processors=[1, 1, 3, 1, 1, 1],
    )
    assert len(gaps_of(logged_schedule(trace))) == 1
    found = beside(trace)
    assert found.sentence.startswith("the mean wait is 108 min, by the log 0 s: the log tells no reason")


def test_only_the_median_is_longer() -> None:
    """The mean is a little shorter, of which nothing is said; so no reason for shorter waits is given."""
    trace = log_of(wait_time=[0, 0, 0, 0, 0, 400, 0], requested_processors=[1, 1, 1, 1, 1, 1, 3])
    found = beside(trace)
    assert found.sentence.startswith("the median wait is 60 s, by the log 0 s: the log tells no reason")


def test_gaps() -> None:
    """No start for four hours: a gap if somebody waits all the time, and half of the machine is free at its end."""
    hour = 3600.0

    def gaps(second: float, run: float, wait: float) -> list[list[float]]:
        trace = log_of(
            submit_time=[0, 0, second], wait_time=[0, 0, wait], run_time=[run, run, 60], requested_time=[run, run, 60]
        )
        return gaps_of(logged_schedule(trace)).tolist()

    assert gaps(0.0, 60.0, 4 * hour) == [[0.0, 4 * hour]]
    assert gaps(0.0, 60.0, 4 * hour - 1) == []
    assert gaps(1.0, 60.0, 4 * hour) == []  # who came later did not wait all the time
    assert gaps(0.0, 4 * hour, 4 * hour) == [[0.0, 4 * hour]]  # what ends at an instant is free then
    assert gaps(0.0, 5 * hour, 4 * hour) == []
    trace = log_of(submit_time=[0, 0], wait_time=[0, 5 * hour], run_time=[6 * hour, 60])
    assert gaps_of(logged_schedule(trace)).tolist() == [[0.0, 5 * hour]]  # half of it is in use
    assert "1 time nobody started in the log though jobs waited" in beside(trace).sentence
    assert "(5 h in all, the longest from 0 s on)" in beside(trace).sentence


def test_on_nodes() -> None:
    """Where the log names the nodes its schedule is on them; else it is one of so many cores."""
    machine = MachineDescription.from_mapping({"nodes": [{"kind": "n", "count": 2, "cores": 1}]})
    trace = log_of(wait_time=[0, 0, 60])
    found = beside(trace, machine=machine)
    assert found.logged.machine is None
    assert found.logged.processors == 2
    named = trace.with_jobs(trace.jobs.assign(host_list=np.array(["n1", "n2", "n1"], object)))
    assert beside(named, machine=machine).logged.machine is not None
    other = trace.with_jobs(trace.jobs.assign(host_list=np.array(["x1", "n2", "n1"], object)))
    assert beside(other, machine=machine).logged.machine is None


def value(table: pd.DataFrame, policy: str, name: str, statistic: str = "mean") -> float:
    """Return one value of a table of measures."""
    rows = table[(table["policy"] == policy) & (table["measure"] == name) & (table["statistic"] == statistic)]
    return float(rows["value"].iloc[0])


def test_measures_of_the_log_stand_behind() -> None:
    """Of the same jobs: those that run by the simulation and by the log, and of them those that are chosen."""
    trace = log_of(wait_time=[50, 0, 10, None, 60], requested_processors=[3, 1, 1, 1, 1])
    schedule = simulate(trace, "fcfs", compiled=False)
    table = measure(schedule, log=trace)
    assert table["policy"].drop_duplicates().tolist() == ["fcfs", "logged"]
    assert value(table, "logged", "wait") == (0 + 10 + 60) / 3
    assert value(table, "fcfs", "wait") == (0 + 0 + 60 + 60) / 4
    assert not {"wasted_load", "preemptions"} & {*table["measure"][table["policy"] == "logged"]}
    pd.testing.assert_frame_equal(table[table["policy"] == "fcfs"], measure(schedule))
    chosen = measure(schedule, log=trace, where=np.array([False, True, True, True]), bound=30)
    assert value(chosen, "logged", "wait") == (10 + 60) / 2
    assert value(chosen, "logged", "bounded_slowdown") == ((60 + 10) / 60 + (60 + 60) / 60) / 2
    by_run = measure(schedule, log=trace, by="run_time")
    assert by_run[by_run["policy"] == "logged"]["classed_by"].unique().tolist() == ["run_time"]


def test_a_log_that_tells_nothing_has_no_rows() -> None:
    """The table is that of the schedule."""
    trace = log_of(wait_time=[None, None])
    schedule = simulate(trace, "fcfs", compiled=False)
    pd.testing.assert_frame_equal(measure(schedule, log=trace), measure(schedule))


def test_policies_beside_the_log() -> None:
    """Only where it is asked for, and behind them."""
    trace = log_of(wait_time=[0, 0, 30])
    plain = compare(trace, ["fcfs", "easy"], compiled=False)
    assert list(plain.summary()) == ["unit", "fcfs", "easy"]
    found = compare(trace, ["fcfs", "easy"], compiled=False, logged=True)
    assert list(found.summary()) == ["unit", "fcfs", "easy", "logged"]
    assert value(found, "logged", "wait") == 10
    assert len(found) > len(plain)


def test_the_shared_part_of_the_log() -> None:
    """Its jobs and their runs, and no others."""
    shared = beside(log_of(wait_time=[50, 0, 0, None, 60], requested_processors=[3, 1, 1, 1, 1])).shared
    assert shared.jobs["job_number"].tolist() == sorted(shared.segments["job_number"]) == [2, 3, 5]
