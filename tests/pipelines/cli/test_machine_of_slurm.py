# SPDX-License-Identifier: BSD-3-Clause
"""``swftools machine`` of a Slurm: its accounts, QOS, usage and switches beside its nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import WRONG_COMMAND
from swftools import read_machine
from swftools.output.shown_text import WIDTH
from tests.machines.slurm_sites import FILES, small, write

FILES_OF_SITE = ("--accounts", FILES / "dump.cfg", "--qos", FILES / "qos.txt", "--usage", FILES / "sshare.txt")


def call(*words: object) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["machine", *map(str, words)])


def test_what_is_printed_of_a_real_site() -> None:
    """Scheduler, priorities, what partitions have besides, QOS with limits, accounts as a tree with shares."""
    done = call(FILES / "site.conf", *FILES_OF_SITE)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.partition("* jobs go there that name no partition\n")[2] == (
        "\n"
        "Slurm 22.05, backfill, preemption by qos (requeue), enforced: associations,\n"
        "  limits, qos. bf_interval=5, bf_resolution=1, bf_window=120, bf_continue=1,\n"
        "  bf_max_job_test=1000, sched_interval=30\n"
        "\n"
        "  priority    weight  every 1 min\n"
        "  age          1,000  is 1 after 10 min\n"
        "  fair_share  10,000  Fair Tree, usage halves in 5 min\n"
        "  job_size     1,000\n"
        "  partition    1,000\n"
        "  qos          5,000\n"
        "\n"
        "  partition  factor  QOS  preempted  billing\n"
        "  batch          10  -    -\n"
        "  short          20  -    -\n"
        "  gpu            10  -    -\n"
        "  big            50  -    -\n"
        "\n"
        "  QOS     priority  preempts  limits\n"
        "  normal        50  -\n"
        "  low            0  -\n"
        "  high         100  low       max_tres_pu cpu=256\n"
        "\n"
        "  account  shares   of all  users    usage  limits\n"
        "  root          1  100.0 %      1  164,877\n"
        "    bio        10   12.3 %      2   50,526\n"
        "    chem       30   37.0 %      2   69,221  grp_tres cpu=512\n"
        "    phys       40   49.4 %      2   45,128\n"
        "\n"
        "not simulated\n"
        "  times of jobs that request none: told, not simulated (batch, gpu, big)\n"
    )


def test_a_description_that_has_it_all(tmp_path: Path) -> None:
    """What is written is shown again; changes are made after all files are read."""
    path = tmp_path / "site.yaml"
    wanted = ("--change", "slurm.accounts.phys.shares=60", "--change", "slurm.scheduler.bf_interval=60")
    done = call(FILES / "site.conf", *FILES_OF_SITE, "--slurm-version", "17.11", *wanted, "--to", path)
    assert (done.exit_code, done.stderr) == (0, "")
    assert call(path).stdout == done.stdout.removesuffix(f"description: {path}\n")
    found = read_machine(path).slurm
    assert found is not None
    assert (found.version, found.scheduler["bf_interval"], found.accounts[3].shares) == ("17.11", 60, 60)
    assert "classic, usage halves in 5 min" in done.stdout


def test_as_json() -> None:
    """All of it, with what is as by default; null where nothing of Slurm is told."""
    found = json.loads(call(FILES / "site.conf", *FILES_OF_SITE, "--json").stdout)["slurm"]
    assert (found["version"], found["requeue_delay"], found["priority"]["fair_share"]) == ("22.05", 121, 10_000)
    assert [each["name"] for each in found["accounts"]] == ["root", "bio", "chem", "phys"]
    assert found["accounts"][1]["users"][1]["max_jobs"] == 8
    assert found["qos"][2]["max_tres_pu"] == {"cpu": 256}


def test_nothing_of_slurm(tmp_path: Path) -> None:
    """Where a description says nothing of it, nothing is shown."""
    path = write(tmp_path, "nodes: [{names: 'n[1-2]', cores: 4}]\n", "site.yaml")
    assert "Slurm" not in call(path).stdout
    assert json.loads(call(path, "--json").stdout)["slurm"] is None


def test_lines_fit(tmp_path: Path) -> None:
    """Whatever names are long, however deep accounts stand, and how many there are."""
    long = "x" * 60
    accounts = [{"name": f"{long}{place}", "parent": f"{long}{place - 1}" if place else "root"} for place in range(50)]
    accounts[0] |= {"usage": 1e14, "grp_tres": {"cpu": 1e9, "mem": 1e9, "node": 5, "gres/gpu": 7}, "max_jobs": 10**6}
    qos = [{"name": f"{long}{place}", "preempt": [f"{long}0"], "max_tres": {"cpu": 3, "mem": 9}} for place in range(3)]
    scheduler = {f"parameter_{place}": long for place in range(9)}
    machine = small(
        accounts=accounts, qos=[*qos, {"name": "high"}], scheduler=scheduler, priority={"tres": {"mem": 1e9}}
    )
    done = call(write(tmp_path, machine.to_yaml(), "site.yaml"))
    assert (done.exit_code, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= WIDTH
    assert "and 11 more" in done.stdout


def test_shares_of_all(tmp_path: Path) -> None:
    """Those of an account among its siblings, and users who stand beside them, times the part of the account above."""
    accounts = [
        {"name": "a", "shares": 3, "users": [{"name": "u", "shares": 2}, {"name": "v", "shares": "parent"}]},
        {"name": "b", "parent": "a", "shares": 6},
        {"name": "c"},
        {"name": "d", "shares": "parent"},
    ]
    done = call(write(tmp_path, small(accounts=accounts).to_yaml(), "site.yaml"))
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["a", "3", "75.0", "%", "2", "-"] in rows
    assert ["b", "6", "56.2", "%", "-", "-"] in rows
    assert ["c", "1", "25.0", "%", "-", "-"] in rows
    assert ["d", "parent", "-", "-", "-"] in rows


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--accounts", FILES / "qos.txt"), "qos.txt: tells no accounts; give what sacctmgr dump or"),
        (("--qos", FILES / "site.conf"), "site.conf: is in no format of Slurm's accounts, QOS, usage and switches"),
        (("--usage", "nowhere.txt"), "nowhere.txt: No such file or directory; give the path of what sshare"),
        (("--slurm-version", "new"), "'new' is no version of Slurm such as 22.05"),
    ],
)
def test_what_is_refused(words: tuple[object, ...], said: str) -> None:
    """In one line, with a remedy."""
    done = call(FILES / "site.conf", *words)
    assert done.exit_code == WRONG_COMMAND
    assert said in done.stderr


def test_a_file_is_never_overwritten_by_what_is_read_from_it(tmp_path: Path) -> None:
    """Neither the machine's nor those of Slurm."""
    path = write(tmp_path, (FILES / "qos.txt").read_text(), "qos.yaml")
    done = call(FILES / "site.conf", "--qos", path, "--to", path)
    assert done.exit_code == WRONG_COMMAND
    assert path.read_text() == (FILES / "qos.txt").read_text()


def test_parameters_that_are_not_simulated_are_told_once(tmp_path: Path) -> None:
    """By their names, with their values, and not as if they counted."""
    text = "NodeName=n[1-2] CPUs=4\nPartitionName=p Nodes=ALL\nSchedulerParameters=bf_interval=9,max_rpc_cnt=60,other\n"
    done = call(write(tmp_path, text, "slurm.conf"))
    assert done.exit_code == 0, done.output
    assert "Slurm 22.05, backfill. bf_interval=9\n" in done.stdout
    assert "SchedulerParameters: not simulated (max_rpc_cnt=60, other)" in done.stdout
