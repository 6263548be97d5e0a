# SPDX-License-Identifier: BSD-3-Clause
"""How well can the rest of a wait be predicted from a poll of the queue? Three ways to choose what is learnt from.

    python examples/predict_polls.py jobs_cedar_2021-05-*.csv.gz

Takes the tables of Mila's study of Cedar and Graham (https://github.com/mila-iqia/slurm-queue-time-pred), one day each,
and needs scikit-learn. Only what was known at a poll is learnt from (``QueuePolls.features``).
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GroupKFold, KFold

from swftools.formats import read_queue_polls
from swftools.qbets import prediction_figures

FOLDS = 5
DEADLINE = 3600.0
COLUMNS = ["ratio_p25", "ratio_p75", "ratio_p5", "ratio_p95", "within_10_minutes", "right_verdicts", "best_constant"]


def fitted(known: pd.DataFrame, asked: pd.DataFrame, features: list[str]) -> np.ndarray:
    """Return the wait ahead of some rows, s, by trees that are fitted to the logarithm of that of others."""
    model = HistGradientBoostingRegressor(random_state=0)
    model.fit(known[features], np.log(known["wait_ahead"].clip(lower=1.0)))
    return np.exp(model.predict(asked[features]))


def median(known: pd.DataFrame, asked: pd.DataFrame, features: list[str]) -> np.ndarray:  # noqa: ARG001 (as the other)
    """Return the median of the others for each."""
    return np.full(len(asked), known["wait_ahead"].median())


def main(paths: list[str]) -> None:
    """Print a line for each way."""
    polls = read_queue_polls(sorted(paths))
    days = polls.rows.assign(day=pd.factorize(polls.rows["poll_time"], sort=True)[0])
    features = polls.features
    folds = {
        "other rows at random": KFold(FOLDS, shuffle=True, random_state=0).split(days),
        "rows of other accounts": GroupKFold(FOLDS).split(days, groups=days["group"]),
    }
    if (count := days["day"].nunique()) > 1:
        folds["rows of earlier days"] = [
            (np.flatnonzero(days["day"] < day), np.flatnonzero(days["day"] == day)) for day in range(count // 2, count)
        ]
    print(f"{len(days):,} rows of {count} days, {len(features)} features")
    lines = {}
    for what, split in folds.items():
        parts = list(split)
        asked = np.concatenate([there for _, there in parts])
        wait = days["wait_ahead"].to_numpy()[asked]
        for how, model in {"trees": fitted, "their median": median}.items():
            told = np.concatenate([model(days.iloc[known], days.iloc[there], features) for known, there in parts])
            lines[f"{what}: {how}"] = prediction_figures(wait, told, deadline=DEADLINE)
        lines[f"{what}: as long as it has waited"] = prediction_figures(
            wait, days["waited"].to_numpy()[asked], deadline=DEADLINE
        )
    print(pd.DataFrame(lines).T[COLUMNS].astype(float).round(4).to_string())


if __name__ == "__main__":
    main(sys.argv[1:])
