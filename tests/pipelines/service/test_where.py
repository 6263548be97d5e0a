# SPDX-License-Identifier: BSD-3-Clause
"""Where a job starts first, and bounds of another confidence and moment."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from pipelines.service.clusters import Cluster
from pipelines.service.sensors.replay import ReplaySensor
from pipelines.service.sensors.sensor import Machine
from pipelines.service.words import spoken
from swftools.live import JobEvent
from swftools.live.events import in_order
from swftools.qbets import WaitPredictor
from tests.pipelines.service.small_cluster import EVIL, Hand, cluster_of
from tests.pipelines.service.two_clusters import asking, trailing


def test_the_shortest_bound_comes_first(client: TestClient, clusters: list[Cluster]) -> None:
    """Of all queues of all clusters; each as it is told where it is asked alone."""
    told = client.get("/api/v1/where?time=1h&processors=4").json()
    rows = told["answers"]
    assert (told["quantile"], told["processors"], told["requested_time"]) == (0.9, 4, 3600.0)
    assert {(row["cluster"], row["queue"]) for row in rows} == {("blue", "batch"), ("blue", EVIL), ("red", "all")}
    assert [row["seconds"] for row in rows] == sorted(row["seconds"] for row in rows)
    assert rows[0]["queue"] == EVIL
    for row in rows:
        cluster = clusters[row["cluster"] == "red"]
        label = next(label for label, name in cluster.groups().items() if name == row["queue"])
        (bound,) = cluster.answer(label, quantiles=(0.9,), requested_time=3600.0).bounds
        assert (row["seconds"], row["no_prediction"], row["why"]) == (bound.seconds, None, None)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("processors=9&time=1h", "batch of blue has 8 processors, and the job asks for 9"),
        ("processors=8&time=3h", "jobs in batch of blue run 2 h at most"),
    ],
)
def test_what_does_not_fit_comes_last(client: TestClient, query: str, why: str) -> None:
    """With why; the others are told all the same."""
    rows = client.get(f"/api/v1/where?{query}").json()["answers"]
    assert (rows[-1]["queue"], rows[-1]["no_prediction"], rows[-1]["why"]) == ("batch", "does-not-fit", why)
    assert all(row["seconds"] is not None for row in rows[:-1])


def test_one_queue_of_all_clusters(client: TestClient) -> None:
    """By its name; with another share of jobs."""
    (row,) = client.get("/api/v1/where?queue=batch&time=1h&quantile=0.5").json()["answers"]
    assert (row["cluster"], row["queue"]) == ("blue", "batch")
    assert client.get("/api/v1/where?queue=batc").status_code == 404
    assert client.get("/api/v1/where?quantile=0").status_code == 400
    assert client.get("/api/v1/where?cluster=blue").status_code == 400


def test_one_that_is_old_or_not_known_yet_is_said(client: TestClient, clusters: list[Cluster], clock: Hand) -> None:
    """The others are told."""
    clock.time += 400.0
    clusters[1].poll()
    rows = client.get("/api/v1/where?time=1h").json()["answers"]
    assert [(row["cluster"], row["no_prediction"]) for row in rows] == [
        ("red", None),
        ("blue", "stale"),
        ("blue", "stale"),
    ]
    assert "nothing was heard of blue for 6.67 min" in rows[1]["why"]
    young = cluster_of(clock, "young", training=10_000)
    young.poll()
    with asking([young]) as other:
        rows = other.get("/api/v1/where?time=1h").json()["answers"]
        assert {(row["no_prediction"], row["why"]) for row in rows} == {
            ("training", "too few waits of such jobs are known yet.")
        }


def test_what_makes_no_difference_anywhere_is_refused(clock: Hand) -> None:
    """Processors that nobody limits, where jobs are not told apart by them."""
    cluster = cluster_of(clock, machine=Machine())
    cluster.poll()
    with asking([cluster]) as client:
        answer = client.get("/api/v1/where?processors=4&time=1h")
        assert (answer.status_code, "processors makes no difference" in answer.json()["detail"]) == (400, True)
        assert client.get("/api/v1/where?time=1h").status_code == 200


def test_a_queue_says_what_it_takes(client: TestClient) -> None:
    """And a job beyond that is told so, rather than a wait."""
    blue, red = client.get("/api/v1/clusters").json()
    assert (blue["default_queue"], blue["policy"], blue["notice"]) == ("batch", "easy", None)
    assert blue["limits"] == {"batch": {"is_default": True, "longest": 7200.0, "default_time": 60.0, "processors": 8}}
    assert (red["default_queue"], red["limits"]) == (None, {})
    answer = client.get("/api/v1/wait?cluster=blue&queue=batch&time=3h")
    assert (answer.status_code, "run 2 h at most: ask for less" in answer.json()["detail"]) == (400, True)
    assert client.get("/api/v1/wait?cluster=blue&queue=batch&time=2h").status_code == 200


def test_what_the_sensor_says_is_on_every_page(client: TestClient, clusters: list[Cluster]) -> None:
    """As a text."""
    clusters[0]._sensor.notice = "only <b>our</b> jobs are seen"  # type: ignore[attr-defined]
    for path in ("/", "/queues", "/queue/batch", "/nothing"):
        assert "blue: only &lt;b&gt;our&lt;/b&gt; jobs are seen" in client.get(path).text
    assert client.get("/api/v1/clusters").json()[0]["notice"] == "only <b>our</b> jobs are seen"


def test_another_confidence_is_that_of_another_bound(client: TestClient) -> None:
    """Of the waits that are kept for the predictor's own; and of the time within which it shall start."""
    asked = "/api/v1/wait?cluster=blue&queue=batch&quantile=.9&within=40"
    told = {c: client.get(f"{asked}&confidence={c}").json() for c in ("0.5", "0.95", "0.999")}
    assert {told[c]["bounds"][0]["confidence"] for c in told} == {0.5, 0.95, 0.999}
    bounds = [told[c]["bounds"][0]["seconds"] for c in ("0.5", "0.95", "0.999")]
    shares = [told[c]["within"]["share"] for c in ("0.5", "0.95", "0.999")]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[2]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[2]
    plain = client.get(asked).json()
    assert {**told["0.95"], "age_seconds": 0} == {**plain, "age_seconds": 0}


def test_a_bound_without_confidence_refuses_one(clock: Hand) -> None:
    """Rather than to pass it over."""
    cluster = trailing(clock)
    with asking([cluster]) as client:
        answer = client.get("/api/v1/wait?queue=batch&confidence=.9")
        assert (answer.status_code, "confidence makes no difference" in answer.json()["detail"]) == (400, True)
        assert client.get("/api/v1/wait?queue=batch").status_code == 200


@pytest.mark.parametrize("text", ["0", "1", "nan", "x", "-1", "1e400"])
def test_a_confidence_is_between_0_and_1(client: TestClient, text: str) -> None:
    """Both excluded."""
    answer = client.get(f"/api/v1/wait?cluster=red&confidence={text}")
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(f"confidence='{text}' is not a number between 0 and 1")


def test_a_moment_to_come_is_answered_by_what_is_known_now(client: TestClient) -> None:
    """And one that is over is not: what was told then is not kept."""
    now = client.get("/api/v1/wait?cluster=red").json()
    assert (now["at"], now["at_seconds"]) == (None, None)
    later = client.get("/api/v1/wait?cluster=red&at=2000-01-01T06:20%2B02:00").json()
    assert (later["at"], later["at_seconds"]) == ("2000-01-01T04:20:00Z", 15_600.0)
    assert later["bounds"] == now["bounds"]
    for at, told in (
        ("2000-01-01T03:19Z", "is over: what would have been told then is not kept"),
        ("2000-01-09T03:20Z", "is more than 7 days ahead"),
        ("2000-01-01T06:00", "has no zone"),
        ("6h", "is no moment"),
        ("9999-12-31T23:59-23:00", ""),
    ):
        answer = client.get("/api/v1/wait?cluster=red", params={"cluster": "red", "at": at})
        assert (answer.status_code, told in answer.json()["detail"]) == (400, True)


def test_a_log_without_dates_counts_seconds(clock: Hand) -> None:
    """From its own origin."""
    cluster = cluster_of(clock)
    cluster.predictor.start = None
    cluster.poll()
    with asking([cluster]) as client:
        assert client.get("/api/v1/wait?queue=batch&at=13000").json()["at_seconds"] == 13_000.0
        assert client.get("/api/v1/wait?queue=batch&at=11000").status_code == 400
        for text in ("nan", "2000-01-01T06:20Z"):
            assert "counts seconds" in client.get(f"/api/v1/wait?queue=batch&at={text}").json()["detail"]
        assert "second 12,000" in client.get("/queues").text
        assert client.get("/queue/batch").status_code == 200


def test_what_is_needed_is_asked_for(clock: Hand) -> None:
    """In words of the service, where jobs are told apart by what they ask for."""
    events = []
    for number in range(600):
        asked, wait = ((3600.0, 5.0), (7200.0, 300.0), (14_400.0, 6000.0))[number % 3]
        come = JobEvent("submitted", 20.0 * number, str(number), requested_time=asked, groups={"queue": "batch"})
        events += [come, JobEvent("started", 20.0 * number + wait, str(number))]
    predictor = WaitPredictor("binomial", training=20, cluster_every=20)
    cluster = Cluster("blue", predictor, ReplaySensor(in_order(events)), clock, 60.0)
    cluster.poll()
    with asking([cluster]) as client:
        answer = client.get("/api/v1/wait?queue=batch")
        assert answer.status_code == 400
        assert answer.json()["detail"].startswith("say time, as time=4h: ")
        assert client.get("/api/v1/wait?queue=batch&time=1h").status_code == 200
        (row,) = client.get("/api/v1/where").json()["answers"]
        assert (row["no_prediction"], row["why"]) == ("more-needed", answer.json()["detail"])
        page = client.get("/queue/batch").text
        short, middle, long = (
            client.get(f"/api/v1/wait?queue=batch&quantile=.9&time={time}").json()["bounds"][0]["seconds"]
            for time in ("1h", "2h", "4h")
        )
        assert re.findall(r"<th scope=\"row\">(jobs that ask[^<]*)</th><td>[^<]*</td><td>([^<]*)</td>", page) == [
            ("jobs that ask for up to 1 h", spoken(short)),
            ("jobs that ask for more than 1 h, up to 2 h", spoken(middle)),
            ("jobs that ask for more than 2 h", spoken(long)),
        ]


def test_of_many_groups_those_of_most_waits_are_compared(clock: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of users, say, of whom there are thousands."""
    cluster = cluster_of(clock, by=["queue", "user"], training=1)
    cluster.predictor.names = {}
    cluster.poll()
    monkeypatch.setattr("pipelines.service.waits.MOST_GROUPS", 3)
    with asking([cluster]) as client:
        rows = client.get("/api/v1/where?time=1h").json()["answers"]
        assert len(rows) == 3
        least = min(cluster.live.waits(row["queue"]) for row in rows)
        others = set(cluster.groups()) - {row["queue"] for row in rows}
        assert all(cluster.live.waits(label) <= least for label in others)


def test_how_often_a_parameter_may_be_there(clock: Hand) -> None:
    """Twenty quantiles are answered; one more is refused, since all who ask share the time."""
    cluster = cluster_of(clock)
    cluster.poll()
    with asking([cluster]) as client:
        twenty = "&".join(f"quantile=.{number + 10}" for number in range(20))
        asked = f"/api/v1/wait?queue=batch&time=1h&{twenty}"
        assert len(client.get(asked).json()["bounds"]) == 20
        refused = client.get(f"{asked}&quantile=.5")
        assert (refused.status_code, "more than 20 times" in refused.json()["detail"]) == (400, True)
