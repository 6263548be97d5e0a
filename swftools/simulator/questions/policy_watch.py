# SPDX-License-Identifier: BSD-3-Clause
"""Policies watched: each replayed on the last weeks of a log, several times, and what got worse since another time.

The log is replayed as it is and shaken (``swftools.models.shaking``), since one replay of it does not tell what of a
change is chance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.fields.dictionary import table_fields
from swftools.models.shaking import shake_submissions
from swftools.parameters import is_number, is_whole, refuse_unknown
from swftools.selection import select_jobs
from swftools.simulator.entry_points import simulate
from swftools.simulator.measure_definitions import HIGHER, LOWER, MEASURES, NEITHER
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.registry import OPTIONS, Policy, read_policy
from swftools.trace import Trace

DAY = 86_400.0

WATCHED = (("wait", "mean"), ("wait", "p98"), ("bounded_slowdown", "mean"), ("utilization", "time_mean"))
"""What is watched if not told: pairs of measure and statistic."""

_KEY = ["policy", "measure", "statistic", "parameter"]
_TYPES = dict.fromkeys(("policy", "measure", "statistic", "unit"), "str") | {"jobs": "Int64", "seeds": "Int64"}


def watch_policies(
    trace: Trace,
    policies: Sequence[str | Policy],
    *,
    measures: Sequence[tuple[str, str]] = WATCHED,
    days: float = 30.0,
    warm_up_days: float = 7.0,
    seeds: int = 5,
    shake: int = 300,
    metrics: MetricParameters | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Replay policies on the last days of a log, unchanged and shaken, and measure them.

    Parameters
    ----------
    trace : Trace
        A cleaned trace. The measured days end at its last submission.
    policies : sequence of str or Policy
        Policies as for ``simulate``, each with its parameters, as in ``easy:reservations=2``.
    measures : sequence of (str, str)
        Pairs of measure and statistic, as ``measure`` names them; any percentiles can be named.
    days : float
        Jobs of this many days up to the last submission are measured.
    warm_up_days : float
        Jobs of this many days before that are simulated too, so that the machine is not empty at the beginning.
    seeds : int
        Runs of each policy: seed 0 is the log as it is, seeds 1, 2, ... each shake it in another way.
    shake : int
        The longest delay of a submission, s; a whole number. With 0, runs differ only by what requests, predictors and
        policies draw.
    metrics : MetricParameters, optional
        Parameters of the measures. Measures over time cover the measured days, unless its window says otherwise.
    progress : callable, optional
        Called after each run with the number of finished runs and the number of all runs.
    **options
        Options of ``simulate``: processors, compiled and those of a run, for all policies.

    Returns
    -------
    pandas.DataFrame
        One row for each policy and measure, in the order given, table ``policy_watch`` of the column dictionary. Seeds
        with which a measure has no value are left out of its mean, spread and seeds. ``attrs["assumptions"]`` says in
        sentences what the run of the first policy on the unchanged log assumed where the log says nothing.

    Raises
    ------
    ParameterError
        Something cannot be simulated or measured, a policy is given twice, or no job has a submission.
    PolicyError
        As ``simulate``.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=range(1, 41), submit_time=range(0, 4000, 100),
    ...     run_time=[500] * 40, requested_time=[600] * 40, requested_processors=[1, 2, 3, 4] * 10)
    >>> watch = watch_policies(trace, ["fcfs", "easy"], measures=[("wait", "mean")], seeds=3)
    >>> watch[["policy", "measure", "statistic", "jobs", "seeds", "unit"]].values.tolist()
    [['fcfs', 'wait', 'mean', 40, 3, 's'], ['easy', 'wait', 'mean', 40, 3, 's']]
    >>> (watch["spread"] > 0).tolist()
    [True, True]
    """
    labels = _labels(policies)
    wanted = _pairs(measures)
    for name, value, least in (("days", days, 0.0), ("warm_up_days", warm_up_days, 0.0)):
        if not is_number(value, least) or (name == "days" and value == 0):
            raise ParameterError(f"watch_policies: {name}={value!r} is not a number of days")
    if not is_whole(seeds, 1, 10_000):
        raise ParameterError(f"watch_policies: seeds={seeds!r} is not an integer from 1 to 10,000")
    refuse_unknown("watch_policies", options, sorted(OPTIONS - {"trace", "policy", "seed", "progress"}))
    submit = trace.views.submit_time
    if not np.isfinite(submit).any():
        raise ParameterError("watch_policies: no job of the trace has a submission")
    last = float(np.nanmax(submit))
    begin = last - days * DAY
    log = select_jobs(trace, begin=begin, warm_up=warm_up_days * DAY)
    parameters = _parameters(metrics or MetricParameters(), wanted, (begin, last))
    runs: list[pd.DataFrame] = []
    assumptions: tuple[str, ...] = ()
    for seed in range(seeds):
        shaken = shake_submissions(log, seed, shake) if seed else log
        for label, policy in zip(labels, policies, strict=True):
            schedule = simulate(shaken, policy, seed=seed, **options)
            assumptions = assumptions if runs else schedule.assumptions
            runs.append(_chosen(measure(schedule, parameters, where="is_measured", label=label), wanted))
            if progress:
                progress(len(runs), seeds * len(labels))
    watch = _over_seeds(pd.concat(runs, ignore_index=True))
    watch.attrs["assumptions"] = assumptions
    return watch


def find_worse(
    now: pd.DataFrame, before: pd.DataFrame, *, beside: str | None = None, noises: float = 2.0, floor: float = 0.05
) -> pd.DataFrame:
    """Find what got worse between two watches, by more than chance.

    Parameters
    ----------
    now, before : pandas.DataFrame
        Tables from ``watch_policies``; the policies and measures that both have are compared.
    beside : str, optional
        A policy of both tables. Each other policy is then compared by its value divided by that policy's value in the
        same table. So jobs that are hard under every policy are not a finding; see Notes.
    noises : float
        A measure is worse if its value got worse by more than this many times the noise of both: the root of the sum of
        the squares of their spreads. A missing spread counts as 0.
    floor : float
        And by more than this share of the earlier value.

    Returns
    -------
    pandas.DataFrame
        One row for each measure that got worse, in the order of ``now``: policy, measure, statistic, parameter, before,
        now, difference (now - before), noise, unit, and finding, the same in words. Measures without a worse direction
        (offered_load), and those without a value in one of the watches, are never among them.

    Raises
    ------
    ParameterError
        A table lacks a column, or a number is below 0.

    Notes
    -----
    Each measure declares which direction is worse (``swftools.simulator.measure_definitions``).

    The noise is that of replays of one log. Two watches of different weeks also differ by their jobs: a finding then
    says that the jobs of these weeks fare worse under the policy, not that the policy is at fault. In real logs this
    happens from most months to the next; ``beside`` another policy it is rare (docs/drift.md).

    The noise of a quotient of values a and b with spreads s and t is a / b times the root of (s / a)^2 + (t / b)^2, as
    if they were independent. Both come from the same shaken logs, so this is rather too large.

    Examples
    --------
    >>> columns = ["policy", "measure", "statistic", "parameter", "jobs", "value", "spread", "seeds", "unit"]
    >>> row = ["easy", "wait", "mean", None, 900]
    >>> now = pd.DataFrame([[*row, 5412.0, 310.0, 5, "s"]], columns=columns)
    >>> before = pd.DataFrame([[*row, 3204.0, 280.0, 5, "s"]], columns=columns)
    >>> find_worse(now, before)["finding"].tolist()
    ['easy: wait, mean is 5,412 s, was 3,204 s; that is 5.3 times the noise of 417.7 s']
    """
    for name, value in (("noises", noises), ("floor", floor)):
        if not is_number(value, 0):
            raise ParameterError(f"find_worse: {name}={value!r} is not a number of 0 or more")
    for name, table in (("now", now), ("before", before)):
        if lacking := [column for column in table_fields("policy_watch") if column not in table]:
            raise ParameterError(f"find_worse: the table {name} lacks {lacking}; give what watch_policies returns")
        if (twice := table.duplicated(_KEY)).any():
            policy, measure, statistic = table.loc[twice, _KEY[:3]].iloc[0]
            raise ParameterError(f"find_worse: {policy}, {measure}, {statistic} appears twice in the table {name}")
        if beside is not None and not (table["policy"] == beside).any():
            there_are = ", ".join(table["policy"].drop_duplicates()) or "no policies"
            raise ParameterError(f"find_worse: beside={beside!r} is not in the table {name}; there are {there_are}")
    if beside is not None:
        now, before = _quotients(now, beside), _quotients(before, beside)
    both = now.assign(parameter=now["parameter"].astype("float64")).merge(
        before.assign(parameter=before["parameter"].astype("float64")), on=_KEY, suffixes=("", "_before")
    )
    difference = both["value"] - both["value_before"]
    noise = np.hypot(both["spread"].fillna(0.0), both["spread_before"].fillna(0.0))
    loss = difference * np.array([_SIGNS[MEASURES[name].worse] if name in MEASURES else 0 for name in both["measure"]])
    is_worse = (loss > noises * noise) & (loss > floor * both["value_before"].abs())
    columns = {"before": both["value_before"], "now": both["value"], "difference": difference, "noise": noise}
    found = both[_KEY].assign(**columns, unit=both["unit"])[is_worse].reset_index(drop=True)
    words = [_in_words(row, beside) for row in found.to_dict("records")]
    return found.assign(finding=pd.array(words, dtype="str"))


_SIGNS = {HIGHER: 1, LOWER: -1, NEITHER: 0}


def _labels(policies: Sequence[str | Policy]) -> list[str]:
    """Return what each policy is called, if all can be read and none appears twice."""
    if isinstance(policies, str) or not isinstance(policies, Iterable):
        raise ParameterError(f"watch_policies: policies={policies!r} is not a sequence of policies")
    for policy in policies:
        if not isinstance(policy, str | Policy):
            raise ParameterError(f"watch_policies: {policy!r} is neither the name of a policy nor a policy")
        read_policy(policy)
    labels = [policy if isinstance(policy, str) else policy.name for policy in policies]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise ParameterError(f"watch_policies: policy {twice[0]!r} appears twice")
    if not labels:
        raise ParameterError("watch_policies: there is no policy to watch")
    return labels


def _pairs(measures: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs of measure and statistic, each once."""
    is_pair = [
        isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(word, str) for word in pair)
        for pair in measures
    ]
    if not is_pair or not all(is_pair):
        raise ParameterError(f'watch_policies: measures={measures!r} are not pairs such as ("wait", "mean")')
    return list(dict.fromkeys((name, statistic) for name, statistic in measures))


def _parameters(
    metrics: MetricParameters, wanted: Sequence[tuple[str, str]], window: tuple[float, float]
) -> MetricParameters:
    """Return the parameters of the measures, with the percentiles that are wanted and the days that are measured."""
    named = [float(match[1]) for _, statistic in wanted if (match := re.fullmatch(r"p(\d+(?:\.\d+)?)", statistic))]
    changes = {
        "percentiles": tuple(dict.fromkeys([*map(float, metrics.percentiles), *named])),
        "window": metrics.window or window,
    }
    return MetricParameters.from_mapping({**metrics.to_mapping(), **changes})


def _chosen(metrics: pd.DataFrame, wanted: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return the rows of the measures that are wanted, in their order."""
    pairs = list(zip(metrics["measure"], metrics["statistic"], strict=True))
    place = {pair: row for row, pair in enumerate(pairs)}
    if unknown := [pair for pair in wanted if pair not in place]:
        name, statistic = unknown[0]
        there_are = [other for of, other in pairs if of == name] or sorted(set(metrics["measure"]))
        of_what = f"{name!r} has no statistic {statistic!r}" if name in set(metrics["measure"]) else f"no {name!r}"
        raise ParameterError(f"watch_policies: {of_what}; there are: {', '.join(there_are)}")
    return metrics.iloc[[place[pair] for pair in wanted]]


def _over_seeds(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean and spread of each measure over the runs, in the order of the first."""
    by = runs.groupby(["policy", "measure", "statistic"], sort=False)
    table = by.agg(
        parameter=("parameter", "first"),
        jobs=("jobs", "min"),
        value=("value", "mean"),
        spread=("value", "std"),
        seeds=("value", "count"),
        unit=("unit", "first"),
    ).reset_index()
    return table[list(table_fields("policy_watch"))].astype(_TYPES)


def _quotients(watch: pd.DataFrame, beside: str) -> pd.DataFrame:
    """Return a watch whose values are those of each other policy over those of one; rows where that is 0 are gone."""
    others, one = watch[watch["policy"] != beside], watch[watch["policy"] == beside]
    pairs = others.merge(one[[*_KEY[1:], "value", "spread"]], on=_KEY[1:], suffixes=("", "_beside"))
    pairs = pairs[(pairs["value"] != 0) & (pairs["value_beside"] != 0)]
    quotient = pairs["value"] / pairs["value_beside"]
    relative = np.hypot(
        pairs["spread"].fillna(0.0) / pairs["value"], pairs["spread_beside"].fillna(0.0) / pairs["value_beside"]
    )
    return pairs.assign(value=quotient, spread=quotient.abs() * relative, unit="1")[list(watch)]


def _in_words(row: dict[Any, Any], beside: str | None) -> str:
    """Return what got worse, in words."""
    unit = "" if row["unit"] == "1" else f" {row['unit']}"
    now, before, noise = (f"{_shown(row[name])}{unit}" for name in ("now", "before", "noise"))
    what = f"{row['policy']}: {row['measure']}, {row['statistic']}"
    words = (
        f"{what} is {now}, was {before}" if beside is None else f"{what} is {now} times that of {beside}, was {before}"
    )
    if not row["noise"]:
        return f"{words}; their noise is not known, or none"
    times = abs(row["difference"]) / row["noise"]
    return f"{words}; that is {f'{times:,.0f}' if times >= 10 else f'{times:.2g}'} times the noise of {noise}"


def _shown(value: float) -> str:
    """Return a number as people read it."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
