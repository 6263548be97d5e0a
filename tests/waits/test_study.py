# SPDX-License-Identifier: BSD-3-Clause
"""Why users wait: groups and weights by hand, sums against the schedule, what a log does not tell."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

from swftools import Trace, simulate
from swftools.errors import ParameterError
from swftools.machines.slurm_site import SlurmAssociation, SlurmSite
from swftools.simulator import logged_schedule
from swftools.simulator.metrics.wait_reasons import REASONS
from swftools.waits import GROUPINGS, study_parts, study_waits
from swftools.waits.groups import groups_of
from swftools.waits.requests import uses_of_requests
from swftools.waits.shares import shares_served
from tests.on_nodes import draw_machine, draw_on_nodes, random_on_nodes

MACHINE = draw_machine("kind count cores memory gpus / thin 2 4 100 0 / fat 1 8 200 2", {"thin": "0-1", "fat": "2"})

TABLE = """
    job submit start run   nodes cores gpus exclusive partition
    A   0      0     7200  0-1   4     0    no        thin
    B   0      7200  3600  0     1     0    no        thin
    C   3600   7200  3600  1     1     0    yes       thin
    D   0      0     7200  2     1     2    yes       fat
    E   0      7200  60    2     2     1    no        fat
"""


def by(study: object, name: str) -> pd.DataFrame:
    """Return the groups of a grouping, by their words."""
    groups = study.groups  # type: ignore[attr-defined]
    return groups[groups["grouped_by"] == name].set_index("group")


def test_waits_are_weighed_by_nodes() -> None:
    """B waits 2 h with a quarter of a node, C 1 h with a whole one, E 2 h with a quarter of the fat one."""
    study = study_waits(draw_on_nodes(TABLE, MACHINE))
    assert study.unit == "node-hours"
    assert by(study, "partition")["amount"].tolist() == [0.5 + 1.0, 0.5]
    assert by(study, "partition")["share"].tolist() == [0.75, 0.25]
    assert by(study, "partition")["cores"].tolist() == [1.5, 0.0]
    assert by(study, "partition")["gpus"].tolist() == [0.0, 0.5]
    whole = by(study, "all").loc["all"]
    assert whole[["jobs", "waited", "median", "mean"]].tolist() == [5, 0.6, 3600, 3600]
    assert study.reasons.set_index("reason").loc["cores", ["jobs", "hours", "amount", "share"]].tolist() == [
        2,
        3.0,
        1.5,
        0.75,
    ]
    assert by(study_waits(draw_on_nodes(TABLE, MACHINE), least=3600), "all")["waited"].tolist() == [0.4]


def test_groups_of_what_jobs_had() -> None:
    """Of GPUs, processors and limits; groups without a job are left out."""
    study = study_waits(draw_on_nodes(TABLE, MACHINE))
    assert by(study, "gpus")["jobs"].to_dict() == {"none": 3, "up to 1": 1, "2 to 4": 1}
    assert by(study, "processors")["jobs"].to_dict() == {"1": 1, "2 to 4": 2, "5 to 16": 2}
    assert by(study, "time-limit")["jobs"].to_dict() == {"up to 10 min": 1, "10 min to 1 h": 2, "1 h to 4 h": 2}


def test_a_pool_is_weighed_by_processors() -> None:
    """Two jobs wait for processors, one for its turn; each part adds up to the wait."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3],
        submit_time=[0, 0, 0],
        run_time=[3600, 3600, 3600],
        requested_processors=[3, 2, 1],
        user_id=[7, 8, 8],
    )
    study = study_waits(simulate(trace, "fcfs"))
    assert study.unit == "processor-hours"
    assert by(study, "all")[["amount", "cores", "order"]].to_numpy().tolist() == [[3.0, 2.0, 1.0]]
    assert by(study, "user")["amount"].to_dict() == {"8": 3.0, "7": 0.0}
    assert any("--machine" in each for each in study.told)


def _at(moment: datetime, hours: list[float]) -> pd.DataFrame:
    trace = Trace.from_columns(
        machine_processors=4,
        submit_time=[3600 * hour for hour in hours],
        wait_time=[0] * len(hours),
        run_time=[1] * len(hours),
        requested_processors=[1] * len(hours),
    )
    return replace(logged_schedule(trace), origin=moment)


def test_hours_are_those_of_the_log_s_own_clock() -> None:
    """Summer time begins in Rome on March 31, 2024, at two in the morning: the next day's submissions are by it."""
    rome = _at(datetime(2024, 3, 30, 23, 30, tzinfo=ZoneInfo("Europe/Rome")), [0, 1, 24])
    assert groups_of(rome, "hour").words == ["00:00", "23:00"]  # type: ignore[union-attr]
    assert groups_of(rome, "hour").of_job.tolist() == [1, 0, 0]  # type: ignore[union-attr]
    assert groups_of(rome, "weekday").words == ["Monday", "Saturday", "Sunday"]  # type: ignore[union-attr]
    assert groups_of(rome, "month").words == ["2024-03", "2024-04"]  # type: ignore[union-attr]
    late = _at(datetime(2023, 12, 31, 23, 59, 59, tzinfo=UTC), [0, 1])
    assert groups_of(late, "month").words == ["2023-12", "2024-01"]  # type: ignore[union-attr]


def test_what_a_log_does_not_tell_has_no_groups() -> None:
    """It is said where it was asked for."""
    schedule = draw_on_nodes(TABLE, MACHINE)
    assert {name for name in GROUPINGS if groups_of(schedule, name) is not None} == {
        *("partition", "processors", "gpus", "time-limit")
    }
    study = study_waits(schedule, by=["qos", "hour"])
    assert set(study.groups["grouped_by"]) == {"all"}
    assert "the log does not tell by qos, so there are no such groups" in study.told
    with pytest.raises(ParameterError, match=r"no grouping 'userr'; there are .*; did you mean user\?"):
        study_waits(schedule, by=["userr"])


def test_some_whose_group_is_not_known() -> None:
    """They are a group of their own, the last."""
    schedule = draw_on_nodes(TABLE, MACHINE)
    schedule = replace(schedule, jobs=schedule.jobs.assign(qos=pd.array(["b", None, "a", "b", None], dtype="str")))
    assert by(study_waits(schedule), "qos")["jobs"].to_dict() == {"a": 1, "b": 2, "unknown": 2}


@pytest.mark.parametrize("seed", range(6))
def test_parts_add_up(seed: int) -> None:
    """Of each grouping to all, of each group to what it waited, and reasons to all."""
    schedule = random_on_nodes(seed, jobs=14)
    study = study_waits(schedule)
    total = study.groups["amount"].iloc[0]
    assert total > 0
    np.testing.assert_allclose(study.groups[list(REASONS)].sum(axis=1), study.groups["amount"])
    np.testing.assert_allclose(study.groups.groupby("grouped_by")["amount"].sum(), total)
    assert set(study.groups.groupby("grouped_by")["jobs"].sum()) == {len(schedule.jobs)}
    assert study.reasons["amount"].sum() == pytest.approx(total)
    assert study.reasons["hours"].sum() == pytest.approx(schedule.jobs["wait_time"].sum() / 3600)


def test_nobody_ran() -> None:
    """There are no groups."""
    schedule = draw_on_nodes(TABLE, MACHINE)
    empty = replace(schedule, jobs=schedule.jobs[:0], segments=schedule.segments[:0])
    assert len(study_waits(empty).groups) == 0
    assert "no jobs" in str(study_waits(empty))


def test_requests_beside_use() -> None:
    """Time by processors, memory and processors by processor time; who is not known is not counted."""
    schedule = draw_on_nodes("job submit start run request nodes cores / A 0 0 10 10 0 1 / B 0 0 10 40 1 3", MACHINE)
    found = uses_of_requests(schedule).set_index("resource")
    assert found.index.tolist() == ["time"]
    assert found.loc["time"].tolist() == [2, (10 + 30) / (10 + 120), (1 + 0.25) / 2, 0.5, 0.5]
    more = schedule.jobs.assign(used_memory=[50.0, np.nan], requested_memory=[200, 100], average_cpu_time=[8.0, 10.0])
    found = uses_of_requests(replace(schedule, jobs=more)).set_index("resource")
    assert found.loc["memory", ["jobs", "used", "half_unused"]].tolist() == [1, 0.25, 1.0]
    assert found.loc["processors", ["jobs", "used", "used_all"]].tolist() == [2, (8 + 30) / 40, 0.5]


def test_memory_is_weighed_by_how_long_it_was_held() -> None:
    """A has 100 KB for 10 s and uses half, B 100 KB for 30 s and uses all."""
    schedule = draw_on_nodes("job submit start run nodes cores / A 0 0 10 0 1 / B 0 0 30 1 1", MACHINE)
    jobs = schedule.jobs.assign(used_memory=[50.0, 100.0], requested_memory=[100, 100])
    assert uses_of_requests(replace(schedule, jobs=jobs)).set_index("resource").loc["memory", "used"] == 35 / 40


@pytest.mark.parametrize(("jobs", "last", "is_told"), [(20, 1.0, False), (20, 2.0, True), (19, 1.0, True)])
def test_use_that_nobody_measured(jobs: int, last: float, is_told: bool) -> None:
    """Twenty jobs of one value are none; one that differs, or fewer jobs, and they count."""
    text = "job submit start run nodes cores / " + " / ".join(f"J{each} 0 0 {each + 1} 0 1" for each in range(jobs))
    schedule = draw_on_nodes(text, draw_machine("kind count cores / thin 1 30", {"thin": "0"}))
    used = pd.array([1.0] * (jobs - 1) + [last], dtype="Float64")
    study = study_waits(replace(schedule, jobs=schedule.jobs.assign(average_cpu_time=used)))
    assert ("processors" in study.requests["resource"].tolist()) is is_told
    assert any("average_cpu_time is 1 in every row" in told for told in study.told) is not is_told


def test_partitions_of_other_names() -> None:
    """Where none of the log's is one of the machine's, that is told; of one that is, nothing."""
    schedule = draw_on_nodes(TABLE, MACHINE)
    assert not any("no partition or queue" in told for told in study_waits(schedule).told)
    other = schedule.segments.assign(partition=pd.array([None] * len(schedule.segments), dtype="str"))
    assert any("no partition or queue" in told for told in study_waits(replace(schedule, segments=other)).told)


def test_the_partition_is_that_of_the_first_run() -> None:
    """A job that was stopped ran in another one later."""
    schedule = draw_on_nodes("job submit start run nodes cores partition / A 0 2 4 0 2 thin", MACHINE)
    again = schedule.segments.assign(start_time=9.0, end_time=11.0, partition=pd.array(["fat"], dtype="str"))
    both = replace(schedule, segments=pd.concat([schedule.segments, again], ignore_index=True))
    assert by(study_waits(both), "partition").index.tolist() == ["thin"]


def test_shares_beside_what_was_served() -> None:
    """Phys has 3 of 4 shares, and two accounts below it 1 and 2 of 3; one that nobody used got nothing."""
    site = SlurmSite(
        associations=(
            SlurmAssociation("root"),
            SlurmAssociation("phys", parent=0, shares=3),
            SlurmAssociation("bio", parent=0, shares=1),
            SlurmAssociation("solid", parent=1, shares=1),
            SlurmAssociation("soft", parent=1, shares=2),
            SlurmAssociation("soft", "u1", parent=4),
        )
    )
    schedule = draw_on_nodes("job submit start run nodes cores / A 0 0 10 0 2 / B 0 10 10 0 2", MACHINE)
    jobs = schedule.jobs.assign(account=pd.array(["soft", "bio"], dtype="str"))
    found = shares_served(replace(schedule, jobs=jobs, machine=replace(MACHINE, slurm=site))).set_index("account")
    assert found["share"].to_dict() == pytest.approx({"bio": 0.25, "solid": 0.25, "soft": 0.5})
    assert found["served"].to_dict() == {"bio": 0.5, "solid": 0.0, "soft": 0.5}
    assert found.loc["bio", ["ratio", "median", "p90"]].tolist() == [2.0, 10.0, 10.0]
    assert np.isnan(found.loc["solid", "median"])
    assert len(shares_served(schedule)) == 0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("grouping", ["partition", "processors"])
def test_parts_are_the_groups(seed: int, grouping: str) -> None:
    """The jobs of a group by themselves: what the table of groups says of them, with reasons of the whole schedule."""
    schedule = random_on_nodes(seed)
    study, parts = study_parts(schedule, grouping, least=5.0)
    pd.testing.assert_frame_equal(study.groups, study_waits(schedule, least=5.0).groups)
    groups = by(study, grouping)
    assert list(parts) == (list(groups.index) if len(groups) > 1 else [])
    for name, (own, of_part) in parts.items():
        whole = by(of_part, "all").loc["all"]
        columns = ["jobs", "waited", "median", "p90", "mean", "amount", *REASONS]
        assert whole[columns].tolist() == pytest.approx(groups.loc[name, columns].tolist())
        assert len(own.jobs) == whole["jobs"]
        assert {*own.segments["job_number"]} == {*own.jobs["job_number"]}
        assert len(own.excluded) == 0
    assert sum(len(part.schedule.segments) for part in parts.values()) in {0, len(schedule.segments)}


def test_parts_of_what_is_not_told() -> None:
    """None; a grouping that there is not is refused."""
    schedule = draw_on_nodes(TABLE, MACHINE)
    assert study_parts(schedule, "account")[1] == {}
    assert study_parts(replace(schedule, jobs=schedule.jobs[:0], segments=schedule.segments[:0]), "partition")[1] == {}
    with pytest.raises(ParameterError, match="no grouping 'partitions'"):
        study_parts(schedule, "partitions")
