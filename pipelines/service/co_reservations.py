# SPDX-License-Identifier: BSD-3-Clause
"""Several jobs that are to run together, at as many queues as that takes (CO-VARQ).

References
----------
Nurmi 2009, section 6.2.1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pipelines.service.clusters import Cluster
from pipelines.service.limits import why_not
from pipelines.service.questions import (
    Refusal,
    cluster_of,
    group_in,
    needed,
    number_of_processors,
    seconds_in,
    values_of,
)
from pipelines.service.reservations import Site, Wanted, ask_again_in, first_of, site_of, wanted_of
from swftools.errors import ParameterError

MOST_PIECES = 8

MOST_QUEUES = 20
"""Of those that take a piece, that are tried: those of most waits. Each takes time, and one plan is made at a time."""

NONE_MEETS_IT = "the queues that take the pieces do not meet that together"


class Piece(NamedTuple):
    """A job that is to run at the time, and the queues that take it."""

    processors: int
    requested_time: float
    sites: tuple[int, ...]


class CoReservation(NamedTuple):
    """Pieces that are to run together."""

    pieces: tuple[Piece, ...]
    sites: tuple[Site, ...]
    now: tuple[float, ...]
    wanted: Wanted


_KEYS = ("cluster", "queue", "group", "processors", "time")


def co_reservation_of(clusters: Mapping[str, Cluster], values: Mapping[str, Any]) -> CoReservation:
    """Return pieces as they are asked for: ``piece=cluster=blue,queue=normal,processors=64,time=2h``, a value each.

    Raises
    ------
    Refusal
        A value is none or missing, no queue takes a piece, or two name the same queue alone.
    """
    texts = needed(values.get("piece"), "piece", "processors=64,time=2h")
    if len(texts) > MOST_PIECES:
        raise Refusal(400, f"piece is there {len(texts)} times: {MOST_PIECES} at most")
    sites: dict[tuple[str, str], int] = {}
    pieces = [_piece(clusters, text, sites) for text in texts]
    alone = [piece.sites[0] for piece in pieces if len(piece.sites) == 1]
    if len(set(alone)) < len(alone):
        raise Refusal(400, "two pieces can be asked for at the same queue alone: make one of them, or name another")
    known = [site_of(clusters[name], label) for name, label in sites]
    first = known[0].cluster
    return CoReservation(
        tuple(pieces), tuple(known), tuple(site.cluster.now for site in known), wanted_of(first, values)
    )


def _piece(clusters: Mapping[str, Cluster], text: str, sites: dict[tuple[str, str], int]) -> Piece:
    """Return a piece; its queues are numbered in order of their coming."""
    parts = re.split(rf",(?=(?:{'|'.join(_KEYS)})=)", text)
    pairs = [(name, value) for name, _, value in (part.partition("=") for part in parts)]
    try:
        values = values_of(pairs, _KEYS)
        width = needed(number_of_processors(values), "processors", "64")
        time = needed(seconds_in(values, "time"), "time", "2h")
        if "cluster" in values or len(clusters) == 1:
            meant = [cluster_of(clusters, values.get("cluster"))]
        else:
            meant = list(clusters.values())
        found = []
        for cluster in meant:
            is_named = bool({"queue", "group"} & set(values))
            labels = [group_in(cluster, values)] if is_named else list(cluster.groups())
            found += [(cluster, label) for label in labels]
    except Refusal as refusal:
        raise Refusal(refusal.status, f"piece={text!r:.80}: {refusal.told}") from refusal
    why = [why_not(cluster, label, width, time) for cluster, label in found]
    fit = [(c.name, label) for (c, label), no in zip(found, why, strict=True) if no is None]
    if "cluster" not in values:
        fit = [(name, label) for name, label in fit if not clusters[name].is_stale] or fit
    if not fit:
        raise Refusal(400, f"piece={text!r:.80}: {next((no for no in why if no), 'no queue is known yet')}")
    if len(fit) > MOST_QUEUES:
        fit = sorted(fit, key=lambda each: -clusters[each[0]].live.waits(each[1]))[:MOST_QUEUES]
    return Piece(width, time, tuple(sites.setdefault(each, len(sites)) for each in fit))


def co_reserved(asked: CoReservation) -> dict[str, Any]:
    """Return where and when to submit each piece, so that all run at the time; or why that cannot be had.

    Each is submitted when its chance there is best, the latest of these moments.
    """
    from swftools.reservations.co_allocation import co_allocate  # noqa: PLC0415 (is loaded where somebody asks)
    from swftools.reservations.known_starts import KnownStarts  # noqa: PLC0415 (as above)
    from swftools.reservations.trajectory import trajectory_of  # noqa: PLC0415 (as above)

    known = [KnownStarts(site.state, site.label) for site in asked.sites]
    chances = np.zeros((len(asked.pieces), len(asked.sites)))
    found: dict[tuple[int, int], tuple[float, float]] = {}
    try:
        for row, piece in enumerate(asked.pieces):
            for place in piece.sites:
                here, site = known[place], asked.sites[place]
                if here.no_prediction:
                    continue
                first = first_of(here)
                trajectory = trajectory_of(
                    here.table,
                    lambda requested, here=here, width=piece.processors: here.explain(width, requested),  # type: ignore[misc]
                    first,
                    first + asked.wanted.ahead,
                    piece.requested_time,
                    longest=math.inf if site.longest is None else site.longest,
                )
                best = trajectory.best()
                if best is not None:
                    chances[row, place] = trajectory.probability[best]
                    submit_in = float(trajectory.submit_time[best]) - first
                    found[row, place] = submit_in, float(trajectory.requested_time[best])
    except ParameterError as error:
        raise Refusal(400, str(error)) from error
    plan = co_allocate(chances, asked.wanted.probability)
    pieces = [
        {
            "processors": piece.processors,
            "requested_time": piece.requested_time,
            "probability": plan.probabilities[row],
            "submissions": [
                _at_site(asked, place, found[row, place], chances[row, place]) for place in plan.sites[row]
            ],
        }
        for row, piece in enumerate(asked.pieces)
    ]
    next_in = [each["submit_in_seconds"] for piece in pieces for each in piece["submissions"]]  # type: ignore[attr-defined]
    begin = asked.now[0] + asked.wanted.ahead
    told = {
        "start": asked.sites[0].cluster.date(begin),
        "start_seconds": begin,
        "start_in_seconds": asked.wanted.ahead,
        "asked_probability": asked.wanted.probability,
        "needed_probability": plan.needed,
        "is_accepted": plan.is_accepted,
        "why_denied": None if plan.is_accepted else "no-sites-meet-it",
        "probability": plan.probability,
        "pieces": pieces,
        "ask_again_seconds": ask_again_in(
            [site.every for site in asked.sites], min((each for each in next_in if each > 0), default=None)
        ),
    }
    return {**told, "in_words": _co_in_words(told)}


def _at_site(asked: CoReservation, place: int, submission: tuple[float, float], chance: float) -> dict[str, Any]:
    """Return a submission of a piece."""
    site, (submit_in, request) = asked.sites[place], submission
    return {
        **site.about,
        "submit": site.cluster.date(asked.now[place] + submit_in),
        "submit_in_seconds": submit_in,
        "request_seconds": request,
        "probability": float(chance),
    }


def _co_in_words(told: Mapping[str, Any]) -> str:
    """Return a plan as a sentence."""
    if not told["is_accepted"]:
        return f"Denied: {NONE_MEETS_IT}; what can be had is {told['probability']:.2f}."
    count = sum(len(piece["submissions"]) for piece in told["pieces"])
    return (
        f"{count} submissions: all pieces run by then with a probability of {told['probability']:.2f}. Ask again until "
        "you have submitted them, and cancel those that are not needed when each piece runs."
    )
