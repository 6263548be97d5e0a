# SPDX-License-Identifier: BSD-3-Clause
"""The process that listens: uvicorn, told how many may wait and for how long."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from swftools.errors import ParameterError

MOST_CONNECTIONS = 900
"""Connections at once; more are answered with 503, so that files that are open stay below the usual limit of 1,024."""


def run(app: Any, host: str, port: int, say: Callable[[str], None]) -> None:
    """Answer until it is interrupted.

    Parameters
    ----------
    app : object
        An application.
    host, port : str, int
        Where to listen; port 0 is any that is free.
    say : callable
        Called with the address, when it listens.

    Raises
    ------
    ParameterError
        Somebody else listens there, or the address is none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Of TCP by its name: only then do connections send at once (TCP_NODELAY), and not after 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(2048)  # who asks from now on waits for the answer
    except OSError as error:
        listening.close()
        raise ParameterError(
            f"--host {host} --port {port}: cannot listen there: {error.strerror}; choose another port, 0 for any"
        ) from error
    chosen = f"[{host}]" if ":" in host else host
    say(f"http://{chosen}:{listening.getsockname()[1]}/")
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=5,
        server_header=False,
        proxy_headers=False,  # who is a trusted peer is told by the connection, not by a header
    )
    server = uvicorn.Server(config)
    try:
        server.run([listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()
