# SPDX-License-Identifier: BSD-3-Clause
"""When a job would start by the centre's policy: what the command says of the same queue, beside other answers."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from pipelines.cli.main import main
from pipelines.service import service as service_module
from pipelines.service import starts
from pipelines.service import worker as worker_module
from pipelines.service.app import Service, make_app
from pipelines.service.clusters import Cluster
from pipelines.service.questions import Refusal
from pipelines.service.sensors.replay import ReplaySensor
from pipelines.service.sensors.sensor import Machine, QueueLimits
from pipelines.service.starts import LEAST_SHARES, queue_of
from pipelines.service.worker import MOST_IN_LINE, Worker
from swftools.live import JobEvent
from swftools.parameters.durations import clock as as_clock
from swftools.qbets import WaitPredictor
from tests.pipelines.service.small_cluster import Hand

NOW = 1_700_000_000.0
"""When it is asked."""


def submitted(time: float, job: str, processors: int | None, requested: float | None, queue: str = "q") -> JobEvent:
    """Return a submission."""
    return JobEvent("submitted", time, job, "", processors, requested, {"queue": queue})


def history(shares: list[float]) -> Iterator[JobEvent]:
    """Yield jobs that are over, and ran these shares of an hour that they asked for."""
    for number, share in enumerate(shares):
        begin = NOW - 100_000 + number
        yield submitted(begin, f"old{number}", 1, 3600.0)
        yield JobEvent("started", begin, f"old{number}")
        yield JobEvent("ended", begin + share * 3600, f"old{number}")


def crowd(seed: int) -> Iterator[JobEvent]:
    """Yield jobs of which some run on 32 processors, and others wait."""
    draw, free = random.Random(seed), 32
    for number in range(60):
        width, begin = draw.choice([1, 2, 4, 8, 16]), NOW - draw.randint(600, 20_000)
        yield submitted(begin, f"{number}@{begin:.0f}", width, 60.0 * draw.randint(400, 900))
        if width <= free:
            free -= width
            yield JobEvent("started", begin + draw.randint(0, 500), f"{number}@{begin:.0f}")


def cluster_of(events: list[JobEvent], machine: Machine | None = None, policy: str | None = "easy") -> Cluster:
    """Return a cluster that has heard of jobs."""
    predictor = WaitPredictor("binomial", training=1)
    predictor.start = 0
    made = Cluster(
        "blue",
        predictor,
        ReplaySensor(sorted(events, key=lambda event: event.time), machine or Machine(32)),
        Hand(NOW),
        60.0,
        policy=policy,
    )
    made.poll()
    return made


def ask(cluster: Cluster, query: str) -> Any:
    """Return the answer to a question."""
    with TestClient(make_app(Service([cluster]), ["testserver"])) as client:
        return client.get(f"/api/v1/start?{query}")


def as_squeue(cluster: Cluster) -> str:
    """Return the queue of a cluster as squeue prints it."""
    lines = ["JOBID|STATE|CPUS|TIME_LIMIT|TIME|SUBMIT_TIME|START_TIME"]
    for job in [*cluster.jobs.running.values(), *cluster.jobs.waiting.values()]:
        limit, runs = as_clock(job.requested_time or 0.0), job.start is not None
        elapsed = as_clock(NOW - (job.start or NOW))
        start = f"{job.start:.0f}" if job.start is not None else "N/A"
        state = "RUNNING" if runs else "PENDING"
        lines.append(f"{job.id}|{state}|{job.processors}|{limit}|{elapsed}|{job.submit:.0f}|{start}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("policy", ["easy", "fcfs"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_bound_is_that_of_the_command(policy: str, seed: int, tmp_path: Path) -> None:
    """To the bit, of the same queue as squeue prints it."""
    cluster = cluster_of(list(crowd(seed)), policy=policy)
    assert len(cluster.jobs.running) > 2
    assert len(cluster.jobs.waiting) > 20
    (tmp_path / "now.txt").write_text(as_squeue(cluster))
    for width, time in ((1, "1h"), (8, "5h"), (32, "10h")):
        words = ["whatif", "--running", str(tmp_path / "now.txt"), "--processors", "32", "--policies", policy]
        said = CliRunner().invoke(main, [*words, "--job", f"processors={width},time={time}", "--json"])
        assert said.exit_code == 0, said.output
        (row,) = json.loads(said.stdout)["answers"]
        told = ask(cluster, f"processors={width}&time={time}").json()
        assert (told["bound_seconds"], told["behind"]) == (row["wait"], row["behind"])
        assert (told["median_seconds"], told["draws"]) == (None, 0)
        assert told["no_prediction"] is None
        assert told["in_words"].startswith(f"By {policy} it starts within ")


def test_the_median_follows_from_how_long_jobs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn by hand: one job runs for 1 h of 10 on the whole machine. Jobs have run .2 of their request; then .6."""
    monkeypatch.setattr(starts, "DRAWS", 3)
    running = [submitted(NOW - 3600, "1", 32, 36_000.0), JobEvent("started", NOW - 3600, "1")]
    for shares, median in (
        ([0.2] * LEAST_SHARES, 3600.0),
        ([0.6] * LEAST_SHARES, 5 * 3600.0),
        ([0.05] * LEAST_SHARES, 9 * 3600.0),
        ([0.1] * LEAST_SHARES, 9 * 3600.0),
        ([0.05] * 900 + [0.2] * LEAST_SHARES, 3600.0),
        ([0.2] * (LEAST_SHARES - 1), None),
    ):
        told = ask(cluster_of([*history(shares), *running]), "processors=1&time=1h").json()
        assert told["bound_seconds"] == 9 * 3600.0
        assert told["median_seconds"] == (None if median is None else pytest.approx(median))
        assert told["draws"] == (0 if median is None else 3)
        assert ("usually within" in told["in_words"]) is (median is not None)


def test_of_many_jobs_fewer_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each simulation takes longer then."""
    monkeypatch.setattr(starts, "DRAWS", 3)
    monkeypatch.setattr(starts, "FEW_DRAWS", 1)
    cluster = cluster_of([*history([0.5] * LEAST_SHARES), *crowd(1)])
    for many, draws in ((60, 3), (59, 1)):
        monkeypatch.setattr(starts, "MANY", many)
        assert ask(cluster, "processors=8&time=1h").json()["draws"] == draws


def test_the_same_queue_has_the_same_median(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws are not of the clock."""
    monkeypatch.setattr(starts, "DRAWS", 5)
    events = [*history([share / 40 for share in range(1, 40)]), *crowd(1)]
    first, second = (ask(cluster_of(events), "processors=8&time=1h").json() for _ in range(2))
    assert first["median_seconds"] == second["median_seconds"]
    assert first["median_seconds"] < first["bound_seconds"]


@pytest.mark.parametrize(
    ("machine", "policy", "events", "why", "words"),
    [
        (Machine(32), None, [], "no-policy", "nobody said by which policy"),
        (Machine(None), "easy", [], "unknown-machine", "how many processors the machine has"),
        (Machine(32), "easy", [submitted(NOW, "1", None, 60.0)], "unknown-requests", "what they asked for"),
        (Machine(32), "easy", [submitted(NOW, "1", 1, None)], "unknown-requests", "what they asked for"),
        (
            Machine(32),
            "easy",
            [submitted(NOW, "1", 33, 60.0), JobEvent("started", NOW, "1")],
            "inconsistent",
            "what runs does not fit the machine",
        ),
    ],
)
def test_what_is_missing_is_said(
    machine: Machine, policy: str | None, events: list[JobEvent], why: str, words: str
) -> None:
    """There is no start then, and a reason."""
    told = ask(cluster_of(events, machine, policy), "processors=1&time=1h").json()
    assert (told["no_prediction"], told["bound_seconds"], told["median_seconds"]) == (why, None, None)
    assert told["in_words"].startswith("No prediction: ")
    assert words in told["in_words"]


def test_a_job_without_a_time_has_that_of_its_queue() -> None:
    """Its default, else the longest that the queue takes."""
    events = [submitted(NOW, "1", 32, None), JobEvent("started", NOW, "1")]
    for limits, seconds in ((QueueLimits(longest=7200.0), 7200.0), (QueueLimits(default_time=60.0, longest=9.0), 60.0)):
        told = ask(cluster_of(events, Machine(32, {"q": limits})), "processors=1&time=1h").json()
        assert told["bound_seconds"] == seconds


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ("time=1h", 400, "say processors, as processors=64"),
        ("processors=1", 400, "say time, as time=4h"),
        ("processors=1&time=0", 400, "say time, as time=4h"),
        ("processors=33&time=1h", 400, "processors=33: the machine has 32"),
        ("processors=1&time=1h&queue=q", 400, "there is no parameter 'queue'"),
        ("processors=1.5&time=1h", 400, "processors='1.5' is not a whole number"),
    ],
)
def test_what_is_wrong_is_said(query: str, status: int, told: str) -> None:
    """As everywhere."""
    answer = ask(cluster_of([]), query)
    assert (answer.status_code, told in answer.json()["detail"]) == (status, True)


def test_an_old_queue_is_not_simulated() -> None:
    """There is no answer rather than an old one."""
    cluster = cluster_of([])
    cluster._clock.time += 301.0  # type: ignore[attr-defined]
    assert ask(cluster, "processors=1&time=1h").status_code == 503


def test_it_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a start is simulated other questions are answered; the same is not simulated twice."""
    begun, go_on, calls = threading.Event(), threading.Event(), []
    simulated = service_module.simulated

    def slowly(*given: Any) -> Any:
        calls.append(given)
        begun.set()
        assert go_on.wait(10)
        return simulated(*given)

    monkeypatch.setattr(service_module, "simulated", slowly)
    with TestClient(make_app(Service([cluster_of([])]), ["testserver"])) as client:
        answers: list[Any] = []
        asking = threading.Thread(target=lambda: answers.append(client.get("/api/v1/start?processors=1&time=1h")))
        asking.start()
        assert begun.wait(10)
        assert client.get("/healthz").status_code == 200
        assert not answers
        go_on.set()
        asking.join(10)
        assert answers[0].json()["bound_seconds"] == 0.0
        assert client.get("/api/v1/start?processors=1&time=1h").json()["bound_seconds"] == 0.0
        assert len(calls) == 1
        client.get("/api/v1/start?processors=1&time=2h")
        assert len(calls) == 2


def test_who_comes_behind_too_many_is_refused() -> None:
    """One is done and eight wait; the next is told to come again."""

    async def many() -> list[Any]:
        worker, go_on = Worker(), threading.Event()
        asked = [asyncio.create_task(worker.do(lambda: go_on.wait(10))) for _ in range(MOST_IN_LINE + 1)]
        await asyncio.sleep(0)
        with pytest.raises(Refusal) as refused:
            await worker.do(lambda: True)
        go_on.set()
        done = await asyncio.gather(*asked)
        assert await worker.do(lambda: 5) == 5
        worker.stop()
        return [refused.value.status, refused.value.told, *done]

    status, told, *done = asyncio.run(many())
    assert (status, told) == (503, "8 such questions wait already: ask again in a minute")
    assert done == [True] * (MOST_IN_LINE + 1)


def test_who_waits_too_long_in_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what was asked is not done at all; what has begun is waited for, however long it takes."""
    monkeypatch.setattr(worker_module, "LONGEST_IN_LINE", 0.05)
    done: list[str] = []

    async def two() -> None:
        worker, go_on = Worker(), threading.Event()

        def slow() -> None:
            assert go_on.wait(10)
            done.append("slow")

        first = asyncio.create_task(worker.do(slow))
        await asyncio.sleep(0)
        with pytest.raises(Refusal, match=r"questions before this one take longer than 0.05 s") as refused:
            await worker.do(lambda: done.append("dropped"))
        assert refused.value.status == 503
        assert not first.done()
        gone = asyncio.create_task(worker.do(lambda: done.append("of one who has gone")))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        go_on.set()
        await first
        await worker.do(lambda: done.append("next"))
        worker.stop()

    asyncio.run(two())
    assert done == ["slow", "next"]


def test_who_came_first_is_first() -> None:
    """Also where they were heard of in another order."""
    events = [submitted(NOW - 5, "1", 4, 60.0), submitted(NOW - 9, "2", 8, 60.0)]
    cluster = cluster_of([])
    for event in events:
        cluster.jobs.take([event], {})
    queue = queue_of(cluster)
    assert not isinstance(queue, str)
    assert queue.waiting["processors"].tolist() == [8, 4]
    assert queue.waiting["waited"].tolist() == [9.0, 5.0]
