# SPDX-License-Identifier: BSD-3-Clause
"""A small service, asked below the web server, with what no client would send, too."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from pipelines.service.app import make_app
from pipelines.service.clusters import Cluster
from pipelines.service.problems import HEADERS
from pipelines.service.sensors.replay import ReplaySensor
from pipelines.service.sensors.sensor import Cost, Machine
from pipelines.service.service import Service
from swftools.live import JobEvent
from swftools.qbets import WaitPredictor

COMMANDS = ("squeue", "sacct", "scontrol", "sinfo", "sacctmgr")
"""That a sensor has called."""

HOST = (b"host", b"localhost")


class Stands:
    """A clock that stands."""

    def now(self) -> float:
        """Return the time."""
        return 10_000.0


def small_service(
    queues: Sequence[str] = ("batch", "night"), name: str = "blue", of_each: int = 30, **chosen: Any
) -> Service:
    """Return a service that has heard of so many jobs of each queue, which waited up to half a minute."""
    predictor = WaitPredictor("binomial", **{"by": "queue", "training": 20, "clustering": False, **chosen})
    predictor.start = 946_684_800
    count, events = of_each * len(queues), []
    for number in range(count):
        job, submit = str(number), 9_900.0 * number / count
        groups = {"queue": queues[number % len(queues)], "user": f"user{number}"}
        events.append(JobEvent("submitted", submit, job, "", 4, 3600.0, groups))
        events.append(JobEvent("started", submit + number % 30, job))
    events.sort(key=lambda event: event.time)
    sensor = ReplaySensor(events, Machine(64))
    sensor.costs = {command: Cost(7, 1.5, 1) for command in COMMANDS}
    cluster = Cluster(name, predictor, sensor, Stands(), 60.0)
    cluster.poll()
    return Service([cluster])


class Told(NamedTuple):
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes


class Asker:
    """Asks an application without a web server between.

    Parameters
    ----------
    service : Service
        What is asked.
    hosts : sequence of str
        By which names.
    """

    def __init__(self, service: Service, hosts: Sequence[str] = ("localhost",)) -> None:
        self.app = make_app(service, hosts)

    def ask(
        self,
        path: str,
        query: bytes = b"",
        headers: Sequence[tuple[bytes, bytes]] = (HOST,),
        method: str = "GET",
    ) -> Told:
        """Return the answer; a mistake of the application is raised."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode("utf-8", "surrogateescape"),
            "root_path": "",
            "query_string": query,
            "headers": list(headers),
            "client": ("127.0.0.1", 9),
            "server": ("127.0.0.1", 8017),
            "state": {},
        }
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        start, *parts = sent
        found = {name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]}
        return Told(start["status"], found, b"".join(part.get("body", b"") for part in parts))


def assert_as_promised(told: Told, path: str, method: str = "GET") -> None:
    """Whatever is asked: no mistake of ours, our headers, and an error below ``/api`` is a problem document."""
    assert told.status < 500
    assert {name: told.headers.get(name.lower()) for name in HEADERS} == HEADERS
    if told.status >= 400 and path.startswith("/api/"):
        assert told.headers["content-type"] == "application/problem+json"
        if method != "HEAD":
            problem = json.loads(told.body)
            assert set(problem) == {"type", "title", "status", "detail"}
            assert (problem["type"], problem["status"]) == ("about:blank", told.status)
            assert problem["detail"].isprintable()
    elif told.status >= 400:
        assert told.headers["content-type"] == "text/html; charset=utf-8"
