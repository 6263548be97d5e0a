# SPDX-License-Identifier: BSD-3-Clause
"""The option --outages: machine shows and writes what a file tells, and all commands with --machine take it."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.cli.options import on_nodes
from pipelines.exit_statuses import WRONG_COMMAND
from swftools import read_machine
from swftools.output.shown_text import WIDTH
from tests.folders import ROOT

EVENTS = ROOT / "tests/machines/slurm/events.txt"
FORM = "sacctmgr:time_zone=UTC"


def call(*words: object) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, [*map(str, words)])


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A description of a machine."""
    path = tmp_path / "site.yaml"
    path.write_text("nodes: [{kind: thin, names: 'n[01-64]', cores: 4}]\n")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of outages."""
    path = tmp_path / "away.csv"
    path.write_text(
        'nodes,begin,end,kind,reason\n"n[01,03]",0,2h,down,fan\nn02,3600,,drain,\nn02,1d,2.5d,down,a new disk\n'
    )
    return path


def test_what_is_printed(site: Path, table: Path) -> None:
    """How many of each kind, and the largest; those without an end have no node-hours."""
    done = call("machine", site, "--outages", table)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        "64 nodes, 256 cores\n"
        "\n"
        "each node of a kind\n"
        "  kind  nodes  cores  memory  GPUs  weight  features\n"
        "  thin     64      4       ?  -          1  -\n"
        "\n"
        "  partition  nodes  cores  GPUs  longest  nodes/job  tier\n"
        "  all           64    256     -      any        any     1\n"
        "\n"
        "  outages  number  nodes  node-hours  without end\n"
        "  down          2      3          40            -\n"
        "  drain         1      1           0            1\n"
        "\n"
        "  largest   nodes  node-hours   for  begin     reason\n"
        "  n02           1          36  36 h  86,400 s  a new disk\n"
        "  n[01,03]      2           4   2 h  0 s       fan\n"
        "\n"
        "not simulated\n"
        "  memory is not known, and never lacks (thin)\n"
    )


def test_columns(tmp_path: Path, site: Path) -> None:
    """Lines fit 80 columns, however long lists of hosts and reasons are."""
    rows = "".join(
        f'"n[{place:02},{place + 2:02},{place + 9:02}-40]",{place},{10**9 + place},down,{"why " * 40}\n'
        for place in range(1, 9)
    )
    path = tmp_path / "away.csv"
    path.write_text(f"nodes,begin,end,kind,reason\n{rows}")
    done = call("machine", site, "--outages", path)
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= WIDTH


def test_as_json(site: Path, table: Path) -> None:
    """Numbers as they are; how many there are stays a number."""
    found = json.loads(call("machine", site, "--outages", table, "--json").stdout)
    assert found["outages"] == 3
    assert found["outages_by_kind"] == [
        {"kind": "down", "outages": 2, "nodes": 3, "node_hours": 40.0, "without_end": 0},
        {"kind": "drain", "outages": 1, "nodes": 1, "node_hours": 0.0, "without_end": 1},
    ]
    assert [each["node_hours"] for each in found["largest_outages"]] == [36.0, 4.0]
    plain = json.loads(call("machine", site, "--json").stdout)
    assert [plain[key] for key in ("outages", "outages_by_kind", "largest_outages")] == [0, [], []]


def test_written(tmp_path: Path, site: Path) -> None:
    """By --to: the file has them."""
    path = tmp_path / "new.yaml"
    done = call("machine", site, "--outages", EVENTS, "--outages-format", FORM, "--to", path)
    assert done.exit_code == 0
    machine = read_machine(path)
    assert machine == read_machine(site).with_outages(EVENTS, FORM)
    assert len(machine.outages) == 7


def test_output_that_is_the_input(site: Path, table: Path) -> None:
    """Neither the machine nor the outages are overwritten."""
    named = table.rename(table.with_suffix(".yaml"))
    for path in (site, named):
        before = path.read_bytes()
        done = call("machine", site, "--outages", named, "--to", path)
        assert (done.exit_code, path.read_bytes()) == (WRONG_COMMAND, before)


@click.command()
@on_nodes
def shows(machine: str | None, changes: str | None) -> None:
    """Print the machine that a command gets."""
    click.echo(json.dumps([machine, changes]))


def test_machine_of_other_commands(site: Path, table: Path) -> None:
    """It comes as JSON with its outages, whatever the order of options; without the option it stays a path."""
    found = {}
    for words in (("--machine", site, "--outages", table), ("--outages", table, "--machine", site)):
        done = CliRunner().invoke(shows, [*map(str, words), "--change", "nodes.thin.cores=2"])
        machine, changes = json.loads(done.stdout)
        assert json.loads(changes) == ["nodes.thin.cores=2"]
        found[machine] = json.loads(machine)
    (only,) = found.values()
    assert only["name"] == "site"
    assert [each["nodes"] for each in only["outages"]] == [["n[01,03]"], ["n02"], ["n02"]]
    assert json.loads(CliRunner().invoke(shows, ["--machine", str(site)]).stdout) == [str(site), None]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--outages", "away.csv"), "give --machine FILE too"),
        (("--outages", "away.csv", "--machine", "pool"), "give --machine FILE too"),
        (("--outages", "away.csv", "--machine", "card"), "give --machine FILE in place of card"),
        (("--outages-format", "csv", "--machine", "site.yaml"), "give --outages FILE too"),
    ],
)
def test_options_that_do_not_go_together(words: tuple[str, ...], message: str) -> None:
    """Each says what is missing."""
    done = CliRunner().invoke(shows, words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_format_without_outages(site: Path) -> None:
    """Also of the command machine."""
    done = call("machine", site, "--outages-format", "csv")
    assert done.exit_code == WRONG_COMMAND
    assert "give --outages FILE too" in done.stderr


def test_outages_that_cannot_be_read(tmp_path: Path, site: Path) -> None:
    """One sentence with file and line."""
    path = tmp_path / "away.csv"
    path.write_text("nodes,begin\nn65,0\n")
    done = call("machine", site, "--outages", path)
    assert done.exit_code == WRONG_COMMAND
    assert f"{path}, line 2: the machine has no node 'n65'" in done.stderr.replace("\n", " ")


def test_simulated(tmp_path: Path) -> None:
    """A drain that a table tells keeps a job from starting, at a second of the log or at a date."""
    (tmp_path / "small.yaml").write_text("nodes: [{kind: n, count: 2, cores: 1}]\n")
    rows = "1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n2 1 -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n"
    (tmp_path / "log.swf").write_text(f"; UnixStartTime: 1772359200\n{rows}")
    (tmp_path / "seconds.csv").write_text("nodes,begin,end,kind,known\nn2,1,60,drain,no\n")
    (tmp_path / "dates.csv").write_text("nodes,begin,end,kind,known\nn2,2026-03-01T10:00:01Z,,drain,no\n")
    words = ("simulate", tmp_path / "log.swf", "--policy", "fcfs", "--machine", tmp_path / "small.yaml", "--json")
    wait = {}
    for name in ("seconds", "dates", ""):
        done = call(*words, *(("--outages", tmp_path / f"{name}.csv") if name else ()))
        assert done.exit_code == 0, done.output
        rows_found = json.loads(done.stdout)["measures"]
        (wait[name],) = (row["value"] for row in rows_found if (row["measure"], row["statistic"]) == ("wait", "max"))
    assert wait == {"seconds": 9, "dates": 9, "": 0}
