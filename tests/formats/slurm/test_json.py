# SPDX-License-Identifier: BSD-3-Clause
"""What ``sacct --json`` prints, in the shapes of several versions, one document or many."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from swftools.errors import LogFormatError
from swftools.formats.accounting.records import Stretch
from swftools.formats.slurm import Slurm
from tests.examples import by_day
from tests.formats.slurm.told import assert_same, in_chunks, one, read, reasons, told

T0 = 1704067200


def number(value: float, **more: Any) -> dict[str, Any]:
    """Return a number as later versions write it."""
    return {"set": True, "infinite": False, "number": value} | more


NONE = {"set": False, "infinite": False, "number": 0}

NEW: dict[str, Any] = {
    "account": "a1",
    "allocation_nodes": 2,
    "array": {"job_id": 0, "task_id": NONE, "task": ""},
    "association": {"account": "a1", "cluster": "c1", "partition": "", "user": "u1", "id": 4},
    "cluster": "c1",
    "comment": {"administrator": "", "job": 'a "jobs": [ {', "system": ""},
    "exit_code": {"status": ["ERROR"], "return_code": number(2), "signal": {"id": NONE, "name": ""}},
    "group": "g1",
    "het": {"job_id": 0, "job_offset": NONE},
    "job_id": 7,
    "name": "name",
    "nodes": "n[1-2]",
    "partition": "batch",
    "qos": "high",
    "required": {"CPUs": 4, "memory_per_cpu": number(1000), "memory_per_node": NONE},
    "restart_cnt": 1,
    "state": {"current": ["FAILED"], "reason": "None"},
    "steps": [
        {
            "step": {"id": "7.batch", "name": "batch"},
            "time": {"total": {"seconds": 60, "microseconds": 500000}},
            "tres": {
                "requested": {"max": [{"type": "cpu", "count": 9}, {"type": "mem", "count": 2048000}], "min": []},
                "consumed": {"max": [{"type": "mem", "count": 99999999}]},
                "allocated": [{"type": "mem", "count": 5}],
            },
        },
        {"step": {"id": "7.0"}, "time": {"total": {"seconds": 20, "microseconds": 0}}, "tres": {"requested": {}}},
    ],
    "time": {
        "elapsed": 500,
        "eligible": T0 + 30,
        "end": T0 + 660,
        "limit": number(60),
        "start": T0 + 60,
        "submission": T0,
        "suspended": 100,
        "total": {"seconds": 2000, "microseconds": 0},
    },
    "tres": {
        "allocated": [
            {"type": "cpu", "name": "", "count": 8},
            {"type": "mem", "name": "", "count": 8192},
            {"type": "node", "name": "", "count": 2},
            {"type": "gres", "name": "gpu", "count": 3},
            {"type": "gres", "name": "gpu:a100", "count": 3},
        ],
        "requested": [{"type": "cpu", "count": 4}, {"type": "node", "count": 1}, {"type": "mem", "count": 4096}],
    },
    "user": "u1",
}
"""A job as Slurm 23.11 writes it."""


def job(**changes: Any) -> dict[str, Any]:
    """Return the job with other values; a key with a double underscore is a key within a mapping."""
    made = copy.deepcopy(NEW)
    for key, value in changes.items():
        outer, _, inner = key.partition("__")
        if inner:
            made[outer][inner] = value
        else:
            made[outer] = value
    return made


def document(*jobs: Any, indent: int | None = 1) -> str:
    """Return a document with jobs."""
    return json.dumps({"meta": {"jobs": [{}], "x": "\\"}, "jobs": list(jobs), "errors": [{"a": []}]}, indent=indent)


def test_a_job() -> None:
    """Every value, as a recent version writes it."""
    found = one(document(job()), time_zone=None)
    row = found.pop("row")
    assert found == {
        "log_id": "7",
        "submit": T0,
        "wait_time": 60,
        "run_time": 500,
        "allocated_processors": 8,
        "requested_processors": 4,
        "allocated_nodes": 2,
        "average_cpu_time": 250,
        "used_memory": 2000,
        "requested_memory": 1000 * 1024,
        "requested_time": 3600,
        "status": 0,
        "exit_code": 2,
        "exit_signal": 0,
        "array_number": None,
        "array_index": None,
        "allocated_gpus": 3,
        "line_number": 9,
        "user": "u1",
        "group": "a1",
        "executable": "name",
        "queue": "batch",
        "partition": "c1",
    }
    assert (row["eligible_time"], row["restarts"], row["requested_nodes"]) == (30, 1, 1)
    assert row["logged_state"] == "FAILED"


def test_an_early_version() -> None:
    """Bare numbers, a state that is a word, the memory with the high bit, other names within."""
    old = job(
        array={"job_id": 100, "task": 3},
        exit_code={"status": "SIGNALED", "return_code": 0, "signal": {"signal_id": 9, "name": "Killed"}},
        state={"current": "CANCELLED", "reason": "None"},
        time__limit=30,
        required={"CPUs": 4, "memory": 2**63 + 3000},
        association={},
    )
    found = one(document(old), time_zone=None)
    assert (found["log_id"], found["array_number"], found["array_index"]) == ("100_3", 100, 3)
    assert (found["exit_code"], found["exit_signal"], found["status"]) == (0, 9, 5)
    assert (found["requested_time"], found["requested_memory"], found["user"]) == (1800, 3000 * 1024, "u1")


@pytest.mark.parametrize(
    ("changes", "name", "value"),
    [
        ({"state": "TIMEOUT"}, "status", 0),
        ({"state": {"current": ["COMPLETING", "COMPLETED"]}}, "status", 1),
        ({"state": {"current": ["NEW_MARK", "PREEMPTED"]}}, "status", 5),
        ({"exit_code": 256}, "exit_code", 1),
        ({"exit_code": 9}, "exit_signal", 9),
        ({"exit_code": number(512)}, "exit_code", 2),
        ({"exit_code": {}}, "exit_code", None),
        ({"exit_code": None}, "exit_signal", None),
        ({"time__limit": number(0, infinite=True)}, "requested_time", None),
        ({"time__limit": NONE}, "requested_time", None),
        ({"time__limit": 4294967295}, "requested_time", None),
        ({"time__elapsed": None}, "run_time", 600),
        ({"time__total": {"seconds": 0, "microseconds": 0}}, "average_cpu_time", 80.5 / 8),
        ({"time__total": None, "steps": []}, "average_cpu_time", None),
        ({"steps": []}, "used_memory", None),
        ({"steps": 5}, "used_memory", None),
        ({"required": {"memory_per_node": number(8000)}}, "requested_memory", 8000 * 1024 / 4),
        ({"required": {"memory": 2**31 + 500}}, "requested_memory", 500 * 1024),
        ({"required": {"memory": 4000}}, "requested_memory", 4096 * 1024 / 4),
        ({"required": {}}, "requested_memory", 4096 * 1024 / 4),
        ({"tres__requested": []}, "requested_processors", 4),
        ({"tres__requested": [], "required": {}}, "requested_memory", None),
        ({"allocation_nodes": 0}, "allocated_nodes", 2),
        ({"het": {"job_id": 5, "job_offset": number(0)}}, "log_id", "5+0"),
        ({"het": {"job_id": 5, "job_offset": 2}}, "log_id", "5+2"),
        ({"array": {"job_id": 100, "task_id": number(0)}}, "log_id", "100_0"),
        ({"association": {"user": "u2"}}, "user", "u2"),
        ({"name": "\ud800"}, "executable", "\\ud800"),
        ({"name": 'x"}]{'}, "executable", 'x"}]{'),
    ],
)
def test_shapes(changes: dict[str, Any], name: str, value: object) -> None:
    """The same fact in other shapes."""
    assert one(document(job(**changes)), time_zone=None)[name] == value


def test_gpus_by_type() -> None:
    """Their sum, where the list has no line for all."""
    typed = [{"type": "gres", "name": f"gpu:{kind}", "count": 2} for kind in ("a100", "v100")]
    cpu = {"type": "cpu", "count": 8}
    found = one(document(job(tres={"allocated": [cpu, *typed], "requested": [cpu, *typed]})), time_zone=None)
    assert (found["allocated_gpus"], found["row"]["requested_gpus"]) == (4, 4)


def test_never_started() -> None:
    """Time 0 never came; and where the start is the end, a job without nodes was never started."""
    pending = {"state": {"current": ["CANCELLED"]}, "tres__allocated": [], "nodes": "None assigned"}
    for start in (0, T0 + 660):
        found = one(document(job(time__start=start, **pending)), time_zone=None)
        assert (found["wait_time"], found["run_time"], found["allocated_processors"]) == (None, None, None)


def test_in_the_quarantine() -> None:
    """What has not ended, says nothing, or is no number where one belongs."""
    array = {"job_id": 100, "task_id": NONE, "task": "[1-3,9%2]"}
    jobs = [
        job(state={"current": ["RUNNING"]}, time__end=0),
        job(state={"current": ["PENDING"]}, array=array),
        job(state={}),
        job(time__start="2024"),
        job(user="a\0b", association={}),
        job(time__limit={"number": "x"}),
        job(job_id=None),
        {},
        job(),
    ]
    trace = read(document(*jobs), time_zone=None)
    assert [why for _, why in reasons(trace)] == [
        "not ended: 'RUNNING'",
        "not ended: 'PENDING'",
        "a state that Slurm does not have",
        "time.start is no number",
        "a byte of zero within the record",
        "no job id",
        "no job id",
    ]
    lines = document(*jobs).split("\n")
    assert all(lines[line - 1].strip() in ("{", "{},") for line, _ in reasons(trace))
    assert trace.provenance["anomalies"] == {
        "elements of arrays that had not started, of which a line stands for several": 4,
        "repeats an earlier record: merged into it": 1,
        "suspended for a while, which the run time leaves out": 3,
        "time.limit is no number: taken for missing": 1,
    }
    assert trace.quarantine["text"][6] == "{}"
    assert json.loads(trace.quarantine["text"][3])["time"]["start"] == "2024"


@pytest.mark.parametrize("indent", [None, 0, 2])
@pytest.mark.parametrize("joint", ["", "\n", "\r\n\r\n"])
def test_documents_one_after_another(indent: int | None, joint: str) -> None:
    """Joined files are read to the end; a document without jobs is one."""
    text = joint.join(document(*jobs, indent=indent) for jobs in ([job(job_id=1), job(job_id=2)], [], [job(job_id=3)]))
    trace = read(text, time_zone=None)
    assert [each["log_id"] for each in told(trace)] == ["1", "2", "3"]
    assert trace.quarantine.empty
    assert trace.jobs["line_number"].tolist() == [
        1
        + text[: text.index(f'"job_id": {n},')].count("\n")
        - (0 if indent is None else json.dumps(job(), indent=indent).split('"job_id": 7')[0].count("\n"))
        for n in (1, 2, 3)
    ]


@pytest.mark.parametrize("chunk_bytes", by_day([37, 1, 1000, 4000], 2))
def test_in_chunks(chunk_bytes: int, tmp_path: Path) -> None:
    """Pieces of any size make no difference."""
    jobs = [job(job_id=1), job(job_id=2, state="RUNNING"), job(job_id=3)]
    for text in (
        document(*jobs[:2]) + "\nwords between\n" + document(jobs[2], indent=0) + "\nand behind",
        "sacct: a warning\n" + document(*jobs, indent=None),
        document(*jobs)[:-3000],
    ):
        data = text.encode()
        assert_same(read(data, time_zone=None), in_chunks(data, tmp_path, chunk_bytes, time_zone=None))


def test_a_job_longer_than_a_piece(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A document in one line is handed on in pieces that part jobs, when it is longer than is waited for."""
    monkeypatch.setattr("swftools.formats.accounting.format.LONGEST_RECORD", 100)
    data = document(job(job_id=1), job(job_id=2), job(job_id=3), indent=None).encode() + b"\n"
    assert [each["log_id"] for each in told(in_chunks(data, tmp_path, 240, time_zone=None))] == ["1", "2", "3"]
    data = document(job(job_id=1), job(job_id=2)).encode() + b"\n"
    assert [each["log_id"] for each in told(in_chunks(data, tmp_path, 240, time_zone=None))] == ["1", "2"]


def test_damaged_documents() -> None:
    """What is cut off or is no JSON is in the quarantine, and the jobs around it are read."""
    text = document(job(job_id=1), job(job_id=2), job(job_id=3))
    cut = read(text[: text.index('"job_id": 3')], time_zone=None)
    assert [each["log_id"] for each in told(cut)] == ["1", "2"]
    assert [why for _, why in reasons(cut)] == ["the document ends within this job"]
    assert cut.provenance["anomalies"]["a document that does not end: it may be cut off"] == 1
    broken = read(text.replace('"job_id": 2,', '"job_id": "2,'), time_zone=None)
    assert [each["log_id"] for each in told(broken)] == ["1", "3"]
    assert [why for _, why in reasons(broken)] == ["a job that is no sound JSON"]
    around = read(f"warning: {{}}\n{text}\nend", time_zone=None)
    assert [each["log_id"] for each in told(around)] == ["1", "2", "3"]
    last = text.count("\n") + 3
    assert [line for line, _ in reasons(around)] == [1, last]


def test_a_document_behind_words_in_one_piece() -> None:
    """As at the end of a log; places and lines are those of the piece."""
    text = f"a warning\n{document(job(), job(state='RUNNING'))}\nend"
    records = next(Slurm().records([Stretch(text.encode(), 11, is_last=True)]))
    assert [(each.line, text[each.begin : each.end]) for each in records.rejects] == [
        (11 + text.count("\n"), "end"),
        (11, "a warning"),
    ]
    found = [json.loads(text[begin:end]) for begin, end in zip(records.begin, records.end, strict=True)]
    assert found == [job(), job(state="RUNNING")]
    assert records.line.tolist() == [11 + text.count("\n", 0, begin) for begin in records.begin]


def test_other_documents_are_refused() -> None:
    """What squeue prints a list of jobs too; and a document may have none."""
    with pytest.raises(LogFormatError, match="squeue"):
        read(document({"job_id": 7, "submit_time": 5, "job_state": "RUNNING"}), time_zone=None)
    with pytest.raises(LogFormatError, match='no list "jobs"'):
        read('{"nodes": []}\n', time_zone=None)


def test_recognised() -> None:
    """By the list of jobs."""
    assert Slurm.recognise(document(job()).encode()).fits
