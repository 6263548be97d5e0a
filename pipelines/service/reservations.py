# SPDX-License-Identifier: BSD-3-Clause
"""Reservations by bounds of waits: when to submit a job so that it runs at a time (VARQ).

References
----------
Nurmi 2009, section 5.2.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pipelines.service.answers import state_of
from pipelines.service.clusters import Cluster
from pipelines.service.limits import limits_of, why_not
from pipelines.service.questions import (
    Refusal,
    cluster_of,
    group_in,
    moment_in,
    needed,
    number_of_processors,
    seconds_in,
    share_of,
)
from pipelines.service.words import spoken
from swftools.errors import ParameterError
from swftools.qbets.saved_state import SavedState

AHEAD = 30 * 86_400.0
"""Seconds from now on within which a start can be asked for."""

PROBABILITY = 0.95

WHY = {
    "no-submission-meets-it": "no submission meets that",
    "training": "too few waits of such jobs are known yet",
    "too-few-waits": "too few waits of such jobs are known",
    "unavailable": "the machine seems to be down",
}


class Site(NamedTuple):
    """A queue where a piece can be asked for, as it is known now."""

    cluster: Cluster
    label: str
    state: SavedState
    longest: float | None
    about: dict[str, Any]
    every: float


class Wanted(NamedTuple):
    """When something is to run: in how many seconds, the moment (s as its cluster counts), with which probability."""

    ahead: float
    probability: float


def wanted_of(cluster: Cluster, values: Mapping[str, Any]) -> Wanted:
    """Return when something is to run: ``by``, a time from now on, or ``start``, a moment.

    Raises
    ------
    Refusal
        Both are given or none, one is none, or it is over or far ahead.
    """
    if ("by" in values) == ("start" in values):
        raise Refusal(400, "say by=6h, a time from now on, or start=2027-03-01T09:00Z, a moment; one of them")
    ahead = seconds_in(values, "by") if "by" in values else moment_in(cluster, "start", values["start"]) - cluster.now
    if ahead is None or not 0.0 < ahead <= AHEAD:
        raise Refusal(400, f"the start is not within the next {AHEAD / 86_400:.0f} days")
    given = values.get("probability")
    probability = PROBABILITY if given is None else share_of("probability", given)
    if probability > 0.99:
        raise Refusal(400, f"probability={given!r:.40}: more than .99 cannot be promised")
    return Wanted(ahead, probability)


def site_of(cluster: Cluster, label: str) -> Site:
    """Return a queue as it is known now.

    Raises
    ------
    Refusal
        What is known is too old.
    """
    if cluster.is_stale:
        raise Refusal(503, f"{cluster.silence}: there is no answer until then")
    limits = limits_of(cluster, label)
    about = {**state_of(cluster), "queue": cluster.groups().get(label, label)}
    return Site(cluster, label, cluster.live.state(), None if limits is None else limits.longest, about, cluster.every)


class Reservation(NamedTuple):
    """A reservation that is asked for."""

    site: Site
    processors: int
    requested_time: float
    wanted: Wanted
    now: float


def reservation_of(clusters: Mapping[str, Cluster], values: Mapping[str, Any]) -> Reservation:
    """Return a reservation as it is asked for.

    Raises
    ------
    Refusal
        A value is none or missing, the queue does not take the job, or what is known is too old.
    """
    cluster = cluster_of(clusters, values.get("cluster"))
    label = group_in(cluster, values)
    width = needed(number_of_processors(values), "processors", "64")
    time = needed(seconds_in(values, "time"), "time", "4h")
    why = why_not(cluster, label, width, time)
    if why:
        raise Refusal(400, f"{why}: ask for less, or choose another queue")
    return Reservation(site_of(cluster, label), width, time, wanted_of(cluster, values), cluster.now)


def reserved(asked: Reservation) -> dict[str, Any]:
    """Return when to submit a job, and what to request; or why no submission will do, and the best that can be had.

    Raises
    ------
    Refusal
        There is no such plan, as of a job that is longer than its queue takes.
    """
    from swftools.reservations.known_starts import KnownStarts  # noqa: PLC0415 (is loaded where somebody asks)
    from swftools.reservations.plans import ReservedJob, plan_reservation  # noqa: PLC0415 (as above)

    site = asked.site
    try:
        first = first_of(KnownStarts(site.state, site.label))
        job = ReservedJob(asked.requested_time, asked.processors, site.label)
        start, target = first + asked.wanted.ahead, asked.wanted.probability
        plan = plan_reservation(site.state, job, start, target, now=first, longest=site.longest)
    except ParameterError as error:
        raise Refusal(400, str(error)) from error
    begin = asked.now + asked.wanted.ahead
    best = None
    if plan.best_probability is not None:
        at = _submission(asked, plan.best_submit_time, plan.now)
        best = {**at, "request_seconds": plan.best_requested_time, "probability": plan.best_probability}
    told = {
        **site.about,
        "processors": asked.processors,
        "requested_time": asked.requested_time,
        "start": site.cluster.date(begin),
        "start_seconds": begin,
        "asked_probability": target,
        "is_accepted": plan.is_accepted,
        "why_denied": plan.why_denied,
        **_submission(asked, plan.submit_time, plan.now),
        "request_seconds": plan.requested_time,
        "probability": plan.probability,
        "best": best,
        "most_surplus": plan.most_surplus,
        "expected_surplus": plan.expected_surplus,
        "waits": plan.group_waits,
        "method": plan.method,
    }
    ask_again = ask_again_in([site.every], told["submit_in_seconds"])
    return {**told, "ask_again_seconds": ask_again, "in_words": _in_words(told)}


def first_of(known: Any) -> float:
    """Return the present of a state, as ``swftools reserve`` has it: the last that is known of the group, s."""
    return float(known.until) if math.isfinite(known.until) else 0.0


def _submission(asked: Reservation, submit: float | None, first: float) -> dict[str, Any]:
    """Return when to submit: its seconds are those of the state, its moment that of the cluster's clock."""
    if submit is None:
        return {"submit": None, "submit_in_seconds": None}
    ahead = submit - first
    return {"submit": asked.site.cluster.date(asked.now + ahead), "submit_in_seconds": ahead}


def ask_again_in(every: Sequence[float], submit_in: float | None) -> float | None:
    """Return when to ask again: at the next poll, and before the submission; None where it is to be submitted now."""
    if submit_in is None:
        return min(every)
    return min(*every, submit_in) if submit_in > 0.0 else None


def _in_words(told: Mapping[str, Any]) -> str:
    """Return a reservation as a sentence."""
    if told["is_accepted"]:
        when = "now" if told["submit_in_seconds"] <= 0.0 else f"in {spoken(told['submit_in_seconds'])}"
        return (
            f"Submit it {when} and request {spoken(told['request_seconds'])}: it runs by then with a probability of "
            f"{told['probability']:.2f}. Ask again until you have submitted it."
        )
    reason = WHY.get(told["why_denied"], told["why_denied"])
    best = told["best"]
    more = "" if best is None else f"; the best that can be had is {best['probability']:.2f}"
    return f"Denied: {reason}{more}."
