# SPDX-License-Identifier: BSD-3-Clause
"""What squeue and sacct print: running and waiting jobs by hand, and lines that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swftools.errors import UnknownLogError, UnreadableLogError
from swftools.formats import read_squeue

HEAD = "JOBID|STATE|CPUS|TIME_LIMIT|TIME|SUBMIT_TIME|NAME"


def written(folder: Path, *lines: str, head: str = HEAD) -> Path:
    """Return a file of lines below a head."""
    path = folder / "now.txt"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return path


def test_what_runs_and_what_waits(tmp_path: Path) -> None:
    """Short and long names of states; waiting jobs in order of submission; the youngest came just now."""
    path = written(
        tmp_path,
        "11|RUNNING|64|4:00:00|1:00:00|2026-11-24T08:00:00|a",
        "14|PD|8|30:00|0:00|2026-11-24T09:40:00|d",
        "12_3|CG|32|1-02:03:04|30|2026-11-24T09:00:00|b",
        "",
        "13|PENDING|96|2-0|0:00|2026-11-24T09:30:00|c",
        "15|COMPLETED|8|30:00|12:00|2026-11-24T07:40:00|e",
    )
    queue = read_squeue(path)
    assert queue.running.values.tolist() == [["11", 64, 14400.0, 3600.0], ["12_3", 32, 93784.0, 1800.0]]
    assert queue.waiting.values.tolist() == [["13", 96, 172800.0, 600.0], ["14", 8, 1800.0, 0.0]]
    assert queue.others == 1


def test_other_names_and_another_order(tmp_path: Path) -> None:
    """Without the times of submission jobs wait in the order of the lines."""
    path = written(tmp_path, "5|7|PD|1:00", "5|3|PD|2:00", head="NUM_CPUS|jobid|ST|timelimit")
    queue = read_squeue(path)
    assert queue.waiting["name"].tolist() == ["7", "3"]
    assert queue.waiting["requested_time"].tolist() == [60.0, 120.0]
    assert queue.waiting["waited"].tolist() == [0.0, 0.0]


def test_jobs_without_a_limit(tmp_path: Path) -> None:
    """They take what is said, and nothing is guessed."""
    path = written(tmp_path, "1|PD|1|UNLIMITED|0:00|N/A|a")
    assert read_squeue(path, longest=900).waiting["requested_time"].tolist() == [900.0]
    with pytest.raises(UnreadableLogError, match=r"now.txt, line 2: the job has no time limit; give .*--longest 7d"):
        read_squeue(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1|PD|1|1:00", "line 2: 4 values for 7 columns"),
        ("1_[1-9]|PD|1|1:00|0:00|N/A|a", r"line 2: 1_\[1-9\] stands for several jobs; ask for each by squeue --array"),
        ("1|PD|0|1:00|0:00|N/A|a", "line 2: CPUS '0' is not a number of processors"),
        ("1|PD|x|1:00|0:00|N/A|a", "line 2: CPUS 'x' is not a number of processors"),
        ("1|PD|1|soon|0:00|N/A|a", "line 2: TIME_LIMIT 'soon' is not a time"),
        ("1|PD|1|1:2:3:4|0:00|N/A|a", "line 2: TIME_LIMIT '1:2:3:4' is not a time"),
        ("1|PD|1|1:00|0:00|yesterday|a", "line 2: SUBMIT_TIME 'yesterday' is not a date"),
    ],
)
def test_lines_that_are_none(line: str, message: str, tmp_path: Path) -> None:
    """One error, with file, line and what to do."""
    with pytest.raises(UnreadableLogError, match=f"now.txt, {message}"):
        read_squeue(written(tmp_path, line))


def test_files_that_are_none(tmp_path: Path) -> None:
    """Not there, empty, a folder, and of another command."""
    with pytest.raises(UnknownLogError, match="no such file; check the path"):
        read_squeue(tmp_path / "none.txt")
    (tmp_path / "empty.txt").touch()
    with pytest.raises(UnreadableLogError, match="it is empty; make it by squeue --array"):
        read_squeue(tmp_path / "empty.txt")
    with pytest.raises(UnreadableLogError, match="Is a directory"):
        read_squeue(tmp_path)
    with pytest.raises(UnreadableLogError, match="line 1: no column STATE, TIME_LIMIT; make it by"):
        read_squeue(written(tmp_path, head="JOBID|CPUS"))


def test_what_sacct_prints(tmp_path: Path) -> None:
    """Its own names of columns; who waits holds no processors yet; steps, and jobs that are over, are passed over."""
    head = "JobID|State|AllocCPUS|ReqCPUS|Timelimit|Elapsed|Submit"
    path = written(
        tmp_path,
        "11|RUNNING|64|60|04:00:00|01:00:00|2026-11-24T08:00:00",
        "11.batch|RUNNING|64|64||01:00:00|2026-11-24T08:00:00",
        "13|PENDING|0|96|2-00:00:00|00:00:00|2026-11-24T09:30:00",
        "9|CANCELLED by 77|8|8|00:30:00|00:12:00|2026-11-24T07:40:00",
        head=head,
    )
    queue = read_squeue(path)
    assert queue.running.values.tolist() == [["11", 64, 14400.0, 3600.0]]
    assert queue.waiting.values.tolist() == [["13", 96, 172800.0, 0.0]]
    assert queue.others == 2
    asked = written(tmp_path, "13|PENDING|96|2:00", head="JobID|State|ReqCPUS|Timelimit")
    assert read_squeue(asked).waiting["processors"].tolist() == [96]


def number(value: float | None) -> dict[str, Any]:
    """Return a number as newer versions write it."""
    return {"set": value is not None, "infinite": False, "number": value or 0}


@pytest.mark.parametrize("is_new", [True, False])
def test_documents_of_squeue(is_new: bool, tmp_path: Path) -> None:
    """Of two versions: numbers by themselves or told to be set, states as words or lists."""
    told = number if is_new else lambda value: value

    def state(word: str) -> Any:
        return [word] if is_new else word

    jobs = [
        {"job_id": 11, "job_state": state("RUNNING"), "cpus": told(64), "time_limit": told(240)}
        | {"start_time": told(1000), "submit_time": told(400)},
        {"job_id": 13, "job_state": state("PENDING"), "cpus": told(96), "time_limit": told(120)}
        | {"start_time": told(9000), "submit_time": told(4000), "array_task_string": "3,5-9:2%4"},
        {"job_id": 15, "job_state": state("COMPLETED"), "cpus": told(1), "time_limit": told(None)},
    ]
    path = tmp_path / "now.json"
    document = {"jobs": jobs} | ({"last_update": number(4600)} if is_new else {})
    path.write_text(json.dumps(document), encoding="utf-8")
    queue = read_squeue(path)
    now = 4600 if is_new else 4000
    assert queue.running.values.tolist() == [["11", 64, 14400.0, now - 1000.0]]
    assert queue.waiting.values.tolist() == [["13", 96, 7200.0, 0.0]] * 4
    assert queue.others == 1


def test_documents_of_sacct(tmp_path: Path) -> None:
    """Processors that are held, else those that are required; a limit that is none."""
    held = [{"type": "mem", "count": 8}, {"type": "cpu", "count": 64}]
    jobs = [
        {"job_id": 11, "state": {"current": ["RUNNING"]}, "tres": {"allocated": held}, "required": {"CPUs": 60}}
        | {"time": {"submission": 400, "start": 1000, "elapsed": 3600, "limit": number(240)}},
        {"job_id": 13, "state": {"current": "PENDING"}, "tres": {"allocated": []}, "required": {"CPUs": 96}}
        | {"time": {"submission": 400, "elapsed": 0, "limit": {"set": False, "infinite": True, "number": 0}}},
    ]
    path = tmp_path / "now.json"
    path.write_text(json.dumps({"jobs": jobs}), encoding="utf-8")
    queue = read_squeue(path, longest=900.0)
    assert queue.running.values.tolist() == [["11", 64, 14400.0, 3600.0]]
    assert queue.waiting.values.tolist() == [["13", 96, 900.0, 0.0]]
    with pytest.raises(UnreadableLogError, match=r"now.json, job 13: the job has no time limit.*--longest 7d"):
        read_squeue(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it is not valid JSON"),
        ('{"jobs": [{"job_id": 1}', "it is not valid JSON"),
        ('{"nodes": []}', 'it has no list "jobs"; give what squeue --json or sacct --json printed'),
        ('{"jobs": [1]}', 'not all of the list "jobs" are jobs'),
        (
            '{"jobs": [{"job_id": 7, "job_state": "PENDING", "time_limit": 5}]}',
            "job 7: CPUS '' is not a number of proc",
        ),
    ],
)
def test_documents_that_are_none(text: str, message: str, tmp_path: Path) -> None:
    """One error with the file, the job, and what to do."""
    path = tmp_path / "now.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableLogError, match=f"now.json.*{message}"):
        read_squeue(path)
