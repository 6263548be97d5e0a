# SPDX-License-Identifier: BSD-3-Clause
"""swftools whatif --policies slurm: what is printed, as JSON too, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import WRONG_COMMAND

NOW = """JOBID|STATE|CPUS|TIME_LIMIT|TIME|SUBMIT_TIME|PRIORITY|REASON|PARTITION|NODELIST|USER|ACCOUNT|QOS|DEPENDENCY
11|RUNNING|4|10:00|1:00|2026-11-24T08:00:00|90|None|batch|n1|u1|phys|normal|(null)
12|PENDING|8|10:00|0:00|2026-11-24T08:00:10|50|Resources|batch||u1|phys|normal|(null)
13|PENDING|99|10:00|0:00|2026-11-24T08:00:20|40|Priority|batch||u1|phys|normal|(null)
14|PENDING|1|10:00|0:00|2026-11-24T08:00:30|30|Dependency|batch||u1|phys|normal|afterany:11(unfulfilled)
15|PENDING|1|10:00|0:00|2026-11-24T08:00:40|0|JobHeldUser|batch||u1|phys|normal|(null)
16|SUSPENDED|1|10:00|0:30|2026-11-24T08:00:40|0|None|batch|n2|u1|phys|normal|(null)
"""

SITE = """
nodes: [{kind: cpu, names: "n[1-2]", cores: 4}]
partitions: [{name: batch, nodes: cpu, default: true}]
slurm:
  scheduler: {bf_interval: 1, bf_resolution: 1, sched_interval: 1, batch_sched_delay: 0}
  priority: {type: basic}
  qos: [{name: normal}, {name: high}]
  accounts: [{name: phys, users: [{name: u1}]}]
"""

NAMES = "JobID|User|Account|Partition|QOS|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|ReqCPUS|NCPUS\n"
PAST = NAMES + "".join(
    f"{job}|u1|phys|batch|normal|COMPLETED|2026-11-23T08:00:00|2026-11-23T08:0{job % 6}:00|"
    f"2026-11-23T08:1{job % 6}:00|600|10|1|1|1\n"
    for job in range(1, 9)
)

JOB = ["--job", "processors=2,time=5m,account=phys,user=u1,qos=high"]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a queue, a site and a past."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"now.txt": NOW, "site.yaml": SITE, "past.txt": PAST}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def call(*words: str) -> Result:
    """Ask."""
    return CliRunner().invoke(main, ["whatif", "--running", "now.txt", *words])


OF_SLURM = ("--machine", "site.yaml", "--policies", "slurm", "--draws", "2")


@pytest.mark.usefixtures("simulated_as_python_by_day", "files")
def test_what_is_printed() -> None:
    """The job that is asked about, then those that wait; who is left out and why; within 80 columns."""
    done = call(*OF_SLURM, *JOB, "--waiting")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "1 job runs and 3 wait; 2 draws"
    assert "left out: waiting jobs that only a person can release: 1" in lines
    assert "  JobHeldUser 1" in lines
    text = " ".join(done.stdout.split())
    assert "left out, could never run here: 1: asks for more cores" in text
    assert "suspended jobs, which hold no processors: 1" in lines
    assert "every job runs to its time limit" in text
    heads = next(place for place, line in enumerate(lines) if line.split()[:1] == ["job"])
    assert lines[heads].split() == ["job", "partition", "priority", "for", "median", "95", "%", "by"]
    rows = {line.rsplit(maxsplit=5)[0].split()[0]: line.split() for line in lines[heads + 1 :]}
    assert list(rows) == ["job", "12", "14"]
    assert rows["job"][:4] == ["job", "1", "00:05:00", "00:00:01"]
    assert rows["12"][1:4] == ["batch", "50", "00:10:00"]
    assert rows["12"][4] in ("00:09:00", "00:09:01")
    assert max(map(len, lines)) <= 80


@pytest.mark.usefixtures("simulated_as_python_by_day", "files")
def test_json_and_a_past() -> None:
    """Numbers are plain; all that ended used all of their time; others come as they came, unless nobody is to."""
    done = call(*OF_SLURM, *JOB, "--history", "past.txt", "--json", "--bound", ".9", "--no-arrivals")
    assert (done.exit_code, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    expected = {"running": 1, "waiting": 3, "suspended": 1, "draws": 2, "bound": 0.9, "learnt_from": 8}
    assert {name: told[name] for name in expected} == expected
    assert told["held"] == {"JobHeldUser": 1}
    (answer,) = told["answers"]
    assert (answer["job"], answer["requested_time"], answer["never"], answer["priority"]) == ("job 1", 300.0, 0.0, None)
    assert 0 <= answer["median"] <= answer["bound"] < 3
    assert "queue" not in told
    assert told["assumptions"][0].startswith("no other job comes: starts are later than the median and the bound say")
    busy = json.loads(call(*OF_SLURM, *JOB, "--history", "past.txt", "--draws", "1", "--json").stdout)
    assert busy["answers"][0]["bound"] >= busy["answers"][0]["median"]
    assert busy["assumptions"][0].startswith("no other job comes before the median; before the bound others come")


@pytest.mark.usefixtures("simulated_as_python_by_day", "files")
def test_a_queue_without_priorities(files: Path) -> None:
    """They are as the machine makes them, which is told."""
    lines = [line.split("|") for line in NOW.splitlines()]
    (files / "now.txt").write_text("\n".join("|".join(line[:6] + line[7:]) for line in lines), encoding="utf-8")
    done = call(*OF_SLURM, "--waiting")
    assert done.exit_code == 0, done.output
    assert "the queue tells no priorities, so they are as the machine's description makes them" in " ".join(
        done.stdout.split()
    )


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            (*OF_SLURM, "--job", "processors=1,time=1m,partition=x"),
            "the machine has no partition 'x'; there are: batch",
        ),
        ((*OF_SLURM, "--job", "processors=1,time=1m,qos=hig"), "the machine has no qos 'hig'; there are: normal, high"),
        ((*OF_SLURM, "--job", "processors=99,time=1m"), "job 1: it could never run on this machine: asks for more"),
        (OF_SLURM, "nothing is asked; give --job, such as nodes=2,time=4h, or --waiting"),
        ((*OF_SLURM[:2], "--policies", "easy,slurm", *JOB), "--policies slurm answers by draws of run times"),
        (
            ("--processors", "8", "--policies", "slurm", "--job", "processors=1,time=1m"),
            "--policies slurm needs to know how Slurm is configured",
        ),
        (("--policies", "slurm", "--job", "processors=1,time=1m"), "--policies slurm needs to know how Slurm is"),
        ((*OF_SLURM[:2], "--policies", "easy", *JOB), "--job user=: of these policies only slurm looks at it"),
        ((*OF_SLURM[:2], "--policies", "easy", "--waiting"), "--waiting is of policy slurm; give --policies slurm"),
        ((*OF_SLURM[:2], "--policies", "easy"), "which job is meant is not said; give --job"),
        ((*OF_SLURM, *JOB, "--arrivals"), "arrivals=True needs a past in which jobs came; give past= (--history)"),
        ((*OF_SLURM, *JOB, "--placement", "best-fit"), "--placement says what Slurm decides itself; leave it out"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], message: str) -> None:
    """One line that says what to do."""
    done = call(*words)
    assert done.exit_code in (WRONG_COMMAND, 30), done.output
    assert message in " ".join(done.output.split())


def test_running_jobs_of_another_machine(files: Path) -> None:
    """The job and its node are named."""
    (files / "now.txt").write_text(NOW.replace("|n1|", "|m7|"), encoding="utf-8")
    done = call(*OF_SLURM, *JOB)
    assert "job 11 runs on node m7, which the machine does not have" in " ".join(done.output.split())
