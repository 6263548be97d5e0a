# SPDX-License-Identifier: BSD-3-Clause
"""Connections of a service: how many may be open, for how long, and what a client is told that sends no HTTP.

The web server ends a connection that is idle between two requests, and waits for ever for the end of a request, or for
a client that does not read. Here each connection has a while for a request and its answer. Where too many are open, the
one that has waited longest is ended, so that who comes now is served, whoever holds the others.
"""

from __future__ import annotations

import json
import time
from asyncio import Transport
from collections.abc import Callable
from typing import ClassVar, Protocol

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pipelines.service.problems import HEADERS

UNREADABLE = "the request cannot be read: it is no HTTP/1.1, or its address and headers are longer than 16 KiB"


class Ended(Protocol):
    """What can be ended."""

    def end(self) -> None:
        """End it at once, whatever it still waits for."""


class OpenConnections:
    """Those that are open, in the order in which they began to wait: for a request, or for its answer to be read.

    Parameters
    ----------
    most : int
        Of one more, the one is ended that has waited longest.
    patience : float
        Seconds from its beginning, or its last answer, to the next whole answer.
    now : callable
        Seconds that rise.
    """

    def __init__(self, most: int, patience: float, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._patience, self._now = most, patience, now
        self._since: dict[Ended, float] = {}  # a dict keeps its order, and who begins again goes to its end

    def __len__(self) -> int:
        return len(self._since)

    def came(self, connection: Ended) -> None:
        """Count one that begins; end the one that has waited longest if there are too many."""
        self._since[connection] = self._now()
        if len(self._since) > self._most:
            self._end(next(iter(self._since)))

    def answered(self, connection: Ended) -> None:
        """Begin anew with one that was answered, if it is not ended."""
        if self._since.pop(connection, None) is not None:
            self._since[connection] = self._now()

    def gone(self, connection: Ended) -> None:
        """Forget one that is closed."""
        self._since.pop(connection, None)

    def end_old(self) -> None:
        """End all whose time is over."""
        over = self._now() - self._patience
        for connection in [each for each, since in self._since.items() if since < over]:
            self._end(connection)

    def _end(self, connection: Ended) -> None:
        del self._since[connection]
        connection.end()


class PatientProtocol(H11Protocol):
    """A connection that is counted, and ended when its time is over."""

    open_connections: ClassVar[OpenConnections]

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(transport)
        self.open_connections.came(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection: it is closed."""
        self.open_connections.gone(self)
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request; what was answered may still wait to be read.

        A client that does not wait for the answer to ask again is answered once: else one of a hundred requests in a
        row, which it never reads, has a hundred turns while others wait for theirs.
        """
        if self.conn.trailing_data[0]:
            self.transport.close()
        if not self.transport.is_closing():
            self.open_connections.answered(self)
        super().on_response_complete()

    def end(self) -> None:
        """End it; what it was to be sent is thrown away."""
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (ours says what to do)
        """Tell a client that its request cannot be read, unless it is being told something else; end the connection."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # its answer has no reader, and must not come between
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            is_head = self.conn.our_state is h11.SEND_RESPONSE and self.scope["method"] == "HEAD"
            self.transport.write(_REFUSED if is_head else _REFUSED + _PROBLEM)
        self.transport.close()


_PROBLEM = json.dumps({"type": "about:blank", "title": "Bad Request", "status": 400, "detail": UNREADABLE}).encode()
_LINES = {
    **HEADERS,
    "Cache-Control": "no-store",
    "Content-Type": "application/problem+json",
    "Content-Length": str(len(_PROBLEM)),
    "Connection": "close",
}
_REFUSED = "".join(
    ["HTTP/1.1 400 Bad Request\r\n", *(f"{name}: {value}\r\n" for name, value in _LINES.items()), "\r\n"]
).encode("ascii")
