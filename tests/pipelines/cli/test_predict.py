# SPDX-License-Identifier: BSD-3-Clause
"""The command predict: what it prints, its statuses, and that it answers at once."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.durations import Duration
from pipelines.cli.main import main
from swftools import Trace
from swftools.header import SwfHeader
from swftools.output.amounts import duration
from swftools.parameters.durations import clock, seconds_of
from swftools.qbets import WaitAnswer, WaitPredictor, predict_wait
from swftools.qbets.saved_state import read_state
from tests.pages import DOCS
from tests.pipelines.luigi_runs import environment


def log_of(waits: Any, queues: Any) -> Trace:
    """Return a log of two requested times, of which the longer ones wait ten times as long."""
    jobs = len(waits)
    requested = np.where(np.arange(jobs) % 2, 36_000, 600)
    return Trace.from_columns(
        job_number=range(jobs),
        submit_time=np.arange(jobs) * 20,
        wait_time=np.floor(np.where(requested > 600, 10, 1) * np.asarray(waits)),
        run_time=[60] * jobs,
        requested_time=requested,
        queue_id=queues,
    )


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve hundred jobs of queue 3, and ten of queue 5."""
    log = log_of(np.random.default_rng(0).exponential(100.0, 1210), [3] * 1200 + [5] * 10)
    predictor = WaitPredictor(training=50, cluster_every=300)
    predictor.replay(log)
    path = tmp_path_factory.mktemp("predict") / "waits.state"
    predictor.save(path)
    return path


def asked(state: Path, *arguments: str) -> Result:
    """Return what the command says."""
    result = CliRunner().invoke(main, ["predict", "--state", str(state), *arguments])
    assert all(len(line) <= 80 for line in result.stdout.splitlines()), result.stdout
    return result


def test_table(state: Path) -> None:
    """For people, in 80 columns: each bound with its confidence, and what they are made of."""
    result = asked(state, "--queue", "3", "--requested-time", "10h", "--deadline", "30m", "--quantile", ".9")
    answer = predict_wait(state, group="3", requested_time=36_000, deadline=1800, quantiles=[0.9])
    assert result.exit_code == 0
    bound, told = answer.bounds[0].seconds, answer.deadline
    assert bound is not None
    assert told is not None
    until = f"from second {answer.since:,.0f} of the log to {answer.until:,.0f}"
    share = np.floor(told.share * 1e4) / 100
    assert (
        result.stdout.split()
        == (
            "understood: requested 10 h "
            f"jobs of queue 3 that request more than 10 min binomial, of {answer.waits} waits, "
            f"the newest of {answer.known_waits}; {until} "
            "of such jobs wait no longer than with confidence "
            f"90 % {clock(bound)} {duration(bound)} .95 "
            f"At least {share:g} % of such jobs start within 00:30:00, with confidence .95 ({told.within} of the "
            f"{answer.waits} waits were no longer)."
        ).split()
    )


def test_json(state: Path) -> None:
    """For machines: all that the function returns, whose keys are on the page."""
    result = asked(state, "--group", "3", "--requested-time", "600", "--deadline", "300", "--json")
    answer = predict_wait(state, group="3", requested_time=600.0, deadline=300.0)
    assert json.loads(result.stdout) == json.loads(json.dumps({"is_answered": True, **asdict(answer)}))
    page = (DOCS / "predict.md").read_text(encoding="utf-8")
    told = [*fields(WaitAnswer), *fields(answer.bounds[0]), *fields(answer.deadline)]  # type: ignore[arg-type]
    assert [one.name for one in told if f"`{one.name}`" not in page] == []


def test_usual_quantiles(state: Path) -> None:
    """Four of them, and clusters are told apart."""
    short, long = (
        json.loads(asked(state, "--queue", "3", "--requested-time", time, "--json").stdout)["bounds"]
        for time in ("10m", "10:00:00")
    )
    assert [told["quantile"] for told in short] == [0.5, 0.75, 0.9, 0.95]
    assert all(few["seconds"] < many["seconds"] for few, many in zip(short, long, strict=True))


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["--queue", "5"], 1, "No prediction yet: 10 waits of queue 5 are known, and 50 are needed."),
        (
            ["--queue", "5", "--deadline", "0"],
            1,
            "No share of jobs can be promised to start within 00:00:00 (0 of the 10",
        ),
        (["--queue", "5"], 1, "no bound from 10 waits; it needs 59"),
        (["--queue", "4"], 2, "knows no queue '4'; there are: 3, 5"),
        (["--group", "33"], 2, "did you mean 3?"),
        ([], 2, "has groups by queue: say which; there are: 3, 5"),
        (["--user", "3"], 2, "has groups by queue: leave out user"),
        (["--queue", "3"], 2, "give requested_time (--requested-time)"),
        (["--queue", "3", "--group", "3"], 2, "give --group or --queue, not both"),
        (["--queue", "3", "--requested-time", "soon"], 2, "'soon' is not a time such as 90 (seconds), 30m, 4h"),
        (["--queue", "3", "--requested-time", "1h", "--quantile", "1"], 2, "quantile=1.0 is not a number between"),
        (["--queue", "3", "--processors", "0"], 2, "0 is not in the range x>=1"),
    ],
    ids=str,
)
def test_statuses(state: Path, arguments: list[str], status: int, says: str) -> None:
    """1 where a job would be told nothing, 2 for what cannot be asked."""
    result = asked(state, *arguments)
    assert result.exit_code == status, result.output
    assert says in " ".join(result.output.split())


def test_groups_by_the_names_of_the_log(tmp_path: Path) -> None:
    """A state has the names of its groups: they may be typed, and are told; numbers and older states go on."""
    log = log_of([5.0] * 400, [3, 4, 5, 6] * 100)
    header = SwfHeader.from_lines(["; Queue: 3 batch", "; Queue: 4 night", "; Queue: 5 night", "; Queue: 9 none"])
    predictor = WaitPredictor(training=50, clustering=False)
    predictor.replay(Trace(header, log.jobs))
    new, old = tmp_path / "new.state", tmp_path / "old.state"
    predictor.save(new)
    predictor.save(old, with_names=False)
    assert read_state(new).names == {"queue": {3: "batch", 4: "night", 5: "night"}}
    assert read_state(old).names == {}
    assert WaitPredictor.load(new).names == read_state(new).names
    by_name = asked(new, "--queue", "batch")
    assert (0, True) == (by_name.exit_code, "jobs of queue batch" in by_name.stdout)
    for same in (["--queue", "3"], ["--group", "3"], ["--group", "batch"]):
        assert asked(new, *same).stdout == by_name.stdout
    assert "jobs of queue 6" in asked(new, "--queue", "6").stdout
    assert "jobs of queue 4 night" in asked(new, "--queue", "4").stdout
    assert asked(old, "--queue", "3").stdout == by_name.stdout.replace("batch", "3")
    assert predict_wait(new, group="batch") == predict_wait(old, group="3")
    for state, name, says in (
        (new, "bach", "there are: batch, 4 night, 5 night, 6; did you mean batch?"),
        (new, "night", "several queues are called 'night'; give the number: 4, 5"),
        (old, "batch", "knows no queue 'batch'; there are: 3, 4, 5, 6"),
    ):
        failed = asked(state, "--queue", name)
        assert (2, True) == (failed.exit_code, says in " ".join(failed.output.split())), failed.output


def test_the_only_group_need_not_be_named(tmp_path: Path) -> None:
    """There is no other that could be meant."""
    predictor = WaitPredictor(training=50, clustering=False)
    predictor.replay(log_of([5.0] * 200, [7] * 200))
    path = tmp_path / "waits.state"
    predictor.save(path)
    assert asked(path).exit_code == 0
    assert asked(path).stdout == asked(path, "--queue", "7").stdout
    assert asked(path, "--queue", "8").exit_code == 2


def test_nothing_seems_to_start(tmp_path: Path) -> None:
    """It says so, and what it would have said."""
    waits = [1.0] * 400 + [np.nan] * 100
    log = log_of(waits, [1] * 500)
    log = log.with_jobs(log.jobs.assign(run_time=log.jobs["run_time"].where(log.jobs.index < 400)))
    predictor = WaitPredictor(by=None, training=100, clustering=False)
    predictor.replay(log)
    predictor.save(tmp_path / "state")
    result = asked(tmp_path / "state")
    assert result.exit_code == 1
    said = " ".join(result.stdout.split())
    assert "No prediction, because the machine seems to be unavailable: jobs arrived" in said
    assert "95 % 00:00:10 10 s .95" in said
    answer = json.loads(asked(tmp_path / "state", "--json").stdout)
    assert (answer["no_prediction"], answer["is_answered"]) == ("unavailable", False)


def test_a_method_without_confidence(tmp_path: Path) -> None:
    """It says that it has none."""
    predictor = WaitPredictor("lognormal-plain", by=None, training=100, clustering=False)
    predictor.replay(log_of(np.random.default_rng(0).exponential(100.0, 300), [1] * 300))
    predictor.save(tmp_path / "state")
    result = asked(tmp_path / "state", "--deadline", "5m")
    assert result.exit_code == 0
    assert [line.split()[-1] for line in result.stdout.splitlines() if " %  " in line] == ["none"] * 4
    assert "start within 00:05:00; the method has no confidence." in " ".join(result.stdout.split())


def test_files_that_are_no_state(tmp_path: Path, state: Path) -> None:
    """One that is not there is a missing input; a damaged one is a failure."""
    missing = asked(tmp_path / "none", "--queue", "3")
    assert (missing.exit_code, missing.stderr.count("\n")) == (20, 1)
    assert "No such file or directory; mend the path" in missing.stderr
    (tmp_path / "cut").write_bytes(state.read_bytes()[:-5])
    damaged = asked(tmp_path / "cut", "--queue", "3")
    assert (damaged.exit_code, damaged.stderr.count("\n")) == (30, 1)
    assert "truncated or damaged" in damaged.stderr
    assert asked(tmp_path, "--queue", "3").exit_code == 30


def test_what_it_loads(tmp_path: Path, state: Path) -> None:
    """Of what takes long nothing but numpy; for help not even that."""
    code = """
import sys
from pipelines.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code
heavy = ("numpy", "pandas", "pyarrow", "numba", "scipy.stats", "sklearn", "luigi", "swftools.simulator")
print([name for name in heavy if name in sys.modules])
"""
    command = [sys.executable, "-c", code, "predict"]
    asks = ["--state", str(state), "--queue", "3", "--requested-time", "1h", "--deadline", "1h"]
    for arguments, loaded in ((asks, ["numpy"]), (["--help"], [])):
        done = subprocess.run(
            [*command, *arguments], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == str(loaded)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("0", 0), ("90", 90), (" 90 ", 90), ("1.5", 1.5), (".5h", 1800), ("30m", 1800), ("4H", 14_400)),
        *(("2d", 172_800), ("1w", 604_800), ("1d12h", 129_600), ("45s", 45), ("04:00:00", 14_400), ("5:30", 330)),
        *(("90:00", 5400), ("100:00:00", 360_000), ("1-0", 86_400), ("1-12", 129_600), ("1-12:30", 131_400)),
        *(("1-12:00:01", 129_601), ("2-23:59:59", 259_199), ("23:59:59", 86_399), ("59", 59), ("00:59", 59)),
    ],
)
def test_times(text: str, seconds: float) -> None:
    """As people write them, and Slurm."""
    assert seconds_of(text) == seconds
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize(
    "text",
    [
        *("", "h", "-5", "4 h", "4x", "1e3", "nan", "inf", "1:60", "1:60:00", "1:00:60", "1-24", "1-24:00:00", "1-"),
        *("1-1:60", "1-1:1:60", "1:2:3:4", "-1:00", "1:", ":30", "1.5:00", "1h30", "٣h", "1.2.3"),
    ],
)
def test_what_is_no_time(text: str) -> None:
    """Refused, rather than guessed at."""
    assert seconds_of(text) is None


@pytest.mark.parametrize("seconds", [0, 1, 59, 60, 3599, 3600, 86_399, 86_400, 129_601, 10**7])
def test_clock(seconds: int) -> None:
    """What is printed is read again, but for days in front; no bound is shown shorter than it is."""
    assert seconds_of(clock(seconds)) == seconds
    assert clock(seconds + 0.01) == clock(seconds + 1)
