# SPDX-License-Identifier: BSD-3-Clause
"""Schedules from elsewhere: tables and files that are checked, refused, and those of other simulators."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace, read_swf
from swftools.errors import ParameterError, UnreadableLogError
from swftools.simulator.entry_points import simulate
from swftools.simulator.validation.foreign_schedules import read_schedule
from swftools.simulator.validation.report import validate
from tests.drawn import draw_trace
from tests.examples import by_day
from tests.simulator.validation.faults import PROMISES, sound


def small_trace() -> Trace:
    """Return a trace with a number that occurs twice, and a job that is wider than the machine."""
    return draw_trace(
        """
        job submit run request asked
        1   0      10  8       3
        2   1      5   5       2
        2   2      4   .       1
        5   3      9   9       9
        """,
        processors=4,
    )


def test_table_is_checked() -> None:
    """Columns have our names or short ones; jobs that cannot be simulated may be left out."""
    table = pd.DataFrame({"job_id": [2, 1, 2], "start": [10, 0, 2]})
    assert validate(table, trace=small_trace(), policy="easy").ok
    full = pd.DataFrame(
        {
            "job_number": [2, 1, 2],
            "job_occurrence": [1, 0, 0],
            "start_time": [2, 0, 10],
            "end_time": [6, 10, 15],
            "processors": [1, 3, 2],
        }
    )
    report = validate(full, trace=small_trace(), policy="easy")
    assert report.ok
    assert ("easy", 3, 4) == (report.policy, report.jobs, report.processors)


def test_table_that_lacks_a_job_is_not_valid() -> None:
    """A job of the trace that is neither in the table nor impossible is lost."""
    table = pd.DataFrame({"job_id": [1, 2], "start": [0, 10]})
    report = validate(table, trace=small_trace())
    assert ["trace"] == report.violations["rule"].tolist()
    assert "job 2 of the trace is neither in the schedule nor excluded" in str(report)


def test_cut_runs_and_least_run_times_are_stated() -> None:
    """How the other simulator changed run times is told by two options; without them its ends are wrong."""
    trace = small_trace().with_jobs(small_trace().jobs.iloc[:2].assign(run_time=[10.0, 0.0]))
    table = pd.DataFrame({"job_id": [1, 2], "start": [0, 8], "end": [8, 9]})
    report = validate(table, trace=trace)
    assert {"run-time"} == set(report.violations["rule"])
    assert validate(table, trace=trace, overrun="kill", least_run_time=1).ok
    assert validate(table.drop(columns="end"), trace=trace, overrun="kill", least_run_time=1).ok
    long = table.assign(job_id=[2, 1]).drop(columns="end")
    crowded = trace.with_jobs(trace.jobs.assign(requested_processors=3, submit_time=0.0, run_time=[10.0, 9.0]))
    assert {"capacity"} == set(validate(long, trace=crowded).violations["rule"])
    assert {"capacity"} == set(validate(long.assign(start=[0, 5]), trace=crowded).violations["rule"])
    assert validate(long.assign(start=[0, 5]), trace=crowded, overrun="kill").ok


def test_rounded_times_are_tolerated() -> None:
    """Times that are off by no more than the tolerance break nothing."""
    table = pd.DataFrame({"job_id": [1, 2, 2], "start": [0.0, 9.6, 2.0]})
    assert not validate(table, trace=small_trace()).ok
    assert validate(table, trace=small_trace(), tolerance=0.5).ok


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"job": [1], "start": [0]}, "no column job_number or job_id; its columns are job, start"),
        ({"job_id": [1], "begin": [0]}, "no column start_time or start"),
        ({"job_id": [1, 7], "start": [0, 1]}, "job 7 of the schedule is not in the trace"),
        ({"job_id": [1, 1], "start": [0, 1]}, "job 1 of the schedule is repeated"),
        ({"job_id": [2, 2], "job_occurrence": [1, 1], "start": [0, 1]}, "job 2 of the schedule is repeated"),
        ({"job_id": [1], "start": ["soon"]}, "column 'start' of the schedule: not numbers"),
        ({"job_id": [3], "start": [0]}, "job 3 has no run time in the trace"),
    ],
)
def test_wrong_tables_are_refused(table: dict[str, list[Any]], message: str) -> None:
    """A table that cannot be read as a schedule of the trace is refused in words."""
    trace = small_trace()
    more = Trace.from_columns(job_number=[3], submit_time=[9], requested_processors=[1]).jobs
    trace = trace.with_jobs(pd.concat([trace.jobs, more], ignore_index=True))
    with pytest.raises(ParameterError, match=re.escape(message)):
        validate(pd.DataFrame(table), trace=trace)


def test_wrong_options_are_refused() -> None:
    """A table without trace, a machine of unknown size, an unknown option and missing columns are refused."""
    table = pd.DataFrame({"job_id": [1], "start": [0]})
    trace = Trace.from_columns(job_number=[1], submit_time=[0], run_time=[1], requested_processors=[1])
    with pytest.raises(ParameterError, match="pass trace="):
        validate(table)
    with pytest.raises(ParameterError, match="give processors="):
        validate(table, trace=trace)
    with pytest.raises(ParameterError, match="overrun='cut' is not one of"):
        validate(table, trace=trace, processors=1, overrun="cut")
    with pytest.raises(ParameterError, match=r"schedule\.jobs has no columns wait_time"):
        validate(replace(sound(), jobs=sound().jobs.drop(columns="wait_time")))


@pytest.mark.parametrize("name", ["starts.csv", "starts.csv.gz", "starts.parquet"])
def test_files_are_read(name: str, tmp_path: Path) -> None:
    """CSV, compressed or not, and Parquet; what is none of them is refused."""
    table = pd.DataFrame({"job_id": [1, 2, 2], "start": [0, 10, 2]})
    path = tmp_path / name
    table.to_parquet(path) if name.endswith("parquet") else table.to_csv(path, index=False)
    pd.testing.assert_frame_equal(table, read_schedule(path))
    assert validate(path, trace=small_trace()).ok
    path.write_bytes(b"")
    with pytest.raises(UnreadableLogError, match=re.escape(name)):
        read_schedule(path)
    with pytest.raises(UnreadableLogError, match="other"):
        read_schedule(tmp_path / f"other{name}")


def test_a_schedule_of_ours_as_a_table(shipped: Trace) -> None:
    """The jobs table of a simulation, read back, is valid too, with its promises."""
    schedule = simulate(shipped, "conservative", overrun="kill", requests="factor:factor=2")
    options: dict[str, Any] = {"policy": "conservative", "semantics": "instant", "overrun": "kill"}
    report = validate(schedule.jobs, trace=shipped, **options, requests="factor:factor=2")
    assert report.ok, str(report)
    assert "reservation" in report.checked
    (message,) = validate(schedule.jobs, trace=shipped, **options).violations["message"].iloc[:1]
    assert message.endswith("; if requests were changed on purpose, say how by requests= (--requests)")


SMALL = Trace.from_columns(
    machine_processors=4,
    job_number=[1, 2, 3],
    submit_time=[0, 5, 6],
    run_time=[10, 7, 3],
    requested_time=[8, 9, 0],
    requested_processors=[3, 2, 1],
)
SAID = {
    "job_id": [1, 2, 3],
    "start": [0.0, 10, 6],
    "submit_time": [0, 5, 6],
    "wait_time": [0, 5, 0],
    "turnaround_time": [10, 12, 3],
    "end": [10, 17, 9],
    "processors": [3, 2, 1],
    "requested_processors": [3, 2, 1],
    "requested_time": [8, 9, 3],
}
"""What a schedule of these jobs says of them where all is right."""


@pytest.mark.parametrize(
    ("column", "values", "rule", "words"),
    [
        ("submit_time", [0, 1005, 6], "submission", "job 2 starts at 10 s, before its submission at 1005 s"),
        ("submit_time", [0, 3, 6], "trace", "job 2: submit_time is 3, of the trace 5"),
        ("wait_time", [0, 6, 0], "columns", "job 2: wait_time is 6, and would be 5"),
        ("wait_time", [0, -5, 0], "columns", "job 2: wait_time is -5, and would be 5"),
        ("turnaround_time", [10, 12, 4], "columns", "job 3: response_time is 4, and would be 3"),
        ("processors", [3, 1, 1], "trace", "job 2: allocated_processors is 1, of the trace 2"),
        ("requested_processors", [3, 2, 2], "trace", "job 3: requested_processors is 2, of the trace 1"),
        ("requested_time", [8, 90, 3], "trace", "job 2: requested_time is 90, of the trace 9"),
        ("requested_time", [10, 9, 30], "trace", "job 3: requested_time is 30, of the trace 3"),
        ("start", [9.0e8, 9.0e8 + 10, 9.0e8 + 6], "trace", "do not count from the begin of the log; subtract"),
    ],
)
def test_a_table_that_contradicts_itself_or_the_trace(column: str, values: list[float], rule: str, words: str) -> None:
    """Whatever it says beside its starts is checked; that of the log's own columns is not taken in its place."""
    assert validate(pd.DataFrame(SAID), trace=SMALL).ok
    table = pd.DataFrame(SAID | {column: values})
    if column == "start":
        table = table[["job_id", "start"]]
    found = validate(table, trace=SMALL).violations
    assert words in " ".join(found[found["rule"] == rule]["message"])


def test_what_a_table_leaves_open_is_that_of_the_trace() -> None:
    """Some cells may be empty, and the request may be told raised or as it was logged."""
    table = pd.DataFrame(SAID | {"submit_time": [0, None, 6], "wait_time": [None, 5, 0], "requested_time": [10, 9, 3]})
    assert validate(table, trace=SMALL).ok
    killed = pd.DataFrame(SAID | {"end": [8, 15, 9], "turnaround_time": [8, 10, 3], "start": [0.0, 8, 6]})
    killed = killed.assign(wait_time=[0, 3, 0])
    assert validate(killed, trace=SMALL, overrun="kill").ok


@pytest.mark.parametrize("options", [{}, {"overrun": "kill"}, {"overrun": "run-on"}, {"requests": "factor:factor=3"}])
@pytest.mark.parametrize("cancelled", ["drop", "end-at-once", "full-request"])
def test_requests_that_were_changed_are_found_in_our_schedules(options: dict[str, Any], cancelled: str) -> None:
    """Under every option by which requests are made, of jobs with and without one."""
    jobs = SMALL.jobs.assign(run_time=[10.0, np.nan, 3.0])
    trace = SMALL.with_jobs(jobs)
    schedule = simulate(trace, "easy", cancelled=cancelled, compiled=False, **options)
    assert validate(schedule, trace=trace).ok
    for row in range(len(schedule)):
        asked = schedule.jobs["requested_time"].to_numpy().copy()
        asked[row] += 1
        changed = replace(schedule, jobs=schedule.jobs.assign(requested_time=asked, estimated_time=asked))
        assert "requested_time is" in " ".join(validate(changed, trace=trace).violations["message"])


def test_a_job_of_no_length_is_no_culprit() -> None:
    """It takes nothing, and what it does while others use too much is no further violation."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3],
        submit_time=[0, 0, 0],
        run_time=[10, 5, 0],
        requested_processors=[4, 1, 4],
    )
    for start in (0.0, 5.0, 6.0):
        table = pd.DataFrame({"job_number": [1, 2, 3], "start_time": [0.0, 5.0, start]})
        found = validate(table, trace=trace).violations
        assert found[["rule", "job_number", "time", "count"]].to_numpy().tolist() == [["capacity", 2, 5.0, 1]]


ORACLES = {"fcfs": "fcfs", "easy": "easy", "sjbf": "sjf-backfill", "cons": "conservative"}


@pytest.mark.parametrize("log", by_day(["sdsc5k", "sdsc5kp", "lublin256e", "lublin256p", "sdscsp2"], 2))
def test_schedules_of_other_simulators_pass(log: str, shared: Path) -> None:
    """The schedules of pyss, CQSim and a plain EASY are valid and keep the promises of their policies."""
    folder = shared / "oracles" / "schedules"
    trace = read_swf(folder / f"{log}.swf.gz")
    paths = sorted(folder.glob(f"*_{log}.csv.gz"))
    assert len(paths) >= 4
    for path in paths:
        simulator, policy, *_ = path.name.split("_")
        report = validate(
            path,
            trace=trace,
            processors=256 if "lublin" in log else 128,
            policy=ORACLES[policy],
            semantics={"naive": "instant"}.get(simulator, simulator),
            least_run_time=1.0 if simulator == "pyss" else 0.0,
        )
        assert report.ok, f"{path.name}: {report}"
        assert set(PROMISES[ORACLES[policy]]) <= set(report.checked)


BATSIM = """\
job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,\
execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata
w0!1,w0,p1,0,3,-1,1,COMPLETED_SUCCESSFULLY,0,10,10,0,10,1,0-2,-1,
w0!2,w0,p2,1,2,20,1,COMPLETED_SUCCESSFULLY,10,5,15,9,14,2.8,{resources},-1,
w0!3,w0,p3,2,9,20,0,REJECTED,-1,-1,-1,-1,-1,-1,,-1,
"""


@pytest.mark.parametrize(("resources", "is_ok"), [("0 2", True), ("1-2", True), ("0-3", False)])
def test_jobs_of_batsim(tmp_path: Path, resources: str, is_ok: bool) -> None:
    """Its names of columns, ids with the workload in front, lists of resources; a rejected job has no start."""
    (tmp_path / "jobs.csv").write_text(BATSIM.replace("{resources}", resources))
    found = read_schedule(tmp_path / "jobs.csv")
    assert found["job_number"].tolist() == ["1", "2"]
    assert found["requested_time"].tolist() == [10, 20]
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3],
        submit_time=[0, 1, 2],
        run_time=[10, 5, 5],
        requested_processors=[3, 2, 9],
    )
    assert validate(str(tmp_path / "jobs.csv"), trace=trace).ok == is_ok
