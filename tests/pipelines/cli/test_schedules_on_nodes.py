# SPDX-License-Identifier: BSD-3-Clause
"""check-schedule with a machine of nodes: lists of nodes by number and by name, statuses, and what goes with what."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import FOUND_FAULTS

LOG = """; MaxProcs: 16
1 0 -1 10 6 -1 -1 6 10 -1 1 1 1 1 1 1 -1 -1
2 1 -1 5 4 -1 -1 4 5 -1 1 1 1 1 1 1 -1 -1
3 2 -1 5 12 -1 -1 12 5 -1 1 1 1 1 1 1 -1 -1
"""

MACHINE = """nodes:
  - names: n[01-04]
    cores: 4
    memory: 8G
partitions:
  - name: batch
    nodes: n[01-04]
"""


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Return what checks starts and nodes of the three jobs, in a folder with the log and the machine."""
    monkeypatch.chdir(tmp_path)
    Path("log.swf").write_text(LOG)
    Path("machine.yaml").write_text(MACHINE)

    def run(nodes: list[str], *words: str, third: int = 10) -> Result:
        rows = zip((1, 2, 3), (0, 1, third), nodes, strict=True)
        table = "".join(f'{job},{start},"{where}"\n' for job, start, where in rows)
        Path("starts.csv").write_text("job_number,start_time,nodes\n" + table)
        given = ("--log", "log.swf", "--machine", "machine.yaml", "--policy", "easy", "--semantics", "instant")
        return CliRunner().invoke(main, ["check-schedule", "starts.csv", *given, *words])

    return run


@pytest.mark.parametrize(
    "nodes", [["n[01-02]", "n03", "n[01-02],n04"], ["0-1", "2", "0-1,3"], ["n02,n01", "3", "0 1 2"]]
)
def test_a_schedule_on_nodes_is_valid(check, nodes: list[str]) -> None:  # type: ignore[no-untyped-def]
    """Numbers from 0 are those of the names in the order of the description."""
    result = check(nodes)
    assert result.exit_code == 0, result.output
    assert "3 jobs on 4 nodes (16 cores): valid" in result.output
    assert "node-capacity" in result.output


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_what_simulate_writes_can_be_checked(check, output: str) -> None:  # type: ignore[no-untyped-def]
    """With the partition and the nodes of each job, by their names."""
    words = ["log.swf", "--machine", "machine.yaml", "--policy", "easy", "--output", output]
    assert CliRunner().invoke(main, ["simulate", *words]).exit_code == 0
    written = pd.read_csv(output) if output.endswith(".csv") else pd.read_parquet(output)
    assert written["partition"].tolist() == ["batch"] * 3
    assert written["nodes"].tolist() == ["n[01-02]", "n03", "n[01-03]"]
    given = ["--log", "log.swf", "--machine", "machine.yaml", "--policy", "easy"]
    result = CliRunner().invoke(main, ["check-schedule", output, *given])
    assert result.exit_code == 0, result.output
    assert "node-capacity" in result.output
    assert CliRunner().invoke(main, ["simulate", "log.swf", "--output", output]).exit_code == 0
    written = pd.read_csv(output) if output.endswith(".csv") else pd.read_parquet(output)
    assert {"nodes", "partition"}.isdisjoint(written.columns)


def test_a_node_with_too_much_on_it_is_told(check) -> None:  # type: ignore[no-untyped-def]
    """By its name, with status 1."""
    result = check(["n[01-02]", "n02", "n[01-03]"], "--json")
    assert result.exit_code == FOUND_FAULTS
    (broken,) = json.loads(result.stdout)["violations"]
    assert broken["message"] == "7 of 4 cores of node n02 in use from 1 s on, by jobs 1, 2"


def test_a_changed_machine_is_checked(check) -> None:  # type: ignore[no-untyped-def]
    """With cores enough for both jobs on a node; what cannot be changed is refused."""
    nodes = ["n[01-02]", "n02", "n[01-03]"]
    more = check(nodes, "--change", "nodes.n[01-04].cores=16", "--json")
    told = {row["message"] for row in json.loads(more.stdout)["violations"]}
    assert not any("in use from" in message for message in told)
    assert json.loads(more.stdout)["processors"] == 64
    assert "of 4 cores of node n02" in check(nodes).output
    for change, said in (
        ("nodes.none.count-=1", "no kind of nodes 'none'"),
        ("away: nodes=n99", "no node 'n99'"),
        ("priority.reservations=2", "give it with --policy"),
    ):
        result = check(nodes, "--change", change)
        assert result.exit_code not in (0, FOUND_FAULTS)
        assert said in result.output


def test_the_machine_of_a_card_is_checked(check) -> None:  # type: ignore[no-untyped-def]
    """Where there is one; a log without a card says what to give."""
    result = check(["0", "1", "2"], "--machine", "card")
    assert result.exit_code not in (0, FOUND_FAULTS)
    assert "--machine card: log log: it has no card; give the path of a file that does" in result.output


def test_promises_are_those_of_the_nodes(check) -> None:  # type: ignore[no-untyped-def]
    """The first waiting job was to start when the first two nodes are free."""
    result = check(["n[01-02]", "n03", "n[01-03]"], "--heads", "machine", "--json", third=11)
    assert result.exit_code == FOUND_FAULTS
    rules = {row["rule"] for row in json.loads(result.stdout)["violations"]}
    assert rules == {"head-reservation", "no-idle-head"}


@pytest.mark.parametrize(
    ("nodes", "words", "said"),
    [
        ("n09", (), "job 2 of the schedule: the machine has no node n09"),
        ("n[01-", (), "job 2 of the schedule: 'n[01-' is no list of hosts"),
        ("n03", ("--fit",), "--fit tries policies on a pool of processors"),
        ("n03", ("--processors", "4"), "are both given: they are two machines"),
        ("n03", ("--machine", "none.yaml"), "there is no machine none.yaml"),
    ],
)
def test_what_cannot_be_checked_is_refused(check, nodes: str, words: tuple[str, ...], said: str) -> None:  # type: ignore[no-untyped-def]
    """In one line."""
    result = check(["n[01-02]", nodes, "n[01-03]"], *words)
    assert result.exit_code not in (0, FOUND_FAULTS)
    assert said in result.output


def test_heads_are_of_nodes(tmp_path: Path) -> None:
    """Without a machine there is one queue."""
    (tmp_path / "starts.csv").write_text("job_number,start_time\n1,0\n")
    words = ["check-schedule", str(tmp_path / "starts.csv"), "--heads", "machine"]
    assert "give --machine too" in CliRunner().invoke(main, [*words, "--log", "log.swf"]).output
