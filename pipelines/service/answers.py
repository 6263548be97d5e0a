# SPDX-License-Identifier: BSD-3-Clause
"""What a service answers, as JSON holds it, and in words."""

from __future__ import annotations

import math
from typing import Any

from pipelines.service.clusters import Cluster
from pipelines.service.questions import Question, Refusal
from swftools.errors import ParameterError
from swftools.live import ToldCounts
from swftools.output.amounts import duration, percent
from swftools.qbets import WaitAnswer

MONTH = 30.0
"""Days of which it is told how often answers were kept."""

USUAL, MOST = 0.5, 0.9
"""Quantiles that are told in words."""

REASONS = {
    "training": "too few waits of such jobs are known yet",
    "too-few-waits": "too few waits of such jobs are known for these quantiles",
    "unavailable": "jobs came, and none has started for longer than usual: the machine seems to be down",
}


def state_of(cluster: Cluster) -> dict[str, Any]:
    """Return how old what is known is."""
    return {
        "cluster": cluster.name,
        "as_of": cluster.date(cluster.heard_at),
        "as_of_seconds": _finite(cluster.heard_at),
        "age_seconds": _finite(cluster.age),
    }


def about_cluster(cluster: Cluster) -> dict[str, Any]:
    """Return what a cluster is, and what can be asked of it."""
    chosen = cluster.predictor.parameters
    return {
        **state_of(cluster),
        "is_stale": cluster.is_stale,
        "processors": cluster.machine.processors,
        "method": cluster.predictor.name,
        "by": list(cluster.predictor.by),
        "told_apart_by": chosen.explanatory,
        "quantile": chosen.quantile,
        "confidence": chosen.confidence,
        "queues": list(cluster.groups().values()),
        "waiting": cluster.waiting,
        "running": cluster.running,
    }


def wait_of(cluster: Cluster, question: Question) -> dict[str, Any]:
    """Return what a job is told.

    Raises
    ------
    Refusal
        What is known is too old; or something that is needed is missing.
    """
    if cluster.is_stale:
        raise Refusal(503, f"{cluster.silence}: there is no answer until then")
    answer = told(cluster, question)
    kept = cluster.ledger.counts(cluster.now, MONTH, answer.group)
    return {
        **state_of(cluster),
        "queue": cluster.groups().get(answer.group, answer.group),
        "processors": question.processors,
        "requested_time": question.requested_time,
        "method": answer.method,
        "bounds": [
            {"quantile": each.quantile, "confidence": each.confidence, "seconds": each.seconds}
            for each in answer.bounds
        ],
        "within": None
        if answer.deadline is None
        else {
            "seconds": answer.deadline.seconds,
            "share": answer.deadline.share,
            "confidence": answer.deadline.confidence,
        },
        "waits": answer.waits,
        "no_prediction": answer.no_prediction,
        "accuracy": accuracy(kept),
        "in_words": in_words(answer, kept, cluster.predictor.parameters.quantile),
    }


def told(cluster: Cluster, question: Question) -> WaitAnswer:
    """Return the answer of the predictor."""
    try:
        return cluster.answer(question.group, **question.asked)
    except ParameterError as error:
        raise Refusal(400, str(error)) from error


def queues_of(cluster: Cluster) -> list[dict[str, Any]]:
    """Return a row for each queue: who waits, what was kept in the last month, waits that are known."""
    waiting = cluster.live.waiting["group"].value_counts()
    return [
        {
            "queue": name,
            "waiting": int(waiting.get(label, 0)),
            "waits": cluster.live.waits(label),
            "accuracy": accuracy(cluster.ledger.counts(cluster.now, MONTH, label)),
        }
        for label, name in cluster.groups().items()
    ]


def accuracy(counts: ToldCounts) -> dict[str, Any]:
    """Return what came of what was told; null where nothing is known."""
    return {**counts._asdict(), "share": _finite(counts.share), "days": MONTH}


def in_words(answer: WaitAnswer, kept: ToldCounts, quantile: float) -> str:
    """Return an answer as a sentence; ``quantile`` is that of what was kept, or not."""
    if answer.no_prediction is not None:
        return f"No prediction: {REASONS.get(answer.no_prediction, answer.no_prediction)}."
    bounds = {each.quantile: each.seconds for each in answer.bounds if each.seconds is not None}
    if not bounds:
        return f"No prediction: {REASONS['too-few-waits']}."
    most = MOST if MOST in bounds else max(bounds)
    parts = [f"{percent(most)} of such jobs start within {duration(bounds[most])}"]
    if USUAL in bounds and most != USUAL:
        parts.append(f"half of them within {duration(bounds[USUAL])}")
    if answer.deadline is not None:
        parts.append(f"{percent(answer.deadline.share)} start within {duration(answer.deadline.seconds)}, as you asked")
    if not math.isnan(kept.share):
        known = kept.kept + kept.broken
        parts.append(
            f"over the last month {percent(kept.share)} of {known:,} such jobs started within what they were told at "
            f"{percent(quantile)}"
        )
    return "; ".join(parts) + "."


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
