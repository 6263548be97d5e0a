# SPDX-License-Identifier: BSD-3-Clause
"""Answers in words, as people say them to one another."""

from __future__ import annotations

import math

from swftools.live import ToldCounts
from swftools.output.amounts import percent
from swftools.qbets import WaitAnswer

USUAL, MOST = 0.5, 0.9
"""Quantiles that are told in words."""

REASONS = {
    "training": "too few waits of such jobs are known yet",
    "too-few-waits": "too few waits of such jobs are known for these quantiles",
    "unavailable": "jobs came, and none has started for longer than usual: the machine seems to be down",
    "not-kept": "what it was told is not kept",
}


def spoken(seconds: float) -> str:
    """Return a time in the two largest units that matter, rounded up, so that what is promised is not shortened.

    Examples
    --------
    >>> [spoken(each) for each in (0, 45, 61, 2100, 9600, 86_399, 90_000, 200_000.5)]
    ['0 s', '45 s', '2 min', '35 min', '2 h 40 min', '1 d', '1 d 1 h', '2 d 8 h']
    """
    if seconds <= 60:
        return f"{math.ceil(seconds)} s"
    if seconds <= 86_400:
        minutes = math.ceil(seconds / 60)
        parts = (minutes // 1440, "d"), (minutes // 60 % 24, "h"), (minutes % 60, "min")
    else:
        hours = math.ceil(seconds / 3600)
        parts = (hours // 24, "d"), (hours % 24, "h"), (0, "min")
    return " ".join(f"{count:,} {unit}" for count, unit in parts if count)


def share(quantile: float) -> str:
    """Return a share of jobs.

    Examples
    --------
    >>> [share(each) for each in (0.9, 0.5, 0.95, 0.999)]
    ['9 of 10', '5 of 10', '95 of 100', '999 of 1,000']
    """
    for whole in (10, 100, 1000):
        part = quantile * whole
        if math.isclose(part, round(part)):
            return f"{round(part)} of {whole:,}"
    return percent(quantile, digits=2)


def in_words(answer: WaitAnswer, kept: ToldCounts, quantile: float) -> str:
    """Return an answer as a sentence; ``quantile`` is that of what was kept, or not."""
    if answer.no_prediction is not None:
        return f"No prediction: {REASONS.get(answer.no_prediction, answer.no_prediction)}."
    bounds = {each.quantile: each.seconds for each in answer.bounds if each.seconds is not None}
    if not bounds:
        return f"No prediction: {REASONS['too-few-waits']}."
    most = MOST if MOST in bounds else max(bounds)
    parts = [f"{share(most)} such jobs start within {spoken(bounds[most])}"]
    if USUAL in bounds and most != USUAL:
        parts.append(f"usually within {spoken(bounds[USUAL])}")
    if answer.deadline is not None:
        parts.append(f"{percent(answer.deadline.share)} start within {spoken(answer.deadline.seconds)}, as you asked")
    if not math.isnan(kept.share):
        known = kept.kept + kept.broken
        parts.append(
            f"over the last month {percent(kept.share)} of {known:,} such answers were kept, where {percent(quantile)} "
            "are meant"
        )
    return "; ".join(parts) + "."
