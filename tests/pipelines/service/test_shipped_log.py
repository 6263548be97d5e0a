# SPDX-License-Identifier: BSD-3-Clause
"""What the page of the service asks of the shipped log, at the moment where half of its jobs have come."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.testclient import TestClient

from pipelines.logs import load_log
from pipelines.logs.find import SHIPPED_LOG
from pipelines.service.app import Service, make_app
from pipelines.service.clocks import ReplayClock
from pipelines.service.replays import replayed
from swftools.qbets import WaitPredictor


def test_every_kind_of_question_is_answered() -> None:
    """A clock that hardly moves; the figures are those of the last change of what they are made of."""
    log = load_log(SHIPPED_LOG).trace
    slow = partial(ReplayClock, speed=1e-9)
    waits = WaitPredictor("binomial", training=100)
    blue = replayed("blue", log, waits, clock_of=slow, every=1000.0, tick=1.0, begin=0.5, policy="easy")
    with TestClient(make_app(Service([blue]), ["testserver"])) as client:

        def ask(what: str) -> Any:
            return client.get(f"/api/v1/{what}").json()

        bounds = ask("wait?queue=high&time=4h&quantile=.9&confidence=.99")["bounds"]
        assert [each["confidence"] for each in bounds] == [0.99]
        first = ask("where?processors=64&time=4h")["answers"][0]
        assert (first["queue"], first["seconds"]) == ("interactive", 28.0)
        start = ask("start?processors=64&time=4h")
        assert start["median_seconds"] < start["bound_seconds"]
        plan = ask("reserve?queue=high&processors=64&time=4h&by=12h&probability=.9")
        assert (plan["submit_in_seconds"], plan["request_seconds"]) == (39_720.0, 17_880.0)
        pieces = "piece=queue=high,processors=64,time=2h&piece=queue=normal,processors=8,time=1h"
        assert ask(f"plan?{pieces}&by=12h&probability=.5")["is_accepted"]
        job = ask("jobs/7985")
        assert (job["state"], job["waited_seconds"] > 40, job["user"]) == ("waiting", True, None)
