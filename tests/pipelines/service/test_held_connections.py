# SPDX-License-Identifier: BSD-3-Clause
"""A service in a process that may have 1,024 files open, and 1,100 clients that hold what they can."""

from __future__ import annotations

import contextlib
import re
import resource
import select
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.service import web_server
from tests.pipelines.luigi_runs import SWFTOOLS, environment

FILES = 1024
HELD = 1100


@contextlib.contextmanager
def served(folder: Path) -> Iterator[tuple[str, int, subprocess.Popen[str]]]:
    """Yield the address of a service that plays a log and may have 1,024 files open, and its process."""
    log = folder / "mine.swf"
    lines = "".join(f"{n} {n * 60} 5 60 4 -1 -1 4 90 -1 1 1 -1 -1 1 -1 -1 -1\n" for n in range(1, 400))
    log.write_text("; MaxProcs: 8\n" + lines)
    command = ["sh", "-c", f'ulimit -n {FILES} && exec "$@"', "sh", *SWFTOOLS, "serve", "--replay", str(log)]
    command += ["--port", "0", "--quiet", "--speed", "1", "--training", "20"]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, env=environment(), **pipes) as process:
        try:
            address = re.search(r"http://([\d.]+):(\d+)/", process.stdout.readline())  # type: ignore[union-attr]
            assert address is not None, process.stderr.read()  # type: ignore[union-attr]
            yield address[1], int(address[2]), process
        finally:
            process.kill()


@pytest.fixture
def many_files() -> Iterator[None]:
    """Let this process have more sockets open than the service may."""
    limits = soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * HELD + 200
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip(f"needs {needed} open files, and {hard} are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def asked(host: str, port: int, path: str = "/api/v1/wait?queue=1", patience: float = 5.0) -> tuple[int, float]:
    """Ask as a client that just comes; return the status, and the seconds that it took."""
    begun = time.monotonic()
    with socket.create_connection((host, port), timeout=patience) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        whole = b"".join(iter(lambda: client.recv(65_536), b""))
    return int(whole.split(b" ", 2)[1]), time.monotonic() - begun


def trickle(client: socket.socket) -> None:
    """Send a header that goes on."""
    client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: a")


def slow_body(client: socket.socket) -> None:
    """Announce a body, and send a byte of it."""
    client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\na")


def silent(client: socket.socket) -> None:
    """Say nothing."""


def idle(client: socket.socket) -> None:
    """Ask once, read the answer, and stay."""
    client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    client.recv(65_536)


def never_reads(client: socket.socket) -> None:
    """Ask again and again, and read nothing."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(b"GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)


@pytest.mark.slow
@pytest.mark.parametrize("hold", [trickle, slow_body, silent, idle, never_reads])
def test_a_new_client_is_served_within_a_second(
    hold: Callable[[socket.socket], None], tmp_path: Path, many_files: None
) -> None:
    """While 1,100 clients hold all that a process with 1,024 files could have; and afterwards all are ended."""
    with served(tmp_path) as (host, port, process), contextlib.ExitStack() as held:
        clients = []
        for _ in range(HELD):
            client = held.enter_context(socket.create_connection((host, port), timeout=5.0))
            with contextlib.suppress(OSError):  # the service has ended it already
                hold(client)
            clients.append(client)
        for _ in range(5):
            status, seconds = asked(host, port)
            assert (status, seconds < 1.0) == (200, True), seconds
        ends = time.monotonic() + web_server.PATIENCE + 5.0
        while (left := still_open(clients)) and time.monotonic() < ends:
            time.sleep(0.5)
            assert asked(host, port)[1] < 1.0
        assert left == 0
        process.terminate()
        assert process.communicate(timeout=30)[1] == ""


def still_open(clients: list[socket.socket]) -> int:
    """Return how many connections the service has not ended; what they are sent is read and thrown away."""
    return sum(not is_over(client) for client in clients)


def is_over(client: socket.socket) -> bool:
    """Return whether a connection was ended from the other side."""
    poll = select.poll()
    poll.register(client, select.POLLRDHUP | select.POLLHUP | select.POLLERR)
    return bool(poll.poll(0))


@pytest.mark.slow
def test_all_at_once(tmp_path: Path, many_files: None) -> None:
    """1,100 connections in the same moment, of clients that begin a request and of those that finish it."""
    with served(tmp_path) as (host, port, process), contextlib.ExitStack() as held:
        clients = [held.enter_context(socket.socket()) for _ in range(HELD)]
        for client in clients:
            client.setblocking(False)
            client.connect_ex((host, port))
        status, seconds = asked(host, port)
        assert (status, seconds < 1.0) == (200, True), seconds
        process.terminate()
        assert process.communicate(timeout=30)[1] == ""


@pytest.mark.slow
def test_single_clients_that_are_hostile(tmp_path: Path) -> None:
    """Half-closed ones are answered or ended, 10 MB of headers are refused; it ends while somebody does not read."""
    with served(tmp_path) as (host, port, process), contextlib.ExitStack() as held:
        half = held.enter_context(socket.create_connection((host, port), timeout=5.0))
        half.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        half.shutdown(socket.SHUT_WR)
        assert b"".join(iter(lambda: half.recv(65_536), b"")).startswith(b"HTTP/1.1 200")
        nothing = held.enter_context(socket.create_connection((host, port), timeout=5.0))
        nothing.shutdown(socket.SHUT_WR)
        assert nothing.recv(9) == b""
        flood = held.enter_context(socket.create_connection((host, port), timeout=5.0))
        flood.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        told = b""
        with contextlib.suppress(ConnectionError):
            for _ in range(10_000):
                flood.sendall(b"X-Much: " + b"a" * 1000 + b"\r\n")
            pytest.fail("10 MB of headers were taken")
        with contextlib.suppress(ConnectionError):
            told = flood.recv(65_536)
        assert told[:12] in (b"", b"HTTP/1.1 400")
        assert asked(host, port, "/api/v1/wait?" + "a" * 9_000)[0] == 414
        never_reads(held.enter_context(socket.create_connection((host, port), timeout=5.0)))
        process.terminate()
        assert process.communicate(timeout=15)[1] == ""
