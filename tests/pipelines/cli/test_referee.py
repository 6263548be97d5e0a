# SPDX-License-Identifier: BSD-3-Clause
"""``swftools referee`` and ``simulate --phases``: what is printed of a run of five jobs, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import WRONG_COMMAND
from swftools.output.shown_text import WIDTH

CONF = """ClusterName=demo
PriorityType=priority/basic
SchedulerParameters=bf_interval=5,bf_resolution=1
NodeName=n[0-1] CPUs=4 RealMemory=1000
PartitionName=batch Nodes=ALL Default=YES
"""
SACCT = """JobID|User|Partition|State|Flags|Submit|Eligible|Start|End|TimelimitRaw|NCPUS|ReqCPUS|NodeList
1|u1|batch|COMPLETED|SchedMain|2024-03-01T09:00:00|2024-03-01T09:00:00|2024-03-01T09:00:00|2024-03-01T09:01:00|1|4|4|n0
2|u1|batch|COMPLETED|SchedMain|2024-03-01T09:00:00|2024-03-01T09:00:00|2024-03-01T09:00:00|2024-03-01T09:02:00|2|4|4|n1
3|u1|batch|COMPLETED|SchedBackfill|2024-03-01T09:00:01|2024-03-01T09:00:01|2024-03-01T09:02:00|2024-03-01T09:03:00|1|8|8|n[0-1]
4|u1|batch|COMPLETED|SchedBackfill|2024-03-01T09:00:02|2024-03-01T09:00:02|2024-03-01T09:04:00|2024-03-01T09:05:00|3|2|2|n0
5|u1|batch|CANCELLED|None|2024-03-01T09:00:03|2024-03-01T09:00:03|None|2024-03-01T09:00:30|3|2|2|None assigned
"""
"""The fourth could have started a minute before, when the third had ended."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    """Return the words that name the run and its machine."""
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "sacct.txt").write_text(SACCT)
    return (
        str(tmp_path / "sacct.txt"),
        "--raw",
        "--format",
        "slurm:time_zone=UTC",
        "--machine",
        str(tmp_path / "slurm.conf"),
    )


def call(command: str, *words: object) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, [command, *map(str, words)])


@pytest.mark.slow
def test_what_is_printed(files: tuple[str, ...]) -> None:
    """Figures, by scheduler, without a rule, and the start that differs; within 80 columns."""
    done = call("referee", *files, "--without", "plans", "--phases", "2")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    told = " ".join(" ".join(lines[:3]).split())
    assert told.startswith(f"{files[0]}: the simulation reproduces ")
    assert "of the order of starts and the mean wait within" in told
    assert "  4 starts, of which 2 waited more than 5 s" in lines
    table = [line.split() for line in lines]
    assert ["at", "the", "right", "time", "75.0", "%", "50.0", "%"] in table
    assert ["on", "the", "real", "nodes", "100", "%", "100", "%"] in table
    assert ["main", "2", "100", "%", "100", "%"] in table
    assert ["early:", "job", "4", "(2", "CPUs", "on", "1", "nodes),", "which"] == table[-2][:9]
    assert all(len(line) <= WIDTH for line in lines[1:])


@pytest.mark.slow
def test_for_programs(files: tuple[str, ...]) -> None:
    """The same as JSON."""
    found = json.loads(call("referee", *files, "--json").stdout)
    assert (found["figures"]["starts"], found["figures"]["early"], found["tolerance"]) == (4, 1, 5.0)
    assert [row["job"] for row in found["differences"]] == ["4"]
    assert {*found["likeness"]} == {"pairs", "order", "mean_wait", "real_mean_wait"}


@pytest.mark.slow
def test_bands_of_simulations(files: tuple[str, ...]) -> None:
    """The least, the median and the most of measures over phases."""
    found = json.loads(call("simulate", *files, "--policy", "slurm", "--phases", "3", "--json").stdout)
    (wait,) = [row for row in found["bands"] if (row["measure"], row["statistic"]) == ("wait", "mean")]
    assert found["phases"] == 3
    assert wait["least"] <= wait["median"] <= wait["most"]
    assert wait["least"] < wait["most"]


PHASES = ("simulate", "LOG", "--machine", "CONF", "--raw", "--phases", "2", "--policy")


READ = ("--raw", "--format", "slurm:time_zone=UTC")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("referee", "LOG"), "give --machine FILE"),
        (("referee", "LOG", *READ, "--machine", "CONF", "--cores", "CONF"), "tells of no job of the log how many CPUs"),
        ((*PHASES, "easy"), "policy 'easy' has no phase"),
        ((*PHASES, "slurm:phase=0.5"), "leave out phase=0.5"),
        ((*PHASES, "slurm", "-o", "a.csv"), "several schedules"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], said: str, files: tuple[str, ...]) -> None:
    """One line, with the remedy."""
    done = call(*[{"LOG": files[0], "CONF": files[-1]}.get(word, word) for word in words])
    assert done.exit_code == WRONG_COMMAND, done.output
    assert said in " ".join(done.stderr.split())


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.slow
def test_reservations_and_priorities(files: tuple[str, ...], tmp_path: Path) -> None:
    """Are read of files; with n0 reserved the fourth job could not start a minute before."""
    kept, told = tmp_path / "priorities.txt", tmp_path / "reservations.txt"
    kept.write_text("# 1709283650\nJOBID|PARTITION|PRIORITY\n4|batch|7\n")
    told.write_text("Name|NodeNames|Start|End|Flags\nfair|n[0-1]|2024-03-01T09:03:00|2024-03-01T09:04:00|FLEX\n")
    done = call("referee", *files, "--json", "--priorities", kept, "--reservations", told, "--first", "0")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["figures"]["right"] == 1.0
    assert "not simulated of reservation fair: FLEX" in report["told"]
