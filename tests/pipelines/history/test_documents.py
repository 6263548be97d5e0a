# SPDX-License-Identifier: BSD-3-Clause
"""Files without lines, and lines without ids: JSON documents, Parquet, and rows that are equal."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from swftools.history import records
from tests.pipelines.history.in_memory import Books

MAPPING = """
columns:
  submit: {column: submit_s, unit: s}
  start: {column: start_s, unit: s}
  end: {column: end_s, unit: s}
  allocated_processors: {column: procs}
  user: {column: user}
"""
FIRST = [("ann", 100), ("ann", 100), ("bob", 100), ("ann", 300)]
SECOND = [("bob", 100), ("bob", 100), ("ann", 100), ("ann", 300), ("cid", 300)]
"""Users and submissions of rows; users get other numbers in each file."""
TOGETHER = sorted([("ann", 100), ("ann", 100), ("bob", 100), ("bob", 100), ("ann", 300), ("cid", 300)])


def table(rows: list[tuple[str, int]]) -> pd.DataFrame:
    """Return rows that differ in nothing else."""
    at = [1_700_000_000 + submit for _, submit in rows]
    times = {"submit_s": at, "start_s": [each + 10 for each in at], "end_s": [each + 90 for each in at]}
    return pd.DataFrame({**times, "procs": 4, "user": [user for user, _ in rows]})


def written(rows: list[tuple[str, int]], form: str) -> bytes:
    """Return rows as a file."""
    if form == "parquet":
        into = io.BytesIO()
        table(rows).to_parquet(into)
        return into.getvalue()
    if form == "json":
        return json.dumps(table(rows).to_dict("records"), indent=1).encode()
    return table(rows).to_csv(index=False).encode()


@pytest.fixture
def books(tmp_path: Path) -> Books:
    """Return a history of such tables."""
    (tmp_path / "mine.yaml").write_text(MAPPING)
    return Books(tmp_path / "site", f"table:mapping={tmp_path / 'mine.yaml'}")


def told(books: Books) -> list[tuple[str, int]]:
    """Return users and submissions of all jobs; the counts of files come to them."""
    jobs, files = books.jobs(), books.state.ingested
    assert files["new"].sum() - files["withdrawn"].sum() == len(jobs)
    return sorted(zip(jobs["user_id"], (jobs["submit_time"] - 1_700_000_000).astype(int), strict=True))


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_of_equal_rows_as_many_as_the_file_with_most(form: str, books: Books) -> None:
    """Whatever file comes first, and whatever numbers users have in it; each file is taken in one night."""
    for name, rows in (("second", SECOND), ("first", FIRST)):
        (books.inbox / name).write_bytes(written(rows, form))
        assert books.night().waiting_table.empty
    assert told(books) == TOGETHER
    assert books.state.tables["provisional"].empty or form == "csv"


def test_equal_rows_of_a_file_that_grows(books: Books) -> None:
    """One more row that is equal to those which are known is one more job."""
    text = written(FIRST, "csv")
    for more in (b"", text.splitlines(keepends=True)[1]):
        (books.inbox / "log").write_bytes(text + more)
        books.night()
    assert told(books) == sorted([*FIRST, ("ann", 100)])


KEYED_BY = (
    *("wait_time", "run_time", "allocated_processors", "requested_processors", "requested_time", "status", "user_id"),
    *("group_id", "queue_id", "array_index"),
)
"""What told rows apart in histories that say no version of their records, users by their numbers in a file."""


def of_the_version_before(books: Books) -> None:
    """Make of a history one as it was begun before: equal rows were one job, told apart by what a file numbered."""
    state = books.state
    del state.manifest["records_version"]
    for label, month in state.months.items():
        once = month.drop_duplicates(["submit_time", "user_id"], ignore_index=True)
        key = np.zeros(len(once), np.uint64)
        for name in KEYED_BY:
            key = records._mixed(key, records._hashed(once[name]))
        keys = (key + records._marks(once)).view(np.int64)
        state.months[label] = once.assign(record_key=pd.array(keys, dtype="Int64"))


def test_a_history_of_the_version_before_goes_on(books: Books) -> None:
    """What it has is known again, by names in place of numbers: no row that comes again is another job."""
    (books.inbox / "first").write_bytes(written(FIRST, "csv"))
    books.night()
    of_the_version_before(books)
    before = books.state.table("records")
    (books.inbox / "second").write_bytes(written(SECOND, "csv"))
    books.night()
    jobs = books.jobs()
    assert sorted(zip(jobs["user_id"], (jobs["submit_time"] - 1_700_000_000).astype(int), strict=True)) == [
        *(("ann", 100), ("ann", 300), ("bob", 100), ("bob", 100), ("cid", 300))
    ]
    assert books.state.ingested["new"].tolist() == [4, 2]
    stays = books.state.table("records").set_index(["submit_time", "user_id"])["job_number"].groupby(level=[0, 1]).min()
    was = before.set_index(["submit_time", "user_id"])["job_number"]
    assert stays.loc[was.index].tolist() == was.tolist(), "a job keeps its number"


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_document_that_is_cut(form: str, books: Books) -> None:
    """It waits for a night; when it is complete all of it is there, and nothing is left of what was rejected."""
    whole = written(FIRST, form)
    (books.inbox / "log").write_bytes(whole[:-30])
    assert books.night().waiting_table["outcome"].tolist() == ["unfinished"]
    assert books.state.version is None
    books.night()
    (books.inbox / "log").write_bytes(whole)
    assert books.night().waiting_table.empty
    assert told(books) == sorted(FIRST)
    assert books.state.tables["rejected"].empty
    assert books.state.ingested["quarantined"].sum() == 0


def test_steps_of_jobs_that_go_on(tmp_path: Path) -> None:
    """They are left to the file that has the end, also where the job itself was read in an earlier night."""
    books = Books(tmp_path, "slurm:time_zone=UTC")
    day = "2024-05-01T"
    text = f"JobID|User|State|Submit|Start|End|NCPUS\n1|ann|COMPLETED|{day}09:00:00|{day}09:05:00|{day}10:05:00|4\n"
    text += f"5|ann|RUNNING|{day}10:00:00|{day}10:05:00|Unknown|4\n"
    for more in (
        "5.batch||RUNNING|{0}10:05:00|{0}10:05:00|Unknown|4\n",
        "5.0||RUNNING|{0}10:05:00|{0}10:05:00|Unknown|4\n",
    ):
        text += more.format(day)
        (books.inbox / "log").write_text(text)
        books.night()
    assert books.state.tables["rejected"].empty
    assert len(books.jobs()) == 1
    assert books.state.ingested["joined"].tolist() == [1, 2]
