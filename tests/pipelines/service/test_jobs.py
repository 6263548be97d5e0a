# SPDX-License-Identifier: BSD-3-Clause
"""What is told of single jobs, and to whom."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from pipelines.service.app import Service, make_app
from pipelines.service.clusters import Cluster
from pipelines.service.schemas import SCHEMAS
from pipelines.service.waits import remaining
from pipelines.service.words import spoken
from swftools.errors import ParameterError
from swftools.qbets import BinomialBound
from tests.pipelines.service.small_cluster import EVIL, Hand, cluster_of
from tests.pipelines.service.two_clusters import trailing, waiting_job


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
    assert remaining(trailing(clock), "1", 5.0, 4, 3600.0) is None
    young = cluster_of(clock, training=10_000)
    young.poll()
    assert remaining(young, "1", 5.0, 4, 3600.0) is None
