# SPDX-License-Identifier: BSD-3-Clause
"""swftools explain, and the notes of swftools simulate: what is told, drawn, written and refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import FAILED, MISSING_INPUT, WRONG_COMMAND
from swftools.simulator.search import notes as search_notes

LOG = "lublin-feitelson:jobs=300,processors=64,load=0.9,seed=3"

SEARCH = "search:nodes=200"


def explain(*arguments: object) -> Result:
    """Run swftools explain."""
    return CliRunner().invoke(main, ["explain", LOG, "--policy", SEARCH, *map(str, arguments)])


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The schedule and the notes of the same search."""
    folder = tmp_path_factory.mktemp("schedule")
    arguments = ["--policy", f"{SEARCH},explain=true", "--output", str(folder / "jobs.csv"), "--notes", str(folder)]
    result = CliRunner().invoke(main, ["simulate", LOG, *arguments])
    assert 0 == result.exit_code, result.output
    for table in ("decisions", "improvements", "orders"):
        assert f"  {folder / f'search_{table}.parquet'}: written\n" in result.output
    return folder


def test_notes_of_simulate(schedule: Path) -> None:
    """Anything reads them; each decision is one at which jobs waited."""
    decisions = pd.read_parquet(schedule / "search_decisions.parquet")
    orders = pd.read_parquet(schedule / "search_orders.parquet")
    assert orders.groupby("decision").size().tolist() == decisions["waiting"].tolist()
    assert decisions["nodes"].max() == 200


def test_why_a_job_went_first(schedule: Path) -> None:
    """The decision at which it started, which is told of first; the same by its time."""
    jobs = pd.read_csv(schedule / "jobs.csv")
    orders = pd.read_parquet(schedule / "search_orders.parquet")
    times = pd.read_parquet(schedule / "search_decisions.parquet").set_index("decision")["time"]
    moved = orders[(orders["chosen_place"] == 0) & (orders["heuristic_place"] > 0)].merge(jobs, on="job_number")
    job = moved[moved["start_time"] == times[moved["decision"]].to_numpy()].iloc[0]
    result = explain("--job", job["job_number"])
    assert 0 == result.exit_code, result.output
    assert f", at {job['start_time']:,.10g} s: " in result.output.splitlines()[0]
    assert f"\nJob {job['job_number']} went ahead of " in result.output
    assert explain("--time", f"{job['start_time']:.10f}").output == result.output
    assert max(map(len, result.output.splitlines())) <= 80


def test_by_default_the_last_decision(schedule: Path) -> None:
    """Also where a time is beyond the end; and the decision before a time between two."""
    decisions = pd.read_parquet(schedule / "search_decisions.parquet")
    last = explain()
    assert last.output.startswith(f"Decision {len(decisions) - 1:,} of the search, at ")
    assert explain("--time", "500d").output == last.output
    times = decisions["time"]
    place = int((times.diff() > 1).to_numpy().nonzero()[0][50])
    assert explain("--time", f"{times[place] - 0.5:.4f}").output.startswith(
        f"Decision {place - 1:,} of the search, at "
    )


def test_what_a_long_run_forgot_is_searched_again(schedule: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where notes have room for the newest decisions alone, an early one is told all the same."""
    jobs = pd.read_csv(schedule / "jobs.csv")
    number = jobs["job_number"][jobs["wait_time"] > 0].iloc[3]
    arguments = [("--job", number), ("--time", "1h")]
    before = [explain(*each).output for each in arguments]
    monkeypatch.setattr(search_notes, "ORDERS_A_JOB", 1)
    assert [explain(*each).output for each in arguments] == before
    assert all(text.startswith("Decision ") for text in before)


@pytest.mark.parametrize(
    "policy",
    [
        "search:objective=strict-tradeoff-a(T_w(2h):avgX),nodes=100",
        'search:nodes=100,objective="strict-tradeoff-a( T_w(120 min) : avgX )"',
        '{"policy": "search", "nodes": 100, "objective": "strict-tradeoff-a(T_w(2h):avgX)"}',
    ],
)
def test_an_objective_on_the_command_line(policy: str) -> None:
    """Its colons and brackets stand among those of the policy, quoted or not, and in JSON."""
    result = explain("--policy", policy)
    assert 0 == result.exit_code, result.output
    assert "\nWanted: the best by strict-tradeoff-a(T_w(2h):avgX).\n" in result.output


@pytest.mark.parametrize("suffix", ["svg", "png", "PDF"])
def test_a_picture(tmp_path: Path, suffix: str) -> None:
    """Is drawn into the file, in the format of its suffix; the text is printed as without."""
    path = tmp_path / f"why.{suffix}"
    result = explain("--picture", path)
    assert 0 == result.exit_code, result.output
    assert result.stdout == explain().stdout
    assert result.stderr == f"{explain().stderr}{path}: drawn\n"
    assert path.read_bytes().startswith({"svg": b"<?xml", "png": b"\x89PNG", "PDF": b"%PDF"}[suffix])


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said before the log is replayed, with what to install, and no file is left."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = explain("--picture", tmp_path / "why.svg")
    assert FAILED == result.exit_code
    assert result.stdout == ""
    assert "pip install matplotlib" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--policy", "easy"), "--policy: easy is not a search; use search or genetic"),
        (("--time", "5", "--job", "3"), "give --time or --job, not both"),
        (("--job", "3000"), "--job: 3000 is not in the log; give the number of a job that started"),
        (("--picture", "why.jpg"), "why.jpg: the suffix names no format; use .svg, .png, .pdf"),
        (("--picture", "nowhere/why.svg"), "nowhere/why.svg: there is no folder"),
        (("--time", "1"), "error: the search decided nothing by 1 s"),
        (("--time", "soon"), "'soon' is not a time such as 90 (seconds)"),
        (("--policy", "search:objective=lexical(T_x)"), "  lexical(T_x)\n          ^\n  expected a measure"),
        (("--policy", "search:node=3"), "search: unknown parameters ['node']"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], words: str) -> None:
    """With the status of a wrong command, and nothing on the standard output."""
    result = explain(*arguments)
    assert (WRONG_COMMAND, "") == (result.exit_code, result.stdout)
    assert words in result.stderr


def test_a_log_that_is_not_there() -> None:
    """Has a status of its own."""
    result = CliRunner().invoke(main, ["explain", "nowhere.swf"])
    assert MISSING_INPUT == result.exit_code


def log_of(folder: Path, *rows: tuple[int, int, int, int, int]) -> Path:
    """Write a log of jobs: number, submission, run time, width and status of each."""
    line = "{job} {submit} -1 {run} {width} -1 -1 {width} 50 -1 {status} 1 1 1 1 1 -1 -1"
    names = ("job", "submit", "run", "width", "status")
    text = "\n".join(line.format(**dict(zip(names, row, strict=True))) for row in rows)
    log = folder / "log.swf"
    log.write_text(f"; MaxProcs: 4\n{text}\n", encoding="utf-8")
    return log


@pytest.mark.parametrize("job", [2, 3, 4, 5])
def test_jobs_of_no_run_time(tmp_path: Path, job: int) -> None:
    """They end at once, and another decision follows at that instant: each job is told of at its own."""
    log = log_of(tmp_path, (1, 0, 50, 4, 1), (2, 1, 0, 4, 1), (3, 2, 0, 3, 1), (4, 3, 0, 4, 1), (5, 4, 20, 4, 1))
    result = CliRunner().invoke(
        main, ["explain", str(log), "--raw", "--job", str(job), "--policy", "search:branching=fcfs"]
    )
    assert 0 == result.exit_code, result.output
    assert re.search(rf"^ +\d+ +\d+ +{job} .* started ", result.output, re.MULTILINE)


def test_jobs_that_cannot_be_asked_for(tmp_path: Path) -> None:
    """One that was not simulated has the reason, one that stands twice the times of both."""
    log = log_of(tmp_path, (1, 0, 50, 4, 1), (2, 1, 50, 4, 1), (2, 2, 40, 4, 1), (3, 3, -1, 4, 5))
    for job, words in (
        ("2", "--job: 2 occurs 2 times in the log, started at 50, 100: give --time"),
        ("3", "--job: 3 was left out: "),
    ):
        result = CliRunner().invoke(main, ["explain", str(log), "--raw", "--job", job])
        assert WRONG_COMMAND == result.exit_code
        assert words in result.stderr


@pytest.mark.parametrize("policy", ["easy", "search"])
def test_notes_where_there_are_none(tmp_path: Path, policy: str) -> None:
    """Refused before the work, with the remedy."""
    result = CliRunner().invoke(main, ["simulate", LOG, "--policy", policy, "--notes", str(tmp_path)])
    assert (WRONG_COMMAND, "") == (result.exit_code, result.stdout)
    assert f"--notes: {policy} keeps no notes; use search:explain=true, or leave out --notes" in result.stderr


def test_notes_into_no_folder(tmp_path: Path) -> None:
    """Refused before the work."""
    missing = tmp_path / "missing"
    result = CliRunner().invoke(main, ["simulate", LOG, "--policy", "search:explain=true", "--notes", str(missing)])
    assert WRONG_COMMAND == result.exit_code
    assert f"{missing}: there is no folder {missing}; make it first, or mend the path" in result.stderr
