# SPDX-License-Identifier: BSD-3-Clause
"""Records of lsb.acct drawn by hand, from lsb.acct(5), with what they mean."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools.errors import LogFormatError, SwfFormatError
from swftools.formats.lsf.reader import Lsf
from swftools.formats.read_log import read_log
from swftools.trace import Trace
from tests.formats.lsf.records import RESERVATION, USAGE, log, record, resize

SUBMIT, START, END = 1_400_000_000, 1_400_000_100, 1_400_000_500

VERSION_5 = (
    '"JOB_FINISH" "5.1" 1089407406 699195 283 33554482 1 1089290023 0 0 1089406862 "ann" "8nm" "" "" "" "login1" '
    '"prog/step" "" "/log/out.txt" "/log/err.txt" "1089290023.699195" 0 1 "node83" 64 3.3 "" "/ann/start.pl 362 7 8" '
    "277.210000 17.280000 0 0 -1 0 0 927804 87722 0 0 0 -1 0 0 0 0 0 -1 "
    '"" "default" 0 1 "" "" 0 310424 339112 "" "" ""\n'
)
VERSION_10 = (
    '"JOB_FINISH" "10.1" 1527327585 7610 1000 33554438 1 1527326745 0 0 1527326746 "ann" "normal" "" "" "" "login1" '
    '"" "" "" "" "10/1527326745.7610" 1 "pac" 1 "node1" 32 60.0 "" "sleep 1000" '
    "-1.000000 -1.000000 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 "
    '"" "default" 65280 1 "" "" 0 2048 0 "" "" "" "" 0 "" 14 "" -1 "/ann" "" "" "" -1 "" "" 5136 "" 1527326746 "" "" '
    '2 1032 "0" 1033 "0" 0 -1 4194304 2048 "select[type == any] order[r15s:pg] " "" -1 "" -1 0 "" 0 0 "" 839 "" 0 "" '
    '0.000000 0.00 0.00 0.00 0.00 1 "node1" -1 0 0 0\n'
)


def read(*records: str, **options: Any) -> Trace:
    """Read records as lsb.acct."""
    return read_log(io.BytesIO(log(*records)), "lsf", **options)


def job(*records: str, **options: Any) -> dict[str, Any]:
    """Return the only job of records, without what is missing."""
    trace = read(*records, **options)
    assert [] == trace.quarantine["reason"].tolist()
    assert 1 == len(trace.jobs)
    return {name: value for name, value in trace.jobs.iloc[0].items() if not pd.isna(value)}


def reason(*records: str) -> str:
    """Return why the only record that is no job is none."""
    trace = read(*records)
    assert 1 == len(trace.quarantine)
    return str(trace.quarantine["reason"].iloc[0])


def test_a_job_of_version_9() -> None:
    """Every value of a record, recognised without being told the format."""
    trace = read_log(io.BytesIO(record(begin_time=SUBMIT + 40, depend_cond="done(5)").encode()))
    assert trace.provenance is not None
    assert "lsf" == trace.provenance["format"]
    row = {name: value for name, value in trace.jobs.iloc[0].items() if not pd.isna(value)}
    assert row == {
        "job_number": 1,
        "submit_time": 0.0,
        "wait_time": 100.0,
        "run_time": 400.0,
        "allocated_processors": 32,
        "average_cpu_time": 3201 / 32,
        "used_memory": 2048.0,
        "requested_processors": 32,
        "requested_time": 43200.0,
        "status": 1,
        "user_id": 1,
        "group_id": 1,
        "executable_id": 1,
        "queue_id": 1,
        "line_number": 1,
        "log_id": "7",
        "eligible_time": 40.0,
        "allocated_nodes": 2,
        "fewest_processors": 32,
        "exit_code": 0,
        "exit_signal": 0,
        "logged_state": "DONE",
        "dependency": "done(5)",
        "is_time_ambiguous": False,
    }
    assert {"user": "ann", "group": "physics", "executable": "mpirun app", "queue": "normal"} == dict(
        zip(trace.names["kind"], trace.names["name"], strict=True)
    )


def test_a_begin_before_the_submission() -> None:
    """A job could not start before it was there."""
    assert [job(record(begin_time=SUBMIT + since))["eligible_time"] for since in (-40, 40)] == [0.0, 40.0]


def test_a_job_of_version_5() -> None:
    """It tells no reason of the end, no application and no limit."""
    have = job(VERSION_5)
    names = ("wait_time", "run_time", "allocated_processors", "average_cpu_time", "used_memory", "status")
    assert (116839.0, 544.0, 1, 277.21 + 17.28, 310424.0, 1) == tuple(have[name] for name in names)
    assert "requested_time" not in have


def test_a_job_of_version_10() -> None:
    """It asked for a host, was killed by its owner, used nothing that is known, and had no limit."""
    have = job(VERSION_10)
    names = ("wait_time", "run_time", "status", "exit_code", "exit_signal", "logged_state", "used_memory")
    assert (1.0, 839.0, 5, 255, 0, "EXIT TERM_OWNER", 2048.0) == tuple(have[name] for name in names)
    assert {"average_cpu_time", "requested_time"}.isdisjoint(have)


@pytest.mark.parametrize(
    ("option", "value", "kind", "name"),
    [
        ("group", "project", "group", "physics"),
        ("group", "charged-account", "group", "/physics/ann"),
        ("executable", "command", "executable", "mpirun app"),
        ("executable", "app", "executable", "solver"),
        ("executable", "job-name", "executable", "run"),
    ],
)
def test_names(option: str, value: str, kind: str, name: str) -> None:
    """What the group and the executable are, is chosen."""
    names = read(record(), **{option: value}).names
    assert [name] == names["name"][names["kind"] == kind].tolist()


@pytest.mark.parametrize(
    ("hosts", "slots", "nodes"),
    [
        (["16*host1", "16*host2"], 32, 2),
        (["host1"], 1, 1),
        (["host1", "host1", "host2", "host2"], 4, 2),
        (["host1", "2*host1", "host2"], 4, 2),
        (["*host1", "1a*host2"], 2, 2),
        (["host1", "host10"], 2, 2),
        ([], 48, None),
    ],
)
@pytest.mark.parametrize("asked", [[], ["host1"], ["a b", 'x"y', ""]])
def test_hosts(asked: list[str], hosts: list[str], slots: int, nodes: int | None) -> None:
    """Both lists shift all behind them; a host stands once with a number, or as often as it has slots."""
    have = job(record(asked=asked, hosts=hosts, max_processors=48))
    assert (slots, nodes, 48, 32) == (
        have["allocated_processors"],
        have.get("allocated_nodes"),
        have["requested_processors"],
        have["fewest_processors"],
    )
    assert (400.0, 43200.0, 1) == (have["run_time"], have["requested_time"], have["status"])


@pytest.mark.parametrize("pairs", [[], [(1110, "default"), (1086, "-1 -1 -1 ")]])
@pytest.mark.parametrize(
    "usage",
    [
        [],
        USAGE,
        ['host1 1 0 2 3 1 7 "a b"', '"host2" 1 0 2 3 0'],
        ["host1 1306 0 1287486 242", "host2 1291 0 643768 66"],
    ],
)
def test_the_run_limit(pairs: list[tuple[int, str]], usage: list[str]) -> None:
    """It stands behind a list of keys with values and one of use by host, which may have further ones."""
    assert 43200.0 == job(record(pairs=pairs, usage=usage))["requested_time"]
    for none in (-1, 0):
        assert "requested_time" not in job(record(pairs=pairs, usage=usage, run_limit=none))


def test_no_run_limit_where_it_is_not_certain() -> None:
    """In a record that ends before it, or goes on otherwise, nothing is taken for it."""
    assert "requested_time" not in job(record(usage=None))
    assert "requested_time" not in job(record().replace('"select[type == local] order[nidx] "', "0"))
    assert "requested_time" not in job(record().replace(" 43200 ", " x "))
    known = record().replace('"/physics/ann"', "0")
    assert "requested_time" not in job(known)
    told = "fields behind the memory are not those that are known: not read"
    assert {told: 1} == (read(known).provenance or {})["anomalies"]
    assert "requested_time" not in job(record(later=False))


@pytest.mark.parametrize(
    ("values", "status", "state"),
    [
        ({"status": 64}, 1, "DONE"),
        ({"status": 192}, 1, "DONE"),
        ({"status": 320}, 1, "DONE"),
        ({"status": 32}, 0, "EXIT"),
        ({"status": 32, "exit_info": 5}, 0, "EXIT TERM_RUNLIMIT"),
        ({"status": 32, "exit_info": 8}, 5, "EXIT TERM_FORCE_OWNER"),
        ({"status": 32, "exit_info": 15}, 5, "EXIT TERM_ADMIN"),
        ({"status": 32, "exit_info": 16}, 0, "EXIT TERM_MEMLIMIT"),
        ({"status": 32, "exit_info": 30}, 0, "EXIT TERM_MC_RECALL"),
        ({"status": 32, "exit_info": 99}, 0, "EXIT"),
        ({"status": 32, "start_time": 0}, 5, "EXIT"),
        ({"status": 32, "start_time": 0, "exit_info": 14}, 5, "EXIT TERM_OWNER"),
        ({"status": 32, "start_time": 0, "exit_info": 27}, 5, "EXIT TERM_ORPHAN_SYSTEM"),
        ({"status": 32, "start_time": 0, "exit_info": 28}, 0, "EXIT TERM_PRE_EXEC_FAIL"),
        ({"status": 32, "start_time": 0, "later": False}, 5, "EXIT"),
    ],
)
def test_status(values: dict[str, Any], status: int, state: str) -> None:
    """Done; failed; ended by somebody, or before it started."""
    have = job(record(**values))
    assert (status, state) == (have["status"], have["logged_state"])
    if values.get("start_time") == 0:
        unknown = {
            "wait_time",
            "run_time",
            "allocated_processors",
            "allocated_nodes",
            "average_cpu_time",
            "used_memory",
        }
        assert unknown.isdisjoint(have)
        assert 32 == have["requested_processors"]


@pytest.mark.parametrize(
    ("logged", "code", "signal"), [(0, 0, 0), (65280, 255, 0), (256, 1, 0), (9, 0, 9), (35072, 137, 0), (139, 0, 11)]
)
def test_exit_status(logged: int, code: int, signal: int) -> None:
    """It is as wait(2) returns it; the bit of a core dump is none of the signal's."""
    have = job(record(status=32, exit_status=logged))
    assert (code, signal) == (have["exit_code"], have["exit_signal"])


@pytest.mark.parametrize("logged", [-1, 65536])
def test_exit_status_that_is_none(logged: int) -> None:
    """What wait does not return is missing."""
    assert {"exit_code", "exit_signal"}.isdisjoint(job(record(exit_status=logged)))


def test_usage_that_is_not_known() -> None:
    """-1 is no CPU time, and neither -1 nor 0 a memory."""
    assert "average_cpu_time" not in job(record(utime=-1.0))
    assert "average_cpu_time" not in job(record(stime=-1.0))
    assert "used_memory" not in job(record(max_rmem=0))
    assert "used_memory" not in job(record(max_rmem=-1))
    assert 0.0 == job(record(utime=0.0, stime=0.0))["average_cpu_time"]
    assert "negative cpu_time" == reason(record(utime=-500.0))
    assert "negative used_memory" == reason(record(max_rmem=-2))


def test_elements_of_an_array() -> None:
    """Index 0 is no element."""
    have = job(record(idx=12))
    assert ("7[12]", 7, 12) == tuple(have[name] for name in ("log_id", "array_number", "array_index"))
    assert {"array_number", "array_index"}.isdisjoint(job(record()))


CONDITIONS = {
    "ended(5[2])": [1],
    "done(5[2]) && done(6)": [1, 2],
    "done(5) && ended(6)": [1, 2],
    "(ended(5[*])) && exit(6)": [1, 2],
    "done(6) || ended(5[2])": [1],
    "exit(5[2]) || ended(6)": [2],
    "done(5[2]) || started(6)": [],
    'done("name")': [],
    "done(99)": [],
    "started(5[2])": [],
}
"""What jobs wait for, and which these are: 5[2] is the first, 6 the second; both ended well."""


def named(jobs: pd.DataFrame) -> list[list[int]]:
    """Return the numbers of the jobs before each job."""
    found = [[] if pd.isna(number) else [int(number)] for number in jobs["preceding_job_number"]]
    for place, several in enumerate(jobs.get("preceding_job_numbers", found)):
        if np.ndim(several) and len(several):
            found[place] = [*several]
    return found


def test_dependencies() -> None:
    """A condition names the jobs before, and the time from the last end on; an array is all of its elements."""
    before = [record(job_id=5, idx=2, event_time=END), record(job_id=6, event_time=END + 10)]
    others = [
        record(job_id=number, submit_time=END + 20, start_time=END + 30, event_time=END + 40, depend_cond=condition)
        for number, condition in enumerate(CONDITIONS, start=10)
    ]
    jobs = read(*before, *others).jobs.iloc[2:]
    ends = [0, 20.0, 10.0]
    wanted = [*CONDITIONS.values()]
    assert wanted == named(jobs)
    assert [ends[max(each)] for each in wanted if each] == jobs["think_time"].dropna().tolist()
    times = {"submit_time": END + 20, "start_time": END + 30, "event_time": END + 40}
    alone = read(before[0], record(job_id=7, depend_cond="done(5[2]) && done(6)", **times)).jobs
    assert named(alone)[1] == [1], "what is not there counts for nothing"
    assert "started(5)" == job(record(depend_cond="started(5)"))["dependency"]


def test_strings_with_quotation_marks() -> None:
    """They are doubled in the record, and single again in the names."""
    names = read(record(command='say "a b" ""', user="Zoë", job_name='"')).names
    assert ["Zoë", "physics", 'say "a b" ""', "normal"] == names["name"].tolist()


def test_other_records() -> None:
    """A change of hosts is part of its job, a reservation is none, nor is anything else."""
    trace = read(resize(), RESERVATION, resize(7, 1), record(), resize(8), '"JOB_STARLIT" "9.11" 1400000300 1\n')
    assert [(1, 4)] == list(zip(trace.merged["line_number"], trace.merged["into_line_number"], strict=True))
    told = "JOB_RESIZE of a job that does not finish behind it"
    assert {2: "an advance reservation, not a job", 3: told, 5: told, 6: "no JOB_FINISH"} == dict(
        zip(trace.quarantine["line_number"], trace.quarantine["reason"], strict=True)
    )
    assert trace.provenance is not None
    assert {"resized while it ran: processors are those at its end": 1} == trace.provenance["anomalies"]


def test_runs_of_a_job_that_was_requeued() -> None:
    """Each is a record; the later one tells how often it had been started."""
    first = record(status=32, exit_info=10, event_time=START + 10)
    last = record(start_time=START + 20)
    assert [pd.NA, 1] == read(first, last).jobs.sort_values("line_number")["restarts"].tolist()
    assert "restarts" not in read(record(status=32, exit_info=5, event_time=START + 10), last).jobs


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('"JOB_FINISH" "9.11" 1400000500\n', "fewer fields than a JOB_FINISH has"),
        (record(hosts=["host1"]).replace('0 1 "host1"', '0 1000000 "host1"'), "a list of hosts that is not as long"),
        (record().replace(" 0 2 ", " x 2 "), "a list of hosts that is not as long"),
        (record(later=False).replace("\n", ' "x\n'), "a string that does not end"),
        (record().replace('"run"', '"run'), "strings and numbers do not stand where a JOB_FINISH has them"),
        (record().replace("966960 0", "9669600"), "strings and numbers do not stand where a JOB_FINISH has them"),
        (record().replace("966960 0", "966960x 0"), "strings and numbers do not stand where a JOB_FINISH has them"),
        (record(job_id="7.5").replace('"7.5"', "7.5"), "jobId is no job number: '7.5'"),
        (record(status=16), "not ended: jStatus: '16'"),
        (record(status="?").replace('"?"', "?"), "jStatus is no number: '?'"),
        (record(start_time=0), "done, and yet it did not start"),
        (record(submit_time=0), "no submitTime"),
        (record(event_time=0), "no event time"),
        (record(start_time=SUBMIT - 1), "start before submit"),
        (record(event_time=START - 1), "end before start"),
        (record(hosts=[], num_processors=0, max_processors=0), "no hosts and no slots of a job that ran"),
        (record()[: record().index(" 65536 ") + 20], "the log is cut off within this record"),
        (record(user="a\0b"), "a byte of zero within the record"),
        (resize().split(" 1400000200")[0] + "\n", "fewer fields than a JOB_FINISH has"),
        ("\0" * 40 + "\n", "no JOB_FINISH"),
    ],
)
def test_what_is_no_job(text: str, told: str) -> None:
    """Each with its reason, and the record itself."""
    trace = read(record(job_id=1), text)
    assert [2] == trace.quarantine["line_number"].tolist()
    assert trace.quarantine["reason"].iloc[0].startswith(told)
    assert text.rstrip("\n") == trace.quarantine["text"].iloc[0]


def test_a_record_cut_anywhere() -> None:
    """What is left of the last record is no job unless all that is read of it is there.

    With a line end behind it, one that has no memory yet is none.
    """
    whole = record()
    both = read(record(job_id=1), whole).jobs
    needed = whole.index(" 65536 ") + 2
    for end in [*range(1, len(whole) - 1, 29), needed - 1, needed]:
        trace = read(record(job_id=1), whole[:end])
        assert trace.jobs.equals(both) or [1] == trace.jobs["line_number"].tolist()
        assert len(trace.jobs) + len(trace.quarantine) == 2
        assert end > len(whole) - 60 or 1 == len(trace.jobs)
        trace = read(record(job_id=1), whole[:end] + "\n")
        assert len(trace.jobs) + len(trace.quarantine) == 2
        assert end >= needed or 1 == len(trace.jobs)
        assert end != needed or 2 == len(trace.jobs)


def test_strict() -> None:
    """The first record that is no job is an error that names it."""
    with pytest.raises(SwfFormatError, match="line 2: an advance reservation"):
        read(record(), RESERVATION, strict=True)


def test_line_ends_letters_and_blanks() -> None:
    """CR LF; Latin-1 beside UTF-8; blanks and tabs around fields."""
    text = record(user="Zoë").encode("latin-1") + record(user="Zoë", job_id=8).encode() + b"\r\n \t\n"
    text = text.replace(b"\n", b" \r\n").replace(b' "normal"', b'\t \t"normal"')
    trace = read_log(io.BytesIO(b"  " + text), "lsf")
    assert ["Zoë"] == trace.names["name"][trace.names["kind"] == "user"].tolist()
    assert (2, 0) == (len(trace.jobs), len(trace.quarantine))


def test_empty_files() -> None:
    """Without a record there are no jobs, and nothing tells the format."""
    assert 0 == len(read(""))
    with pytest.raises(LogFormatError, match="it is empty"):
        read_log(io.BytesIO(b"\n"))


@pytest.mark.parametrize(
    "text", [b'"JOB_FINISH"', b'"JOB_NEW" "9.1" 5', b"1 0 5 60", b"\0" * 99, b'x "JOB_FINISH" "9" 5']
)
def test_what_is_not_recognised(text: bytes) -> None:
    """Other text, such as lsb.events."""
    assert not Lsf.recognise(text).fits


def test_withheld_names() -> None:
    """Nothing of the words is told."""
    secret = record(user="secret", command="secret", depend_cond='done("secret")')
    trace = read(secret, '"secret"\n', record(status="secret"), anonymise="numbers")
    assert "secret" not in trace.jobs.to_csv() + trace.quarantine.to_csv() + trace.names.to_csv() + str(trace.header)
