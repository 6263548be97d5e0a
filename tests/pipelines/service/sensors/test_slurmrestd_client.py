# SPDX-License-Identifier: BSD-3-Clause
"""How a slurmrestd is asked: the version of the interface, the token, answers that are none or hang."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pipelines.service.sensors.commands import calls_end_here
from pipelines.service.sensors.sensor import Machine, QueueLimits, SensorError
from pipelines.service.sensors.slurmrestd import RestSensor, RestSettings
from pipelines.service.sensors.slurmrestd_client import VERSIONS, RestClient


class _Handler(BaseHTTPRequestHandler):
    """Answers as the server has it."""

    def do_GET(self) -> None:
        """Answer."""
        self.server.asked.append((self.path, dict(self.headers)))  # type: ignore[attr-defined]
        told = self.server.answers.get(self.path.partition("?")[0])  # type: ignore[attr-defined]
        if told == "hang":
            self.server.hangs.set()  # type: ignore[attr-defined]
            self.server.goes_on.wait(30)  # type: ignore[attr-defined]
            return
        if callable(told):
            told(self.wfile, self.server.goes_on)  # type: ignore[attr-defined]
            return
        status, body = (404, "Unable find requested URL.") if told is None else told
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def address_string(self) -> str:
        """Return nobody: a Unix socket has no address."""
        return ""


class _Unix(socketserver.ThreadingUnixStreamServer):
    """The same at a Unix socket."""

    daemon_threads = True


@contextmanager
def serving(answers: dict[str, Any], path: Path | None = None) -> Iterator[tuple[str, Any]]:
    """Answer at a port or a Unix socket; yield the address, and the server."""
    kind: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler) if path is None else _Unix(str(path), _Handler)
    with kind as server:
        server.answers, server.asked = answers, []
        server.hangs, server.goes_on = threading.Event(), threading.Event()
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"unix://{path}" if path else f"http://127.0.0.1:{server.server_address[1]}", server
        finally:
            server.goes_on.set()
            server.shutdown()
            thread.join()


def client(url: str, **more: Any) -> RestClient:
    """Return one that asks there."""
    return RestClient(url, **{"user": "", "token": "", "seconds": 20.0, "costs": {}, **more})


@pytest.mark.parametrize(
    ("listed", "agreed"),
    [
        (["v0.0.36", "v0.0.38", "v0.0.37"], "v0.0.38"),
        (["v0.0.40", "v0.0.41", "v0.0.39"], "v0.0.41"),
        (["v0.0.43", "v0.0.45", "v0.0.46"], "v0.0.45"),
    ],
)
def test_the_newest_version_that_both_know(listed: list[str], agreed: str, tmp_path: Path) -> None:
    """As /openapi lists them, once for many calls; over a Unix socket, and without a token nothing is said of one."""
    answers = {"/openapi": (200, {"paths": {f"/slurm/{each}/jobs": {} for each in listed}})}
    answers[f"/slurm/{agreed}/jobs"] = (200, {"jobs": [1], "errors": []})
    with serving(answers, tmp_path / "socket") as (url, server):
        asking = client(url)
        assert [asking.ask("slurm/{}/jobs")["jobs"] for _ in range(2)] == [[1], [1]]
        assert [path for path, _ in server.asked] == ["/openapi", *[f"/slurm/{agreed}/jobs"] * 2]
        assert not any(name.lower().startswith("x-slurm") for _, headers in server.asked for name in headers)
        server.answers = {"/openapi/v3": answers["/openapi"], "/slurm/v0.0.38/jobs": (404, "gone")}
        with pytest.raises(SensorError, match="with 404"):
            asking.ask("slurm/{}/jobs")
        server.asked.clear()
        with pytest.raises(SensorError, match="404"):
            asking.ask("slurm/{}/jobs")
        assert [path for path, _ in server.asked][:2] == ["/openapi", "/openapi/v3"]  # it may be another Slurm


def test_behind_a_proxy() -> None:
    """At a path of its own."""
    answers = {"/blue/openapi": (200, {"/slurm/v0.0.40/jobs": {}}), "/blue/slurm/v0.0.40/jobs": (200, {"jobs": [1]})}
    with serving(answers) as (url, _):
        assert client(f"{url}/blue/").ask("slurm/{}/jobs")["jobs"] == [1]


def test_where_nothing_is_listed() -> None:
    """The newest one that answers is taken."""
    answers = {"/slurm/v0.0.42/ping": (200, {}), "/slurm/v0.0.41/ping": (200, {})}
    answers["/slurmdb/v0.0.42/job/7"] = (
        200,
        {"jobs": [], "errors": [{"error_number": 9003, "error": "Nothing found"}]},
    )
    with serving(answers) as (url, _):
        costs: dict[str, Any] = {}
        assert client(url, costs=costs).ask("slurmdb/{}/job/7")["jobs"] == []
        assert {name: (cost.calls, cost.failures) for name, cost in costs.items()} == {"slurmdb/job": (1, 0)}
    with serving({}) as (url, _), pytest.raises(SensorError, match=f"none of the versions v0.0.38 to {VERSIONS[0]}$"):
        client(url).ask("slurm/{}/jobs")
    listed = {"/openapi": (200, '"\\/slurm\\/v0.0.30\\/jobs"')}
    with serving(listed) as (url, _), pytest.raises(SensorError, match=r"v0\.0\.45: it offers v0\.0\.30$"):
        client(url).ask("slurm/{}/jobs")


def test_the_token_is_read_at_each_call(tmp_path: Path) -> None:
    """It is renewed; one that is refused, or cannot be read, is said, and nothing of it."""
    token = tmp_path / "token"
    answers: dict[str, Any] = {
        "/openapi": (200, {"/slurm/v0.0.40/jobs": {}}),
        "/slurm/v0.0.40/jobs": (200, {"jobs": []}),
    }
    with serving(answers) as (url, server):
        asking = client(url, user="swf", token=str(token))
        with pytest.raises(SensorError, match="token: the token cannot be read"):
            asking.ask("slurm/{}/jobs")
        for secret in ("first", "second"):
            token.write_text(f"{secret}\n")
            asking.ask("slurm/{}/jobs")
            headers = server.asked[-1][1]
            assert (headers["X-SLURM-USER-NAME"], headers["X-SLURM-USER-TOKEN"]) == ("swf", secret)
        for wrong in ("", "two words", "two\nlines", "m\xfc"):
            token.write_text(wrong)
            with pytest.raises(SensorError, match=r"token: is no token, .*\(scontrol token\)$"):
                asking.ask("slurm/{}/jobs")
        token.write_text("second")
        answers["/slurm/v0.0.40/jobs"] = (401, {"errors": [{"error": "Authentication failure"}]})
        with pytest.raises(SensorError, match="with 401: Authentication failure; look at the token") as caught:
            asking.ask("slurm/{}/jobs")
        assert "second" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((200, "<html>"), "with 200: no JSON"),
        ((200, "[1]"), "without a list 'jobs'"),
        ((200, {"jobs": None}), "without a list 'jobs'"),
        ((500, "\x1b[31mbroken"), r"with 500: \\x1b\[31mbroken"),
        ((200, {"jobs": [], "errors": [{"error": "Unable to contact slurm controller"}]}), "Unable to contact slurm"),
    ],
)
def test_answers_that_are_none(answer: Any, told: str) -> None:
    """One error that says what was asked, and nothing of a server reaches a terminal raw."""
    with serving({"/openapi": (200, {"/slurm/v0.0.40/jobs": {}}), "/slurm/v0.0.40/jobs": answer}) as (url, _):
        sensor = RestSensor(RestSettings(url=url))
        with pytest.raises(SensorError, match=told):
            sensor.poll(0.0)


def test_what_the_machine_is() -> None:
    """Processors of all nodes, partitions by name."""
    version = "/slurm/v0.0.38"
    answers = {
        "/openapi": (200, {f"{version}/jobs": {}}),
        f"{version}/partitions": (200, {"partitions": [{"name": "batch", "total_cpus": 16, "max_time_limit": 60}, {}]}),
        f"{version}/nodes": (200, {"nodes": [{"cpus": 8}, {"cpus": 8}, "none"]}),
    }
    with serving(answers) as (url, _):
        machine = RestSensor(RestSettings(url=url)).machine()
    assert machine == Machine(16, {"batch": QueueLimits(False, 3600.0, None, 16)})


def test_an_answer_that_hangs_ends_with_the_service() -> None:
    """Nobody waits for it any longer."""
    answers: dict[str, Any] = {"/openapi": "hang"}
    told: list[str] = []

    def ask(url: str) -> None:
        with pytest.raises(SensorError) as caught:
            client(url).ask("slurm/{}/jobs")
        told.append(str(caught.value))

    with serving(answers) as (url, server):
        with calls_end_here():
            thread = threading.Thread(target=copy_context().run, args=(ask, url))
            thread.start()
            server.hangs.wait(20)
        thread.join(10)
    assert len(told) == 1
    assert "does not answer" in told[0]


def drip_head(file: Any, goes_on: threading.Event) -> None:
    """Send a head without an end, a letter now and then."""
    _drip(file, goes_on, b"HTTP/1.0 200 OK\r\nX: ")


def drip_body(file: Any, goes_on: threading.Event) -> None:
    """Send a text of a length that is said, a letter now and then."""
    _drip(file, goes_on, b"HTTP/1.0 200 OK\r\nContent-Length: 100000\r\n\r\n")


def drip_on(file: Any, goes_on: threading.Event) -> None:
    """Send a text that ends with the connection: what is read by then is not the whole of it."""
    _drip(file, goes_on, b'HTTP/1.0 200 OK\r\n\r\n"/slurm/v0.0.40/jobs"')


def _drip(file: Any, goes_on: threading.Event, begin: bytes) -> None:
    try:
        file.write(begin)
        while not goes_on.wait(0.05):
            file.write(b"x")
    except OSError:
        pass


@pytest.mark.parametrize("drip", [drip_head, drip_body, drip_on])
def test_an_answer_that_comes_in_drops_takes_too_long(drip: Any) -> None:
    """The limit is one of the whole answer: each drop comes in time."""
    with serving({"/openapi": drip}) as (url, _):
        thread_told: list[str] = []

        def ask() -> None:
            with pytest.raises(SensorError) as caught:
                client(url, seconds=0.4).ask("slurm/{}/jobs")
            thread_told.append(str(caught.value))

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(10)
        assert len(thread_told) == 1
        assert thread_told[0].endswith("does not answer: timed out")
