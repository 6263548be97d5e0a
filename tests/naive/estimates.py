# SPDX-License-Identifier: BSD-3-Clause
"""The study of estimates and their tightening, the slow obvious way: loops over jobs in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from swftools.keyed_random import step_key

Job = dict[str, Any]
"""A job by columns of SWF; None is missing."""


def naive_inaccuracy(jobs: list[Job], group: str) -> dict[Any, tuple[int, float, float, int]]:
    """Return of each group its jobs, the mean and median inaccuracy, and how many used all they asked for."""
    members: dict[Any, list[float]] = {}
    used_all: Counter[Any] = Counter()
    for job in studied(jobs):
        key = group_of(job, group)
        members.setdefault(key, []).append(abs(job["requested_time"] - job["run_time"]) / job["requested_time"])
        used_all[key] += job["run_time"] >= job["requested_time"]
    return {
        key: (len(all_of), math.fsum(all_of) / len(all_of), _median(all_of), used_all[key])
        for key, all_of in members.items()
    }


def studied(jobs: list[Job]) -> list[Job]:
    """Return the jobs whose request and run time are known, and that were not cancelled before they ran."""
    return [
        job
        for job in jobs
        if job["requested_time"] is not None
        and job["requested_time"] > 0
        and job["run_time"] is not None
        and job["run_time"] >= 0
        and not (job["status"] == 5 and job["run_time"] == 0)
    ]


def group_of(job: Job, group: str) -> Any:
    """Return what a job's group is called."""
    if group == "all":
        return "all"
    if group == "user":
        return "unknown" if job["user_id"] is None else str(job["user_id"])
    if group == "size":
        width = job["requested_processors"]
        if width is None:
            return "unknown"
        least = 1
        while 2 * least <= width:
            least *= 2
        return "1" if least == 1 else f"{least} to {2 * least - 1}"
    minutes = job["requested_time"] / 60
    for words, most in (
        ("up to 10 min", 10),
        ("10 min to 1 h", 60),
        ("1 h to 2 h", 120),
        ("2 h to 6 h", 360),
        ("6 h to 12 h", 720),
        ("12 h to 24 h", 1440),
    ):
        if minutes <= most:
            return words
    return "more than 24 h"


def _median(values: list[float]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def naive_used(jobs: list[Job]) -> list[int]:
    """Return how many jobs used each tenth of their request, exactly all, and more."""
    counts = [0] * 12
    for job in studied(jobs):
        used = job["run_time"] / job["requested_time"]
        counts[11 if used > 1 else 10 if used == 1 else max(n for n in range(10) if n / 10 <= used)] += 1
    return counts


def naive_tightened(
    requested: float | None,
    run_time: float | None,
    key: tuple[int, int, int],
    *,
    share: float,
    lean: float,
    unaware: float,
    shortest: float,
) -> float | None:
    """Return the tightened request of one job, drawn by numpy's own Philox; the key is seed, number and occurrence."""
    if not requested or requested <= 0:
        return None
    seed, number, occurrence = key
    words = np.array([seed, step_key("tightened-requests")], dtype=np.uint64)
    first, second, third = np.random.Generator(np.random.Philox(key=words, counter=[0, number, occurrence, 0])).random(
        3
    )
    if requested < shortest:
        return requested
    if run_time is None:
        return requested if first >= share else min(requested, math.ceil(requested * (1 - third * 0.9)))
    unused = min(max(1 - run_time / requested, 0), 1)
    if first >= share + lean * (unused - 0.61):
        return requested
    decrease = third * 0.9 if second < unaware else third * unused
    return min(requested, math.ceil(requested * (1 - decrease)))
