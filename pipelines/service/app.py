# SPDX-License-Identifier: BSD-3-Clause
"""The web application: JSON below ``/api/v1``, pages for people, ``/metrics`` and ``/healthz``. It only reads."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from prometheus_client import generate_latest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pipelines.service.guard import Guard
from pipelines.service.openapi import describe
from pipelines.service.problems import HEADERS, handlers, problem
from pipelines.service.routes import json_route, page_route
from pipelines.service.service import Service
from pipelines.service.site import Site
from pipelines.service.web_pages import page_text

__all__ = ["Service", "make_app"]

FORM = ("cluster", "queue", "group", "processors", "time", "within")
"""What the form asks."""

ASKED = (*FORM, "at", "confidence")
"""Parameters of a question; ``quantile`` may be there several times."""

RESERVED = ("cluster", "queue", "group", "processors", "time", "by", "start", "probability")


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
        with contextlib.suppress(asyncio.CancelledError):
            await listening
        service.stop()

    site, about_whom = Site(service), service.access.user_header or ""
    routes = [
        json_route("/api/v1/clusters", service.list_clusters, ()),
        json_route("/api/v1/wait", service.wait, ASKED, ("quantile",)),
        json_route("/api/v1/where", service.where, ("queue", "processors", "time", "quantile")),
        json_route("/api/v1/start", service.start, ("cluster", "processors", "time")),
        json_route("/api/v1/reserve", service.reserve, RESERVED),
        json_route("/api/v1/plan", service.plan, ("by", "start", "probability"), ("piece",)),
        json_route("/api/v1/queues", service.queues, ("cluster",)),
        json_route("/api/v1/jobs/{id:path}", service.job, ("cluster",), private=about_whom),
        json_route("/api/v1/accuracy", service.accuracy, ("cluster",)),
        json_route("/api/v1/openapi.json", lambda _, __: describe(), ()),
        page_route("/", site.ask, FORM),
        page_route("/queues", site.queues, ("cluster",)),
        page_route("/queue/{name:path}", site.queue, ("cluster",)),
        page_route("/job/{id:path}", site.job, ("cluster",)),
        Route("/style.css", _style),
        Route("/healthz", _health(service)),
        Route("/metrics", _metrics(service)),
    ]
    trusted = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    guard = Middleware(Guard, headers=HEADERS, problem=functools.partial(problem, site.page))
    exceptions = handlers(site.page)
    app = Starlette(routes=routes, middleware=[guard, trusted], exception_handlers=exceptions, lifespan=lifespan)
    app.router.redirect_slashes = False  # it takes the address apart, and fails where that cannot be done
    return app


async def _style(_: Request) -> Response:
    return Response(
        page_text("style.css"), 200, {**HEADERS, "Cache-Control": "max-age=3600"}, "text/css; charset=utf-8"
    )


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
