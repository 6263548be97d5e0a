# SPDX-License-Identifier: BSD-3-Clause
"""Starts that ``whatif`` says at moments of kept runs, beside those that came."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from swftools.formats.slurm.queue_snapshot import QueueSnapshot, read_squeue
from swftools.simulator.questions.slurm_starts import slurm_starts
from tests.slurm_runs.answers import MINUTES, NEVER, answers, figures, line
from tests.slurm_runs.moments import Moment, Run

RUNS = Path(__file__).parent


def queue_of(moment: Moment, folder: Path) -> QueueSnapshot:
    """Return the queue of a moment."""
    (folder / "now.json").write_text(json.dumps(moment.document), encoding="utf-8")
    return read_squeue(folder / "now.json", whole=True)


def test_a_moment_is_what_the_accounts_say(tmp_path: Path) -> None:
    """Who had started and not ended runs, on as many cores as nodes tell; who came later is not there."""
    run = Run(RUNS / "plain", tmp_path)
    moment = run.moment(180.0)
    queue, now = queue_of(moment, tmp_path), run.begin + 180.0
    jobs = run.jobs
    is_on = (jobs["Start"] <= now) & ~(jobs["End"] <= now)
    assert sorted(queue.running["name"]) == sorted(jobs["JobID"][is_on])
    told = queue.running["node_cores"].map(lambda cores: cores is not None)
    assert told.mean() > 0.8
    sums = queue.running["node_cores"][told].map(sum)
    assert sums.tolist() == queue.running["processors"][told].tolist()
    assert len(queue.waiting) > 30
    assert set(moment.start) <= {*queue.waiting["name"], *jobs["JobID"][jobs["SubmitLine"].str.contains("--hold")]}
    assert moment.past.views.run_time.size > 100


def test_who_is_queued_again(tmp_path: Path) -> None:
    """A node failed under job 109, which is queued again: it waits for its begin time, not for the job before it."""
    document = Run(RUNS / "repeat1", tmp_path).moment(180.0).document
    (job,) = [each for each in document["jobs"] if each["job_id"] == 109]
    assert (job["job_state"], job["dependency"], job["state_reason"]) == ("PENDING", "", "None")
    assert job["eligible_time"] - document["last_update"] > 60.0


def test_who_came_just_now_has_the_priority_that_was_told_next(tmp_path: Path) -> None:
    """Jobs 203 and 205 came after priorities were told; of others the last ones count."""
    run = Run(RUNS / "repeat1", tmp_path)
    told = {each["job_id"]: each.get("priority") for each in run.moment(180.0).document["jobs"]}
    assert (told[203], told[205]) == (4159.0, 7141.0)
    last = run._sprio[max(at for at in run._sprio if at <= run.begin + 181.0)]
    rows = [line.split("|") for line in last.splitlines()]
    alone = [row for row in rows if sum(other[0] == row[0] for other in rows) == 1]
    assert sum(told.get(int(row[0])) == float(row[3]) for row in alone if row[0].isdecimal()) > 10


def test_how_good_answers_are() -> None:
    """Of three starts the last comes after its bound; what never starts by the median is behind all others."""
    said = pd.DataFrame({"real": [1.0, 2.0, 9.0], "median": [0.0, 3.0, np.inf], "bound": [2.0, 3.0, 8.0]})
    found = figures(said)
    told = ("jobs", "correlation", "by_median", "by_bound", "wait", "bound")
    assert [found[name] for name in told] == [3, 1.0, 0.667, 0.667, 2.0, 3.0]
    assert found["error"] == 1.0
    assert figures(said.assign(bound=np.inf))["bound"] == NEVER
    assert line("plain", found) == "| plain | 3 | 1.00 | 1 s | 67 % | 67 % | 2 s | 3 s |"


@pytest.mark.slow
def test_starts_at_moments_of_runs(tmp_path: Path) -> None:
    """In the mean over runs that were not looked at while this was written."""
    found = []
    for name in ("repeat2", "repeat3", "defaults2"):
        run = Run(RUNS / name, tmp_path)
        for after in (120.0, 180.0, 240.0, 300.0):
            moment = run.moment(after)
            starts = slurm_starts(
                queue_of(moment, tmp_path), moment.machine, past=moment.past, draws=40, arrivals=False
            )
            real = starts.jobs["job"].map(moment.start)
            found.append(starts.jobs.assign(real=real, run=name, after=after)[real.notna()])
    rows = pd.concat(found)
    assert len(rows) > 200
    assert rows["real"].corr(rows["median"].replace(np.inf, 1e6), method="spearman") >= 0.6
    assert (rows["median"] - rows["real"]).abs().median() <= 60.0


@pytest.mark.slow
def test_bounds_with_those_who_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine of ten start by the bound of 95 %, and it says something: most bounds are shorter than the run."""
    monkeypatch.setitem(MINUTES, "repeat3", (3, 5))
    rows = pd.concat(answers(["repeat3"], 19))
    assert len(rows) > 50
    found = figures(rows)
    assert found["by_bound"] >= 0.9
    assert found["correlation"] >= 0.6
    assert found["bound"] < 600.0


@pytest.mark.slow
def test_a_job_that_is_preempted_as_it_starts(tmp_path: Path) -> None:
    """Backfill starts a job and then one that preempts it, and the main scheduler looks at once: it waits."""
    moment = Run(RUNS / "defaults1", tmp_path).moment(428.143)
    starts = slurm_starts(queue_of(moment, tmp_path), moment.machine, past=moment.past, draws=40, arrivals=False)
    assert np.isfinite(starts.jobs["median"]).mean() > 0.9
