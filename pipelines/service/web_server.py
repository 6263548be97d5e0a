# SPDX-License-Identifier: BSD-3-Clause
"""The process that listens: uvicorn, told how many may wait and for how long."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import resource
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette

from pipelines.service.connections import OpenConnections, PatientProtocol
from pipelines.service.loading import Loading
from swftools.errors import ParameterError

FILES = 4096
"""Files that the process may have open, if the system allows so many."""

SHARE_OF_CONNECTIONS = 0.75
"""Of the files that may be open; the others are for the journal, for commands, and for connections that just came."""

AT_ONCE = 50
"""Connections that are taken in one after the other before those are counted."""

QUEUE = 2048
"""Connections that wait to be taken in."""

PATIENCE = 15.0
"""Seconds in which a request is whole, answered, and its answer read; then the connection is ended."""

IDLE = 5
"""Seconds that a connection without a request is kept for another one."""

HEADERS_BYTES = 16_384
"""Of an address and headers that have come so far and are not whole; beyond, they are refused."""


def run(make: Callable[[], Starlette], host: str, port: int, say: Callable[[str], None]) -> None:
    """Answer until it is interrupted; until the application is made, by 503.

    Parameters
    ----------
    make : callable
        Makes the application.
    host, port : str, int
        Where to listen; port 0 is any that is free.
    say : callable
        Called with the address, when the application answers.

    Raises
    ------
    ParameterError
        Somebody else listens there, or the address is none of this machine.
    Exception
        Whatever making the application raises.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Of TCP by its name: only then do connections send at once (TCP_NODELAY), and not after 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(QUEUE)  # who asks from now on waits for the answer
    except OSError as error:
        listening.close()
        raise ParameterError(
            f"--host {host} --port {port}: cannot listen there: {error.strerror}; choose another port, 0 for any"
        ) from error
    chosen = f"[{host}]" if ":" in host else host
    address = f"http://{chosen}:{listening.getsockname()[1]}/"

    def ready() -> None:
        gc.freeze()  # what is known by now stays; to look at it for garbage would stop answers for a tenth of a second
        say(address)

    connections = OpenConnections(int(SHARE_OF_CONNECTIONS * open_files()), PATIENCE)
    loading = Loading(make, ready, lambda: setattr(server, "should_exit", True))
    server = _Server(_config(loading, connections), connections, listening)
    try:
        server.run([listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()
    if loading.failure is not None:
        raise loading.failure


def open_files() -> int:
    """Allow this process more open files, if the system does; return how many it may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return most
    with contextlib.suppress(OSError, ValueError):  # some systems allow less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return soft


def _config(app: Any, connections: OpenConnections) -> uvicorn.Config:
    """Return how uvicorn is to listen."""

    class Counted(PatientProtocol):
        """Connections of this server."""

        open_connections = connections

    return uvicorn.Config(
        app,
        loop="asyncio",
        http=Counted,
        ws="none",
        log_level="error",  # what clients send that is no request is no news
        access_log=False,
        backlog=AT_ONCE,
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=IDLE,
        h11_max_incomplete_event_size=HEADERS_BYTES,
        server_header=False,
        proxy_headers=False,  # who is a trusted peer is told by the connection, not by a header
    )


class _Server(uvicorn.Server):
    """A server that ends connections whose time is over.

    Parameters
    ----------
    config : uvicorn.Config
        How it listens.
    connections : OpenConnections
        Those that it has.
    listening : socket.socket
        Where it listens.
    """

    def __init__(self, config: uvicorn.Config, connections: OpenConnections, listening: socket.socket) -> None:
        super().__init__(config)
        self._connections, self._listening = connections, listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin; ``backlog`` is how many are taken in at once, while many more may wait for that."""
        await super().startup(sockets)
        self._listening.listen(QUEUE)

    async def main_loop(self) -> None:
        """Serve, and look at the clock meanwhile."""
        looking = asyncio.create_task(self._look())
        try:
            await super().main_loop()
        finally:
            looking.cancel()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            self._connections.end_old()
