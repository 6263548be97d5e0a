# SPDX-License-Identifier: BSD-3-Clause
"""A slow, obvious Cirne-Berman model with the published constants: one job at a time, second by second."""

from __future__ import annotations

import json
import math
from fractions import Fraction

from tests.folders import REFERENCES
from tests.naive.lublin_feitelson import naive_gamma, naive_uniforms

REFERENCE = json.loads((REFERENCES / "cirne_berman_rigid.json").read_text(encoding="utf-8"))
CONSTANTS: dict[str, float] = REFERENCE["constants"]


def naive_uniform_log(u: float, name: str) -> float:
    """Return where the distribution function slope * log2(x) + offset is u."""
    return math.pow(2, (u - CONSTANTS[f"{name}_OFFSET"]) / CONSTANTS[f"{name}_SLOPE"])


def naive_job(number: int, processors: int, seed: int) -> tuple[int, int, int, bool]:
    """Return size, requested time, run time and whether it is cancelled of a job, counted from 0."""
    draws = naive_uniforms(seed, "cirne-berman/job", number)
    size = max(1, math.ceil(naive_uniform_log(next(draws), "SIZE")))
    if next(draws) < CONSTANTS["POWER_OF_TWO_PROBABILITY"]:
        powers = [2**k for k in range(32) if 2**k <= processors]
        size = min(powers, key=lambda power: abs(math.log2(power) - math.log2(size)))
    size = min(size, processors)
    requested = max(1, math.ceil(naive_uniform_log(next(draws), "REQUEST")))
    is_cancelled = next(draws) < CONSTANTS["CANCEL_PROBABILITY"]
    accuracy = CONSTANTS["ACCURACY_SCALE"] * naive_gamma(draws, CONSTANTS["ACCURACY_SHAPE"])
    accuracy = min(max(accuracy, CONSTANTS["LEAST_ACCURACY"]), 1.0)
    return size, requested, math.ceil(accuracy * requested), is_cancelled


def naive_submissions(count: int, processors: int, site: str, phase: float, start: int, factor: float) -> list[int]:
    """Return submissions, by adding each second's rate, exactly, and taking off what a job takes."""
    published, one = REFERENCE["sites"][site], Fraction(CONSTANTS["RATE_PER_JOB"])
    scale = Fraction(processors, published["processors"]) * Fraction(factor)
    rates = []
    for second in range(86_400):
        x, rate = second / 86_400 - 0.5, 0.0
        for coefficient in published["coefficients"]:
            rate = rate * x + coefficient
        rates.append(int(max(rate, 0.0) * 2.0**60))
    job = math.floor(one / scale * 2**60)
    together, submissions, second = math.floor(phase * job), list[int](), 0
    while len(submissions) < count:
        together += rates[(start + second) % 86_400]
        while together >= job and len(submissions) < count:
            submissions.append(second)
            together -= job
        second += 1
    return submissions


def naive_phase(seed: int) -> float:
    """Return the share of a job that has come together at second 0."""
    return next(naive_uniforms(seed, "cirne-berman/phase", 0))
