# SPDX-License-Identifier: BSD-3-Clause
"""Hand-drawn logs of PBS: which records are of one job, what became of it, and of lines that are of none."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import LogFormatError, SwfFormatError
from swftools.formats.pbs import reader
from swftools.formats.read_log import read_log
from tests.formats.pbs.compared import accounts, in_pieces, read, same_in_pieces

BEGIN = 1688634000  # 07/06/2023 09:00:00 in Greenwich


def line(minute: int, kind: str, job_id: str = "1.s", more: str = "") -> str:
    """Return a record; E and S records say that the job was created at 09:00 and started a minute before."""
    now = BEGIN + 60 * minute
    if kind in "SE":
        more = f"user=u ctime={BEGIN} qtime={BEGIN} start={now - 60} {more} Resource_List.walltime=00:30:00"
    if kind == "E":
        more = f"{more} end={now} Exit_status=" + ("0" if "271" not in more else "271")
    return f"07/06/2023 09:{minute:02d}:00;{kind};{job_id};{more}\n"


def log(*records: tuple[Any, ...] | str) -> bytes:
    """Return a log of records or lines."""
    return "".join(each if isinstance(each, str) else line(*each) for each in records).encode()


def told(trace: Trace) -> dict[int, str]:
    """Return the reasons of the quarantine by line."""
    return dict(zip(trace.quarantine["line_number"].tolist(), trace.quarantine["reason"].tolist(), strict=True))


def statuses(trace: Trace) -> dict[int, int | None]:
    """Return the status of each job by the line that decided."""
    jobs = trace.jobs
    values = [None if pd.isna(value) else int(value) for value in jobs["status"]]
    return dict(zip(jobs["line_number"].tolist(), values, strict=True))


def test_an_end_decides() -> None:
    """All records before it are merged into it, and what follows soon too."""
    trace = read(log((0, "Q"), (1, "S"), (2, "a"), (3, "z"), (4, "r"), (5, "E"), (5, "D"), (6, "R")))
    lines, merged, refused = accounts(trace)
    assert (lines, refused) == ({6}, set())
    assert merged == dict.fromkeys([1, 2, 3, 4, 5, 7, 8], 6)
    assert trace.jobs["logged_state"].item() == "E"
    assert trace.jobs["restarts"].item() == 0  # the R record came after the end


def test_reruns_are_counted() -> None:
    """R records before the end, and no others."""
    trace = read(log((0, "Q"), (1, "S"), (2, "R"), (3, "S"), (4, "R"), (5, "S"), (6, "E"), (7, "S"), (8, "E")))
    assert trace.jobs["restarts"].tolist() == [2, 0]
    assert trace.jobs["run_time"].tolist() == [60, 60]


def test_deleted_in_the_queue() -> None:
    """D cancelled it and A failed it, with the times of Q and of that, in the zone that is told."""
    records = log((0, "Q", "1.s", "queue=batch"), (3, "D", "1.s", "requestor=u@h"), (4, "Q", "2.s"), (9, "A", "2.s"))
    trace = read(records, time_zone="America/Chicago")
    assert statuses(trace) == {2: 5, 4: 0}
    assert trace.header.unix_start_time == BEGIN + 5 * 3600
    assert trace.jobs["submit_time"].tolist() == [0, 240]
    assert trace.jobs["wait_time"].isna().all()
    assert trace.jobs["run_time"].isna().all()
    assert trace.jobs["logged_state"].tolist() == ["D", "A"]
    assert trace.names is not None
    assert trace.names["name"].tolist() == ["batch"]


def test_a_zone_is_only_asked_for_where_it_is_needed() -> None:
    """Where a job is known by Q and D alone, unless the Q record tells seconds since 1970."""
    bare = log((0, "Q"), (1, "S"), (2, "E"), (3, "Q", "2.s", f"ctime={BEGIN}"), (4, "D", "2.s"), (5, "D", "3.s"))
    assert statuses(read(bare, time_zone=None)) == {3: 1, 5: 5}
    with pytest.raises(LogFormatError, match="say which zone the batch system ran in by time_zone="):
        read(log((0, "Q"), (1, "D")), time_zone=None)


def test_the_hour_that_is_repeated() -> None:
    """A deletion after a submission is that much later; which of two hours a submission was in, nothing tells."""
    records = (
        b"11/05/2023 01:30:00;Q;1.s;queue=q\n11/05/2023 01:10:00;D;1.s;\n"
        b"11/05/2023 03:30:00;Q;2.s;queue=q\n11/05/2023 03:40:00;D;2.s;\n"
    )
    trace = read(records, time_zone="America/Chicago")
    assert trace.jobs["is_time_ambiguous"].tolist() == [True, False]
    assert trace.jobs["submit_time"].tolist() == [0, 3 * 3600]


def test_a_date_that_there_is_not() -> None:
    """The job is refused by it."""
    records = b"02/30/2023 01:30:00;Q;1.s;queue=q\n02/30/2023 01:40:00;D;1.s;\n"
    assert told(read(records)) == {
        1: "belongs to the record of line 2, which is no job",
        2: "the date of the Q record is no time",
    }


def test_deleted_while_it_ran() -> None:
    """It is cancelled; failed if it had reached its limit; and completed if it had in fact."""
    started = ((0, "Q"), (1, "S"), (2, "D"))
    assert statuses(read(log(*started, (3, "E", "1.s", "x=271")))) == {4: 5}
    assert statuses(read(log(*started, (3, "E")))) == {4: 1}
    over = line(50, "E", more="x=271").replace(f"start={BEGIN + 49 * 60}", f"start={BEGIN + 20 * 60}")
    assert statuses(read(log(*started, over))) == {4: 0}
    assert statuses(read(log((0, "Q"), (1, "S"), (3, "E", "1.s", "x=271")))) == {3: 0}


def test_a_rerun_undoes_a_deletion() -> None:
    """What came before the last run does not count."""
    trace = read(log((0, "Q"), (1, "S"), (2, "D"), (3, "R"), (4, "S"), (5, "E", "1.s", "x=271")))
    assert statuses(trace) == {6: 0}
    assert told(read(log((0, "Q"), (1, "S"), (2, "D"), (3, "R")))).keys() == {1, 2, 3, 4}


def test_a_deletion_waits_for_an_end() -> None:
    """Logs without S records have E records of jobs that were deleted while they ran: one job each."""
    assert statuses(read(log((0, "Q"), (1, "D"), (3, "E", "1.s", "x=271")))) == {3: 5}
    assert statuses(read(log((1, "D"), (3, "E", "1.s", "x=271")))) == {2: 5}


def test_it_waits_so_long_and_no_longer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After as many lines as a job is remembered for, a deletion counts, and an E record is of another job."""
    monkeypatch.setattr(reader, "WINDOW", 5)
    between = [(3, "Q", f"{number}.s", "") for number in range(2, 6)]
    for others, expected in ((between[:3], {6: 5}), (between, {2: 5, 7: 0})):
        text = log((0, "Q"), (1, "D"), *others, (9, "E", "1.s", "x=271"))
        assert statuses(read(text)) == expected
        (tmp_path / "log").write_bytes(text)
        same_in_pieces(tmp_path / "log", read(text), 1)


def test_the_order_of_decisions_is_of_no_piece(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A deletion that counts from a line on comes before the end in that line, of jobs submitted in one second."""
    monkeypatch.setattr(reader, "WINDOW", 2)
    text = log((0, "Q"), (1, "D"), (2, "Q", "2.s"), (3, "E", "3.s"), (4, "D", "2.s"))
    assert read(text).jobs["log_id"].tolist() == ["1.s", "3.s", "2.s"]
    (tmp_path / "log").write_bytes(text)
    same_in_pieces(tmp_path / "log", read(text), 1)


def test_it_is_remembered_so_long_and_no_longer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A late record belongs to the job that ended, in whatever piece that was, or to nothing that is known."""
    monkeypatch.setattr(reader, "WINDOW", 5)
    between = [(3, "Q", f"{number}.s", "") for number in range(2, 6)]
    for others, into in ((between[:3], 1), (between, None)):
        text = log((1, "E"), *others, (9, "D"))
        whole = read(text)
        last = len(others) + 2
        assert accounts(whole)[1] == ({last: into} if into else {})
        assert told(whole).get(last) == (None if into else "deleted or aborted, and no Q record is in the log: 'D'")
        (tmp_path / "log").write_bytes(text)
        same_in_pieces(tmp_path / "log", whole, 1)


def test_late_records_of_what_is_no_job(tmp_path: Path) -> None:
    """They go with it, in whatever piece that was."""
    text = log((2, "E", "1.s", f"etime={BEGIN} qtime=x"), (3, "Q", "2.s"), (4, "D"))
    expected = "belongs to the record of line 1, which is no job"
    assert told(read(text))[3] == expected
    (tmp_path / "log").write_bytes(text)
    same_in_pieces(tmp_path / "log", read(text), 1)


def test_late_records_of_a_record_that_stands_twice(tmp_path: Path) -> None:
    """They belong to the first, as the repetition does."""
    text = log((2, "E"), (2, "E"), (3, "D"))
    assert accounts(read(text))[1] == {2: 1, 3: 1}
    (tmp_path / "log").write_bytes(text)
    same_in_pieces(tmp_path / "log", read(text), 1)


def test_jobs_that_have_not_ended() -> None:
    """They are told, with the last record that says what they do, and their text from whatever piece."""
    trace = read(log((0, "Q"), (1, "S"), (2, "Q", "2.s", "queue=q"), (3, "S", "3.s"), (4, "D", "3.s")))
    assert told(trace) == {
        1: "belongs to the record of line 2, which is no job",
        2: "not ended: 'S'",
        3: "not ended: 'Q'",
        4: "not ended: 'S'",
        5: "belongs to the record of line 4, which is no job",
    }
    assert trace.quarantine["text"].tolist()[2] == "07/06/2023 09:02:00;Q;2.s;queue=q"


def test_texts_of_earlier_pieces(tmp_path: Path) -> None:
    """What is kept of a job that goes on is its own text."""
    (tmp_path / "log").write_bytes(log((0, "Q"), (1, "S", "2.s"), (2, "Q", "3.s"), (3, "E", "2.s")))
    for chunk_bytes in (1, 150):
        quarantine = in_pieces(tmp_path / "log", chunk_bytes)[2]
        assert quarantine["text"].tolist() == ["07/06/2023 09:00:00;Q;1.s;", "07/06/2023 09:02:00;Q;3.s;"]


def test_an_id_that_comes_again() -> None:
    """After its end it is another job's; a job that ran when a Q record of its id came has lost its end."""
    assert statuses(read(log((0, "Q"), (1, "E"), (2, "Q"), (3, "E")))) == {2: 1, 4: 1}
    assert statuses(read(log((0, "Q"), (1, "D"), (2, "Q"), (3, "D")))) == {2: 5, 4: 5}
    trace = read(log((0, "Q"), (1, "S"), (2, "Q"), (3, "S"), (4, "E")))
    assert statuses(trace) == {5: 1}
    assert told(trace)[2] == "not ended when a Q record of the same id came: 'S'"
    # One that is moved to another queue has a Q record in each.
    assert accounts(read(log((0, "Q"), (1, "Q"), (2, "S"), (3, "E"))))[1] == {1: 4, 2: 4, 3: 4}


def test_the_first_queue_is_when_it_came() -> None:
    """Of several Q records of a job that was deleted the first tells the submission."""
    trace = read(log((0, "Q"), (5, "Q"), (6, "D"), (4, "Q", "2.s"), (7, "D", "2.s")))
    assert trace.jobs["submit_time"].tolist() == [0, 240]


def test_lines_that_are_of_no_job() -> None:
    """Reservations, licences, arrays as a whole, and what is no record, each by its reason; empty lines are nothing."""
    records = (
        "PBS_Server: started\n",
        line(0, "L", "license", "floating license hour:3"),
        *(line(0, kind, "R12.s", "owner=x") for kind in "UYBFKk"),
        line(0, "Q", "R12.s"),
        *(line(0, kind, "77[].s") for kind in "QSED"),
        line(0, "D", "77[1-3].s"),
        *("\n", "\0\0\0\n", " \t\r\n"),
        *("07/06/2023 09:00:00;QQ;1.s;\n", "07/06/2023 09:00:00;Q;1.s\n", "07-06-2023 09:00:00;Q;1.s;\n", "x;Q;1.s;\n"),
        *("a07/06/2023 09:00:00;Q;1.s;\n", "07/06/2023 09:00:00;1;1.s;\n", "07/06/2023 09:00:00;Q;;\n"),
    )
    reasons = told(read(log(*records)))
    no_record, no_job = "not a record of PBS", "a record of a reservation or of licences, not of a job"
    whole = "a record of an array as a whole; the jobs are its elements"
    expected = [no_record, *[no_job] * 8, *[whole] * 5, None, None, None, *[no_record] * 6, no_job]
    assert reasons == {number: why for number, why in enumerate(expected, start=1) if why}


@pytest.mark.parametrize("prefix", ["20230706:", "accounting/20230706:", "\0\0\0", " "])
def test_in_front_of_the_date(prefix: str) -> None:
    """What grep puts there, and what a crash leaves there."""
    records = [prefix + line(*each) for each in ((0, "Q"), (1, "S"), (2, "E"))]
    text = log(*records)
    assert statuses(read(text)) == {3: 1}
    assert len(read_log(io.BytesIO(text))) == 1  # and it is recognised


@pytest.mark.parametrize("end", ["\r\n", " \n", "\0\n"])
def test_ends_of_lines(end: str) -> None:
    """They are no part of the last value."""
    text = log((0, "Q", "1.s", "queue=batch"), (1, "D")).replace(b"\n", end.encode())
    trace = read(text)
    assert trace.names is not None
    assert trace.names["name"].tolist() == ["batch"]


def test_latin_1() -> None:
    """Older logs are not of UTF-8."""
    trace = read(line(1, "E", more="jobname=Größe").encode("latin-1"))
    assert trace.names is not None
    assert trace.names["name"].tolist() == ["u", "Größe"]


def test_cut_off(tmp_path: Path) -> None:
    """A last record that does not end as those before it is no job; of a line without an id nothing is known."""
    text = log((2, "E", "1.s"), (3, "Q"), (4, "S"), (5, "E"))
    end = text.rindex(b"07/06")
    assert not told(read(text[:-1]))
    for stop in range(text.index(b";", end + 22) + 1, len(text) - 1, 3):
        assert told(read(text[:stop]))[4] == "the log is cut off within this record", text[:stop]
    for stop in (end + 5, end + 20, end + 22):
        assert told(read(text[:stop]))[4] == "the log is cut off within this line"
    for cut in (text[:-1], text[:-3]):
        (tmp_path / "log").write_bytes(cut)
        same_in_pieces(tmp_path / "log", read(cut), 1)


def test_a_last_record_that_stands_alone() -> None:
    """It is whole if it has an exit status; a D record is as soon as its id is there."""
    text = log((5, "E"))
    assert len(read(text[:-1])) == 1
    assert told(read(text[: text.index(b" Exit_status")])) == {1: "the log is cut off within this record"}
    assert statuses(read((log((0, "Q", "1.s", f"ctime={BEGIN}"), (4, "D")))[:-1])) == {2: 5}


@pytest.mark.parametrize("rest", ["resources_used.walltime=00:0", "resources_used.walltime=00:00:5", "run_count="])
def test_a_last_value_that_is_cut_in_its_middle(rest: str) -> None:
    """A clock without its seconds, or a key without its value, tell it."""
    sound = line(5, "E", "1.s").replace("\n", " resources_used.walltime=00:01:00\n")
    counted = line(5, "E", "1.s").replace("\n", " run_count=1\n")
    last = line(5, "E", "2.s").replace("\n", f" {rest}")
    assert told(read(log(sound, counted, last))) == {3: "the log is cut off within this record"}
    assert not told(read(log(sound, counted, sound.replace(";1.s", ";2.s")[:-1])))


def test_strict() -> None:
    """The first line that is no job ends it."""
    with pytest.raises(SwfFormatError, match="line 1: not a record of PBS: 'hello'"):
        read(log("hello\n", (1, "E")), strict=True)


def test_nothing_is_told_of_words() -> None:
    """Where names are withheld no reason and no text tells them."""
    text = log((0, "Q", "1.s", "queue=secret"), (1, "S", "2.secret"), (2, "E", "3.s", "qtime=secret"), "secret\n")
    trace = read(text, anonymise="numbers")
    tables = (trace.jobs, trace.quarantine, trace.merged, trace.names, trace.header, trace.provenance)
    assert not any("secret" in str(table.to_csv() if isinstance(table, pd.DataFrame) else table) for table in tables)
    assert len(trace.quarantine) == 4


def test_files_of_several_days(tmp_path: Path) -> None:
    """A folder of a file a day is one log, in the order of the first records, whatever the files are called."""
    text = log((0, "Q"), (1, "S"), (2, "E"), (3, "Q", "2.s"), (4, "D", "2.s"))
    days = text.splitlines(keepends=True)
    for name, part in (("c", days[:1]), ("b", days[1:2]), ("a", days[2:])):
        (tmp_path / name).write_bytes(b"".join(part))
    trace = read_log(tmp_path, time_zone="UTC")
    assert statuses(trace) == {3: 1, 5: 5}
    (tmp_path / "a").write_bytes(gzip.compress(b"".join(days[2:4])))
    trace = read_log(tmp_path)
    assert told(trace) == {4: "a, line 2: not ended: 'Q'"}


def test_recognised() -> None:
    """By a record, which need not stand first; else it is said what is missing."""
    assert len(read_log(io.BytesIO(b"a message\n" + log((2, "E"))))) == 1
    with pytest.raises(LogFormatError, match="pbs: no record such as"):
        read_log(io.BytesIO(b"nothing of that\n"))
