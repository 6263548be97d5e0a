# SPDX-License-Identifier: BSD-3-Clause
"""How often a job would have started earlier had nothing been submitted behind it: strict fairness from submission on.

The paper's fairness is that of the head of the queue: from when a job is the first and does not fit. From submission on
nothing of the kind holds, of PV-EASY either: who is killed for the head waits for one that came before, and who goes
ahead takes processors that a job between would have had.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from pipelines.papers.paper import Run, measured
from pipelines.papers.yuan2010.populations import kept_jobs
from pipelines.papers.yuan2010.schedules import JOBS
from swftools.parameters import Parameters, choice, text, whole
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.questions.fairness import delays_from_submission
from swftools.trace import Trace


@dataclass(frozen=True)
class FairnessOfPaper(Parameters):
    """Under which policy, told what, and how many jobs are drawn."""

    NAME = "fairness"
    policy: str = choice("pv-easy", "easy")
    predictor: str = text("last-model")
    sample: int = whole(1000, least=1)


def measure_fairness(trace: Trace, parameters: FairnessOfPaper, seed: int) -> pd.DataFrame:
    """Return the share of the jobs drawn that later ones delayed, %, and by how much, min."""
    jobs = kept_jobs(trace)
    if not len(jobs):
        return measured([])
    found = delays_from_submission(
        jobs, parameters.policy, sample=parameters.sample, seed=seed, predictor=parameters.predictor
    )
    delay = column_of(found, "delay")
    late = delay[delay > 0]
    rows: list[tuple[str, str, str, float | None]] = [(JOBS, "", "jobs", float(len(delay)))]
    if len(delay):
        rows.append((JOBS, "", "delayed from submission", 100 * len(late) / len(delay)))
    if len(late):
        rows.append((JOBS, "", "mean delay from submission", float(late.mean()) / 60))
    return measured(rows)


def fairness_run(policy: str, predictor: str, quick: bool) -> Run:
    """Return the run of a policy."""
    return Run("fairness", FairnessOfPaper(policy, predictor, 50 if quick else 1000))


UNITS = {"jobs": "jobs", "delayed from submission": "%", "mean delay from submission": "min"}
