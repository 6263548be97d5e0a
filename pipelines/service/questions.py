# SPDX-License-Identifier: BSD-3-Clause
"""What users ask, read strictly: what is not known, or is not used, is refused and never passed over."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pipelines.service.clusters import Cluster
from swftools.parameters import did_you_mean
from swftools.parameters.durations import seconds_of
from swftools.qbets.live_state import OPTIONS

MOST_SECONDS = 10 * 366 * 86_400.0
"""Times beyond that are no waits."""


class Refusal(Exception):  # noqa: N818 (an answer: it says what to mend)
    """A question that cannot be answered as it was put.

    Parameters
    ----------
    status : int
        Of HTTP.
    told : str
        What is wrong, and what to do.
    """

    def __init__(self, status: int, told: str) -> None:
        super().__init__(told)
        self.status, self.told = status, told


class Question(NamedTuple):
    """What a job is like that would be submitted now, and what is asked of its wait."""

    group: str
    processors: int | None
    requested_time: float | None
    within: float | None
    quantiles: tuple[float, ...]

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
    used = OPTIONS[cluster.predictor.parameters.explanatory]
    by = "/".join(cluster.predictor.by)
    for name, option in (("processors", "processors"), ("time", "requested_time")):
        if name in values and option not in used:
            raise Refusal(
                400, f"{name} makes no difference here, so leave it out: waits are told apart by {', '.join(used)}"
            )
    said = [name for name in ("queue", "group") if name in values]
    if len(said) > 1:
        raise Refusal(400, "give queue, a name, or group, as the log counts it; not both")
    if by and not said:
        raise Refusal(400, f"say which {by}; there are: {', '.join(cluster.groups().values())}")
    if not by and said:
        raise Refusal(400, f"all jobs are one group here: leave out {said[0]}")
    return Question(
        group_of(cluster, values[said[0]], is_number=said[0] == "group") if by else "all",
        _whole(values.get("processors")),
        _seconds("time", values.get("time")),
        _seconds("within", values.get("within")),
        tuple(_share(value) for value in values.get("quantile", ())),
    )


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
    )


def _whole(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or not 1 <= len(text) <= 9 or int(text) < 1:
        raise Refusal(400, f"processors={text!r:.40} is not a whole number from 1 on")
    return int(text)


def _seconds(name: str, text: str | None) -> float | None:
    if text is None:
        return None
    seconds = seconds_of(text) if len(text) <= 40 else None
    if seconds is None or not math.isfinite(seconds) or seconds > MOST_SECONDS:
        raise Refusal(400, f"{name}={text!r:.40} is not a time such as 90 (seconds), 30m, 4h, 04:00:00 or 1-12:00:00")
    return seconds


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0.0 < share < 1.0:
        raise Refusal(400, f"quantile={text!r:.40} is not a number between 0 and 1, both excluded")
    return share
