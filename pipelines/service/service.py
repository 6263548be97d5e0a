# SPDX-License-Identifier: BSD-3-Clause
"""What a service is asked, and what it answers: clusters, who may know what, and what takes longer.

Between answers a task in the same process hears what happens to jobs, so nothing is answered while something is learnt.
What takes long is done in a thread beside, of what is known when it is asked.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from typing import Any

from prometheus_client import CollectorRegistry
from starlette.requests import Request

from pipelines.service import answers
from pipelines.service.access import Access
from pipelines.service.asked_questions import AskedQuestions
from pipelines.service.clusters import Cluster
from pipelines.service.co_reservations import co_reservation_of, co_reserved
from pipelines.service.exposition import Exposition
from pipelines.service.job_answers import job_of
from pipelines.service.listening import listen
from pipelines.service.questions import (
    Question,
    cluster_of,
    needed,
    number_of_processors,
    question_of,
    seconds_in,
    share_of,
)
from pipelines.service.reservations import reservation_of, reserved
from pipelines.service.routes import Given
from pipelines.service.starts import Queue, queue_of, simulated, start_of
from pipelines.service.waits import WHERE, wait_of, where
from pipelines.service.worker import Worker
from swftools.errors import ParameterError, StorageError
from swftools.output.shown_text import shown

_LOG = logging.getLogger("pipelines.service")

REMEMBERED = 256
"""Simulated starts that are kept until something is heard."""


class Service:
    """Clusters, and what is answered about them.

    Parameters
    ----------
    clusters : sequence of Cluster
        By which names users call them.
    shows_users, user_header, trusted_peers, jobs_are_private
        What is told to whom, as of ``Access``.
    questions : str or path, optional
        File that keeps what users ask, without who they are.
    questions_days : float
        For how long it keeps a question.

    Raises
    ------
    ParameterError
        As of ``Access`` and ``AskedQuestions``; or users would be named, which is not allowed.
    StorageError
        The file of questions cannot be written.
    """

    def __init__(
        self,
        clusters: Sequence[Cluster],
        *,
        shows_users: bool = False,
        user_header: str | None = None,
        trusted_peers: Iterable[str] = (),
        jobs_are_private: bool = True,
        questions: str | os.PathLike[str] | None = None,
        questions_days: float = 90.0,
    ) -> None:
        self.clusters = {cluster.name: cluster for cluster in clusters}
        self.access = Access(user_header, trusted_peers, jobs_are_private=jobs_are_private, shows_users=shows_users)
        for cluster in clusters:
            if cluster.names_users and not shows_users:
                raise ParameterError(
                    f"cluster {cluster.name}: waits are grouped by user, so every page would name users: allow that "
                    "(shows_users), or group by queue alone"
                )
        self._questions = None if questions is None else AskedQuestions(questions, questions_days)
        self._worker = Worker()
        self._queues: dict[str, tuple[tuple[int, float], Queue | str]] = {}
        self._starts: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.registry = CollectorRegistry()
        self.registry.register(Exposition(self.clusters))

    async def listen(self) -> None:
        """Poll all clusters, again and again; what fails is said once, and tried again until it is mended."""
        await listen(list(self.clusters.values()))

    def stop(self) -> None:
        """Write down what is known, so that the next start is quick, and begin nothing more."""
        self._worker.stop()
        if self._questions is not None:
            self._questions.close()
        for cluster in self.clusters.values():
            try:
                cluster.finish()
            except StorageError as error:
                _LOG.error("%s: the next start takes longer: %s", shown(cluster.name), shown(str(error)))
            cluster.close()

    # ------------------------------------------------------------ waits

    def list_clusters(self, _: Given, __: Request) -> Any:
        """Return all clusters."""
        return [answers.about_cluster(cluster) for cluster in self.clusters.values()]

    def wait(self, given: Given, _: Request) -> Any:
        """Return how long a job would wait."""
        cluster = cluster_of(self.clusters, given.get("cluster"))
        return self.wait_of(cluster, question_of(cluster, given))

    def wait_of(self, cluster: Cluster, question: Question) -> dict[str, Any]:
        """Return what a job is told, and keep what was asked."""
        told = wait_of(cluster, question)
        if self._questions is not None:
            asked = {name: told[name] for name in ("cluster", "queue", "processors", "requested_time")}
            if cluster.names_users:  # the group has a user's name in it
                asked["queue"] = None
            bounds = {f"{each['quantile']:g}": each["seconds"] for each in told["bounds"]}
            answer = {"bounds": bounds, "no_prediction": told["no_prediction"]}
            time = cluster.now + (cluster.predictor.start or 0)
            self._questions.keep(time, {**asked, "within": question.within, "at": told["at_seconds"]}, answer)
        return told

    def where(self, given: Given, _: Request) -> Any:
        """Return where a job would start first."""
        quantile = share_of("quantile", given["quantile"]) if "quantile" in given else WHERE
        return where(self.clusters, given, quantile)

    def queues(self, given: Given, _: Request) -> Any:
        """Return the queues of a cluster as they are now."""
        cluster = cluster_of(self.clusters, given.get("cluster"))
        return {**answers.state_of(cluster), "queues": answers.queues_of(cluster)}

    def accuracy(self, given: Given, _: Request) -> Any:
        """Return what came of what jobs were told, of all queues of a cluster."""
        cluster = cluster_of(self.clusters, given.get("cluster"))
        quantile = cluster.predictor.parameters.quantile
        return {**answers.state_of(cluster), "quantile": quantile, **answers.accuracy(cluster.kept())}

    # ------------------------------------------------------------ jobs, and what takes longer

    def job(self, given: Given, request: Request) -> Any:
        """Return what is told of a job that waits or runs."""
        cluster = cluster_of(self.clusters, given.get("cluster"))
        return job_of(cluster, given["id"], self.access, self.access.user_of(request))

    async def start(self, given: Given, _: Request) -> Any:
        """Return when a job would start by the centre's policy."""
        cluster = cluster_of(self.clusters, given.get("cluster"))
        width = needed(number_of_processors(given), "processors", "64")
        time = needed(seconds_in(given, "time"), "time", "4h")
        about = start_of(cluster, width, time)
        version = cluster.events, cluster.heard_at
        if self._queues.get(cluster.name, (None,))[0] != version:
            self._queues[cluster.name] = version, queue_of(cluster)
        key = (cluster.name, *version, width, time)
        if key not in self._starts:
            queue = self._queues[cluster.name][1]
            found = await self._worker.do(lambda: simulated(about, queue))
            while len(self._starts) >= REMEMBERED:
                self._starts.pop(next(iter(self._starts)))
            self._starts[key] = found
        return {**self._starts[key], **about}

    async def reserve(self, given: Given, _: Request) -> Any:
        """Return when to submit a job so that it runs at a time."""
        asked = reservation_of(self.clusters, given)
        return await self._worker.do(lambda: reserved(asked))

    async def plan(self, given: Given, _: Request) -> Any:
        """Return when to submit several jobs, and where, so that they run together."""
        asked = co_reservation_of(self.clusters, given)
        return await self._worker.do(lambda: co_reserved(asked))
