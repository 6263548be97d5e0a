# SPDX-License-Identifier: BSD-3-Clause
"""Slow, obvious utility functions: their value, their faults, and the model that draws them.

Plain Python, one job at a time, written from the documented rules and not from the code under test. Nothing here
is imported by the package.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def naive_utility(points: list[tuple[float, float]], time: float) -> float:
    """Return the value of a piecewise-linear utility function at a time; NaN for no function or no time."""
    if not points or time != time:  # noqa: PLR0124 (NaN is the number that is not itself)
        return float("nan")
    for (start, high), (end, low) in itertools.pairwise(points):
        if start <= time < end:
            return high - (high - low) * (time - start) / (end - start)
    last_time, last_value = points[-1]
    return last_value if time == last_time else 0.0


def naive_fault(points: list[tuple[float, float]]) -> str | None:
    """Return what is wrong with a utility function, None if nothing is or there is none."""
    if not points:
        return None
    if len(points) == 1:
        return "has only one point; at least two are needed"
    for place, (time, value) in enumerate(points):
        if not (abs(time) < float("inf") and abs(value) < float("inf")):
            return "has a time or value that is not a finite number"
        if place == 0 and time != 0:
            return "does not begin at time 0"
        if place > 0 and time <= points[place - 1][0]:
            return "has times that do not increase"
        if place > 0 and value > points[place - 1][1]:
            return "has values that increase"
        if value < 0:
            return "has a negative value"
    return None


def naive_generated(
    job: Mapping[str, Any], parameters: Mapping[str, Any]
) -> tuple[int, str, list[tuple[float, float]]]:
    """Return priority rank, kind of decay and points of a job's synthetic utility function (Lee 2009, section 2.6).

    Parameters
    ----------
    job : mapping
        The job's SWF columns, None for missing, and its ``job_occurrence``.
    parameters : mapping
        Every parameter of the model by name.
    """
    ranks = parameters["queue_ranks"]
    count = max(ranks.values(), default=0) + 1
    lowest = count - 1 if parameters["default_rank"] is None else parameters["default_rank"]
    rank = ranks.get(job["queue_id"], lowest)

    wait, run = job["wait_time"] or 0.0, job["run_time"] or 0.0
    basis = wait if parameters["deadline_basis"] == "wait" else wait + run
    deadline = max(parameters["deadline_factor"] * basis, parameters["minimum_deadline"])
    width = job["allocated_processors"] or job["requested_processors"] or 1
    minutes = (job["requested_time"] or run or 60.0) / 60.0

    step = int.from_bytes(hashlib.blake2b(b"utility", digest_size=8).digest(), "little")
    number = 2**64 - 1 if job["job_number"] is None else job["job_number"]
    key = np.array([parameters["seed"], step], dtype=np.uint64)
    counter = np.array([0, number, job["job_occurrence"], 0], dtype=np.uint64)
    uniform = np.random.Generator(np.random.Philox(key=key, counter=counter)).random

    bin_width = parameters["globmax"] / count
    start = 0.0
    while start <= 0:
        radius = math.sqrt(-2 * math.log(1 - uniform()))
        normal = radius * math.cos(2 * math.pi * uniform())
        start = (count - 1 - rank + 0.5) * bin_width + parameters["start_value_sd"] * bin_width * normal
    start *= width * minutes

    kinds = ["linear", "exponential", "step"]
    shares = [parameters["decay_shares"][kind] for kind in kinds]
    draw = uniform() * sum(shares)
    kind = next(name for name, most in zip(kinds, itertools.accumulate(shares), strict=True) if draw < most)
    if kind == "step":
        gap = max(parameters["jump"], 1e-12 * deadline)
        drop = gap + (deadline - 3 * gap) * uniform()
        low = start * uniform()
        return rank, kind, [(0.0, start), (drop, start), (drop + gap, low), (deadline, low)]
    times = sorted(deadline * uniform() for _ in range(parameters["intermediate_points"]))
    values = [start]
    for _ in times:
        values.append((start if kind == "linear" else values[-1]) * uniform())
    return rank, kind, list(zip([0.0, *times, deadline], [*sorted(values, reverse=True), 0.0], strict=True))
