# SPDX-License-Identifier: BSD-3-Clause
"""One workload under several approaches, and all that the figures ask of the schedules.

Reading chosen
    The first and the last 5 % of the jobs by submission are left out (Table 1; the text says 10 %). Response is from
    submission to end, the slowdown relates it to the run time on the optimal width, with a bound of 30 s. Utilization
    is that of the time in which the jobs that are kept were submitted. What is expected to come is that of the model
    with simple curves, as in the paper; with other curves it is learned from the past of the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipelines.papers.barsanti2006.workloads import (
    ALL,
    CLASSES,
    PROCESSORS,
    WorkloadOfPaper,
    classes_of,
    made,
    optimal_times,
    with_curves,
)
from pipelines.papers.paper import measured
from swftools.offered_work import offered_load
from swftools.parameters import choice
from swftools.simulator import Schedule, measure, measure_jobs, simulate
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.metrics.parameters import OPTIMAL_RUN_TIME
from swftools.trace import Trace

FloatArray = npt.NDArray[np.float64]
Row = tuple[str, str, str, float | None]

FIXED, SCOJO, CIRNE_BERMAN = "fixed", "SCOJO-P", "Cirne-Berman"
NOT_PREDICTIVE, TOLERANT = "SCOJO-P, no prediction", "Cirne-Berman, 5 % tolerance"

SCOJO_ALONE = "scojo-p"
"""The policy, with what is expected to come learned from the past of the run."""

APPROACHES: dict[str, dict[str, str]] = {
    "paper": {
        FIXED: "fixed",
        SCOJO: "scojo-p{profiles}",
        NOT_PREDICTIVE: "scojo-p:prediction=false",
        CIRNE_BERMAN: "cirne-berman",
    },
    "tolerance": {FIXED: "fixed", SCOJO: "scojo-p{profiles}", TOLERANT: "cirne-berman:tolerance=0.05"},
    "rules": {
        FIXED: "fixed",
        "no classes": "fixed:short=0,long=1e9",
        SCOJO: "scojo-p{profiles}",
        "what is to come from the past": SCOJO_ALONE,
        NOT_PREDICTIVE: "scojo-p:prediction=false",
        "target: the optimum": "scojo-p:target=optimum",
        "no early start": "scojo-p:early_start=false",
        "no guarantee": "scojo-p:guarantee=false",
        "backfilling may widen": "scojo-p:adaptive_backfilling=resize",
        "backfilling without resizing": "scojo-p:adaptive_backfilling=none",
        "ideal load 0.7": "scojo-p:ideal_load=0.7",
        "ideal load 1.1": "scojo-p:ideal_load=1.1",
    },
    "malleable": {
        FIXED: "fixed",
        SCOJO: SCOJO_ALONE,
        "resized every hour": "scojo-p:resize=true,resize_every=3600",
        "resized every 10 minutes": "scojo-p:resize=true,resize_every=600",
        "resized at any time": "scojo-p:resize=true,resize_every=0",
    },
}
"""What is compared, by name: the policies, each by what it is called. The first is what others are held against."""

CUT, OTHER_CUT = 0.05, 0.1
"""Share of the jobs that is left out at each end: Table 1, and the text."""

BOUND = 30.0
"""Of the slowdown, s."""

EDGES = {
    "short": (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
    "medium": (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50),
    "long": (1, 2, 5, 10, 20, 50, 100, 200),
}
"""Upper edges of the groups of response times, h: the labels of Figure 9 are not in the text."""

RESPONSE, WAIT, RAN, SLOWDOWN = "mean response", "mean wait", "mean run time", "mean bounded slowdown"
WIDTH, SHRUNK, WIDENED, UTILIZATION = "mean width", "shrunk jobs", "expanded jobs", "utilization"
OPTIMUM, LOAD, JOBS = "mean optimal width", "offered load", "jobs"
OTHER_RESPONSE = "mean response, 10 % cut"
WORKLOAD = "workload"

UNITS = {
    **dict.fromkeys((RESPONSE, OTHER_RESPONSE, WAIT, RAN), "h"),
    **dict.fromkeys((WIDTH, OPTIMUM), "processors"),
    **dict.fromkeys((SHRUNK, WIDENED, JOBS), "jobs"),
    UTILIZATION: "%",
}


@dataclass(frozen=True)
class ComparisonOfPaper(WorkloadOfPaper):
    """A workload, and what is compared on it.

    Parameters
    ----------
    approaches : {"paper", "tolerance", "rules", "malleable"}
        What the paper compares; Cirne and Berman's scheduler with a tolerance; each rule of SCOJO-P by itself; running
        jobs resized.
    """

    NAME = "comparison"
    approaches: str = choice(*APPROACHES)


@dataclass(frozen=True)
class LogOfPaper(ComparisonOfPaper):
    """The same on the jobs of a log, with curves that are drawn; alpha and the number of jobs have no meaning."""

    NAME = "log"


def policies_of(parameters: ComparisonOfPaper) -> dict[str, str]:
    """Return the policies that are compared, by what they are called."""
    is_model = parameters.curves == "simple"
    profiles = f":profiles=model,alpha={parameters.alpha}" if is_model else ""
    return {name: policy.format(profiles=profiles) for name, policy in APPROACHES[parameters.approaches].items()}


def measure_comparison(trace: Trace, parameters: ComparisonOfPaper, seed: int) -> pd.DataFrame:  # noqa: ARG001 (its own jobs)
    """Return what the figures ask of a workload that the seed draws."""
    return _compared(made(parameters, seed), PROCESSORS, policies_of(parameters))


def measure_log(trace: Trace, parameters: LogOfPaper, seed: int) -> pd.DataFrame:
    """Return the same of the jobs of a log that ran; what is to come is learned from its past."""
    jobs = trace.jobs[trace.jobs["run_time"].fillna(0) > 0]
    policies = {name: policy.format(profiles="") for name, policy in APPROACHES[parameters.approaches].items()}
    return _compared(with_curves(trace.with_jobs(jobs), parameters, seed), trace.processors, policies)


def _compared(trace: Trace, processors: int | None, policies: dict[str, str]) -> pd.DataFrame:
    """Return what is measured of each policy's schedule of a workload."""
    kinds, optimum = classes_of(optimal_times(trace.jobs)), column_of(trace.jobs, "optimal_processors")
    rows: list[Row] = [(WORKLOAD, "", LOAD, offered_load(trace))]
    for kind in (ALL, *CLASSES):
        chosen = (kinds == kind) | (kind == ALL)
        rows.append((WORKLOAD, kind, JOBS, float(chosen.sum())))
        if chosen.any():
            rows.append((WORKLOAD, kind, OPTIMUM, float(optimum[chosen].mean())))
    for name, policy in policies.items():
        rows += _of_schedule(name, simulate(trace, policy, processors), kinds)
    return measured(rows)


def _of_schedule(name: str, schedule: Schedule, kinds: npt.NDArray[np.str_]) -> Iterator[Row]:
    """Yield what is measured of a schedule."""
    jobs, by_job = schedule.jobs, measure_jobs(schedule, bound=BOUND, nominal=OPTIMAL_RUN_TIME)
    submitted = column_of(jobs, "submit_time")
    kept, other = (_kept(len(jobs), share) for share in (CUT, OTHER_CUT))
    width, optimum = column_of(jobs, "allocated_processors"), column_of(jobs, "optimal_processors")
    values = {
        RESPONSE: column_of(by_job, "turnaround") / 3600,
        WAIT: column_of(by_job, "wait") / 3600,
        RAN: (column_of(by_job, "turnaround") - column_of(by_job, "wait")) / 3600,
        SLOWDOWN: column_of(by_job, "bounded_slowdown"),
        WIDTH: width,
    }
    counts = {SHRUNK: width < optimum, WIDENED: width > optimum}
    for kind in (ALL, *CLASSES):
        chosen = kept & ((kinds == kind) | (kind == ALL))
        if not chosen.any():
            continue
        yield from ((name, kind, measure_, float(of_job[chosen].mean())) for measure_, of_job in values.items())
        yield from ((name, kind, measure_, float(of_job[chosen].sum())) for measure_, of_job in counts.items())
        if kind != ALL:
            yield from _histogram(name, kind, values[RESPONSE][chosen])
    yield name, ALL, OTHER_RESPONSE, float(values[RESPONSE][other].mean())
    window = float(submitted[kept].min()), float(submitted[kept].max())
    found = measure(schedule, window=window).set_index(["measure", "statistic"])["value"]
    yield name, "", UTILIZATION, 100 * float(found["utilization", "time_mean"])


def _kept(jobs: int, share: float) -> npt.NDArray[np.bool_]:
    """Return which jobs are kept, in order of submission."""
    cut, place = int(share * jobs), np.arange(jobs)
    return (place >= cut) & (place < jobs - cut)


def _histogram(name: str, kind: str, response: FloatArray) -> Iterator[Row]:
    """Yield how many jobs of a class have response times up to each edge, and above the one before."""
    edges = (0.0, *EDGES[kind], np.inf)
    for low, high in pairwise(edges):
        within = (response > low) & (response <= high)
        yield name, f"{kind} {high:g}", JOBS, float(within.sum())
