# SPDX-License-Identifier: BSD-3-Clause
"""Candidates compared by the console and as a task: beside simulations made apart, without names, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import WRONG_COMMAND
from pipelines.tasks.compare_candidates import CompareCandidates
from swftools import read_log, read_machine, simulate
from swftools.errors import ParameterError
from swftools.output.shown_text import WIDTH
from tests.pipelines.dask_processes import cluster
from tests.pipelines.small_logs import build

HEAD = "JobID|User|Account|Partition|State|Submit|Start|End|TimelimitRaw|NCPUS|ReqCPUS|ReqMem|NNodes|NodeList"
SITE = """name: site
nodes: [{kind: n, count: 2, cores: 4, power: {busy: 20, idle: 5}}]
partitions: [{name: batch, nodes: ALL, default: true}]
"""
FORMAT = "slurm:time_zone=UTC"
MORE, FCFS, BOTH = "nodes.n.count+=1", "policy=fcfs", "partitions.batch.max_time=4h; predictor=exact"


def sacct(days: int = 10) -> str:
    """Return a log of six jobs a day, of two users, that wait for each other on two nodes."""
    rng = np.random.default_rng(6)
    lines = [HEAD]
    for job in range(6 * days):
        submit = pd.Timestamp("2024-03-01") + pd.Timedelta(days=job // 6, minutes=int(rng.integers(0, 120)))
        start = submit + pd.Timedelta(minutes=int(rng.integers(0, 90)))
        run, cores = int(rng.integers(10, 200)), int(rng.choice([1, 2, 4, 8]))
        end, limit = start + pd.Timedelta(minutes=run), run + int(rng.integers(1, 200))
        user, account = ("wombat", "quagga") if job % 2 else ("zebulon", "okapi")
        hosts, nodes = ("n[1-2]", 2) if cores == 8 else (f"n{1 + job % 2}", 1)
        times = "|".join(f"{each:%Y-%m-%dT%H:%M:%S}" for each in (submit, start, end))
        lines.append(f"{job + 1}|{user}|{account}|batch|COMPLETED|{times}|{limit}|{cores}|{cores}|1Gn|{nodes}|{hosts}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log and its machine."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sacct.txt").write_text(sacct())
    (tmp_path / "site.yaml").write_text(SITE)
    return tmp_path


def call(*words: object) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, list(map(str, words)))


def compare(*words: object, log: str = "sacct.txt") -> Result:
    """Compare on the machine."""
    usual = ("compare", log, "--format", FORMAT, "--machine", "site.yaml", "--data-root", "data")
    return call(*usual, *words)


def task(**given: Any) -> CompareCandidates:
    """Return the task."""
    usual = {"log": "sacct.txt", "format": FORMAT, "machine": "site.yaml", "data_root": "data"}
    return CompareCandidates(**{**usual, **given})


def table(data_set: str = "sacct-candidates", name: str = "candidates") -> pd.DataFrame:
    """Return a table of the version that was published last."""
    version = Path("data", data_set, "latest").read_text().strip()
    return pd.read_parquet(Path("data", data_set, version, name))


def test_candidates_are_what_simulations_made_apart_are(folder: Path) -> None:
    """Three candidates: more nodes, another policy, a limit with exact predictions; in pairs of the same jobs."""
    done = compare("--change", MORE, "--change", FCFS, "--change", BOTH, "--by", "account", "-o", "out")
    assert done.exit_code == 0, done.output
    found = table()
    trace, site = read_log("sacct.txt", FORMAT), read_machine("site.yaml")
    made = {
        "as it is": simulate(trace, "easy", machine=site),
        MORE: simulate(trace, "easy", machine=site.changed([MORE])),
        FCFS: simulate(trace, "fcfs", machine=site),
        BOTH: simulate(trace, "easy", machine=site.changed(["partitions.batch.max_time=4h"]), predictor="exact"),
    }
    assert list(found["candidate"].drop_duplicates()) == ["logged", *made]
    base = made["as it is"].jobs.set_index("job_number")["wait_time"]
    for name, schedule in made.items():
        own = schedule.jobs.set_index("job_number")["wait_time"].astype(float)
        row = found.query(
            "candidate == @name and measure == 'wait' and statistic == 'mean' and classed_by == 'all'"
        ).iloc[0]
        assert row["value"] == pytest.approx(own.mean())
        assert row["jobs"] == len(own)
        if name == "as it is":
            continue
        common = own.index.intersection(base.index)
        assert row["difference"] == pytest.approx((own[common] - base[common]).mean())
        assert row["blocks"] == 10
        left_out = found.query("candidate == @name and measure == 'left_out'").iloc[0]
        assert left_out["value"] == len(schedule.excluded)
        groups = found.query("candidate == @name and classed_by == 'account'")
        accounts = trace.jobs.set_index("job_number").loc[common, "group_id"].map(trace.known_names["group"])
        means = (own[common] - base[common]).groupby(accounts).mean()
        assert dict(zip(groups["job_class"], groups["difference"], strict=True)) == pytest.approx(means.to_dict())
    assert found.query("candidate == @BOTH and measure == 'left_out'")["difference"].iloc[0] > 0
    assert found.query("candidate == @MORE and measure == 'machine' and statistic == 'size'")["value"].tolist() == [3]
    assert found.query("candidate == @MORE and measure == 'energy'")["difference"].iloc[0] > 0
    written = {path.stem: pd.read_csv(path) for path in Path("out").iterdir()}
    assert set(written) == {"candidates", "candidate_blocks", "candidate_advice"}
    assert written["candidates"]["value"].to_numpy() == pytest.approx(found["value"].to_numpy(), nan_ok=True)
    assert "assumed: machine: power" not in done.stdout
    assert max(map(len, done.stdout.split("published: ")[0].splitlines())) <= WIDTH


def test_a_report(folder: Path) -> None:
    """Beside the version, with the sentences and a part for each candidate; also of the version, later."""
    done = compare("--change", MORE, "--change", FCFS, "--report")
    assert done.exit_code == 0, done.output
    (page,) = Path("data", "sacct-candidates").glob("*.html")
    text = page.read_text()
    for words in (
        "What would help",
        f"Candidate: {MORE}",
        f"Candidate: {FCFS}",
        "Mean wait by account",
        "take for granted",
    ):
        assert words in text, words
    for sentence in table(name="candidate_advice")["sentence"]:
        assert sentence.partition(":")[0].replace("'", "&#39;") in text.replace("\u00a0", " ")
    assert len(text) < 1_000_000
    again = call("report", "sacct-candidates", "--data-root", "data", "-o", "again.html")
    assert again.exit_code == 0, again.output
    assert Path("again.html").read_text() == text


def test_changes_beside_policies_are_all_of_the_machine(folder: Path) -> None:
    """With --policies nothing is a candidate: they run where all changes are made."""
    done = compare("--policies", "fcfs,easy", "--change", MORE, "--change", "nodes.n.cores=8")
    assert done.exit_code == 0, done.output
    assert "on 3 nodes (24 cores)" in done.stdout
    found = table("sacct-policies", "comparison")
    assert set(found["policy"]) == {"logged", "fcfs", "easy"}


def test_a_centre_has_its_candidates(folder: Path) -> None:
    """The report on a log and its machine goes on with what changes would bring, as compare says it."""
    words = ("report", "sacct.txt", "--format", FORMAT, "--machine", "site.yaml")
    done = call(*words, "--change", MORE, "--change", FCFS, "-o", "centre.html")
    assert done.exit_code == 0, done.output
    text = Path("centre.html").read_text().replace("\u00a0", " ")
    assert "Why users wait" in text
    assert compare("--change", MORE, "--change", FCFS).exit_code == 0
    for sentence in table(name="candidate_advice")["sentence"]:
        assert sentence in text.replace("&#39;", "'").replace("&gt;", ">")
    alone = call(*words, "-o", "alone.html")
    assert alone.exit_code == 0, alone.output
    assert "What would help" not in Path("alone.html").read_text()


@pytest.mark.parametrize("command", ["compare", "report"])
def test_names_are_withheld(folder: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In what is printed, published and written, also where a change names an account."""
    site = SITE.replace("name: site\n", "name: site\nslurm:\n  accounts: [{name: quagga, users: [{name: wombat}]}]\n")
    (folder / "site.yaml").write_text(site)
    monkeypatch.setenv("SWFTOOLS_ANONYMISE_KEY", "a secret of ours")
    change = "slurm.accounts.quagga.shares=3; policy=fcfs"
    for how in ("numbers", "hash"):
        root = folder / f"{how}-{command}"
        words = ("--change", change, "--change", MORE, "--anonymise", how)
        if command == "compare":
            words = (*words, "--by", "account,user", "-o", root, "--policy", "easy", "--report", "--data-root", root)
            usual = ("compare", "sacct.txt", "--format", FORMAT, "--machine", "site.yaml")
        else:
            root.mkdir()
            usual = ("report", "sacct.txt", "--format", FORMAT, "--machine", "site.yaml", "-o", root / "centre.html")
            words = (*words[:2], "--change", "policy=easy", *words[4:])
        done = call(*usual, *words)
        assert done.exit_code == 0, done.output
        told = [path for path in root.rglob("*") if path.is_file() and ".staging" not in path.parts]
        told = [path for path in told if "work" not in path.relative_to(root).parts]
        assert told
        for name in ("wombat", "zebulon", "quagga", "okapi"):
            assert name not in done.output
            assert [str(path) for path in told if name.encode() in path.read_bytes()] == []
        assert "policy=fcfs" in (done.output if command == "compare" else (root / "centre.html").read_text())


def test_phases_of_slurm_are_runs(folder: Path) -> None:
    """Three where nobody says how many; a policy without cycles has one."""
    (folder / "site.yaml").write_text(SITE.replace("name: site\n", "name: site\nslurm: {}\n"))
    found = task(candidates=json.dumps([MORE, FCFS, "policy=slurm:phase=.5"]))
    entries = {name: [run.entry for run in runs] for name, runs in found.runs.items()}
    assert entries["as it is"] == [{"policy": "slurm", "phase": place / 3} for place in range(3)]
    assert entries[MORE] == entries["as it is"]
    assert entries[FCFS] == [{"policy": "fcfs"}]
    assert entries["policy=slurm:phase=.5"] == [{"policy": "slurm", "phase": 0.5}]
    assert [len(runs) for runs in task(candidates=MORE, phases=1, seeds="0,1").runs.values()] == [2, 2]
    assert [run.seed for run in task(candidates=MORE, policy="easy", seeds="2,1").runs[MORE]] == [1, 2]


def test_nobody_can_run(folder: Path) -> None:
    """Of a candidate under which no job runs nothing is compared, and that is said."""
    done = compare("--change", "partitions.batch.max_time=1m", "--change", MORE)
    assert done.exit_code == 0, done.output
    advice = table(name="candidate_advice").query("candidate == 'partitions.batch.max_time=1m'")
    assert dict(zip(advice["kind"], advice["sentence"], strict=True)) == {
        "wait": "No job runs both with it and without, so 0 waits are compared.",
        "left_out": "60 jobs more cannot run at all, and count in no wait.",
    }


def test_keys(folder: Path) -> None:
    """Whatever is seen in the tables moves a version; where it is run does not."""
    usual = task(candidates=json.dumps([MORE]))
    assert build(usual)
    version = usual.version
    for given in ({"by": "account"}, {"metrics": "bound=60"}, {"policy": "fcfs"}, {"seeds": "1"}):
        assert task(candidates=json.dumps([MORE]), **given).version != version
    assert task(candidates=json.dumps([f" {MORE} "])).version == version
    assert task(candidates=json.dumps([MORE, FCFS])).version != version
    assert task(candidates=MORE, processes=2).version == version


def test_candidates_of_a_pool(folder: Path) -> None:
    """Without a machine of nodes: processors, policies and options; of an SWF log too."""
    words = ("compare", "sacct.txt", "--format", FORMAT, "--processors", 8, "--data-root", "data")
    done = call(*words, "--change", "processors=16", "--change", "overrun=kill", "-q")
    assert done.exit_code == 0, done.output
    found = table()
    sizes = found.query("measure == 'machine' and statistic == 'size'").set_index("candidate")["value"].to_dict()
    assert sizes == {"as it is": 8, "processors=16": 16, "overrun=kill": 8}


@pytest.mark.slow
def test_a_cluster_gives_what_one_process_does(folder: Path) -> None:
    """File by file: one process, two, and a worker of Dask."""
    words = ("--change", MORE, "--change", FCFS, "--change", BOTH)
    with cluster(folder / "dask", 1) as made:
        where = {"one": ("--workers", 1), "two": ("--workers", 2), "dask": ("--cluster", made.address)}
        for root, engine in where.items():
            done = compare(*words, *engine, "--data-root", root)
            assert done.exit_code == 0, done.output
    paths = {root: [path for path in Path(root, "sacct-candidates").rglob("*") if path.is_file()] for root in where}
    found = [{str(path.relative_to(root)): path.read_bytes() for path in own} for root, own in paths.items()]
    assert len(found[0]) > 5
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--change", "nodes.m.count+=1"), "no kind of nodes"),
        (("--change", "polcy=easy"), "there is no option 'polcy'; did you mean policy"),
        (("--change", MORE, "--change", "policy=easyy"), "did you mean easy"),
        (("--change", MORE, "--change", MORE), "stands there twice; leave one out"),
        (("--change", "policy=easy"), "is the same run as 'as it is'; leave one out"),
        (("--change", "predictor=exac"), "did you mean exact"),
        (("--change", "processors=8"), "they are two machines; give one"),
        (("--change", MORE, "--policy", "easy,fcfs"), "give one; each other one is a candidate"),
        (("--change", MORE, "--schedules"), "--schedules is of a table of policies; give --policies too"),
        (("--change", MORE, "--by", "acount"), "did you mean account"),
        (("--policy", "easy"), "--policy is of candidates; name some by --change"),
        (("--policies", "easy", "--phases", "2", "--change", MORE), "--phases is of candidates"),
        (("--change", MORE, "-o", "site.yaml"), "site.yaml: is a file; name a folder"),
        (("--change", MORE, "--seeds", "a"), "give numbers separated by commas"),
    ],
    ids=str,
)
def test_mistakes(folder: Path, words: tuple[object, ...], message: str) -> None:
    """One sentence, and nothing is written."""
    done = compare(*words)
    assert done.exit_code == WRONG_COMMAND, done.output
    assert message in " ".join(done.output.split())
    assert not Path("data").exists()


def test_mistakes_of_the_task(folder: Path) -> None:
    """As in Python."""
    for given, message in (
        ({"candidates": "[]"}, "give at least one"),
        ({"candidates": "[1]"}, "give a JSON list of texts"),
        ({"candidates": MORE, "phases": -1}, "phases=-1 is not a whole number >= 0"),
    ):
        with pytest.raises(ParameterError, match=message):
            task(**given)
