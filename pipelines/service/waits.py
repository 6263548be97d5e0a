# SPDX-License-Identifier: BSD-3-Clause
"""How long a job would wait: at one cluster, and where first; and how long one that waits has to wait still."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.service.answers import accuracy, state_of
from pipelines.service.clusters import Cluster
from pipelines.service.limits import why_not
from pipelines.service.questions import Question, Refusal, check_used, number_of_processors, seconds_in
from pipelines.service.words import in_words
from swftools.errors import ParameterError
from swftools.parameters.as_text import read_entry, write_entry
from swftools.qbets import WaitAnswer, predict_wait
from swftools.qbets.live_state import OPTIONS
from swftools.qbets.saved_state import SavedState

MOST_GROUPS = 100
"""Of a cluster, that are compared: those of most waits."""

WHERE = 0.9
"""Quantile by which clusters are compared, where nobody says which."""


def wait_of(cluster: Cluster, question: Question) -> dict[str, Any]:
    """Return what a job is told.

    Raises
    ------
    Refusal
        What is known is too old; something that is needed is missing, or is not what the queue takes.
    """
    if cluster.is_stale:
        raise Refusal(503, f"{cluster.silence}: there is no answer until then")
    why = why_not(cluster, question.group, question.processors, question.requested_time)
    if why:
        raise Refusal(400, f"{why}: ask for less, or choose another queue")
    answer = told(cluster, question)
    kept = cluster.kept(answer.group)
    return {
        **state_of(cluster),
        "queue": cluster.groups().get(answer.group, answer.group),
        "processors": question.processors,
        "requested_time": question.requested_time,
        "at": None if question.at is None else cluster.date(question.at),
        "at_seconds": question.at,
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
    """Return the answer of the predictor, perhaps with another confidence of its bounds."""
    try:
        if question.confidence is None:
            return cluster.answer(question.group, **question.asked)
        state = with_confidence(cluster.live.state(), question.confidence)
        return predict_wait(state, group=question.group, **question.asked)
    except ParameterError as error:
        given = {"processors": question.processors, "requested_time": question.requested_time}
        used = OPTIONS[cluster.predictor.parameters.explanatory]
        for option, name, example in (("requested_time", "time", "4h"), ("processors", "processors", "64")):
            if option in used and given[option] is None:
                raise Refusal(400, f"say {name}, as {name}={example}: jobs are told apart by it", name) from error
        raise Refusal(400, str(error)) from error


def with_confidence(state: SavedState, confidence: float) -> SavedState:
    """Return a state whose bounds have another confidence; the waits that they rest on are the same.

    Raises
    ------
    Refusal
        The bounds have none.
    """
    name, given = read_entry(state.about["method"] or "")
    if "confidence" not in given:
        raise Refusal(400, f"confidence makes no difference here, so leave it out: bounds by {name} have none")
    other = copy.copy(state)
    other.about = {**state.about, "method": write_entry(name, {**given, "confidence": confidence})}
    return other


# ------------------------------------------------------------ where first


def where(clusters: Mapping[str, Cluster], values: Mapping[str, Any], quantile: float) -> dict[str, Any]:
    """Return what a job is told at each queue that takes it, the shortest bound first.

    Raises
    ------
    Refusal
        A value is none, or makes a difference nowhere, or no queue has that name.
    """
    width, time = number_of_processors(values), seconds_in(values, "time")
    check_used(clusters.values(), values, limits_matter=True)
    wanted = values.get("queue")
    rows = [row for cluster in clusters.values() for row in _rows(cluster, wanted, width, time, quantile)]
    if not rows and wanted is not None:
        raise Refusal(404, f"no cluster has a queue {wanted!r}; /api/v1/clusters lists them")
    rows.sort(key=lambda row: (row["seconds"] is None, row["seconds"] or 0.0))
    return {"quantile": quantile, "processors": width, "requested_time": time, "answers": rows}


def _rows(
    cluster: Cluster, wanted: str | None, width: int | None, time: float | None, quantile: float
) -> Sequence[dict[str, Any]]:
    """Return a row for each queue of a cluster."""
    named = {label: name for label, name in cluster.groups().items() if wanted in (None, name)}
    if len(named) > MOST_GROUPS:
        most = sorted(named, key=cluster.live.waits, reverse=True)[:MOST_GROUPS]
        named = {label: named[label] for label in most}
    return [
        {**state_of(cluster), "queue": name, **_row(cluster, label, width, time, quantile)}
        for label, name in named.items()
    ]


def _row(cluster: Cluster, label: str, width: int | None, time: float | None, quantile: float) -> dict[str, Any]:
    """Return what a job is told at a queue, or why nothing."""
    nothing = {"seconds": None, "confidence": None, "waits": None}
    if cluster.is_stale:
        return {**nothing, "no_prediction": "stale", "why": cluster.silence}
    why = why_not(cluster, label, width, time)
    if why:
        return {**nothing, "no_prediction": "does-not-fit", "why": why}
    try:
        answer = told(cluster, Question(label, width, time, None, (quantile,)))
    except Refusal as refusal:
        return {**nothing, "no_prediction": "more-needed", "why": refusal.told}
    (bound,) = answer.bounds
    if answer.no_prediction is not None:
        found = {**nothing, "waits": answer.waits, "no_prediction": answer.no_prediction}
        return {**found, "why": in_words(answer, cluster.kept(label), quantile).removeprefix("No prediction: ")}
    return {
        "seconds": bound.seconds,
        "confidence": bound.confidence,
        "waits": answer.waits,
        "no_prediction": None,
        "why": None,
    }


# ------------------------------------------------------------ of a job that waits


def remaining(
    cluster: Cluster, label: str, waited: float, processors: int | None, requested_time: float | None
) -> dict[str, Any] | None:
    """Return bounds of what a job that has waited so long has to wait still; None where none can be told.

    Of the waits that are known those count that were longer, less what the job has waited: a binomial bound holds for
    them as for all. Other bounds follow from a fitted distribution or from the newest waits, so nothing is told.
    """
    from swftools.qbets.live_methods import LiveBinomial  # noqa: PLC0415 (is loaded where somebody asks)

    try:
        method, chosen = _method(cluster, label, processors, requested_time)
    except ParameterError:
        return None
    if not isinstance(method, LiveBinomial):
        return None
    longer = [wait - waited for wait in method.waits if wait > waited]
    given = {"quantile": method.quantile, "confidence": method.confidence, "side": "upper", "approximation": chosen}
    bounds = [LiveBinomial(longer, given).told(quantile) for quantile in (0.5, 0.9)]
    if all(bound.seconds is None for bound in bounds):
        return None
    return {
        "bounds": [
            {"quantile": each.quantile, "confidence": each.confidence, "seconds": each.seconds} for each in bounds
        ],
        "waits": len(longer),
    }


def _method(cluster: Cluster, label: str, processors: int | None, requested_time: float | None) -> tuple[Any, str]:
    """Return the bound of a job's cluster with the waits that it keeps, and its approximation."""
    from swftools.qbets.change_points import rare_events  # noqa: PLC0415 (as above)
    from swftools.qbets.live_methods import LiveCluster  # noqa: PLC0415 (as above)
    from swftools.qbets.live_state import explanatory_of, known_of, method_of  # noqa: PLC0415 (as above)
    from swftools.qbets.order_statistics import needed_waits  # noqa: PLC0415 (as above)

    state = cluster.live.state()
    chosen, known = state.about["parameters"], known_of(state, label)
    needs = len(known.history.end) > 1
    value = explanatory_of(state, chosen["explanatory"], processors, requested_time, is_needed=needs)
    least = needed_waits(chosen["quantile"], chosen["confidence"]) if chosen["trimming"] else 0
    kept = LiveCluster(known.history, -1.0 if value is None else value, least, rare_events(chosen["rare_events"]))
    given = read_entry(state.about["method"] or "")[1]
    if int(known.history.size[0]) < chosen["training"]:
        raise ParameterError("too few waits are known")
    return method_of(state, known, kept, None), str(given.get("approximation", "exact"))
