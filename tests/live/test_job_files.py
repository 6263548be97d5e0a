# SPDX-License-Identifier: BSD-3-Clause
"""Files of what was heard: each job that changed, whole; after crashes too; and what a history makes of them."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import read_log
from swftools.errors import ParameterError, StorageError
from swftools.live import JobEvent, JobFiles, Journal, ToldWait
from swftools.live.events import in_order
from swftools.live.job_files import id_of

T = 1_790_000_040  # a whole minute
SUBMITTED = JobEvent(
    "submitted", T + 100.0, "7@100", "", 16, 3600.0, {"queue": "a,b", "user": 'x"y\n', "account": "p", "partition": "c"}
)
HEADER = (
    "job,cluster,queue,partition,user,account,processors,requested_time,submitted,eligible,started,ended,outcome,told\n"
)


Start = Callable[..., "Heard"]


class Heard:
    """A journal and its files: what is heard goes into both."""

    def __init__(self, folder: Path, every: float = 60.0, inbox: Path | None = None) -> None:
        self.journal = Journal(folder / "journal")
        try:
            self.files = JobFiles(inbox or folder, "blue", every, self.journal)
        except ParameterError:
            self.journal.close()
            raise
        self.write = self.files.write

    def take(self, events: Iterable[JobEvent], told: Mapping[str, ToldWait] | None = None) -> None:
        """Hear of something."""
        self.files.take(self.journal.append(events), told)


@pytest.fixture
def files_in() -> Iterator[Callable[..., Heard]]:
    """Start what writes into a folder; what was started before is gone."""
    running: list[Heard] = []

    def start(*words: Any) -> Heard:
        while running:
            running.pop().journal.close()
        running.append(Heard(*words))
        return running[-1]

    yield start
    for each in running:
        each.journal.close()


def texts(folder: Path) -> dict[str, str]:
    """Return what stands in the files of a folder."""
    return {path.name: path.read_text() for path in sorted(folder.glob("*.csv"))}


def test_a_job_is_whole_in_each_file(tmp_path: Path, files_in: Start) -> None:
    """That of its start and that of its end; one that waits is in none."""
    files = files_in(tmp_path)
    files.take([SUBMITTED])
    assert files.write(T + 130.0) is None
    files.take([JobEvent("started", T + 150.5, "7@100")])
    assert files.write(T + 179.9) is None
    first = files.write(T + 180.0)
    assert first is not None
    row = f'7,blue,"a,b",c,"x""y\n",p,16,3600,{T + 100},,{T + 150.5},'
    assert first.name == "blue-20260921T141700Z.csv"
    assert first.read_text() == f"{HEADER}{row},,\n"
    assert files.write(T + 240.0) is None
    files.take([JobEvent("ended", T + 290.0, "7@100", outcome="failed")])
    assert files.write(T + 299.0) is None
    second = files.write(T + 301.0)
    assert second is not None
    assert second.read_text() == f"{HEADER}{row}{T + 290},failed,\n"
    assert files.write(T + 1000.0) is None
    jobs = read_log(second).jobs
    assert jobs[["wait_time", "run_time", "requested_processors", "status"]].values.tolist() == [[50.5, 139.5, 16, 0]]


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([("cancelled", None)], f",{T + 9},cancelled"),
        ([("started", None), ("ended", None)], f"{T + 9},{T + 9},"),
        ([("started", None), ("ended", "cancelled")], f"{T + 9},{T + 9},cancelled"),
        ([("started", None), ("cancelled", None)], f"{T + 9},{T + 9},"),
        ([("ended", None)], f",{T + 9},cancelled"),
        ([("started", None)], f"{T + 9},,"),
    ],
)
def test_how_a_job_left(tmp_path: Path, files_in: Start, events: list[tuple[str, str | None]], told: str) -> None:
    """What left the queue without a start was cancelled; of another end it is said what is known."""
    files = files_in(tmp_path)
    files.take([JobEvent("submitted", T + 5.0, "8")])
    files.take(JobEvent(kind, T + 9.0, "8", outcome=outcome) for kind, outcome in events)
    path = files.write(T + 10.0, at_once=True)
    assert path is not None
    assert path.read_text() == f"{HEADER}8,blue,,,,,,,{T + 5},,{told},\n"
    assert len(read_log(path)) == 1


def test_what_a_job_was_told_is_its_estimate(tmp_path: Path, files_in: Start) -> None:
    """As of a batch system that says how long a job will wait; one that was told nothing has none."""
    files = files_in(tmp_path)
    told = {"8": ToldWait("batch", 77.5, None), "9": ToldWait("batch", math.nan, "training")}
    files.take([JobEvent("submitted", T, job) for job in ("8", "9", "10")], told)
    files.take([JobEvent("started", T + 60, job) for job in ("8", "9", "10")])
    path = files.write(T + 61, at_once=True)
    assert path is not None
    jobs = read_log(path).jobs.set_index("log_id")
    assert jobs["estimated_wait_time"].fillna(-1).to_dict() == {"8": 77.5, "9": -1, "10": -1}


def test_files_of_one_second_are_two(tmp_path: Path, files_in: Start) -> None:
    """None replaces another one: its jobs would be gone."""
    files = files_in(tmp_path)
    for number in range(3):
        files.take([JobEvent("submitted", T, f"{number}"), JobEvent("cancelled", T + 1, f"{number}")])
        assert files.write(T + 5 + number / 10, at_once=True)
    assert [len(text.splitlines()) for text in texts(tmp_path).values()] == [2, 2, 2]
    assert "".join(texts(tmp_path).values()).count("\n0,") == 1


def test_what_a_job_was_told_outlives_a_restart(tmp_path: Path, files_in: Start) -> None:
    """By the file of what was told: until a job starts it is in no file."""
    files = files_in(tmp_path)
    told = {"8": ToldWait("batch", 60.0, None)}
    files.take([JobEvent("submitted", T, "8")], told)
    assert files.write(T + 1, at_once=True) is None
    files.journal.close()
    with Journal(tmp_path / "journal") as journal:
        again = JobFiles(tmp_path, "blue", 60.0, journal, told)
        again.take(journal.append([JobEvent("started", T + 5, "8")]))
        path = again.write(T + 6, at_once=True)
    assert path is not None
    assert path.read_text().endswith(f",{T},,{T + 5},,,60\n")


def test_what_was_heard_first_counts(tmp_path: Path, files_in: Start) -> None:
    """Of two starts of a job, or two submissions: the wait that it was told of ended with the first."""
    files = files_in(tmp_path)
    files.take([JobEvent("submitted", T, "8", processors=4), JobEvent("submitted", T + 1, "8", processors=5)])
    files.take([JobEvent("started", T + 5, "8"), JobEvent("started", T + 7, "8")])
    path = files.write(T + 9, at_once=True)
    assert path is not None
    assert path.read_text() == f"{HEADER}8,blue,,,,,4,,{T},,{T + 5},,,\n"


def test_what_is_in_files_is_not_written_again(tmp_path: Path, files_in: Start) -> None:
    """By what stands beside the journal; without it all is, and a history knows it."""
    files = files_in(tmp_path)
    told = {"8": ToldWait("batch", 60.0, None)}
    files.take([JobEvent("submitted", 5.0, "8", processors=4), JobEvent("submitted", 6.0, "9")], told)
    files.take([JobEvent("started", 9.0, "8")])
    assert files.write(10.0, at_once=True)
    again = files_in(tmp_path)
    assert again.write(500.0, at_once=True) is None
    again.take([JobEvent("ended", 600.0, "8"), JobEvent("started", 600.0, "9")])
    path = again.write(700.0, at_once=True)
    assert path is not None
    assert path.read_text() == f"{HEADER}8,blue,,,,,4,,5,,9,600,,60\n9,blue,,,,,,,6,,600,,,\n"
    again.take([JobEvent("ended", 800.0, "9")])
    third = files_in(tmp_path)  # it was killed: what is in no file yet stands in the journal
    path = third.write(800.0, at_once=True)
    assert path is not None
    assert path.read_text() == f"{HEADER}9,blue,,,,,,,6,,600,800,,\n"
    (tmp_path / "journal.files").unlink()
    path = files_in(tmp_path).write(900.0, at_once=True)
    assert path is not None
    assert path.read_text() == f"{HEADER}8,blue,,,,,4,,5,,9,600,,\n9,blue,,,,,,,6,,600,800,,\n"


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b'{"bytes":3}', b'{"bytes":1e9,"jobs":[]}', b"\xff"])
def test_a_damaged_note_means_all_anew(tmp_path: Path, files_in: Start, damaged: bytes) -> None:
    """So does one of another journal, which is longer."""
    files = files_in(tmp_path)
    files.take([JobEvent("submitted", 5.0, "8"), JobEvent("started", 9.0, "8")])
    assert files.write(10.0, at_once=True)
    (tmp_path / "journal.files").write_bytes(damaged)
    path = files_in(tmp_path).write(900.0, at_once=True)
    assert path is not None
    assert path.read_text() == f"{HEADER}8,blue,,,,,,,5,,9,,,\n"


def test_a_file_that_cannot_be_written_is_written_later(tmp_path: Path, files_in: Start) -> None:
    """With all that came meanwhile."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    files = files_in(tmp_path, 60.0, inbox)
    files.take([JobEvent("submitted", 5.0, "8"), JobEvent("started", 9.0, "8")])
    inbox.rmdir()
    with pytest.raises(StorageError, match="make the folder first"):
        files.write(61.0, at_once=True)
    inbox.mkdir()
    files.take([JobEvent("submitted", 6.0, "9"), JobEvent("started", 70.0, "9")])
    path = files.write(80.0, at_once=True)
    assert path is not None
    assert path.read_text().count("\n") == 3


def test_what_is_refused(tmp_path: Path, files_in: Start) -> None:
    """No folder, no time, no mark; each says what to do."""
    with pytest.raises(ParameterError, match="is no folder; make it"):
        files_in(tmp_path, 60.0, tmp_path / "none")
    for every in (0.0, math.nan, math.inf, -1.0):
        with pytest.raises(ParameterError, match="is not a number of seconds"):
            files_in(tmp_path, every)


def test_names_are_plain(tmp_path: Path) -> None:
    """A cluster may be called anything."""
    with Journal(tmp_path / "journal") as journal:
        files = JobFiles(tmp_path, "../a b", 60.0, journal)
        files.take(journal.append([JobEvent("submitted", 5.0, "8"), JobEvent("started", 9.0, "8")]))
        path = files.write(10.0, at_once=True)
    assert path is not None
    assert path.parent == tmp_path
    assert path.name == "___a_b-19700101T000010Z.csv"
    assert id_of("7_3@100") == "7_3"


LIVES = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 200), st.integers(1, 400), st.sampled_from(["ends", "left", "runs"])),
    min_size=1,
    max_size=8,
)


@given(lives=LIVES, polls=st.sets(st.integers(0, 1000), max_size=12), crashes=st.sets(st.integers(0, 12)))
def test_the_last_row_of_each_job_is_the_truth(
    lives: list[tuple[int, int, int, str]], polls: set[int], crashes: set[int]
) -> None:
    """Whenever polls come and crashes fall: each job that started or left is there, and last as it is."""
    events, truth = [], {}
    for number, (submit, wait, run, fate) in enumerate(lives):
        job, start = f"{number}@{submit}", submit + wait
        events.append(JobEvent("submitted", submit, job))
        if fate == "left":
            events.append(JobEvent("cancelled", start, job))
            truth[str(number)] = (str(submit), "", str(start), "cancelled")
            continue
        events.append(JobEvent("started", start, job))
        if fate == "ends":
            events.append(JobEvent("ended", start + run, job, outcome="completed"))
        truth[str(number)] = (
            str(submit),
            str(start),
            *((str(start + run), "completed") if fate == "ends" else ("", "")),
        )
    events, journal = in_order(events), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = Heard(folder, 50.0)
        last: dict[str, tuple[str, ...]] = {}
        for number, now in enumerate([*sorted(polls), 1001]):
            new = [event for event in events if event.time <= now][len(journal) :]
            journal += new
            files.take(new)
            if number in crashes:
                files.journal.close()
                files = Heard(folder, 50.0)
            path = files.write(now, at_once=now == 1001)
            if path is not None:
                rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
                assert len({row[0] for row in rows}) == len(rows)
                assert all(last.get(row[0], ()) != (row[8], row[10], row[11], row[12]) for row in rows)
                last |= {row[0]: (row[8], row[10], row[11], row[12]) for row in rows}
        files.journal.close()
        assert last == truth
