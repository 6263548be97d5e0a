# SPDX-License-Identifier: BSD-3-Clause
"""A service is asked about a job before it is submitted, and about shapes of it that may start sooner.

A service refuses what makes no difference to its answers. So it is first asked what does, and of each job only that is
sent: the name of its queue where waits are told apart by queues, its requested time, its processors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from swftools.client import Client
from swftools.errors import ParameterError, RefusedQuestionError, ServiceError
from swftools.output.shown_text import shown
from swftools.parameters.durations import in_words

USED = {
    "requested_time": ("time",),
    "requested_processors": ("processors",),
    "requested_work": ("time", "processors"),
}
"""What is sent of a job, by what a service tells waits apart by (``told_apart_by``)."""

QUEUES = ("queue", "partition")
"""What jobs may be grouped by that a script names."""

QUANTILES = (0.5, 0.9)
"""Shares of jobs whose waits are asked for, unless others are."""

SHORTER = (0.75, 0.5, 0.25)
"""Parts of the requested time that are asked for too."""

MOST_QUEUES = 12
"""So many other queues are asked for."""

UNAVAILABLE = 503
"""Status of HTTP: the service knows nothing now."""


class Shape(NamedTuple):
    """What of a job its wait may depend on.

    Parameters
    ----------
    queue : str or None
        Its name.
    processors : int or None
        That are requested.
    requested_time : float or None
        s; infinity for an unlimited one.
    """

    queue: str | None
    processors: int | None
    requested_time: float | None


class Told(NamedTuple):
    """A shape, and what the service tells of it.

    Parameters
    ----------
    shape : Shape
        As it was asked for.
    answer : dict
        Of the service.
    """

    shape: Shape
    answer: dict[str, Any]

    def bound(self, quantile: float) -> float:
        """Return the bound of a quantile of waits, s; infinity if there is none."""
        if self.answer.get("no_prediction") is not None:
            return math.inf
        found = [each for each in self.answer.get("bounds", ()) if math.isclose(each["quantile"], quantile)]
        return found[0]["seconds"] if found and found[0]["seconds"] is not None else math.inf


class AskedCluster:
    """A cluster of a service.

    Parameters
    ----------
    client : Client
        Of the service.
    name : str, optional
        Of the cluster; there may be one alone.

    Raises
    ------
    ParameterError
        There is none of that name, there are several and none is named, or its waits are told apart by what no script
        says.
    RefusedQuestionError, ServiceError
        As for ``Client.get``.
    """

    def __init__(self, client: Client, name: str | None = None) -> None:
        clusters = {str(each.get("cluster")): each for each in client.clusters()}
        if name is None and len(clusters) != 1:
            raise ParameterError(shown(f"{client.url} has several clusters, so add --cluster: {', '.join(clusters)}"))
        if name is not None and name not in clusters:
            raise ParameterError(shown(f"{client.url} has no cluster {name!r}; there are: {', '.join(clusters)}"))
        self._client = client
        self.name = next(iter(clusters)) if name is None else name
        self.about: Mapping[str, Any] = clusters[self.name]
        by = list(self.about.get("by") or ())
        self.has_queues = bool(by)
        if len(by) > 1 or not set(by) <= {*QUEUES}:
            raise ParameterError(
                shown(
                    f"{client.url} tells waits apart by {'/'.join(map(str, by))}, which no script says; ask on its page"
                )
            )
        self.used = USED.get(str(self.about.get("told_apart_by")), ())

    @property
    def queues(self) -> list[str]:
        """Names of the queues of which waits are known."""
        return [str(each) for each in self.about.get("queues") or ()]

    def limits(self, queue: str | None) -> Mapping[str, Any]:
        """Return what a queue takes, as far as the service says so."""
        found = (self.about.get("limits") or {}).get(queue)
        return found if isinstance(found, dict) else {}

    def shape_of(self, partition: str | None, processors: int | None, requested_time: float | None) -> list[Shape]:
        """Return the shapes of a job: one, or one for each queue of several that it names.

        What a job leaves to its queue is that of the queue.

        Raises
        ------
        ParameterError
            It names no queue, or none that is known, or no time, and neither does the service.
        """
        if not self.has_queues:
            return [self._of_queue(None, processors, requested_time)]
        partition = partition or self.about.get("default_queue") or (self.queues[0] if len(self.queues) == 1 else None)
        if partition is None:
            raise ParameterError(shown(f"the job names no queue; name one of: {', '.join(self.queues)}"))
        named = [partition] if partition in self.queues else [each for each in partition.split(",") if each]
        known = [each for each in named if each in self.queues]
        if not known:
            raise ParameterError(
                shown(f"no waits of queue {partition!r} are known; there are: {', '.join(self.queues) or 'none yet'}")
            )
        return [self._of_queue(each, processors, requested_time) for each in known]

    def _of_queue(self, queue: str | None, processors: int | None, requested_time: float | None) -> Shape:
        limits = self.limits(queue)
        if requested_time is None:
            requested_time = limits.get("default_time") or limits.get("longest")
        elif math.isinf(requested_time):
            requested_time = limits.get("longest")
        if requested_time is None and "time" in self.used:
            raise ParameterError("the job names no time limit, and the service does not say the queue's; add one")
        if processors is None and "processors" in self.used:
            raise ParameterError("say how many processors the job requests: waits depend on it")
        return Shape(queue, processors, requested_time)

    def ask(self, shape: Shape, quantiles: Sequence[float], within: float | None = None) -> Told:
        """Return what the service tells of a job of a shape; for errors see ``Client.get``."""
        about: dict[str, Any] = {"time": shape.requested_time, "processors": shape.processors}
        sent = {name: value for name, value in about.items() if name in self.used}
        if self.has_queues:
            sent["queue"] = shape.queue
        cluster = self.name if "cluster" in self.about else None
        answer = self._client.wait(**sent, within=within, quantile=list(quantiles), cluster=cluster)
        bounds = answer.get("bounds")
        if not isinstance(bounds, list) or not all(map(_is_bound, bounds)):
            raise ServiceError(f"{self._client.url}: an answer has no bounds; is it a service of waits?")
        return Told(shape, answer)

    def ask_each(self, shapes: Sequence[Shape], quantiles: Sequence[float], within: float | None = None) -> list[Told]:
        """Return what the service tells of a job in each of its queues that is known to take it; if none is, in all.

        Raises
        ------
        RefusedQuestionError
            The service refuses the question for each of them; the first refusal.
        ServiceError
            As for ``Client.get``.
        """
        told, refusals = [], []
        for shape in [each for each in shapes if not self.too_much(each)] or shapes:
            try:
                told.append(self.ask(shape, quantiles, within))
            except RefusedQuestionError as refused:
                refusals.append(refused)
        if not told:
            raise refusals[0]
        return told

    def ask_others(
        self, shape: Shape, quantiles: Sequence[float], *, other_queues: bool
    ) -> tuple[list[Told], str | None]:
        """Return what the service tells of the job with less time, and in other queues that are known to take it.

        Parameters
        ----------
        shape : Shape
            The job as it is.
        quantiles : sequence of float
            As for ``ask``.
        other_queues : bool
            Whether the job may run in another queue.

        Returns
        -------
        list of Told
            One for each shape of which something is told.
        str or None
            Why the service was not asked about all of them; None if it was.
        """
        told = []
        for other in [*self._shorter(shape), *(self._elsewhere(shape) if other_queues else ())]:
            try:
                told.append(self.ask(other, quantiles))
            except RefusedQuestionError:  # there is an answer for the job as it is
                continue
            except ServiceError as error:
                return told, str(error)
        return told, None

    def too_much(self, shape: Shape) -> bool:
        """Whether the queue is known not to take the job."""
        limits = self.limits(shape.queue)
        return bool(limits) and not self._fits(limits, shape)

    def _shorter(self, shape: Shape) -> Iterator[Shape]:
        """Yield the job with less time, of whole minutes."""
        if "time" not in self.used or shape.requested_time is None:
            return
        for part in SHORTER:
            minutes = math.floor(shape.requested_time * part / 60)
            if minutes >= 1:
                yield shape._replace(requested_time=60.0 * minutes)

    def _elsewhere(self, shape: Shape) -> Iterator[Shape]:
        """Yield the job in other queues that take it, as far as is known."""
        others = [each for each in self.queues if each != shape.queue and "," not in each] if self.has_queues else []
        fitting = [each for each in others if self._fits(self.limits(each), shape)]
        yield from (shape._replace(queue=each) for each in fitting[:MOST_QUEUES])

    @staticmethod
    def _fits(limits: Mapping[str, Any], shape: Shape) -> bool:
        """Whether a queue is known to take a job."""
        longest, processors = limits.get("longest"), limits.get("processors")
        if not limits or (longest is not None and (shape.requested_time or 0.0) > longest):
            return False
        return processors is None or (shape.processors or 0) <= processors


def _is_bound(told: Any) -> bool:
    """Whether it is a bound as a service tells it."""
    if not isinstance(told, dict) or not isinstance(told.get("quantile"), float):
        return False
    return "seconds" in told and isinstance(told["seconds"], float | int | None)


def lower_bounds(told: Told, others: Sequence[Told], quantile: float) -> list[Told]:
    """Return those of other shapes whose bound is lower, the lowest first; of equal ones that with more time."""
    bound = told.bound(quantile)
    found: list[Told] = []
    for each in sorted(others, key=lambda each: (each.bound(quantile), -(each.shape.requested_time or 0.0))):
        longer = [one for one in found if one.shape.queue == each.shape.queue and _has_as_much_time(one, each)]
        if each.bound(quantile) < bound and not longer:
            found.append(each)
    return found


def _has_as_much_time(one: Told, other: Told) -> bool:
    return (one.shape.requested_time or 0.0) >= (other.shape.requested_time or 0.0)


def difference(shape: Shape, other: Shape) -> str:
    """Say what another shape has otherwise.

    Examples
    --------
    >>> difference(Shape("long", 4, 7200.0), Shape("long", 4, 3600.0))
    'time 1 h'
    """
    told = [f"queue {other.queue}"] if other.queue != shape.queue else []
    if other.requested_time != shape.requested_time and other.requested_time is not None:
        told.append(f"time {in_words(other.requested_time)}")
    return shown(", ".join(told))
