# SPDX-License-Identifier: BSD-3-Clause
"""The keys that jobs have in a history: as they were, and for new jobs the next that are free."""

from __future__ import annotations

import pandas as pd

from swftools.history.book import HistoryBook
from swftools.history.keys import KEYS, keep_keys
from tests.history.test_book import job, new_book, records_of


def book_of(*jobs: dict[str, float | None]) -> HistoryBook:
    """Return a book of jobs, submitted in one month, whose numbers are as they are given."""
    book = new_book()
    book.take(records_of(list(jobs)), 1)
    return book


def rows_in(book: HistoryBook) -> pd.DataFrame:
    """Return the only month of a book."""
    (label,) = book.labels
    return book.month(label)


def test_what_comes_back_is_numbered_behind_what_a_file_brings() -> None:
    """A file brought 9 and 10, the last number was 8, and the job with 5 stood hidden: it is no job of before."""
    book = book_of(job(5), job(9), job(10))
    stands = rows_in(book)
    assert keep_keys(book, stands.iloc[:0], stands, 8, is_numbered=False) == (3, 0)
    now = rows_in(book).set_index("record_key")["job_number"]
    assert [int(now[key]) for key in stands["record_key"]] == [11, 9, 10]


def test_a_job_that_was_there_keeps_its_key() -> None:
    """It has number 3 again, which it had, and the new one the next."""
    book = book_of(job(7), job(8))
    stands = rows_in(book)
    stood = stands.iloc[:1].assign(job_number=pd.array([3], "Int64"))
    assert keep_keys(book, stood, stands, 6, is_numbered=False) == (1, 0)
    assert rows_in(book)["job_number"].tolist() == [3, 7]


def test_two_records_that_were_one_get_two_keys() -> None:
    """One that ended and one that had not, of a job that stood as one that had: neither shares the other's key."""
    ended, going = job(1), job(1, run_time=None, status=None)
    stood = rows_in(book_of(ended))
    first, second = rows_in(book_of(ended)), rows_in(book_of(going))
    stands = pd.concat([first, second.assign(job_occurrence=pd.array([1], "Int64"))], ignore_index=True)
    book = book_of(ended)
    (label,) = book.labels
    book.put(label, stands)
    assert keep_keys(book, stood, stands, 1, is_numbered=False) == (1, 0)
    assert not rows_in(book).duplicated(list(KEYS)).any()
