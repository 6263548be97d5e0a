# SPDX-License-Identifier: BSD-3-Clause
"""What users ask is kept for a stated time, without who they are."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from pipelines.service import asked_questions
from pipelines.service.app import Service, make_app
from pipelines.service.asked_questions import DAY, AskedQuestions
from swftools.errors import ParameterError, StorageError
from tests.pipelines.service.small_cluster import Hand, cluster_of


def lines(path: Path) -> list[dict[str, Any]]:
    """Return what is kept."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_was_asked_and_told_is_kept(tmp_path: Path) -> None:
    """Of programs and of the form; not who asked, from where, or what was refused."""
    clock = Hand(12_000.0)
    cluster = cluster_of(clock)
    cluster.poll()
    service = Service([cluster], questions=tmp_path / "q")
    with TestClient(make_app(service, ["testserver"]), headers={"user-agent": "secret"}) as client:
        told = client.get("/api/v1/wait?queue=batch&time=1h&within=10m&quantile=.9").json()
        assert client.get("/api/v1/wait?queue=nope").status_code == 404
        assert client.get("/?group=1").status_code == 200
        assert client.get("/queues").status_code == 200
        assert client.get("/queue/batch").status_code == 200  # nobody asked that of a job
    first, form = lines(tmp_path / "q")
    assert first == {
        "time": 946_684_800 + 12_000,
        "cluster": "blue",
        "queue": "batch",
        "processors": None,
        "requested_time": 3600.0,
        "within": 600.0,
        "at": None,
        "bounds": {"0.9": told["bounds"][0]["seconds"]},
        "no_prediction": None,
    }
    assert set(form) == set(first)
    assert list(form["bounds"]) == ["0.5", "0.75", "0.9", "0.95"]


def test_no_user_is_named(tmp_path: Path) -> None:
    """Not by the group either, where waits are grouped by user and pages may say so; nor to Prometheus."""
    cluster = cluster_of(Hand(12_000.0), by=["queue", "user"], training=1)
    cluster.poll()
    service = Service([cluster], shows_users=True, questions=tmp_path / "q")
    name = next(name for name in cluster.groups().values() if "ann" in name)
    with TestClient(make_app(service, ["testserver"])) as client:
        told = client.get("/api/v1/wait", params={"queue": name, "time": "1h"})
        assert (told.status_code, told.json()["queue"]) == (200, name)
        metrics = client.get("/metrics").text
    (kept,) = lines(tmp_path / "q")
    assert (kept["queue"], kept["bounds"] != {}) == (None, True)
    assert "ann" not in (tmp_path / "q").read_text()
    assert "ann" not in metrics
    assert 'swftools_wait_seconds_count{cluster="blue"}' in metrics


def test_it_is_kept_for_a_stated_time(tmp_path: Path) -> None:
    """What is older is dropped when a day is over, and not before anybody asks."""
    path = tmp_path / "q"
    kept = AskedQuestions(path, 2.0)
    for time in (0.0, 0.5 * DAY, 1.9 * DAY, 2.4 * DAY):
        kept.keep(time, {}, {})
    assert [line["time"] for line in lines(path)] == [0, 0.5 * DAY, 1.9 * DAY, 2.4 * DAY]
    kept.keep(2.9 * DAY, {}, {})
    assert [line["time"] for line in lines(path)] == [1.9 * DAY, 2.4 * DAY, 2.9 * DAY]
    kept.close()
    again = AskedQuestions(path, 0.5)
    again.keep(3.0 * DAY, {}, {})
    assert [line["time"] for line in lines(path)] == [2.9 * DAY, 3.0 * DAY]
    again.close()


def test_what_fails_hinders_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said once, and kept again when it works."""
    path = tmp_path / "q"
    kept = AskedQuestions(path)
    kept.keep(0.0, {}, {})
    monkeypatch.setattr(asked_questions, "MOST_BYTES", 20)
    for _ in range(3):
        kept.keep(1.0, {}, {})
    (record,) = caplog.records
    assert (record.levelno, "q has 20 bytes" in record.getMessage()) == (logging.ERROR, True)
    monkeypatch.undo()
    kept.keep(2.0, {}, {})
    assert [line["time"] for line in lines(path)] == [0, 2]
    kept.close()


def test_a_line_that_is_no_question_is_dropped_when_it_is_reached(tmp_path: Path) -> None:
    """Of a hand, say: it hinders nothing, and stands no longer than what was asked before it. Nothing else is lost."""
    path = tmp_path / "q"
    odd = ["something else", "5", '{"time": null}', '{"time": 1' + "0" * 400 + "}", "[" * 100_000]
    old, new = ['{"time":0}', '{"time":5}'], ['{"time":200000}', "odd as well", '{"time":200001}']
    path.write_text("\n".join([old[0], *odd, old[1], *new]) + "\n")
    kept = AskedQuestions(path, 1.0)
    kept.keep(200_002.0, {}, {})
    kept.close()
    assert path.read_text().splitlines() == [*new, '{"time":200002}']
    kept = AskedQuestions(path, 1.0)
    kept.keep(400_000.0, {}, {})
    kept.close()
    assert path.read_text().splitlines() == ['{"time":400000}']


def test_only_what_is_dropped_is_read_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers wait meanwhile; and where nothing is dropped the file stays as it is."""
    path = tmp_path / "q"
    path.write_text("".join(f'{{"time":{time}}}\n' for time in range(0, 1_000_000, 1000)))
    kept, inode = AskedQuestions(path, 10.0), path.stat().st_ino
    read: list[bytes] = []
    loads = json.loads
    monkeypatch.setattr(asked_questions.json, "loads", lambda line: read.append(line) or loads(line))
    kept.prune(863_000.0)
    assert (len(read), path.stat().st_ino) == (1, inode)
    kept.prune(868_000.0)  # a question is kept for less than ten days
    assert len(read) == 1 + 6
    monkeypatch.undo()
    assert [line["time"] for line in lines(path)] == list(range(5000, 1_000_000, 1000))
    kept.close()


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    """At the start."""
    with pytest.raises(ParameterError, match="questions_days=0 is not a number of days above 0"):
        AskedQuestions(tmp_path / "q", 0)
    for text in ("My thesis.\n", "My thesis.", '["time"]\n'):
        (tmp_path / "other").write_text(text)
        with pytest.raises(ParameterError, match="other, line 1: is no question that was kept; name another file"):
            AskedQuestions(tmp_path / "other")
        assert (tmp_path / "other").read_text() == text
    for text in ("", '{"ti', '{"time":5,"clu'):  # what was being written when the machine stopped
        (tmp_path / "cut").write_text(text)
        AskedQuestions(tmp_path / "cut").close()
        assert (tmp_path / "cut").read_text() == ""
    with pytest.raises(StorageError, match="cannot be written"):
        AskedQuestions(tmp_path / "none" / "q")


def test_a_question_costs_no_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system writes it in its time."""
    kept = AskedQuestions(tmp_path / "q")
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    kept.keep(0.0, {}, {})
    assert (len(lines(tmp_path / "q")), synced) == (1, [])
    kept.close()
