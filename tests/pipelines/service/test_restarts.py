# SPDX-License-Identifier: BSD-3-Clause
"""A service that is started again knows what it knew: what was told counts, and little is read again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.service.clusters import Cluster
from pipelines.service.memory import memory_files, read_memory
from pipelines.service.queued_jobs import QueuedJob, QueuedJobs
from pipelines.service.restarts import followed
from pipelines.service.sensors.followed import FollowedJobs, Sighting
from pipelines.service.sensors.replay import ReplaySensor
from swftools.errors import StorageError
from swftools.live import JobEvent, ToldWait, log_events, read_told
from swftools.qbets import WaitPredictor
from tests.pipelines.service.small_cluster import Hand, log_of

EVENTS = list(log_events(log_of(), ("queue", "user")))


def begun(clock: Hand, folder: Path, heard: list[list[JobEvent]] | None = None, **parameters: Any) -> Cluster:
    """Return a cluster that goes on where the journal of a folder ends; what its sensor is told goes into a list."""
    predictor = WaitPredictor("binomial", **{"training": 20, **parameters})
    predictor.start = 946_684_800

    def sensor_of(before: Iterable[JobEvent]) -> ReplaySensor:
        if heard is not None:
            heard.append(list(before))
        return ReplaySensor(EVENTS)

    return followed("blue", predictor, sensor_of, clock, 60.0, folder / "j", ledger=folder / "told", policy="easy")


def ended(cluster: Cluster) -> None:
    """End a cluster as a kill does: nothing is written down."""
    cluster.close()


def known(cluster: Cluster) -> dict[str, Any]:
    """Return all that a cluster knows."""
    now = cluster.now
    return {
        "waiting": cluster.live.waiting.to_dict("list"),
        "answers": [
            cluster.answer(label, quantiles=(0.5, 0.9), requested_time=3600.0) for label in cluster.live.groups
        ],
        "waits": [cluster.live.waits(label) for label in cluster.live.groups],
        "kept": [cluster.ledger.counts(now, 30.0, label) for label in [None, *cluster.live.groups]],
        "jobs": repr(sorted(cluster.jobs.waiting.items())) + repr(sorted(cluster.jobs.running.items())),
        "shares": list(cluster.jobs.shares),
        "recent": [cluster.recent.days(label, now) for label in cluster.live.groups],
        "counts": (cluster.waits, cluster.waited, cluster.events),
    }


@pytest.mark.parametrize("is_saved", [True, False])
def test_it_goes_on_where_it_was(tmp_path: Path, is_saved: bool) -> None:
    """With what was written down and without; also what happened behind that is known, once."""
    clock, told = Hand(6000.0), list[list[JobEvent]]()
    first = begun(clock, tmp_path)
    first.poll()
    if is_saved:
        first.save()
    clock.time = 9000.0
    first.poll()
    expected = known(first)
    ended(first)
    again = begun(clock, tmp_path, told)
    assert (read_memory(tmp_path / "j", again.predictor) is not None) is is_saved
    assert known(again) == expected
    assert again.silence == "nothing was heard of blue yet"
    assert max(event.time for event in told[0]) == max(event.time for event in EVENTS if event.time <= 9000.0)
    open_jobs = {job.job for job in [*first.jobs.waiting.values(), *first.jobs.running.values()]}
    assert open_jobs
    assert open_jobs <= {event.job for event in told[0] if event.kind == "submitted"}
    assert {event.job for event in told[0] if event.kind == "ended"} >= {
        event.job for event in EVENTS if event.kind == "ended" and 8000.0 < event.time <= 9000.0
    }
    clock.time = 15_000.0
    again.poll()
    (tmp_path / "whole").mkdir()
    first = begun(clock, tmp_path / "whole")
    for time in (6000.0, 9000.0, 15_000.0):
        clock.time = time
        first.poll()
    assert known(again) == known(first)
    ended(first)
    ended(again)


def test_what_was_told_then_counts(tmp_path: Path) -> None:
    """A restarted service bounds waits in another way: what jobs were told before is as it was, and counted so."""
    clock = Hand(9000.0)
    first = begun(clock, tmp_path)
    for time in (3000.0, 6000.0, 9000.0):
        clock.time = time
        first.poll()
    before = [first.ledger.counts(9000.0, 30.0, label) for label in (None, "1", "2")]
    job = max(first.jobs.waiting.values(), key=lambda each: each.submit)
    told = job.told
    assert told is not None
    assert before[0].told == 30
    ended(first)
    again = begun(clock, tmp_path, quantile=0.5, confidence=0.6)
    assert [again.ledger.counts(9000.0, 30.0, label) for label in (None, "1", "2")] == before
    assert again.jobs.find(job.id).told == told  # type: ignore[union-attr]
    lines = (tmp_path / "told").read_bytes()
    clock.time = 9300.0
    again.poll()
    after = (tmp_path / "told").read_bytes()
    assert after.startswith(lines)
    jobs = [json.loads(line)[0] for line in after.splitlines()]
    assert len(jobs) == len(set(jobs)) == sum(event.kind == "submitted" and event.time <= 9300.0 for event in EVENTS)
    assert again.jobs.waiting
    ended(again)


def test_of_what_the_file_does_not_have_nothing_was_told(tmp_path: Path) -> None:
    """Its journal is older than it: nobody knows what those jobs were told, so they do not count."""
    clock = Hand(9000.0)
    first = begun(clock, tmp_path)
    first.poll()
    ended(first)
    (tmp_path / "told").unlink()
    again = begun(clock, tmp_path)
    assert again.ledger.counts(9000.0).told == 0
    assert {job.told.no_prediction for job in again.jobs.waiting.values() if job.told} == {"not-kept"}
    assert again.recent.days("1", 9000.0)
    clock.time = 9600.0
    again.poll()
    assert again.ledger.counts(9600.0).told == len(read_told(tmp_path / "told")) == 10
    ended(again)


@pytest.mark.parametrize("fault", ["state", "memory", "no state", "journal", "version", "predictor", "rest"])
def test_what_is_otherwise_than_it_was_is_not_trusted(
    tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then all of the journal is learnt."""
    clock = Hand(9000.0)
    first = begun(clock, tmp_path)
    first.poll()
    first.save()
    expected = known(first)
    ended(first)
    state, memory = memory_files(tmp_path / "j")
    parameters: dict[str, Any] = {}
    if fault == "state":
        state.write_bytes(state.read_bytes()[:-1] + b"?")
    elif fault == "memory":
        memory.write_bytes(memory.read_bytes()[:-5])
    elif fault == "no state":
        state.unlink()
    elif fault == "journal":
        lines = (tmp_path / "j").read_bytes().splitlines(keepends=True)
        (tmp_path / "j").write_bytes(b"".join(lines[:-9]))
    elif fault == "version":
        monkeypatch.setattr("pipelines.service.memory.__version__", "0.0.1")
    elif fault == "predictor":
        parameters = {"quantile": 0.9}
    else:
        about = json.loads(memory.read_text())
        del about["rest"]
        memory.write_text(json.dumps(about))
    again = begun(clock, tmp_path, **parameters)
    assert read_memory(tmp_path / "j", again.predictor) is None
    if fault not in ("journal", "predictor"):
        assert known(again) == expected
    else:
        assert len(again.live.groups) == 2
    ended(again)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, None) for name in ("ledger", "jobs", "recent", "waits", "waited", "events")),
        ("ledger", {"open": [], "closed": [["?"]]}),
        ("jobs", {"jobs": [[1, 2, 3, None, {}, None, None, None]], "shares": []}),
        ("jobs", "a job whose name is a number"),
        ("recent", []),
        ("waits", [1, 2]),
        ("events", "many"),
    ],
)
def test_what_is_damaged_inside_is_not_trusted(tmp_path: Path, name: str, value: Any) -> None:
    """A part that is missing, or is another thing: all of the journal is learnt, as before."""
    clock = Hand(9000.0)
    first = begun(clock, tmp_path)
    first.poll()
    first.save()
    expected = known(first)
    ended(first)
    _, memory = memory_files(tmp_path / "j")
    about = json.loads(memory.read_text())
    if value == "a job whose name is a number":
        value = about["rest"]["jobs"]
        value["jobs"][0][0] = 5
    del about["rest"][name]
    about["rest"] |= {} if value is None else {name: value}
    memory.write_text(json.dumps(about))
    again = begun(clock, tmp_path)
    assert known(again) == expected
    ended(again)


def test_it_is_written_down_at_times(tmp_path: Path) -> None:
    """Every ten minutes, where something happened."""
    clock = Hand(6000.0)
    cluster = begun(clock, tmp_path)
    cluster.poll()
    cluster.save_at_times()
    _, memory = memory_files(tmp_path / "j")
    first = memory.read_bytes()
    for time, is_new in ((6300.0, False), (6600.0, True)):
        clock.time = time
        cluster.poll()
        cluster.save_at_times()
        assert (memory.read_bytes() != first) is is_new
    memory.unlink()
    clock.time = 9000.0
    cluster.save_at_times()
    assert not memory.exists()
    ended(cluster)


def test_what_was_told_is_written_when_the_disk_has_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be written is written with the next poll."""
    clock = Hand(6000.0)
    cluster = begun(clock, tmp_path)

    def fails(_: object) -> None:
        raise StorageError("full")

    with monkeypatch.context() as patch:
        patch.setattr(cluster._told_file, "write", fails)
        with pytest.raises(StorageError, match="full"):
            cluster.poll()
    assert read_told(tmp_path / "told") == {}
    clock.time = 6060.0
    cluster.poll()
    assert len(read_told(tmp_path / "told")) == sum(
        event.kind == "submitted" and event.time <= 6060 for event in EVENTS
    )
    ended(cluster)


NAMES = st.sampled_from(["1@0", "1@5", "2", "3_4@7"])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["submitted", "eligible", "started", "cancelled", "ended"]), NAMES, st.integers(0, 50)
        ),
        max_size=25,
    )
)
def test_jobs_that_wait_and_run(happened: list[tuple[str, str, int]]) -> None:
    """As a simple twin has them, whatever is heard in whatever order; also when they are read again."""
    happened.sort(key=lambda each: each[2])
    jobs, twin = QueuedJobs(), dict[str, str]()
    events = [
        JobEvent(kind, float(time), job, processors=2, requested_time=10.0, groups={"queue": "q"})
        for kind, job, time in happened
    ]
    for event in events:
        started = jobs.take([event], {event.job: ToldWait("q", 5.0, None)})
        was = twin.get(event.job)
        assert [job.job for job in started] == ([event.job] if event.kind == "started" and was == "waits" else [])
        if event.kind == "submitted":
            twin.setdefault(event.job, "waits")
        elif event.kind == "started" and was == "waits":
            twin[event.job] = "runs"
        elif event.kind in ("cancelled", "ended"):
            twin.pop(event.job, None)
        assert set(jobs.waiting) == {job for job, state in twin.items() if state == "waits"}
        assert set(jobs.running) == {job for job, state in twin.items() if state == "runs"}
        for of_id in ("1", "2", "3_4", "4"):
            there = [job for job in twin if job.partition("@")[0] == of_id]
            found = jobs.find(of_id)
            assert (found is not None) is bool(there)
            assert found is None or found.job in there
    again = QueuedJobs.from_mapping(json.loads(json.dumps(jobs.to_mapping())))
    assert repr(again.known()) == repr(jobs.known())
    assert (again.waiting, again.running, again.shares) == (jobs.waiting, jobs.running, jobs.shares)
    assert [again.find(of_id) for of_id in ("1", "2")] == [jobs.find(of_id) for of_id in ("1", "2")]


def test_of_recycled_ids_the_newest_is_meant() -> None:
    """And it is known what share of their requests jobs ran."""
    jobs = QueuedJobs()
    jobs.take([JobEvent("submitted", 5.0, "1@5", requested_time=100.0), JobEvent("submitted", 9.0, "1@9")], {})
    found = jobs.find("1")
    assert isinstance(found, QueuedJob)
    assert (found.id, found.job) == ("1", "1@9")
    jobs.take([JobEvent("started", 10.0, "1@5"), JobEvent("ended", 35.0, "1@5"), JobEvent("ended", 40.0, "1@9")], {})
    assert (jobs.find("1"), list(jobs.shares)) == (None, [0.25])
    jobs.take([JobEvent("submitted", 0.0, "2", requested_time=10.0), JobEvent("started", 0.0, "2")], {})
    jobs.take([JobEvent("ended", 500.0, "2")], {})
    assert list(jobs.shares) == [0.25, 1.0]
    assert len(jobs.known()) == 3
    jobs.take([JobEvent("submitted", 9000.0, "3"), JobEvent("cancelled", 9000.0, "3")], {})
    assert [job.job for job in jobs.known()] == ["3"]


def test_a_job_that_is_changed_asks_for_something_else() -> None:
    """While it waits; what it was told stays, and groups that are not said anew. No limit is said as None."""
    jobs = QueuedJobs()
    told = ToldWait("q", 5.0, None)
    jobs.take([JobEvent("submitted", 5.0, "1", "", 4, 60.0, {"queue": "q", "user": "ann"})], {"1": told})
    jobs.take([JobEvent("changed", 6.0, "1", "", 8), JobEvent("eligible", 7.0, "1")], {})
    groups = {"queue": "q", "user": "ann"}
    assert jobs.waiting == {"1": QueuedJob("1", 5.0, 8, None, groups, told, eligible=7.0)}
    jobs.take([JobEvent("changed", 8.0, "1", "", None, 90.0, {"queue": "r"})], {})
    jobs.take([JobEvent("changed", 8.0, "2", "", 1)], {})
    assert jobs.waiting == {"1": QueuedJob("1", 5.0, None, 90.0, {**groups, "queue": "r"}, told, eligible=7.0)}


def test_a_sensor_that_is_started_again_tells_nothing_that_is_known() -> None:
    """Not that a job became eligible, nor that it was changed: no limit any more, say."""
    held = Sighting("1", 5.0, "q", "ann", 4, 60.0, eligible=7.0)
    sightings = [held, held._replace(requested_time=None, processors=None, queue="r")]
    first, jobs = FollowedJobs(), QueuedJobs()
    for now, each in enumerate(sightings, 8):
        heard = list(first.look([each], float(now)))
        first.note(heard)
        jobs.take(heard, {})
    again = QueuedJobs.from_mapping(json.loads(json.dumps(jobs.to_mapping())))
    sensor = FollowedJobs(event for job in again.known() for event in job.events())
    assert list(sensor.look(sightings[1:], 20.0)) == []
    assert [event.kind for event in sensor.look([sightings[1]._replace(eligible=9.0)], 20.0)] == ["eligible"]
    with pytest.raises(ValueError, match="unpack"):
        QueuedJobs.from_mapping({"jobs": [["1", 5.0, 4, 60.0, {}, None, None, None]], "shares": []})
