"""Slow, obvious versions of what swftools does fast: the truth that tests compare with.

Plain Python, one job at a time, written from the documented rules and not from the code under test. Nothing here
is imported by the package.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

# ---------------------------------------------------------------- reading SWF

SWF_COLUMNS = {
    "job_number": (int, 2**63 - 1024),
    "submit_time": (float, 10**10),
    "wait_time": (float, 10**10),
    "run_time": (float, 10**10),
    "allocated_processors": (int, 2**31 - 1),
    "average_cpu_time": (float, 10**10),
    "used_memory": (float, 2**53),
    "requested_processors": (int, 2**31 - 1),
    "requested_time": (float, 10**10),
    "requested_memory": (float, 2**53),
    "status": (int, 2**63 - 1024),
    "user_id": (int, 2**63 - 1024),
    "group_id": (int, 2**63 - 1024),
    "executable_id": (int, 2**63 - 1024),
    "queue_id": (int, 2**63 - 1024),
    "partition_id": (int, 2**63 - 1024),
    "preceding_job_number": (int, 2**63 - 1024),
    "think_time": (float, 10**10),
}
"""The 18 fields in order: kind of number, and the largest."""

LONGEST_LINE = 1024 * 1024
MOST_FIELDS = 32


@dataclass
class NaiveJob:
    """A job line: its number in the file, its 18 values (None is missing), and the text behind them."""

    line_number: int
    values: list[int | float | None]
    extra: str | None
    points: list[tuple[float, float]] | None = None


@dataclass
class NaiveLog:
    """A log as ``naive_read_swf`` reads it."""

    jobs: list[NaiveJob] = field(default_factory=list)
    quarantine: list[tuple[int, str]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


def naive_read_swf(text: bytes, *, utility: bool = False) -> NaiveLog:
    """Read a log's text: jobs, rejected lines with their numbers and text, and comments.

    Parameters
    ----------
    text : bytes
        The decompressed file.
    utility : bool
        Whether lines end in utility tuples.
    """
    log = NaiveLog()
    if text.startswith(b"\xef\xbb\xbf"):
        text = text[3:]
    lines = text.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip(b"\r")
        if len(raw) >= LONGEST_LINE:
            log.quarantine.append((number, raw[:65536].rstrip(b"\r").decode("utf-8", "backslashreplace")))
        elif b"\r" not in line and line.lstrip(b" \t").startswith(b";"):
            log.comments.append(_naive_comment(line))
        elif line.strip(b" \t"):
            job = _naive_job(number, line, utility)
            if job is None:
                log.quarantine.append((number, line.decode("utf-8", "backslashreplace")))
            else:
                log.jobs.append(job)
    return log


def _naive_comment(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _naive_job(number: int, line: bytes, utility: bool) -> NaiveJob | None:
    if any(byte < 32 and byte != 9 for byte in line):
        return None
    words = line.split(maxsplit=18)
    if len(words) < 18:
        return None
    values: list[int | float | None] = []
    for name, word in zip(SWF_COLUMNS, words, strict=False):
        try:
            values.append(naive_value(name, word.decode("ascii")))
        except ValueError:
            return None
    extra = words[18].rstrip(b" \t") if len(words) > 18 else b""
    if not utility and len(line.split()) > MOST_FIELDS:
        return None
    try:
        job = NaiveJob(number, values, extra.decode("utf-8") or None)
    except UnicodeDecodeError:
        return None
    if utility and job.extra:
        try:
            job.points = naive_points(job.extra)
        except ValueError:
            return None
    return job


def naive_value(name: str, word: str) -> int | float | None:
    """Return the value of a field, None if missing; raise ValueError if it cannot be one."""
    kind, largest = SWF_COLUMNS[name]
    exponent = word.lower().partition("e")[2].lstrip("+-")
    if set(word) - set("0123456789+-.eE") or len(word) > 400 or len(exponent) > 4:
        raise ValueError(word)
    value: int | float | Fraction = float(word) if kind is float else Fraction(word)
    if abs(value) > largest or (value < 0 and value != -1 and name != "status"):
        raise ValueError(word)
    if isinstance(value, Fraction):
        if value.denominator != 1:
            raise ValueError(word)
        value = int(value)
    return None if value == -1 else value


def naive_points(text: str) -> list[tuple[float, float]]:
    """Return the points of a utility function; raise ValueError if it breaks the form."""
    if set(text) - set("0123456789+-.eE \t"):
        raise ValueError(text)
    numbers = [float(word) for word in text.split()]
    if len(numbers) % 2 or len(numbers) < 4:
        raise ValueError(text)
    points = list(zip(numbers[0::2], numbers[1::2], strict=True))
    if points[0][0] != 0:
        raise ValueError(text)
    for (time, value), (later, lower) in itertools.pairwise(points):
        if not (time < later < float("inf") and float("inf") > value >= lower >= 0):
            raise ValueError(text)
    return points


# ---------------------------------------------------------------- utility functions


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
