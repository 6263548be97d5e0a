# SPDX-License-Identifier: BSD-3-Clause
"""Schedules from elsewhere: tables and files that are checked, refused, and those of other simulators."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swftools import Trace, read_swf
from swftools.errors import ParameterError, UnreadableLogError
from swftools.simulator.one_call import simulate
from swftools.simulator.validation.foreign_schedules import read_schedule
from swftools.simulator.validation.report import validate
from tests.drawn import draw_trace
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
    report = validate(schedule.jobs, trace=shipped, **options)
    assert report.ok, str(report)
    assert "reservation" in report.checked


ORACLES = {"fcfs": "fcfs", "easy": "easy", "sjbf": "sjf-backfill", "cons": "conservative"}


@pytest.mark.parametrize("log", ["sdsc5k", "sdsc5kp", "lublin256e", "lublin256p", "sdscsp2"])
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
