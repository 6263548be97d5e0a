# SPDX-License-Identifier: BSD-3-Clause
"""Commands on machines of nodes: --machine, --change, --placement and --heads, and what they refuse."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import WRONG_COMMAND
from pipelines.logs.load import load_log
from pipelines.tasks.simulate import SimulatePolicy
from swftools import read_machine, simulate
from swftools.formats.tables.published.helios import Helios
from swftools.formats.tables.published.pm100 import Pm100
from swftools.formats.tables.table_format import TableFormat
from tests.folders import ROOT
from tests.pipelines.cli.test_reading_logs import catalog
from tests.pipelines.small_logs import small_log

EXAMPLES = sorted((ROOT / "examples" / "machines").glob("*.yaml"))


def call(*words: object) -> Result:
    """Run the console."""
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log of twelve jobs of 4 processors and 60 s, ten seconds apart, and a machine for one of them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.swf").write_text(small_log(12))
    (tmp_path / "site.yaml").write_text("nodes: [{kind: a, count: 2, cores: 2}, {kind: b, count: 1, cores: 1}]\n")
    return tmp_path


def test_simulate_is_the_function(files: Path) -> None:
    """The same starts, and the nodes are told; the machine has room for one job at a time, the log's for two."""
    done = call("simulate", "small.swf", "--machine", "site.yaml", "--output", "out.parquet")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("small.swf, easy on 3 nodes (5 cores): 12 jobs\n")
    assert "machine: memory is not known, and never lacks (a, b)" in done.stdout
    assert "  node_utilization_time_mean" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    starts = pd.read_parquet("out.parquet")["start_time"]
    assert starts.tolist() == [60.0 * number for number in range(12)]
    schedule = simulate(load_log("small.swf").trace, "easy", machine=read_machine("site.yaml"))
    assert schedule.jobs["start_time"].tolist() == starts.tolist()
    assert "node_utilization" not in call("simulate", "small.swf").stdout
    pool = call("simulate", "small.swf", "--json")
    assert json.loads(pool.stdout)["processors"] == 8


def test_changes_are_made(files: Path) -> None:
    """Two nodes more are room for two jobs; a change of the policy reaches it."""
    flags = ("--machine", "site.yaml", "--change", "nodes.a.count+=2", "--output", "out.csv")
    done = call("simulate", "small.swf", *flags, "--change", "priority.backfill_order=sjf")
    assert done.exit_code == 0, done.output
    assert "on 5 nodes (9 cores)" in done.stdout
    assert "the machine is changed: nodes.a.count+=2\n" in done.stdout
    assert pd.read_csv("out.csv")["start_time"].tolist()[:4] == [0, 10, 60, 70]
    wrong = call("simulate", "small.swf", *flags, "--change", "priority.patience=2")
    assert wrong.exit_code != 0
    assert "easy: unknown parameters ['patience']; there are: backfill_order, reservations" in wrong.output


@pytest.mark.usefixtures("simulated_as_python_by_day")
def test_placement_and_heads_reach_the_run(files: Path) -> None:
    """The nodes of larger weight are left for later."""
    (files / "site.yaml").write_text(
        "nodes: [{kind: a, count: 2, cores: 2, weight: 5}, {kind: b, count: 2, cores: 2}]\n"
    )
    flags = ("--machine", "site.yaml", "--heads", "machine", "--policy", "fcfs", "--json")
    told = [call("simulate", "small.swf", *flags, "--placement", word) for word in ("lowest-weight", "first-fit")]
    assert [each.exit_code for each in told] == [0, 0]
    data = call(
        "compare",
        "small.swf",
        *flags[:4],
        "--data-root",
        "data",
        "--placement",
        "lowest-weight",
        "--policies",
        "fcfs",
        "--schedules",
    )
    assert data.exit_code == 0, data.output
    segments = next(Path("data").rglob("segments/*.parquet"))
    assert [row.tolist() for row in pd.read_parquet(segments)["nodes"]][:2] == [[2, 3], [0, 1]]


def test_an_experiment_says_how_a_pool_is_taken_out(files: Path) -> None:
    """A pool has no placement: one sentence says what to write, and with that the experiment can be."""
    text = (
        "name: two\nlogs: small.swf\npolicies: [fcfs]\nmachines: [pool, site.yaml]\nplacement: [first-fit, best-fit]\n"
    )
    (files / "two.yaml").write_text(text)
    done = call("experiment", "two.yaml", "--dry-run", "--data-root", "data")
    assert done.exit_code == WRONG_COMMAND
    assert "{machines: pool, placement: [best-fit]}" in done.output
    (files / "two.yaml").write_text(f"{text}exclude:\n  - {{machines: pool, placement: [best-fit]}}\n")
    done = call("experiment", "two.yaml", "--dry-run", "--data-root", "data")
    assert done.exit_code == 0, done.output


def test_compare_says_on_which_machine(files: Path) -> None:
    """As simulate does; of a pool it says nothing."""
    words = ("compare", "small.swf", "--policies", "fcfs", "--data-root", "data")
    done = call(*words, "--machine", "site.yaml")
    assert done.exit_code == 0, done.output
    assert "on 3 nodes (5 cores)\n\n| measure" in done.stdout
    assert "nodes (" not in call(*words).stdout


def test_what_changes_no_run_changes_no_key(files: Path) -> None:
    """A name and notes are not simulated; cores are."""
    keys = {}
    for name, text in {
        "plain": "nodes: [{kind: a, count: 2, cores: 4}]",
        "named": "name: A site\nnotes: [as it was in May]\nnodes: [{kind: a, count: 2, cores: 4}]",
        "larger": "nodes: [{kind: a, count: 2, cores: 5}]",
    }.items():
        (files / f"{name}.yaml").write_text(text)
        task = SimulatePolicy(log="small.swf", policy="easy", machine=f"{name}.yaml", data_root="data")
        keys[name] = task.key
        assert "notes" not in task.nodes.told["machine"]
    assert keys["plain"] == keys["named"] != keys["larger"]


@pytest.mark.usefixtures("simulated_as_python_by_day")
def test_a_report_shows_the_machine(files: Path) -> None:
    """Its nodes, kinds and partitions, how jobs are put there, what is changed, and how much of each is in use."""
    flags = ("--machine", "site.yaml", "--change", "nodes.a.count+=2", "--placement", "best-fit", "--heads", "machine")
    done = call("report", "small.swf", "--policy", "fcfs", *flags)
    assert done.exit_code == 0, done.output
    page = (files / "small.html").read_text().replace("\u00a0", " ")
    for text in (
        "The schedule of a workload trace under a policy, by simulation",
        "fcfs",
        "5 nodes (9 cores)",
        "a 4, b 1",
        "all 5",
        "best-fit:sparing=true",
        "that of the machine",
        "nodes.a.count+=2",
        "The machine is changed: nodes.a.count+=2.",
        "kind b",
        "partition all",
        "Its nodes over time",
    ):
        assert text in page, text
    assert call("report", "small.swf", "--policy", "easy", "-o", "pool.html").exit_code == 0
    assert "kind b" not in (files / "pool.html").read_text()


def test_pictures_are_of_the_machine(files: Path) -> None:
    """The nodes of the machine are drawn, with its changes, for each policy."""

    def drawn(*flags: str) -> str:
        """Return what is said of the picture of the nodes."""
        done = call("plot", "small.swf", "--policy", "easy", *flags, "--picture", "gantt", "-o", "nodes.svg")
        assert done.exit_code == 0, done.output
        return " ".join(done.stdout.split())

    # One job of 4 cores runs at a time on 5 cores, and two on 9.
    assert "12 runs in 12 min " in drawn("--machine", "site.yaml")
    assert "80.0 % of the cores of these nodes are held" in drawn("--machine", "site.yaml")
    assert "12 runs in 6" in drawn("--machine", "site.yaml", "--change", "nodes.a.count+=2")
    assert "processors are in use" in drawn()
    done = call("plot", "small.swf", "--policy", "easy,fcfs", "--machine", "site.yaml", "--picture", "waits")
    assert done.exit_code == 0, done.output


def test_pictures_of_the_log_itself(files: Path) -> None:
    """Each picture of a schedule, as that of policy logged; waits and slowdowns have it beside those of policies."""

    def drawn(*words: str) -> str:
        """Return what is said of a picture."""
        done = call("plot", "small.swf", *words, "-o", "log.svg")
        assert done.exit_code == 0, done.output
        return " ".join(done.stdout.split())

    assert "processors are in use" in drawn("--policy", "logged", "--picture", "utilization")
    both = drawn("--policy", "logged,easy", "--picture", "queue")
    assert "logged: " in both
    assert "easy: " in both
    for policies in ("easy,fcfs", "easy,fcfs,logged"):
        for picture in ("waits", "slowdowns"):
            assert drawn("--policy", policies, "--picture", picture).count("logged: ") == 1
    assert "logged" not in drawn("--policy", "easy,fcfs", "--picture", "queue")
    untold = (files / "small.swf").read_text()
    lines = [
        line if line.startswith(";") else re.sub(r"^(\S+ \S+) \S+", r"\1 -1", line) for line in untold.splitlines()
    ]
    (files / "untold.swf").write_text("\n".join(lines) + "\n")
    done = call("plot", "untold.swf", "--policy", "easy,fcfs", "--picture", "slowdowns", "-o", "log.svg")
    assert "logged" not in done.output
    assert done.exit_code == 0
    refused = call("plot", "untold.swf", "--policy", "logged", "--picture", "queue", "-o", "log.svg")
    assert "does not tell of any job when it started" in refused.output


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        ("plot", ("--machine", "site.yaml")),
        *(
            (command, flags)
            for command in ("plot", "report")
            for flags in (("--change", "x"), ("--placement", "best-fit"), ("--heads", "machine"))
        ),
    ],
)
def test_a_log_runs_nowhere_without_a_policy(files: Path, command: str, flags: tuple[str, ...]) -> None:
    """What says where a schedule runs is refused where none is made; a report has that of the log."""
    done = call(command, "small.swf", *flags)
    assert done.exit_code == WRONG_COMMAND
    assert f"error: {flags[0]} says how a policy's schedule runs; give --policy too" in done.output


def test_the_machine_of_a_card(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is taken where it is asked for; by default the log stays a pool."""
    text = small_log(12)
    nodes = "processors_per_node: 1\n      nodes: [{kind: a, count: 2, cores: 4}]"
    (files / "cards.yaml").write_text(catalog(text, "").replace("processors_per_node: 1", nodes))
    monkeypatch.setenv("SWFTOOLS_CATALOG", str(files / "cards.yaml"))
    asked, usual = (call("simulate", "small.swf", *flags) for flags in (("--machine", "card"), ()))
    assert asked.stdout.splitlines()[0] == "small.swf, easy on 2 nodes (8 cores): 12 jobs", asked.output
    assert usual.stdout.splitlines()[0] == "small.swf, easy on 4 processors: 12 jobs"


def test_the_load_is_that_of_the_machine(files: Path) -> None:
    """Of nine cores in place of five, submissions are so much closer together."""
    spans = []
    for change in ("nodes.a.count=2", "nodes.a.count=4"):
        flags = ("--machine", "site.yaml", "--change", change, "--load", 0.5, "--output", "out.csv")
        assert call("simulate", "small.swf", *flags).exit_code == 0
        spans.append(pd.read_csv(files / "out.csv")["submit_time"].max())
    assert spans[0] / spans[1] == pytest.approx(9 / 5, rel=0.05)


HELIOS = """nodes: [{kind: v100, count: 2, cores: 48, memory: 256G, gpus: {v100: 8}}]
partitions: [{name: vcJkd}, {name: vchbv}, {name: vcpDC}]
"""
PM100 = "nodes: [{kind: m100, count: 4, cores: 128, memory: 256G, gpus: {v100: 4}}]\n"


@pytest.mark.parametrize(
    ("table", "machine", "holds"), [(Helios, HELIOS, [1, 16, 1]), (Pm100, PM100, [256, 128])], ids=["helios", "pm100"]
)
def test_published_columns(files: Path, table: type[TableFormat], machine: str, holds: list[int]) -> None:
    """Rows of Helios have cores and GPUs of shared nodes, those of PM100 whole nodes; all of them run."""
    (files / "jobs.csv").write_text(table.EXAMPLE)
    (files / "site.yaml").write_text(machine)
    done = call("simulate", "jobs.csv", "--raw", "--machine", "site.yaml", "--output", "out.csv")
    assert done.exit_code == 0, done.output
    assert pd.read_csv("out.csv")["allocated_processors"].tolist() == holds
    assert "left out" not in done.stdout


REAL = {
    "slurm": ("slurm/snapshots/end/sacct_sched.txt.gz", "slurm/conf/slurm.conf", "slurm:time_zone=UTC", 486),
    "cerit": ("samples/modern/wagap-2013_4000.swf", "samples/modern/wagap-2013.machines", "swf", 4000),
    "theta": ("samples/modern/theta_2023_3000.swf", "theta.yaml", "swf", 2995),
    "eagle": ("samples/modern/nrel_eagle_500.csv", "eagle.yaml", "nrel", 500),
    "openb": (
        "samples/openb/openb_pod_list_default.csv.gz",
        "samples/openb/openb_node_list_all_node.csv.gz",
        "openb",
        6203,
    ),
}


@pytest.mark.slow  # whole logs
@pytest.mark.parametrize("name", REAL)
def test_real_logs_on_their_machines(shared: Path, name: str) -> None:
    """Nobody is left out but jobs without run time, and the schedule is valid."""
    log, machine, read_as, jobs = REAL[name]
    path = next(each for each in (shared / machine, ROOT / "examples" / "machines" / machine) if each.exists())
    done = call("simulate", shared / log, "--format", read_as, "--machine", path, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["jobs"] == jobs
    assert {*found["left_out"]} <= {"no run_time (cancelled=drop)"}
    assert found["validation"]["ok"]


@pytest.mark.parametrize("command", ["simulate", "compare"])
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--machine", "site.yaml", "--processors", 4), "they are two machines; give one"),
        (("--change", "nodes.a.count+=1"), "a pool of processors has no nodes or partitions; give --machine"),
        (("--machine", "site.yaml", "--change", "away: nodes=nothere"), "no node 'nothere'"),
        (("--machine", "site.yaml", "--on-outage", "requeu"), "did you mean requeue"),
        (("--machine", "nothere.yaml"), "nothere.yaml"),
        (("--machine", "card"), "it has no card"),
        (("--machine", "empty.yaml"), "empty.yaml"),
        (("--machine", "site.yaml", "--placement", "best-fitt"), "did you mean best-fit"),
    ],
    ids=str,
)
def test_mistakes(files: Path, command: str, flags: tuple[object, ...], message: str) -> None:
    """One sentence, and nothing is written."""
    (files / "empty.yaml").write_text("")
    done = call(command, "small.swf", *flags, *(("--data-root", "data") if command == "compare" else ()))
    assert done.exit_code == WRONG_COMMAND, done.output
    assert message in done.output
    assert not (files / "data").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("whatif", "--running", "q", "--job", "processors=1,time=1h"), "give --processors or --machine"),
        (("reservations", "small.swf", "--machine", "site.yaml"), "not simulated on machines of nodes yet"),
        (("reservations", "small.swf", "--change", "nodes.a.count+=1"), "not simulated on machines of nodes yet"),
    ],
)
def test_commands_that_know_no_nodes(files: Path, words: tuple[str, ...], message: str) -> None:
    """They say so, and what to give."""
    (files / "q").write_text("")
    done = call(*words)
    assert (done.exit_code, message in done.output) == (WRONG_COMMAND, True), done.output


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_shipped_descriptions(path: Path) -> None:
    """They can be read, and shown."""
    assert len(read_machine(path).table()) > 2000
    assert call("machine", path).exit_code == 0


def test_there_are_shipped_descriptions() -> None:
    """Those that the pages name."""
    assert {path.stem for path in EXAMPLES} >= {"theta", "eagle"}
