# SPDX-License-Identifier: BSD-3-Clause
"""What the data are: rows and days, columns that are of the future, and whether level_fs is that of Slurm's Fair Tree.

And Slurm's own estimates of starts (``sbatch --test-only``), beside which the study sets its network.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipelines.logs.tables import Tables
from pipelines.papers.paper import Run, measured
from pipelines.papers.popa2023.polls import LEAKS, complete_rows, days_before, rows_of
from swftools.kernel import FloatArray
from swftools.parameters import Parameters

NEAR = 1e-9
"""Relative difference up to which two level values are the same."""


@dataclass(frozen=True)
class ChecksOfRows(Parameters):
    """Nothing to choose."""

    NAME = "checks"


@dataclass(frozen=True)
class EstimatesOfSlurm(Parameters):
    """Nothing to choose."""

    NAME = "estimates"


def measure_checks(polls: Tables, parameters: ChecksOfRows, seed: int) -> pd.DataFrame:  # noqa: ARG001 (nothing is drawn)
    """Return counts of all rows, and waits."""
    table = polls.table
    eligible = pd.to_datetime(table["eligible_time"]).to_numpy("datetime64[s]").astype(np.float64)
    wait, poll = (table[name].to_numpy(np.float64) for name in ("wait_ahead", "poll_time"))
    values = {
        "files": len(polls.files),
        "files found": len(polls.found),
        "rows": len(table),
        "complete rows": len(complete_rows(polls).table),
        "elapsed_time is the run time": (table["elapsed_time"] == table["run_time"]).sum(),
        "eligible after the poll": (eligible > poll).sum(),
        "shortest wait": wait.min(),
        "median wait": np.median(wait),
        "columns of the future": sum(name in table for name in LEAKS),
        **_levels(table),
        "not yet known": _not_known(polls),
    }
    return measured([("all", "", name, float(value)) for name, value in values.items()])


def _levels(table: pd.DataFrame) -> dict[str, float]:
    """Return in how many rows level_fs is what Fair Tree makes of shares and usage, by where it is not."""
    share, used, told = (
        table[name].to_numpy(np.float64) for name in ("norm_share_poll", "effect_use_poll", "level_fs_poll")
    )
    ours = fair_tree_levels(share, used)
    is_same = np.isclose(ours, told, rtol=NEAR, atol=0.0)  # infinite ones are the same where both are
    return {
        "level_fs is Fair Tree's": float(is_same.sum()),
        "level_fs is missing, share and usage 0": float((np.isnan(told) & (share == 0) & (used == 0)).sum()),
        "level_fs is another": float((~is_same & ~np.isnan(told)).sum()),
    }


def fair_tree_levels(share: FloatArray, used: FloatArray) -> FloatArray:
    """Return the level values that policy ``slurm`` gives to accounts, by their shares and usage among siblings.

    A test compares it with the policy's own kernel, ``find_levels``, which takes long to compile.

    Parameters
    ----------
    share, used : ndarray of float
        Of each account its share of all and its part of all usage, as ``sshare`` has them (NormShares, EffectvUsage).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        levels: FloatArray = np.where(share == 0.0, 0.0, np.where(used > 0.0, share / used, np.inf))
    return levels


def _not_known(polls: Tables) -> float:
    """Return the share of the rows of the days before the last whose waits were not over at its poll."""
    rows = rows_of(polls, polls.table)
    last = int(rows.day.max())
    before = rows.of([*days_before(rows.days, last).train, *set(days_before(rows.days, last).valid)])
    known = rows.known_by(float(rows.table["poll_time"].to_numpy()[rows.day == last].min()))
    return float(1.0 - known[before].mean())


def measure_estimates(estimates: Tables, parameters: EstimatesOfSlurm, seed: int) -> pd.DataFrame:  # noqa: ARG001 (as above)
    """Return, of each cluster, how many estimates there are, and how far starts were from them."""
    rows: list[tuple[str, str, str, float | None]] = []
    for file, part in estimates.table.groupby("file", sort=True):
        true, told = (pd.to_datetime(part[name]) for name in ("true_start_time", "estimate_start_time"))
        apart = np.abs((true - told).dt.total_seconds().to_numpy())
        values = {
            "estimates": float(len(part)),
            "mean of log10 s": float(np.log10(apart).mean()),
            "mean of squared log10 s": float((np.log10(apart) ** 2).mean()),
            "median apart": float(np.median(apart)),
            "started later": float((true > told).mean()),
        }
        rows += [(str(file).partition("_")[0], "", name, value) for name, value in values.items()]
    return measured(rows)


CHECKS, ESTIMATES = Run("checks", ChecksOfRows()), Run("estimates", EstimatesOfSlurm())

UNITS = {
    **dict.fromkeys(("rows", "complete rows", "elapsed_time is the run time", "eligible after the poll"), "rows"),
    **dict.fromkeys(("files", "files found"), "days"),
    **dict.fromkeys(("shortest wait", "median wait", "median apart"), "s"),
}
