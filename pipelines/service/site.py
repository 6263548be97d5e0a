# SPDX-License-Identifier: BSD-3-Clause
"""The web site: which page shows what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from pipelines.service import answers
from pipelines.service.clusters import Cluster
from pipelines.service.job_answers import about_job, job_of
from pipelines.service.picture import picture_of
from pipelines.service.problems import HEADERS
from pipelines.service.questions import Refusal, cluster_of, group_of, question_of
from pipelines.service.queue_bounds import bounds_of
from pipelines.service.routes import Given
from pipelines.service.web_pages import WebPages

if TYPE_CHECKING:
    from pipelines.service.service import Service

QUANTILES = ["0.5", "0.75", "0.9", "0.95"]
"""Of the answers on pages."""

MOST_JOBS = 100
"""Jobs that a page of a queue lists."""


class Site:
    """The pages of a service, as they are asked for.

    Parameters
    ----------
    service : Service
        What is shown.
    """

    def __init__(self, service: Service) -> None:
        self._service, self._pages = service, WebPages()

    def page(self, name: str, title: str, status: int = 200, **told: Any) -> Response:
        """Return a page."""
        html = self._pages.render(name, title, self._service.clusters.values(), **told)
        return Response(html, status, {**HEADERS, "Cache-Control": "no-store"}, "text/html; charset=utf-8")

    def ask(self, given: Given, _: Request) -> Response:
        """Return the form, and the answer where something is asked."""
        cluster = self._cluster(given)
        answer, wrong, field, status, chosen = None, None, None, 200, given.get("group")
        if set(given) - {"cluster"}:
            try:
                question = question_of(cluster, {**given, "quantile": QUANTILES})
                chosen = question.group
                answer = self._service.wait_of(cluster, question)
            except Refusal as refusal:
                wrong, status, field = refusal.told, refusal.status, refusal.field
        return self.page(
            "ask",
            "How long would a job wait?",
            status,
            about=answers.about_cluster(cluster),
            groups=cluster.groups(),
            names=list(self._service.clusters),
            given=given,
            chosen=chosen,
            answer=answer,
            confidence=next((each["confidence"] for each in answer["bounds"]), None) if answer else None,
            wrong=wrong,
            field=field,
        )

    def queues(self, given: Given, request: Request) -> Response:
        """Return a page of the queues as they are now."""
        cluster = self._cluster(given)
        rows = [
            {**row, "last": next(iter(cluster.recent.days(label, cluster.now)[-1:]), None)}
            for label, row in zip(cluster.groups(), answers.queues_of(cluster), strict=True)
        ]
        return self.page(
            "queues",
            f"Queues of {cluster.name}",
            about=answers.about_cluster(cluster),
            names=list(self._service.clusters),
            rows=rows,
            accuracy=self._service.accuracy({"cluster": cluster.name}, request),
            date=cluster.date,
            costs=cluster.costs,
        )

    def queue(self, given: Given, request: Request) -> Response:
        """Return a page of a queue: bounds now, waits of the last weeks, who waits, what was kept."""
        cluster = self._cluster(given)
        label = group_of(cluster, given["name"], is_number=False)
        name = cluster.groups()[label]
        days = cluster.recent.days(label, cluster.now)
        access, user = self._service.access, self._service.access.user_of(request)
        waiting = [job for job in cluster.jobs.waiting.values() if job.told is not None and job.told.group == label]
        seen = [job for job in waiting if access.may_see(cluster.user_of(job), user)]
        return self.page(
            "queue",
            f"{cluster.predictor.by[0].capitalize() if len(cluster.predictor.by) == 1 else 'Jobs'} {name}",
            about=answers.about_cluster(cluster),
            limits=cluster.machine.queues.get(name),
            bounds=bounds_of(cluster, label),
            accuracy=answers.accuracy(cluster.kept(label)),
            quantile=cluster.predictor.parameters.quantile,
            picture=picture_of(days, cluster.now, cluster.date),
            days=days,
            date=cluster.date,
            waiting=len(waiting),
            jobs=[about_job(cluster, job, access, user) for job in seen[:MOST_JOBS]],
            more=len(seen) - MOST_JOBS,
            shows_users=access.shows_users,
        )

    def job(self, given: Given, request: Request) -> Response:
        """Return a page of a job that waits or runs."""
        cluster = self._cluster(given)
        access = self._service.access
        told = job_of(cluster, given["id"], access, access.user_of(request))
        return self.page("job", f"Job {told['id']}", job=told)

    def _cluster(self, given: Given) -> Cluster:
        """Return the cluster that a page is about: the first where none is named."""
        name = given.get("cluster")
        return cluster_of(self._service.clusters, next(iter(self._service.clusters)) if name is None else name)
