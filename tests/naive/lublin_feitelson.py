# SPDX-License-Identifier: BSD-3-Clause
"""A slow, obvious Lublin-Feitelson model: plain Python, one job at a time, the clock walking bucket by bucket.

Written from the published description and the documented keys of the draws, not from the code under test.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping

import numpy as np

Type = Mapping[str, float]
"""Parameters of a type of jobs by the names of the paper."""

HALF_HOUR = 1800.0


def naive_uniforms(seed: int, step: str, number: int) -> Iterator[float]:
    """Yield the uniform numbers of the stream of a job or an arrival, by numpy's Philox."""
    key = int.from_bytes(hashlib.blake2b(step.encode(), digest_size=8).digest(), "little")
    philox = np.random.Philox(
        key=np.array([seed, key], dtype=np.uint64), counter=np.array([0, number, 0, 0], dtype=np.uint64)
    )
    generator = np.random.Generator(philox)
    while True:
        yield float(generator.random())


def naive_gamma(uniforms: Iterator[float], shape: float) -> float:
    """Draw a gamma number of scale 1 (Marsaglia and Tsang 2000), with normal numbers by Box and Muller."""
    if shape < 1:
        larger = naive_gamma(uniforms, shape + 1)
        return larger * math.pow(1 - next(uniforms), 1 / shape)
    d = shape - 1 / 3
    while True:
        x = math.sqrt(-2 * math.log(1 - next(uniforms))) * math.cos(2 * math.pi * next(uniforms))
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0 and math.log(1 - next(uniforms)) < x * x / 2 + d - d * v + d * math.log(v):
            return d * v


def naive_gamma_distribution(x: float, shape: float) -> float:
    """Return the probability that a gamma number of scale 1 is at most x, by the series of the incomplete gamma."""
    term = total = math.exp(shape * math.log(x) - x - math.lgamma(shape + 1))
    n = 0
    while term > 1e-18 * total:
        n += 1
        term *= x / (shape + n)
        total += term
    return total


def naive_weights(shape: float, scale: float) -> list[float]:
    """Return the weights of the 48 half hours of a day, of mean 1: those of the density from half hour 11 to 58."""
    weights = [0.0] * 48
    for i in range(11, 59):
        upper, lower = (naive_gamma_distribution((i + side) / scale, shape) for side in (0.5, -0.5))
        weights[(i - 1) % 48] = upper - lower
    mean = sum(weights) / 48
    return [weight / mean for weight in weights]


def naive_arrivals(gaps: list[float], weights: list[float], start: float = 0.0) -> list[float]:
    """Return times since midnight of day 0 of arrivals with these gaps (s at an average time of day).

    A balance of points is carried: each gap adds to it, each half hour that passes takes its weight away, and what is
    left says how far into the present half hour the arrival is.
    """
    bucket, clock = 0, 0.0
    while clock + HALF_HOUR <= start:
        bucket, clock = (bucket + 1) % 48, clock + HALF_HOUR
    balance = weights[bucket] * (start - clock) / HALF_HOUR
    times = []
    for gap in gaps:
        balance += gap / HALF_HOUR
        while balance > weights[bucket]:
            balance -= weights[bucket]
            bucket, clock = (bucket + 1) % 48, clock + HALF_HOUR
        times.append(clock + HALF_HOUR * balance / weights[bucket])
    return times


def naive_gaps(count: int, name: str, values: Type, seed: int) -> list[float]:
    """Return the first times between arrivals of a type, s."""
    gaps = []
    for number in range(count):
        uniforms = naive_uniforms(seed, f"lublin-feitelson/arrival/{name}", number)
        g = math.inf
        while g > 13:
            g = values["barr"] * naive_gamma(uniforms, values["aarr"] * values["arar"])
        gaps.append(math.exp(g))
    return gaps


def naive_merged(streams: Mapping[str, list[float]], count: int) -> list[tuple[float, str]]:
    """Return the first arrivals of several streams: one pending arrival a type, the earlier is next.

    Of equal ones that of the type named first, interactive.
    """
    position = dict.fromkeys(streams, 0)
    merged = []
    for _ in range(count):
        pending = {name: times[position[name]] for name, times in streams.items()}
        name = min(pending, key=lambda each: pending[each])
        merged.append((pending[name], name))
        position[name] += 1
    return merged


def naive_job(number: int, name: str, values: Type, processors: int, seed: int) -> tuple[int, int]:
    """Return size and run time of a type's job, counted from 0."""
    uniforms = naive_uniforms(seed, f"lublin-feitelson/job/{name}", number)
    u = next(uniforms)
    size = 1
    if u > values["serial_probability"]:
        low, high = values["u_low"], values["u_med"]
        if next(uniforms) > values["u_prob"]:
            low, high = values["u_med"], values["u_hi"]
        x = low + (high - low) * next(uniforms)
        if u <= values["serial_probability"] + values["power_of_two_probability"]:
            x = math.floor(x + 0.5)
            while 2**x > processors:
                x -= 1
        size = max(1, min(math.floor(2**x + 0.5), processors))
    first = values["pa"] * size + values["pb"]
    g = math.inf
    while g > 12:
        a, b = (values["a1"], values["b1"]) if next(uniforms) <= first else (values["a2"], values["b2"])
        g = b * naive_gamma(uniforms, a)
    return size, math.floor(math.exp(g))


def naive_generate(
    count: int, types: Mapping[str, Type], processors: int, *, seed: int = 0, start_hour: int = 0
) -> list[tuple[str, float, int, int]]:
    """Return type, submission (s, not rounded), size and run time of each job; interactive is named before batch."""
    streams = {}
    for name, values in types.items():
        gaps, weights = naive_gaps(count, name, values, seed), naive_weights(values["anum"], values["bnum"])
        times = naive_arrivals(gaps, weights, 3600.0 * start_hour)
        streams[name] = [time - 3600.0 * start_hour for time in times]
    numbers = dict.fromkeys(types, 0)
    rows = []
    for time, name in naive_merged(streams, count):
        size, run_time = naive_job(numbers[name], name, types[name], processors, seed)
        numbers[name] += 1
        rows.append((name, time, size, run_time))
    return rows
