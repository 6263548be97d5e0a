# SPDX-License-Identifier: BSD-3-Clause
"""The workloads of the paper: the model of Lublin and Feitelson on 128 processors, with speedup curves.

Reading chosen
    Jobs of all types (neither batch nor interactive alone): at the alphas that are printed the load is then as the
    results suggest, .73 and .94, and the mean optimal width is 12, as printed. With types, the load is below .1.
    The curves are those of Table 1, with the run times on the least and the largest width put right: they are printed
    upside down. So the optimal width has the least run time / efficiency, as the text requires.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.models import (
    SpeedupParameters,
    apply_requested_times,
    generate_requested_times,
    generate_speedup,
    lublin_feitelson,
)
from swftools.models.speedup import run_time
from swftools.parameters import Parameters, choice, number, whole
from swftools.trace import Trace

PROCESSORS = 128

ALPHAS = {"W1": 10.23, "W2": 9.83}
"""Alpha of the model, by the paper's name of the workload."""

SHORT, LONG = 60.0, 3600.0
"""Jobs that run less, s, are short; those that run as long or longer are long."""

ALL, CLASSES = "all", ("short", "medium", "long")


@dataclass(frozen=True)
class WorkloadOfPaper(Parameters):
    """A workload, which the seed of the experiment draws.

    Parameters
    ----------
    alpha : float
        Of the model; lower is more load.
    moldable_share : float
        Share of the jobs that are moldable, in each class alike.
    curves : {"simple", "cirne-berman"}
        Those of Table 1, or those of Cirne and Berman by Downey's model, which do not depend on the jobs' widths.
    requests : {"exact", "estimated"}
        What schedulers know of run times: all, or what users would request (Tsafrir, Etsion and Feitelson 2005).
    jobs : int
        How many.
    """

    NAME = "workload"
    alpha: float = number(ALPHAS["W1"], above=0)
    moldable_share: float = number(1.0, least=0, most=1)
    curves: Literal["simple", "cirne-berman"] = choice("simple", "cirne-berman")
    requests: str = choice("exact", "estimated")
    jobs: int = whole(10_000, least=40)


def made(parameters: WorkloadOfPaper, seed: int) -> Trace:
    """Return a workload."""
    rigid = lublin_feitelson.generate(parameters.jobs, processors=PROCESSORS, seed=seed, alpha=parameters.alpha)
    return with_curves(rigid, parameters, seed)


def with_curves(rigid: Trace, parameters: WorkloadOfPaper, seed: int) -> Trace:
    """Return a trace whose jobs have curves, and the requests that are asked for."""
    chosen = SpeedupParameters(
        seed=seed, model=parameters.curves, moldable_share=parameters.moldable_share, constraint="any"
    )
    trace = rigid.with_jobs(rigid.jobs.join(generate_speedup(rigid, chosen)))
    if parameters.requests == "estimated":
        return apply_requested_times(trace.with_jobs(trace.jobs.join(generate_requested_times(trace))), everywhere=True)
    return trace.with_jobs(trace.jobs.assign(requested_time=trace.jobs["run_time"]))


def optimal_times(jobs: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Return the run time of each job on its optimal width, s, by which it is short, medium or long."""
    own, best = (jobs[name].to_numpy(dtype=float) for name in ("run_time", "optimal_processors"))
    is_other = (jobs["speedup_curve"] == "downey").fillna(value=False).to_numpy(dtype=bool)
    return np.where(is_other, run_time(best, jobs.assign(width=best)), own)  # else the optimum is the own width


def classes_of(times: npt.NDArray[np.float64]) -> npt.NDArray[np.str_]:
    """Return the class of each job by its run time on its optimal width."""
    return np.select([times < SHORT, times < LONG], CLASSES[:2], CLASSES[2])
