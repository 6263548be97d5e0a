# SPDX-License-Identifier: BSD-3-Clause
"""Models of the rest of a wait that stand in the place of the study's network, and how good predictions are.

The network of the study is not made anew: its results come from a state of the last epoch, without seeds. In its place
stand a constant, least squares, and boosted trees (scikit-learn); the constant is what any of them must beat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from swftools.kernel import FloatArray

CONSTANT, LINEAR, BOOSTING = MODELS = ("constant", "linear", "boosting")

TREES, RATE = 60, 0.15
"""Of boosting: how many trees, and how much each contributes."""

LITTLE = 1e-4
"""Is added to each standard deviation, as in the study, so that a column which is constant divides by something."""

TWO, THREE = np.log10(2.0), np.log10(3.0)


def predict(
    model: str, known: pd.DataFrame, target: FloatArray, asked: Mapping[str, pd.DataFrame]
) -> dict[str, FloatArray]:
    """Return what a model predicts of several sets of rows, log10 of seconds; it learns from ``known``.

    Parameters
    ----------
    model : {"constant", "linear", "boosting"}
        The mean of the target; least squares of standardised columns; trees of the squared error.
    known, asked : pandas.DataFrame
        The same columns of numbers, without missing values.
    target : ndarray of float, shape (rows of known,)
        Log10 of seconds.
    """
    if model == CONSTANT:
        return {name: np.full(len(rows), target.mean()) for name, rows in asked.items()}
    middle, scale = known.mean(), known.std(ddof=0) + LITTLE
    if model == LINEAR:
        from sklearn.linear_model import LinearRegression  # noqa: PLC0415 (takes half a second)

        fitted: Any = LinearRegression().fit(((known - middle) / scale).to_numpy(), target)
        return {name: fitted.predict(((rows - middle) / scale).to_numpy()) for name, rows in asked.items()}
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 (as above)

    with threadpool_limits(limits=1, user_api="openmp"):  # sums in several threads round differently
        trees = boosted().fit(known.to_numpy(), target)
        return {name: trees.predict(rows.to_numpy()) for name, rows in asked.items()}


def boosted(**parameters: Any) -> Any:
    """Return trees that are not fitted yet, with these parameters and else those of all trees here."""
    from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415 (takes half a second)

    usual = {"max_iter": TREES, "learning_rate": RATE, "early_stopping": False, "random_state": 0}
    return HistGradientBoostingRegressor(**(usual | parameters))


def figures_of(target: FloatArray, predicted: FloatArray) -> dict[str, float]:
    """Return the mean squared error of log10 seconds, and the shares within a factor of 2 and 3; none without rows."""
    if not len(target):
        return {}
    error = np.abs(target - predicted)
    return {
        "mse": float((error**2).mean()),
        "within 2": float((error <= TWO).mean()),
        "within 3": float((error <= THREE).mean()),
    }
