# SPDX-License-Identifier: BSD-3-Clause
"""The journal of events: each once or not at all, whatever ends the process that writes."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

import pytest

from swftools.errors import ParameterError, StorageError
from swftools.live import JobEvent, Journal, read_journal
from swftools.live import journal as journal_module

EVENTS = [
    JobEvent("submitted", 1.5, "7", "one", 4, 3600.0, {"queue": "batch", "user": 3}),
    JobEvent("submitted", 1.5, "7", "two"),
    JobEvent("started", 2.0, "7", "one"),
    JobEvent("ended", 9.0, "7", "one"),
]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """In order, with all that was said; what is delivered again is known."""
    with Journal(tmp_path / "j") as journal:
        assert journal.append(EVENTS[:2]) == EVENTS[:2]
        assert journal.append([*EVENTS, EVENTS[3]]) == EVENTS[2:]
        assert journal.append(EVENTS) == []
        assert journal.events == 4
    assert list(read_journal(tmp_path / "j")) == EVENTS
    with Journal(tmp_path / "j") as journal:
        assert journal.events == 4
        assert journal.append(EVENTS) == []


def test_what_becomes_eligible_or_changes_is_kept(tmp_path: Path) -> None:
    """Each time once: a job may be held again, and changed twice."""
    asked = JobEvent("changed", 6.0, "7", processors=4, requested_time=60.0, groups={"queue": "long"})
    heard = [JobEvent("eligible", 5.0, "7"), asked, JobEvent("changed", 7.0, "7"), JobEvent("eligible", 9.0, "7")]
    with Journal(tmp_path / "journal") as journal:
        assert journal.append(heard) == heard
        assert journal.append(heard) == []
    assert list(read_journal(tmp_path / "journal")) == heard


def test_of_two_tales_of_one_event_the_first_counts(tmp_path: Path) -> None:
    """Also where they come together."""
    first, second = (JobEvent("submitted", 1.0, "7", processors=count) for count in (4, 8))
    with Journal(tmp_path / "j") as journal:
        assert journal.append([first, second]) == [first]
        assert journal.append([second]) == []
    assert list(read_journal(tmp_path / "j")) == [first]


def test_memory_is_of_a_week(tmp_path: Path) -> None:
    """Of the newest event: what is delivered again is known by then; how many there are is counted all the same."""
    days = [JobEvent("started", 86_400.0 * day + number, f"{number}") for day in range(40) for number in range(500)]
    with Journal(tmp_path / "j") as journal:
        for begin in range(0, len(days), 500):
            assert len(journal.append(days[begin : begin + 500])) == 500
            assert journal.append(days[max(begin - 3000, 0) : begin + 500]) == []
        assert (journal.events, len(journal._known) < 10_000) == (20_000, True)
    with Journal(tmp_path / "j") as journal:
        assert (journal.events, len(journal._known) < 10_000) == (20_000, True)
        assert journal.append(days[-3500:]) == []


def test_killed_while_it_writes_at_any_byte(tmp_path: Path) -> None:
    """What is whole stays, the rest is as never written; and the next event stands in a line of its own."""
    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.append(EVENTS)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        there = whole[:size].count(b"\n")
        assert list(read_journal(path)) == EVENTS[:there]
        with Journal(path) as journal:
            assert journal.append(EVENTS) == EVENTS[there:]
        assert path.read_bytes() == whole


def test_it_is_on_the_disk_when_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flushed, and synced, once for all of them."""
    synced: list[bytes] = []
    with Journal(tmp_path / "j") as journal:
        monkeypatch.setattr(os, "fsync", lambda number: synced.append((tmp_path / "j").read_bytes()))
        journal.append(EVENTS)
        assert synced == [(tmp_path / "j").read_bytes()]
        assert synced[0].count(b"\n") == 4
        journal.append(EVENTS)
        assert len(synced) == 1


def test_a_new_file_is_in_its_folder_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, when it is made: a loss of power does not take it away."""
    synced: list[Path] = []
    monkeypatch.setattr("swftools.live.line_file.sync_folder", synced.append)
    for _ in range(2):
        Journal(tmp_path / "j").close()
        assert synced == [tmp_path]


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is one error; nothing of it counts, and it can be delivered again."""

    def fails(number: int) -> None:
        raise OSError(28, "No space left on device")

    with Journal(tmp_path / "j") as journal:
        journal.append(EVENTS[:1])
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fails)
            with pytest.raises(StorageError, match="j: cannot be written: No space left on device"):
                journal.append(EVENTS)
        assert journal.events == 1
        assert list(read_journal(tmp_path / "j")) == EVENTS[:1]
        assert journal.append(EVENTS) == EVENTS[1:]
    assert list(read_journal(tmp_path / "j")) == EVENTS


@pytest.mark.parametrize("room", [1, 40, 100])
def test_a_disk_that_fills_within_a_line(room: int, tmp_path: Path) -> None:
    """What was written of it is cut off, nothing is written later behind one's back, and twice is as once."""
    path = tmp_path / "j"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(path) as journal:
        journal.append(EVENTS[:1])
        size = path.stat().st_size
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, limits[1]))
            for _ in range(2):
                with pytest.raises(StorageError, match="j: cannot be written: File too large"):
                    journal.append(EVENTS[1:])
                assert path.stat().st_size == size
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert journal.append(EVENTS) == EVENTS[1:]
    assert list(read_journal(path)) == EVENTS


@pytest.mark.parametrize(
    "line",
    ["no json", "[]", '{"kind": "born", "time": 1, "job": "1"}', '{"kind": "started", "job": "1"}', '{"a": 1}',
     '{"kind": "started", "time": 1, "job": "1", "groups": 5}', '{"kind": "started", "time": "1", "job": "1"}'],
)  # fmt: skip
def test_a_line_that_is_none(line: str, tmp_path: Path) -> None:
    """File and line are named, and nothing is written behind it."""
    (tmp_path / "j").write_text('{"kind":"started","time":1,"job":"1"}\n' + line + "\n")
    for reads in (lambda: list(read_journal(tmp_path / "j")), lambda: Journal(tmp_path / "j")):
        with pytest.raises(ParameterError, match=r"j, line 2: is no event of a journal"):
            reads()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """Is an error that names the file."""
    with pytest.raises(StorageError, match="none/j: cannot be written: No such file or directory"):
        Journal(tmp_path / "none" / "j")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "born"}, "kind='born' is none of started, submitted, cancelled, ended"),
        ({"time": float("nan")}, "time=nan of a job that is started is not a number"),
        ({"job": ""}, "job=''"),
        ({"job": 7}, "job=7"),
        ({"processors": 0}, "processors=0 is not an integer from 1 on"),
        ({"requested_time": -1.0}, r"requested_time=-1.0 is not a number of seconds"),
    ],
)
def test_events_that_are_none(given: dict[str, Any], message: str) -> None:
    """Are refused when they are made."""
    with pytest.raises(ParameterError, match=message):
        JobEvent(**{"kind": "started", "time": 1.0, "job": "1", **given})


def test_it_is_locked_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what another process writes meanwhile would not be known, and written twice."""
    path, read, tried = tmp_path / "journal", journal_module._read, list[str]()

    def while_it_is_read(*words: Any) -> Any:
        if not tried:
            tried.append("once")
            with pytest.raises(StorageError, match="another process writes it"):
                Journal(path)
        return read(*words)

    monkeypatch.setattr(journal_module, "_read", while_it_is_read)
    Journal(path).close()
    assert tried == ["once"]


def test_what_cannot_be_cut_off_is_cut_off_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is written behind it: a torn line in the midst would be the end of the journal."""
    path = tmp_path / "journal"
    event = JobEvent("submitted", 5.0, "7")
    with Journal(path) as journal:
        cut, sync = os.ftruncate, os.fsync

        def fail(*_: int) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "fsync", fail)
        monkeypatch.setattr(os, "ftruncate", fail)
        for _ in range(2):
            with pytest.raises(StorageError, match="Input/output error"):
                journal.append([event])
        monkeypatch.setattr(os, "fsync", sync)
        monkeypatch.setattr(os, "ftruncate", cut)
        assert journal.append([event]) == [event]
    assert list(read_journal(path)) == [event]
    assert path.read_bytes().count(b"\n") == 1
