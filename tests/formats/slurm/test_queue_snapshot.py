# SPDX-License-Identifier: BSD-3-Clause
"""What squeue and sacct print: running and waiting jobs by hand, and lines that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from swftools.errors import UnknownLogError, UnreadableLogError
from swftools.formats import read_squeue
from swftools.formats.slurm import queue_snapshot
from swftools.formats.slurm.queue_snapshot import QueueSnapshot
from swftools.formats.slurm.queue_states import waits_for_a_person, waits_for_processors
from swftools.formats.slurm.queue_text import names_of

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
    assert queue.running.values.tolist() == [["11", 64, 14400.0, 3600.0], ["12_3", 32, 1800.0, 1800.0]]
    assert queue.waiting.iloc[:, :4].values.tolist() == [["13", 96, 172800.0, 600.0], ["14", 8, 1800.0, 0.0]]
    assert queue.others == 1


def test_what_ends_takes_no_longer_than_it_ran(tmp_path: Path) -> None:
    """One second where it has hardly run: no run is shorter."""
    ends = [
        f"{number}|CG|4|30:00|{ran}|2026-11-24T08:00:00|a" for number, ran in ((1, "0:00"), (2, "0:01"), (3, "0:02"))
    ]
    assert read_squeue(written(tmp_path, *ends)).running["requested_time"].tolist() == [1.0, 1.0, 2.0]


def test_of_equal_priorities_who_came_first_is_first(tmp_path: Path) -> None:
    """Whatever the order of the lines."""
    lines = [f"{number}|PD|4|30:00|0:00|2026-11-24T0{hour}:00:00|a|70" for number, hour in ((1, 9), (2, 8), (3, 7))]
    queue = read_squeue(written(tmp_path, *lines, head=f"{HEAD}|PRIORITY"))
    assert queue.waiting["name"].tolist() == ["3", "2", "1"]


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
        ("1_[1-x]|PD|1|1:00|0:00|N/A|a", r"line 2: 1_\[1-x\] does not say for which jobs it stands; ask for each by"),
        ("1|PD|0|1:00|0:00|N/A|a", "line 2: CPUS '0' is not a number of processors"),
        ("1|PD|x|1:00|0:00|N/A|a", "line 2: CPUS 'x' is not a number of processors"),
        ("1|PD|1|soon|0:00|N/A|a", "line 2: TIME_LIMIT 'soon' is not a time"),
        ("1|PD|1|1:2:3:4|0:00|N/A|a", "line 2: TIME_LIMIT '1:2:3:4' is not a time"),
        ("1|PD|1|1:00|0:00|yesterday|a", "line 2: SUBMIT_TIME 'yesterday' is no date such as"),
    ],
)
def test_lines_that_are_none(line: str, message: str, tmp_path: Path) -> None:
    """One error, with file, line and what to do."""
    with pytest.raises(UnreadableLogError, match=f"now.txt, {message}"):
        read_squeue(written(tmp_path, line))


def test_a_priority_that_is_none(tmp_path: Path) -> None:
    """It is told like all the others."""
    path = written(tmp_path, "1|PD|1|1:00|high", head="JOBID|STATE|CPUS|TIME_LIMIT|PRIORITY")
    with pytest.raises(UnreadableLogError, match=r"now.txt, line 2: PRIORITY 'high' is not a number; make it by"):
        read_squeue(path)


def test_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not there, empty, a folder, and of another command."""
    with pytest.raises(UnknownLogError, match="no such file; check the path"):
        read_squeue(tmp_path / "none.txt")
    (tmp_path / "empty.txt").touch()
    with pytest.raises(UnreadableLogError, match="it is empty; make it by squeue --array"):
        read_squeue(tmp_path / "empty.txt")
    with monkeypatch.context() as patch:
        patch.setattr(queue_snapshot, "PRINTED_LIMIT", len(HEAD))  # the end of the line is too much
        with pytest.raises(UnreadableLogError, match="bytes: is this the right file"):
            read_squeue(written(tmp_path))
    with pytest.raises(UnreadableLogError, match="Is a directory"):
        read_squeue(tmp_path)
    with pytest.raises(UnreadableLogError, match="line 1: no column STATE, TIME_LIMIT; make it by"):
        read_squeue(written(tmp_path, head="JOBID|CPUS"))


def test_the_processors_that_sacct_says_a_waiting_job_asks_for(tmp_path: Path) -> None:
    """Without AllocCPUS those of ReqCPUS are all there is."""
    asked = written(tmp_path, "13|PENDING|96|2:00", head="JobID|State|ReqCPUS|Timelimit")
    assert read_squeue(asked).waiting["processors"].tolist() == [96]


def test_waiting_no_longer_than_those_before(tmp_path: Path) -> None:
    """Policies take those first that waited longer, so the order of the queue stays; unknown priorities come last."""
    head = "JOBID|STATE|CPUS|TIME_LIMIT|SUBMIT_TIME|PRIORITY"
    path = written(
        tmp_path,
        "1|PD|1|1:00|2026-11-24T08:00:00|N/A",
        "2|PD|1|1:00|2026-11-24T08:00:00|10",
        "3|PD|1|1:00|2026-11-24T09:00:00|30",
        "4|PD|1|1:00|2026-11-24T08:30:00|30",
        "5|PD|1|1:00|2026-11-24T09:10:00|20",
        head=head,
    )
    waiting = read_squeue(path).waiting
    assert waiting["name"].tolist() == ["4", "3", "5", "2", "1"]
    assert waiting["waited"].tolist() == [2400.0, 600.0, 0.0, 0.0, 0.0]
    assert waiting["priority"].tolist()[:4] == [30.0, 30.0, 20.0, 10.0]


def test_jobs_without_a_limit_in_a_document(tmp_path: Path) -> None:
    """They take what is said, or the error names the job."""
    job = {"job_id": 13, "job_state": ["PENDING"], "cpus": 96, "time_limit": {"set": False, "infinite": True}}
    path = tmp_path / "now.json"
    path.write_text(json.dumps({"jobs": [job]}), encoding="utf-8")
    assert read_squeue(path, longest=900.0).waiting["requested_time"].tolist() == [900.0]
    with pytest.raises(UnreadableLogError, match=r"now.json, job 13: the job has no time limit.*--longest 7d"):
        read_squeue(path)


@pytest.mark.parametrize(
    ("reason", "needs"),
    [
        ("JobHeldAdmin", "person"),
        ("JobHeldUser", "person"),
        ("JobHoldMaxRequeue", "person"),
        ("job requeued in held state", "person"),
        ("user env retrieval failed requeued held", "person"),
        ("DependencyNeverSatisfied", "person"),
        ("BadConstraints", "person"),
        ("PartitionDown", "person"),
        ("PartitionInactive", "person"),
        ("PartitionTimeLimit", "person"),
        ("PartitionNodeLimit", "person"),
        ("InvalidAccount", "person"),
        ("QOSNotAllowed", "person"),
        ("ReservationDeleted", "person"),
        ("AssocMaxWallDurationPerJobLimit", "person"),
        ("QOSMaxGRESMinutesPerJob", "person"),
        ("QOSMaxCpuPerNode", "person"),
        ("QOSMinCpuNotSatisfied", "person"),
        ("(QOSMinGRES)", "person"),
        ("AssocGrpCpuLimit", "time"),
        ("AssocGrpCPUMinutesLimit", "time"),
        ("AssocMaxJobsLimit", "time"),
        ("QOSMaxJobsPerUserLimit", "time"),
        ("QOSGrpNodeLimit", "time"),
        ("MaxCpuPerAccount", "time"),
        ("Licenses", "time"),
        ("Reservation", "time"),
        ("Dependency", "time"),
        ("BeginTime", "time"),
        ("JobArrayTaskLimit", "time"),
        ("ReqNodeNotAvail(Unavailable:n[1-9])", "time"),
        ("BurstBufferStageIn", "time"),
        ("AReasonOfTheFuture", "time"),
        ("None", "processors"),
        ("(null)", "processors"),
        ("", "processors"),
        ("(Priority)", "processors"),
        ("Resources", "processors"),
        ("Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions", "processors"),
    ],
)
def test_what_a_reason_says(reason: str, needs: str) -> None:
    """It needs a person, goes by with time, or is only that there are too few processors."""
    found = "person" if waits_for_a_person(reason, 5.0) else "processors" if waits_for_processors(reason) else "time"
    assert found == needs
    assert waits_for_a_person(reason, 0.0)


@pytest.mark.parametrize(
    ("job", "names"),
    [
        ("7", ["7"]),
        ("7_3", ["7_3"]),
        ("7+1", ["7+1"]),
        ("7_[3]", ["7_3"]),
        ("7_[0-8:4,11%3]", ["7_0", "7_4", "7_8", "7_11"]),
        ("7_[0x1F8]", ["7_3", "7_4", "7_5", "7_6", "7_7", "7_8"]),
    ],
)
def test_for_which_jobs_an_id_stands(job: str, names: list[str]) -> None:
    """One, or each task that waits."""
    assert names_of(job, "here") == names


def test_an_array_of_the_size_of_the_universe() -> None:
    """It is refused before there are as many names."""
    with pytest.raises(UnreadableLogError, match=r"here: 7_.0-99999999999. stands for more tasks than a job array can"):
        names_of("7_[0-99999999999]", "here")


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
        ('{"jobs": [{"id": 7}]}', "its jobs have no state, so it is not of Slurm; give what squeue --json"),
    ],
)
def test_documents_that_are_none(text: str, message: str, tmp_path: Path) -> None:
    """One error with the file, the job, and what to do."""
    path = tmp_path / "now.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableLogError, match=f"now.json.*{message}"):
        read_squeue(path)


def test_one_made_by_hand_has_no_other_jobs() -> None:
    """Only what is given stands in it."""
    none = pd.DataFrame()
    made = QueueSnapshot(none, none)
    assert (made.others, made.suspended, made.held, made.later, made.present) == (0, 0, {}, {}, None)
