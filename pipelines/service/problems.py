# SPDX-License-Identifier: BSD-3-Clause
"""What is answered where there is no answer: an RFC 9457 document for programs, a page for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pipelines.service.questions import Refusal
from swftools.output.shown_text import shown

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Of every answer."""

Page = Callable[..., Response]


def handlers(page: Page) -> dict[Any, Any]:
    """Return what is done about refusals and addresses that are not there; ``page`` makes a page of an error."""

    async def refused(request: Request, refusal: Refusal) -> Response:
        return problem(page, request, refusal.status, refusal.told)

    async def not_there(request: Request, error: HTTPException) -> Response:
        told = "there is no such page" if error.status_code == 404 else str(error.detail)
        return problem(page, request, error.status_code, told, error.headers)

    async def failed(request: Request, _: Exception) -> Response:  # which the web server writes into its log
        return problem(page, request, 500, "the service made a mistake; its log tells its operator which")

    return {Refusal: refused, HTTPException: not_there, Exception: failed}


def problem(page: Page, request: Request, status: int, told: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return what is wrong."""
    more = {**(headers or {}), **({"Retry-After": "60"} if status == 503 else {})}
    title = HTTPStatus(status).phrase
    if not request.scope["path"].startswith("/api/"):  # an address need not be one that can be taken apart
        made = page("error", title, status, told=told)
        made.headers.update(more)
        return made
    document = {"type": "about:blank", "title": title, "status": status, "detail": shown(told)}
    return Response(
        json.dumps(document), status, {**HEADERS, "Cache-Control": "no-store", **more}, "application/problem+json"
    )
