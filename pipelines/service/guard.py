# SPDX-License-Identifier: BSD-3-Clause
"""What is true of each answer, whoever makes it: its headers, and that an error is a document or a page of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LONGEST_ADDRESS = 8192
"""Bytes of a path with its parameters; what is longer is no question."""

TOLD = {
    400: "the service is not called by this name here; its operator adds names by --allowed-host",
    414: f"the address is longer than {LONGEST_ADDRESS} bytes",
}

Problem = Callable[[Request, int, str], Response]


class Guard:
    """Stands before an application.

    Parameters
    ----------
    app : ASGI application
        What answers.
    headers : mapping of str to str
        That each answer has, also those of the web framework itself.
    problem : callable
        Makes an answer of a request, a status and what is wrong; where the framework would answer with plain words.
    """

    def __init__(self, app: ASGIApp, headers: Mapping[str, str], problem: Problem) -> None:
        self._app, self._headers, self._problem = app, headers, problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            await self._problem(Request(scope), 414, TOLD[414])(scope, receive, send)
            return
        replaced = False

        async def guarded(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message.get("headers", ())))
                if message["status"] in TOLD and headers.get("content-type", "").startswith("text/plain"):
                    replaced = True
                    status = message["status"]
                    await self._problem(Request(scope), status, TOLD[status])(scope, receive, send)
                    return
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                message = {**message, "headers": headers.raw}
            if not replaced:
                await send(message)

        await self._app(scope, receive, guarded)
