# SPDX-License-Identifier: BSD-3-Clause
"""The service, asked as programs and people ask it, with a clock of the test's own."""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from pipelines.service.app import Service, make_app
from pipelines.service.clocks import ReplayClock, SystemClock
from pipelines.service.clusters import Cluster
from pipelines.service.openapi import describe
from pipelines.service.replays import replayed
from pipelines.service.schemas import SCHEMAS
from pipelines.service.sensors.replay import ReplaySensor
from swftools.errors import StorageError
from swftools.live import JobEvent, Journal, read_journal
from swftools.qbets import WaitPredictor, predict_wait
from tests.pipelines.service.small_cluster import Hand, cluster_of, log_of


@pytest.fixture
def clock() -> Hand:
    """Where the log is in its midst."""
    return Hand(12_000.0)


@pytest.fixture
def service(clock: Hand) -> Service:
    """A service of one cluster, which has heard all that happened by then."""
    cluster = cluster_of(clock)
    cluster.poll()
    return Service([cluster])


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    """Who asks it."""
    with TestClient(make_app(service, ["testserver"])) as made:
        yield made


def test_an_answer_is_that_of_the_predictor(client: TestClient, service: Service, tmp_path: Any) -> None:
    """To the bit, of the state that it saves; with its age, what it rests on, and how often such answers were kept."""
    told = client.get("/api/v1/wait?queue=batch&within=10m&quantile=0.5&quantile=.9").json()
    cluster = service.clusters["blue"]
    cluster.live.save(tmp_path / "state")
    same = predict_wait(tmp_path / "state", group={"queue": 1}, quantiles=(0.5, 0.9), deadline=600.0)
    assert [(each["quantile"], each["seconds"]) for each in told["bounds"]] == [
        (e.quantile, e.seconds) for e in same.bounds
    ]
    assert told["within"] == {"seconds": 600.0, "share": same.deadline.share, "confidence": 0.95}  # type: ignore[union-attr]
    assert (told["waits"], told["no_prediction"]) == (same.waits, None)
    assert (told["as_of"], told["as_of_seconds"], told["age_seconds"]) == ("2000-01-01T03:20:00Z", 12_000.0, 0.0)
    counts = cluster.ledger.counts(12_000.0, 30.0, "1")
    assert told["accuracy"] == {**counts._asdict(), "share": counts.share, "days": 30.0}
    assert (counts.told > 20, counts.broken, counts.share) == (True, 0, 1.0)
    first, half, asked, kept = told["in_words"].split("; ")
    assert first.startswith("9 of 10 such jobs start within ")
    assert half.startswith("usually within ")
    assert asked.endswith(" % start within 10 min, as you asked")
    assert re.fullmatch(r"over the last month 100 % of \d+ such answers were kept, where 95 % are meant\.", kept)


@pytest.mark.parametrize(
    ("path", "schema"),
    [("clusters", "Clusters"), ("wait?queue=batch", "Wait"), ("queues", "Queues"), ("accuracy", "Accuracy")],
)
def test_json_is_as_the_document_says(client: TestClient, path: str, schema: str) -> None:
    """Every answer, and no number that JSON has not."""
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    Draft202012Validator(SCHEMAS[schema]).validate(answer.json())
    assert "NaN" not in answer.text
    document = client.get("/api/v1/openapi.json").json()
    assert document == json.loads(json.dumps(describe()))
    assert f"/api/v1/{path.split('?', maxsplit=1)[0]}" in document["paths"]


@pytest.mark.parametrize(
    ("path", "status", "told"),
    [
        ("wait", 400, "say which queue; there are: batch"),
        ("wait?queue=nope", 404, "there is no queue 'nope'; there are: batch"),
        ("wait?queue=batc", 404, "did you mean batch"),
        ("wait?queue=batch&processors=4", 400, "processors makes no difference here, so leave it out"),
        ("wait?queue=batch&time=4%20hours", 400, "time='4 hours' is not a time such as 90"),
        ("wait?queue=batch&within=-1", 400, "within='-1' is not a time"),
        ("wait?queue=batch&within=99999999999", 400, "within='99999999999' is not a time"),
        ("wait?queue=batch&quantile=1", 400, "quantile='1' is not a number between 0 and 1"),
        ("wait?queue=batch&quantile=nan", 400, "quantile='nan' is not a number"),
        ("wait?queue=batch&queue=batch", 400, "parameter 'queue' is there twice"),
        ("wait?queue=batch&user=3", 400, "there is no parameter 'user'; there are: cluster, queue"),
        ("wait?queue=batch&cluster=red", 404, "there is no cluster 'red'; there are: blue"),
        ("wait?queue=batch&group=1", 400, "give queue, a name, or group"),
        ("wait?group=batch", 404, "there is no queue 'batch'"),
        ("clusters?x=1", 400, "there is no parameter 'x'"),
        ("nothing", 404, "there is no such page"),
    ],
)
def test_what_is_wrong_is_said(client: TestClient, path: str, status: int, told: str) -> None:
    """As a problem document that names the parameter; nothing is passed over."""
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    Draft202012Validator(SCHEMAS["Problem"]).validate(problem)
    assert (problem["status"], problem["type"]) == (status, "about:blank")
    assert told in problem["detail"]


def test_it_only_reads(client: TestClient) -> None:
    """Nothing is taken but GET and HEAD."""
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.request(method, "/api/v1/wait?queue=batch").status_code == 405
    assert client.head("/api/v1/wait?queue=batch").status_code == 200


def test_other_names_are_refused(client: TestClient) -> None:
    """Of the host, as of a page elsewhere that leads a browser here."""
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400


def test_who_has_the_answer_is_told_so(client: TestClient, clock: Hand, service: Service) -> None:
    """Until something is heard; that it is older by now makes no other answer."""
    path = "/api/v1/wait?queue=batch"
    first = client.get(path)
    tag = first.headers["etag"]
    clock.time += 30.0
    assert client.get(path).json()["age_seconds"] == 30.0
    again = client.get(path, headers={"if-none-match": f'"x", {tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    clock.time += 600.0
    service.clusters["blue"].poll()
    assert client.get(path, headers={"if-none-match": tag}).status_code == 200


def test_a_list_has_a_tag_too(client: TestClient, clock: Hand) -> None:
    """That does not change by age alone."""
    tag = client.get("/api/v1/clusters").headers["etag"]
    clock.time += 30.0
    assert client.get("/api/v1/clusters", headers={"if-none-match": tag}).status_code == 304


def test_a_sensor_of_a_log_tells_each_event_once() -> None:
    """Those of now among them; a clock that goes back brings nothing again."""
    events = [JobEvent("submitted", float(time), str(time)) for time in (1, 2, 2, 3)]
    sensor = ReplaySensor(events)
    assert [len(sensor.poll(now)) for now in (0.5, 1.0, 2.0, 1.0, 2.0, 9.0)] == [0, 1, 2, 0, 0, 1]


def test_no_answer_rather_than_an_old_one(client: TestClient, clock: Hand, service: Service) -> None:
    """Beyond five polls: 503 everywhere that something would be told, a line on each page, until something is heard."""
    assert client.get("/healthz").json() == {"ok": True, "stale": []}
    clock.time += 300.0
    assert client.get("/api/v1/wait?queue=batch").status_code == 200
    clock.time += 1.0
    answer = client.get("/api/v1/wait?queue=batch")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "60")
    assert "nothing was heard of blue for 5.02 min" in answer.json()["detail"]
    health = client.get("/healthz")
    assert (health.status_code, health.json()) == (503, {"ok": False, "stale": ["blue"]})
    page = client.get("/?queue=batch")
    assert page.status_code == 503
    assert "Nothing was heard of blue for 5.02 min" in page.text
    assert "Nothing was heard of blue" in client.get("/queues").text
    assert client.get("/api/v1/clusters").json()[0]["is_stale"] is True
    assert "swftools_wait_bound_seconds{" not in client.get("/metrics").text
    service.clusters["blue"].poll()
    assert client.get("/healthz").status_code == 200


def test_pages_need_nothing_but_themselves(client: TestClient) -> None:
    """No script, nothing from elsewhere, and names of a log are text."""
    for path in ("/", "/?queue=batch", "/queues", "/nothing", "/?queue=nope"):
        page = client.get(path)
        assert "<script" not in page.text
        assert "<b>night" not in page.text
        assert "\x1b" not in page.text
        assert re.findall(r"(?:href|src|action)=\"([^\"]*)\"", page.text)
        assert all(
            link == "data:," or link.startswith("/")
            for link in re.findall(r"(?:href|src|action)=\"([^\"]*)\"", page.text)
        )
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        assert "script-src" not in page.headers["content-security-policy"]
    assert client.get("/style.css").headers["content-type"].startswith("text/css")


def test_the_form_asks_for_what_matters(clock: Hand) -> None:
    """And the answer is in words, with a table."""
    for chosen, asked in (
        ({}, {"group", "time", "within"}),
        ({"explanatory": "requested_processors"}, {"group", "processors", "within"}),
        ({"explanatory": "requested_work"}, {"group", "processors", "time", "within"}),
        ({"by": None}, {"time", "within"}),
    ):
        cluster = cluster_of(clock, **chosen)
        cluster.poll()
        with TestClient(make_app(Service([cluster]), ["testserver"])) as client:
            page = client.get("/").text
            assert set(re.findall(r"(?:select|input) name=\"(\w+)\"", page)) == asked
            values = {"group": "1", "time": "4h", "processors": "4", "within": "1h"}
            answer = client.get("/", params={name: values[name] for name in asked})
            assert answer.status_code == 200
            assert "such jobs start within" in answer.text
            assert "<caption>Of " in answer.text


def test_what_is_not_known_yet_is_said(clock: Hand) -> None:
    """In words, and why."""
    cluster = cluster_of(clock, training=100_000)
    cluster.poll()
    with TestClient(make_app(Service([cluster]), ["testserver"])) as client:
        told = client.get("/api/v1/wait?queue=batch").json()
        assert (told["no_prediction"], told["in_words"]) == (
            "training",
            "No prediction: too few waits of such jobs are known yet.",
        )
        assert "too few waits of such jobs are known yet" in client.get("/?queue=batch").text


def test_several_clusters(clock: Hand) -> None:
    """Each is asked by its name."""
    clusters = [cluster_of(clock, "blue"), cluster_of(clock, "red", by=None)]
    for cluster in clusters:
        cluster.poll()
    with TestClient(make_app(Service(clusters), ["testserver"])) as client:
        assert [each["cluster"] for each in client.get("/api/v1/clusters").json()] == ["blue", "red"]
        assert "say which cluster: blue, red" in client.get("/api/v1/wait").json()["detail"]
        assert client.get("/api/v1/wait?cluster=red").status_code == 200
        assert "all jobs are one group here" in client.get("/api/v1/wait?cluster=red&queue=1").json()["detail"]
        assert client.get("/?cluster=red").status_code == 200


def test_metrics_are_those_of_the_cluster(client: TestClient, service: Service) -> None:
    """In Prometheus' form; a label for a queue, none for a user or a job."""
    text = client.get("/metrics").text
    cluster = service.clusters["blue"]
    told = {line.split(" ")[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if not line.startswith("#")}
    started = sum(cluster.waits)
    assert (
        told['swftools_wait_seconds_count{cluster="blue"}']
        == started
        == told['swftools_wait_seconds_bucket{cluster="blue",le="+Inf"}']
    )
    assert told['swftools_wait_seconds_bucket{cluster="blue",le="60"}'] == cluster.waits[0]
    assert told['swftools_sensor_last_success_timestamp_seconds{cluster="blue"}'] == 946_684_800 + 12_000
    assert not any(name.startswith("swftools_sensor_calls_total") for name in told)  # a log is asked nothing
    waits = log_of().jobs.query("submit_time + wait_time <= 12_000")["wait_time"]
    assert cluster.waits[:3] == [(waits <= 60).sum(), waits.between(61, 300).sum(), waits.between(301, 900).sum()]
    bound = client.get("/api/v1/wait?queue=batch&quantile=0.9").json()["bounds"][0]["seconds"]
    assert told['swftools_wait_bound_seconds{cluster="blue",quantile="0.9",queue="batch"}'] == bound
    assert set(re.findall(r"(\w+)=\"", text)) == {"cluster", "queue", "quantile", "le"}


def test_a_log_that_is_played() -> None:
    """A share of its jobs is learnt at first; then it goes on with the clock, and stays at its end."""
    ticks = [0.0]
    cluster = replayed(
        "blue",
        log_of(),
        WaitPredictor("binomial", training=20),
        clock_of=lambda begin: ReplayClock(begin, 300.0, lambda: ticks[0]),
        every=60.0,
        tick=1.0,
        begin=0.5,
    )
    assert cluster.heard_at == 12_000.0
    assert (len(cluster.live.waiting) > 0, cluster.machine.processors) == (True, 64)
    before = cluster.events
    ticks[0] = 2.0
    cluster.poll()
    assert (cluster.heard_at, cluster.events > before) == (12_600.0, True)
    ticks[0] = 1e9
    cluster.poll()
    assert (cluster.live.waiting.empty, cluster.events) == (True, 1200)


def test_a_sensor_that_fails_is_said_once_and_tried_again(clock: Hand, caplog: pytest.LogCaptureFixture) -> None:
    """The other clusters are heard of; and when it works again, it is."""
    bad, good = cluster_of(clock, "bad"), cluster_of(clock, "good")
    works = bad._sensor

    class Broken(ReplaySensor):
        """Fails."""

        def poll(self, now: float) -> list[JobEvent]:
            """Fail."""
            raise ConnectionError(f"\x1b[31m {now}")

    bad._sensor = Broken([])
    bad.tick = good.tick = 0.01
    with TestClient(make_app(Service([bad, good]), ["testserver"])) as client:
        while good.calls < 5:
            time.sleep(0.01)
        assert bad.calls >= 4
        (record,) = [each for each in caplog.records if each.name == "pipelines.service"]
        assert record.getMessage().startswith("bad: nothing is heard of it: ConnectionError(")
        assert "\x1b" not in record.getMessage()
        assert client.get("/healthz").json() == {"ok": False, "stale": ["bad"]}
        bad._sensor = works
        while bad.is_stale:
            time.sleep(0.01)
        assert client.get("/healthz").json() == {"ok": True, "stale": []}


def test_a_journal_outlives_the_service(clock: Hand, tmp_path: Path) -> None:
    """What is heard is kept, once; a service that is started again knows it before it hears anything, and says so."""

    def started(events: list[JobEvent]) -> Cluster:
        predictor = WaitPredictor("binomial", by=None, training=1, quantile=0.5)
        return Cluster("blue", predictor, ReplaySensor(events), clock, 60.0, journal=Journal(tmp_path / "j"))

    events = [JobEvent(kind, 10.0 * n, str(n)) for n in range(1, 9) for kind in ("submitted", "started")]
    events += [JobEvent("submitted", 100.0, "waits"), JobEvent("ended", 110.0, "1")]
    first = started(events)
    first.poll()
    assert (first.waiting, first.running, first.live.waits("all"), first.events) == (1, 7, 8, 18)
    assert list(read_journal(tmp_path / "j")) == events
    first.close()
    again = started(events)
    assert (again.waiting, again.running, again.live.waits("all"), again.events) == (1, 7, 8, 18)
    assert again.silence == "nothing was heard of blue yet"
    with TestClient(make_app(Service([again]), ["testserver"])) as client:
        assert client.get("/api/v1/clusters").json()[0]["age_seconds"] is None
        assert "Nothing was heard of blue yet" in client.get("/queues").text
        assert client.get("/api/v1/wait").status_code == 503
        again.poll()
        assert client.get("/api/v1/wait").status_code == 200
    assert (again.waiting, again.running, again.live.waits("all"), again.events) == (1, 7, 8, 18)
    assert list(read_journal(tmp_path / "j")) == events
    again.close()


def test_what_is_learnt_first_takes_no_time_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute of learning is a minute, and not a day of the log in which nothing was heard."""
    ticks = [0.0]
    learn = Cluster.learn

    def slowly(self: Cluster, now: float, heard: list[JobEvent]) -> None:
        ticks[0] += 60.0
        learn(self, now, heard)

    monkeypatch.setattr(Cluster, "learn", slowly)
    cluster = replayed(
        "blue",
        log_of(),
        WaitPredictor("binomial", training=20),
        clock_of=lambda begin: ReplayClock(begin, 1000.0, lambda: ticks[0]),
        every=1000.0,
        tick=1.0,
        begin=0.5,
    )
    assert (cluster.age, cluster.is_stale) == (0.0, False)


def test_what_the_journal_cannot_keep_is_not_lost(clock: Hand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full at one poll: nothing is learnt then, and all of it with the next."""
    events = [JobEvent("submitted", 10.0, "1"), JobEvent("started", 20.0, "1"), JobEvent("submitted", 30.0, "2")]
    journal = Journal(tmp_path / "j")
    predictor = WaitPredictor("binomial", by=None, training=1)
    cluster = Cluster("blue", predictor, ReplaySensor(events), clock, 60.0, journal=journal)

    def fails(_: int) -> None:
        raise OSError(28, "No space left on device")

    clock.time = 15.0
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        with pytest.raises(StorageError, match="No space left"):
            cluster.poll()
    assert (cluster.waiting, cluster.events, math.isinf(cluster.age)) == (0, 0, True)
    clock.time = 40.0
    cluster.poll()
    assert (cluster.waiting, cluster.running, cluster.events) == (1, 1, 3)
    assert list(read_journal(tmp_path / "j")) == events
    offered: list[list[JobEvent]] = []
    monkeypatch.setattr(journal, "append", lambda heard: offered.append(list(heard)) or [])
    cluster.poll()
    assert offered == [[]]  # what is kept is not offered again
    journal.close()


def test_the_clock_of_this_machine() -> None:
    """Counts from 1970."""
    before = time.time()
    assert before <= SystemClock().now() <= time.time()


def test_what_came_of_answers() -> None:
    """A bound is broken as soon as the job waited longer, and kept when it starts in time; who leaves says nothing."""
    clock = Hand()
    predictor = WaitPredictor("binomial", by=None, training=0, quantile=0.5, clustering=False, trimming=False)
    events = [JobEvent("submitted", float(n), str(n)) for n in range(20)]
    events += [JobEvent("started", n + 10.0, str(n)) for n in range(20)]
    events += [JobEvent("submitted", 100.0, job) for job in ("kept", "late", "gone", "open")]
    events += [
        JobEvent("started", 105.0, "kept"),
        JobEvent("cancelled", 106.0, "gone"),
        JobEvent("started", 900.0, "late"),
    ]
    cluster = Cluster("blue", predictor, ReplaySensor(sorted(events, key=lambda event: event.time)), clock, 60.0)
    service = Service([cluster])
    with TestClient(make_app(service, ["testserver"])) as client:
        for time, kept, broken, still in ((107.0, 1, 0, 2), (111.0, 1, 2, 0), (901.0, 1, 2, 0)):
            clock.time = time
            cluster.poll()
            first = cluster.ledger.counts(99.0 if time < 0 else time)
            told = client.get("/api/v1/accuracy").json()
            early = first.told - (kept + broken + still)  # of the first twenty, which were told something too
            assert (told["kept"], told["broken"], told["open"]) == (first.kept, first.broken, first.open)
            assert early >= 0
            assert first.open == still
    assert not math.isnan(cluster.ledger.counts(901.0).share)
