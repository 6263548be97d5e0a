# SPDX-License-Identifier: BSD-3-Clause
"""The commands of pages, scripts and messages, typed on a real Slurm, and what comes of them compared job by job."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from swftools import read_log, read_machine
from swftools.formats import read_squeue
from swftools.formats.slurm.queue_text import REMEDY
from swftools.formats.slurm.reader import Slurm as SlurmFormat
from tests.folders import ROOT
from tests.pages import PAGES
from tests.real_slurm.cluster import PROCESSORS, Slurm

pytestmark = pytest.mark.slow

_COMMAND = re.compile(
    r"^[ \t]*((?:[A-Z]+=\S+ )*\(?(?:sacctmgr|sacct|squeue|scontrol|sinfo|sshare)\b(?:[^\n\\`]|\\\n[ \t]*)*)$",
    re.MULTILINE,
)


def commands_of(text: str) -> list[str]:
    """Return the commands of Slurm that stand in lines of their own, over several lines where a backslash says so."""
    found = ((match[0], match[1]) for match in _COMMAND.finditer(text))
    plain = (command.replace("\n" + line[: len(line) - len(command)], "\n") for line, command in found)
    return [command.partition("  #")[0].strip() for command in plain]


def told_commands() -> Iterator[tuple[str, str]]:
    """Yield every command that users are told to type, with the place where it stands."""
    texts = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}
    for script in (ROOT / "docs" / "tutorials").glob("*.py"):
        texts[script.name] = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    texts["the error of a wrong queue"] = REMEDY.removeprefix("make it by ")
    texts["swftools formats slurm"] = SlurmFormat.COMMAND
    for place, text in texts.items():
        yield from ((place, command) for command in commands_of(text))


COMMANDS = list(dict.fromkeys(told_commands()))
OF_PREDICT = dict.fromkeys(commands_of((ROOT / "docs" / "predict.md").read_text(encoding="utf-8")))
WHATIF = [command for command in OF_PREDICT if "> now." in command]


@pytest.fixture(scope="module")
def crowd(slurm: Slurm) -> dict[str, str]:
    """A crowd whose future is known: 8 processors for an hour, 4 suspended, jobs of 16 that wait, and others."""
    ids = {"failed": slurm.submit("--ntasks=2", "--time=1", "exit 3")}
    slurm.wait_for(lambda: slurm.states().get(ids["failed"]) == "FAILED", "the job that fails")
    ids["long"] = slurm.submit("--ntasks=8", "--time=60", "sleep 900")
    ids["asleep"] = slurm.submit("--ntasks=4", "--time=60", "sleep 900")
    slurm.wait_for(lambda: slurm.states().get(ids["asleep"]) == "RUNNING", "the job to suspend")
    slurm.run(f"scontrol suspend {ids['asleep']}")
    ids["array"] = slurm.submit("--ntasks=16", "--time=5", "--nice=500", "--array=0-4:2", "sleep 900")
    ids["first"] = slurm.submit("--ntasks=16", "--time=7", "sleep 900")
    ids["held"] = slurm.submit("--ntasks=1", "--time=7", "--hold", "sleep 900")
    ids["dependent"] = slurm.submit("--ntasks=1", "--time=7", f"--dependency=afterok:{ids['long']}", "sleep 900")
    ids["never"] = slurm.submit("--ntasks=1", "--time=7", f"--dependency=afterok:{ids['failed']}", "sleep 900")
    ids["tomorrow"] = slurm.submit("--ntasks=1", "--time=7", "--begin=now+1day", "sleep 900")
    is_told = "squeue --noheader --states=pending --format='%i %r'"
    slurm.wait_for(
        lambda: "DependencyNeverSatisfied" in (told := slurm.run(is_told)) and "Resources" in told, "all reasons"
    )
    recorded = "sacct --noheader --allusers --allocations --state=R,PD --parsable2 --format=JobID"
    slurm.wait_for(lambda: len(slurm.run(recorded).split()) == 3, "the accounting of those that run and wait")
    return ids


@pytest.mark.parametrize(("place", "command"), COMMANDS)
def test_slurm_takes_the_command(place: str, command: str, slurm: Slurm, tmp_path: Path) -> None:
    """Without a word of complaint, as it stands there; switches are told only where there are some."""
    if command.startswith("scontrol show topology"):
        with pytest.raises(AssertionError, match="No topology information available"):
            slurm.run(command, folder=tmp_path)
        return
    slurm.run(_as_typed(command), folder=tmp_path)


def _as_typed(command: str) -> str:
    """Return a command for the cluster that runs; what sacctmgr dumps it also prints, where others complain."""
    return command.replace("CLUSTER", "tested") + (" 2> /dev/null" if command.startswith("sacctmgr dump") else "")


def test_the_centre_is_described(slurm: Slurm, tmp_path: Path) -> None:
    """By the first commands of the page, which tell nodes, settings, accounts, QOS and usage."""
    page = (ROOT / "docs" / "slurm.md").read_text(encoding="utf-8")
    first = page[page.index("## Describe your centre") : page.index("swftools machine site.txt")]
    for command in commands_of(first):
        if not command.startswith("scontrol show topology"):
            slurm.run(_as_typed(command), folder=tmp_path)
    accounts, qos, usage = (tmp_path / name for name in ("accounts.cfg", "qos.txt", "usage.txt"))
    machine = read_machine(tmp_path / "site.txt").with_slurm(accounts=accounts, qos=qos, usage=usage)
    site = machine.table().slurm
    assert site is not None
    assert machine.table().processors == PROCESSORS
    assert (site.associations[0].account, [each.name for each in site.qos]) == ("root", ["normal"])
    assert site.version == tuple(map(int, re.findall(r"\d+", slurm.run("sinfo --version"))[:2]))
    assert not any("not there" in note for note in machine.notes)


def test_all_places_are_there() -> None:
    """Else the pages were written in another way, and are not tried."""
    places = {place for place, _ in COMMANDS}
    assert {"docs/predict.md", "docs/formats/slurm.md", "docs/wait_predictors.md", "plot_slurm_to_report.py"} <= places
    assert len(WHATIF) == 4


@pytest.mark.parametrize("command", WHATIF)
def test_the_queue_is_what_slurm_says(command: str, slurm: Slurm, crowd: dict[str, str], tmp_path: Path) -> None:
    """Who runs and who waits, in which order, who is left out and why, by each way that the page gives."""
    slurm.run(command, folder=tmp_path)
    queue = read_squeue(next(tmp_path.glob("now.*")))
    assert queue.running[["name", "processors", "requested_time"]].to_numpy().tolist() == [[crowd["long"], 8, 3600.0]]
    tasks = [[f"{crowd['array']}_{task}", 16, 300.0] for task in (0, 2, 4)]
    waiting = queue.waiting[["name", "processors", "requested_time"]].to_numpy().tolist()
    assert waiting == [[crowd["first"], 16, 420.0], *sorted(tasks)]
    started = slurm.run(f"squeue --noheader --format=%S --job={crowd['long']}").strip()
    elapsed = datetime.now().astimezone() - datetime.fromisoformat(started).astimezone()
    assert queue.running["elapsed"].item() == pytest.approx(elapsed.total_seconds(), abs=20)
    if command.startswith("squeue"):  # sacct lists no job that cannot start yet
        told = slurm.run("squeue --noheader --array --states=pending --format='%i %Q'").splitlines()
        priority = {job: float(number) for job, number in (line.split() for line in told)}
        assert queue.waiting["priority"].tolist() == [priority[job] for job in queue.waiting["name"]]
        assert queue.held == {"JobHeldUser": 1, "DependencyNeverSatisfied": 1}
        assert queue.later == {"Dependency": 1, "BeginTime": 1}
        assert queue.suspended == 1


def test_what_the_answer_is(slurm: Slurm, crowd: dict[str, str], tmp_path: Path) -> None:
    """8 processors are free, for a job that ends within the hour; behind the job of 16, and before the array."""
    slurm.run(WHATIF[0], folder=tmp_path)
    page = (ROOT / "docs" / "predict.md").read_text(encoding="utf-8")
    policies = re.search(r"--policies (\S+)", page)
    assert policies is not None
    jobs = ["processors=8,time=20m", "processors=9,time=20m,priority=999999", "processors=8,time=2h"]
    asked = [part for job in jobs for part in ("--job", job)]
    given = ["--running", str(tmp_path / "now.txt"), "--processors", str(PROCESSORS), "--policies", policies[1]]
    done = CliRunner().invoke(main, ["whatif", *given, *asked, "--json"])
    assert done.exit_code == 0, done.output
    answers = pd.DataFrame(json.loads(done.stdout)["answers"])
    left = 3600.0 - read_squeue(tmp_path / "now.txt").running["elapsed"].item()
    for _, found in answers.groupby("policy"):
        assert found["wait"].tolist() == [0.0, left, left + 420.0 + 3 * 300.0]


def test_the_export_is_read_job_by_job(slurm: Slurm, crowd: dict[str, str], tmp_path: Path) -> None:
    """The page's export, by text: each job that ended is a record with what scontrol says of it."""
    (command,) = commands_of((ROOT / "docs" / "formats" / "slurm.md").read_text(encoding="utf-8"))
    today = datetime.now(UTC)
    command = command.replace("-S 2024-01-01", f"-S {today - timedelta(days=1):%F}")
    slurm.run(command.replace("-E 2024-02-01", f"-E {today + timedelta(days=1):%F}"), folder=tmp_path)
    trace = read_log(tmp_path / "sacct.txt", time_zone="UTC")
    job = trace.jobs.set_index("log_id").loc[crowd["failed"]]
    told = dict(re.findall(r"(\w+)=(\S+)", slurm.run(f"TZ=UTC scontrol show job {crowd['failed']}")))
    begin, end = (datetime.fromisoformat(told[name]) for name in ("StartTime", "EndTime"))
    assert job["wait_time"] == (begin - datetime.fromisoformat(told["SubmitTime"])).total_seconds()
    assert job["run_time"] == (end - begin).total_seconds()
    assert (job["allocated_processors"], job["status"]) == (int(told["NumCPUs"]), 0)
    assert job["requested_time"] == 60.0
    assert trace.quarantine["reason"].str.contains("not ended").sum() >= 1


def test_the_script_and_the_reevaluation(slurm: Slurm, crowd: dict[str, str], tmp_path: Path) -> None:
    """What the script leaves in the inbox is taken into a history, with the job that ended."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    slurm.run(f"sh {ROOT / 'examples' / 'reevaluate' / 'export_slurm.sh'} {inbox} 2")
    (export,) = inbox.iterdir()
    assert re.fullmatch(r"sacct-\d{4}-\d\d-\d\d\.txt", export.name)
    assert crowd["failed"] in read_log(export, time_zone="UTC").jobs["log_id"].tolist()
    folders = ["--inbox", str(inbox), "--history", "history", "--data-root", str(tmp_path / "data")]
    what = ["--format", "slurm:time_zone=UTC", "--processors", str(PROCESSORS)]
    done = CliRunner().invoke(main, ["reevaluate", *folders, *what])
    assert done.exit_code in (0, 3), done.output  # 3: there is something to look at, such as jobs that have not ended
    assert list((tmp_path / "data").rglob("*.parquet"))
