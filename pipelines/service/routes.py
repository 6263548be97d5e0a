# SPDX-License-Identifier: BSD-3-Clause
"""Addresses: what stands between a request and its answer, strict parameters, tags, what may be kept by whom."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pipelines.service.problems import HEADERS
from pipelines.service.questions import values_of

Given = Mapping[str, Any]
Answer = Callable[[Given, Request], Any | Awaitable[Any]]


def json_route(
    path: str, answer: Answer, known: Sequence[str], several: Sequence[str] = (), *, private: str | None = None
) -> Route:
    """Return a route that answers with JSON; who has the answer already is told so.

    Parameters
    ----------
    path : str
        The address; parts of it in braces are values too.
    answer : callable
        Takes the values and the request; may be awaited.
    known, several : sequence of str
        Parameters that may be there once, and as often as wanted.
    private : str, optional
        The answer is about a person, or depends on who asks, which this header says; empty where none does.
    """

    async def endpoint(request: Request) -> Response:
        given = {**values_of(request.query_params.multi_items(), known, several), **request.path_params}
        told = answer(given, request)
        if inspect.isawaitable(told):
            told = await told
        tag = tag_of(told)
        headers = {**HEADERS, "ETag": tag, "Cache-Control": "no-cache" if private is None else "private, no-cache"}
        if private:
            headers["Vary"] = private
        if tag in [each.strip() for each in request.headers.get("if-none-match", "").split(",")]:
            return Response(None, 304, headers)
        return Response(json.dumps(told, allow_nan=False), 200, headers, "application/json")

    return Route(path, endpoint)


def page_route(path: str, page: Callable[[Given, Request], Response], known: Sequence[str]) -> Route:
    """Return a route that answers with a page; it takes what ``json_route`` takes."""

    async def endpoint(request: Request) -> Response:
        given = values_of(request.query_params.multi_items(), known)
        return page({**given, **request.path_params}, request)

    return Route(path, endpoint)


def tag_of(told: Any) -> str:
    """Return what two answers have in common that differ by their age alone."""
    return f'W/"{hashlib.sha256(json.dumps(_without_age(told)).encode()).hexdigest()[:32]}"'


def _without_age(told: Any) -> Any:
    """Return an answer without how old what is known is."""
    if isinstance(told, dict):
        return {name: _without_age(value) for name, value in told.items() if name != "age_seconds"}
    return [_without_age(each) for each in told] if isinstance(told, list) else told
