# SPDX-License-Identifier: BSD-3-Clause
"""Speedup curves and moldability once more, in plain Python, one job at a time, by search where a formula is closed.

The constants are those of ``reference/cirne_berman.json``, not those of the package.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.folders import REFERENCES

REFERENCE: dict[str, Any] = json.loads((REFERENCES / "cirne_berman.json").read_text("utf-8"))
CONSTANTS = REFERENCE["constants"]


def naive_downey(n: float, a: float, sigma: float) -> float:
    """Return Downey's speedup by the formulas as published."""
    if sigma <= 1:
        if n <= a:
            return a * n / (a + sigma * (n - 1) / 2)
        return a * n / (sigma * (a - 1 / 2) + n * (1 - sigma / 2)) if n <= 2 * a - 1 else a
    return n * a * (sigma + 1) / (sigma * (n + a - 1) + a) if n <= a + a * sigma - sigma else a


def naive_downey_by_profile(n: float, a: float, sigma: float) -> float:
    """Return Downey's speedup from his profiles: shares of time at a parallelism, on unlimited processors.

    Work of parallelism p, done in time t there, takes t p / n on n < p processors; the low-variance model lets the
    middle part of the profile fall linearly, in sum, from 2A - 1 to 1, so that only n <= A follows this way.
    """
    if sigma <= 1:
        parts = [(sigma / 2, 1.0), (1 - sigma, a), (sigma / 2, 2 * a - 1)]
    else:
        parts = [(sigma, 1.0), (1.0, a + a * sigma - sigma)]
    work = sum(time * parallelism for time, parallelism in parts)
    return work / sum(time * max(parallelism / n, 1) for time, parallelism in parts)


def naive_simple(n: float, optimal: float) -> float:
    """Return the simple curve's speedup by interpolation in a table of efficiencies; NaN below its range."""
    points = [(float(x) * optimal, float(x) * optimal * e) for x, e in CONSTANTS["simple_efficiencies"].items()]
    if n < points[0][0]:
        return math.nan
    return float(np.interp(n, *zip(*points, strict=True)))


def naive_working_set(widths: list[int], a: float, sigma: float) -> int:
    """Return the first width with the least run time / efficiency."""
    return min(widths, key=lambda n: n / naive_downey(n, a, sigma) ** 2)


def naive_draws(seed: int, job: int, occurrence: int) -> Iterator[float]:
    """Yield the uniform numbers of a job, from numpy's own generator."""
    step = int.from_bytes(hashlib.blake2b(b"speedup", digest_size=8).digest(), "little")
    key = np.array([seed, step], dtype=np.uint64)
    counter = np.array([0, job % 2**64, occurrence, 0], dtype=np.uint64)
    uniform = np.random.Generator(np.random.Philox(key=key, counter=counter)).random
    while True:
        yield uniform()


def uniform_log(u: float, slope: float, offset: float) -> float:
    """Return the number at which the distribution function slope * log2(x) + offset is u."""
    return float(2 ** ((u - offset) / slope))


def is_allowed(kind: str, n: int) -> bool:
    """Whether a constraint allows a width."""
    return {
        "power-of-two": n.bit_count() == 1,
        "square": math.isqrt(n) ** 2 == n,
        "even": n % 2 == 0,
        "multiple-of-4": n % 4 == 0,
        "any": True,
    }[kind]


def naive_curve(draw: Iterator[float], parameters: dict[str, Any], machine: int) -> tuple[int, float, float, int]:
    """Return least width, A, sigma and largest useful width of a job with Downey's curve."""
    if parameters["model"] == "downey":
        a = (parameters["max_parallelism"] or machine) ** next(draw)
        sigma, least = next(draw) * CONSTANTS["downey_sigma"][1], 1
    else:
        least = max(1, math.ceil(uniform_log(next(draw), **CONSTANTS["least_width"])))
        normal = math.sqrt(-2 * math.log(1 - next(draw))) * math.cos(2 * math.pi * next(draw))
        sigma = CONSTANTS["sigma"]["mean"] + CONSTANTS["sigma"]["sd"] * normal
        sigma = max(0.0, sigma) * parameters["sigma_factor"]
        joint = CONSTANTS["a"]
        slope = joint["slope_log"] * math.log2(least) + joint["slope"]
        offset = joint["offset_log"] * math.log2(least) + joint["offset"]
        a = max(1.0, uniform_log(next(draw), slope, offset))
    most = math.ceil(2 * a - 1 if sigma <= 1 else a + a * sigma - sigma)
    return min(least, most), a, sigma, most


def naive_moldability(job: dict[str, Any], parameters: dict[str, Any], machine: int) -> dict[str, Any]:
    """Return the columns of a job with job_number, job_occurrence, width and run_time; None is missing."""
    width, run_time = job["width"], job["run_time"]
    row: dict[str, Any] = {"is_moldable": False, "speedup_curve": None, "downey_a": None, "downey_sigma": None}
    row |= {"sequential_run_time": None, "minimum_processors": width, "optimal_processors": width}
    row |= {"maximum_processors": width, "processor_constraint": None, "processor_choices": None}
    if width is None:
        return row
    draw = naive_draws(parameters["seed"], job["job_number"], job["job_occurrence"])
    is_moldable, survey = next(draw) < parameters["moldable_share"], next(draw)
    kind = parameters["constraint"]
    if kind == "p2bias":
        kind = "power-of-two" if width.bit_count() == 1 else "any"
    if kind == "survey":
        for name, share in CONSTANTS["survey_shares"].items():
            if survey < share:
                kind = name
                break
            survey -= share
    if not is_moldable or kind == "rigid":
        return row | {"processor_constraint": "rigid", "processor_choices": [width]}

    row |= {"is_moldable": True, "processor_constraint": kind}
    if parameters["model"] == "simple":
        least, most = math.ceil(width / 2), max(min(2 * width, machine), width)
        row["speedup_curve"], at_width = "simple", naive_simple(width, width)
    else:
        least, a, sigma, most = naive_curve(draw, parameters, machine)
        least, most = min(least, width), max(min(most, machine), width)
        row |= {"speedup_curve": "downey", "downey_a": a, "downey_sigma": sigma}
        at_width = naive_downey(width, a, sigma)
    allowed = [n for n in range(least, most + 1) if n == width or is_allowed(kind, n)]
    if parameters["model"] != "simple":
        row["optimal_processors"] = naive_working_set(allowed, a, sigma)
    if run_time is not None and run_time >= 0:
        row["sequential_run_time"] = run_time * at_width
    count = parameters["choices"] or max(2, math.ceil(uniform_log(next(draw), **CONSTANTS["choices"])))
    others = [n for n in allowed if n != width]
    taken: set[int] = set()
    for top in range(len(others) - min(count - 1, len(others)), len(others)):  # Floyd's algorithm
        pick = math.floor(next(draw) * (top + 1))
        taken.add(top if pick in taken else pick)
    choices = sorted([width, *(others[k] for k in taken)])
    return row | {"minimum_processors": least, "maximum_processors": most, "processor_choices": choices}
