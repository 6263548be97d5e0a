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
        (["--job", "processors=1.5,time=4h"], "processors is not a whole number from 1 on"),
        (["--job", "processors=1,time=soon"], "time is not a time such as 4h, 30m or 04:00:00"),
        (["--away", "procs=3"], "'procs=3': write it as processors=32,in=3h,for=2h"),
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


# ---------------------------------------------------------------- on nodes

ON_NODES = """JOBID|STATE|CPUS|TIME_LIMIT|TIME|SUBMIT_TIME|PARTITION|NODES|NODELIST
11|RUNNING|16|4:00:00|1:00:00|2026-11-24T08:00:00|batch|2|n[01-02]
12|RUNNING|4|1-00:00:00|30:00|2026-11-24T09:00:00|batch|1|n03
13|PENDING|16|2:00:00|0:00|2026-11-24T09:30:00|batch|2|
14|PENDING|900|2:00:00|0:00|2026-11-24T09:30:00|batch|2|
"""

SITE = """
nodes:
  - {kind: thin, names: "n[01-03]", cores: 8}
  - {kind: fat, names: "m1", cores: 16}
partitions:
  - {name: batch, nodes: "n[01-03]", default: true}
  - {name: big, nodes: "m1"}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A queue and a machine, in the current folder."""
    (tmp_path / "now.txt").write_text(ON_NODES, encoding="utf-8")
    (tmp_path / "site.yaml").write_text(SITE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


NODES = ["--running", "now.txt", "--machine", "site.yaml"]


def test_on_nodes(files: Path) -> None:
    """Enough is free in sum, and not where the job may run; who can never run is told."""
    jobs = [
        "--job",
        "nodes=1,cores=6,time=1h",
        "--job",
        "nodes=1,cores=16,time=1h,partition=big",
        "--job",
        "processors=4,time=1h",
    ]
    done = CliRunner().invoke(whatif, [*NODES, *jobs])
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "2 jobs run and 2 wait; 20 of 40 cores are free"
    assert any(line.startswith("left out, could never run here: 1: asks for") for line in lines)
    head = next(place for place, line in enumerate(lines) if line.startswith("policy"))
    assert lines[head].split() == ["policy", "processors", "nodes", "for", "starts", "in", "behind"]
    assert [line.split()[1:] for line in lines[head + 1 : head + 4]] == [
        ["6", "1", "01:00:00", "05:00:00", "1"],
        ["16", "1", "01:00:00", "at", "once", "0"],
        ["4", "1", "01:00:00", "at", "once", "0"],
    ]
    assert max(map(len, lines)) <= 80


@pytest.mark.usefixtures("simulated_as_python_by_day")
def test_on_nodes_changed(files: Path) -> None:
    """On larger nodes it would start at once; where its partition allows less time, never."""
    ask = [*NODES, "--job", "nodes=1,cores=6,time=1h", "--json"]
    larger = CliRunner().invoke(whatif, [*ask, "--change", "nodes.thin.cores=16", "--policies", "fcfs,easy"])
    assert [answer["wait"] for answer in json.loads(larger.stdout)["answers"]] == [0.0, 0.0]
    slower = json.loads(CliRunner().invoke(whatif, [*ask, "--placement", "best-fit", "--heads", "machine"]).stdout)
    assert [answer["wait"] for answer in slower["answers"]] == [18000.0]
    assert slower["never"]
    shorter = CliRunner().invoke(whatif, [*ask, "--change", "partitions.batch.max_time=30m"])
    assert "requests more time than its partition allows" in str(shorter.exception or shorter.output)


def test_nodes_to_lose(files: Path) -> None:
    """A job waits for a node that is to come back, or for ever; and not if its node goes later."""
    ask = [*NODES, "--job", "nodes=1,cores=16,time=1h,partition=big"]
    waits = []
    for away in ("nodes=m1,for=2h", "nodes=m1", "nodes=m1,in=30m,known=true,for=1h", "nodes=m1,in=2h"):
        done = CliRunner().invoke(whatif, [*ask, "--json", "--away", away])
        assert done.exit_code == 0, done.output
        waits += [answer["wait"] for answer in json.loads(done.stdout)["answers"]]
    assert waits == [7200.0, None, 5400.0, 0.0]
    lines = CliRunner().invoke(whatif, [*ask, "--away", "nodes=m1"]).stdout.splitlines()
    assert lines[0] == "2 jobs run and 2 wait; 4 of 24 cores are free"
    assert any("never" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            [*NODES, "--processors", "4"],
            "--processors counts processors of a pool, and --machine names nodes; give one",
        ),
        ([*NODES, "--less", "4"], "--less counts processors of a pool"),
        ([*NODES, "--away", "processors=4"], "--away counts processors of a pool"),
        (
            ["--running", "now.txt", "--processors", "40", "--placement", "best-fit"],
            "--placement is of a machine of nodes",
        ),
        (["--running", "now.txt", "--processors", "40", "--change", "nodes.thin.count+=1"], "--change is of a machine"),
        (
            ["--running", "now.txt", "--processors", "40", "--away", "nodes=n1"],
            "--away nodes= is of a machine of nodes",
        ),
        ([*NODES, "--away", "nodes=n99"], "n99"),
        (["--running", "now.txt", "--machine", "card"], "give the path of a file that describes nodes"),
        (["--running", "now.txt", "--machine", "none.yaml"], "none.yaml"),
    ],
)
def test_options_of_two_machines(files: Path, words: list[str], said: str) -> None:
    """One sentence each."""
    done = CliRunner().invoke(whatif, [*words, "--job", "processors=4,time=1h"])
    assert done.exit_code != 0
    assert said in done.output + str(done.exception)


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("nodes=1,time=1h", "--job nodes=: a pool of processors has none"),
        ("processors=1,memory=4G,time=1h", "--job memory=: a pool of processors has none"),
        ("gpus=2,time=1h", "a pool of processors has none"),
        ("processors=1,memory=4GB,time=1h", "memory '4GB' is no amount of memory"),
        ("processors=1,cores=0,time=1h", "cores is not a whole number from 1 on"),
        ("processors=1,exclusive=1,time=1h", "exclusive is neither yes nor no"),
        ("processors=1,processors=1,time=1h", "processors is given twice"),
        ("nodes=1", "of nodes also as nodes=2,cores=16,memory=64G,gpus=1,partition=gpu,time=4h"),
        ("proc=1,time=1h", "write a job as processors=64,time=4h"),
    ],
)
def test_wrong_jobs(files: Path, job: str, said: str) -> None:
    """What is wrong with a job is told by its word."""
    done = CliRunner().invoke(whatif, ["--running", "now.txt", "--processors", "1000", "--job", job])
    assert (done.exit_code, said in done.output) == (2, True), done.output
