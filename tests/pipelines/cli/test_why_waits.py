# SPDX-License-Identifier: BSD-3-Clause
"""``swftools waits``: what is printed and written of a run of three jobs, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import WRONG_COMMAND
from swftools.output.shown_text import WIDTH

CONF = """ClusterName=demo
NodeName=n[0-1] CPUs=4 RealMemory=1000
PartitionName=batch Nodes=ALL Default=YES
"""
SACCT = """JobID|User|Account|Partition|State|Submit|Eligible|Start|End|TimelimitRaw|NCPUS|ReqCPUS|NodeList
1|u1|phys|batch|COMPLETED|2024-03-01T09:00:00|2024-03-01T09:00:00|2024-03-01T09:00:00|2024-03-01T10:00:00|120|3|3|n0
2|u1|phys|batch|COMPLETED|2024-03-01T09:00:00|2024-03-01T09:00:00|2024-03-01T09:00:00|2024-03-01T10:00:00|60|3|3|n1
3|u2|bio|batch|COMPLETED|2024-03-01T09:00:00|2024-03-01T09:30:00|2024-03-01T10:30:00|2024-03-01T11:30:00|60|2|2|n0
"""
"""The third waits for half an hour to be eligible, for half an hour for two cores of a node, and for the scheduler."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    """Return the words that name the run and its machine."""
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "sacct.txt").write_text(SACCT)
    words = str(tmp_path / "sacct.txt"), "--format", "slurm:time_zone=UTC", "--machine", str(tmp_path / "slurm.conf")
    return (words[0], "--raw", *words[1:])


def call(*words: object) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["waits", *map(str, words)])


def test_what_is_printed(files: tuple[str, ...]) -> None:
    """How long, for what, and by groups; within 80 columns."""
    done = call(*files)
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= WIDTH
    told = [line.split() for line in done.stdout.splitlines()]
    assert "3 jobs, 33 % waited longer than 0 s" in done.stdout
    for reason in ("held", "fragmented", "cycle"):
        assert [reason, "33.3", "%", "1"] in [line[:4] for line in told]
    assert ["bio", "1", "90", "min", "90", "min", "1", "100", "%"] in [line[:9] for line in told]
    assert "does not say how Slurm is configured" not in done.stdout
    assert "by hour" not in done.stdout  # all came in one


def test_tables_for_programs(files: tuple[str, ...], tmp_path: Path) -> None:
    """As JSON, and as files; a folder is made."""
    found = json.loads(call(*files, "--by", "account", "--json").stdout)
    groups = {each["group"]: each for each in found["groups"]}
    assert groups["bio"]["amount"] == pytest.approx(1.5 * 0.5)
    assert groups["bio"]["held"] == groups["bio"]["fragmented"] == groups["bio"]["cycle"] == pytest.approx(0.25)
    assert call(*files, "-o", tmp_path / "out").exit_code == 0
    tables = {path.stem: pd.read_csv(path) for path in (tmp_path / "out").iterdir()}
    assert set(tables) == {"groups", "reasons", "requests", "shares"}
    assert tables["requests"]["used"].tolist() == pytest.approx([(3 + 3 + 2) / (6 + 3 + 2)])


def test_groups_that_waited_most_are_printed(files: tuple[str, ...]) -> None:
    """As many as are asked for; how many more there are is said."""
    told = call(*files, "--by", "user", "--most", "1").stdout
    assert "u2 " in told
    assert "u1 " not in told
    assert "and 1 more (--most, or -o for all)" in told


@pytest.mark.parametrize("how", ["numbers", "hash"])
def test_names_are_withheld(files: tuple[str, ...], how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that is printed or written names a user or an account; all else is the same."""
    monkeypatch.setenv("SWFTOOLS_ANONYMISE_KEY", "a secret that is long enough")
    plain = json.loads(call(*files, "--json").stdout)
    done = call(*files, "--anonymise", how, "--json", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    written = "".join(path.read_text() for path in (tmp_path / "out").iterdir()) + done.stdout.replace(files[0], "")
    assert not re.findall(r"\b(u1|u2|phys|bio)\b", written)
    assert json.loads(done.stdout)["reasons"] == plain["reasons"]


def test_exact_requests_let_jobs_fill_gaps(tmp_path: Path) -> None:
    """The third asks for longer than the gap before the second, and needs less."""
    jobs = [(0, 600, 4, 600), (1, 600, 8, 600), (2, 500, 4, 3600)]
    lines = [
        f"{number} {at} 0 {run} {width} -1 -1 {width} {asked} -1 1 1 1 -1 1 1 -1 -1"
        for number, (at, run, width, asked) in enumerate(jobs, 1)
    ]
    (tmp_path / "log.swf").write_text("; MaxProcs: 8\n" + "\n".join(lines) + "\n")
    found = json.loads(call(tmp_path / "log.swf", "--exact", "--json").stdout)["exact"]
    assert found["as_requested"]["mean"] == pytest.approx((0 + 599 + 1198) / 3)
    assert found["exact_requests"]["mean"] == pytest.approx((0 + 599 + 0) / 3)


def test_of_a_policy_and_of_exact_requests(files: tuple[str, ...]) -> None:
    """Under a policy nobody waits for the scheduler; what exact requests bring is simulated."""
    done = call(*files, "--policy", "fcfs", "--exact")
    assert done.exit_code == 0, done.output
    assert "under fcfs: 3 jobs" in " ".join(done.stdout.split())
    assert "all who wait fit" not in done.stdout
    assert "as users asked" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--by", "acount"), "there is no grouping 'acount'; there are partition, queue, account"),
        (("--placement", "best-fit"), "--placement says how a policy's schedule runs; give --policy too"),
        (("-o", "LOG"), "is a file; name a folder"),
        (("-o", "no/where"), "there is no folder"),
        (("--policy", "eazy"), "did you mean easy?"),
    ],
)
def test_what_is_refused(files: tuple[str, ...], words: tuple[str, ...], message: str) -> None:
    """One sentence each."""
    done = call(*files, *(files[0] if word == "LOG" else word for word in words))
    assert done.exit_code == WRONG_COMMAND
    assert message in done.output
