# SPDX-License-Identifier: BSD-3-Clause
"""swftools whatif: what is printed, as JSON too, and what ends it early."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipelines.cli.whatif import whatif

NOW = """JOBID|STATE|CPUS|TIME_LIMIT|TIME|SUBMIT_TIME
11|RUNNING|64|4:00:00|1:00:00|2026-11-24T08:00:00
12|RUNNING|32|1-00:00:00|30:00|2026-11-24T09:00:00
13|PENDING|96|2:00:00|0:00|2026-11-24T09:30:00
14|PD|8|30:00|0:00|2026-11-24T09:40:00
15|COMPLETED|8|30:00|12:00|2026-11-24T07:40:00
"""

ASKED = ["--processors", "128", "--job", "processors=64,time=4h"]


@pytest.fixture
def now(tmp_path: Path) -> str:
    """A queue of four jobs."""
    path = tmp_path / "now.txt"
    path.write_text(NOW, encoding="utf-8")
    return str(path)


def test_what_is_printed(now: str) -> None:
    """A line a policy and job, and the free processors; within 80 columns."""
    done = CliRunner().invoke(
        whatif, ["--running", now, *ASKED, "--job", "processors=8, time=30m", "--policies", "easy,fcfs"]
    )
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "2 jobs run and 2 wait; 32 of 128 processors are free",
        "jobs in other states, passed over: 1",
    ]
    assert [line.split() for line in lines[4:8]] == [
        ["easy", "64", "04:00:00", "05:00:00", "2"],
        ["easy", "8", "00:30:00", "at", "once", "0"],
        ["fcfs", "64", "04:00:00", "05:00:00", "1"],
        ["fcfs", "8", "00:30:00", "05:00:00", "1"],
    ]
    assert [line.split() for line in lines[-3:]] == [["now", "32"], ["in", "03:00:00", "96"], ["in", "23:30:00", "128"]]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("kept", "told"),
    [((), "0 jobs run and 0 wait"), ((1,), "1 job runs and 0 wait"), ((1, 3), "1 job runs and 1 waits")],
)
def test_one_job_runs(kept: tuple[int, ...], told: str, tmp_path: Path) -> None:
    """As one says it."""
    lines = NOW.splitlines(keepends=True)
    (tmp_path / "now.txt").write_text("".join(lines[row] for row in (0, *kept)), encoding="utf-8")
    done = CliRunner().invoke(whatif, ["--running", str(tmp_path / "now.txt"), *ASKED, "--policies", "easy"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{told}; ")


def test_processors_that_go_away(now: str) -> None:
    """At 3 h 32 of them, for good: job 11 has just ended, so nobody is stopped, and a job of 128 never starts."""
    asked = [*ASKED, "--job", "processors=128,time=1m", "--away", "processors=32,in=3h", "--policies", "easy"]
    done = CliRunner().invoke(whatif, ["--running", now, *asked])
    assert (done.exit_code, done.stderr) == (0, "")
    found = [line.split() for line in done.stdout.splitlines()[4:6]]
    assert found[1] == ["easy", "128", "00:01:00", "never", "2"]
    answers = json.loads(CliRunner().invoke(whatif, ["--running", now, *asked, "--json"]).stdout)["answers"]
    assert [answer["wait"] for answer in answers][1] is None
    back = [*asked[:-3], "processors=32,in=0,for=4h"]
    (first, second) = json.loads(CliRunner().invoke(whatif, ["--running", now, *back, "--json"]).stdout)["answers"]
    assert first["wait"] >= 3 * 3600
    assert second["wait"] > 23 * 3600


def test_a_document_in_place_of_a_text(tmp_path: Path) -> None:
    """What squeue --json printed."""
    path = tmp_path / "now.json"
    job = {"job_id": 1, "job_state": ["RUNNING"], "cpus": 100, "time_limit": 60, "start_time": 1000, "submit_time": 0}
    path.write_text(json.dumps({"jobs": [job], "last_update": 1600}), encoding="utf-8")
    done = CliRunner().invoke(whatif, ["--running", str(path), *ASKED, "--json"])
    assert json.loads(done.stdout)["answers"][0]["wait"] == 3000.0


def test_jobs_that_have_no_part_are_told(tmp_path: Path) -> None:
    """By their reasons, within 80 columns; the job asked about takes its place by priority."""
    reasons = ["JobHeldUser", "DependencyNeverSatisfied", "Dependency", "Dependency", "BeginTime", "AssocGrpCpuLimit"]
    others = [f"{20 + k}|PD|999|1:00|0:00|9|{reason}" for k, reason in enumerate([*reasons, "Licenses"])]
    ahead = ["11|R|128|1:00:00|0:00|9|None", "12|PD|64|1:00:00|0:00|50|Priority", "13|S|9|1:00|0:00|0|None"]
    path = tmp_path / "now.txt"
    lines = ["JOBID|STATE|CPUS|TIME_LIMIT|TIME|PRIORITY|REASON", *others, *ahead, "14|CD|1|1:00|0:00|9|None"]
    path.write_text("\n".join(lines), encoding="utf-8")
    jobs = [f"processors=128,time=1h{more}" for more in ("", ",priority=50", ",priority=51")]
    asked = [part for job in jobs for part in ("--job", job)]
    done = CliRunner().invoke(whatif, ["--running", str(path), "--processors", "128", *asked])
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:7] == [
        "1 job runs and 1 waits; 0 of 128 processors are free",
        "left out: waiting jobs that only a person can release: 2",
        "  DependencyNeverSatisfied 1, JobHeldUser 1",
        "left out: waiting jobs that wait for something else than processors: 5",
        "  AssocGrpCpuLimit 1, BeginTime 1, Dependency 2, Licenses 1",
        "suspended jobs, which hold no processors: 1",
        "jobs in other states, passed over: 1",
    ]
    assert [line.split()[3:] for line in lines[9:12]] == [["02:00:00", "1"], ["02:00:00", "1"], ["01:00:00", "0"]]
    assert max(map(len, lines)) <= 80


def test_json_and_processors_that_are_out_of_order(now: str) -> None:
    """With 32 less the first job needs all, from 23:30 on; until then job 14 and this one go ahead, one by one."""
    done = CliRunner().invoke(whatif, ["--running", now, *ASKED, "--less", "32", "--json"])
    found = json.loads(done.stdout)
    assert found["free"][0] == {"time": 0.0, "free": 0}
    assert (found["answers"][0]["wait"], found["answers"][0]["behind"]) == (3 * 3600 + 1800, 1)
    assert (found["running"], found["waiting"], found["others"]) == (2, 2, 1)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--job", "procs=64"], "'procs=64': write a job as processors=64,time=4h"),
        (["--job", "processors=1,time=4h,priority=high"], "give a whole priority above 0, as squeue --format=%Q"),
        (["--job", "processors=1,time=4h,priority=0"], "give a whole priority above 0, as squeue --format=%Q"),
        (["--job", "processors=1.5,time=4h"], "give whole processors, and a time such as 4h"),
        (["--job", "processors=1,time=soon"], "give whole processors, and a time such as 4h"),
        (["--away", "nodes=3"], "'nodes=3': write it as processors=32,in=3h,for=2h"),
        (["--away", "processors=3,in=noon"], "give whole processors, and times such as 4h"),
        (["--away", "processors=3,for=0"], "give whole processors, and times such as 4h"),
        (["--less", "128"], "--less 128 leaves nothing of --processors 128"),
    ],
)
def test_slips_are_told_before_anything_is_read(flags: list[str], message: str) -> None:
    """Status 2, as of every wrong command."""
    done = CliRunner().invoke(whatif, ["--running", "nowhere.txt", *ASKED, *flags])
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
