# SPDX-License-Identifier: BSD-3-Clause
"""What users ask, read strictly: what is not known, or is not used, is refused and never passed over."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pipelines.service.clusters import Cluster
from swftools.parameters import did_you_mean
from swftools.parameters.durations import seconds_of
from swftools.qbets.live_state import OPTIONS

MOST_SECONDS = 10 * 366 * 86_400.0
"""Times beyond that are no waits."""


AHEAD = 7 * 86_400.0
"""Seconds from now on for which it is answered how long a job would wait that is submitted then."""


MOST_VALUES = 20
"""Of one parameter: each takes time, and all who ask share it."""


class Refusal(Exception):  # noqa: N818 (an answer: it says what to mend)
    """A question that cannot be answered as it was put.

    Parameters
    ----------
    status : int
        Of HTTP.
    told : str
        What is wrong, and what to do.
    field : str, optional
        Which parameter is wrong, if it is one: a form marks it.
    """

    def __init__(self, status: int, told: str, field: str | None = None) -> None:
        super().__init__(told)
        self.status, self.told, self.field = status, told, field


class Question(NamedTuple):
    """What a job is like that would be submitted now, or at a moment, and what is asked of its wait."""

    group: str
    processors: int | None
    requested_time: float | None
    within: float | None
    quantiles: tuple[float, ...]
    confidence: float | None = None
    at: float | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """As a predictor takes it."""
        about = {"processors": self.processors, "requested_time": self.requested_time}
        return {**about, "deadline": self.within, "quantiles": self.quantiles or None}


def values_of(given: Sequence[tuple[str, str]], known: Sequence[str], several: Sequence[str] = ()) -> dict[str, Any]:
    """Return parameters by name; of some a list.

    Raises
    ------
    Refusal
        One is not known, or is there twice.
    """
    found: dict[str, Any] = {name: [] for name in several}
    for name, value in given:
        if name not in (*known, *several):
            raise Refusal(400, f"there is no parameter {name!r}; there are: {', '.join([*known, *several])}")
        if name in several and len(found[name]) == MOST_VALUES:
            raise Refusal(400, f"{name} is there more than {MOST_VALUES} times: ask in several questions")
        if name in several:
            found[name].append(value)
        elif name in found:
            raise Refusal(400, f"parameter {name!r} is there twice; give it once")
        elif value.strip():
            found[name] = value.strip()
    return found


def cluster_of(clusters: Mapping[str, Cluster], name: str | None) -> Cluster:
    """Return the cluster that is meant; there may be one alone.

    Raises
    ------
    Refusal
        There is none of that name, or several and none is named.
    """
    if name is None and len(clusters) == 1:
        return next(iter(clusters.values()))
    if name is None:
        raise Refusal(400, f"say which cluster: {', '.join(clusters)}")
    if name not in clusters:
        raise Refusal(404, f"there is no cluster {name!r}; there are: {', '.join(clusters)}")
    return clusters[name]


def question_of(cluster: Cluster, values: Mapping[str, Any]) -> Question:
    """Return a question as it is put.

    Raises
    ------
    Refusal
        A value is none, or one is missing, or is given that nothing depends on.
    """
    check_used([cluster], values)
    return Question(
        group_in(cluster, values),
        number_of_processors(values),
        seconds_in(values, "time"),
        seconds_in(values, "within"),
        tuple(share_of("quantile", value) for value in values.get("quantile", ())),
        share_of("confidence", values["confidence"]) if "confidence" in values else None,
        _at(cluster, values.get("at")),
    )


def check_used(clusters: Iterable[Cluster], values: Mapping[str, Any], *, limits_matter: bool = False) -> None:
    """Refuse what makes no difference at any of some clusters.

    Raises
    ------
    Refusal
        A value is given that nothing depends on.
    """
    every = list(clusters)
    used = {option for cluster in every for option in OPTIONS[cluster.predictor.parameters.explanatory]}
    for name, option in (("processors", "processors"), ("time", "requested_time")):
        has_limits = any(_has_limits(cluster, name) for cluster in every) and limits_matter
        if name in values and option not in used and not has_limits:
            told = ", ".join(sorted(used))
            raise Refusal(
                400, f"{name} makes no difference here, so leave it out: waits are told apart by {told}", name
            )


def _has_limits(cluster: Cluster, name: str) -> bool:
    """Return whether it is known how many processors, or how much time, a job may have."""
    queues = cluster.machine.queues.values()
    if name == "processors":
        return cluster.machine.processors is not None or any(limits.processors for limits in queues)
    return any(limits.longest is not None for limits in queues)


def group_in(cluster: Cluster, values: Mapping[str, Any]) -> str:
    """Return the group that is meant by ``queue`` or ``group``.

    Raises
    ------
    Refusal
        There is none of that name, none is named, or one where all jobs are one group.
    """
    by = "/".join(cluster.predictor.by)
    said = [name for name in ("queue", "group") if name in values]
    if len(said) > 1:
        raise Refusal(400, "give queue, a name, or group, as the log counts it; not both")
    if by and not said:
        raise Refusal(400, f"say which {by}; there are: {', '.join(cluster.groups().values())}", "queue")
    if not by and said:
        raise Refusal(400, f"all jobs are one group here: leave out {said[0]}")
    return group_of(cluster, values[said[0]], is_number=said[0] == "group") if by else "all"


def group_of(cluster: Cluster, said: str, *, is_number: bool) -> str:
    """Return the group that is meant by its name, or else by its number; or by that alone.

    Raises
    ------
    Refusal
        There is none, or several of one name.
    """
    groups = cluster.groups()
    named = [] if is_number else [label for label, name in groups.items() if name == said]
    found = named or [label for label in groups if label == said]
    if len(found) == 1:
        return found[0]
    names = list(groups.values())
    raise Refusal(
        404,
        f"there is no {'/'.join(cluster.predictor.by)} {said!r}; there are: {', '.join(names)}"
        f"{did_you_mean([said], names)}",
        "queue",
    )


def number_of_processors(values: Mapping[str, Any]) -> int | None:
    """Return ``processors``; None where it is not said.

    Raises
    ------
    Refusal
        It is no whole number from 1 on.
    """
    text = values.get("processors")
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or not 1 <= len(text) <= 9 or int(text) < 1:
        raise Refusal(400, f"processors={text!r:.40} is not a whole number from 1 on", "processors")
    return int(text)


def seconds_in(values: Mapping[str, Any], name: str) -> float | None:
    """Return a time, s; None where it is not said.

    Raises
    ------
    Refusal
        It is none, or longer than any wait.
    """
    text = values.get(name)
    if text is None:
        return None
    seconds = seconds_of(text) if len(text) <= 40 else None
    if seconds is None or not math.isfinite(seconds) or seconds > MOST_SECONDS:
        raise Refusal(
            400, f"{name}={text!r:.40} is not a time such as 90 (seconds), 30m, 4h, 04:00:00 or 1-12:00:00", name
        )
    return seconds


def needed(value: Any, name: str, example: str) -> Any:
    """Return a value that must be there.

    Raises
    ------
    Refusal
        It is not, or is nothing.
    """
    if not value:
        raise Refusal(400, f"say {name}, as {name}={example}", name)
    return value


def share_of(name: str, text: str) -> float:
    """Return a number between 0 and 1, both excluded.

    Raises
    ------
    Refusal
        It is none.
    """
    try:
        share = float(text) if len(text) <= 40 else math.nan
    except ValueError:
        share = math.nan
    if not 0.0 < share < 1.0:
        raise Refusal(400, f"{name}={text!r:.40} is not a number between 0 and 1, both excluded")
    return share


def moment_in(cluster: Cluster, name: str, text: str) -> float:
    """Return a moment, s as the cluster counts: a date with its zone, or seconds where it has no dates.

    Raises
    ------
    Refusal
        It is none.
    """
    example = f"{name}=2027-03-01T09:00Z"
    if cluster.predictor.start is None:
        try:
            found = float(text) if len(text) <= 40 else math.nan
        except ValueError:
            found = math.nan
        if not math.isfinite(found):
            raise Refusal(400, f"{name}={text!r:.40} is no moment: {cluster.name} counts seconds, and has no dates")
        return found
    try:
        # The plus of a zone is a blank where it was not written as %2B.
        date = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
    except ValueError:
        raise Refusal(400, f"{name}={text!r:.40} is no moment: give a date with its zone, as {example}") from None
    if date.tzinfo is None:
        raise Refusal(400, f"{name}={text!r:.40} has no zone: give it, as {example}")
    try:
        return (date - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() - cluster.predictor.start
    except OverflowError:
        raise Refusal(400, f"{name}={text!r:.40} is beyond all dates") from None


def _at(cluster: Cluster, text: str | None) -> float | None:
    """Return when a job is to be submitted; None: now."""
    if text is None:
        return None
    at = moment_in(cluster, "at", text)
    if at < cluster.heard_at:
        raise Refusal(
            400,
            f"at={text!r:.40} is over: what would have been told then is not kept; /api/v1/accuracy counts what became "
            "of it. Leave at out for now, or give a moment to come",
        )
    if at > cluster.now + AHEAD:
        raise Refusal(400, f"at={text!r:.40} is more than {AHEAD / 86_400:.0f} days ahead: nothing is known of then")
    return at
