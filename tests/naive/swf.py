# SPDX-License-Identifier: BSD-3-Clause
"""A slow, obvious reader of SWF: the truth that tests compare the compiled one with.

Plain Python, one job at a time, written from the documented rules and not from the code under test. Nothing here
is imported by the package.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from fractions import Fraction

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
