# SPDX-License-Identifier: BSD-3-Clause
"""Names behind numbers, as the log has them: of a trace, of its schedule, and of the classes of its measures."""

from __future__ import annotations

import pandas as pd

import swftools
from swftools import Trace
from swftools.estimates import study_estimates
from swftools.header import SwfHeader
from tests.frames import assert_same

HEADER = SwfHeader.from_lines(["; Queue: 1 header's", "; Queue: 2 batch", "; Partition: 1 gpu"])


def named_log() -> Trace:
    """Return a log whose queue 1 has one name by the header and another by the table, 3 and 4 the same, 5 none."""
    names = [("queue", 1, "short"), ("queue", 3, "night"), ("queue", 4, "night"), ("user", 7, "ann")]
    trace = Trace.from_columns(
        machine_processors=8,
        job_number=range(1, 6),
        submit_time=[0, 10, 20, 30, 40],
        run_time=[50] * 5,
        requested_processors=[4] * 5,
        requested_time=[60] * 5,
        queue_id=[1, 2, 3, 4, 5],
        user_id=[7, 7, 7, 8, 8],
        partition_id=[1] * 5,
    )
    table = pd.DataFrame(names, columns=["kind", "number", "name"]).astype(trace.names.dtypes.to_dict())
    return Trace(HEADER, trace.jobs, machine_processors=8, names=table)


def test_names_of_the_log() -> None:
    """The table's go before the header's; a kind without names is not there."""
    known = named_log().known_names
    assert {1: "short", 2: "batch", 3: "night", 4: "night"} == dict(known["queue"])
    assert ({7: "ann"}, {1: "gpu"}, None) == (dict(known["user"]), dict(known["partition"]), known.get("group"))
    assert {} == Trace.from_columns(job_number=[1]).known_names


def test_measures_by_name() -> None:
    """Two queues of one name stay two classes; a number without a name is its own; ``queue_id`` is by numbers."""
    schedule = swftools.simulate(named_log(), "fcfs")
    by_name = swftools.measure(schedule, by="queue")
    assert ["short", "batch", "3 night", "4 night", "5"] == by_name["job_class"].drop_duplicates().tolist()
    by_number = swftools.measure(schedule, by="queue_id")
    assert ["1", "2", "3", "4", "5"] == by_number["job_class"].drop_duplicates().tolist()
    unnamed = ["classed_by", "job_class"]
    assert_same(pd.DataFrame(by_name.drop(columns=unnamed)), pd.DataFrame(by_number.drop(columns=unnamed)))
    pairs = swftools.measure(schedule, by=["user", "partition"])["job_class"].drop_duplicates().tolist()
    assert ["ann & gpu", "8 & gpu"] == pairs


def test_descriptions_and_estimates() -> None:
    """Numbers have their names behind them."""
    assert ["1 short", "2 batch", "3 night", "4 night", "5"] == list(swftools.describe(named_log())["jobs_by_queue"])
    groups = study_estimates(named_log()).inaccuracy
    assert ["7 ann", "8"] == groups[groups["grouped_by"] == "user"]["group"].tolist()
