# SPDX-License-Identifier: BSD-3-Clause
"""A web server for tests of what asks one: it answers each request with the same, and keeps what was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Served(ThreadingHTTPServer):
    """A server on a port of this machine.

    ``says`` sets the answer; ``length`` is what it claims to be long; one that ``is_slow`` goes on and on.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.status, self.content, self.body = 200, "application/json", b"{}"
        self.length: int | None = None
        self.is_slow = False
        self.ends = threading.Event()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"

    def says(self, told: Any, status: int = 200, content: str = "application/json") -> None:
        """Answer with this."""
        self.body = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.status, self.content = status, content


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Served

    def do_GET(self) -> None:
        """Answer."""
        self.server.asked.append(self.path)
        self.send_response(self.server.status)
        self.send_header("Content-Type", self.server.content)
        self.send_header("Content-Length", str(self.server.length or len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)
        with suppress(ConnectionError):
            while self.server.is_slow and not self.server.ends.wait(0.02):
                self.wfile.write(b" ")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[Served]:
    """Start a server, and end it."""
    with Served() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.ends.set()
            server.shutdown()
            thread.join()
