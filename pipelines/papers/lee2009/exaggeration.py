# SPDX-License-Identifier: BSD-3-Clause
"""Beyond the paper: what is left of the gains when users say that their jobs are worth more than they are.

Reading chosen
    A share of the users, drawn by the seed, reports another function for each of its jobs: ``doubled`` values, or its
    first value up to the deadline, a ``step``. The policy sees what is reported; what is measured is what is true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipelines.papers.lee2009.elsewhere import valued_stretch, worth_of
from pipelines.papers.paper import Cell, Measurements, Printed, Run, measured
from pipelines.papers.yuan2010.populations import short_name
from swftools.keyed_random import generator
from swftools.parameters import Parameters, choice, number, text, whole
from swftools.simulator import simulate
from swftools.trace import Trace
from swftools.utility.functions import UtilityFunctions, offsets_of

MANNERS = ("doubled", "step")
SHARES = (0.1, 0.3, 0.6)
SEEDS = (0, 1, 2)
LOAD = 0.9
POLICY = "genetic:generations=15"
WHO = {"all": "all", "honest": "honest users", "others": "those who exaggerate"}
"""Whose jobs are looked at, and what they are called."""


@dataclass(frozen=True)
class ExaggerationParameters(Parameters):
    """How many users say more than is true, and how.

    Parameters
    ----------
    manner : {"doubled", "step"}
        How they do.
    share : float
        Of the users.
    policy : str
        With its parameters.
    load : float
        That the stretch is brought to.
    first, jobs : int
        Index of its first job, of those that ran, and how many there are.
    """

    NAME = "exaggeration"

    manner: str = choice(*MANNERS)
    share: float = number(0.0, least=0, most=1)
    policy: str = text(POLICY)
    load: float = number(LOAD, above=0, most=10)
    first: int = whole(5_000, least=0)
    jobs: int = whole(1_200, least=1)


def liars_of(trace: Trace, share: float, seed: int) -> npt.NDArray[np.bool_]:
    """Return which jobs are of users who exaggerate; jobs of nobody are honest."""
    users = np.unique(trace.jobs["user_id"].dropna().to_numpy(dtype=np.int64))
    drawn = generator(seed, "lee2009/exaggeration").permutation(users)[: round(share * len(users))]
    found: npt.NDArray[np.bool_] = trace.jobs["user_id"].isin(drawn).to_numpy(dtype=bool)
    return found


def reported(true: UtilityFunctions, lies: npt.NDArray[np.bool_], manner: str) -> UtilityFunctions:
    """Return what is reported: of those who lie more than is true."""
    counts = np.diff(true.offsets)
    lies = lies & (counts > 0)
    if manner == "doubled":
        return UtilityFunctions(true.offsets, true.times, true.values * np.where(np.repeat(lies, counts), 2.0, 1.0))
    kept = np.ones(len(true.times), np.bool_)
    values = true.values.copy()
    for job in np.flatnonzero(lies):
        first, behind = true.offsets[job], true.offsets[job + 1]
        kept[first + 1 : behind - 1] = False
        values[behind - 1] = values[first]
    return UtilityFunctions(offsets_of(np.where(lies, 2, counts)), true.times[kept], values[kept])


def measure_exaggeration(trace: Trace, parameters: ExaggerationParameters, seed: int) -> pd.DataFrame:
    """Return what all jobs truly earn, those of honest users, and those of others, over that where nobody lies."""
    crowd = valued_stretch(trace, parameters, seed)
    lies = liars_of(crowd, parameters.share, seed)
    said = crowd.jobs["utility"].copy()
    functions = reported(UtilityFunctions.from_arrow(said), lies, parameters.manner)
    said[:] = pd.Series(functions.to_arrow(), dtype=said.dtype)
    lied = crowd.with_jobs(crowd.jobs.assign(utility=said))
    honest, earned = (
        worth_of(simulate(told, parameters.policy, trace.processors, seed=seed).jobs, crowd).to_numpy()
        for told in (crowd, lied)
    )
    rows: list[tuple[str, str, str, float | None]] = []
    for who, mask in (("all", np.ones(len(lies), np.bool_)), ("honest", ~lies), ("others", lies)):
        before = float(np.nansum(honest[mask]))
        rows.append((who, "", "earned", float(np.nansum(earned[mask])) / before if before > 0 else None))
    return measured(rows)


def run_of(manner: str, share: float, seed: int, quick: bool) -> Run:
    """Return the run of a share of users."""
    parameters = ExaggerationParameters(manner=manner, share=share)
    if quick:
        parameters = replace(parameters, policy="genetic:generations=2", jobs=300)
    return Run("exaggeration", parameters, seed)


def runs_of_exaggeration(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of every log)
    """Return the runs of each share."""
    shares, seeds = (SHARES[1:2], SEEDS[:1]) if quick else (SHARES, SEEDS)
    return [run_of(manner, share, seed, quick) for manner in MANNERS for share in shares for seed in seeds]


def cells_of_exaggeration(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield what all earn of what they earn where nobody lies, and what the honest and the others do."""
    for log in found.logs:
        for manner in MANNERS:
            for share in SHARES[1:2] if quick else SHARES:
                for who, words in WHO.items():
                    values = np.array(found.values(log, run_of(manner, share, 0, quick), who, "earned"))
                    values = values[~np.isnan(values)]
                    yield Cell(
                        f"{short_name(log)}, {share:.0%} of users, {manner}",
                        words,
                        float(values.mean()) if len(values) else float("nan"),
                        "true utility over that of the same jobs where nobody exaggerates, mean over seeds",
                        spread=float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else float("nan"),
                    )


MADE = (runs_of_exaggeration, cells_of_exaggeration)
"""How the table is made."""
