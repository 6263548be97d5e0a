# SPDX-License-Identifier: BSD-3-Clause
"""Lines of Grid Engine drawn by hand, from accounting(5), with what they mean."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swftools.errors import LogFormatError, SwfFormatError
from swftools.formats.read_log import iter_log, read_log
from swftools.formats.sge import attempts
from swftools.formats.sge.category import Wish, read_category
from swftools.formats.sge.reader import Sge
from swftools.trace import Trace
from tests.formats.accounting_checks import check_same, read_in_pieces
from tests.formats.sge.lines import line, log

SUBMIT, START, END = 1_300_000_000, 1_300_000_100, 1_300_003_700
HEADER = "# Version: 6.2u5\n# \n# DO NOT MODIFY THIS FILE MANUALLY!\n# \n"


def read(*lines: str, **options: Any) -> Trace:
    """Read lines as a file of Grid Engine."""
    return read_log(io.BytesIO(log(*lines)), "sge", **options)


def job(*lines: str, **options: Any) -> dict[str, Any]:
    """Return the only job of lines, without what is missing."""
    trace = read(*lines, **options)
    assert [] == trace.quarantine["reason"].tolist()
    assert 1 == len(trace.jobs)
    return {name: value for name, value in trace.jobs.iloc[0].items() if not pd.isna(value)}


def reason(*lines: str) -> str:
    """Return why the only line that is no job is none."""
    trace = read(*lines)
    assert 1 == len(trace.quarantine)
    return str(trace.quarantine["reason"].iloc[0])


def test_a_job_of_sun_grid_engine() -> None:
    """Every value of a line, recognised without being told the format; comments are no records."""
    text = HEADER + line(
        project="physics", slots=4, granted_pe="mpi", category="-u ann -l h_rt=7200,h_vmem=2G,gpu=2 -pe mpi 4"
    )
    trace = read_log(io.BytesIO(text.encode()))
    assert trace.provenance is not None
    assert "sge" == trace.provenance["format"]
    assert [] == trace.quarantine["reason"].tolist()
    row = {name: value for name, value in trace.jobs.iloc[0].items() if not pd.isna(value)}
    assert row == {
        "job_number": 1,
        "submit_time": 0.0,
        "wait_time": 100.0,
        "run_time": 3600.0,
        "allocated_processors": 4,
        "average_cpu_time": 60.13 / 4,
        "used_memory": 512.0,
        "requested_processors": 4,
        "requested_time": 7200.0,
        "requested_memory": 2097152.0,
        "status": 1,
        "user_id": 1,
        "group_id": 1,
        "executable_id": 1,
        "queue_id": 1,
        "line_number": 5,
        "log_id": "7",
        "fewest_processors": 4,
        "requested_gpus": 2,
        "exit_code": 0,
        "exit_signal": 0,
        "is_time_ambiguous": False,
    }
    assert SUBMIT == trace.header.unix_start_time
    assert {"user": "ann", "group": "physics", "executable": "run.sh", "queue": "all.q"} == dict(
        zip(trace.names["kind"], trace.names["name"], strict=True)
    )


@pytest.mark.parametrize(
    ("option", "name"), [("project", None), ("group", "users"), ("department", "defaultdepartment")]
)
def test_group(option: str, name: str | None) -> None:
    """NONE is no project."""
    names = read(line(), group=option).names
    assert ([] if name is None else [name]) == names["name"][names["kind"] == "group"].tolist()


def test_old_lines_end_with_the_memory() -> None:
    """Versions before 6.2 have no reservation."""
    assert job(line()) == job(line(ar=None))


def test_lines_of_univa_grid_engine() -> None:
    """Times are in milliseconds; who deleted a job stands behind the job class."""
    times = {"submission_time": SUBMIT * 1000 + 250, "start_time": START * 1000 + 500, "end_time": END * 1000 + 500}
    more = ("NONE", "ann@login", "1024.0", "1024.0", "login", "/home/ann", "qsub -l h_rt=1:00:00 a:b", "3600", "0")
    have = job(line(*more, **times, ru_wallclock="3600.0", failed=100, exit_status=137))
    assert (0.25, 100.25, 3600.0, 5) == tuple(have[name] for name in ("submit_time", "wait_time", "run_time", "status"))
    assert 0 == job(line("NONE", "NONE", *more[2:], **times, failed=1))["status"]


@pytest.mark.parametrize(
    ("last_seconds", "is_milliseconds"), [(99_999_999_999, False), (100_000_000_000, True)], ids=["s", "ms"]
)
def test_where_milliseconds_begin(last_seconds: int, is_milliseconds: bool) -> None:
    """At 1e11: 1973 in milliseconds, and beyond what any log has in seconds."""
    trace = read(line(submission_time=1, start_time=2, end_time=last_seconds))
    assert (1 if is_milliseconds else 0) == len(trace.jobs)


@pytest.mark.parametrize(
    ("values", "status", "exit_signal"),
    [
        ({}, 1, 0),
        ({"exit_status": 1}, 0, 0),
        ({"exit_status": 137}, 0, 0),
        ({"failed": 100, "exit_status": 137}, 5, 9),
        ({"failed": 100, "exit_status": 143}, 5, 15),
        ({"failed": 100, "exit_status": 138}, 0, 10),
        ({"failed": 100, "exit_status": 137, "category": "-l h_rt=3600"}, 0, 9),
        ({"failed": 100, "exit_status": 137, "category": "-l h_rt=3601"}, 5, 9),
        ({"failed": 100, "exit_status": 143, "category": "-l h_rt=7200,s_rt=3600"}, 0, 15),
        ({"failed": 37, "exit_status": 137}, 0, 9),
        ({"failed": 1}, 0, 0),
    ],
)
def test_status(values: dict[str, Any], status: int, exit_signal: int) -> None:
    """Success; failure; killed by somebody below the limits; killed at a limit."""
    have = job(line(**values))
    assert (status, exit_signal) == (have["status"], have["exit_signal"])
    assert have["exit_code"] == values.get("exit_status", 0)
    if status == 5:
        assert 0 == job(line(**values), killed="failed")["status"]


def test_the_limit_of_a_real_job() -> None:
    """Killed by SIGUSR1 a second above s_rt."""
    values = {"end_time": START + 180_001, "failed": 100, "exit_status": 138, "category": "-l h_rt=180120,s_rt=180000"}
    assert (0, 180120.0) == (job(line(**values))["status"], job(line(**values))["requested_time"])
    assert 180000.0 == job(line(**values), requested_time="soft")["requested_time"]


def test_a_job_that_never_started() -> None:
    """It has no wait, no run time and no processors, and asked for what its category says."""
    have = job(line(start_time=0, end_time=0, failed=26, slots=0, cpu=0.0, category="-pe mpi 4-16"))
    assert {"wait_time", "run_time", "allocated_processors", "average_cpu_time"}.isdisjoint(have)
    assert (0, 16, 4) == tuple(have[name] for name in ("status", "requested_processors", "fewest_processors"))
    assert "requested_time" not in have
    assert "no start_time, and yet it did not fail" == reason(line(start_time=0, end_time=0))
    assert "no submission_time" == reason(line(submission_time=0, start_time=0, end_time=0, failed=9))
    assert "no end_time of a job that started" == reason(line(end_time=0))
    assert "no slots of a job that ran" == reason(line(slots=0))


def test_elements_of_an_array() -> None:
    """Task 0 is no element."""
    have = job(line(task_number=12))
    assert ("7.12", 7, 12) == tuple(have[name] for name in ("log_id", "array_number", "array_index"))
    assert {"array_number", "array_index"}.isdisjoint(job(line()))


@pytest.mark.parametrize("name", ["a:b", "1:2:3", "x:9", ":", "::x", "run:7:sge:0"])
def test_a_name_with_colons(name: str) -> None:
    """All behind it stands further right, and is found by its numbers."""
    trace = read(line(job_name=name, job_number=4711, account="120", project="17"))
    assert ["ann", "17", name, "all.q"] == trace.names["name"].tolist()
    same = {"job_number": 4711, "account": "120", "project": "17"}
    assert job(line(**same)) == job(line(job_name=name, **same))


@pytest.mark.parametrize("version", [None, "0:0"])
@pytest.mark.parametrize("limits", ["h_rt=2:00:00", "h_rt=1:00:00,s_rt=0:59:00", "s_rt=0:0:9,h_rt=10:00:00,q=a:b:c:d"])
def test_a_category_with_colons(limits: str, version: str | None) -> None:
    """Times of limits may be written with colons."""
    have = job(line(category=f"-u ann -l {limits} -pe mpi 2", ar=version, job_name="a:b"))
    wanted = read_category(f"-l {limits}").hard_limit
    assert (wanted, 512.0 * 4) == (have["requested_time"], have["used_memory"])


def test_times_with_colons_are_no_numbers_behind_a_category() -> None:
    """The pieces of two limits look like wait, memory and reservation, but for the task between them."""
    have = job(line(category="-l h_rt=1:00:00,s_rt=0:59:00", iow="0"))
    assert (3600.0, 2048.0) == (have["requested_time"], have["used_memory"])


def test_tasks_of_a_parallel_job() -> None:
    """Their lines stand before that of the job, to which they add CPU time and memory, not slots."""
    first = line(job_number=3, slots=8)
    tasks = [
        line(slots=8, submission_time=0, pe_taskid=f"{number}.node{number}", cpu=number, maxvmem=1048576)
        for number in (1, 2)
    ]
    master = line(slots=8, granted_pe="mpi", cpu=10, maxvmem=2097152)
    trace = read(tasks[0], first, tasks[1], line(task_number=1), master)
    assert [2, 4, 5] == trace.jobs["line_number"].tolist()
    row = trace.jobs[trace.jobs["line_number"] == 5].iloc[0]
    assert (8, 13 / 8, 512.0) == (row["allocated_processors"], row["average_cpu_time"], row["used_memory"])
    merged = trace.merged
    assert [(1, 5), (3, 5)] == list(zip(merged["line_number"], merged["into_line_number"], strict=True))


def test_tasks_without_a_job() -> None:
    """A task whose job has no line behind it is quarantined; one of a line that is no job with it."""
    task = line(pe_taskid="1.node2")
    trace = read(line(), task)
    assert [2] == trace.quarantine["line_number"].tolist()
    assert ["of a task of a parallel job, without a line of the job behind it"] == trace.quarantine["reason"].tolist()
    assert trace.quarantine["text"].isna().all()  # it may stand in a piece of the log that is gone
    trace = read(task, line(end_time=0))
    assert [
        "belongs to the record of line 2, which is no job",
        "no end_time of a job that started",
    ] == trace.quarantine["reason"].tolist()


def test_runs_of_a_job_that_was_rescheduled() -> None:
    """Each is a record; the later ones tell how often it had been started."""
    first = line(failed=25, end_time=START + 10)
    second = line(exit_status=99, start_time=START + 20, end_time=START + 30)
    last = line(start_time=START + 40)
    trace = read(first, second, line(job_number=8), last, line(submission_time=SUBMIT + 1, start_time=START + 50))
    restarts = trace.jobs.sort_values("line_number")["restarts"].tolist()
    assert [pd.NA, 1, pd.NA, 2, pd.NA] == restarts
    assert trace.provenance is not None
    assert 2 == trace.provenance["anomalies"]["started more than once: the wait holds earlier runs"]
    unstarted = line(failed=26, start_time=0, end_time=0, slots=0)
    assert "restarts" not in read(unstarted, last).jobs
    assert "restarts" not in read(line(failed=100, exit_status=137, end_time=START + 10), last).jobs


def test_runs_with_submissions_of_their_own() -> None:
    """A number that comes again within a week of a run that is followed is the same job's; later it is another's."""
    day = 86_400
    first = line(failed=25, end_time=START + 10)
    for later, restarts in ((11, 1), (10 + 7 * day, 1), (11 + 7 * day, None)):
        again = line(submission_time=START + later, start_time=START + later + 5, end_time=START + later + 9)
        trace = read(first, again)
        found = trace.jobs.sort_values("line_number").get("restarts", [None, None])
        assert [None, restarts] == [None if value is None or value is pd.NA else value for value in found]
        assert "started more than once: the wait holds earlier runs" not in str(trace.provenance)
    killed = line(failed=37, exit_status=137, end_time=START + 10)
    assert "restarts" not in read(killed, line(submission_time=START + 11, start_time=START + 12)).jobs


def test_starts_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are part of the next line of the job, if it comes in time; a failure after the start is a run."""
    attempt = line(failed=28, start_time=0, end_time=0)
    other = line(job_number=8)
    trace = read(attempt, other, attempt, other, line())
    merged = trace.merged[["line_number", "into_line_number"]].to_numpy().tolist()
    assert [[1, 5], [3, 5]] == [row for row in merged if row[1] == 5]
    monkeypatch.setattr(attempts, "WINDOW", 2)
    trace = read(attempt, other, line())
    assert [1, 2, 3] == sorted(trace.jobs["line_number"])
    assert [2, 3] == sorted(read(attempt, line(), other).jobs["line_number"])
    assert 2 == len(read(line(failed=28, end_time=START + 1), line()).jobs)


def test_a_start_that_failed_in_an_earlier_piece() -> None:
    """It is part of its job in a later piece, and the lines behind it have their own numbers."""
    lines = [line(failed=28, start_time=0, end_time=0), *(line(job_number=number) for number in range(8, 12)), line()]
    whole = read(*lines)
    assert [2, 3, 4, 5, 6] == sorted(whole.jobs["line_number"])
    assert [[1, 6]] == whole.merged[["line_number", "into_line_number"]].to_numpy().tolist()
    check_same(whole, read_in_pieces(log(*lines), "sge", len(lines[0]) + 1))


def test_wallclock() -> None:
    """It may leave out that a job was suspended."""
    suspended = line(ru_wallclock="3000.5")
    assert 3600.0 == job(suspended)["run_time"]
    assert 3000.5 == job(suspended, run_time="wallclock")["run_time"]
    provenance = read(suspended).provenance
    assert provenance is not None
    assert {"ru_wallclock is not end_time - start_time": 1} == provenance["anomalies"]
    assert "anomalies" not in (read(line(ru_wallclock=3602)).provenance or {})
    assert 3600.0 == job(line(ru_wallclock=0), run_time="wallclock")["run_time"]


@pytest.mark.parametrize(
    ("category", "wish"),
    [
        ("NONE", Wish()),
        ("-l h_rt=3600", Wish(hard_limit=3600)),
        ("-U dept -l h_rt=24:00:00,s_rt=:30: -q all.q", Wish(86400, 1800)),
        ("-l h_rt=1:30", Wish(90)),
        ("-l h_rt=INFINITY", Wish()),
        ("-l h_rt=soon,gpu=two", Wish(unreadable=2)),
        ("-l h_rt=1:2:3:4", Wish(unreadable=1)),
        ("-l h_rt=::", Wish(unreadable=1)),
        ("-l h_vmem=1.5G", Wish(memory=1.5 * 1024**2)),
        ("-l h_vmem=1k", Wish(memory=1000 / 1024)),
        ("-l h_vmem=1024", Wish(memory=1.0)),
        ("-l h_vmem=1X", Wish(unreadable=1)),
        ("-l ngpus=4", Wish(gpus=4)),
        ("-l gpu=TRUE", Wish(gpus=1)),
        ("-l gpu", Wish(gpus=1)),
        ("-l arch=x -l h_rt=60 -l h_rt=70", Wish(60)),
        ("-pe mpi 8", Wish(fewest=8, most=8)),
        ("-pe mpi 4-16", Wish(fewest=4, most=16)),
        ("-pe mpi -16", Wish(fewest=1, most=16)),
        ("-pe mpi 4-", Wish(fewest=4)),
        ("-pe mpi 2,4-8", Wish(fewest=2, most=8)),
        ("-pe mpi many", Wish(unreadable=2)),
        ("-pe mpi -", Wish(unreadable=2)),
        ("x-l h_rt=60", Wish()),
    ],
)
def test_categories(category: str, wish: Wish) -> None:
    """Times, memory, ranges, and what cannot be read."""
    assert str(tuple(map(float, wish))) == str(tuple(map(float, read_category(category))))


def test_what_cannot_be_read_of_a_category_is_counted() -> None:
    """The job stays."""
    trace = read(line(category="-l h_rt=soon"))
    assert {"a limit or a number of slots in the category that cannot be read": 1} == (trace.provenance or {})[
        "anomalies"
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("all.q:node1:users\n", "fewer fields than 43"),
        ("\0" * 40 + "\n", "fewer fields than 43"),
        (line(start_time="soon", ru_wallclock=1), "no numbers where a line of accounting has them"),
        (line(job_number="x"), "no numbers where a line of accounting has them"),
        (line(task_number="1.5"), "no numbers where a line of accounting has them"),
        (line(slots="many"), "no numbers where a line of accounting has them"),
        (line(maxvmem="big"), "no numbers where a line of accounting has them"),
        (line(job_name="a\0b"), "a byte of zero within the record"),
        (line(start_time=SUBMIT - 1), "start before submit"),
        (line(end_time=START - 1), "end before start"),
        (line().rpartition(":")[0], "the log is cut off within this record"),
        (line(submission_time=99_999_999_998, start_time=99_999_999_999, end_time=99_999_999_999), "submit beyond"),
    ],
)
def test_what_is_no_job(text: str, told: str) -> None:
    """Each with its reason, and the line itself."""
    trace = read(line(job_number=1), text)
    assert [2] == trace.quarantine["line_number"].tolist()
    assert trace.quarantine["reason"].iloc[0].startswith(told)
    assert text.rstrip("\n") == trace.quarantine["text"].iloc[0]


@pytest.mark.parametrize("column", ["cpu", "maxvmem", "ru_wallclock", "exit_status"])
def test_what_a_job_need_not_have(column: str) -> None:
    """A value that cannot be read is missing, and counted; the line is a job."""
    value = "1" * 6 if column == "exit_status" else "1.2.3"
    trace = read(line(**{column: value}))
    told = trace.provenance.get("anomalies", {})
    assert len(trace) == 1
    assert column == "exit_status" or told[f"{column} is no number: taken for missing"] == 1


def test_cut_off_only_where_the_last_line_is_a_job() -> None:
    """A comment without a line end cuts nothing off."""
    assert 0 == len(read(line(), "# end").quarantine)
    assert 0 == len(read(line(), "\n").quarantine)


def test_strict() -> None:
    """The first line that is no job is an error that names it."""
    with pytest.raises(SwfFormatError, match="line 2: fewer fields than 43"):
        read(line(), "a:b\n", strict=True)


def test_line_ends_letters_and_empty_lines() -> None:
    """CR LF; Latin-1 beside UTF-8; lines of one character say nothing."""
    text = line(owner="Zoë").encode("latin-1") + line(owner="Zoë", job_number=8).encode() + b"\r\n\n:\n"
    trace = read_log(io.BytesIO(text.replace(b"\n", b"\r\n")), "sge")
    assert ["Zoë"] == trace.names["name"][trace.names["kind"] == "user"].tolist()
    assert (2, 0) == (len(trace.jobs), len(trace.quarantine))


def test_empty_files() -> None:
    """Without a line there are no jobs, and nothing tells the format."""
    assert 0 == len(read(""))
    assert 0 == len(read(HEADER))
    with pytest.raises(LogFormatError, match="it is empty"):
        read_log(io.BytesIO(b""))


@pytest.mark.parametrize(
    "text",
    [b"a:b:c\n", b"1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n", b":" * 60, b"# x\n", b"\0" * 99],
)
def test_what_is_not_recognised(text: bytes) -> None:
    """Other text with colons."""
    assert not Sge.recognise(text).fits


def test_withheld_names() -> None:
    """Nothing of the words is told."""
    trace = read(line(owner="secret", job_name="secret:secret"), "secret:\n", line(cpu="1.2.3"), anonymise="numbers")
    told = trace.jobs.to_csv() + trace.quarantine.to_csv() + trace.names.to_csv() + str(trace.header)
    assert "secret" not in told
    assert "1.2.3" not in told


def test_files_in_the_order_of_their_ends(tmp_path: Path) -> None:
    """Rotated files are one log, from the oldest on; tasks find their job in the next file."""
    (tmp_path / "accounting").write_text(line(cpu=1), encoding="utf-8")
    (tmp_path / "accounting.0").write_text(
        line(job_number=1, end_time=START + 5) + line(pe_taskid="1.a", cpu=2), encoding="utf-8"
    )
    trace = read_log(tmp_path)
    assert ["1", "7"] == trace.jobs["log_id"].tolist()
    assert [3.0] == trace.jobs["average_cpu_time"].tolist()[1:]
    chunks = [chunk.jobs for chunk in iter_log(tmp_path, chunk_bytes=100) if len(chunk)]
    assert [1, 1] == [len(jobs) for jobs in chunks]
    assert 3.0 == chunks[1]["average_cpu_time"].iloc[0]
