# SPDX-License-Identifier: BSD-3-Clause
"""Whatever a client sends is answered, and never by a mistake of ours."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import Response

from pipelines.service.guard import LONGEST_ADDRESS, Guard
from pipelines.service.problems import HEADERS
from tests.pipelines.service.asked import HOST, Asker, assert_as_promised, small_service

ASKER = Asker(small_service(), ("localhost", "[::1]"))

PATHS = (
    *("/", "/queues", "/queue/batch", "/queue/none", "/job/7", "/api/v1/jobs/7", "/api/v1/where", "/api/v1/start"),
    *("/api/v1/reserve", "/api/v1/plan", "/api/v1/wait", "/api/v1/clusters", "/api/v1/queues", "/api/v1/accuracy"),
    "/api/v1/openapi.json",
)
OTHERS = (
    "/metrics",
    "/healthz",
    "/style.css",
    "/api/v1/",
    "/api/v1/wait/",
    "/api",
    "/queues/",
    "*",
    "localhost:80",
    "",
)
NAMES = (
    *("cluster", "queue", "group", "processors", "time", "within", "quantile", "user", ""),
    *("at", "confidence", "by", "start", "probability", "piece"),
)
VALUES = (
    *("batch", "night", "blue", "1", "0.5", ".9", "2h", "1-12:00:00", "4", "nan", "inf", "-0", "1e400", "0x10", "1_0"),
    *("\u0663", "\u00b2", "%", "%00", "%ff%fe", "+", "a" * 50, "9" * 30, "<b>", "\x1b[31m", "\u202e", "1:2:3:4:5"),
    *("2000-01-01T12:00:00Z", "9999-12-31T23:59:59+00:00", "0001-01-01", "now", "batch:4:2h", "blue/batch:4:2h", "+2h"),
)

_text = st.sampled_from(VALUES) | st.text(max_size=20)
_pairs = st.lists(st.tuples(st.sampled_from(NAMES) | st.text(max_size=5), _text), max_size=5)
_queries = st.binary(max_size=60) | _pairs.map(
    lambda pairs: "&".join(f"{n}={v}" for n, v in pairs).encode("utf-8", "replace")
)
_paths = st.sampled_from(PATHS + OTHERS) | st.text(max_size=30) | st.text(max_size=30).map("/api/v1/{}".format)
_names = st.sampled_from([b"if-none-match", b"accept", b"range", b"x-forwarded-for", b"cookie", b"content-length"])
_headers = st.lists(st.tuples(_names, st.binary(max_size=30)), max_size=3)
_hosts = st.sampled_from([b"localhost", b"LOCALHOST:80", b"[::1]:8017", b"[", b"", b"evil.example"]) | st.binary(
    max_size=20
)
_methods = st.sampled_from(["GET", "HEAD", "POST", "OPTIONS", "TRACE", "CONNECT", "get", "X" * 30])


@given(_paths, _queries, _headers, _hosts, _methods)
def test_whatever_is_asked(path: str, query: bytes, headers: Any, host: bytes, method: str) -> None:
    """Addresses, parameters, headers, names of hosts and methods that mean nothing."""
    told = ASKER.ask(path, query, [(b"host", host), *headers], method)
    assert_as_promised(told, path, method)


@given(st.sampled_from(PATHS), _pairs)
def test_what_is_nearly_right(path: str, pairs: list[tuple[str, str]]) -> None:
    """Parameters that there are, with values that somebody could have meant."""
    query = "&".join(f"{name}={value}" for name, value in [("queue", "batch"), *pairs]).encode("utf-8", "replace")
    assert_as_promised(ASKER.ask(path, query), path)


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("/api/v1/wait", "GET", [(b"host", b"evil.example")], 400),
        ("/api/v1/wait", "GET", [(b"host", b"[")], 400),
        ("/api/v1/wait", "GET", [], 400),
        ("/api/v1/wait", "POST", [HOST], 405),
        ("/api/v1/nothing", "GET", [HOST], 404),
        ("/nothing", "GET", [HOST], 404),
        ("/queues", "POST", [HOST], 405),
        ("*", "OPTIONS", [HOST], 404),
        ("localhost:99999", "CONNECT", [HOST], 404),
        ("/", "GET", [(b"host", b"evil.example")], 400),
        ("/queues/", "GET", [HOST], 404),
        ("/style.css", "GET", [HOST], 200),
        ("/healthz", "GET", [HOST], 200),
        ("/metrics", "GET", [HOST], 200),
        ("/", "GET", [(b"host", b"[::1]:8017")], 200),
    ],
)
def test_each_kind_of_answer(path: str, method: str, headers: Any, status: int) -> None:
    """Those of the framework among them: they have our headers and our form."""
    told = ASKER.ask(path, b"", headers, method)
    assert told.status == status
    assert_as_promised(told, path, method)
    if status == 405:
        assert set(told.headers["allow"].split(", ")) == {"GET", "HEAD"}
    if headers == [(b"host", b"evil.example")]:
        assert b"--allowed-host" in told.body
        assert b"evil" not in told.body


def test_an_address_that_is_too_long() -> None:
    """Is refused before it is read; one that is just short enough is read."""
    queue = b"queue=batch"
    fill = b"&quantile=.5" * 800
    longest = LONGEST_ADDRESS - len(b"/api/v1/wait")
    assert ASKER.ask("/api/v1/wait", (queue + fill)[: longest - 4] + b"&x=1").status == 400
    told = ASKER.ask("/api/v1/wait", (queue + fill)[: longest + 1])
    assert told.status == 414
    assert_as_promised(told, "/api/v1/wait")
    assert "8192 bytes" in json.loads(told.body)["detail"]


def test_a_mistake_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is told without a word of it, as a problem document or a page, and raised for the log."""
    service = small_service()
    monkeypatch.setattr(service.clusters["blue"], "answer", lambda *_, **__: 1 / 0)
    told: list[Any] = []

    async def send(message: Any) -> None:
        told.append(message)

    asker = Asker(service)
    make = asker.app

    async def keeping(scope: Any, receive: Any, _: Any) -> None:
        await make(scope, receive, send)

    asker.app = keeping  # type: ignore[assignment]
    for path, kind in (("/api/v1/wait", "application/problem+json"), ("/", "text/html; charset=utf-8")):
        told.clear()
        with pytest.raises(ZeroDivisionError):
            asker.ask(path, b"queue=batch" if path != "/" else b"group=batch")
        headers = {name.decode(): value.decode() for name, value in told[0]["headers"]}
        assert (told[0]["status"], headers["content-type"]) == (500, kind)
        assert {name: headers.get(name.lower()) for name in HEADERS} == HEADERS
        assert b"its log tells" in told[1]["body"]
        assert b"Zero" not in told[1]["body"]


def test_an_answer_without_headers_gets_them() -> None:
    """Whoever made it; what it has of them already stays."""

    async def bare(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"referrer-policy", b"origin")]})
        await send({"type": "http.response.body", "body": b"x"})

    asker = Asker(small_service())
    asker.app = Guard(bare, HEADERS, lambda *_: Response())  # type: ignore[assignment]
    told = asker.ask("/")
    assert (told.status, told.body) == (200, b"x")
    assert told.headers == {name.lower(): value for name, value in HEADERS.items()} | {"referrer-policy": "origin"}
