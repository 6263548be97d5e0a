# SPDX-License-Identifier: BSD-3-Clause
"""Schedules from elsewhere that say on which nodes jobs ran."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.simulator.validation.foreign_nodes import ranges_of
from swftools.simulator.validation.foreign_schedules import read_schedule
from swftools.simulator.validation.report import ValidationReport, validate
from tests.node_schedules import simulated, trace_of
from tests.nodes_drawn import draw_workload, random_workload
from tests.nodes_drawn import ranges_of as text_of

WORKLOAD = draw_workload(
    "count cores / 4 4",
    "p:0-3",
    "job submit run nodes cores alone / A 0 10 2 3 . / B 1 5 1 4 . / C 2 5 3 4 . / D 2 8 1 1 x / E 3 1 5 1 .",
)
"""C waits from 2 s to 10 s; E can never run."""

STARTS = {"job_id": [1, 2, 3, 4], "start": [0, 1, 10, 2], "nodes": ["0-1", "2", "0-2", "3"]}


def check(table: pd.DataFrame | Path, **options: Any) -> ValidationReport:
    """Check a table of starts of this workload."""
    given = {"policy": "easy", "semantics": "instant", "machine": WORKLOAD.table, "asked": WORKLOAD.asked, **options}
    return validate(table, trace=trace_of(WORKLOAD), **given)


def test_a_table_with_nodes_is_checked() -> None:
    """Who could never run may be left out; promises are those of the nodes."""
    report = check(pd.DataFrame(STARTS))
    assert report.ok, report
    assert {"node-capacity", "asked", "backfilling"} <= set(report.checked)
    assert report.processors == 16


@pytest.mark.parametrize(
    ("column", "value", "rules"),
    [
        ("nodes", ["0-1", "1", "0-2", "3"], {"node-capacity"}),
        ("nodes", ["0-1", "2", "0-2", "1"], {"exclusive"}),
        ("nodes", ["0-1", "2", "0-1", "3"], {"nodes", "asked"}),
        ("nodes", ["0-1", "2", "0-2", "4"], {"nodes"}),
        ("nodes", ["0-1", "", "0-2", "3"], {"nodes"}),
        ("nodes", ["0-1", "2,2", "0-2", "3"], {"nodes"}),
        ("start", [0, 1, 12, 2], {"head-reservation", "no-idle-head"}),
        ("processors", [6, 4, 12, 3], {"nodes"}),
    ],
)
def test_what_is_wrong_with_its_nodes_is_told(column: str, value: list[Any], rules: set[str]) -> None:
    """As of a schedule of ours."""
    told = {"processors": [6, 4, 12, 4]} if column != "start" else {}
    report = check(pd.DataFrame({**STARTS, **told, column: value}))
    assert set(report.violations["rule"]) == rules, report


@pytest.mark.parametrize("lists", [["1,0", "2", "0 1-2", "3"], ["0, 1", "2-2", "0,1,2", " 3 "]])
def test_numbers_may_stand_in_any_order(lists: list[str]) -> None:
    """Between commas or blanks."""
    assert check(pd.DataFrame({**STARTS, "nodes": lists})).ok


def test_who_cannot_run_and_did_is_told() -> None:
    """E asks for more nodes than there are."""
    whole = {"job_id": [1, 2, 3, 4, 5], "start": [0, 1, 10, 2, 20], "nodes": ["0-1", "2", "0-2", "3", "0-3"]}
    report = check(pd.DataFrame(whole))
    assert report.violations["message"].tolist() == [
        "job 5 cannot run on this machine: asks for more than the machine has"
    ]


def test_a_schedule_without_jobs_can_be() -> None:
    """If none of the trace can run."""
    workload = draw_workload("cores / 1", "p:0", "job submit run nodes / A 0 1 2")
    table = pd.DataFrame({"job_id": [], "start": [], "nodes": []})
    report = validate(table, trace=trace_of(workload), machine=workload.table, asked=workload.asked, policy="easy")
    assert report.ok, report
    assert validate(simulated(workload, "fcfs"), trace=trace_of(workload), asked=workload.asked).ok


def test_other_names_of_the_column() -> None:
    """The first that is there counts."""
    table = pd.DataFrame(STARTS)
    assert check(table.rename(columns={"nodes": "node_list"})).ok
    assert not check(table.rename(columns={"nodes": "hosts"}).assign(nodes=["0-1", "1", "0-2", "3"])).ok


@pytest.mark.parametrize(
    ("lists", "is_fine"),
    [
        ([[0, 1], [2, 2], [0, 2], [3, 3]], True),
        ([np.array([0, 1]), np.array([2, 2]), np.array([0, 0, 1, 2]), np.array([3, 3])], True),
        ([[0, 1], [1, 1], [0, 2], [3, 3]], False),
        ([[0, 1], None, [0, 2], [3, 3]], False),
    ],
)
def test_ranges_may_be_lists_as_in_files_of_our_segments(lists: list[Any], *, is_fine: bool) -> None:
    """The first and the last number of each."""
    assert check(pd.DataFrame({**STARTS, "nodes": lists})).ok == is_fine


@pytest.mark.parametrize("ranges", [[0, 1, 2], np.array([0])])
def test_a_list_that_is_no_ranges_is_refused(ranges: Any) -> None:
    """Nothing of it is left out without a word."""
    message = f"job 2 of the schedule: nodes has a list of {len(ranges)} numbers, which are no ranges; give the first"
    with pytest.raises(ParameterError, match=message):
        check(pd.DataFrame({**STARTS, "nodes": [[0, 1], ranges, [0, 2], [3, 3]]}))


def test_partitions_may_have_numbers_for_names() -> None:
    """Also where one cell is empty, so that pandas reads 1.0."""
    workload = draw_workload("count cores / 2 4", "1:0-1", "job submit run / A 0 10 / B 1 5")
    given = {"trace": trace_of(workload), "machine": workload.table, "asked": workload.asked}
    table = pd.DataFrame({"job_id": [1, 2], "start": [0, 1], "nodes": [0, 1]})
    for partition in ([1, 1], [1.0, np.nan], ["1", None], pd.array([1, None], dtype="Int64")):
        assert (report := validate(table.assign(partition=partition), **given)).ok, report
    assert not validate(table.assign(partition=[1.5, np.nan]), **given).ok


def test_who_is_not_in_the_table_and_could_have_run_is_lost() -> None:
    """The width that the log has is not what the machine asks: here it is wider than all cores, or missing."""
    trace = trace_of(WORKLOAD)
    table = pd.DataFrame(STARTS).drop(index=1)
    for width in (99, None):
        wide = trace.jobs["requested_processors"].where(trace.jobs["job_number"] != 2, width)
        report = validate(
            table,
            trace=trace.with_jobs(trace.jobs.assign(requested_processors=wide)),
            machine=WORKLOAD.table,
            asked=WORKLOAD.asked,
        )
        assert report.violations["message"].tolist() == ["job 2 of the trace is neither in the schedule nor excluded"]


def test_segments_of_ours_are_a_table_of_starts(tmp_path: Path) -> None:
    """As Parquet has them."""
    path = tmp_path / "segments.parquet"
    simulated(WORKLOAD, "easy").segments.to_parquet(path)
    assert (report := check(path)).ok, report


@pytest.mark.parametrize("text", [None, "[0, 1]", "[0 1\n 3 3]"])
def test_segments_as_csv_are_refused_with_a_remedy(text: str | None, tmp_path: Path) -> None:
    """Their lists are text there; so are those of others, which may be nodes or ranges."""
    path = tmp_path / "segments.csv"
    segments = simulated(WORKLOAD, "easy").segments
    (segments if text is None else segments.assign(nodes=text)).to_csv(path, index=False)
    with pytest.raises(
        ParameterError, match=r"job 1 of the .* is a list of Python as text.*write schedule\.to_csv\(\)"
    ):
        check(path)


def test_a_job_on_one_node_may_have_its_number_only() -> None:
    """Also where others have none, so that it is read as 1.0."""
    workload = draw_workload("count cores / 2 4", "p:0-1", "job submit run / A 0 10 / B 1 5")
    given = {"trace": trace_of(workload), "machine": workload.table, "asked": workload.asked}
    assert validate(pd.DataFrame({"job_id": [1, 2], "start": [0, 1], "nodes": [0, 1]}), **given).ok
    report = validate(pd.DataFrame({"job_id": [1, 2], "start": [0, 1], "nodes": [1.0, np.nan]}), **given)
    assert set(report.violations["job_number"]) == {2}


def test_a_table_without_nodes_is_refused() -> None:
    """The column that lacks is named."""
    with pytest.raises(ParameterError, match="no column nodes or allocated_resources or node_list or hosts"):
        check(pd.DataFrame(STARTS).drop(columns="nodes"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-99999999", "job 2 of the schedule: nodes '0-99999999' are more than any machine has"),
        ("99999999999999999999", "more than any machine has"),
        (",".join(["0-9999999"] * 50), "more than any machine has"),
        ("3-2", "nodes 3-2 is no range; write the lesser number first"),
    ],
)
def test_a_list_that_cannot_be_is_refused(text: str, message: str) -> None:
    """In one sentence, before it takes the memory."""
    with pytest.raises(ParameterError, match=message):
        check(pd.DataFrame({**STARTS, "nodes": ["0-1", text, "0-2", "3"]}))


def test_nodes_are_nothing_to_a_pool() -> None:
    """Without a machine the table is one of processors."""
    report = check(pd.DataFrame(STARTS), machine=None, asked=None)
    assert "node-capacity" not in report.checked


def test_the_schedule_of_batsim(tmp_path: Path) -> None:
    """Its resources are nodes; their number is no number of cores."""
    path = tmp_path / "jobs.csv"
    path.write_text(
        "job_id,submission_time,requested_number_of_resources,starting_time,execution_time,finish_time,"
        "allocated_resources\n"
        "w0!1,0,2,0,10,10,0-1\nw0!2,1,1,1,5,6,2\nw0!3,2,3,10,5,15,0-2\nw0!4,2,1,2,8,10,3\nw0!5,3,5,,,,\n"
    )
    assert check(path).ok
    path.write_text(path.read_text().replace("10,3\n", "10,2\n"))
    report = check(path)
    assert set(report.violations["rule"]) == {"exclusive"}, report


def test_partitions_may_be_told() -> None:
    """They are then checked too."""
    table = pd.DataFrame(STARTS)
    assert check(table.assign(partition="p")).ok
    assert set(check(table.assign(partition="q")).violations["rule"]) == {"partition", "asked"}
    assert check(table.assign(partition=[None, "p", None, "p"])).ok


def test_whose_first_job_is_meant_may_be_said() -> None:
    """By default that of each partition is, so that more is promised."""
    workload = draw_workload(
        "count cores / 4 1",
        "p:0-1 q:2-3",
        "job submit run nodes partition / A 0 10 1 p / B 0 6 1 q / C 1 5 2 p / D 1 5 2 q / E 2 20 1 q",
    )
    table = pd.DataFrame({"job_id": range(1, 6), "start": [0, 0, 10, 22, 2], "nodes": ["0", "2", "0-1", "2-3", "3"]})
    given = {"machine": workload.table, "asked": workload.asked, "policy": "easy", "semantics": "instant"}
    report = validate(table, trace=trace_of(workload), heads="machine", **given)
    assert report.ok, report
    report = validate(table, trace=trace_of(workload), **given)
    assert set(report.violations["job_number"]) == {4}
    with pytest.raises(ParameterError, match="heads"):
        validate(table, trace=trace_of(workload), heads="none", **given)


def test_schedules_of_ours_are_the_same_as_tables() -> None:
    """A schedule that is written as a table of starts and nodes has the same faults as before."""
    for seed in range(8):
        workload = random_workload(seed)
        schedule = simulated(workload, ["lxf", "easy"][seed % 2])
        ranges = dict(zip(schedule.segments["job_number"], schedule.segments["nodes"], strict=True))
        partition = dict(zip(schedule.segments["job_number"], schedule.segments["partition"], strict=True))
        own = [list(ranges[number]) for number in schedule.jobs["job_number"]]
        table = pd.DataFrame(
            {
                "job_number": schedule.jobs["job_number"],
                "start_time": schedule.jobs["start_time"],
                "nodes": [
                    ",".join(f"{low}-{high}" for low, high in zip(each[::2], each[1::2], strict=True)) for each in own
                ],
                "partition": [partition[number] for number in schedule.jobs["job_number"]],
            }
        )
        options = {"trace": trace_of(workload), "asked": workload.asked, "policy": "easy", "semantics": "instant"}
        report = validate(table, machine=workload.table, overrun="run-on", **options)
        expected = validate(replace(schedule, options={**schedule.options, "heads": "partition"}), **options)
        assert report.violations.to_dict("records") == expected.violations.to_dict("records"), seed
    assert text_of([0, 1, 3]) == "0-1,3"


def test_numbers_as_ranges() -> None:
    """A number that repeats begins another range."""
    assert ranges_of(np.array([3])) == [3, 3]
    assert ranges_of(np.array([], dtype=np.int64)) == []
    assert ranges_of(np.array([0, 1, 1, 4])) == [0, 1, 1, 1, 4, 4]


def test_batsim_without_resources_is_read_as_before(tmp_path: Path) -> None:
    """Older versions do not write them."""
    path = tmp_path / "jobs.csv"
    path.write_text("job_id,starting_time,finish_time,requested_number_of_resources\n1,0,10,2\n")
    assert list(read_schedule(path)) == ["job_number", "start_time", "end_time", "allocated_processors"]
