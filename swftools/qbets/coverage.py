# SPDX-License-Identifier: BSD-3-Clause
"""How often bounds of waits were right, in counts that add up: those of months make those of years.

``evaluate`` says more of predictions that are all at hand. This is for histories, of which only the last month is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.fields.dictionary import table_fields
from swftools.tables import frame_of

ALL = "all"
_COUNTS = ["jobs", "told", "known", "covered"]
NEEDED = ("method", "queue", "submit_time", "wait_time", "wait_bound", "no_prediction")
"""The columns of predictions that are counted."""


def count_coverage(predictions: pd.DataFrame, period: str, *, quantile: float, chance: float) -> pd.DataFrame:
    """Return the coverage of predictions by one method or several, by queue and of all queues.

    Parameters
    ----------
    predictions : pandas.DataFrame
        As ``replay`` returns them; the columns ``NEEDED`` are enough.
    period : str
        What they are of, in words.
    quantile : float
        What the bounds are of.
    chance : float
        The probability that a right bound is found to be below ``least_coverage``.

    Returns
    -------
    pandas.DataFrame
        The table ``wait_coverage`` of the column dictionary. Jobs of the training do not count.
    """
    scored = predictions[predictions["no_prediction"].ne("training").fillna(True)]
    wait, bound = (scored[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in ("wait_time", "wait_bound"))
    is_told, is_known = ~np.isnan(bound), ~np.isnan(bound) & ~np.isnan(wait)
    over = bound - wait
    is_covered = is_known & (over >= 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        tightness = np.log(np.maximum(bound, 1.0) / np.maximum(wait, 1.0))
    one = pd.DataFrame(
        {
            "method": scored["method"].to_numpy(),
            "queue": scored["queue"].to_numpy(),
            "jobs": 1,
            "told": is_told.astype(np.int64),
            "known": is_known.astype(np.int64),
            "covered": is_covered.astype(np.int64),
            "square": np.where(is_covered, over**2, 0.0),
            "log": np.where(is_known, tightness, 0.0),
        }
    )
    return _finished(_summed([one, one.assign(queue=ALL)]).assign(period=period), quantile, chance)


def add_coverage(counted: Iterable[pd.DataFrame], period: str, *, quantile: float, chance: float) -> pd.DataFrame:
    """Return the coverage of several periods together, from what was counted in each.

    Raises
    ------
    ParameterError
        There is none.
    """
    tables = list(counted)
    if not tables:
        raise ParameterError("no coverage to add up; give at least one table")
    whole = pd.concat(tables, ignore_index=True)
    whole["square"] = whole["rms_over"].fillna(0.0) ** 2 * whole["covered"].astype(float)
    whole["log"] = np.log(whole["tightness"].fillna(1.0)) * whole["known"].astype(float)
    return _finished(_summed([whole]).assign(period=period), quantile, chance)


def judge_coverage(table: pd.DataFrame, *, quantile: float, chance: float) -> pd.DataFrame:
    """Return coverage that was counted before, with the limits of another chance."""
    known = table["known"].to_numpy(float)
    limit = _least_coverage(known, quantile, chance)
    below = (table["coverage"] < limit).astype("boolean").mask(pd.Series(known == 0, index=table.index))
    return table.assign(least_coverage=limit, is_below=below)


def _least_coverage(known: npt.NDArray[np.float64], quantile: float, chance: float) -> npt.NDArray[np.float64]:
    """Return what a right bound covers of so many waits, but for a chance; NaN of none."""
    from scipy.stats import binom  # noqa: PLC0415 (takes a second)

    with np.errstate(invalid="ignore", divide="ignore"):
        least = np.where(known > 0, binom.ppf(chance, np.maximum(known, 1), quantile), np.nan) / known
    return np.asarray(least, dtype=np.float64)


def _summed(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return counts and sums by method, in the order in which they come, and queue; those of all queues first."""
    whole = pd.concat(tables, ignore_index=True)
    methods = list(dict.fromkeys(whole["method"]))
    summed = whole.groupby(["method", "queue"], sort=True)[[*_COUNTS, "square", "log"]].sum().reset_index()
    place = summed["method"].map(methods.index)
    order = np.lexsort((summed["queue"].to_numpy(dtype=str), summed["queue"].ne(ALL), place))
    return summed.iloc[order].reset_index(drop=True)


def _finished(rows: pd.DataFrame, quantile: float, chance: float) -> pd.DataFrame:
    """Return counts and sums as the table has them."""
    known, covered = rows["known"].to_numpy(float), rows["covered"].to_numpy(float)
    limit = _least_coverage(known, quantile, chance)
    with np.errstate(invalid="ignore", divide="ignore"):
        coverage = covered / known
        made: dict[str, Any] = {
            "coverage": coverage,
            "rms_over": np.where(covered > 0, np.sqrt(rows["square"].to_numpy(float) / covered), np.nan),
            "tightness": np.where(known > 0, np.exp(rows["log"].to_numpy(float) / known), np.nan),
            "least_coverage": limit,
            "is_below": pd.arrays.BooleanArray(coverage < limit, known == 0),
        }
    made |= {name: rows[name].to_numpy() for name in ("period", "method", "queue", *_COUNTS)}
    return frame_of("wait_coverage", {name: made[name] for name in table_fields("wait_coverage")})
