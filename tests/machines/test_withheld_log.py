# SPDX-License-Identifier: BSD-3-Clause
"""Users and accounts called otherwise in a log and its machine: simulations are what they were, and name nobody."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from swftools import MachineDescription, read_log, simulate
from swftools.formats.privacy import Privacy
from swftools.machines.people import People
from swftools.machines.withheld_log import withhold_log
from swftools.trace import Trace

SACCT = """JobID|User|Account|QOS|JobName|Partition|State|Submit|Eligible|Start|End|TimelimitRaw|NCPUS|ReqCPUS|NodeList
11|anna|phys|normal|secret|batch|COMPLETED|{0}:00|{0}:00|{0}:00|{0}:40|60|2|2|n0
12|anna|phys|normal|secret|batch|COMPLETED|{0}:01|{0}:01|{0}:40|{0}:59|60|2|2|n0
13|bert|bio|normal|secret|batch|COMPLETED|{0}:02|{0}:02|{0}:02|{0}:50|60|2|2|n0
14|bert|bio|normal|secret|fat|COMPLETED|{0}:03|{0}:03|{0}:03|{0}:30|60|8|8|f1
""".replace("{0}", "2024-03-01T09:00")
"""The second waits since anna may run one job at a time; the last fits into its partition only."""

SITE = {
    "nodes": [{"kind": "n", "count": 1, "cores": 4}, {"kind": "f", "names": "f1", "cores": 8}],
    "partitions": [{"name": "batch", "nodes": "n", "default": True}, {"name": "fat", "nodes": "f"}],
    "slurm": {
        "enforce": ["limits"],
        "accounts": [
            {"name": "root"},
            {"name": "phys", "users": [{"name": "anna", "max_jobs": 1}]},
            {"name": "bio", "users": [{"name": "bert"}, {"name": "zoe"}]},
        ],
    },
}
NAMES = r"\b(anna|bert|zoe|phys|bio|secret)\b"


def log() -> Trace:
    """Return the log with its names."""
    return read_log(io.BytesIO(SACCT.encode()), "slurm", time_zone="UTC")


@pytest.mark.parametrize("privacy", [Privacy("numbers"), Privacy("hash", key="a secret")])
def test_a_simulation_is_what_it_was(privacy: Privacy) -> None:
    """A limit is still that of the same user; a job is still in its partition."""
    machine = MachineDescription.from_mapping(SITE)
    trace, called = withhold_log(log(), machine, privacy)
    other = People(machine, privacy, called=called).machine()
    plain = simulate(log(), "slurm", machine=machine, compiled=False)
    found = simulate(trace, "slurm", machine=other, compiled=False)
    assert found.jobs["start_time"].tolist() == plain.jobs["start_time"].tolist()
    assert plain.jobs["wait_time"].tolist()[1] > 30
    unlimited = simulate(
        log(), "slurm", machine=replace(machine, slurm=None).with_slurm(version="22.05"), compiled=False
    )
    assert unlimited.jobs["wait_time"].tolist()[1] < 30
    assert found.segments["partition"].tolist() == plain.segments["partition"].tolist()
    told = f"{trace.names.to_dict()} {trace.jobs.to_dict()} {other.to_mapping()} {found.assumptions}"
    assert not re.findall(NAMES, told)
    assert re.findall(NAMES, f"{log().names.to_dict()} {machine.to_mapping()}")


def test_numbers_are_those_of_the_log() -> None:
    """Who is not in the log is called by another name."""
    trace, called = withhold_log(log(), MachineDescription.from_mapping(SITE), Privacy("numbers"))
    assert called["user"] == {"anna": "1", "bert": "2", "zoe": "user-1"}
    assert called["group"] == {"phys": "1", "bio": "2", "root": "root"}
    assert trace.known_names["user"] == {1: "1", 2: "2"}
    assert trace.known_names["queue"] == {1: "batch", 2: "fat"}
    assert "executable" not in trace.known_names
    assert "log_id" not in trace.jobs


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    """Return the words that name log and machine."""
    (tmp_path / "sacct.txt").write_text(SACCT)
    (tmp_path / "site.yaml").write_text(yaml.safe_dump(SITE, sort_keys=False))
    log_of, machine = str(tmp_path / "sacct.txt"), str(tmp_path / "site.yaml")
    return (log_of, "--raw", "--format", "slurm:time_zone=UTC", "--machine", machine)


def call(*words: object) -> Result:
    """Run a command."""
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.parametrize("how", ["numbers", "hash"])
def test_on_the_console(words: tuple[str, ...], how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures are the same; what is printed and written names nobody, and has no words of the log."""
    monkeypatch.setenv("SWFTOOLS_ANONYMISE_KEY", "a secret that is long enough")
    plain, found = (
        call("simulate", *words, "--policy", "easy", "--json", "-o", tmp_path / f"{name}.csv", *options)
        for name, options in (("plain", ()), ("found", ("--anonymise", how)))
    )
    assert json.loads(found.stdout)["measures"] == json.loads(plain.stdout)["measures"]
    assert json.loads(found.stdout)["jobs"] == 4
    written = (tmp_path / "found.csv").read_text()
    assert not re.findall(NAMES, written + found.output.replace(str(tmp_path), ""))
    columns = {name: set(pd.read_csv(tmp_path / f"{name}.csv")) for name in ("plain", "found")}
    assert columns["plain"] - columns["found"] == {"log_id", "host_list", "qos"}
    for name in ("plain", "found"):
        assert pd.read_csv(tmp_path / f"{name}.csv")["partition"].tolist() == ["batch", "batch", "batch", "fat"]


def test_a_report_on_a_schedule(words: tuple[str, ...], tmp_path: Path) -> None:
    """The same page under other names."""
    call("report", *words, "--policy", "easy", "--anonymise", "numbers", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert not re.findall(NAMES, page)
    assert "partition fat" in page
    assert "taken as not told" not in page


def test_compare_says_what_is_not_known(words: tuple[str, ...], tmp_path: Path) -> None:
    """What it publishes does not tell partitions."""
    more = ("--dry-run", "--data-root", tmp_path / "data")
    options = [word for word in words if word != "--raw"]
    assert "default one" in " ".join(call("compare", *options, "--anonymise", "numbers", *more).stderr.split())
    assert "warning" not in call("compare", *options, *more).stderr
