# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of records, whatever their format: jobs, parts of jobs, lines of the quarantine."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace, clean, read_swf, write_swf
from swftools.errors import SwfFormatError
from swftools.fields.dictionary import SWF_NAMES
from swftools.formats.multi_file import LogFiles
from swftools.formats.privacy import Privacy
from swftools.formats.registry import Reading
from tests.examples import examples
from tests.formats.accounting.plain import Plain
from tests.frames import assert_same

T = 1_000_000_000


def read(text: str, how: Reading | None = None, **options: Any) -> Trace:
    """Read lines."""
    source = io.BytesIO(text.encode())
    return Plain(**options).read(LogFiles([source], "plain.log"), how or Reading())


def job(submit: int, wait: int = 5, run: int = 60, /, **others: Any) -> str:
    """Return a line of a sound job."""
    words = {"submit": T + submit, "start": T + submit + wait, "end": T + submit + wait + run} | others
    return " ".join(f"{name}={value}" for name, value in words.items()) + "\n"


def test_jobs_are_in_the_order_of_submission_and_numbered_so() -> None:
    """Second 0 is the first submission; ties stay in the order of the log; without a submission last."""
    trace = read(job(100, log_id="b") + job(0, log_id="a") + job(100, log_id="c") + "status=1 log_id=d\n")
    assert trace.jobs["log_id"].tolist() == ["a", "b", "c", "d"]
    assert trace.jobs["job_number"].tolist() == [1, 2, 3, 4]
    assert trace.jobs["submit_time"].tolist()[:3] == [0, 100, 100]
    assert trace.jobs["line_number"].tolist() == [2, 1, 3, 4]
    assert trace.header.unix_start_time == T


def test_every_column() -> None:
    """What a record says stands in the jobs, in SWF's units."""
    words = {
        "allocated_processors": 4, "requested_processors": 6, "fewest_processors": 2, "cpu_time": 100,
        "used_memory": 7.5, "requested_time": 90, "requested_memory": 8, "status": 1, "allocated_nodes": 2,
        "requested_nodes": 3,
        "allocated_gpus": 1, "requested_gpus": 1, "restarts": 2, "exit_code": 3, "exit_signal": 9, "array_number": 12,
        "array_index": 5, "eligible": T + 30, "user": "anna", "group": "g", "executable": "x", "queue": "q",
        "partition": "p", "log_id": "12[5]", "logged_state": "DONE", "dependency": "afterok:3",
    }  # fmt: skip
    row = read(job(0) + job(20, **words)).jobs.iloc[1]
    wanted = {name: value for name, value in words.items() if name in row.index and name != "requested_memory"}
    wanted |= {"average_cpu_time": 25, "eligible_time": 30, "wait_time": 5, "run_time": 60, "requested_memory": 8}
    wanted |= dict.fromkeys(("user_id", "group_id", "executable_id", "queue_id", "partition_id"), 1)
    assert {name: row[name] for name in wanted} == wanted
    assert not row["is_time_ambiguous"]
    sparse = read(job(0)).jobs
    assert "allocated_gpus" not in sparse, "what no record says is no column"
    assert set(SWF_NAMES) <= set(sparse.columns)


def test_a_run_time_that_is_given_counts() -> None:
    """Suspension makes it shorter than from start to end."""
    assert read(job(0, run_time=40)).jobs["run_time"].tolist() == [40]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (job(0, submit=-5), "submit before 1970"),
        (job(0, start=T - 1), "start before submit"),
        (job(0, end=T + 4), "end before start"),
        (f"submit={T} end={T - 1}\n", "end before submit"),
        (job(0, cpu_time=-1), "negative cpu_time"),
        (job(0, allocated_processors=-4), "negative allocated_processors"),
        (job(0, allocated_processors=9999999999), "allocated_processors beyond 2.14748e+09"),
        (job(0, allocated_processors=2.5), "allocated_processors is not a whole number"),
        (job(0, used_memory=-1), "negative used_memory"),
        (job(0, requested_time=1e11), "requested_time beyond 1e+10"),
        (job(0, end=T * 20.0), "run_time beyond 1e+10"),
    ],
)
def test_what_no_job_can_be(line: str, reason: str) -> None:
    """It is quarantined with line, text and reason, and what belongs to it too; strict stops there."""
    text = job(0) + line + "+ part\n"
    trace = read(text)
    assert trace.quarantine[["line_number", "rule", "reason"]].to_numpy().tolist() == [
        [2, "read", reason],
        [3, "read", "belongs to the record of line 2, which is no job"],
    ]
    assert trace.quarantine["text"][0] == line.rstrip()
    assert len(trace) == 1
    with pytest.raises(SwfFormatError, match=rf"plain.log, line 2: .*{reason.split('+', maxsplit=1)[0]}"):
        read(text, Reading(strict=True))


def test_negative_exit_codes_are_codes() -> None:
    """Batch systems have some of their own."""
    assert read(job(0, exit_code=-11)).jobs["exit_code"].tolist() == [-11]


def test_repeats_and_parts_are_merged() -> None:
    """A record that says the same as an earlier one is merged into it, and its parts too."""
    one = job(0, log_id="a")
    trace = read(one + "+ x\n" + job(7, log_id="a") + one + "+ y\n" + "what\n")
    assert len(trace) == 2, "one that shares only the id stays"
    assert trace.merged[["line_number", "into_line_number", "job_number"]].to_numpy().tolist() == [
        [2, 1, 1],
        [4, 1, 1],
        [5, 1, 1],
    ]
    assert trace.quarantine["line_number"].tolist() == [6]


@pytest.mark.parametrize(
    "others", [{"end": T + 66}, {"status": 0}, {"allocated_processors": 3}, {"start": T + 4}, {"log_id": "b"}]
)
def test_what_differs_is_no_repeat(others: dict[str, Any]) -> None:
    """In its id, a time, the status or the width."""
    sound = {"log_id": "a", "status": 1, "allocated_processors": 2}
    assert len(read(job(0, **sound) + job(0, **sound | others))) == 2


def test_the_job_before() -> None:
    """By the id of the log; the think time is from its end to when the job could start."""
    trace = read(
        job(0, log_id="a") + job(10, log_id="b", preceding="a", eligible=T + 100, start=T + 120, end=T + 130)
        + job(20, log_id="c", preceding="nowhere") + job(30, log_id="d", preceding="a")
    )  # fmt: skip
    assert trace.jobs["preceding_job_number"].fillna(-1).tolist() == [-1, 1, -1, 1]
    assert trace.jobs["think_time"].fillna(-1).tolist() == [-1, 35, -1, -1], "before its end there is none"


def test_names_are_numbers_by_first_appearance() -> None:
    """Each kind by itself; the queue interactive is 0; what is no job names nobody."""
    trace = read(
        job(0, user="b", queue="short") + job(1, user="gone", end=T) + job(2, user="a", queue="interactive")
        + job(3, user="b", queue="long", group="b")
    )  # fmt: skip
    assert trace.jobs["user_id"].tolist() == [1, 2, 1]
    assert trace.jobs["queue_id"].tolist() == [1, 0, 2]
    assert trace.names.to_numpy().tolist() == [
        ["user", 1, "b"], ["user", 2, "a"], ["group", 1, "b"],
        ["queue", 0, "interactive"], ["queue", 1, "short"], ["queue", 2, "long"],
    ]  # fmt: skip
    assert trace.header.queues == {0: "interactive", 1: "short", 2: "long"}


@pytest.mark.parametrize("privacy", [Privacy("numbers"), Privacy("hash", "secret")], ids=["numbers", "hash"])
def test_withheld_words(privacy: Privacy) -> None:
    """Names, ids, texts and values are told nowhere; the numbers are the same."""
    secret = {"user": "SECRETuser", "queue": "SECRETqueue", "log_id": "SECRET.7", "dependency": "SECRET.6"}
    text = job(0, **secret, logged_state="DONE") + job(5, **secret, end=T) + "SECRET line\n"
    trace, plain = read(text, Reading(privacy=privacy)), read(text)
    told = repr([trace.jobs.to_csv(), trace.quarantine.to_csv(), trace.header, trace.names.to_csv(), trace.provenance])
    assert "SECRET" not in told
    assert trace.jobs["user_id"].tolist() == plain.jobs["user_id"].tolist() == [1]
    assert trace.jobs["logged_state"].tolist() == ["DONE"], "a word of the batch system"
    if privacy.key:
        assert trace.names["name"].str.fullmatch("[0-9a-f]{16}").all()
        other = read(text, Reading(privacy=Privacy("hash", "another")))
        assert set(other.names["name"]).isdisjoint(trace.names["name"])
        assert len(set(trace.names["name"])) == 2
    else:
        assert not len(trace.names)


def test_the_header() -> None:
    """It tells of the machine what the options say, and of the log what the records do."""
    trace = read(
        job(0) + job(5, cpu_time=1000, allocated_processors=1), computer="Cray", installation="Here", processors=64,
        nodes=8, time_zone="Europe/Berlin",
    )  # fmt: skip
    header = trace.header
    assert (header.computer, header.installation, header.max_procs, header.max_nodes) == ("Cray", "Here", 64, 8)
    assert (header.max_jobs, header.time_zone_name) == (2, "Europe/Berlin")
    assert header.start_time == "Sun Sep 09 03:46:40 CEST 2001"
    assert header.end_time == "Sun Sep 09 03:47:50 CEST 2001"
    assert header.conversion is not None
    assert header.conversion.startswith("swftools ")
    assert header.notes[-1] == "CPU time per processor above the run time: 1 record"
    assert trace.processors == 64
    assert header.to_lines()


rows = st.fixed_dictionaries(
    {"submit": st.integers(0, 50), "wait": st.integers(-3, 20), "run": st.integers(-2, 20), "user": st.integers(0, 3)}
)


@examples(0.5)
@given(st.lists(rows, max_size=12), st.integers(0, 2))
def test_it_balances_and_goes_to_swf_and_back(drawn: list[dict[str, int]], parts: int) -> None:
    """Lines = jobs + quarantined + merged, at reading and after cleaning; SWF keeps every value that it can hold."""
    lines = [job(row["submit"], row["wait"], row["run"], user=f"u{row['user']}", status=1) for row in drawn]
    text = "".join(line + "+\n" * parts for line in lines)
    trace = read(text)
    assert len(lines) * (1 + parts) == len(trace) + len(trace.quarantine) + len(trace.merged)
    _, report = clean(trace, ["duplicates", "missing-processors"])
    assert report.balance["job_lines"] == len(lines) * (1 + parts)
    file = io.BytesIO()
    write_swf(trace, file)
    again = read_swf(io.BytesIO(file.getvalue()))
    assert_same(again.jobs[list(SWF_NAMES)], trace.jobs[list(SWF_NAMES)])
    assert again.header == trace.header


@examples(0.5)
@given(st.lists(rows, min_size=1, max_size=10), st.integers(1, 300))
def test_in_pieces(drawn: list[dict[str, int]], chunk_bytes: int) -> None:
    """Pieces of any size give the same as the whole."""
    text = "".join(job(row["submit"], row["wait"], row["run"], user=f"u{row['user']}") + "+\n" for row in drawn)
    whole = read(text)
    files = LogFiles([io.BytesIO(text.encode())], "plain.log")
    pieces = list(Plain().iterate(files, Reading(chunk_bytes=chunk_bytes)))
    jobs = pd.concat([piece.jobs for piece in pieces]).sort_values("job_number", ignore_index=True)
    assert_same(jobs, whole.jobs)
    assert sum(len(piece.quarantine) for piece in pieces) == len(whole.quarantine)
    merged = pd.concat([piece.merged for piece in pieces]).sort_values("line_number")["line_number"]
    np.testing.assert_array_equal(merged.to_numpy(np.int64), whole.merged["line_number"].to_numpy(np.int64))
