# SPDX-License-Identifier: BSD-3-Clause
"""Until a service knows what it knew it says so; then it answers, and what it cannot begin with ends it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pipelines.service import web_server
from pipelines.service.loading import Loading
from swftools.errors import ParameterError


class Made:
    """An application that is made when it is let, and notes what happens."""

    def __init__(self) -> None:
        self.may, self.events, self.is_ready = threading.Event(), list[str](), threading.Event()

    def __call__(self) -> Starlette:
        """Make it."""
        assert self.may.wait(30)

        @asynccontextmanager
        async def lifespan(_: Starlette) -> Iterator[None]:  # type: ignore[misc]
            self.events.append("begins")
            yield
            self.events.append("ends")

        return Starlette(routes=[Route("/", lambda _: PlainTextResponse("here"))], lifespan=lifespan)

    def ready(self) -> None:
        """Note that it answers."""
        self.events.append("ready")
        self.is_ready.set()


def test_who_asks_too_early_is_told_when_to_ask_again() -> None:
    """As a document for programs, in words for people; then the application answers, and ends with the service."""
    made = Made()
    with TestClient(Loading(made, made.ready, lambda: None)) as client:  # type: ignore[arg-type]
        for path, kind in (
            ("/", "text/plain"),
            ("/healthz", "text/plain"),
            ("/api/v1/wait", "application/problem+json"),
        ):
            answer = client.get(path)
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
            assert answer.headers["content-type"].startswith(kind)
            assert "has just begun" in answer.text
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        made.may.set()
        assert made.is_ready.wait(30)
        assert client.get("/").text == "here"
    assert made.events == ["begins", "ready", "ends"]


def test_it_ends_while_it_begins() -> None:
    """Nobody waits for what is being made."""
    made, before = Made(), set(threading.enumerate())
    with TestClient(Loading(made, made.ready, lambda: None)) as client:  # type: ignore[arg-type]
        assert client.get("/").status_code == 503
        (thread,) = [each for each in threading.enumerate() if each.name == "loading" and each not in before]
    assert thread.is_alive()
    made.may.set()
    thread.join(30)
    assert not thread.is_alive()
    assert made.events == []


def test_what_cannot_be_made_ends_the_server() -> None:
    """And is raised where the command waits, with its own words; nothing is said to be ready."""

    def fail() -> Starlette:
        raise ParameterError("no such journal")

    with pytest.raises(ParameterError, match="no such journal"):
        web_server.run(fail, "127.0.0.1", 0, lambda _: pytest.fail("it is not ready"))


def test_what_cannot_begin_ends_the_server() -> None:
    """As what cannot be made: where the application fails at its beginning, or the address cannot be said."""

    @asynccontextmanager
    async def fails(_: Starlette) -> Iterator[None]:  # type: ignore[misc]
        raise ParameterError("no such sensor")
        yield

    def broken(_: str) -> None:
        raise BrokenPipeError("nobody reads")

    with pytest.raises(ParameterError, match="no such sensor"):
        web_server.run(lambda: Starlette(lifespan=fails), "127.0.0.1", 0, lambda _: pytest.fail("it is not ready"))
    with pytest.raises(BrokenPipeError, match="nobody reads"):
        web_server.run(Starlette, "127.0.0.1", 0, broken)
