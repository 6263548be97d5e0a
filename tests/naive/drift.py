# SPDX-License-Identifier: BSD-3-Clause
"""Drift of a workload, the slow obvious way: loops over jobs in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

DAY = 86_400.0
Job = dict[str, Any]
"""A job by columns; None is missing."""


def naive_kolmogorov_smirnov(recent: Sequence[float], reference: Sequence[float]) -> float:
    """Return the largest distance of two distribution functions, looked for at every value there is."""
    return max(
        abs(sum(x <= at for x in recent) / len(recent) - sum(x <= at for x in reference) / len(reference))
        for at in [*recent, *reference]
    )


def naive_population_stability(recent: Sequence[float], reference: Sequence[float]) -> float:
    """Return the population stability index over the bins up to each decile of the reference."""
    ordered = sorted(reference)
    ends = []
    for tenth in range(1, 10):
        # The least value up to which there are so many tenths of the reference.
        decile = next(x for x in ordered if 10 * sum(y <= x for y in ordered) >= tenth * len(ordered))
        if decile not in ends:
            ends.append(decile)

    def shares(values: Sequence[float]) -> list[float]:
        counts = [0.5] * (len(ends) + 1)
        for value in values:
            counts[sum(end < value for end in ends)] += 1
        return [count / sum(counts) for count in counts]

    return math.fsum((r - f) * math.log(r / f) for r, f in zip(shares(recent), shares(reference), strict=True))


def naive_total_variation(recent: Sequence[int], reference: Sequence[int]) -> float:
    """Return half the sum of the differences of all shares."""
    ours, theirs = Counter(recent), Counter(reference)
    return math.fsum(abs(ours[key] / len(recent) - theirs[key] / len(reference)) for key in {*recent, *reference}) / 2


def naive_mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return math.fsum(values) / len(values)


def naive_median(values: Sequence[float]) -> float:
    """Return the value in the middle, or the mean of the two."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def naive_largest_share(values: Sequence[int]) -> float:
    """Return the share of the most frequent value."""
    return max(Counter(values).values()) / len(values)


def _width(job: Job) -> int | None:
    """Return allocated processors where known and positive, else requested ones; None where there are none."""
    allocated, requested = job["allocated_processors"], job["requested_processors"]
    width = allocated if allocated is not None and allocated > 0 else requested
    return width if width is not None and width > 0 else None


def _run_time(job: Job) -> float | None:
    return job["run_time"]


def _work(job: Job) -> float | None:
    width = _width(job)
    return None if width is None or job["run_time"] is None else width * job["run_time"]


def _requested(job: Job) -> float | None:
    requested = job["requested_time"]
    return requested if requested is not None and requested > 0 else None


def _accuracy(job: Job) -> float | None:
    requested = _requested(job)
    return None if requested is None or job["run_time"] is None else min(job["run_time"] / requested, 1.0)


def _never_started(job: Job) -> int | None:
    if job["run_time"] is not None:
        return 0
    return 1 if job["status"] in (0, 5) else None


def _failed(job: Job) -> int | None:
    if job["run_time"] is None or job["status"] is None:
        return None
    return int(job["status"] == 0)


ASPECTS: dict[str, Callable[[Job], Any]] = {
    "offered_load": _work,
    "arrivals": lambda job: 1,
    "arrival_hours": lambda job: int(job["submit_time"] // 3600) % 24,
    "processors": _width,
    "run_time": _run_time,
    "requested_time": _requested,
    "request_accuracy": _accuracy,
    "never_started": _never_started,
    "failed": _failed,
    "users": lambda job: job["user_id"],
    "queues": lambda job: job["queue_id"],
}

FIGURES: dict[str, Callable[[Any], float]] = {
    "ratio_of_means": naive_mean,
    "ratio_of_medians": naive_median,
    "difference_of_means": naive_mean,
    "kolmogorov_smirnov": naive_median,
    "population_stability": naive_median,
    "total_variation": naive_largest_share,
    "difference_of_largest_shares": naive_largest_share,
}


def naive_compare(statistic: str, recent: Sequence[Any], reference: Sequence[Any]) -> float | None:
    """Return a statistic of two samples; None where it has no meaning."""
    if statistic == "kolmogorov_smirnov":
        return naive_kolmogorov_smirnov(recent, reference)
    if statistic == "population_stability":
        return naive_population_stability(recent, reference)
    if statistic == "total_variation":
        return naive_total_variation(recent, reference)
    ours, theirs = FIGURES[statistic](recent), FIGURES[statistic](reference)
    if statistic.startswith("difference"):
        return ours - theirs
    return ours / theirs if theirs else None


def naive_drift(
    jobs: list[Job],
    processors: int | None,
    wanted: list[tuple[str, str]],
    *,
    now: float,
    recent_days: int,
    reference_days: int,
    needed: int,
) -> list[tuple[Any, ...]]:
    """Return for each (aspect, statistic): recent figure, reference figure, drift, jobs and jobs without, of each."""
    begin = now - recent_days * DAY
    first = min((job["submit_time"] for job in jobs if job["submit_time"] is not None), default=now)
    known_days = min(reference_days, max(-int((first - begin) // DAY), 0))
    windows = [(begin, now, recent_days), (begin - known_days * DAY, begin, known_days)]
    rows = []
    for aspect, statistic in wanted:
        samples, counts, lacking = [], [], []
        for after, end, days in windows:
            inside = [job for job in jobs if job["submit_time"] is not None and after < job["submit_time"] <= end]
            said = [(job, ASPECTS[aspect](job)) for job in inside]
            known = [(job, value) for job, value in said if value is not None]
            counts.append(len(known))
            lacking.append(len(said) - len(known))
            sample: list[Any] = [value for _, value in known]
            if aspect in ("offered_load", "arrivals"):
                capacity = 1.0 if aspect == "arrivals" else (processors or math.nan) * DAY
                sample = [
                    math.fsum(value for job, value in known if int((end - job["submit_time"]) // DAY) == day) / capacity
                    for day in range(days)
                ]
            samples.append(sample)
        recent, reference = samples
        is_enough = (counts[0] >= needed or aspect == "arrivals") and counts[1] >= needed and known_days >= recent_days
        is_enough = is_enough and not (aspect == "offered_load" and processors is None)
        drift = naive_compare(statistic, recent, reference) if is_enough else None
        figures = [FIGURES[statistic](sample) if sample else None for sample in samples]
        rows.append((*figures, drift, *counts, *lacking))
    return rows
