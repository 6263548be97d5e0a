# SPDX-License-Identifier: BSD-3-Clause
"""A server on 127.0.0.1 that follows a script, for the tests of downloading.

It gives one ``Answer`` per request, the last one to all further requests.
"""

from __future__ import annotations

import gzip
import hashlib
import random
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

# Text that compresses badly, so that the compressed log is longer than one read of a socket.
TEXT = b"; Version: 2.2\n" + bytes(random.Random(8).choices(b"0123456789 \n", k=1_000_000))
LOG = gzip.compress(TEXT, mtime=0)
SUM = hashlib.sha256(TEXT).hexdigest()
HALF = len(LOG) // 2


@dataclass
class Answer:
    """How the server answers one request."""

    status: int = 200
    body: bytes = LOG
    headers: dict[str, str] = field(default_factory=dict)
    etag: str | None = '"one"'
    cut: int | None = None
    """Send only so many bytes of the body, then close the connection."""
    hold: threading.Event | None = None
    """After ``cut`` bytes wait for this event, and then send the rest."""
    ranges: bool = True
    if_range: bool = True
    length: bool = True
    endless: bool = False
    """Send the body again and again."""
    trickles: bool = False
    """Send a byte now and then."""


class Server:
    """The scripted server: its answers, and the requests it got."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.answers: list[Answer] = [Answer()]
        self.requests: list[dict[str, str]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests.append({"path": self.path, **{k.lower(): v for k, v in self.headers.items()}})
                answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                try:
                    respond(self, answer)
                except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
                    self.close_connection = True

            def log_message(self, *args: Any) -> None:
                """Write nothing to the terminal."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self.base = f"{'https' if tls else 'http'}://127.0.0.1:{self._http.server_port}"
        self.url = f"{self.base}/KTH.swf.gz"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait until every answer is given."""
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def respond(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    """Send one answer; ranges as RFC 9110 has them, unless the answer says otherwise."""
    status, body = answer.status, answer.body
    headers = dict(answer.headers)
    if answer.etag:
        headers["ETag"] = answer.etag
    asked = handler.headers.get("Range")
    same = not answer.if_range or handler.headers.get("If-Range") in (answer.etag, headers.get("Last-Modified"))
    if status == 200 and asked and answer.ranges and same:
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        status = 206 if start < len(body) else 416
        headers["Content-Range"] = (
            f"bytes {start}-{len(body) - 1}/{len(body)}" if status == 206 else f"bytes */{len(body)}"
        )
        body = body[start:]
    headers.setdefault("Content-Length", str(len(body)))
    if not answer.length:
        del headers["Content-Length"]
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    for byte in body if answer.trickles else b"":
        handler.wfile.write(bytes([byte]))
        time.sleep(0.01)
    handler.wfile.write(body[: answer.cut])
    while answer.endless:
        handler.wfile.write(body)
    if answer.hold is not None:
        handler.wfile.flush()
        answer.hold.wait(30)
        handler.wfile.write(body[answer.cut :])


def names(directory: Path) -> list[str]:
    """Return the names of all files in a directory but locks, which stay."""
    return sorted(path.name for path in directory.iterdir() if path.suffix != ".lock")


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for another thread or process, at most half a minute."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
