# SPDX-License-Identifier: BSD-3-Clause
"""What could be known at a submission: drawn by hand, equal to the slow twin, and blind to the future."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace, simulate
from swftools.errors import ParameterError
from swftools.header import SwfHeader
from swftools.qbets import features_at_submission
from swftools.qbets.rivals import COLUMNS
from tests.examples import examples
from tests.naive import rivals as naive
from tests.qbets.rivals.logs import crowded_log, with_another_future


def listed(log: Trace) -> list[naive.Job]:
    """Return the jobs of a log, whose rows are in order of submission, for the twin."""
    found = []
    names = ["submit_time", "wait_time", "run_time", "requested_time", "user_id"]
    names += ["requested_processors", "allocated_processors"]
    for job in log.jobs.to_dict("records"):
        said = {name: None if pd.isna(job.get(name)) else float(job[name]) for name in names}
        submit, stay, run = said["submit_time"], said["wait_time"], said["run_time"]
        wait = None if run is None or job.get("is_never_started", False) else stay
        leave = None if stay is None else submit + stay
        end = None if wait is None or run is None else leave + run
        width = said["requested_processors"] or said["allocated_processors"]
        queue = "unknown" if pd.isna(job["queue_id"]) else str(job["queue_id"])
        found.append(naive.Job(submit, leave, wait, end, said["requested_time"], width, said["user_id"], queue))
    return found


def compare(log: Trace) -> None:
    """Compare what is known of each job with the twin."""
    jobs = listed(log)
    expected = pd.DataFrame([naive.features(jobs, number) for number in range(len(jobs))])
    found = features_at_submission(log)
    assert set(found) - {"hour", "weekday"} == set(expected)
    pd.testing.assert_frame_equal(
        found[list(expected)], expected.astype({"group": "str"}), check_dtype=False, rtol=1e-12, atol=1e-6
    )


def test_by_hand() -> None:
    """Job 1 runs on 4 processors from 0 to 100; job 2 waits from 10 to 40; job 3 comes at 20, and job 4 at 110."""
    log = Trace.from_columns(
        job_number=[1, 2, 3, 4],
        submit_time=[0, 10, 20, 110],
        wait_time=[0, 30, 25, 0],
        run_time=[100, 20, 5, 1],
        requested_time=[80, 20, 10, 10],
        requested_processors=[4, 2, 1, 1],
        user_id=[7, 8, 8, 8],
    )
    known = features_at_submission(log, by=None).set_index(pd.Index([1, 2, 3, 4]))
    third = known.loc[3]
    assert third[["requested_time", "processors", "requested_work"]].tolist() == [10, 1, 10]
    assert third[["waiting_jobs", "waiting_processors", "waiting_work"]].tolist() == [1, 2, 40]
    assert third[["running_jobs", "running_processors", "running_work"]].tolist() == [1, 4, 4 * 60]
    assert third[["group_waiting_jobs", "group_longest_waiting", "group_since_start"]].tolist() == [1, 10, 20]
    assert third[["group_last_wait", "group_mean_wait"]].tolist() == [0, 0]
    assert third["user_waiting_jobs"] == 1
    assert math.isnan(third["user_last_wait"])
    fourth = known.loc[4]
    assert fourth[["waiting_jobs", "running_jobs", "running_work", "group_longest_waiting"]].tolist() == [0, 0, 0, 0]
    assert fourth[["group_last_wait", "group_mean_wait", "group_longest_wait"]].tolist() == [25, 55 / 3, 30]
    assert fourth[["user_last_wait", "user_mean_wait", "group_since_start"]].tolist() == [25, 27.5, 65]
    assert known.loc[1, ["waiting_jobs", "running_jobs", "running_work"]].tolist() == [0, 0, 0]
    assert known.loc[1, ["group_last_wait", "group_since_start", "hour", "weekday"]].isna().all()


def test_who_outruns_a_request_has_no_work_left() -> None:
    """It runs on, and of what it requested nothing is left; also at the very instant."""
    log = Trace.from_columns(
        job_number=[1, 2, 3, 4, 5],
        submit_time=[0, 49, 50, 60, 100],
        wait_time=[0] * 5,
        run_time=[100, 1, 1, 1, 1],
        requested_time=[50, 0, 0, 0, 0],
        requested_processors=[2, 1, 1, 1, 1],
    )
    known = features_at_submission(log, by=None)
    assert known["running_jobs"].tolist() == [0, 1, 1, 1, 0]
    assert known["running_work"].tolist() == [0, 2, 0, 0, 0]


def test_hours_are_those_of_the_log() -> None:
    """In its time zone, through the change of its clocks; where it does not say when it starts, they are not known."""
    header = SwfHeader.from_lines(["; UnixStartTime: 956700003", "; TimeZoneString: US/Pacific"])  # 15:00:03 on Tuesday
    months = [0.0, 86_400.0 * 200]  # daylight saving has ended between
    log = Trace.from_columns(header, job_number=[1, 2], submit_time=months, wait_time=[0, 0], run_time=[1, 1])
    known = features_at_submission(log, by=None)
    assert known["hour"].tolist() == pytest.approx([15 + 3 / 3600, 14 + 3 / 3600])
    assert known["weekday"].tolist() == [1, 5]
    assert features_at_submission(Trace(SwfHeader(), log.jobs), by=None)["hour"].isna().all()


@examples(0.4)
@given(jobs=st.integers(1, 90), seed=st.integers(0, 10**6))
def test_drawn_logs(jobs: int, seed: int) -> None:
    """Each value equals that of the twin."""
    compare(crowded_log(jobs, seed))


def test_real_jobs(cleaned: Trace) -> None:
    """As above, of 500 jobs of SDSC-BLUE."""
    compare(cleaned.with_jobs(cleaned.jobs.head(500)))


@examples(0.6)
@given(data=st.data())
def test_nobody_looks_ahead(data: st.DataObject) -> None:
    """What is known of a job does not change with what is yet to come."""
    log = crowded_log(data.draw(st.integers(1, 80)), data.draw(st.integers(0, 10**6)))
    job = data.draw(st.integers(0, len(log) - 1))
    other = with_another_future(log, job, data.draw(st.integers(0, 10**6)))
    ours, theirs = (features_at_submission(one).head(job + 1) for one in (log, other))
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def test_order_in_the_log_does_not_matter() -> None:
    """Jobs are submitted by their times, those of one instant by number; rows stay where they are."""
    log = crowded_log(200, 3)
    shuffled = log.jobs.sample(frac=1.0, random_state=1)
    found = features_at_submission(log.with_jobs(shuffled.reset_index(drop=True))).set_index(shuffled.index)
    pd.testing.assert_frame_equal(found.sort_index(), features_at_submission(log), check_exact=True)


def test_groups() -> None:
    """They are named as replay names them; of all jobs as one group, waiting jobs of the group are waiting jobs."""
    log = crowded_log(100, 1)
    by_two = features_at_submission(log, by=("queue", "user"))
    assert "2/3" in set(by_two["group"])
    together = features_at_submission(log, by=None)
    assert set(together["group"]) == {"all"}
    assert together["group_waiting_jobs"].tolist() == together["waiting_jobs"].tolist()
    with pytest.raises(ParameterError, match="the log has no column 'colour'"):
        features_at_submission(log, by="colour")


def test_columns_that_are_missing() -> None:
    """What a log does not say is NaN, and counts as none in sums."""
    log = Trace.from_columns(job_number=range(50), submit_time=range(50), wait_time=[5] * 50, run_time=[9] * 50)
    known = features_at_submission(log, by=None)
    unknown = ["requested_time", "processors", "requested_work", "user_waiting_jobs", "user_last_wait", "hour"]
    assert known[unknown].isna().all().all()
    assert known["waiting_jobs"].iloc[-1] == 5 - 1
    assert known["waiting_processors"].eq(0).all()
    assert list(known) == list(COLUMNS)


def test_logs_without_waits_are_refused() -> None:
    """As they are by replay."""
    log = Trace.from_columns(job_number=[1], submit_time=[0], run_time=[1])
    with pytest.raises(ParameterError, match="does not say how long its jobs waited"):
        features_at_submission(log, by=None)


def test_cancelled_jobs() -> None:
    """One that was cancelled waits until it was; if nobody knows when, it does not wait. Neither teaches a wait."""
    log = Trace.from_columns(
        job_number=[1, 2, 3, 4],
        submit_time=[0, 1, 2, 90],
        wait_time=[50, None, 3, 1],
        run_time=[None, None, 10, 1],
        requested_time=[60] * 4,
        requested_processors=[1] * 4,
    )
    known = features_at_submission(log, by=None)
    assert known["waiting_jobs"].tolist() == [0, 1, 1, 0]
    assert known["group_last_wait"].iloc[3] == 3


def test_a_schedule() -> None:
    """Of a simulation jobs run until it says, which need not be their start and run time."""
    log = crowded_log(
        120, 5, run_time=np.full(120, 50), requested_time=np.full(120, 60), submit_time=np.arange(120) * 7
    )
    log = log.with_jobs(log.jobs.dropna(subset=["requested_processors"]).reset_index(drop=True))
    schedule = simulate(log, "easy", processors=8)
    jobs = schedule.jobs.assign(end_time=schedule.jobs["end_time"] + 30 * (np.arange(len(schedule)) % 2))
    known = features_at_submission(replace(schedule, jobs=jobs))
    for number, now in enumerate(jobs["submit_time"]):
        before = jobs.iloc[:number]
        assert known["running_jobs"].iloc[number] == ((before["start_time"] <= now) & (before["end_time"] > now)).sum()
    assert known["running_jobs"].max() > 1
