# SPDX-License-Identifier: BSD-3-Clause
"""When to submit so that a job runs at a time: what the command says of the same state, and plans that are followed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from pipelines.cli.main import main
from pipelines.service import co_reservations
from pipelines.service.app import Service, make_app
from pipelines.service.clusters import Cluster
from pipelines.service.co_reservations import co_reservation_of
from pipelines.service.reservations import ask_again_in
from pipelines.service.sensors.sensor import Machine, QueueLimits
from swftools.reservations import co_allocate, plan_reservation
from swftools.reservations.plans import ReservedJob
from tests.pipelines.service.small_cluster import EVIL, Hand, cluster_of

LONGEST = Machine(64, {"batch": QueueLimits(longest=14_400.0)})


@pytest.fixture
def clock() -> Hand:
    """Where the log is in its midst."""
    return Hand(12_000.0)


@pytest.fixture
def clusters(clock: Hand) -> list[Cluster]:
    """Two clusters of the same jobs; blue's batch takes four hours at most."""
    made = [cluster_of(clock, "blue", LONGEST), cluster_of(clock, "red", by=None)]
    for cluster in made:
        cluster.poll()
    return made


@pytest.fixture
def client(clusters: list[Cluster]) -> Iterator[TestClient]:
    """Who asks them."""
    with TestClient(make_app(Service(clusters), ["testserver"])) as made:
        yield made


@pytest.mark.parametrize(
    ("by", "probability", "time", "is_accepted"),
    [
        ("30m", 0.9, "1h", True),
        ("2h", 0.5, "30m", True),
        ("20m", 0.99, "1h", False),
        ("10m", 0.1, "1h", True),
        ("6h", 0.5, "235m", False),
    ],
)
def test_it_is_what_the_command_says(
    client: TestClient,
    clusters: list[Cluster],
    tmp_path: Path,
    by: str,
    probability: float,
    time: str,
    is_accepted: bool,
) -> None:
    """To the bit, of the state that the cluster saves."""
    cluster = clusters[0]
    cluster.live.save(tmp_path / "state")
    asked = f"cluster=blue&queue=batch&processors=4&time={time}&by={by}&probability={probability}"
    told = client.get(f"/api/v1/reserve?{asked}").json()
    words = ["reserve", "--state", str(tmp_path / "state"), "--group", "1", "--processors", "4"]
    words += ["--requested-time", time, "--start", f"+{by}", "--probability", str(probability), "--longest", "4h"]
    said = CliRunner().invoke(main, [*words, "--now", "2000-01-01T03:20Z", "--zone", "UTC", "--json"])
    assert said.exit_code == (0 if is_accepted else 1), said.output
    plan = json.loads(said.stdout)
    assert told["is_accepted"] is plan["is_accepted"] is is_accepted
    assert told["why_denied"] == plan["why_denied"]
    assert (told["submit_in_seconds"], told["request_seconds"]) == (plan["wait"], plan["requested_time"])
    assert told["probability"] == plan["probability"]
    assert (told["submit"], told["start"]) == (plan["submit_utc"], plan["start_utc"])
    assert (told["best"]["probability"], told["best"]["submit"]) == (plan["best_probability"], plan["best_submit_utc"])
    assert told["best"]["request_seconds"] == plan["best_requested_time"]
    assert (told["most_surplus"], told["expected_surplus"]) == (plan["most_surplus"], plan["expected_surplus"])
    assert told["waits"] == plan["group_waits"]
    assert told["in_words"].startswith("Submit it " if is_accepted else "Denied: no submission meets that; the best")


def test_a_plan_is_followed_until_it_is_submitted(client: TestClient, clusters: list[Cluster], clock: Hand) -> None:
    """The asker repeats the question with the moment of the start, when the answer says; at last it says now."""
    told = client.get("/api/v1/reserve?cluster=blue&queue=batch&processors=4&time=1h&by=2h&probability=.9").json()
    start, asked = told["start"], 0
    assert start == "2000-01-01T05:20:00Z"
    while told["submit_in_seconds"] > 0:
        assert 0 < told["ask_again_seconds"] <= min(60.0, told["submit_in_seconds"])
        before = told["submit"]
        clock.time += told["ask_again_seconds"]
        for cluster in clusters:
            cluster.poll()
        asked += 1
        query = f"cluster=blue&queue=batch&processors=4&time=1h&start={start}&probability=.9"
        told = client.get(f"/api/v1/reserve?{query}").json()
        assert told["start"] == start
        assert told["is_accepted"], before
    assert asked > 60
    assert told["ask_again_seconds"] is None
    assert told["in_words"].startswith("Submit it now and request ")
    assert told["request_seconds"] == pytest.approx(3600 + told["start_seconds"] - clock.time)


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ("processors=4&time=1h", 400, "say by=6h, a time from now on, or start="),
        ("processors=4&time=1h&by=1h&start=2000-01-01T05:00Z", 400, "one of them"),
        ("processors=4&by=1h", 400, "say time, as time=4h"),
        ("time=1h&by=1h", 400, "say processors, as processors=64"),
        ("processors=4&time=1h&by=0", 400, "the start is not within the next 30 days"),
        ("processors=4&time=1h&by=31d", 400, "the start is not within the next 30 days"),
        ("processors=4&time=1h&start=2000-01-01T03:00Z", 400, "the start is not within the next 30 days"),
        ("processors=4&time=1h&start=2000-01-01T05:00", 400, "has no zone"),
        ("processors=4&time=1h&start=tomorrow", 400, "start='tomorrow' is no moment"),
        ("processors=4&time=1h&by=1h&probability=1", 400, "probability='1' is not a number between 0 and 1"),
        ("processors=4&time=1h&by=1h&probability=.995", 400, "more than .99 cannot be promised"),
        ("processors=65&time=1h&by=1h", 400, "batch of blue has 64 processors, and the job asks for 65"),
        ("processors=4&time=5h&by=1h", 400, "jobs in batch of blue run 4 h at most"),
        ("processors=4&time=1h&by=1h&within=1h", 400, "there is no parameter 'within'"),
    ],
)
def test_what_is_wrong_is_said(client: TestClient, query: str, status: int, told: str) -> None:
    """With the parameter."""
    answer = client.get(f"/api/v1/reserve?cluster=blue&queue=batch&{query}")
    assert (answer.status_code, answer.json()["detail"]) == (status, answer.json()["detail"])
    assert told in answer.json()["detail"]


def test_a_zone_may_be_written_with_a_plus(client: TestClient) -> None:
    """Which is a blank in an address."""
    asked = "/api/v1/reserve?cluster=blue&queue=batch&processors=4&time=1h&start=2000-01-01T07:00"
    for zone in ("%2B02:00", "+02:00"):
        assert client.get(f"{asked}{zone}").json()["start"] == "2000-01-01T05:00:00Z"


PLAN = "piece=cluster=blue,queue=batch,processors=4,time=1h&piece=cluster=red,processors=8,time=2h"


def test_pieces_are_submitted_where_their_chance_is_best(client: TestClient, clusters: list[Cluster]) -> None:
    """As each by itself is planned, and co-allocated by CO-VARQ."""
    told = client.get(f"/api/v1/plan?{PLAN}&by=45m&probability=.5").json()
    assert told["is_accepted"] is True
    chances = []
    for cluster, label, piece, longest in (
        (clusters[0], "1", told["pieces"][0], 14_400.0),
        (clusters[1], "all", told["pieces"][1], None),
    ):
        (found,) = piece["submissions"]
        state = cluster.live.state()
        job = ReservedJob(piece["requested_time"], piece["processors"], label)
        first = _present(cluster, label)
        plan = plan_reservation(state, job, first + 2700.0, 0.5, now=first, longest=longest)
        assert plan.best_submit_time is not None
        assert (found["cluster"], found["probability"]) == (cluster.name, plan.best_probability)
        assert found["request_seconds"] == plan.best_requested_time
        assert found["submit_in_seconds"] == plan.best_submit_time - first
        chances.append(plan.best_probability)
    both = co_allocate([[chances[0], 0.0], [0.0, chances[1]]], 0.5)
    assert (told["probability"], told["needed_probability"]) == (both.probability, both.needed)
    assert told["start"] == "2000-01-01T04:05:00Z"
    assert told["in_words"].startswith("2 submissions: all pieces run by then")


def _present(cluster: Cluster, label: str) -> float:
    """Return the last that is known of a group."""
    return cluster.answer(label, requested_time=3600.0).until or 0.0


def test_a_piece_may_go_to_several(client: TestClient) -> None:
    """Where one queue is not enough; a piece that names none goes wherever it fits, and each queue is taken once."""
    told = client.get("/api/v1/plan?piece=processors=4,time=1h&by=40&probability=.8").json()
    (piece,) = told["pieces"]
    chances = [each["probability"] for each in piece["submissions"]]
    assert len(chances) > 1
    assert max(chances) < 0.8
    assert chances == sorted(chances, reverse=True)
    two = client.get("/api/v1/plan?piece=processors=4,time=1h&piece=processors=4,time=1h&by=15m&probability=.3").json()
    sites = [(each["cluster"], each["queue"]) for piece in two["pieces"] for each in piece["submissions"]]
    assert len(sites) == len(set(sites)) > 1
    denied = client.get(f"/api/v1/plan?{PLAN}&by=1m&probability=.95").json()
    assert (denied["is_accepted"], denied["why_denied"]) == (False, "no-sites-meet-it")
    assert denied["in_words"].startswith("Denied: ")
    assert denied["ask_again_seconds"] == 60.0


def test_of_many_queues_those_of_most_waits_are_tried(
    client: TestClient, clusters: list[Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three take the piece; the one of all jobs has most waits, and is that of the last cluster."""
    waits = {(cluster.name, label): cluster.live.waits(label) for cluster in clusters for label in cluster.groups()}
    order = sorted(waits, key=lambda each: -waits[each])
    asked = {"by": "40", "probability": ".99", "piece": "processors=4,time=1h"}
    everywhere = co_reservation_of({each.name: each for each in clusters}, {**asked, "piece": [asked["piece"]]})
    assert len(everywhere.sites) == 3
    monkeypatch.setattr(co_reservations, "MOST_QUEUES", 1)
    tried = co_reservation_of({each.name: each for each in clusters}, {**asked, "piece": [asked["piece"]]})
    assert [(site.cluster.name, site.label) for site in tried.sites] == order[:1]
    assert {
        each["cluster"] for each in client.get("/api/v1/plan", params=asked).json()["pieces"][0]["submissions"]
    } <= {order[0][0]}


@pytest.mark.parametrize(("submit_in", "again"), [(600.0, 60.0), (30.0, 30.0), (0.0, None), (None, 60.0)])
def test_it_is_asked_again_before_it_is_submitted(submit_in: float | None, again: float | None) -> None:
    """At the next poll of any, and where nothing can be had yet too; not once it is submitted."""
    assert ask_again_in([90.0, 60.0], submit_in) == again


def test_no_piece_asks_for_more_than_its_queue_takes(client: TestClient) -> None:
    """Four hours: so it is submitted five minutes before the start at the earliest, and not when its chance is best."""
    asked = "piece=cluster=blue,queue=batch,processors=4,time=235m&by=6h&probability=.01"
    ((only,),) = (each["submissions"] for each in client.get(f"/api/v1/plan?{asked}").json()["pieces"])
    assert only["request_seconds"] <= 14_400.0
    assert only["submit_in_seconds"] >= 21_600.0 - 300.0


def test_a_moment_is_that_of_the_clock(client: TestClient) -> None:
    """Seconds and dates of an answer say the same."""
    told = client.get(f"/api/v1/plan?{PLAN}&by=45m&probability=.5").json()
    for piece in told["pieces"]:
        for each in piece["submissions"]:
            begin, start = (datetime.fromisoformat(date) for date in (each["submit"], told["start"]))
            assert (start - begin).total_seconds() == pytest.approx(2700 - each["submit_in_seconds"], abs=1)


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        (f"{PLAN}&by=1h&probability=.995", 400, "more than .99 cannot be promised"),
        ("by=1h", 400, "say piece, as piece=processors=64,time=2h"),
        ("piece=processors=4&by=1h", 400, "piece='processors=4': say time"),
        ("piece=processors=4,time=1h", 400, "say by=6h"),
        ("piece=4,time=1h&by=1h", 400, "there is no parameter '4'"),
        ("piece=processors=4,time=1h,queue=batch&by=1h", 400, "all jobs are one group here"),
        ("piece=cluster=green,processors=4,time=1h&by=1h", 404, "there is no cluster 'green'"),
        ("piece=cluster=blue,queue=nope,processors=4,time=1h&by=1h", 404, "there is no queue 'nope'"),
        ("piece=processors=65,time=1h&by=1h", 400, "has 64 processors"),
        (f"{PLAN}&piece=cluster=red,processors=1,time=1h&by=1h", 400, "two pieces can be asked for at the same queue"),
        ("&".join(["piece=processors=4,time=1h"] * 9) + "&by=1h", 400, "piece is there 9 times: 8 at most"),
    ],
)
def test_what_is_wrong_with_a_plan_is_said(client: TestClient, query: str, status: int, told: str) -> None:
    """With the piece."""
    answer = client.get(f"/api/v1/plan?{query}")
    assert (answer.status_code, told in answer.json()["detail"]) == (status, True), answer.json()["detail"]


def test_nothing_is_planned_with_what_is_old(client: TestClient, clusters: list[Cluster], clock: Hand) -> None:
    """A cluster that is named must be heard of; else the others are asked."""
    clock.time += 400.0
    clusters[0].poll()
    assert client.get("/api/v1/reserve?cluster=red&processors=4&time=1h&by=1h").status_code == 503
    assert client.get(f"/api/v1/plan?{PLAN}&by=1h").status_code == 503
    told = client.get("/api/v1/plan?piece=processors=4,time=1h&by=1h&probability=.3").json()
    assert {each["cluster"] for each in told["pieces"][0]["submissions"]} == {"blue"}


def test_a_state_stays_as_it_is(clusters: list[Cluster], clock: Hand) -> None:
    """It is looked at in another thread while more is learnt."""
    cluster = clusters[0]
    state, job = cluster.live.state(), ReservedJob(3600.0, 4, "1")
    before = plan_reservation(state, job, 20_000.0, 0.9, now=13_000.0)
    assert cluster.live.state() is state
    clock.time = 24_000.0
    cluster.poll()
    assert cluster.live.state() is not state
    assert plan_reservation(state, job, 20_000.0, 0.9, now=13_000.0) == before
    assert EVIL in cluster.groups().values()
