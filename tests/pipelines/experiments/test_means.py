# SPDX-License-Identifier: BSD-3-Clause
"""The usual measures of many cells, beside those of each cell by itself."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pipelines.experiments.axes import OPTIONS, SETTING
from pipelines.experiments.means import usual_values
from swftools.simulator.measures_table import USUAL, summarize, usual_columns


def cells() -> pd.DataFrame:
    """Return the metrics of cells in no order of seeds, one of which lacks a measure, with classes among them."""
    rng = np.random.default_rng(4)
    rows = []
    for load, policy, shake, seed in [
        (0.5, "sjf", 2, 9),
        (0.5, "sjf", 2, 3),
        (0.5, "easy", 2, 3),
        (0.9, "sjf", 1, 3),
        (0.9, "easy", 1, 3),
        (0.9, "easy", 1, 2),
    ]:
        for measure, statistic in (*USUAL, ("wait", "p50")):
            if (measure, load) == ("makespan", 0.9):
                continue
            for job_class in ("all", "wide"):
                value = np.nan if (measure, seed) == ("wasted_load", 2) else rng.exponential()
                rows.append([load, policy, shake, seed, measure, statistic, job_class, value])
    names = ["load", "policy", "shake", "seed", "measure", "statistic", "job_class", "value"]
    same = {name: "" for name in OPTIONS if name != "load"}
    return pd.DataFrame(rows, columns=names).assign(**same, log="mine", classed_by="all", unit="s")


def test_they_are_those_of_each_cell() -> None:
    """A value a cell and measure, by setting, policy and shake, then by measure, then by seed; none of a class."""
    metrics = cells()
    found = usual_values(metrics)
    assert set(found) == {*SETTING, "policy", "seed", "shake", "measure", "unit", "value"}
    whole = metrics[metrics["job_class"] == "all"]
    keys = ["load", "policy", "shake"]
    expected = []
    for (load, policy, shake), group in whole.groupby(keys, sort=False):
        wide = {seed: summarize(rows, list(usual_columns())).iloc[0] for seed, rows in group.groupby("seed")}
        for pair, name in usual_columns().items():
            if (group[["measure", "statistic"]] == list(pair)).all(axis=1).any():
                expected += [(load, policy, shake, name, seed, row[name]) for seed, row in wide.items()]
    told = found[[*keys, "measure", "seed", "value"]]
    pd.testing.assert_frame_equal(told, pd.DataFrame(expected, columns=list(told)))
    assert "makespan" in set(found["measure"])
    assert found["value"].isna().sum() == 1
