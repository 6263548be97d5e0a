# SPDX-License-Identifier: BSD-3-Clause
"""Users and accounts of a site's files: nowhere in what is kept and published, but as the log tells them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.store.data_root import DataRoot
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.publish_experiment import PublishExperiment
from pipelines.tasks.publish_schedule import PublishSchedule
from pipelines.tasks.simulate import SimulatePolicy
from swftools import read_log, read_machine
from swftools.formats.privacy import Privacy
from swftools.machines.description import MachineDescription
from swftools.machines.people import People, names_people
from swftools.simulator.slurm.requests import slurm_jobs_of
from tests.pipelines.accounting_logs import bytes_below
from tests.pipelines.small_logs import build, small_log

SACCT = """\
JobID|User|Account|Partition|State|Submit|Start|End|NCPUS|TimelimitRaw
1|zebulon|quagga|batch|COMPLETED|2024-03-01T09:00:00|2024-03-01T09:00:00|2024-03-01T09:10:00|4|20
2|wombat|quagga|batch|COMPLETED|2024-03-01T09:01:00|2024-03-01T09:10:00|2024-03-01T09:20:00|4|20
"""

SITE = """\
nodes: [{kind: a, count: 2, cores: 4}]
partitions:
- {name: batch, default: true, allow: {accounts: [quagga], users: [axolotl], groups: [dingo]}, deny: {accounts: [emu]}}
outages:
- {nodes: a1, kind: reservation, begin: 10000, end: 20000, users: [okapi, zebulon], accounts: [emu], name: okapi_7}
- {nodes: a2, kind: drain, begin: 10000, end: 20000, reason: asked for by numbat}
slurm:
  accounts:
  - {name: root, users: [{name: root}]}
  - {name: quagga, users: [{name: zebulon, usage: 10}, {name: wombat}, {name: okapi}, {name: "1003"}]}
  - {name: emu, parent: quagga, users: [{name: okapi, default: true}]}
  - {name: axolotl, users: [{name: axolotl}]}
  not_simulated: ["MaxSubmit: not simulated (okapi of quagga)"]
notes: ["left out: usage of who is in no account of these: dugong"]
"""

IN_LOG, ACCOUNTS = ("zebulon", "wombat"), ("quagga", "emu", "dingo")
ONLY_AT_SITE = ("okapi", "axolotl", "numbat", "dugong")
CHANGES = "slurm.accounts.quagga.users.okapi.shares=3"

pytestmark = pytest.mark.usefixtures("simulated_as_python_by_day")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log, a site, and a key of hashes."""
    monkeypatch.setenv("SWFTOOLS_ANONYMISE_KEY", "my secret")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sacct.txt").write_text(SACCT)
    (tmp_path / "site.yaml").write_text(SITE)
    (tmp_path / "small.swf").write_text(small_log(4))
    return tmp_path


def task(kind: Any, how: str, **given: Any) -> Any:
    """Return a task of the log on the machine."""
    usual = {"machine": "site.yaml", "changes": CHANGES, "log": "sacct.txt", "format": "slurm:time_zone=UTC"}
    return kind(**{**usual, "anonymise": how, "augment": "", "data_root": f"data-{how}", **given})


def found(folder: Path, *words: str) -> list[str]:
    """Return the words that are found below a folder."""
    told = bytes_below(folder)
    return [word for word in words if word.encode() in told]


def described(site: Path) -> MachineDescription:
    """Return the machine of a published schedule."""
    root = DataRoot.open(site)
    (name,) = [each for each in root.data_sets() if each.endswith("-schedules")]
    return MachineDescription.from_mapping(root.manifest(name)["run"]["machine"])


@pytest.mark.parametrize("how", ["hash", "numbers", "no"])
def test_nobody_is_told_whom_the_log_does_not_tell(folder: Path, how: str) -> None:
    """In no file: of stages, schedules, comparisons, their reports."""
    assert build(task(PublishSchedule, how, policy="easy"))
    assert build(task(ComparePolicies, how, policies="fcfs", schedules=True, report=True))
    data = folder / f"data-{how}"
    assert found(data, *ONLY_AT_SITE) == []
    assert found(data, "user-1", "quagga") == (["user-1", "quagga"] if how == "no" else ["user-1"] * (how == "numbers"))
    assert found(data, *IN_LOG, *ACCOUNTS) == ([*IN_LOG, *ACCOUNTS] if how == "no" else [])
    machine = described(data)
    assert [len(each.users) for each in machine.slurm.accounts] == [1, 4, 1, 1]
    assert machine.slurm.accounts[1].users[0].usage == 10
    assert machine.slurm.accounts[1].users[2].name == machine.slurm.accounts[2].users[0].name
    assert len(machine.outages[0].users) == 2


def test_a_log_of_numbers_tells_no_name(folder: Path) -> None:
    """Of a log in SWF, which has none, nobody of the site is told; nor by what an experiment says of changes."""
    assert build(task(PublishSchedule, "no", log="small.swf", format="", policy="easy", data_root="data"))
    users = described(folder / "data").slurm.accounts[1].users
    assert [each.name for each in users] == ["user-1", "user-2", "user-3", "1003"]
    experiment = {
        "name": "what",
        "logs": ["small.swf"],
        "policies": ["fcfs", "easy"],
        "machines": ["site.yaml"],
        "changes": [[], [CHANGES]],
        "exclude": [{"changes": [[CHANGES]], "policies": ["easy"]}],
    }
    assert build(PublishExperiment(experiment=json.dumps(experiment), data_root="data"))
    told = DataRoot.open(folder / "data").manifest("what")["parameters"]["experiment"]
    assert told["changes"] == [[], ["slurm.accounts.quagga.users.user-3.shares=3"]]
    assert told["exclude"][0]["changes"] == [["slurm.accounts.quagga.users.user-3.shares=3"]]
    shutil.rmtree(folder / "data/.work/runs")  # what cells are run, as the file has it
    assert found(folder / "data", *ONLY_AT_SITE, *IN_LOG) == []


def test_who_is_called_what(folder: Path) -> None:
    """As the log says; else by a number that is free; an account of a withheld user's name is withheld, too."""
    site = read_machine("site.yaml")
    plain = People(site, Privacy(), ["zebulon", "user-1"])
    users = {"zebulon": "zebulon", "wombat": "user-2", "okapi": "user-3", "axolotl": "user-4"}
    assert plain.users == {"root": "root", "1003": "1003", **users}
    accounts = {name: name for name in ("root", *ACCOUNTS)}
    assert plain.accounts == {**accounts, "axolotl": "account-1"}
    assert plain.text("okapi, okapis and axolotl.okapi") == "user-3, okapis and user-4.user-3"
    hidden = People(site, Privacy("numbers"), ["zebulon"])
    assert set(hidden.users.values()) == {"root", *(f"user-{number}" for number in range(1, 6))}
    assert set(hidden.accounts.values()) == {"root", *(f"account-{number}" for number in range(1, 5))}
    hashed = People(site, Privacy("hash", "my secret"))
    assert hashed.users["okapi"] == Privacy("hash", "my secret").name("user", "okapi")
    assert hashed.accounts["emu"] == Privacy("hash", "my secret").name("group", "emu")
    assert (hashed.accounts["root"], hashed.machine().slurm.accounts[2].parent) == ("root", hashed.accounts["quagga"])


def test_jobs_are_of_the_same_people_after_hashing(folder: Path) -> None:
    """So that what is simulated of a log with hashes is what would be of its names; with numbers nobody is known."""
    site = read_machine("site.yaml")
    found = {}
    for how in ("no", "hash", "numbers"):
        trace = read_log("sacct.txt", "slurm:time_zone=UTC", anonymise=how, key="my secret" if how == "hash" else None)
        people = People(site, Privacy(how, "my secret" if how == "hash" else None), ["zebulon", "wombat"])
        found[how] = slurm_jobs_of(trace, people.machine().simulated(trace.header)).association.tolist()
    assert found["no"] == found["hash"] == [3, 4]
    assert found["numbers"] == [-1, -1]


def test_a_key_says_whether_people_are_told_as_the_log_calls_them(folder: Path) -> None:
    """So what was published with their names is made anew; of other machines nothing is."""
    (folder / "plain.yaml").write_text("nodes: [{kind: a, count: 2, cores: 4}]")
    assert not names_people(read_machine("plain.yaml"))
    assert names_people(read_machine("site.yaml"))
    with_people = task(SimulatePolicy, "no", policy="easy")
    assert with_people.nodes.in_key == {"people": 1}
    assert task(SimulatePolicy, "no", policy="easy", machine="plain.yaml", changes="[]").nodes.in_key == {}


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_what_the_console_says(folder: Path, command: str) -> None:
    """Neither what is assumed nor what is changed has a name that is withheld."""
    words = ["--machine", "site.yaml", "--change", CHANGES, "--anonymise", "numbers", "--format", "slurm:time_zone=UTC"]
    log = ["sacct.txt"] if command == "simulate" else ["--log", "sacct.txt", "--data-root", "data"]
    result = CliRunner().invoke(main, [command, *log, *words])
    assert result.exit_code == 0, result.output
    assert [word for word in (*IN_LOG, *ONLY_AT_SITE, *ACCOUNTS) if word in result.output] == []
