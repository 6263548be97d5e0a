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
def test_a_job_that_is_preempted_as_it_starts(tmp_path: Path) -> None:
    """Backfill starts a job and then one that preempts it, and the main scheduler looks at once: it waits."""
    moment = Run(RUNS / "defaults1", tmp_path).moment(428.143)
    starts = slurm_starts(queue_of(moment, tmp_path), moment.machine, past=moment.past, draws=40, arrivals=False)
    assert np.isfinite(starts.jobs["median"]).mean() > 0.9
