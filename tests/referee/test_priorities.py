# SPDX-License-Identifier: BSD-3-Clause
"""Priorities that were kept of a real run: how they are read, and whose turn it is by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import SwfHeader
from swftools.errors import ParameterError
from swftools.machines.slurm_site import SlurmAssociation
from swftools.referee import referee
from swftools.referee.priorities import read_priorities
from swftools.trace import Trace
from tests.referee.test_by_hand import log_of, table

ORIGIN = 1_700_000_000

RUN = """
job submit start run limit cpus nodes by
a   0      0     30  30    4    0     SchedMain
b   0      0     60  60    4    1     SchedMain
c   1      60    20  20    4    0     SchedMain
d   2      30    30  30    4    0     SchedMain
"""
"""d starts before c on the only node that is free, and so on: somebody has given it a higher priority."""

KEPT = """# 1700000010
JOBID|PARTITION|USER|PRIORITY
3|batch|u1|10
4|batch|u1|20
"""


def run(ids: str = "1 2 3 4") -> Trace:
    """Return the run, with the ids of its jobs."""
    trace = log_of(RUN)
    trace = trace.with_jobs(trace.jobs.assign(log_id=pd.array(ids.split(), "str")))
    return replace(trace, header=SwfHeader.from_lines([f"; UnixStartTime: {ORIGIN}"]))


def read(tmp_path: Path, text: str, trace: Trace) -> Any:
    """Return what is read of a text."""
    (tmp_path / "kept.txt").write_text(text)
    return read_priorities(tmp_path / "kept.txt", trace, table())


def test_how_they_are_read(tmp_path: Path) -> None:
    """By job and time, in seconds of the log; tasks by their own number or that of their array."""
    text = KEPT + "# 1700000030.5\n3|batch|u1|11\nPRIORITY|JOBID\n7|4\n9|99\n"
    found = read(tmp_path, text, run())
    assert found.first.tolist() == [0, 0, 0, 2, 4]
    assert found.time.tolist() == [10.0, 30.5, 10.0, 30.5]
    assert found.priority.tolist() == [10.0, 11.0, 20.0, 7.0]
    assert found.partition.tolist() == [0, 0, 0, -1]
    tasks = run("1 2 3_0 3_1")
    assert read(tmp_path, KEPT, tasks).priority.tolist() == [10.0, 10.0]
    assert read(tmp_path, KEPT.replace("3|", "3_[0-1%4]|"), tasks).priority.tolist() == [10.0, 10.0]
    assert read(tmp_path, KEPT.replace("3|", "3_1|"), tasks).first.tolist() == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3|batch|u1|10\n", "line 1 of .* comes before headings with JOBID and PRIORITY"),
        ("JOBID|PRIORITY\n3|10\n", "line 2 of .* comes before a line '# seconds since 1970'"),
        (KEPT + "3|batch|u1|high\n", "line 5 of .* has no priority of a job: '3.batch.u1.high'"),
        (KEPT + "3\n", "line 5 of .* has no priority of a job: '3'"),
        ("# 1700000010\nJOBID|PRIORITY\n77|5\n", "tells of no job of the log"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """By file and line, with what to do."""
    with pytest.raises(ParameterError, match=message):
        read(tmp_path, text, run())


def test_of_a_log_without_ids(tmp_path: Path) -> None:
    """It cannot be said whose they are."""
    with pytest.raises(ParameterError, match="does not say which jobs these are, and when"):
        read(tmp_path, KEPT, log_of(RUN))


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    ("text", "right"),
    [
        (None, 0.75),
        (KEPT, 1.0),
        (KEPT.replace("4|batch|u1|20", "4|batch|u1|9"), 0.75),  # they say that it is not its turn
        (KEPT + "# 1700000020\n3|batch|u1|30\n", 0.75),  # what was seen last counts
        (KEPT.replace("1700000010", "1700000299"), 0.75),  # of which period that is nobody knows
        (KEPT.replace("1700000010", "1700000320"), 0.75),  # of another period
    ],
)
def test_whose_turn_it_is(tmp_path: Path, text: str | None, right: float) -> None:
    """By the rules c goes before d; by the priorities that were kept it is the other way."""
    kept = None if text is None else read(tmp_path, text, run())
    report = referee(run(), table(), priorities=kept, first=0, tolerance=2, compiled=False)
    assert report.figures["right"] == right
    assert np.isfinite(report.figures["starts"])


TWO_USERS = """
job submit start run limit cpus nodes by
a   0      0     30  30    4    0     SchedMain
b   0      0     90  90    4    1     SchedMain
c   1      90    20  20    4    0     SchedMain
d   2      30    30  30    4    0     SchedMain
e   3      60    30  30    4    0     SchedMain
"""
"""d and e go before c, and of their user only the priority of e was kept."""


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(("priority", "right"), [(100, 1.0), (-5, 0.6)])
def test_of_whom_none_was_kept(tmp_path: Path, priority: int, right: float) -> None:
    """His priority differs from the rules by as much as that of another job of his association."""
    who = ("u1", "u1", "u1", "u2", "u2")
    trace = log_of(TWO_USERS)
    named = trace.jobs.assign(
        log_id=pd.array(["1", "2", "3", "4", "5"], "str"),
        account=pd.array(who, "str"),
        user_id=pd.array([1, 1, 1, 2, 2], "Int64"),
    )
    users = pd.DataFrame([("user", 1, "u1"), ("user", 2, "u2")], columns=["kind", "number", "name"])
    header = SwfHeader.from_lines([f"; UnixStartTime: {ORIGIN}"])
    trace = replace(trace.with_jobs(named), header=header, names=users.astype({"number": "Int64"}))
    associations = (SlurmAssociation("root"), *(SlurmAssociation(each, "", parent=0) for each in ("u1", "u2")))
    associations += tuple(SlurmAssociation(each, each, parent=at) for at, each in enumerate(("u1", "u2"), 1))
    found = table()
    assert found.slurm is not None
    site = replace(found, slurm=replace(found.slurm, associations=associations))
    (tmp_path / "kept.txt").write_text(f"# {ORIGIN + 10}\nJOBID|PRIORITY\n5|{priority}\n")
    kept = read_priorities(tmp_path / "kept.txt", trace, site)
    report = referee(trace, site, priorities=kept, first=0, tolerance=2, compiled=False)
    assert report.figures["right"] == right
