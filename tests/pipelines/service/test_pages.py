# SPDX-License-Identifier: BSD-3-Clause
"""Pages of queues and jobs: what they show is what the answers are; names of a log are text; times name their zone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from pipelines.service.app import Service, make_app
from pipelines.service.clusters import Cluster
from pipelines.service.sensors.sensor import Cost, Machine, QueueLimits
from pipelines.service.words import spoken
from swftools.live import JobEvent, ToldWait
from tests.pipelines.service.small_cluster import EVIL, Hand, cluster_of
from tests.pipelines.service.two_clusters import asking, trailing

VOID = {"meta", "link", "input", "line", "rect"}


class Balanced(HTMLParser):
    """Looks whether each element is closed, and notes ids, links and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.named: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        assert self.open == []
        assert len(set(self.ids)) == len(self.ids)
        assert set(" ".join(self.named).split()) <= set(self.ids)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that begins."""
        told = dict(attrs)
        assert "style" not in told
        assert not any(name.startswith("on") for name in told)
        self.ids += [told["id"] or ""] if "id" in told else []
        self.links += [told["href"] or ""] if "href" in told else []
        self.named += [told[name] or "" for name in ("aria-labelledby", "aria-describedby") if name in told]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note that it ends."""
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture
def cluster() -> Cluster:
    """A cluster in the midst of its log."""
    limits = QueueLimits(is_default=True, longest=86_400.0, default_time=3600.0, processors=32)
    made = cluster_of(Hand(12_000.0), machine=Machine(64, {"batch": limits}))
    made.poll()
    return made


@pytest.fixture
def client(cluster: Cluster) -> Iterator[TestClient]:
    """Who looks at it."""
    with TestClient(make_app(Service([cluster]), ["testserver"])) as made:
        yield made


def test_what_the_batch_system_was_asked_stands_on_the_page(
    client: TestClient, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How often, for how long in all, and how many calls failed; of a log, which is asked nothing, no word."""
    assert "asked the batch system" not in client.get("/queues").text
    costs = {"squeue": Cost(3, 1.5, 0), "sacct": Cost(1, 0.25, 1)}
    monkeypatch.setattr(type(cluster), "costs", property(lambda _: costs))
    told = "squeue 3 times (1.5 s in all); sacct 1 time (0.25 s in all, 1 failed)."
    assert f"it has asked the batch system: {told}" in client.get("/queues").text


def test_all_pages_hold_together(client: TestClient, cluster: Cluster) -> None:
    """Each element is closed, each link leads somewhere here, and nothing of a log is markup."""
    evil = JobEvent("submitted", 11_999.0, f"{EVIL}@11999", groups={"queue": 1})
    cluster.jobs.take([evil], {evil.job: ToldWait("1", 5.0, None)})
    seen, left = set(), {"/", "/?queue=batch&within=1h", "/?group=1&within=x", "/nothing", "/queue/" + quote(EVIL)}
    while left:
        path = left.pop()
        seen.add(path)
        answer = client.get(path)
        assert answer.status_code < 500
        if "html" in answer.headers["content-type"]:
            assert "<b>night" not in answer.text
            assert "\x1b" not in answer.text
            page = Balanced(answer.text)
            links = {link for link in page.links if link != "data:,"}  # no icon
            assert all(link.startswith("/") for link in links)
            left |= links - seen
            if path not in ("/nothing", "/?group=1&within=x"):
                assert answer.status_code == 200
    job = next(iter(cluster.jobs.waiting.values()))
    assert {f"/job/{job.id}?cluster=blue", "/queue/batch?cluster=blue", "/queues"} <= seen


def test_a_queue_has_a_page(client: TestClient, cluster: Cluster) -> None:
    """Bounds now, limits, a picture with a text, who waits, and what was kept."""
    page = client.get("/queue/batch").text
    told = client.get("/api/v1/wait?queue=batch&quantile=.5&quantile=.9").json()
    half, most = (each["seconds"] for each in told["bounds"])
    assert f'<th scope="row">all jobs</th><td>{spoken(half)}</td><td>{spoken(most)}</td>' in page
    assert "Jobs that name no queue go here. A job runs 1 d at most. Without a time it gets 1 h. There are 32" in page
    assert "should keep; 100 % did" in page
    assert re.search(r"<svg class=\"waits\"[^>]* role=\"img\" aria-labelledby=\"waits-title waits-desc\">", page)
    (day,) = cluster.recent.days("1", 12_000.0)
    assert f"{day.waits} jobs of 1 day of the last four weeks" in re.findall(r"<desc[^>]*>([^<]*)", page)[0]
    assert page.count('<rect class="bar"') == page.count('<line class="middle"') == 1
    assert f'<th scope="row">2000-01-01</th><td>{day.waits}</td>' in page
    waiting = [job for job in cluster.jobs.waiting.values() if job.told and job.told.group == "1"]
    assert waiting
    assert f"<p>{len(waiting)} jobs wait.</p>" in page
    for job in waiting:
        date = cluster.date(job.submit) or ""
        assert f">{job.id}</a></th><td>{date[:10]} {date[11:16]} UTC</td><td>4</td>" in page
    assert "as of 2000-01-01 03:20 UTC" in page


def test_a_job_has_a_page(client: TestClient, cluster: Cluster) -> None:
    """With what the answer says."""
    job = next(iter(cluster.jobs.waiting.values()))
    page = client.get(f"/job/{job.id}").text
    told = client.get(f"/api/v1/jobs/{job.id}").json()
    assert f'<p class="answer">{told["in_words"]}</p>' in page
    assert "<td>waiting</td>" in page
    if told["remaining"]:
        assert f"by {told['remaining']['waits']} waits of such jobs" in page
    assert re.search(r"submitted</th><td>2000-01-01 \d\d:\d\d UTC", page)


def test_what_is_old_is_not_told(client: TestClient, cluster: Cluster) -> None:
    """A line says so on the page of a queue, which has no bounds then; a job has none."""
    cluster._clock.time += 301.0  # type: ignore[attr-defined]
    page = client.get("/queue/batch")
    assert page.status_code == 200
    assert "Nothing was heard of blue for 5.02 min" in page.text
    assert "start within" not in page.text
    job = next(iter(cluster.jobs.waiting.values()))
    assert client.get(f"/job/{job.id}").status_code == 503


def test_the_form_keeps_what_was_typed(client: TestClient) -> None:
    """What is wrong stands beside it, and names the field."""
    page = client.get("/", params={"group": "2", "time": '4"<x', "within": "2h"}).text
    assert (
        '<input name="time" placeholder="4h" required value="4&#34;&lt;x" aria-invalid="true" aria-describedby="wrong">'
        in page
    )
    assert 'value="2h"' in page
    assert '<option value="2" selected>' in page
    assert page.index('id="wrong"') < page.index("</form>")
    assert "aria-invalid" not in client.get("/?group=2&time=4h").text


def test_which_field_is_wrong_is_marked(client: TestClient) -> None:
    """By its name: also one that is missing, or that the cluster does not have."""
    for query, field in (
        ("within=x&group=1", "within"),
        ("group=7&within=1h", "group"),
        ("within=1h", "group"),
        ("group=1&processors=0", None),  # the form has no such field, since nothing depends on it
    ):
        answer = client.get(f"/?{query}")
        assert answer.status_code >= 400
        marked = re.findall(r'name="(\w+)"[^>]* aria-invalid="true"', answer.text)
        assert marked == ([] if field is None else [field])
        assert 'id="wrong"' in answer.text


def test_the_form_asks_what_it_shows(client: TestClient) -> None:
    """What programs may ask beside it is refused, and not passed over."""
    for name, value in (("quantile", ".9"), ("at", "2000-01-01T04:20Z"), ("confidence", ".9")):
        answer = client.get("/", params={"group": "1", name: value})
        assert (answer.status_code, f"there is no parameter &#39;{name}&#39;" in answer.text) == (400, True)


def test_captions_tell_the_confidence_of_what_they_show(client: TestClient) -> None:
    """That of the bounds; none where bounds have none, whatever the predictor's is."""
    assert ", by binomial, with confidence 0.95</caption>" in client.get("/?group=1").text
    assert "submitted now, with confidence 0.95</caption>" in client.get("/queue/batch").text
    with asking([trailing(Hand(12_000.0))]) as other:
        assert "waits of such jobs, by trailing</caption>" in other.get("/?group=1").text
        assert "submitted now</caption>" in other.get("/queue/batch").text


def test_several_clusters_have_a_page_each(cluster: Cluster) -> None:
    """The first is shown where none is named, with links to the others; the form stays with its cluster."""
    other = cluster_of(Hand(12_000.0), "red & co", by=None)
    other.poll()
    with TestClient(make_app(Service([cluster, other]), ["testserver"])) as client:
        for path in ("/", "/queues"):
            page = client.get(path).text
            assert f'<strong>blue</strong> <a href="{path}?cluster=red%20%26%20co">red &amp; co</a>' in page
        page = client.get("/?cluster=red %26 co&time=1h").text
        assert '<input type="hidden" name="cluster" value="red &amp; co">' in page
        assert "such jobs start within" in page
        assert client.get("/queue/all?cluster=red %26 co").status_code == 200
        assert client.get("/?cluster=green").status_code == 404


def test_a_long_queue_is_cut(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, client: TestClient) -> None:
    """And how many more wait is said."""
    monkeypatch.setattr("pipelines.service.site.MOST_JOBS", 1)
    waiting = [job for job in cluster.jobs.waiting.values() if job.told and job.told.group == "1"]
    page = client.get("/queue/batch").text
    assert f"<p>And {len(waiting) - 1} more.</p>" in page
    assert page.count('href="/job/') == 1
