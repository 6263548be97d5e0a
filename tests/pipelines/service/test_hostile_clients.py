# SPDX-License-Identifier: BSD-3-Clause
"""Clients that hold connections, send no HTTP, or do not read: others are served meanwhile."""

from __future__ import annotations

import asyncio
import json
import re
import resource
from typing import Any

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.server import ServerState

from pipelines.service import web_server
from pipelines.service.connections import OpenConnections
from pipelines.service.problems import HEADERS
from tests.pipelines.service.asked import Asker, small_service

ASKER = Asker(small_service())

GET = b"GET /api/v1/wait?queue=batch HTTP/1.1\r\nHost: localhost\r\n"


class Ends:
    """Something that is ended."""

    def __init__(self) -> None:
        self.is_ended = False

    def end(self) -> None:
        """Be ended."""
        self.is_ended = True


def test_of_too_many_the_one_ends_that_has_waited_longest() -> None:
    """And not the one that came first, if that was answered since."""
    clock = [0.0]
    open_ones = OpenConnections(3, 10.0, lambda: clock[0])
    first, second, third, fourth, fifth = (Ends() for _ in range(5))
    for each in (first, second, third):
        open_ones.came(each)
    open_ones.answered(first)
    assert [each.is_ended for each in (first, second, third)] == [False, False, False]
    open_ones.came(fourth)
    assert [each.is_ended for each in (first, second, third, fourth)] == [False, True, False, False]
    open_ones.gone(second)
    open_ones.gone(third)
    open_ones.came(fifth)
    assert [each.is_ended for each in (first, third, fourth, fifth)] == [False] * 4
    assert len(open_ones) == 3
    open_ones.answered(second)  # it is ended, and does not come back
    assert len(open_ones) == 3


def test_who_takes_too_long_is_ended() -> None:
    """Counted from its beginning, or its last answer."""
    clock = [0.0]
    open_ones = OpenConnections(9, 10.0, lambda: clock[0])
    slow, good, late = (Ends() for _ in range(3))
    open_ones.came(slow)
    open_ones.came(good)
    clock[0] = 6.0
    open_ones.answered(good)
    open_ones.came(late)
    clock[0] = 10.0
    open_ones.end_old()
    assert [each.is_ended for each in (slow, good, late)] == [False] * 3
    clock[0] = 10.1
    open_ones.end_old()
    assert [each.is_ended for each in (slow, good, late)] == [True, False, False]
    clock[0] = 16.1
    open_ones.end_old()
    assert [each.is_ended for each in (good, late)] == [True, True]
    assert len(open_ones) == 0


class Wire(asyncio.Transport):
    """What a connection writes to."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 9), "sockname": ("127.0.0.1", 8017)})
        self.sent, self.is_closed, self.is_aborted = b"", False, False

    def write(self, data: Any) -> None:
        """Be written to."""
        self.sent += bytes(data)

    def close(self) -> None:
        """Be closed."""
        self.is_closed = True

    def abort(self) -> None:
        """Be closed at once."""
        self.is_closed = self.is_aborted = True

    def is_closing(self) -> bool:
        """Return whether it is closed."""
        return self.is_closed

    def pause_reading(self) -> None:
        """Nothing is read from it."""

    def resume_reading(self) -> None:
        """Nothing is read from it."""


def sent(*parts: bytes, most: int = 9) -> tuple[Wire, OpenConnections]:
    """Return a wire on which these parts came one after the other, and the connections that are open."""

    async def come() -> tuple[Wire, OpenConnections]:
        connections = OpenConnections(most, 10.0)
        config = web_server._config(ASKER.app, connections)
        config.load()
        made: Any = config.http_protocol_class
        state = ServerState()
        protocol, wire = made(config, state, {}), Wire()
        protocol.connection_made(wire)
        for part in parts:
            if not wire.is_closed:
                protocol.data_received(part)
            for _ in range(100):
                await asyncio.sleep(0)
            assert not state.tasks
        return wire, connections

    return asyncio.run(come())


def answers(wire: Wire, method: str = "GET") -> list[tuple[int, dict[str, str], bytes]]:
    """Return what was written, as a client reads it."""
    client = h11.Connection(h11.CLIENT)
    found: list[tuple[int, dict[str, str], bytes]] = []
    rest = wire.sent
    while rest:
        client.send(h11.Request(method=method, target="/", headers=[("host", "x")]))
        client.send(h11.EndOfMessage())
        client.receive_data(rest)
        client.receive_data(b"") if wire.is_closed else None
        status, headers, body = 0, {}, b""
        while not isinstance(event := client.next_event(), h11.EndOfMessage):
            assert event is not h11.NEED_DATA
            if isinstance(event, h11.Response):
                status = event.status_code
                headers = {name.decode(): value.decode() for name, value in event.headers}
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
        found.append((status, headers, body))
        rest = client.trailing_data[0]
        client = h11.Connection(h11.CLIENT)
    return found


@pytest.mark.parametrize(
    "parts",
    [
        [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],  # TLS
        [b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n"],
        [b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
        [b"GET / HTTP/1.1\r\n\r\n"],
        [GET + b"X: a\x00b\r\n\r\n"],
        [GET + b"Content-Length: -1\r\n\r\n"],
        [GET + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n"],
        [b"GET /" + b"a" * 20_000],
        [GET + b"X: " + b"a" * 10_000, b"a" * 10_000],
        [GET + b"X: y\r\n" * 5_000],
    ],
)
def test_what_is_no_request(parts: list[bytes]) -> None:
    """Is told so, in our form and with our headers, and the connection ends."""
    wire, _ = sent(*parts)
    ((status, headers, body),) = answers(wire)
    assert (status, headers["content-type"], headers["connection"]) == (400, "application/problem+json", "close")
    assert {name: headers.get(name.lower()) for name in HEADERS} == HEADERS
    assert "16 KiB" in json.loads(body)["detail"]
    assert wire.is_closed


def test_headers_that_come_slowly_are_a_request() -> None:
    """Byte for byte; the next request on the same connection, too."""
    whole = GET + b"\r\n"
    wire, connections = sent(*[bytes([byte]) for byte in whole], whole)
    assert [status for status, _, _ in answers(wire)] == [200, 200]
    assert not wire.is_closed
    assert len(connections) == 1


def test_who_does_not_wait_for_an_answer_has_one() -> None:
    """Of a hundred requests in a row the first is answered, and the connection ends."""
    wire, _ = sent((GET + b"\r\n") * 100)
    assert [status for status, _, _ in answers(wire)] == [200]
    assert wire.is_closed


@pytest.mark.parametrize(
    "parts",
    [
        [b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n"],
        [GET + b"\r\n", b"\x00\x00\r\n\r\n"],
        [b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", b"zz\r\n"],
        [b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
        [GET + b"\r\n" + GET + b"\r\n" + b"\x00\r\n\r\n"],
        [GET + b"Upgrade: websocket\r\nConnection: upgrade\r\n\r\n", b"\x81\x05hello"],
        [GET + b"Upgrade: h2c\r\nConnection: upgrade, http2-settings\r\n\r\n"],
        [GET + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"],
        [b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999\r\n\r\n", *[b"a" * 70_000] * 3],
    ],
)
def test_a_request_with_nonsense_behind_it(
    parts: list[bytes], caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first is answered or told, nothing is written that is no answer, and nobody can fill the log."""
    wire, _ = sent(*parts)
    for status, headers, _ in answers(wire):
        assert status in (200, 400, 405)
        assert {name: headers.get(name.lower()) for name in HEADERS} == HEADERS
    assert (caplog.records, capfd.readouterr().err) == ([], "")


def test_what_is_no_request_and_asks_for_headers_alone() -> None:
    """Is told without a body."""
    wire, _ = sent(b"HEAD / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
    ((status, headers, body),) = answers(wire, "HEAD")
    assert (status, headers["content-type"], body) == (400, "application/problem+json", b"")
    assert wire.is_closed


def test_nonsense_in_the_midst_of_an_answer() -> None:
    """Ends the connection, and writes nothing into the answer; what the application still sends goes nowhere."""
    goes_on = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"ab", "more_body": True})
        await goes_on.wait()
        await send({"type": "http.response.body", "body": b"cd", "more_body": False})

    async def come() -> Wire:
        config = web_server._config(slow, OpenConnections(9, 10.0))
        config.load()
        made: Any = config.http_protocol_class
        state, wire = ServerState(), Wire()
        protocol = made(config, state, {})
        protocol.connection_made(wire)
        protocol.data_received(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(10):
            await asyncio.sleep(0)
        protocol.data_received(b"zz\r\n")
        goes_on.set()
        for _ in range(10):
            await asyncio.sleep(0)
        assert not state.tasks
        return wire

    wire = asyncio.run(come())
    assert wire.is_closed
    assert wire.sent.endswith(b"\r\n\r\nab")
    assert wire.sent.count(b"HTTP/1.1") == 1


_line = st.sampled_from(
    [b"GET / HTTP/1.1", b"GET /api/v1/wait?queue=batch HTTP/1.1", b"HEAD * HTTP/1.0", b"X"]
) | st.binary(max_size=20)
_part = st.sampled_from(
    [b"\r\n", b"\n", b"Host: localhost\r\n", b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n"]
) | st.binary(max_size=12)


@given(_line, st.lists(_part, max_size=8), st.booleans())
def test_any_bytes(line: bytes, parts: list[bytes], is_at_once: bool) -> None:
    """Are answered in our form, or waited for, and never by a mistake."""
    whole = [line + b"\r\n", *parts]
    wire, _ = sent(b"".join(whole)) if is_at_once else sent(*whole)
    if wire.sent.startswith(b"HTTP/1.1 100"):
        return
    assert not re.search(rb"HTTP/1.1 5\d\d", wire.sent)
    assert wire.sent.count(b"HTTP/1.1 ") == wire.sent.lower().count(b"\r\nx-content-type-options: nosniff\r\n")


def test_a_client_that_comes_ends_the_oldest() -> None:
    """Through the protocol itself: it is aborted, and forgotten."""

    async def come() -> list[bool]:
        connections = OpenConnections(2, 10.0)
        config = web_server._config(ASKER.app, connections)
        config.load()
        made: Any = config.http_protocol_class
        wires, state = [Wire() for _ in range(3)], ServerState()
        protocols = [made(config, state, {}) for _ in wires]
        for protocol, wire in zip(protocols[:2], wires, strict=False):
            protocol.connection_made(wire)
        protocols[0].data_received(GET + b"\r\n")
        for _ in range(100):
            await asyncio.sleep(0)
        assert not state.tasks
        protocols[2].connection_made(wires[2])
        protocols[1].connection_lost(None)
        assert len(connections) == 2
        protocols[0].connection_lost(None)
        assert len(connections) == 1
        return [wire.is_aborted for wire in wires]

    assert asyncio.run(come()) == [False, True, False]


@pytest.mark.parametrize(
    ("limits", "allowed", "most", "raised"),
    [
        ((256, 1024), True, 1024, (1024, 1024)),
        ((1024, 1 << 20), True, 4096, (4096, 1 << 20)),
        ((1024, resource.RLIM_INFINITY), True, 4096, (4096, resource.RLIM_INFINITY)),
        ((1 << 20, 1 << 20), True, 4096, None),
        ((1024, 1024), True, 1024, None),
        ((256, 1024), False, 256, None),
    ],
)
def test_files_that_may_be_open(
    limits: tuple[int, int], allowed: bool, most: int, raised: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Are as many as are needed, where the system allows it; else as many as there are."""
    asked: list[Any] = []

    def set_limits(_: int, to: tuple[int, int]) -> None:
        if not allowed:
            raise OSError(1, "Operation not permitted")
        asked.append(to)

    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", set_limits)
    assert web_server.open_files() == most
    assert asked == ([] if raised is None else [raised])
