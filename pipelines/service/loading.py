# SPDX-License-Identifier: BSD-3-Clause
"""While a service reads what it had learnt, it answers 503 and says when to ask again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pipelines.service.problems import HEADERS, problem

RETRY_AFTER = "5"
"""Seconds after which it is worth to ask again."""

TOLD = "the service has just begun, and learns what it knew; ask again in a few seconds"


class Loading:
    """Answers 503 until an application is made, which takes a while; then that answers.

    Parameters
    ----------
    make : callable
        Makes it, in a thread beside; nobody waits for that thread at the end.
    ready : callable
        Called when it answers.
    failed : callable
        Called when it cannot be made, or cannot begin.

    Attributes
    ----------
    failure : BaseException or None
        Why it cannot be made, or cannot begin.
    """

    def __init__(self, make: Callable[[], Starlette], ready: Callable[[], None], failed: Callable[[], None]) -> None:
        self._make, self._ready, self._failed = make, ready, failed
        self._app: Starlette | None = None
        self.failure: BaseException | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            answer = problem(_plain, Request(scope), 503, TOLD)
            answer.headers["Retry-After"] = RETRY_AFTER
            await answer(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        """Begin, and end with the application, if there is one by then."""
        await receive()
        async with AsyncExitStack() as stack:
            beginning = asyncio.create_task(self._begin(stack))
            await send({"type": "lifespan.startup.complete"})
            await receive()
            beginning.cancel()
            await asyncio.gather(beginning, return_exceptions=True)
        await send({"type": "lifespan.shutdown.complete"})

    async def _begin(self, stack: AsyncExitStack) -> None:
        """Make the application, and let it answer."""
        loop = asyncio.get_running_loop()
        made: asyncio.Future[Starlette | None] = loop.create_future()

        def tell(app: Starlette | None) -> None:
            if not made.done():  # somebody waits for it yet
                made.set_result(app)

        def make() -> None:
            app = None
            try:
                app = self._make()
            except BaseException as error:  # noqa: BLE001 (it is raised where the command waits)
                self.failure = error
            with suppress(RuntimeError):  # the service has ended meanwhile
                loop.call_soon_threadsafe(tell, app)

        threading.Thread(target=make, daemon=True, name="loading").start()
        app = await made
        if app is None:
            self._failed()
            return
        try:
            await stack.enter_async_context(app.router.lifespan_context(app))
            self._app = app
            self._ready()
        except Exception as error:  # noqa: BLE001 (as above)
            self.failure = error
            self._failed()


def _plain(_: str, __: str, status: int, *, told: str) -> Response:
    """Return plain words: pages need what is not there yet."""
    return Response(f"{told}\n", status, {**HEADERS, "Cache-Control": "no-store"}, "text/plain; charset=utf-8")
