# SPDX-License-Identifier: BSD-3-Clause
"""Where a job starts first, bounds of another confidence and moment, and what is told of single jobs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from starlette.routing import Route
from starlette.testclient import TestClient

from pipelines.service.app import Service, make_app
from pipelines.service.clusters import Cluster
from pipelines.service.openapi import describe
from pipelines.service.schemas import SCHEMAS
from pipelines.service.sensors.replay import ReplaySensor
from pipelines.service.sensors.sensor import Machine, QueueLimits
from pipelines.service.waits import remaining
from pipelines.service.words import share, spoken
from swftools.errors import ParameterError
from swftools.live import JobEvent, log_events
from swftools.live.events import in_order
from swftools.qbets import BinomialBound, WaitPredictor
from tests.pipelines.service.small_cluster import EVIL, Hand, cluster_of, log_of

SMALL = Machine(64, {"batch": QueueLimits(is_default=True, longest=7200.0, default_time=60.0, processors=8)})


@pytest.fixture
def clock() -> Hand:
    """Where the log is in its midst: two jobs wait."""
    return Hand(12_000.0)


@pytest.fixture
def clusters(clock: Hand) -> list[Cluster]:
    """Two clusters of the same jobs."""
    made = [cluster_of(clock, "blue", SMALL), cluster_of(clock, "red", by=None)]
    for cluster in made:
        cluster.poll()
    return made


@pytest.fixture
def client(clusters: list[Cluster]) -> Iterator[TestClient]:
    """Who asks them."""
    with asking(clusters) as made:
        yield made


def asking(clusters: list[Cluster], **options: Any) -> TestClient:
    """Return who asks clusters."""
    return TestClient(make_app(Service(clusters, **options), ["testserver"]))


# ------------------------------------------------------------ where


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


# ------------------------------------------------------------ confidence, and when


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
    cluster = _trailing(clock)
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


# ------------------------------------------------------------ jobs


def waiting_job(cluster: Cluster) -> Any:
    """Return the job that waits longest."""
    return min(cluster.jobs.waiting.values(), key=lambda job: job.submit)


def test_a_job_that_waits(client: TestClient, clusters: list[Cluster]) -> None:
    """When it came, what it was told, what it has to wait still."""
    job = waiting_job(clusters[0])
    answer = client.get(f"/api/v1/jobs/{job.id}?cluster=blue")
    told = answer.json()
    Draft202012Validator(SCHEMAS["Job"]).validate(told)
    assert (answer.headers["cache-control"], "vary" in answer.headers) == ("private, no-cache", False)
    assert (told["id"], told["state"], told["user"]) == (job.id, "waiting", None)
    assert (told["submitted_seconds"], told["waited_seconds"]) == (job.submit, 12_000.0 - job.submit)
    assert told["submitted"] == clusters[0].date(job.submit)
    assert (told["processors"], told["requested_time"]) == (4, job.requested_time)
    assert (told["told"]["seconds"], told["told"]["quantile"]) == (job.told.bound, 0.95)
    assert told["told"]["is_kept"] is None
    assert told["in_words"].startswith(
        f"It has waited {spoken(told['waited_seconds'])}; it was told that 95 of 100 such "
    )


def test_a_bound_that_is_over_is_broken(client: TestClient, clusters: list[Cluster]) -> None:
    """While the job still waits; one that started in time is kept."""
    job = waiting_job(clusters[0])
    job.told = job.told._replace(bound=12_000.0 - job.submit - 1.0)
    assert client.get(f"/api/v1/jobs/{job.id}?cluster=blue").json()["told"]["is_kept"] is False
    job.told = job.told._replace(bound=math.nan, no_prediction="training")
    told = client.get(f"/api/v1/jobs/{job.id}?cluster=blue").json()
    assert (told["told"]["seconds"], told["told"]["is_kept"]) == (None, None)
    assert "it was told nothing, since too few waits of such jobs are known yet" in told["in_words"]
    runs = clusters[0].jobs
    job.start, job.told = job.submit + 7.0, job.told._replace(bound=7.0)
    runs.running[job.job] = runs.waiting.pop(job.job)
    told = client.get(f"/api/v1/jobs/{job.id}?cluster=blue").json()
    assert (told["state"], told["waited_seconds"], told["told"]["is_kept"]) == ("running", 7.0, True)
    assert (told["started_seconds"], told["remaining"]) == (job.start, None)
    assert told["in_words"].startswith("It waited 7 s, and runs")


def test_what_is_not_there_is_not_told(client: TestClient, clusters: list[Cluster]) -> None:
    """One that is over, or never was; of several clusters one is named."""
    for of_id in ("0", "99999", "%3Cb%3E", "a" * 5000):
        answer = client.get(f"/api/v1/jobs/{of_id}?cluster=blue")
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
    assert client.get(f"/api/v1/jobs/{waiting_job(clusters[0]).id}").status_code == 400
    assert client.get("/job/0?cluster=blue").status_code == 404


def test_jobs_are_told_to_their_users(clusters: list[Cluster]) -> None:
    """Where a proxy says who asks: to nobody else, on pages either, and an answer is kept for nobody else."""
    job = waiting_job(clusters[0])
    job.groups = {"queue": 1, "user": 3}
    path = f"/api/v1/jobs/{job.id}?cluster=blue"
    for peer, header, sees in (
        ("10.1.1.1", {"x-user": "ann"}, True),
        ("10.1.1.1", {"x-user": "bob"}, False),
        ("10.1.1.1", {}, False),
        ("11.1.1.1", {"x-user": "ann"}, False),
    ):
        app = make_app(Service(clusters, user_header="X-User", trusted_peers=["10.0.0.0/8"]), ["testserver"])
        client = TestClient(app, client=(peer, 1), headers=header)
        answer = client.get(path)
        assert answer.status_code == (200 if sees else 404)
        assert client.get(f"/job/{job.id}?cluster=blue").status_code == answer.status_code
        page = client.get("/queue/batch?cluster=blue").text
        assert (f">{job.id}</a>" in page) is sees
        assert "1 job waits" in page or "jobs wait" in page
        if sees:
            assert (answer.headers["vary"], answer.json()["user"]) == ("X-User", "ann")
        else:
            assert "or it is another user's" in answer.json()["detail"]
    app = make_app(Service(clusters, user_header="X-User", jobs_are_private=False), ["testserver"])
    assert TestClient(app).get(path).json()["user"] is None


def test_users_are_named_where_that_is_configured(clusters: list[Cluster]) -> None:
    """And nowhere else."""
    job = waiting_job(clusters[0])
    job.groups = {"queue": 1, "user": 4}
    for shows in (False, True):
        client = TestClient(make_app(Service(clusters, shows_users=shows), ["testserver"]))
        assert client.get(f"/api/v1/jobs/{job.id}?cluster=blue").json()["user"] == (EVIL if shows else None)
        for path in (f"/job/{job.id}?cluster=blue", "/queue/batch?cluster=blue"):
            page = client.get(path).text
            assert ("&lt;b&gt;night" in page) is shows
            assert "<b>night" not in page
            assert "\x1b" not in page


def test_groups_by_user_name_users(clock: Hand) -> None:
    """So that must be allowed; numbers of an archive's log name nobody."""
    cluster = cluster_of(clock, by=["queue", "user"])
    with pytest.raises(ParameterError, match="cluster blue: waits are grouped by user, so every page would name users"):
        Service([cluster])
    Service([cluster], shows_users=True)
    cluster.predictor.names = {}
    Service([cluster])


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


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 60), st.sampled_from(["1", "2"]))
def test_what_remains_is_a_bound_of_the_longer_waits(waited: float, label: str) -> None:
    """As the binomial bound says of those alone."""
    cluster = _CLUSTER
    told = remaining(cluster, label, waited, 4, 3600.0)
    waits = [job.wait for job in _LOG if job.label == label and job.submit + job.wait <= 12_000.0 and job.wait > waited]
    for quantile in (0.5, 0.9):
        bound = BinomialBound(quantile, 0.95).fit([wait - waited for wait in waits]).predict() if waits else math.nan
        found = None
        if told is not None:
            assert told["waits"] == len(waits)
            (found,) = [each["seconds"] for each in told["bounds"] if each["quantile"] == quantile]
        assert (found is None) is math.isnan(bound)
        assert found is None or found == bound


class _Wait:
    """A job of the log."""

    def __init__(self, row: int) -> None:
        self.submit, self.label = 60.0 * row, str(1 + row % 2)
        self.wait = float(row % 50) if row % 2 else 30.0 * (row % 50)


_LOG = [_Wait(row) for row in range(400)]
_CLUSTER = cluster_of(Hand(12_000.0), trimming=False)
_CLUSTER.poll()


def test_of_other_bounds_nothing_remains(clock: Hand) -> None:
    """Nobody says what they would tell of longer waits."""
    assert remaining(_trailing(clock), "1", 5.0, 4, 3600.0) is None
    young = cluster_of(clock, training=10_000)
    young.poll()
    assert remaining(young, "1", 5.0, 4, 3600.0) is None


def _trailing(clock: Hand) -> Cluster:
    """Return a cluster whose bound has no confidence."""
    predictor = WaitPredictor("trailing", training=20, clustering=False)
    predictor.names = {"queue": {1: "batch"}}
    cluster = Cluster("blue", predictor, ReplaySensor(list(log_events(log_of()))), clock, 60.0)
    cluster.poll()
    return cluster


# ------------------------------------------------------------ the document


def test_the_document_has_every_address_and_parameter(client: TestClient) -> None:
    """And no other: of each parameter that it names the address knows it, and refuses one that it does not name."""
    paths = describe()["paths"]
    routes = [route.path.replace(":path", "") for route in client.app.routes if isinstance(route, Route)]  # type: ignore[attr-defined]
    assert {path for path in routes if path.startswith("/api/v1/")} == {*paths, "/api/v1/openapi.json"}
    for path, told in paths.items():
        named = {each["name"] for each in told["get"]["parameters"] if each["in"] == "query"}
        assert {each["name"] for each in told["get"]["parameters"] if each["in"] == "path"} == (
            {"id"} if "{id}" in path else set()
        )
        refused = client.get(path.replace("{id}", "1"), params={"no": "1"}).json()["detail"]
        known = refused.partition("; there are: ")[2].split(", ")
        assert {name for name in known if name} == named
        several = {e["name"] for e in told["get"]["parameters"] if e["schema"]["type"] == "array"}
        for each in told["get"]["parameters"]:
            most = {"quantile": 20, "piece": 8}.get(each["name"]) if each["name"] in several else None
            assert each["schema"].get("maxItems") == most
            assert most is None or f"up to {most} times" in each["description"]
        for name in named:
            twice = client.get(f"{path.replace('{id}', '1')}?{name}=%FF&{name}=%FF")
            assert ("is there twice" in twice.json().get("detail", "")) is (name not in several)


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("where?time=1h", "Where"),
        ("wait?cluster=red&at=2000-01-01T04:20Z", "Wait"),
        ("start?cluster=red&processors=4&time=1h", "Start"),
        ("reserve?cluster=blue&queue=batch&processors=4&time=1h&by=30m", "Reservation"),
        ("reserve?cluster=blue&queue=batch&processors=4&time=1h&start=2000-01-01T03:50Z", "Reservation"),
        ("reserve?cluster=red&processors=4&time=1h&by=60&probability=.99", "Reservation"),
        ("plan?piece=cluster=blue,processors=4,time=1h&piece=cluster=red,processors=4,time=1h&by=1h", "Plan"),
        ("plan?piece=cluster=blue,processors=4,time=1h&by=2s", "Plan"),
        ("jobs/{id}?cluster=blue", "Job"),
        ("clusters", "Clusters"),
    ],
)
def test_json_is_as_the_document_says(
    client: TestClient, clusters: list[Cluster], clock: Hand, path: str, schema: str
) -> None:
    """Every answer, with a tag that does not change by age alone: unless it tells moments from now on."""
    address = f"/api/v1/{path.replace('{id}', waiting_job(clusters[0]).id)}"
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    Draft202012Validator(SCHEMAS[schema]).validate(answer.json())
    assert "NaN" not in answer.text
    tag = {"if-none-match": answer.headers["etag"]}
    assert client.get(address, headers=tag).status_code == 304
    clock.time += 1.0
    is_new = schema in ("Reservation", "Plan")
    assert client.get(address, headers=tag).status_code == (200 if is_new else 304)


# ------------------------------------------------------------ words


@given(st.floats(0, 1e8))
def test_a_time_in_words_is_not_shortened(seconds: float) -> None:
    """And is longer by an hour at most, or a minute where it is below a day."""
    units = {"d": 86_400, "h": 3600, "min": 60, "s": 1}
    words = spoken(seconds).replace(",", "").split()
    said = sum(int(count) * units[unit] for count, unit in zip(words[::2], words[1::2], strict=True))
    assert said >= seconds
    assert said - seconds <= (3600 if seconds > 86_400 else 60 if seconds > 60 else 1)
    assert len(words) <= 4


def test_shares_in_words() -> None:
    """As people say them."""
    assert [share(each) for each in (0.5, 0.9, 0.75, 0.999, 0.9995)] == [
        "5 of 10",
        "9 of 10",
        "75 of 100",
        "999 of 1,000",
        "99.95 %",
    ]


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
