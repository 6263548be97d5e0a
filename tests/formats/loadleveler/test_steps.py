# SPDX-License-Identifier: BSD-3-Clause
"""Steps drawn by hand: each label and option, and what becomes of it."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import pytest

from swftools import Trace, iter_log, read_log

SOUND = {
    "Queue Date": "Tue Jul  6 09:00:00 PDT 2004",
    "Status": "Completed",
    "Dispatch Time": "Tue Jul  6 09:01:00 PDT 2004",
    "Completion Date": "Tue Jul  6 10:01:00 PDT 2004",
    "Completion Code": "0",
    "Node Usage": "not_shared",
    "Alloc. Host Count": "2",
    "Class": "normal",
}
NODES = """--------------------------------------------------------------------------------
Node
----

   Requirements    : (Arch == "R6000")
   Node minimum    : 1
   Node maximum    : 3
   Node actual     : 2
   Allocated Hosts : a1::
                   + a2::

   Master Task
   -----------

      Executable   : /u/x/run
      Num Task Inst: 1
      Task Instance: a1:-1:,

   Task
   ----

      Num Task Inst: 6
      Task Instance: a1:0:,
--------------------------------------------------------------------------------
"""


def _label(word: str) -> str:
    """Return the label that a word of Python stands for."""
    return word if word == "Task_geometry" else word.replace("_", " ")


def step(name: str = "s.1.0", rest: str = "", **labels: str | None) -> str:
    """Return a step; labels are written with _ for blanks, and None leaves one out."""
    chosen: dict[str, str | None] = {**SOUND, **{_label(key): value for key, value in labels.items()}}
    lines = [f"{label:>19}: {value}".rstrip() for label, value in chosen.items() if value is not None]
    return f"=== Job Step {name} ===\n" + "\n".join(lines) + "\n" + rest


def read(text: str, **options: Any) -> Trace:
    """Read a listing."""
    return read_log(io.BytesIO(text.encode()), "loadleveler", **{"processors_per_node": 8, **options})


def one(text: str, **options: Any) -> dict[str, Any]:
    """Return the only job of a listing, None for what is missing."""
    row = read(text, **options).jobs.to_dict("records")
    assert len(row) == 1
    return {name: None if pd.isna(value) else value for name, value in row[0].items()}


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        ({}, {"wait_time": 60, "run_time": 3600, "allocated_processors": 16, "status": 1, "allocated_nodes": 2}),
        ({"Start_Time": "Tue Jul  6 09:02:00 PDT 2004"}, {"wait_time": 120, "run_time": 3540}),
        ({"Start_Time": "", "Status": "Removed"}, {"wait_time": None, "run_time": None, "status": 5}),
        ({"Status": "Not Run"}, {"wait_time": None, "run_time": None, "status": 5, "allocated_processors": None}),
        ({"Status": "Rejected"}, {"wait_time": None, "status": 0, "allocated_nodes": None}),
        ({"Status": "C"}, {"status": 1}),
        ({"Status": "cancelled"}, {"status": 5}),
        ({"Status": "Vacated"}, {"status": 5}),
        (
            {"Status": "Removed", "Wall_Clk_Hard_Limit": "00:59:59 (3599 seconds)"},
            {"status": 0, "requested_time": 3599},
        ),
        ({"Status": "Removed", "Wall_Clk_Hard_Limit": "01:00:00 (3600 seconds)"}, {"status": 5}),
        ({"Completion_Code": "256"}, {"status": 0, "exit_code": 1, "exit_signal": 0}),
        ({"Completion_Code": "9"}, {"status": 0, "exit_code": 0, "exit_signal": 9}),
        ({"Completion_Code": "74"}, {"exit_signal": 74}),
        ({"Completion_Code": ""}, {"status": 1}),
        ({"Start_Count": "3"}, {"restarts": 2}),
        ({"Step_Type": "Serial"}, {"allocated_processors": 1, "requested_processors": 1}),
        ({"Task_geometry": "{(0,1,2)(3,4)}"}, {"allocated_processors": 16, "requested_processors": 5}),
        ({"Task_geometry": "{(0,1,2)(3,4)}", "Node_Usage": "shared"}, {"allocated_processors": 5}),
        ({"Min_Processors": "2", "Max_Processors": "6"}, {"requested_processors": 6, "fewest_processors": 2}),
        ({"Step_User_Time": "1+00:00:00.500000", "Step_System_Time": "00:00:07.5"}, {"average_cpu_time": 86408 / 16}),
        ({"Step_User_Time": "00:00:32.0"}, {"average_cpu_time": 2}),
        ({"Step_Total_Time": "00:01:20.0"}, {"average_cpu_time": 5}),
        ({"Step_User_Time": "00:00:00.0", "Step_System_Time": "00:00:00.0"}, {"average_cpu_time": None}),
        ({"Step_maxrss": "4096"}, {"used_memory": 4096}),
        ({"Step_maxrss": "0"}, {"used_memory": None}),
        ({"Step_Real_Memory": "16.000 mb"}, {"requested_memory": 1024}),
        ({"Step_Real_Memory": "0.000 mb"}, {"requested_memory": None}),
        ({"Resources": "ConsumableCpus(1) ConsumableMemory(2 gb)"}, {"requested_memory": 2 * 2**20}),
        ({"Resources": "ConsumableMemory(500)", "Step_Real_Memory": "1 gb"}, {"requested_memory": 500 * 1024}),
        ({"Wall_Clk_Soft_Limit": "undefined", "Wall_Clk_Hard_Limit": "2+00:00:00"}, {"requested_time": 172800}),
        ({"Wall_Clk_Soft_Limit": "unlimited", "Wall_Clk_Hard_Limit": "unlimited"}, {"requested_time": None}),
        ({"Dependency": "step1 == 0"}, {"dependency": "step1 == 0", "preceding_job_number": None}),
        ({"Job_Step_Id": "other.7.1"}, {"log_id": "other.7.1"}),
        ({"Comment": "Status: Idle"}, {"status": 1}),
        ({"Eligibility_Time": "Tue Jul  6 09:00:30 PDT 2004"}, {"wait_time": 60, "eligible_time": 30}),
    ],
)
def test_labels(labels: dict[str, str], wanted: dict[str, Any]) -> None:
    """What each label says stands in the job."""
    found = one(step(**labels))
    assert {name: found.get(name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("options", "labels", "wanted"),
    [
        ({"requested_time": "hard"}, {"Wall_Clk_Soft_Limit": "1:00:00", "Wall_Clk_Hard_Limit": "1:00:10"}, 3610),
        ({"requested_time": "soft"}, {"Wall_Clk_Soft_Limit": "1:00:00", "Wall_Clk_Hard_Limit": "1:00:10"}, 3600),
        ({"submit": "eligible"}, {"Eligibility_Time": "Tue Jul  6 09:00:30 PDT 2004"}, 30),
        ({"submit": "eligible"}, {}, 60),
        ({"completion_code": "plain"}, {"Completion_Code": "256"}, 256),
        ({"processors_per_node": {"n": 4}}, {"Allocated_Host": "n1", "Alloc._Host_Count": "2"}, 8),
        ({"processors_per_node": {"thin": 4}}, {"Requirements": '(Feature == "thin")'}, 8),
        ({"processors_per_node": 1}, {}, 2),
    ],
)
def test_options(options: dict[str, Any], labels: dict[str, str], wanted: float) -> None:
    """Each way to read what sites do differently."""
    column = {"submit": "wait_time", "completion_code": "exit_code", "processors_per_node": "allocated_processors"}
    assert one(step(**labels), **options)[column.get(next(iter(options)), "requested_time")] == wanted


def test_nodes_and_tasks() -> None:
    """The part about nodes: the master task does not count, dedicated nodes count whole."""
    found = one(step(rest=NODES))
    assert (found["allocated_nodes"], found["requested_nodes"], found["allocated_processors"]) == (2, 3, 16)
    assert (found["requested_processors"], found["fewest_processors"]) == (24, 8)
    shared = one(step(rest=NODES, Node_Usage="shared"))
    assert shared["allocated_processors"] == 6
    assert one(step(rest=NODES), processors_per_node=None)["allocated_processors"] == 6, "tasks, where no more is known"
    blocking = NODES.replace(
        "Node minimum    : 1\n   Node maximum    : 3", "Blocking        : 4\n   Total Tasks     : 10"
    )
    assert one(step(rest=blocking))["requested_processors"] == 10
    twice = one(step(rest=NODES + NODES.partition("\n")[2], Node_Usage="shared", Task_geometry="{(0)(1)}"))
    assert (twice["allocated_nodes"], twice["allocated_processors"]) == (4, 12), "a block for each set of tasks"
    names = read(step(rest=NODES)).names
    assert names[names["kind"] == "executable"]["name"].tolist() == ["/u/x/run"]


def test_nodes_of_two_kinds_in_one_step() -> None:
    """They are added, and it is told."""
    hosts = "     Allocated Host: thin1\n                     fat1\n                     fat2\n"
    trace = read(step(rest=hosts, **{"Alloc._Host_Count": "3"}), processors_per_node={"thin": 4, "fat": 32})
    assert trace.jobs["allocated_processors"].tolist() == [68]
    assert trace.names[trace.names["kind"] == "partition"]["name"].tolist() == ["thin"], "the last kind by name"
    assert trace.provenance["anomalies"] == {"nodes of several kinds in one job": 1}
    alike = read(step(rest=hosts.replace("thin1", "fat3")), processors_per_node={"thin": 4, "fat": 32})
    assert "nodes of several kinds in one job" not in alike.provenance["anomalies"]


@pytest.mark.parametrize(("starts", "restarts"), [("1", 0), ("2", 1)])
def test_the_first_start_is_no_restart(starts: str, restarts: int) -> None:
    """The count is of starts."""
    assert one(step(Start_Count=starts))["restarts"] == restarts


def test_what_is_odd_is_told() -> None:
    """Hosts that are not as many as are said, more tasks than processors, and a zone that is not the one given."""
    hosts = "     Allocated Host: a\n                     b\n                     c\n"
    odd = [step(rest=hosts), step("s.2.0", rest=NODES.replace(": 6", ": 99"))]
    trace = read("".join(odd), time_zone="Europe/Berlin")
    assert set(trace.provenance["anomalies"]) == {
        "the hosts that are listed are not as many as Alloc. Host Count says",
        "more tasks than processors of its nodes",
        *(
            f"{label} printed with another zone than time_zone says"
            for label in SOUND
            if label.endswith(("Date", "Time"))
        ),
    }


def test_a_step_after_another() -> None:
    """By its name or its number, of the same job alone; the think time is from its end."""
    late = {"Dispatch_Time": "Tue Jul  6 11:00:00 PDT 2004", "Completion_Date": "Tue Jul  6 12:00:00 PDT 2004"}
    eligible = "Tue Jul  6 10:01:30 PDT 2004"
    steps = [
        step("s.1.0", Step_Name="first"),
        step("s.1.1", Step_Name="second", Dependency="first == 0", Eligibility_Time=eligible, **late),
        step("s.2.0", Step_Name="0", Dependency="first == 0"),
        step("s.1.2", Step_Name="third", Dependency="(first == 0) && (second == 0)", **late),
        step("s.1.3", Step_Name="4", Dependency="(second == 0) || (first == 0)", Eligibility_Time=eligible, **late),
        step("s.1.4", Step_Name="5", Dependency="(second == 0) || (sixth == 0)", **late),
    ]
    jobs = read("".join(steps)).jobs.set_index("log_id")
    before = {"s.1.0": 0, "s.1.1": 1, "s.2.0": 0, "s.1.2": 0, "s.1.3": 1, "s.1.4": 0}
    assert jobs["preceding_job_number"].fillna(0).to_dict() == before
    assert jobs["preceding_job_numbers"].dropna().to_dict() == {"s.1.2": [1, 2]}
    think = {"s.1.0": -1, "s.1.1": 30, "s.2.0": -1, "s.1.2": -1, "s.1.3": 30, "s.1.4": -1}
    assert jobs["think_time"].fillna(-1).to_dict() == think


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ({"Queue_Date": None}, "no Queue Date"),
        ({"Status": None}, "no Status"),
        ({"Class": None}, "no Class"),
        ({"Status": "Starting"}, "not ended: 'Starting'"),
        ({"Status": "Happy"}, "a state that LoadLeveler does not have: 'Happy'"),
        ({"Status": ""}, "a state that LoadLeveler does not have"),
        ({"Queue_Date": "soon"}, "Queue Date is no time: 'soon'"),
        ({"Completion_Date": ""}, "no Completion Date"),
        ({"Owner": "a\0b"}, "a byte of zero within the record"),
        ({"Alloc._Host_Count": "0"}, "no hosts and no tasks of a step that ran"),
        ({"Step_User_Time": "-00:00:07"}, "negative cpu_time"),
        ({"Completion_Date": "Tue Jul  6 09:00:59 PDT 2004"}, "end before start"),
        ({"Queue_Date": "Tue Jul  6 09:00:00 PDT 1904"}, "submit before 1970"),
        ({"Alloc._Host_Count": "9999999999"}, "allocated_processors beyond 2.14748e+09"),
    ],
)
def test_what_is_no_job(labels: dict[str, str | None], reason: str) -> None:
    """It is told with the line and the reason, and the step beside it is read."""
    trace = read(step("s.0.0") + step(**labels) + step("s.2.0"))
    assert trace.quarantine[["line_number", "reason"]].to_numpy().tolist() == [[10, reason]]
    assert trace.jobs["log_id"].tolist() == ["s.0.0", "s.2.0"]


def test_a_label_that_stands_twice() -> None:
    """With one value it is one; with two nothing tells which."""
    assert len(read(step(rest="  Class: normal\n")))
    assert read(step(rest="  Class: high\n")).quarantine["reason"].tolist() == ["a label stands twice, with two values"]


def test_a_job_of_very_many_steps() -> None:
    """What its header says holds for all of them, also behind megabytes."""
    head = "===== Job s.1 =====\n    Owner: anna\n"
    long = f"    Comment: {'x' * 5000}\n"
    text = head + "".join(step(f"s.1.{number}", rest=long).replace("===", "---") for number in range(300))
    pieces = iter_log(io.BytesIO(text.encode()), "loadleveler", chunk_bytes=1 << 20, processors_per_node=8)
    assert [piece.jobs["user_id"].tolist() for piece in pieces if len(piece)] == [[1] * 300]


def test_labels_in_any_order() -> None:
    """Where they stand says nothing."""
    head, *lines = step(rest="    Step maxrss: 7\n").splitlines()
    backwards = "\n".join([head, *reversed(lines)]) + "\n"
    assert one(backwards) == one(step(rest="    Step maxrss: 7\n"))


@pytest.mark.parametrize(
    ("label", "value", "told"),
    [
        ("Completion_Code", "many", "Completion Code is no number"),
        ("Start_Count", "1x", "Start Count is no number"),
        ("Min_Processors", "few", "Min Processors is no number"),
        ("Step_maxrss", "big", "Step maxrss is no number"),
        ("Step_User_Time", "long", "Step User Time is no duration"),
        ("Wall_Clk_Hard_Limit", "some", "Wall Clk Hard Limit is no duration"),
        ("Step_Real_Memory", "big", "Step Real Memory is no size"),
        ("Eligibility_Time", "soon", "Eligibility Time is no time"),
    ],
)
def test_what_a_job_need_not_have(label: str, value: str, told: str) -> None:
    """A value that cannot be read is missing, and counted; the step is a job."""
    trace = read(step("s.0.0") + step(**{label: value}))
    assert (len(trace), len(trace.quarantine)) == (2, 0)
    assert trace.provenance["anomalies"][f"{told}: taken for missing"] == 1


def test_a_tail_that_is_cut_off() -> None:
    """Within a line, or between two: the labels that other steps have behind it are missing, or a value."""
    whole = step("s.0.0") + step()
    code = whole.rindex("    Completion Code")
    for cut in (whole[: whole.rindex(" normal")], whole[: code + 12], whole[:code]):
        trace = read(cut)
        assert (len(trace), trace.quarantine["reason"].tolist()) == (1, ["the log is cut off within this record"])
    assert len(read(whole)) == len(read(whole[:-1])) == 2


def test_a_job_without_steps_gives_nothing_to_the_step_before_it() -> None:
    """Whether the log is read in one piece or in many: what a step inherits is its own job's."""
    headless = "".join(line for line in step("s.0.0").splitlines(keepends=True) if "Owner" not in line)
    empty = "===== Job s.9 =====\n Owner: eve\n"
    text = (headless + empty + empty).encode()
    assert "eve" not in read_log(io.BytesIO(text), "loadleveler", processors_per_node=8).names["name"].tolist()
    for cut in (1, 40):
        pieces = list(iter_log(io.BytesIO(text), "loadleveler", chunk_bytes=cut, processors_per_node=8))
        assert sum(map(len, pieces)) == 1
        assert all("eve" not in piece.names["name"].tolist() for piece in pieces)
