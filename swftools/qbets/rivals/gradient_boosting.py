# SPDX-License-Identifier: BSD-3-Clause
"""Quantile gradient boosting: trees that minimize the pinball loss of the logarithm of waits.

References
----------
Koenker and Bassett 1978 (the loss); Friedman 2001 (boosting); Ke et al. 2017, LightGBM, after which scikit-learn made
the histogram trees that are used here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from swftools.kernel import FloatArray
from swftools.parameters import LARGEST_SEED, number, whole
from swftools.qbets.rivals.at_submission import COLUMNS
from swftools.qbets.rivals.registry import Model, Rival, register_rival

LONGEST = 50.0
"""No wait has a larger logarithm: e^50 s are longer than there has been time."""


class Boosted:
    """Trees of the logarithm of waits, as a model of waits."""

    def __init__(self, trees: Any) -> None:
        self.trees = trees

    def predict(self, rows: FloatArray) -> FloatArray:
        """Return the quantile of the wait of each row, s; see ``whole_seconds``."""
        with _one_thread():
            return whole_seconds(self.trees.predict(rows))


@register_rival
@dataclass(frozen=True)
class GradientBoosting(Rival):
    """Gradient boosting of the quantile; the group is a category, and a missing value counts as a value of its own.

    Fits are deterministic. Each uses one thread, because sums in several threads round differently; use ``--workers``
    to run several methods side by side.

    Parameters
    ----------
    trees : int
        How many trees a model has.
    leaves : int
        How many leaves a tree has at most.
    least_in_leaf : int
        How many waits each leaf has at least. Of 100 waits, five are above their .95 quantile; of 20, the default of
        scikit-learn, only one is.
    learning_rate : float
        How much each tree contributes.
    seed : int
        Seed for the choice of 200,000 waits to make histograms from, if the window has more.
    """

    NAME: ClassVar[str] = "gradient-boosting"
    trees: int = whole(100, least=1, most=10_000)
    leaves: int = whole(31, least=2, most=10_000)
    least_in_leaf: int = whole(100, least=1)
    learning_rate: float = number(0.1, above=0, most=1)
    seed: int = whole(0, least=0, most=min(LARGEST_SEED, 2**32 - 1))

    def fit(self, rows: FloatArray, waits: FloatArray) -> Model:
        """Return trees fitted to the logarithm of 1 s + wait, whose quantile is that of the wait."""
        from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415 (takes half a second)

        trees = HistGradientBoostingRegressor(
            loss="quantile",
            quantile=self.quantile,
            max_iter=self.trees,
            max_leaf_nodes=self.leaves,
            min_samples_leaf=self.least_in_leaf,
            learning_rate=self.learning_rate,
            early_stopping=False,
            categorical_features=[COLUMNS.index("group")],
            random_state=self.seed,
        )
        # scikit-learn takes no column in which all is missing; one that is constant parts no leaf.
        known = np.where(np.isnan(rows).all(axis=0), 0.0, rows)
        with _one_thread():
            return Boosted(trees.fit(known, np.log1p(waits)))


def whole_seconds(logarithm: Any) -> Any:
    """Return the wait, s, of which 1 s more has this logarithm, rounded up to whole seconds, as waits are logged."""
    return np.maximum(np.ceil(np.expm1(np.minimum(logarithm, LONGEST)) * (1.0 - 1e-9) - 1e-9), 0.0)


def _one_thread() -> Any:
    """Return a context in which scikit-learn's trees take one thread."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 (looks up libraries)

    return threadpool_limits(limits=1, user_api="openmp")
