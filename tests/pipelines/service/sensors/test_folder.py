# SPDX-License-Identifier: BSD-3-Clause
"""Journals that are put into a folder: each line is heard of once, when it is whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipelines.service.sensors.folder import FolderSensor, FolderSettings
from pipelines.service.sensors.sensor import NOT_SAID, SensorError
from swftools.live import JobEvent, Journal

DAY = 86_400.0


def event(time: float, kind: str = "submitted") -> JobEvent:
    """Return an event of a job that is called by its time."""
    return JobEvent(kind, time, f"{time:g}")


def put(path: Path, *events: JobEvent) -> bytes:
    """Write a journal; return what is in it."""
    with Journal(path) as journal:
        journal.append(events)
    return path.read_bytes()


def test_each_line_is_heard_of_once(tmp_path: Path) -> None:
    """Files that come, that grow, that are in the midst of being copied; others are left."""
    sensor = FolderSensor(FolderSettings(path=str(tmp_path)))
    first = put(tmp_path / "b.jsonl", event(1.0), event(2.0))
    assert sensor.poll(5.0) == [event(1.0), event(2.0)]
    assert sensor.poll(6.0) == []
    put(tmp_path / "b.jsonl", event(3.0))
    second = put(tmp_path / "rest.txt", event(4.0), event(5.0))
    (tmp_path / "a.jsonl").write_bytes(second[:-5])
    (tmp_path / ".c.jsonl").write_bytes(first)
    (tmp_path / "d.jsonl").mkdir()
    assert sensor.poll(7.0) == [event(4.0), event(3.0)]
    assert sensor.poll(8.0) == []
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(second[-5:])
    assert sensor.poll(9.0) == [event(5.0)]
    assert (sensor.machine(), sensor.notice, dict(sensor.costs)) == (NOT_SAID, None, {})


def test_a_file_that_is_copied_anew_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As rsync does: another file of that name, with what was read and more."""
    sensor = FolderSensor(FolderSettings(path=str(tmp_path)))
    first = put(tmp_path / "a.jsonl", event(1.0), event(2.0))
    assert len(sensor.poll(5.0)) == 2
    (tmp_path / ".a.new").write_bytes(first)
    (tmp_path / ".a.new").replace(tmp_path / "a.jsonl")
    assert sensor.poll(6.0) == []
    more = put(tmp_path / "rest", event(3.0))
    (tmp_path / ".a.new").write_bytes(first + more)
    (tmp_path / ".a.new").replace(tmp_path / "a.jsonl")
    assert sensor.poll(7.0) == [event(3.0)]
    (tmp_path / "a.jsonl").write_bytes(first + more + b'{"kind": "born"}\n')
    assert sensor.poll(8.0) == []
    assert ", line 4: is no event" in caplog.text


def test_a_file_that_is_another_one_is_read_anew(tmp_path: Path) -> None:
    """One that is shorter, or longer and was moved there."""
    sensor = FolderSensor(FolderSettings(path=str(tmp_path)))
    put(tmp_path / "a.jsonl", event(1.0), event(2.0))
    assert len(sensor.poll(5.0)) == 2
    put(tmp_path / "new", event(3.0), event(4.0), event(5.0))
    (tmp_path / "new").replace(tmp_path / "a.jsonl")
    assert sensor.poll(6.0) == [event(3.0), event(4.0), event(5.0)]
    (tmp_path / "a.jsonl").write_bytes(b"")
    assert sensor.poll(7.0) == []
    put(tmp_path / "a.jsonl", event(6.0))
    assert sensor.poll(8.0) == [event(6.0)]


def test_a_restart_reads_a_week_again(tmp_path: Path) -> None:
    """What is older than a week before the newest event was read then; the journal knows the rest."""
    events = [event(day * DAY) for day in range(1, 31)]
    put(tmp_path / "a.jsonl", *events)
    sensor = FolderSensor(FolderSettings(path=str(tmp_path)), iter(events[:20]))
    assert sensor.poll(0.0) == events[12:]


@pytest.mark.parametrize("happens", ["renamed", "away for a poll", "cut off and copied anew"])
def test_nothing_counts_twice_whatever_becomes_of_a_file(happens: str, tmp_path: Path) -> None:
    """A month of events, of which the journal knows those of the last week."""
    events = [event(float(hour * 1800)) for hour in range(1, 1500)]
    path = tmp_path / "a.jsonl"
    text = put(path, *events)
    sensor = FolderSensor(FolderSettings(path=str(tmp_path)))
    with Journal(tmp_path / "journal") as journal:
        assert journal.append(sensor.poll(0.0)) == events
        if happens == "cut off and copied anew":
            path.write_bytes(text[: len(text) // 2])
        else:
            path.rename(tmp_path / "away")
        assert journal.append(sensor.poll(1.0)) == []
        (tmp_path / "away").unlink(missing_ok=True)
        more = put(tmp_path / "more", event(3e6))
        (tmp_path / ("b.jsonl" if happens == "renamed" else "a.jsonl")).write_bytes(text + more)
        assert journal.append(sensor.poll(2.0)) == [event(3e6)]


def test_a_file_that_comes_later_may_have_events_of_the_last_week(tmp_path: Path) -> None:
    """All that are there at first are heard whole, also those that are read at a later poll."""
    sensor = FolderSensor(FolderSettings(path=str(tmp_path)))
    put(tmp_path / "a.jsonl", event(30 * DAY))
    put(tmp_path / "b.jsonl")
    assert len(sensor.poll(0.0)) == 1
    put(tmp_path / "b.jsonl", event(DAY))
    put(tmp_path / "c.jsonl", event(22.9 * DAY), event(23.0 * DAY), event(24.0 * DAY))
    assert sensor.poll(1.0) == [event(DAY), event(23.0 * DAY), event(24.0 * DAY)]
    (tmp_path / "b.jsonl").rename(tmp_path / "away")
    assert sensor.poll(2.0) == []
    put(tmp_path / "away", event(2 * DAY))
    (tmp_path / "away").rename(tmp_path / "b.jsonl")
    assert sensor.poll(3.0) == [event(2 * DAY)]  # it is the one that it was


WRONG = (
    b'{"kind": "born"}',
    b'{"kind":"submitted","time":1,"job":"7","groups":{"queue":["a"]}}',
    b'{"kind":"submitted","time":1,"job":"7","groups":{"queue":{}}}',
    b'{"kind":"submitted","time":1,"job":"7","groups":{"queue":"%s"}}' % (b"q" * 1001),
    b'{"kind":"submitted","time":1,"job":"%s"}' % (b"7" * 5000),
    b'{"kind":"submitted","time":1e13,"job":"7"}',
    b'{"kind":"submitted","time":1%s,"job":"7"}' % (b"0" * 400),
    b'{"kind":"submitted","time":1,"job":"7","requested_time":1%s}' % (b"0" * 400),
    b'{"kind":"submitted","time":1,"job":"7","processors":1%s}' % (b"0" * 30),
    b'{"kind":"submitted","time":1%s,"job":"7"}' % (b"0" * 5000),
    b"[" * 100_000,
    b"\xff\x1b[31m",
)
"""Lines that are no events."""


def test_a_line_that_is_no_event_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The log names it once; others of the file are heard, and what comes later."""
    good, more = put(tmp_path / "a.jsonl", event(1.0), event(2.0)), put(tmp_path / "more", event(3.0))
    (tmp_path / "a.jsonl").write_bytes(good + b"".join(line + b"\n" for line in WRONG[:3]) + more)
    sensor = FolderSensor(FolderSettings(path=str(tmp_path)))
    assert sensor.poll(5.0) == [event(1.0), event(2.0), event(3.0)]
    assert sensor.notice == "3 lines of its files are no events, and are passed over"
    said = [record.getMessage() for record in caplog.records]
    assert [each.partition(": is no event of a journal: ")[0].rpartition("/")[2] for each in said] == [
        f"a.jsonl, line {number}" for number in (3, 4, 5)
    ]
    assert sensor.poll(6.0) == []
    assert len(caplog.records) == 3
    (tmp_path / "b.jsonl").write_bytes(b"none\n")
    assert sensor.poll(7.0) == []
    assert str(sensor.notice).startswith("4 lines")


@pytest.mark.parametrize("line", WRONG, ids=range(len(WRONG)))
def test_no_line_stops_a_cluster(line: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever it is; nothing of it reaches a terminal raw."""
    good = put(tmp_path / "rest", event(1.0))
    (tmp_path / "a.jsonl").write_bytes((line + b"\n") * 12 + good)
    sensor = FolderSensor(FolderSettings(path=str(tmp_path)))
    assert sensor.poll(5.0) == [event(1.0)]
    assert "\x1b" not in caplog.text
    assert len(caplog.records) == 11
    assert ": so are 2 more lines" in caplog.text
    assert all(len(record.getMessage()) < 1000 for record in caplog.records)


def test_a_folder_where_nothing_comes(tmp_path: Path) -> None:
    """What is known gets too old to be told, and that is said: there is no folder, no file, or nothing new."""
    folder = tmp_path / "files"
    sensor = FolderSensor(FolderSettings(path=str(folder), quiet=3600))
    with pytest.raises(SensorError, match="files: there is no such folder; make it"):
        sensor.poll(0.0)
    folder.mkdir()
    with pytest.raises(SensorError, match=r"has no file; is what writes \*\.jsonl there running"):
        sensor.poll(0.0)
    put(folder / "a.jsonl", event(1.0))
    os.utime(folder / "a.jsonl", (10_000, 10_000))
    assert sensor.poll(99_999.0) == [event(1.0)]
    assert sensor.poll(13_600.0) == []
    with pytest.raises(SensorError, match="has nothing new for 2 h"):
        sensor.poll(17_201.0)
    put(folder / "b.jsonl", event(2.0))
    assert sensor.poll(17_300.0) == [event(2.0)]


def test_more_than_is_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest comes at the next polls."""
    monkeypatch.setattr("pipelines.service.sensors.folder.AT_ONCE", 3)
    sensor = FolderSensor(FolderSettings(path=str(tmp_path)))
    put(tmp_path / "a.jsonl", *map(event, (1.0, 2.0, 3.0, 4.0)))
    put(tmp_path / "b.jsonl", event(5.0))
    assert [len(sensor.poll(6.0)) for _ in range(3)] == [3, 2, 0]
