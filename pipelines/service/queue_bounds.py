# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of a queue as it is now, for each kind of jobs that are told apart there."""

from __future__ import annotations

import math
from typing import Any

from pipelines.service.clusters import Cluster
from pipelines.service.words import MOST, USUAL, spoken
from swftools.errors import ParameterError
from swftools.qbets import WaitAnswer

MOST_KINDS = 20
"""Kinds of jobs that are told."""


def bounds_of(cluster: Cluster, label: str) -> list[dict[str, Any]]:
    """Return a row for each kind of jobs, by what they ask for; none where what is known is too old, or nothing is."""
    if cluster.is_stale:
        return []
    rows: list[dict[str, Any]] = []
    above = 0.0
    while len(rows) < MOST_KINDS:
        answer = _answer(cluster, label, above)
        if answer is None:
            break
        rows.append(_row(answer))
        if answer.up_to is None:
            break
        above = math.nextafter(answer.up_to, math.inf)
    return rows


def _answer(cluster: Cluster, label: str, least: float) -> WaitAnswer | None:
    """Return what a job is told that asks for so much, and no less; None where that cannot be asked."""
    which = cluster.predictor.parameters.explanatory
    asked: dict[str, Any] = {"requested_time": least}
    if which == "requested_processors":
        asked = {"processors": max(math.ceil(least), 1)}
    elif which == "requested_work":
        asked["processors"] = 1
    try:
        return cluster.answer(label, quantiles=(USUAL, MOST), **asked)
    except ParameterError:
        return None


def _row(answer: WaitAnswer) -> dict[str, Any]:
    """Return what is shown of an answer."""
    seconds = {each.quantile: each.seconds for each in answer.bounds}
    return {
        "kind": _kind(answer),
        "usual": None if answer.no_prediction else seconds[USUAL],
        "most": None if answer.no_prediction else seconds[MOST],
        "confidence": next((each.confidence for each in answer.bounds), None),
        "waits": answer.waits,
        "no_prediction": answer.no_prediction,
    }


def _kind(answer: WaitAnswer) -> str:
    """Return which jobs are meant, in words."""
    if answer.clusters < 2:
        return "all jobs"

    def amount(value: float) -> str:
        if answer.explanatory == "requested_time":
            return spoken(value)
        unit = "processors" if answer.explanatory == "requested_processors" else "processor-seconds"
        return f"{value:,.0f} {unit}"

    parts = [f"more than {amount(answer.above)}"] if answer.above is not None else []
    parts += [f"up to {amount(answer.up_to)}"] if answer.up_to is not None else []
    return f"jobs that ask for {', '.join(parts)}"
