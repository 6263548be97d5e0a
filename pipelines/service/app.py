# SPDX-License-Identifier: BSD-3-Clause
"""The web application: JSON below ``/api/v1``, pages for people, ``/metrics`` and ``/healthz``.

It only reads. Pages are rendered here and need no script; errors are RFC 9457 documents, or pages. Between answers a
task in the same process hears what happens to jobs, so nothing is answered while something is learnt.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from prometheus_client import CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pipelines.service import answers
from pipelines.service.clusters import Cluster
from pipelines.service.exposition import Exposition
from pipelines.service.openapi import describe
from pipelines.service.questions import Refusal, cluster_of, question_of, values_of
from pipelines.service.sensors.commands import calls_end_here
from swftools.output.amounts import duration, percent
from swftools.output.shown_text import shown

_LOG = logging.getLogger("pipelines.service")

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}

ASKED = ("cluster", "queue", "group", "processors", "time", "within")
"""Parameters of a question; ``quantile`` may be there several times."""


class Service:
    """Clusters, and what is answered about them.

    Parameters
    ----------
    clusters : sequence of Cluster
        By which names users call them.
    tick : float
        Seconds between two polls of all clusters.
    """

    def __init__(self, clusters: Sequence[Cluster], tick: float) -> None:
        self.clusters = {cluster.name: cluster for cluster in clusters}
        self._tick = tick
        self._pages = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        self._pages.filters.update(duration=duration, percent=percent, shown=shown)
        self._templates = {name: self._pages.from_string(_text(f"{name}.html")) for name in ("ask", "queues", "error")}
        self._frame = self._pages.from_string(_text("frame.html"))
        self.registry = CollectorRegistry()
        self.registry.register(Exposition(self.clusters))

    async def listen(self) -> None:
        """Poll all clusters, again and again; what fails is said once, and tried again until it is mended."""
        with calls_end_here():  # what does not answer does not hold up the end
            await self._listen()

    async def _listen(self) -> None:
        silent = set()
        while True:
            await asyncio.sleep(self._tick)
            for cluster in self.clusters.values():
                try:
                    cluster.learn(*await asyncio.to_thread(cluster.hear))
                    silent.discard(cluster.name)
                except Exception as error:  # noqa: BLE001 (whatever it is: the others are heard of)
                    if cluster.name not in silent:
                        _LOG.error("%s: nothing is heard of it: %s", shown(cluster.name), shown(repr(error)))
                    silent.add(cluster.name)

    # ------------------------------------------------------------ JSON

    def list_clusters(self, _: Mapping[str, Any]) -> Any:
        """Return all clusters."""
        return [answers.about_cluster(cluster) for cluster in self.clusters.values()]

    def wait(self, given: Mapping[str, Any]) -> Any:
        """Return how long a job would wait."""
        cluster = cluster_of(self.clusters, given.get("cluster"))
        return answers.wait_of(cluster, question_of(cluster, given))

    def queues(self, given: Mapping[str, Any]) -> Any:
        """Return the queues of a cluster as they are now."""
        cluster = cluster_of(self.clusters, given.get("cluster"))
        return {**answers.state_of(cluster), "queues": answers.queues_of(cluster)}

    def accuracy(self, given: Mapping[str, Any]) -> Any:
        """Return what came of what jobs were told, of all queues of a cluster."""
        cluster = cluster_of(self.clusters, given.get("cluster"))
        counts = cluster.ledger.counts(cluster.now, answers.MONTH)
        return {
            **answers.state_of(cluster),
            "quantile": cluster.predictor.parameters.quantile,
            **answers.accuracy(counts),
        }

    # ------------------------------------------------------------ pages

    def page(self, name: str, title: str, status: int = 200, **told: Any) -> Response:
        """Return a page in its frame."""
        body = self._templates[name].render(**told)
        stale = [each.silence for each in self.clusters.values() if each.is_stale]
        html = self._frame.render(title=title, body=body, stale=stale, clusters=list(self.clusters.values()))
        return Response(html, status, {**HEADERS, "Cache-Control": "no-store"}, "text/html; charset=utf-8")

    def ask(self, given: Mapping[str, Any]) -> Response:
        """Return the form, and the answer where something is asked."""
        cluster = cluster_of(self.clusters, given.get("cluster"))
        answer, wrong, status, chosen = None, None, 200, None
        if set(given) - {"cluster", "quantile"}:
            try:
                question = question_of(cluster, {**given, "quantile": ["0.5", "0.75", "0.9", "0.95"]})
                chosen = question.group
                answer = answers.wait_of(cluster, question)
            except Refusal as refusal:
                wrong, status = refusal.told, refusal.status
        told = {"about": answers.about_cluster(cluster), "groups": cluster.groups(), "chosen": chosen, "given": given}
        title = "How long would a job wait?"
        return self.page("ask", title, status, clusters=list(self.clusters), **told, answer=answer, wrong=wrong)

    def queues_page(self, given: Mapping[str, Any]) -> Response:
        """Return a page of the queues as they are now."""
        cluster = cluster_of(self.clusters, given.get("cluster"))
        about, rows = answers.about_cluster(cluster), answers.queues_of(cluster)
        return self.page("queues", f"Queues of {cluster.name}", about=about, rows=rows, accuracy=self.accuracy(given))


def make_app(service: Service, hosts: Sequence[str] = ("localhost", "127.0.0.1", "[::1]")) -> Starlette:
    """Return the application of a service.

    Parameters
    ----------
    service : Service
        What is answered.
    hosts : sequence of str
        Names by which it is called; a request for another one is refused.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        listening = asyncio.create_task(service.listen())
        yield
        listening.cancel()

    routes = [
        _json("/api/v1/clusters", service.list_clusters, ()),
        _json("/api/v1/wait", service.wait, ASKED, ("quantile",)),
        _json("/api/v1/queues", service.queues, ("cluster",)),
        _json("/api/v1/accuracy", service.accuracy, ("cluster",)),
        _json("/api/v1/openapi.json", lambda _: describe(), ()),
        _page("/", service.ask, ASKED, ("quantile",)),
        _page("/queues", service.queues_page, ("cluster",)),
        Route("/style.css", _style),
        Route("/healthz", _health(service)),
        Route("/metrics", _metrics(service)),
    ]
    trusted = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    handlers = {Refusal: _refused(service), HTTPException: _not_there(service)}
    return Starlette(routes=routes, middleware=[trusted], exception_handlers=handlers, lifespan=lifespan)


Answer = Callable[[Mapping[str, Any]], Any]


def _json(path: str, answer: Answer, known: Sequence[str], several: Sequence[str] = ()) -> Route:
    """Return a route that answers with JSON; who has the answer already is told so."""

    async def endpoint(request: Request) -> Response:
        told = answer(values_of(request.query_params.multi_items(), known, several))
        tag = _tag_of(told)
        headers = {**HEADERS, "ETag": tag, "Cache-Control": "no-cache"}
        if tag in [each.strip() for each in request.headers.get("if-none-match", "").split(",")]:
            return Response(None, 304, headers)
        return Response(json.dumps(told, allow_nan=False), 200, headers, "application/json")

    return Route(path, endpoint)


def _tag_of(told: Any) -> str:
    """Return what two answers have in common that differ by their age alone."""
    if isinstance(told, list):
        told = [{name: value for name, value in each.items() if name != "age_seconds"} for each in told]
    else:
        told = {name: value for name, value in told.items() if name != "age_seconds"}
    return f'W/"{hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]}"'


def _page(
    path: str, page: Callable[[Mapping[str, Any]], Response], known: Sequence[str], several: Sequence[str] = ()
) -> Route:
    """Return a route that answers with a page."""

    async def endpoint(request: Request) -> Response:
        return page(values_of(request.query_params.multi_items(), known, several))

    return Route(path, endpoint)


async def _style(_: Request) -> Response:
    return Response(_text("style.css"), 200, {**HEADERS, "Cache-Control": "max-age=3600"}, "text/css; charset=utf-8")


def _health(service: Service) -> Any:
    async def endpoint(_: Request) -> Response:
        old = [each.name for each in service.clusters.values() if each.is_stale]
        told = {"ok": not old, "stale": old}
        return Response(
            json.dumps(told), 503 if old else 200, {**HEADERS, "Cache-Control": "no-store"}, "application/json"
        )

    return endpoint


def _metrics(service: Service) -> Any:
    async def endpoint(_: Request) -> Response:
        content = "text/plain; version=0.0.4; charset=utf-8"
        return Response(generate_latest(service.registry), 200, {**HEADERS, "Cache-Control": "no-store"}, content)

    return endpoint


def _refused(service: Service) -> Any:
    async def handler(request: Request, refusal: Refusal) -> Response:
        return _problem(service, request, refusal.status, refusal.told)

    return handler


def _not_there(service: Service) -> Any:
    async def handler(request: Request, error: HTTPException) -> Response:
        told = "there is no such page" if error.status_code == 404 else str(error.detail)
        return _problem(service, request, error.status_code, told, error.headers)

    return handler


def _problem(
    service: Service, request: Request, status: int, told: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return what is wrong: a document for programs, a page for people."""
    more = {**(headers or {}), **({"Retry-After": "60"} if status == 503 else {})}
    if not request.url.path.startswith("/api/"):
        page = service.page("error", HTTPStatus(status).phrase, status, told=told)
        page.headers.update(more)
        return page
    problem = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": shown(told)}
    return Response(
        json.dumps(problem), status, {**HEADERS, "Cache-Control": "no-store", **more}, "application/problem+json"
    )


def _text(name: str) -> str:
    return (files("pipelines.service") / "pages" / name).read_text(encoding="utf-8")
