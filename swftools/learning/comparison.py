# SPDX-License-Identifier: BSD-3-Clause
"""How good a scheduler is on jobs that it has not seen: costs on parts of a log, differences with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from swftools.errors import ParameterError
from swftools.keyed_random import generator
from swftools.learning.rules import check_sizes
from swftools.parameters import is_whole
from swftools.simulator.entry_points import simulate
from swftools.simulator.measure_definitions import HIGHER, SPREAD
from swftools.simulator.metrics.of_jobs import measure_jobs
from swftools.trace import Trace


def compare_schedulers(  # noqa: PLR0913 (options by name)
    trace: Trace,
    policies: Sequence[str],
    *,
    baseline: str = "fcfs",
    measure: str = "bounded_slowdown",
    jobs: int = 256,
    warm_up: int = 64,
    episodes: int = 30,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Compare policies, also trained ones, on the same parts of a log.

    Each part is simulated from an empty machine; its first ``warm_up`` jobs do not count. Parts follow one another
    and do not overlap; if there are more than ``episodes``, that many are drawn.

    Parameters
    ----------
    trace : Trace
        Jobs that no policy was trained on.
    policies : sequence of str
        As for ``simulate``.
    baseline : str
        The policy that all are compared with.
    measure : str
        A measure of jobs, whose mean is taken: ``bounded_slowdown``, ``wait``, ``turnaround`` ... of ``measure``.
    jobs, warm_up, episodes : int
        Jobs of a part, those of its warm-up, and the largest number of parts.
    confidence : float
        Confidence of the intervals.
    seed : int
        For parts that are drawn, and for the bootstrap.
    progress : callable, optional
        Takes the number of parts done, of all parts, and a policy, after each simulation; ``progress_bar`` makes one.
    **options
        Options of ``simulate``; ``overrun="run-on"`` by default, as in the environment.

    Returns
    -------
    pandas.DataFrame
        A row for each policy: mean over parts; ``difference`` to the baseline on the same part, in its mean, and its
        interval from ``low`` to ``high`` (BCa bootstrap over parts); ``verdict``: better or worse where all of the
        interval is, else empty.

    Raises
    ------
    ParameterError
        The log has fewer than two parts; a number is outside its domain.
    """
    check_sizes(jobs, warm_up)
    if measure not in SPREAD:
        raise ParameterError(f"measure={measure!r} is not one of: {', '.join(SPREAD)}")
    if not is_whole(episodes, 2):
        raise ParameterError(f"episodes={episodes!r} is not an integer of 2 or more")
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence={confidence!r} is not a number between 0 and 1")
    length, ordered = warm_up + jobs, trace.jobs.sort_values("submit_time", kind="stable")
    begins = np.arange(0, len(ordered) - length + 1, length)
    if len(begins) < 2:
        raise ParameterError(f"the log has {len(ordered)} jobs, not two parts of {length}; give smaller jobs=")
    random = generator(seed, "learning/compare")
    if len(begins) > episodes:
        begins = np.sort(random.choice(begins, episodes, replace=False))
    names = list(dict.fromkeys([baseline, *policies]))
    costs = pd.DataFrame(index=range(len(begins)), columns=names, dtype=float)
    for i, begin in enumerate(begins):
        part = trace.with_jobs(ordered.iloc[begin : begin + length].reset_index(drop=True))
        for name in names:
            schedule = simulate(part, name, **({"overrun": "run-on"} | options))
            values = measure_jobs(schedule)[measure].to_numpy(float)
            counted = schedule.jobs["submit_time"].rank(method="first").to_numpy() > warm_up
            costs.loc[i, name] = np.nanmean(values[counted])
            if progress:
                progress(i, len(begins), name)
    if progress:
        progress(len(begins), len(begins), "")
    is_cost = SPREAD[measure].worse == HIGHER
    return pd.DataFrame([_compared(costs, name, baseline, confidence, random, is_cost) for name in names])


def _compared(
    costs: pd.DataFrame, name: str, baseline: str, confidence: float, random: np.random.Generator, is_cost: bool
) -> dict[str, Any]:
    """Return the row of a policy."""
    difference = (costs[name] - costs[baseline]).to_numpy()
    low = high = float(difference.mean())
    if np.ptp(difference) > 0:
        found = stats.bootstrap((difference,), np.mean, confidence_level=confidence, rng=random)
        low, high = map(float, found.confidence_interval)
    is_below, is_above = high < 0, low > 0
    verdict = "better" if (is_below if is_cost else is_above) else "worse" if is_below or is_above else ""
    return {
        "policy": name,
        "episodes": len(costs),
        "mean": costs[name].mean(),
        "difference": difference.mean(),
        "low": low,
        "high": high,
        "verdict": verdict,
    }
