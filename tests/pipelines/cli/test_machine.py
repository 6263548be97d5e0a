# SPDX-License-Identifier: BSD-3-Clause
"""The command machine: what it prints and writes, in 80 columns, and its exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cli import progress
from pipelines.cli.main import main
from pipelines.exit_statuses import MISSING_INPUT, WRONG_COMMAND
from swftools import read_machine
from tests.folders import ROOT
from tests.machines.same_tables import differences

CONF = ROOT / "tests/machines/slurm/slurm.conf"


def call(*words: object) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["machine", *map(str, words)])


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A description of a machine."""
    path = tmp_path / "site.yaml"
    path.write_text(
        "nodes: [{kind: thin, names: 'n[1-8]', cores: 4}]\n"
        "partitions: [{name: day, nodes: thin, max_time: 1d, max_nodes: 4}]\n"
    )
    return path


def test_what_is_printed() -> None:
    """Kinds, partitions with their limits, and all that is not simulated or left out."""
    done = call(CONF)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        "tested: 10 nodes, 236 cores, 30 GPUs\n"
        "\n"
        "each node of a kind\n"
        "  kind  nodes  cores  memory  GPUs         weight  features\n"
        "  4c        1      4    250G  -                 1  -\n"
        "  30c       4     30    246G  6 a100+v100      10  gpu,ib\n"
        "  32c       3     32    250G  2                 1  gpu\n"
        "  8c        2      8   15.6G  -                 1  -\n"
        "\n"
        "  partition  nodes  cores  GPUs  longest  nodes/job  tier\n"
        "  batch*        10    236    30      1 d        any     1\n"
        "  gpu            7    216    30      2 d        2-3     5\n"
        "  excl           5    152    26      any        any     5  whole nodes\n"
        "  * jobs go there that name no partition\n"
        "\n"
        "  outages  number  nodes  node-hours  without end\n"
        "  down          1      1           0            1\n"
        "\n"
        "Slurm 22.05, backfill. bf_interval=2, batch_sched_delay=0\n"
        "\n"
        "  priority   weight  every 5 min\n"
        "  partition   1,000\n"
        "\n"
        "not simulated\n"
        "  threads: those that a log counts become cores (30c)\n"
        "  GPUs of several types on a node are counted together (30c)\n"
        "  which accounts and QOS may use a partition: by policy slurm only (gpu)\n"
        "  which groups and users may use a partition: told, not simulated (excl)\n"
        "  memory of a node for jobs that ask for none: by policy slurm only (excl)\n"
        "  1 outage of the moment: kept, not simulated\n"
        "  licences: not modelled (matlab 10, ansys 2)\n"
        "\n"
        "notes\n"
        "  cores that Slurm keeps for the system are left out\n"
        "  memory that Slurm keeps for the system is left out\n"
        "  not modelled: generic resources besides GPUs: nvme\n"
        "  this Slurm does not count memory (CR_Core); simulations do, for jobs that ask\n"
        "    for it, but for policy slurm\n"
    )


def test_as_json(site: Path) -> None:
    """Numbers as they are, null for what is not known or has no limit."""
    found = json.loads(call(CONF, "--json").stdout)
    assert [found[key] for key in ("name", "nodes", "cores", "gpus", "outages")] == ["tested", 10, 236, 30, 1]
    assert found["kinds"][1] == {
        "kind": "30c",
        "nodes": 4,
        "cores": 30,
        "memory": 252_000,
        "gpus": 6,
        "gpu_types": ["a100", "v100"],
        "features": ["gpu", "ib"],
        "weight": 10,
    }
    batch = found["partitions"][0]
    assert (batch["name"], batch["nodes"], batch["max_time"], batch["max_nodes"]) == ("batch", 10, 86_400.0, None)
    assert (len(found["not_simulated"]), len(found["notes"])) == (7, 4)
    small = json.loads(call(site, "--json").stdout)
    assert (small["name"], small["kinds"][0]["memory"], small["kinds"][0]["gpu_types"]) == (None, None, [])


def test_description_and_picture(tmp_path: Path) -> None:
    """What is written is the same machine, and is written again over itself."""
    output, picture = tmp_path / "out.yaml", tmp_path / "out.svg"
    for _ in range(2):
        done = call(CONF, "--to", output, "--plot", picture)
        assert done.exit_code == 0, done.stderr
        assert f"description: {output}\n" in done.stdout
        assert "Machine: 3 partitions; batch has most: 10 nodes\n" in done.stdout
    assert differences(read_machine(output).table(), read_machine(CONF).table()) == []
    assert b"<svg" in picture.read_bytes()
    as_json = call(CONF, "--json", "--to", output)
    assert json.loads(as_json.stdout)["nodes"] == 10
    assert str(output) in as_json.stderr


def test_changes(site: Path) -> None:
    """Are made before it is shown; several, one after another."""
    done = call(site, "--change", "nodes.thin.count+=8", "--change", "partitions.day.max_time=2d")
    assert "16 nodes, 64 cores" in done.stdout
    assert "2 d" in done.stdout
    wrong = call(site, "--change", "nodes.thinn.count+=8")
    assert wrong.exit_code == WRONG_COMMAND
    assert wrong.stderr.startswith("error: change 'nodes.thinn.count+=8': no kind of nodes 'thinn'")


def test_long_names_fit(tmp_path: Path) -> None:
    """Whatever they are, in 80 columns."""
    path = tmp_path / "site.yaml"
    long = "x" * 60
    path.write_text(
        f"nodes: [{{kind: {long}, count: 123456, cores: 16000, memory: 100T, gpus: {{{long}: 400}}, "
        f"features: [{long}], weight: 2000000000}}]\n"
        f"partitions: [{{name: {long}, tier: 2000000000, max_time: 9999999999, min_nodes: 1000, exclusive: true}}]\n"
        f"notes: ['{long} {long} {long}']\n"
    )
    done = call(path)
    assert done.exit_code == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.yaml"], "none.yaml: No such file or directory; give the path of a file that describes a machine"),
        (["wrong.yaml"], "wrong.yaml, line 1: nodes > 0 > cores: missing; add it"),
        (["site.yaml", "--to", "site.yaml"], "site.yaml: is the file that is being read"),
        (["site.yaml", "--to", "out.txt"], "out.txt: the suffix names no format; use .yaml, .yml"),
        (["site.yaml", "--plot", "out.gif"], "out.gif: the suffix names no format"),
        ([], "give a FILE that describes a machine, or --from LOG"),
        (["site.yaml", "--from", "log"], "give one of both: a FILE that describes a machine, or --from LOG"),
        (["site.yaml", "--absence", "1d"], "--absence says something of logs; give --from LOG too"),
        (["--from", "site.yaml", "--absence", "soon"], "--absence 'soon' is no time such as 3600, 12h or 1d"),
    ],
)
def test_what_is_refused(site: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str) -> None:
    """In one line, with status 2; what is there stays."""
    monkeypatch.chdir(site.parent)
    Path("wrong.yaml").write_text("nodes: [{names: n1}]")
    before = site.read_text()
    done = call(*words)
    assert done.exit_code == WRONG_COMMAND
    assert said in done.stderr
    assert site.read_text() == before


def test_guess_from_a_log(tmp_path: Path) -> None:
    """Is shown and written, and marked; PBS's hosts are read unasked; a log without nodes is refused."""
    line = (
        "11/14/2023 23:13:20;E;1.srv;user=anna group=phys queue=day ctime=1700000000 qtime=1700000000 "
        "etime=1700000000 start=1700000600 end=1700004200 Exit_status=0 exec_host=n1/0-3+n2/0*4\n"
    )
    log, output = tmp_path / "days.log", tmp_path / "guess.yaml"
    log.write_text(line)
    for form in ([], ["--format", "pbs:time_zone=UTC"]):
        done = call("--from", log, "--to", output, "--absence", "never", "-q", *form)
        assert done.exit_code == 0, done.stderr
        assert done.stdout.startswith("days: 2 nodes, 8 cores\n")
        assert output.read_text().startswith("# guessed from a log")
        assert read_machine(output).table().names == ("n1", "n2")
    assert call("--from", tmp_path / "none").exit_code == MISSING_INPUT
    (tmp_path / "plain.swf").write_text("1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n")
    refused = call("--from", tmp_path / "plain.swf", "-q")
    assert refused.exit_code == WRONG_COMMAND
    assert "the log names no nodes" in refused.stderr


def test_guess_tells_its_progress(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As simulations do."""
    told = []

    class Heard(progress.Bar):
        def show(self, done: int, total: int | None = None, note: str = "") -> None:
            told.append((self.what, done, total, note))

    monkeypatch.setattr(progress, "Bar", Heard)
    log = tmp_path / "sacct.txt"
    log.write_text(
        "JobID|User|Partition|Submit|Start|End|NCPUS|State|NodeList\n"
        "1|u|p|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T11:00:00|4|COMPLETED|n[01-02]\n"
    )
    assert call("--from", log, "--format", "slurm:time_zone=UTC").exit_code == 0
    assert told[0] == ("guessing the machine", 0, 5, "names")
    assert told[-1][:3] == ("guessing the machine", 5, 5)
