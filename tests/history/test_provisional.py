# SPDX-License-Identifier: BSD-3-Clause
"""Records that count until their file goes on: what a cut line invented is taken back, and what it hid comes back."""

from __future__ import annotations

import io
from itertools import permutations

import pandas as pd
import pytest

from swftools import read_log
from swftools.history.book import HistoryBook, TakenRecords
from swftools.history.provisional import FilePart, Provisional
from swftools.history.records import FileRecords, file_records
from swftools.tables import empty_frame
from tests.examples import by_day

_HEADER = "; UnixStartTime: 946684800\n"
_SACCT = "JobID|User|Partition|State|Submit|Start|End|NCPUS|TimelimitRaw\n"
MONTH = 31 * 86_400


def records(*jobs: tuple[int, int, int]) -> FileRecords:
    """Return jobs in SWF, each a number, a submission and a run time, on lines 2, 3 and so on."""
    lines = [f"{number} {submit} 5 {run} 4 -1 -1 4 900 -1 1 1 1 -1 1 -1 -1 -1\n" for number, submit, run in jobs]
    return file_records(read_log(io.BytesIO((_HEADER + "".join(lines)).encode())))


def exported(*jobs: tuple[int, int]) -> FileRecords:
    """Return jobs of Slurm, each an id and the minutes that it ran, all submitted at one time."""
    lines = [
        f"{number}|zoe|b|COMPLETED|2024-01-01T01:00:00|2024-01-01T01:10:00|2024-01-01T02:{minutes:02d}:00|4|60\n"
        for number, minutes in jobs
    ]
    return file_records(read_log(io.BytesIO((_SACCT + "".join(lines)).encode()), "slurm", time_zone="UTC"))


class History:
    """A book whose files are taken one a night: each night has what the last one left."""

    def __init__(self) -> None:
        self.months: dict[str, pd.DataFrame] = {}
        self.rows, self.names, self.says_when = empty_frame("provisional"), empty_frame("names"), None
        self.resumes: dict[int, int] = {}
        self.changed: set[str] = set()

    def take(self, file: FileRecords, resumes_lines: int = 99, continues: int = 0) -> TakenRecords:
        """Take the next file."""
        of_months = {
            label: (int(month["job_number"].min()), int(month["job_number"].max()))
            for label, month in self.months.items()
        }
        book = HistoryBook(lambda label: self.months[label], of_months, self.names, self.says_when)
        provisional = Provisional(self.rows, self.resumes)
        number = len(self.resumes) + 1
        told = provisional.take(book, FilePart(file, number, resumes_lines, continues))
        self.resumes[number] = resumes_lines
        self.months = {label: book.month(label) for label in book.labels}
        self.rows, self.names, self.says_when = provisional.rows, book.names, book.says_when
        self.changed = book.changed
        return told

    def jobs(self, *columns: str) -> list[tuple[float, ...]]:
        """Return some columns of all jobs, in order."""
        months = [month[list(columns)] for _, month in sorted(self.months.items())]
        return sorted(pd.concat(months).itertuples(index=False, name=None)) if months else []


@pytest.mark.parametrize("order", by_day([(order,) for order in permutations(range(3))], 3))
def test_job_that_a_cut_line_invented(order: tuple[int, ...]) -> None:
    """It is taken back when the line is whole; what it hid comes back, whichever file came first."""
    history = History()
    others = [records((60, 100, 10)), records((60, 100, 12), (1, 50, 5)), None]
    cut = 0
    for place in order:
        if others[place] is None:
            history.take(records((7, 20, 30), (60, 100, 600)), resumes_lines=2)
            cut = len(history.resumes)
            assert (60, 600.0) in history.jobs("job_number", "run_time")
        else:
            history.take(others[place])
    assert history.jobs("job_number", "run_time") == [(1, 5.0), (7, 30.0), (60, 600.0)]
    told = history.take(records((5060, 100, 600)), continues=cut)
    assert (told.new, told.gone) == (1, 0), "the other file's job 60 is one still"
    assert history.jobs("job_number", "run_time") == [(1, 5.0), (7, 30.0), (60, 12.0), (5060, 600.0)]
    assert history.rows.empty


def test_two_that_may_change() -> None:
    """Of two records that may change the one that goes on shows what the other says."""
    history = History()
    history.take(records((60, 100, 600)), resumes_lines=1)
    history.take(records((60, 100, 700)), resumes_lines=1)
    assert history.jobs("job_number", "run_time") == [(60, 700.0)]
    history.take(records((5060, 100, 700)), continues=2)
    assert history.jobs("job_number", "run_time", "file_number") == [(60, 600.0, 1), (5060, 700.0, 3)]
    history.take(records((8060, 100, 600)), continues=1)
    assert history.jobs("job_number") == [(5060,), (8060,)]
    assert history.rows.empty


def test_job_that_is_read_anew() -> None:
    """It is the same job, with its number and what it says now, even if that is less; those behind it count on."""
    history = History()
    told = history.take(exported((10, 30), (11, 40)), resumes_lines=2)
    assert (told.new, told.merged) == (2, 0)
    told = history.take(exported((11, 20), (12, 50), (13, 50)), resumes_lines=3, continues=1)
    assert (told.new, told.merged, told.gone) == (2, 1, 0)
    assert history.jobs("log_id", "job_number", "run_time") == [
        ("10", 1, 4800.0),
        ("11", 2, 4200.0),
        ("12", 3, 6000.0),
        ("13", 4, 6000.0),
    ]
    assert history.rows[["log_id", "job_number"]].values.tolist() == [["13", 4]]


def test_number_of_a_job_is_not_given_away() -> None:
    """While its record is set aside for another file's, no other job gets its number."""
    history = History()
    history.take(exported((10, 30)), resumes_lines=1)
    history.take(exported((12, 30), (14, 30)))
    assert history.jobs("log_id", "job_number") == [("10", 1), ("12", 2), ("14", 3)]
    told = history.take(exported((10, 20), (15, 20)))
    assert (told.new, told.merged) == (1, 1)
    assert history.jobs("log_id", "job_number", "run_time") == [
        ("10", 1, 4800.0),
        ("12", 2, 4800.0),
        ("14", 3, 4800.0),
        ("15", 4, 4200.0),
    ]


def test_month_that_a_cut_line_invented() -> None:
    """It is gone, and all months behind it count as changed, since what was known there followed from it."""
    history = History()
    history.take(records((1, 40, 10), (2, 2 * MONTH, 10)))
    history.take(records((3, MONTH, 10)), resumes_lines=1)
    assert sorted(history.months) == ["2000-01", "2000-02", "2000-03"]
    told = history.take(records((3, 50, 10)), continues=2)
    assert told.gone == 1
    assert sorted(history.months) == ["2000-01", "2000-03"]
    assert history.changed >= {"2000-01", "2000-03"}
