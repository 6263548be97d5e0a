# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that were queued again: a record a run, delivered in any files, in any order."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swftools.formats.read_log import read_log
from swftools.history.book import HistoryBook
from swftools.history.records import file_records
from tests.examples import examples
from tests.formats.lsf.records import record as lsf_record
from tests.formats.sge.lines import line as sge_line
from tests.history.test_book import QUICKLY, new_book

SUBMIT = 1_300_000_000
FORMATS = ("sge", "lsf")


def run(name: str, number: int, start: int, end: int, *, again: bool) -> str:
    """Return the record of a run that was followed by another, or of the last one."""
    times = {"start_time": SUBMIT + start, "submit_time": SUBMIT}
    if name == "lsf":
        how = {"status": 32, "exit_info": 10} if again else {}
        return lsf_record(job_id=number, event_time=SUBMIT + end, **times, **how)
    return sge_line(
        job_number=number, start_time=SUBMIT + start, end_time=SUBMIT + end, submission_time=SUBMIT, failed=25 * again
    )


def history_of(name: str, files: list[list[str]]) -> HistoryBook:
    """Return the book of files, each taken in its turn."""
    book = new_book()
    for number, file in enumerate(files, start=1):
        book.take(file_records(read_log(io.BytesIO("".join(file).encode()), name)), number)
    return book


def jobs_in(book: HistoryBook) -> list[tuple[Any, ...]]:
    """Return what a book says of its jobs, but for the numbers that it gives."""
    names = ["log_id", "submit_time", "wait_time", "run_time", "allocated_processors", "status", "restarts"]
    frames = [book.month(label)[names].astype(object) for label in book.labels]
    return sorted(tuple(None if pd.isna(v) else v for v in row) for frame in frames for row in frame.to_numpy())


RUNS = [
    (7, 100, 200, True),
    (7, 300, 350, True),
    (8, 10, 500, False),
    (7, 400, 900, False),
    (9, 20, 30, True),
    (9, 40, 60, False),
]


@pytest.mark.parametrize("name", FORMATS)
def test_each_run_is_kept_and_counted(name: str) -> None:
    """Three files have as many jobs as one, and the later runs say how many were before."""
    runs = [run(name, *each[:3], again=each[3]) for each in RUNS]
    counted = [(row[0], row[2], row[-1]) for row in jobs_in(history_of(name, [runs]))]
    assert counted == [
        ("7", 100.0, None),
        ("7", 300.0, 1),
        ("7", 400.0, 2),
        ("8", 10.0, None),
        ("9", 20.0, None),
        ("9", 40.0, 1),
    ]


@cache
def at_once(name: str) -> list[tuple[Any, ...]]:
    """Return what a book says of all runs in one file."""
    return jobs_in(history_of(name, [[run(name, *each[:3], again=each[3]) for each in RUNS]]))


@pytest.mark.parametrize("name", FORMATS)
@settings(examples(0.15), phases=QUICKLY)
@given(data=st.data())
def test_any_files_in_any_order(name: str, data: Any) -> None:
    """Runs in files of any cut, order and overlap give the jobs of one delivery."""
    runs = [run(name, *each[:3], again=each[3]) for each in RUNS]
    order = data.draw(st.permutations(runs))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(runs)), max_size=3)))
    files = [order[a:b] for a, b in zip([0, *cuts], [*cuts, len(runs)], strict=True) if b > a]
    files += data.draw(st.lists(st.lists(st.sampled_from(runs), min_size=1, max_size=3), max_size=2))
    assert jobs_in(history_of(name, data.draw(st.permutations(files)))) == at_once(name)
