# SPDX-License-Identifier: BSD-3-Clause
"""The usual measures of an experiment's cells, and their means over repetitions with intervals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from pipelines.experiments.axes import OF_MACHINES, OPTIONS, REPETITIONS, SETTING
from swftools.plots.over_seeds import interval
from swftools.simulator.measures_table import usual_columns


def usual_values(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the usual measures of cells over all jobs, a row each, as ``compare_with_baseline`` takes them.

    Parameters
    ----------
    metrics : pandas.DataFrame
        The table experiment: the metrics of each cell with its setting, seed and shake.
    """
    metrics = metrics[metrics["job_class"].astype(str) == "all"].astype(dict.fromkeys(("log", "policy"), "str"))
    columns = usual_columns()
    setting = metrics.groupby([*SETTING, "shake", "policy"], sort=False, dropna=False, observed=True).ngroup()
    pairs = pd.MultiIndex.from_arrays([metrics[name].astype("object") for name in ("measure", "statistic")])
    place = pd.MultiIndex.from_tuples(list(columns)).get_indexer(pairs)
    order = np.lexsort((metrics["seed"], place, setting))
    order = order[place[order] >= 0]
    names = np.array(list(columns.values()), dtype=object)[place[order]]
    told = metrics.iloc[order].reset_index(drop=True)
    return told[["policy", "seed", "value", *SETTING, "shake", "unit"]].assign(measure=pd.array(names, dtype="str"))


def different_repetitions(values: pd.DataFrame) -> pd.DataFrame:
    """Return the repetitions that are runs of their own: one that has all values of another is a copy, and counts once.

    A seed that draws nothing runs the same again; taken for evidence, copies would make intervals too narrow.
    """
    keys = [*SETTING, "policy"]
    repetition = [*keys, *REPETITIONS]
    wide = values.pivot_table(index=repetition, columns="measure", values="value", sort=False).reset_index()
    first = wide.drop_duplicates([name for name in wide if name not in REPETITIONS])[repetition]
    return values.merge(first, on=repetition)


def means_of(values: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of each setting, policy and measure over its repetitions, with its 95 % interval.

    Parameters
    ----------
    values : pandas.DataFrame
        As ``usual_values`` returns them.

    Returns
    -------
    pandas.DataFrame
        The columns of ``SETTING``, policy, measure, unit, repetitions (that are different), mean, low, high: the ends
        of the interval by Student's t, in the unit of the measure. NaN of one repetition.
    """
    keys = [*SETTING, "policy", "measure", "unit"]
    known = different_repetitions(values).dropna(subset=["value"])
    rows = [
        (*found, len(each), *interval(each["value"].to_numpy(dtype=np.float64)))
        for found, each in known.groupby(keys, sort=False, dropna=False)
    ]
    return pd.DataFrame(rows, columns=[*keys, "repetitions", "mean", "low", "high"])


def settings_in_words(frame: pd.DataFrame) -> pd.Series:
    """Return the setting of each row in words: its log, then each option that not all rows share."""
    words = frame["log"].astype(str)
    for name in OPTIONS:
        if frame[name].nunique(dropna=False) > 1:
            if name in OF_MACHINES:
                told = ", " + frame[name].replace("", OF_MACHINES[name]).astype(str)
            else:
                told = f", {name.replace('_', ' ')} " + frame[name].map(_option).astype(str)
            words = words + told
    return words


def _option(value: object) -> str:
    """Return the value of an option in words."""
    if value is None or value != value or value in ("", 0):  # noqa: PLR0124 (NaN)
        return "of the log"
    return f"{value:g}" if isinstance(value, float) else str(value)


def each_setting(metrics: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each setting of the table experiment in words, with its rows, whose seed numbers the repetitions."""
    metrics = metrics.assign(seed=metrics.groupby(list(REPETITIONS), sort=False).ngroup())
    for setting, rows in metrics.groupby(settings_in_words(metrics), sort=False):
        yield str(setting), rows
