# SPDX-License-Identifier: BSD-3-Clause
"""``swftools evaluate`` as a new user meets it: small and broken logs, typing errors, and what the terminal shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import luigi
import pandas as pd
import pytest

from pipelines.tasks.evaluate_waits import EvaluateWaitPredictions, as_text
from pipelines.tasks.replay_predictor import CheckWaits, ReplayPredictor
from swftools.errors import ParameterError
from swftools.output.amounts import percent
from swftools.output.shown_text import WIDTH
from tests.pipelines.luigi_runs import SWFTOOLS, run


def write_log(
    path: Path, jobs: int, wait: Callable[[int], int], submit: Callable[[int], int] = lambda i: 100 * i
) -> None:
    """Write a log of two queues."""
    fields = "{} {} {} 60 1 -1 -1 1 {} -1 1 1 1 1 {} 1 -1 -1\n"
    lines = [fields.format(i + 1, submit(i), wait(i), 100 + i % 3, 1 + i % 2) for i in range(jobs)]
    path.write_text("; MaxProcs: 4\n" + "".join(lines))


def evaluate(folder: Path, *flags: str) -> tuple[int, str, str]:
    """Run the command; return its status, what it answers, and what else it says."""
    done = run([*SWFTOOLS, "evaluate", *flags], folder)
    return done.returncode, done.stdout, done.stderr


def test_a_log_without_waits_is_refused_once(tmp_path: Path) -> None:
    """By one error, whatever the number of methods; none is replayed, nothing is published."""
    write_log(tmp_path / "my.swf", 200, lambda _: -1)
    status, answer, said = evaluate(tmp_path, "--log", "my.swf")
    assert (status, answer) == (30, "")
    errors = [line for line in said.splitlines() if line.startswith("error:")]
    assert errors == [
        "error: my.swf: the log does not say how long its jobs waited; simulate it: replay(simulate(trace, 'easy'))"
    ]
    assert "ReplayPredictor" not in said
    assert not (tmp_path / "data" / ".work" / "replayed").exists()


def test_a_group_that_the_log_has_not_is_refused_once(tmp_path: Path) -> None:
    """A column of others; so is one that stands twice."""
    write_log(tmp_path / "my.swf", 20, lambda i: i % 7)
    status, _, said = evaluate(tmp_path, "--log", "my.swf", "--by", "requested_nodes")
    assert (status, said.count("error:")) == (30, 1)
    assert "my.swf: by='requested_nodes': the log has no column 'requested_nodes'; there are: job_number" in said
    with pytest.raises(ParameterError, match="by='queue,queue': give each group once"):
        EvaluateWaitPredictions(by="queue,queue", data_root=str(tmp_path))


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--methods", "binomial:side=lower,weibull"], "predictions are upper bounds; leave out side="),
        (["--options", "quantile=0.999999999999"], "a bound needs 2,99"),
        (["--options", "confidence=1"], "confidence=1 is not a number between 0 and 1"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(tmp_path: Path, flags: list[str], says: str) -> None:
    """Status 2, and no folder is made."""
    write_log(tmp_path / "my.swf", 20, lambda i: i % 7)
    status, _, said = evaluate(tmp_path, "--log", "my.swf", *flags)
    assert (status, said.count("error:")) == (2, 1)
    assert says in said
    assert not (tmp_path / "data").exists()


def test_what_was_checked_stays_checked(tmp_path: Path) -> None:
    """For all methods and runs; it counts the jobs that started."""
    write_log(tmp_path / "my.swf", 20, lambda i: i % 7 - 1)
    task = CheckWaits(log=str(tmp_path / "my.swf"), data_root=str(tmp_path / "data"))
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    assert json.loads((task.output().path / "waits.json").read_text()) == {"jobs": 20, "started": 17}
    for method in ("binomial", "weibull"):
        assert ReplayPredictor(log=task.log, data_root=task.data_root, method=method).requires().complete()
    assert not CheckWaits(log=task.log, data_root=task.data_root, by="user").complete()


def test_a_few_jobs(tmp_path: Path) -> None:
    """All of the training: it says why there is no table, and what to do; then few waits bound nothing."""
    write_log(tmp_path / "my.swf", 50, lambda i: i % 7)
    status, answer, _ = evaluate(tmp_path, "--log", "my.swf", "--methods", "binomial,trailing")
    assert status == 0
    assert answer.startswith("No job came behind the training, the first 1,000 jobs of a queue to start;\n--options")
    status, answer, _ = evaluate(
        tmp_path, "--log", "my.swf", "--methods", "binomial,trailing", "--options", "training=5,availability=false"
    )
    shown = [line.split() for line in answer.splitlines()[:4]]
    assert shown[1:] == [["queue", "1:", "20", "jobs"], ["binomial", "0", "%"], shown[3]]
    assert shown[3][:3] == ["trailing", "100", "%"]


def test_the_terminal_shows_the_evaluation(tmp_path: Path) -> None:
    """Queues, a line a method, and what the numbers mean, in lines of the width of a terminal."""
    write_log(tmp_path / "my.swf", 2600, lambda i: i % 50, lambda i: (2600 - i) * 100)
    status, answer, _ = evaluate(tmp_path, "--log", "my.swf", "--methods", "trailing:window=90,lognormal-plain")
    assert status == 0
    table, legend, *_ = answer.split("\n\n")
    lines = table.splitlines()
    assert lines[0].split() == ["told", "correct", "RMS", "ratio", "bound", "/", "wait"]
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == ["queue 1", "queue 2"]
    found = pd.read_csv(next((tmp_path / "data").rglob("evaluation.csv")))
    rows = found[(found["grouped_by"] == "queue") & (found["group"] == "2")]
    for line, row in zip(lines[-2:], rows.itertuples(), strict=True):
        verdict = "yes" if row.is_correct else "no"
        told = percent(1 - row.share_not_predicted, digits=1)
        numbers = [f"{number:.3f}" for number in (row.rms_ratio, row.median_tightness)]
        assert line.split() == [row.method, *told.split(), f"{row.correctness:.4f}", verdict, *numbers]
    assert max(map(len, [*lines, *legend.splitlines()])) <= WIDTH
    words = legend.replace("\n", " ")
    for said in ("above 1 is tighter than trailing:window=90", "at least 0.95", "the first 1,000 jobs of a queue"):
        assert said in words


def found_of(groups: dict[str, int], methods: list[str]) -> pd.DataFrame:
    """Return an evaluation by queue, of so many jobs each, with numbers as wide as they get."""
    numbers = {"correctness": 0.98765, "is_correct": True, "rms_ratio": 123_456.0, "median_tightness": 1_234_567.0}
    rows = [
        {"grouped_by": "queue", "group": group, "method": method, "jobs": jobs, "share_not_predicted": 0.0, **numbers}
        for group, jobs in groups.items()
        for method in methods
    ]
    return pd.DataFrame(rows)


def test_long_names_fit() -> None:
    """A method's on a line of its own; a group's is shortened; numbers stand under their headings."""
    methods = ["binomial", "gradient-boosting-conformal", "my_module:longest:factor=1.5,window=100,decay=0.123456"]
    lines = as_text(found_of({"a very long name " * 10: 1_234_567}, methods), "site").splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert lines[1].startswith("site a very long name")
    assert lines[1].endswith("...: 1,234,567 jobs")
    assert lines[3].split() == [methods[1], "100", "%", "0.9877", "yes", "123,456", "1,234,567"]
    assert lines[4].strip() == methods[2]
    assert {line[-9:] for line in (lines[2], lines[3], lines[5])} == {"1,234,567"}
    assert len({len(line) for line in (lines[0], lines[2], lines[3], lines[5])}) == 1


def test_many_groups() -> None:
    """Those of most jobs are shown, in their order, and how many others there are."""
    text = as_text(found_of({str(number): number for number in range(1, 400)}, ["binomial"]), "user")
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("user")] == [f"user {n}: {n} jobs" for n in range(380, 400)]
    assert lines[-1] == "... and 379 with fewer jobs: in evaluation.md"


def test_one_group_of_all_jobs() -> None:
    """It needs no name."""
    assert as_text(found_of({"all": 7}, ["binomial"]), "").splitlines()[1] == "all: 7 jobs"


def test_without_permission(tmp_path: Path) -> None:
    """A data root that is no folder: what was to be written is named."""
    write_log(tmp_path / "my.swf", 20, lambda i: i % 7)
    status, _, said = evaluate(tmp_path, "--log", "my.swf", "--data-root", "my.swf", "--methods", "binomial")
    assert (status, said.count("error:")) == (30, 1)
    assert "my.swf/.work" in said
    assert "nothing was kept of this stage" in said
