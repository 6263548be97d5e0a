# SPDX-License-Identifier: BSD-3-Clause
"""Which differences between policies are more than noise: pairs of repetitions, and ranks over logs.

A repetition is a seed and a shake; two policies that ran the same one are a pair. What is asked of each setting (a log
and every option but seed and shake) and measure: whether the differences of the pairs lie about 0.

References
----------
Holm 1979, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6; Friedman 1937, JASA 32;
Demsar 2006, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (section 3.2.2: ranks over data
sets, critical difference of Nemenyi).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from pipelines.experiments.axes import OF_MACHINES
from pipelines.experiments.resampling import ALPHA, FloatArray, intervals, p_values
from swftools.output.amounts import difference

LEAST_LOGS = 5
"""With fewer logs no ranks are judged: Friedman's chi-square is then a poor approximation."""

ASSUMPTIONS = (
    "A pair is the same log and options, seed and shake under a policy and under the baseline; other pairs of a "
    "setting are taken as independent of it, and pairs with the very same two values count once, since a seed "
    "that draws nothing repeats a run. Where the policies are equal each difference is as likely as its negative: "
    "the p-value is the share of all ways to turn signs round whose mean is as far from 0 (Fisher's test; exact "
    "to 13 pairs). p-values of one measure are adjusted for the number of settings and policies (Holm). A "
    "difference is told apart at an adjusted p-value of at most 0.05: with fewer than 6 pairs none can be, and with "
    "fewer than 10 none of 24. The interval is of the mean difference, 95 %, bootstrap (BCa), and is not adjusted; "
    "with few pairs it is too narrow. Seeds and shakes tell of the noise of one log; they do not tell what another "
    "log would show. Ranks "
    "take each log once (the mean over its repetitions) and logs as independent: Friedman's test, and Nemenyi's "
    "critical difference, from 5 logs and 3 policies on."
)
"""What the statistics take for granted, in words; published beside them."""


def compare_with_baseline(
    values: pd.DataFrame, setting: Sequence[str], baseline: str, tell: Callable[[int, int], object] | None = None
) -> pd.DataFrame:
    """Compare each policy with a baseline on each setting.

    Parameters
    ----------
    values : pandas.DataFrame
        One row a cell and measure: the columns of ``setting``, policy, seed, shake, measure, unit, value. A missing
        value takes its pair out.
    setting : sequence of str
        Columns that tell settings apart.
    baseline : str
        A policy.
    tell : callable, optional
        Told how many of how many intervals and p-values are there.

    Returns
    -------
    pandas.DataFrame
        ``setting``, measure, unit, policy, baseline, pairs, mean, baseline_mean, difference (policy - baseline), low,
        high, p_value, adjusted_p_value, is_told_apart. NaN where there are too few pairs: no interval of one pair.
    """
    pair = [*setting, "measure", "seed", "shake"]
    base = values[values["policy"] == baseline][[*pair, "value"]]
    both = values[values["policy"] != baseline].merge(base, on=pair, suffixes=("", "_base"))
    both = both.dropna(subset=["value", "value_base"])
    # A seed that draws nothing runs the same again: copies of one pair are one, or they would pass for evidence.
    both = both.drop_duplicates([*setting, "measure", "policy", "value", "value_base"])
    keys = [*setting, "measure", "unit", "policy"]
    groups = both.groupby(keys, sort=False, dropna=False)
    of_group = groups.ngroup().to_numpy()
    places = np.split(np.argsort(of_group, kind="stable"), np.cumsum(np.bincount(of_group))[:-1]) if len(both) else []
    ours, theirs = (both[name].to_numpy(dtype=np.float64) for name in ("value", "value_base"))
    means = [[each[rows].mean() for rows in places] for each in (ours, theirs, ours - theirs)]
    differences = [(ours - theirs)[rows] for rows in places]
    ready = [0]

    def done(count: int) -> None:
        ready[0] += count
        if tell is not None:
            tell(ready[0], 2 * len(differences))

    low, high = intervals(differences, done).T
    columns = {
        "baseline": baseline,
        "pairs": [len(rows) for rows in places],
        **dict(zip(("mean", "baseline_mean", "difference"), means, strict=True)),
        "low": low,
        "high": high,
        "p_value": p_values(differences, done),
    }
    table = both[keys].drop_duplicates(ignore_index=True).assign(**columns)
    adjusted = table.groupby("measure", sort=False)["p_value"].transform(lambda p: holm(p.to_numpy(dtype=np.float64)))
    return table.assign(adjusted_p_value=adjusted, is_told_apart=(adjusted <= ALPHA).fillna(value=False).astype(bool))


def least_pairs(comparisons: int) -> int:
    """Return how many pairs it takes at least to tell one difference of so many apart.

    All ways to turn the signs of n pairs round are 2^n, of which two, at least, have a mean as far from 0.

    Examples
    --------
    >>> [least_pairs(count) for count in (1, 2, 24, 95)]
    [6, 7, 10, 12]
    """
    return math.ceil(math.log2(2 * max(comparisons, 1) / ALPHA))


def holm(p_values: FloatArray) -> FloatArray:
    """Return p-values adjusted for their number; NaN stays and does not count.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="mergesort")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return adjusted


def rank_policies(values: pd.DataFrame, setting: Sequence[str], worse: dict[str, int]) -> pd.DataFrame:
    """Rank policies over logs, for each setting beside the log and each measure that has a better end.

    Parameters
    ----------
    values : pandas.DataFrame
        As ``compare_with_baseline`` takes them; ``setting`` has log among its columns.
    setting : sequence of str
        Columns that tell settings apart.
    worse : dict of str to int
        By measure, 1 where more is worse, -1 where less is. Others are left out.

    Returns
    -------
    pandas.DataFrame
        ``setting`` without log, measure, policy, logs, mean_rank (1 is best; equal ones share), p_value (Friedman),
        critical_difference (Nemenyi): NaN with fewer than ``LEAST_LOGS`` logs or three policies.
    """
    from scipy import stats  # noqa: PLC0415 (it takes time to import)

    others = [name for name in setting if name != "log"]
    keys = [*others, "measure"]
    ranked = values[values["measure"].isin(list(worse))]
    means = ranked.groupby([*keys, "log", "policy"], sort=False, dropna=False)["value"].mean().reset_index()
    rows: list[dict[str, Any]] = []
    for found, group in means.groupby(keys, sort=False, dropna=False):
        told: dict[str, Any] = {str(key): value for key, value in zip(keys, found, strict=True)}
        known = group.dropna(subset=["value"])
        log, policy = known["log"].factorize(), known["policy"].factorize()
        table = np.full((len(log[1]), len(policy[1])), np.nan)
        table[log[0], policy[0]] = known["value"]
        table = table[~np.isnan(table).any(axis=1)].round(9)  # what is equal but for rounding shares a rank
        ranks = stats.rankdata(worse[told["measure"]] * table, axis=1)
        mean_ranks = ranks.mean(axis=0) if len(table) else np.full(len(policy[1]), np.nan)
        p_value, critical = _judged(table, *table.shape)
        for name, rank in zip(policy[1], mean_ranks, strict=True):
            told_of = {"policy": name, "logs": len(table), "mean_rank": rank}
            rows.append({**told, **told_of, "p_value": p_value, "critical_difference": critical})
    return pd.DataFrame(rows, columns=[*keys, "policy", "logs", "mean_rank", "p_value", "critical_difference"])


def _judged(means: FloatArray, logs: int, policies: int) -> tuple[float, float]:
    """Return the p-value of Friedman's test, and Nemenyi's critical difference of mean ranks."""
    from scipy import stats  # noqa: PLC0415 (it takes time to import)

    if logs < LEAST_LOGS or policies < 3:
        return float("nan"), float("nan")
    if (np.ptp(means, axis=1) == 0).all():
        return 1.0, float("nan")
    p_value = float(stats.friedmanchisquare(*means.T).pvalue)
    return p_value, _range(policies) / math.sqrt(2) * math.sqrt(policies * (policies + 1) / (6 * logs))


@cache
def _range(policies: int) -> float:
    """Return the quantile of the studentized range, which takes a tenth of a second."""
    from scipy import stats  # noqa: PLC0415 (as above)

    return float(stats.studentized_range.ppf(1 - ALPHA, policies, np.inf))


def sentences(differences: pd.DataFrame, setting: Sequence[str]) -> list[str]:
    """Return, a line a measure, how many differences are more than noise and which; or why none can be."""
    lines = []
    for measure, rows in differences.groupby("measure", sort=False):
        told = rows[rows["is_told_apart"]]
        is_same = (rows["difference"] == 0) & ((rows["pairs"] == 1) | ((rows["low"] == 0) & (rows["high"] == 0)))
        if is_same.all():
            lines.append(f"{measure}: the same under every policy")
            continue
        needed = least_pairs(int(rows["p_value"].notna().sum()))
        if rows["pairs"].max() < needed:
            compared = f" for {len(rows)} comparisons" if len(rows) > 1 else ""
            lines.append(f"{measure}: too few different repetitions to tell noise: {needed} are needed{compared}")
            continue
        head = f"{measure}: {len(told)} of {len(rows)} differences from {rows['baseline'].iloc[0]} are more than noise"
        several = [name for name in setting if differences[name].nunique(dropna=False) > 1]
        named = [
            f"{row['policy']}{''.join(f', {row[name] or OF_MACHINES.get(name, row[name])}' for name in several)} "
            f"({difference(row['difference'], row['unit'])})"
            for _, row in told.iterrows()
        ]
        lines.append(f"{head}{': ' if named else ''}{'; '.join(named[:6])}{'; ...' if len(named) > 6 else ''}")
    return lines
