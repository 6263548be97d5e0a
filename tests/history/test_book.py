# SPDX-License-Identifier: BSD-3-Clause
"""Records of files in whatever order, put into a history."""

from __future__ import annotations

import io
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from swftools.errors import HistoryError
from swftools.formats.read_log import read_log
from swftools.formats.swf.reader import read_swf
from swftools.history.book import HistoryBook
from swftools.history.records import FileRecords, file_records
from swftools.tables import empty_frame
from tests.examples import examples
from tests.naive.history import Record, jobs_of

NAMES = ("job_number", "submit_time", "wait_time", "run_time", "allocated_processors", "status")
MONTH = 31 * 86_400
QUICKLY = [Phase.explicit, Phase.reuse, Phase.generate]
"""Without shrinking, which takes minutes where each example makes tables."""


def new_book() -> HistoryBook:
    """Return a book without records."""

    def nothing(label: str) -> pd.DataFrame:
        raise AssertionError(label)

    return HistoryBook(nothing, {}, empty_frame("names"), None)


def text_of(file: list[Record], header: str = "; UnixStartTime: 1\n") -> bytes:
    """Return records as a log in SWF."""
    lines = []
    for record in file:
        told = [-1 if record[name] is None else record[name] for name in NAMES]
        number, submit, wait, run, processors, status = told
        lines.append(f"{number} {submit} {wait} {run} {processors} -1 -1 -1 -1 -1 {status} 7 -1 -1 3 -1 -1 -1\n")
    return (header + "".join(lines)).encode()


def records_of(file: list[Record], header: str = "; UnixStartTime: 1\n") -> FileRecords:
    """Return records as they are read from a log in SWF."""
    return file_records(read_swf(io.BytesIO(text_of(file, header))))


def rows_of(book: HistoryBook) -> list[Record]:
    """Return all records of a book, in order."""
    rows: list[Record] = []
    for label in book.labels:
        frame = book.month(label)[[*NAMES, "job_occurrence"]]
        frame = frame.assign(submit_time=frame["submit_time"] - 1).astype(object)
        rows += [{k: None if pd.isna(v) else v for k, v in row.items()} for row in frame.to_dict("records")]
    return rows


def job(number: int = 1, submit: int = 100, **told: Any) -> Record:
    """Return a record of a job that ended."""
    return {"job_number": number, "submit_time": submit, "wait_time": 5, "run_time": 60} | {
        "allocated_processors": 4,
        "status": 1,
        **told,
    }


records = st.fixed_dictionaries(
    {
        "job_number": st.integers(1, 4),
        "submit_time": st.sampled_from([0, 10, MONTH - 1, MONTH, 2 * MONTH]),
        "wait_time": st.none() | st.integers(0, 3),
        "run_time": st.none() | st.integers(0, 3),
        "allocated_processors": st.integers(1, 3),
        "status": st.none() | st.sampled_from([0, 1, 2, 3, 5]),
    }
)


def told(rows: list[Record]) -> list[tuple[Any, ...]]:
    """Return what records say, in an order of its own."""
    return sorted(tuple((row[name] is not None, float(row[name] or 0)) for name in NAMES) for row in rows)


@settings(examples(0.2), phases=QUICKLY)
@given(st.lists(st.lists(records, max_size=6), max_size=4), st.randoms(use_true_random=False))
def test_book_is_what_dictionaries_say(files: list[list[Record]], random: Any) -> None:
    """Files with any overlap and repetition, cut anywhere, in any order, come to the jobs of the naive history."""
    expected = told(jobs_of(files))
    every = [record for file in files for record in file]
    random.shuffle(every)
    cut = random.randint(0, len(every))
    for order in (files, files[::-1], [every], [every[:cut], every[cut:]]):
        book = new_book()
        counts = [book.take(records_of(file), number) for number, file in enumerate(order, start=1)]
        assert told(rows_of(book)) == expected
        assert [each.records for each in counts] == [len(file) for file in order]
        assert all(each.new + each.merged == each.records for each in counts)
        given = [(row["job_number"], row["job_occurrence"]) for row in rows_of(book)]
        assert len(set(given)) == len(given)


@settings(examples(0.2), phases=QUICKLY)
@given(st.lists(st.lists(records, max_size=5), min_size=1, max_size=4))
def test_files_again_change_nothing(files: list[list[Record]]) -> None:
    """All files a second time: every record is merged, none replaced, and no job has another number."""
    book = new_book()
    for number, file in enumerate(files, start=1):
        book.take(records_of(file), number)
    before = rows_of(book)
    again = [book.take(records_of(file), number) for number, file in enumerate(files, start=9)]
    assert all((each.new, each.merged, each.replaced) == (0, len(f), 0) for each, f in zip(again, files, strict=True))
    assert rows_of(book) == before


def test_numbers_stay() -> None:
    """A job keeps what it was given when it was first met, whatever becomes of it."""
    book = new_book()
    book.take(records_of([job(1, wait_time=None, run_time=None, status=None), job(1, 200)]), 1)
    book.take(records_of([job(1, 50), job(1, run_time=70), job(1, wait_time=500)]), 2)
    given = {(row["submit_time"], row["wait_time"]): row["job_occurrence"] for row in rows_of(book)}
    assert given == {(100, 5): 0, (200, 5): 1, (50, 5): 2, (100, 500): 3}


def test_of_two_ends_together_all_orders_take_one() -> None:
    """Neither the file that came first nor the last: what says more, else what is larger where they first differ."""
    for one, other, run in (
        (job(run_time=777), job(run_time=90), 777),
        (job(wait_time=None, run_time=64), job(wait_time=None, run_time=64, allocated_processors=None), 64),
        (job(allocated_processors=8, status=0), job(allocated_processors=2, status=1), 60),
    ):
        for order in itertools.permutations([[one], [other]]):
            book = new_book()
            for number, file in enumerate(order, start=1):
                book.take(records_of(file), number)
            (row,) = rows_of(book)
            assert (row["run_time"], row["allocated_processors"]) == (run, one["allocated_processors"])


def test_later_state_wins_in_any_order() -> None:
    """Waiting, running, ended: whichever file comes when, the end is what stays."""
    waiting = job(wait_time=None, run_time=None, status=None)
    running = job(run_time=None, status=None)
    ended = job()
    for order in itertools.permutations([waiting, running, ended]):
        book = new_book()
        for number, state in enumerate(order, start=1):
            book.take(records_of([state]), number)
        (row,) = rows_of(book)
        assert (row["run_time"], row["status"], row["job_occurrence"]) == (60, 1, 0)


def test_of_two_starts_without_an_end_the_later_one_counts() -> None:
    """A job that goes on was queued again, and what said less of it came last: it is the state of today."""
    first = job(wait_time=5, run_time=None, status=None)
    again = job(wait_time=400, run_time=None, status=None, allocated_processors=None)
    for order in itertools.permutations([first, again]):
        book = new_book()
        for number, state in enumerate(order, start=1):
            book.take(records_of([state]), number)
        (row,) = rows_of(book)
        assert row["wait_time"] == 400


def test_unchanged_month_stays_the_same_object() -> None:
    """What is delivered again touches no month: its part need not be written."""
    book = new_book()
    book.take(records_of([job(1), job(2, 200)]), 1)
    book.changed.clear()
    month = book.month("1970-01")
    taken = book.take(records_of([job(2, 200)]), 2)
    assert (taken.merged, taken.replaced) == (1, 0)
    assert book.month("1970-01") is month
    assert not book.changed


def test_months_that_are_touched() -> None:
    """Only months that something comes for are loaded, beside those with the same job numbers."""
    whole = new_book()
    whole.take(records_of([job(1, 0), job(2, MONTH), job(3, 2 * MONTH)]), 1)
    loaded = []

    def load(label: str) -> pd.DataFrame:
        loaded.append(label)
        return whole.month(label)

    numbers = {label: (place, place) for place, label in enumerate(whole.labels, start=1)}
    book = HistoryBook(load, numbers, whole.names, says_when=True)
    book.take(records_of([job(4, 2 * MONTH + 5)]), 2)
    assert loaded == ["1970-03"]
    assert book.changed == {"1970-03"}
    book.take(records_of([job(1, 2 * MONTH + 9)]), 3)
    assert loaded == ["1970-03", "1970-01"]
    assert book.month("1970-03")["job_occurrence"].tolist() == [0, 0, 1]


def test_start_of_the_file_counts() -> None:
    """Files count seconds from starts of their own; a history has them since 1970."""
    book = new_book()
    book.take(records_of([job(1, 100)], "; UnixStartTime: 1000\n"), 1)
    taken = book.take(records_of([job(1, 600)], "; UnixStartTime: 500\n"), 2)
    assert (taken.new, taken.merged) == (0, 1)
    assert [row["submit_time"] for row in rows_of(book)] == [1099.0]


def test_files_that_do_not_say_when() -> None:
    """A file without UnixStartTime has no place among those with one, nor the other way round."""
    book = new_book()
    book.take(records_of([job()]), 1)
    with pytest.raises(HistoryError, match="does not say when it begins"):
        book.take(records_of([job(2)], ""), 2)
    assert len(rows_of(book)) == 1
    book = new_book()
    book.take(records_of([job()], ""), 1)
    with pytest.raises(HistoryError, match="have no place beside it"):
        book.take(records_of([job(2)]), 2)


SACCT = b"JobID|User|Partition|State|Submit|Start|End|NCPUS|TimelimitRaw\n"


def sacct(*rows: str) -> FileRecords:
    """Return what sacct printed, as a history takes it."""
    text = SACCT + "".join(f"{row}\n" for row in rows).encode()
    return file_records(read_log(io.BytesIO(text), "slurm:time_zone=UTC"))


def line(number: int, user: str, state: str = "COMPLETED", end: str = "2024-01-01T02:00:00") -> str:
    """Return a line of sacct."""
    start = "Unknown" if state == "PENDING" else "2024-01-01T01:00:00"
    return f"{number}|{user}|batch|{state}|2024-01-01T00:00:0{number % 10}|{start}|{end}|4|600"


def test_names_keep_their_numbers() -> None:
    """A user has one number in all files, whoever comes first in each."""
    book = new_book()
    book.take(sacct(line(1, "anna"), line(2, "ben")), 1)
    book.take(sacct(line(4, "carla"), line(3, "ben"), line(5, "anna")), 2)
    users = book.names[book.names["kind"] == "user"]
    by_name = dict(zip(users["name"], users["number"], strict=True))
    assert by_name == {"anna": 1, "ben": 2, "carla": 3}
    month = book.month("2024-01")
    told = dict(zip(month["log_id"], month["user_id"], strict=True))
    assert told == {"1": 1, "2": 2, "3": 2, "4": 3, "5": 1}


def test_jobs_of_accounting_logs_are_numbered_as_they_come() -> None:
    """Numbers go on from file to file, and a job that comes again keeps its own."""
    book = new_book()
    book.take(sacct(line(5, "anna"), line(7, "ben")), 1)
    book.take(sacct(line(7, "ben", end="2024-01-01T03:00:00"), line(6, "anna"), line(8, "anna")), 2)
    month = book.month("2024-01")
    assert dict(zip(month["log_id"], month["job_number"], strict=True)) == {"5": 1, "7": 2, "6": 3, "8": 4}
    assert month["run_time"].tolist() == [3600.0, 3600.0, 7200.0, 3600.0]
    assert month["file_number"].tolist() == [1, 2, 2, 2]


def test_jobs_that_have_not_ended_are_left_to_a_later_file() -> None:
    """They are counted, and no lines of the rejected ones."""
    book = new_book()
    taken = book.take(sacct(line(1, "anna"), line(2, "ben", "RUNNING", "Unknown"), "no record"), 1)
    assert (taken.new, taken.not_ended, taken.quarantined, taken.records) == (1, 1, 1, 3)
    taken = book.take(sacct(line(2, "ben")), 2)
    assert (taken.new, taken.merged) == (1, 0)


@pytest.mark.parametrize("kind", "DA")
def test_a_job_of_pbs_that_was_deleted_on_another_day_than_it_was_queued(kind: str) -> None:
    """The file of neither day has a job, and neither tells of a line that cannot be read."""
    for line in ("03/01/2024 23:00:00;Q;7.host;queue=batch", f"03/02/2024 01:00:00;{kind};7.host;requestor=ann@host"):
        read = file_records(read_log(io.BytesIO(f"{line}\n".encode()), "pbs", time_zone="UTC"))
        counts = (len(read.records), len(read.rejected), read.not_ended + read.joined)
        assert counts == (0, 0, 1)


def test_jobs_without_submission_are_rejected() -> None:
    """They have no month; the line is told."""
    text = text_of([job(1), job(2, submit=-1)])
    file = file_records(read_swf(io.BytesIO(text)), lines_before=10)
    assert file.records["line_number"].tolist() == [12]
    assert file.rejected["line_number"].tolist() == [13]
    assert file.rejected["text"].str.startswith("2 -1 ").all()
    assert file.count == 2


def test_keys_are_what_they_were() -> None:
    """The identity of a job is written into histories, and must be the same for ever."""
    each = [job(1), job(2), job(1, wait_time=6), job(3, status=3), job(1, status=None, run_time=None)]
    keys = records_of(each).records["record_key"].tolist()
    assert len(set(keys)) == 5
    assert np.array(keys).tolist() == KEYS


KEYS = [-810498685289585195, -2485721394877412236, -7032840657246363840, 974957543227426625, 3035652100526550566]
