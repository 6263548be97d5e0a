# SPDX-License-Identifier: BSD-3-Clause
"""Names that JSON can hold and UTF-8 cannot: half of a surrogate pair. Nothing that is answered fails by them."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

from starlette.testclient import TestClient

from pipelines.service.app import Service, make_app
from pipelines.service.clusters import Cluster
from pipelines.service.sensors.replay import ReplaySensor
from pipelines.service.sensors.sensor import Machine, QueueLimits
from swftools.live import JobEvent, Journal
from swftools.live.events import in_order
from swftools.live.journal import read_line
from swftools.qbets import WaitPredictor
from tests.pipelines.service.small_cluster import Hand

ODD, WRITTEN = "night\ud800", "night\\ud800"


def test_an_event_has_names_that_can_be_written() -> None:
    """Wherever it is made; two names do not fall together, and what is no text stays."""
    first, second = (
        read_line(json.dumps({"kind": "submitted", "time": 1.0, "job": f"7{half}", "groups": {"queue": half}}).encode())
        for half in ("\ud800", "\ud801")
    )
    assert (first.job, first.groups) == ("7\\ud800", {"queue": "\\ud800"})
    assert (second.job, second.groups) == ("7\\ud801", {"queue": "\\ud801"})
    event = JobEvent("submitted", 1.0, "ä", ODD, groups={"queue": 5, "user": None, "group": "日"})
    assert (event.job, event.cluster, event.groups) == (
        "ä",
        "night\\ud800",
        {"queue": 5, "user": None, "group": "日"},
    )


def test_pages_and_metrics_tell_such_names(tmp_path: Path) -> None:
    """Of clusters, queues and jobs; what the queue takes is known by its name."""
    events = []
    for number in range(60):
        groups = {"queue": ODD, "user": ODD}
        events.append(JobEvent("submitted", 60.0 * number, f"{number}{ODD}", "", 4, 60.0, groups))
        if number < 59:
            events.append(JobEvent("started", 60.0 * number + 5.0, f"{number}{ODD}"))
    machine = Machine(64, {ODD: QueueLimits(longest=7200.0)})
    predictor = WaitPredictor("binomial", training=20, clustering=False)
    with Journal(tmp_path / "j") as journal:
        sensor = ReplaySensor(in_order(events), machine)
        cluster = Cluster(ODD, predictor, sensor, Hand(3600.0), 60.0, journal=journal, ledger=tmp_path / "told")
        cluster.poll()
        (job,) = cluster.jobs.waiting.values()
        with TestClient(make_app(Service([cluster]), ["testserver"])) as client:
            for path in ("/", "/queues", "/metrics", "/queue/" + quote(WRITTEN), f"/job/{quote(job.id)}"):
                answer = client.get(path)
                assert (path, answer.status_code) == (path, 200)
            assert 'queue="night\\\\ud800"' in client.get("/metrics").text
            told = client.get("/api/v1/clusters").json()[0]
            assert (told["cluster"], told["queues"]) == (WRITTEN, [WRITTEN])
            refused = client.get("/api/v1/wait", params={"queue": WRITTEN, "time": "3h"})
            assert "run 2 h at most" in refused.json()["detail"]
            rows = client.get("/api/v1/where?time=3h").json()["answers"]
            assert [row["no_prediction"] for row in rows] == ["does-not-fit"]


def test_a_job_that_started_at_second_0_runs_since_then() -> None:
    """Second 0 is a moment as any other: of a start, and of how long it waited."""
    predictor = WaitPredictor("binomial", training=1)
    events = [
        JobEvent("submitted", -50.0, "1", "", 32, 3600.0, {"queue": "q"}),
        JobEvent("started", 0.0, "1"),
    ]
    cluster = Cluster("blue", predictor, ReplaySensor(events, Machine(32)), Hand(600.0), 60.0, policy="easy")
    cluster.poll()
    assert cluster.waited == 50.0
    with TestClient(make_app(Service([cluster]), ["testserver"])) as client:
        assert client.get("/api/v1/start?processors=1&time=1h").json()["bound_seconds"] == 3000.0
