# SPDX-License-Identifier: BSD-3-Clause
"""Slow, obvious version of the model of user estimates, in plain Python, with the constants of the reference file."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np

from tests.folders import REFERENCES

REFERENCE: dict[str, Any] = json.loads((REFERENCES / "tsafrir_estimates.json").read_text(encoding="utf-8"))
CONSTANTS: dict[str, Any] = REFERENCE["constants"]


def nearest_integer(value: float) -> int:
    """Round halves up."""
    below = math.floor(value)
    return below + 1 if value - below >= 0.5 else below


def naive_distinct(jobs: int, form: str) -> int:
    """Return the number of distinct estimates."""
    if form == "power-law":
        return max(1, nearest_integer(CONSTANTS["DISTINCT_FACTOR"] * math.pow(jobs, CONSTANTS["DISTINCT_POWER"])))
    table = CONSTANTS["DISTINCT_TABLE"]
    for (n0, k0), (n1, k1) in itertools.pairwise(table):
        if n0 <= jobs <= n1:
            return max(1, nearest_integer(k0 + (k1 - k0) * (jobs - n0) / (n1 - n0)))
    return int(table[-1][1])


def naive_head_times(maximum: float) -> list[float]:
    """Return the maximum, then shorter times ascending, 20 in all where there are as many."""
    rest = [time for time in CONSTANTS["COMMON_TIMES"] if time < maximum]
    for unit in CONSTANTS["ROUND_UNITS"]:
        multiple = math.floor(maximum / unit) * unit
        while multiple > 0 and len(rest) < 19:
            if multiple != maximum and multiple not in rest:
                rest.append(multiple)
            multiple -= unit
    return [maximum, *sorted(rest)]


def naive_sizes() -> list[float]:
    """Return the % of jobs by popularity rank; place 0 is empty."""
    c = CONSTANTS
    sizes = [c["HEAD_FACTOR"] * math.exp(-c["HEAD_DECAY"] * r) + c["HEAD_CONSTANT"] for r in range(2, 21)]
    return [math.nan, c["HEAD_PERCENT"] - sum(sizes), *sizes]


def naive_ranks(count: int, fixed: dict[int, int], rng: np.random.Generator) -> list[int]:
    """Return the popularity rank of each of the first times; ``fixed`` has those known beforehand, by place."""
    rows = CONSTANTS["POPULARITY_TABLE"]
    taken = list(fixed.values())
    ranks: list[int] = []
    for t in range(count):
        seen = [rank for row in rows[: t + 1] for rank in row]
        later = [rank for row in rows[t + 1 :] for rank in row]
        pool = [rank for rank in seen if rank not in taken]
        due = [rank for rank in range(1, 21) if rank not in taken and rank not in later]
        if t in fixed:
            rank = fixed[t]
        elif t == 0:
            rank = 1
        elif due:
            rank = min(due)
        elif not pool:
            rank = min(rank for rank in range(1, 21) if rank not in taken)
        else:
            first, second = rng.integers(0, len(pool), 2)
            rank = min(pool[first], pool[second])
        taken.append(rank)
        ranks.append(rank)
    return ranks


def naive_tail_times(wanted: int, length: int, maximum: float, head: list[float]) -> list[float]:
    """Return the times of the tail that find a place."""
    a = 1 + CONSTANTS["SHAPE_FACTOR"] * math.pow(wanted, -CONSTANTS["SHAPE_POWER"])
    found: list[float] = []
    for i in range(1, length + 1):
        y = (a - 1) * (i / length) / (a - i / length)
        for shift in CONSTANTS["TAIL_SHIFTS"]:
            time = 60 * nearest_integer(y * maximum / 60) + shift
            if 0 < time < maximum and time not in head and time not in found:
                found.append(time)
                break
    return found


def place_bins(times: list[float], bins: dict[float, int], jobs: int) -> tuple[list[float], dict[float, int]]:
    """Return the head's times with the user's in their places, and the popularity rank of these."""
    maximum, sizes, ranks = times[0], naive_sizes(), {}
    for time in sorted(bins):
        if time == maximum:
            continue
        if time not in times:
            replaceable = [old for old in times[1:] if old not in bins]
            uncommon = [old for old in replaceable if old not in CONSTANTS["COMMON_TIMES"]]
            _, old = min((abs(old - time), old) for old in uncommon or replaceable)
            times = [time if known == old else known for known in times]
        share = 100 * bins[time] / jobs
        _, ranks[time] = min((abs(sizes[rank] - share), rank) for rank in range(2, 21) if rank not in ranks.values())
    return [maximum, *sorted(times[1:])], ranks


def correct(bins: list[list[Any]], jobs: int) -> None:
    """Change the counts of bins (time, count, may change) until they sum up to the jobs."""
    free = sorted((entry for entry in bins if entry[2]), key=lambda entry: -entry[1])
    off = jobs - sum(entry[1] for entry in bins)
    direction, left, whole = (1 if off > 0 else -1), abs(off), sum(entry[1] for entry in free)
    for entry, share in [(entry, math.ceil(left * entry[1] / whole)) for entry in free]:
        for _ in range(share):
            if left and entry[1] + direction >= 1:
                entry[1] += direction
                left -= 1
    for entry in free:
        if left and entry[1] + direction >= 1:
            entry[1] += direction
            left -= 1
    for least, entries in ((1, free), (0, free[::-1])):
        for entry in entries:
            while left and entry[1] > least:
                entry[1] -= 1
                left -= 1


def naive_distribution(
    jobs: int,
    maximum: float,
    rng: np.random.Generator,
    bins: dict[float, int] | None = None,
    form: str = "table",
) -> list[tuple[float, int]]:
    """Return (time, jobs), ascending."""
    if jobs == 0:
        return []
    bins = bins or {}
    wanted = naive_distinct(jobs, form)
    times, known_ranks = place_bins(naive_head_times(maximum), bins, jobs)
    fixed = {times.index(time): rank for time, rank in known_ranks.items()}
    ranks = naive_ranks(len(times), fixed, rng)
    musts = [k for k in range(len(times)) if k == 0 or times[k] in bins]
    others = sorted((k for k in range(len(times)) if k not in musts), key=lambda k: ranks[k])
    head = sorted((musts + others[: max(0, wanted - len(musts))]), key=lambda k: ranks[k])
    head_times = [times[k] for k in head]
    tail_times = naive_tail_times(wanted, wanted - len(head), maximum, head_times)
    total = CONSTANTS["HEAD_PERCENT"] if tail_times else 100
    rest = total - sum(100 * count / jobs for count in bins.values())
    sizes = naive_sizes()
    weight = sum(sizes[ranks[k]] for k in head if times[k] not in bins)
    out: list[list[Any]] = []
    for k in head:
        if times[k] in bins:
            out.append([times[k], bins[times[k]], False])
        else:
            out.append([times[k], max(1, nearest_integer(sizes[ranks[k]] * rest / weight * jobs / 100)), True])
    tail_sizes = [CONSTANTS["TAIL_FACTOR"] * math.pow(21 + k, -CONSTANTS["TAIL_POWER"]) for k in range(len(tail_times))]
    order = rng.permutation(len(tail_times))
    for k, size in enumerate(tail_sizes):
        percent = size * (100 - CONSTANTS["HEAD_PERCENT"]) / sum(tail_sizes)
        out.append([tail_times[order[k]], max(1, nearest_integer(percent * jobs / 100)), True])
    correct(out, jobs)
    return sorted((float(time), count) for time, count, _ in out if count)


def naive_assignment(run_times: list[float], estimates: list[float], draws: list[float]) -> list[float]:
    """Return the estimates of jobs of descending run times; ``estimates`` descend, none is too short at its place."""
    hand = list(estimates)
    for j, run_time in enumerate(run_times):
        last = max(k for k in range(len(estimates)) if estimates[k] >= run_time)
        k = j + math.floor(draws[j] * (last - j + 1))
        hand[j], hand[k] = hand[k], hand[j]
    return hand
