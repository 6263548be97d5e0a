# SPDX-License-Identifier: BSD-3-Clause
"""A queue that is read whole: for whom jobs run, and what they wait for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from swftools.formats.slurm.queue_snapshot import QueueSnapshot, read_squeue

TEXT = """JOBID|ST|CPUS|TIME_LIMIT|TIME|SUBMIT_TIME|START|PRIORITY|REASON|PARTITION|NODELIST|USER|ACCOUNT|QOS|DEPENDENCY
11|RUNNING|16|4:00|1:00|2026-11-24T08:00:00|2026-11-24T08:00:00|90|None|batch|n[01-02]|u1|phys|normal|(null)
12|PENDING|8|30:00|0:00|2026-11-24T08:00:10|N/A|50|Priority|batch,short||u2|bio|high|(null)
13|PENDING|8|30:00|0:00|2026-11-24T08:00:20|N/A|40|Dependency|batch||u2|bio|high|afterok:11(unfulfilled),afterany:12(unfulfilled)
14|PENDING|8|30:00|0:00|2026-11-24T08:00:30|2026-11-24T09:00:00|70|BeginTime|batch||u2|bio|high|(null)
7_[3-4%2]|PENDING|8|30:00|0:00|2026-11-24T08:00:40|N/A|60|JobArrayTaskLimit|batch||u2|bio|high|(null)
15|PENDING|8|30:00|0:00|2026-11-24T08:00:50|N/A|0|JobHeldUser|batch||u2|bio|high|(null)
"""


def read(path: Path, text: str, *, whole: bool = True) -> QueueSnapshot:
    """Read a queue."""
    path.write_text(text, encoding="utf-8")
    return read_squeue(path, whole=whole)


def test_a_text(tmp_path: Path) -> None:
    """Those that wait for something else are there, by priority; those that a person holds are counted."""
    found = read(tmp_path / "now.txt", TEXT)
    waits = found.waiting.set_index("name")
    assert waits.index.tolist() == ["14", "7_3", "7_4", "12", "13"]
    assert (dict(found.held), dict(found.later)) == ({"JobHeldUser": 1}, {})
    assert waits["reason"].tolist() == ["BeginTime", *["JobArrayTaskLimit"] * 2, "Priority", "Dependency"]
    assert waits["preceding"].tolist() == ["", "", "", "", "11 12"]
    assert waits["array"].tolist() == ["", "7", "7", "", ""]
    assert waits["array_limit"].fillna(0).tolist() == [0, 2, 2, 0, 0]
    day = 1_795_478_400.0  # 2026-11-24
    assert (waits["eligible"] - day - 8 * 3600).tolist() == [3600, 40, 40, 10, 20]
    assert set(waits["user"] + waits["account"] + waits["qos"]) == {"u2biohigh"}
    ran = found.running.iloc[0]
    assert (ran["user"], ran["account"], ran["qos"], ran["reason"], ran["nodes"]) == (
        *("u1", "phys", "normal", "", "n[01-02]"),
    )


def test_as_others_take_it(tmp_path: Path) -> None:
    """By default nothing is as it was not."""
    found = read(tmp_path / "now.txt", TEXT, whole=False)
    assert found.waiting["name"].tolist() == ["12"]
    assert dict(found.later) == {"BeginTime": 1, "JobArrayTaskLimit": 2, "Dependency": 1}
    assert "user" not in found.waiting


def test_a_document(tmp_path: Path) -> None:
    """Numbers in both shapes; what is 0 there is not told, but for nodes, of which 0 is any number."""
    job = {
        "job_id": 12,
        "job_state": "PENDING",
        "cpus": 8,
        "time_limit": 30,
        "submit_time": 1000,
        "eligible_time": {"set": True, "number": 1060},
        "array_job_id": 9,
        "array_task_id": 3,
        "array_max_tasks": 4,
        "max_nodes": 0,
        "cpus_per_task": {"set": True, "number": 2},
        "user_name": "u1",
        "account": "phys",
        "qos": "high",
        "dependency": "afterany:7_*(unfulfilled)",
        "state_reason": "Dependency",
    }
    plain = {name: value for name, value in job.items() if name in ("job_id", "job_state", "cpus", "time_limit")}
    document = {"jobs": [job, {**plain, "job_id": 13}], "last_update": 1100}
    waits = read(tmp_path / "now.json", json.dumps(document)).waiting.set_index("name")
    told = waits.loc["9_3"]
    assert (told["user"], told["account"], told["qos"], told["array"], told["preceding"]) == (
        *("u1", "phys", "high", "9", "7"),
    )
    assert told[["array_limit", "max_nodes", "cpus_per_task", "eligible"]].tolist() == [4, 0, 2, 1060]
    lacks = waits.loc["13"]
    assert (lacks["user"], lacks["account"], lacks["array"], lacks["preceding"]) == ("", "", "", "")
    assert np.isnan(lacks[["array_limit", "max_nodes", "cpus_per_task", "eligible"]].astype(float)).all()


def test_what_jobs_are_called(tmp_path: Path) -> None:
    """A name that stands last may have a | of its own; a document tells it, too."""
    lines = TEXT.splitlines()
    text = "\n".join(f"{line}|{'NAME' if not number else f'a|{number}'}" for number, line in enumerate(lines))
    found = read(tmp_path / "now.txt", text.replace("(null)|a|4", "singleton(unfulfilled)|a|4"))
    waits = found.waiting.set_index("name")
    assert waits["called"].tolist() == ["a|4", "a|5", "a|5", "a|2", "a|3"]
    assert waits["preceding"]["14"] == "*"
    job = {"job_id": 12, "job_state": "PENDING", "cpus": 8, "time_limit": 30, "name": "a b"}
    found = read(tmp_path / "now.json", json.dumps({"jobs": [job], "last_update": 1100}))
    assert found.waiting["called"].tolist() == ["a b"]
