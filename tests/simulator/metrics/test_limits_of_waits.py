# SPDX-License-Identifier: BSD-3-Clause
"""Waits for limits of Slurm: by hand, against the slow twin, and as policy ``slurm`` tells them itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools.machines.node_table import GPU
from swftools.machines.slurm_site import SlurmAssociation, SlurmLimits, SlurmPartition, SlurmQos, SlurmSite
from swftools.simulator import sum_wait_reasons, wait_reasons, wait_reasons_over_time
from swftools.simulator.metrics.limited_times import Times, limited_times, unlimited_parts
from swftools.simulator.metrics.wait_reasons import REASONS
from swftools.simulator.schedule import Schedule
from tests.examples import by_day
from tests.interpreted import all_interpreted
from tests.naive.limits_of_waits import is_limited
from tests.naive.nodes_over_time import naive_runs
from tests.naive.wait_reasons import naive_wait_reasons
from tests.on_nodes import draw_machine, draw_on_nodes, random_on_nodes

MACHINE = draw_machine("kind count cores memory gpus / thin 4 4 100 0", {"all": "0-3"})
TABLE = """
    job submit start run nodes cores
    A   0      0     6   0     3
    B   0      0     4   1     3
    C   1      9     1   2     2
"""


@pytest.fixture(autouse=True)
def _interpreted() -> object:
    with all_interpreted():
        yield


def at_site(schedule: Schedule, site: SlurmSite, **columns: Any) -> Schedule:
    """Return a schedule of jobs of users u1 (all, where nothing else is said) at a site."""
    assert schedule.machine is not None
    many = len(schedule.jobs)
    users = columns.pop("user", ["u1"] * many)
    numbers = pd.array([int(user[1:]) for user in users], dtype="Int64")
    texts = {name: pd.array(values, dtype="str") for name, values in columns.items()}
    return replace(
        schedule,
        jobs=schedule.jobs.assign(user_id=numbers, **texts),
        known_names={"user": {int(user[1:]): user for user in users}},
        machine=replace(schedule.machine, slurm=site),
        policy="logged",
    )


NO_LIMITS = SlurmLimits()


def site(user: SlurmLimits = NO_LIMITS, account: SlurmLimits = NO_LIMITS, **options: Any) -> SlurmSite:
    """Return a site with account phys, and users u1 and u2 in it."""
    return SlurmSite(
        enforce=frozenset({"limits"}),
        associations=(
            SlurmAssociation("root"),
            SlurmAssociation("phys", parent=0, limits=account),
            SlurmAssociation("phys", "u1", parent=1, limits=user),
            SlurmAssociation("phys", "u2", parent=1),
        ),
        **options,
    )


def limited(schedule: Schedule) -> float:
    """Return for how long job C was limited."""
    return float(wait_reasons(schedule)["limits"].iloc[2])


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        (SlurmLimits(grp_jobs=2), 3.0),  # until B ends at 4 s
        (SlurmLimits(grp_jobs=1), 5.0),  # until A ends at 6 s
        (SlurmLimits(grp_jobs=3), 0.0),
        (SlurmLimits(grp_tres={"cpu": 7}), 3.0),
        (SlurmLimits(grp_tres={"cpu": 8}), 0.0),
        (SlurmLimits(grp_tres={"node": 2}), 3.0),
        (SlurmLimits(grp_tres={"billing": 4}), 5.0),
        (SlurmLimits(grp_tres={"cpu": 1}), 8.0),  # it never could have
        (SlurmLimits(grp_tres_run_mins={"cpu": (3 * 4 + 2) / 60}), 5.0),  # A alone runs to its limit of 6 s
        (SlurmLimits(max_wall=1.0), 0.0),  # a limit of the job by itself is not tried
    ],
)
def test_a_limit_of_an_account(limits: SlurmLimits, seconds: float) -> None:
    """C waits from 1 to 9 s for 2 cores on an idle node; A (until 6 s) and B (until 4 s) have 3 each."""
    schedule = draw_on_nodes(TABLE, MACHINE)
    assert limited(at_site(schedule, site(account=limits))) == seconds
    waits = wait_reasons(at_site(schedule, site(account=limits)))
    assert waits["cycle"].tolist() == [0, 0, 8 - seconds]


def test_whose_limit_it_is() -> None:
    """That of a user counts its own jobs; a site that does not enforce limits has none."""
    schedule = draw_on_nodes(TABLE, MACHINE)
    one = site(user=SlurmLimits(max_jobs=1))
    assert limited(at_site(schedule, one)) == 5
    assert limited(at_site(schedule, one, user=["u1", "u2", "u1"])) == 5
    assert limited(at_site(schedule, one, user=["u2", "u1", "u1"])) == 3
    assert limited(at_site(schedule, one, user=["u1", "u1", "u2"])) == 0
    assert limited(at_site(schedule, replace(one, enforce=frozenset({"associations"})))) == 0
    assert limited(at_site(schedule, replace(one, enforce=frozenset({"safe"})))) == 5
    assert limited(replace(at_site(schedule, one), policy="easy")) == 0  # which knows none


def test_limits_of_qos() -> None:
    """The partition's QOS comes first, and stands in the place of the job's where both have a limit."""
    schedule = draw_on_nodes(TABLE, MACHINE)
    normal = SlurmQos("normal", limits=SlurmLimits(max_jobs_pu=1, max_tres_pa={"cpu": 7}))
    wide = SlurmQos("wide", limits=SlurmLimits(max_jobs_pu=2))
    of_partition = (SlurmPartition("all", qos="wide"),)
    own = site(qos=(normal, wide))
    assert limited(at_site(schedule, own)) == 5
    assert limited(at_site(schedule, own, qos=["normal", "wide", "normal"])) == 5
    assert limited(at_site(schedule, own, qos=["wide", "wide", "normal"])) == 0
    assert limited(at_site(schedule, replace(own, partitions=of_partition))) == 3
    assert limited(at_site(schedule, replace(own, partitions=of_partition), user=["u1", "u2", "u1"])) == 3  # 8 cores
    # max_jobs of the user gives way to max_jobs_pu of a QOS
    both = site(user=SlurmLimits(max_jobs=1), qos=(SlurmQos("normal", limits=SlurmLimits(max_jobs_pu=9)),))
    assert limited(at_site(schedule, both)) == 0


def test_what_policy_slurm_says_itself_counts() -> None:
    """And its words for other reasons do not."""
    schedule = draw_on_nodes(TABLE, MACHINE)
    notes = pd.DataFrame(
        {
            "job_number": [3, 3, 3],
            "job_occurrence": [0, 0, 0],
            "begin": [1.0, 3.0, 5.0],
            "end": [3.0, 5.0, 9.0],
            "reason": ["Priority", "QOSMaxCpuPerUserLimit", "Resources"],
        }
    )
    own = at_site(schedule, site(account=SlurmLimits(grp_jobs=1)))
    assert limited(replace(own, notes={"wait_reasons": notes})) == 2


def random_site(draw: np.random.Generator) -> SlurmSite:
    """Return accounts, users and QOS with limits that jobs of a small machine reach."""

    def limits() -> SlurmLimits:
        def some(most: int) -> Any:
            return int(draw.integers(1, most)) if draw.random() < 0.25 else None

        def tres(most: int) -> dict[str, float]:
            names = ("cpu", "mem", "node", "gres/gpu", "billing")
            return {name: float(draw.integers(2, most)) for name in names if draw.random() < 0.15}

        return SlurmLimits(
            grp_jobs=some(6),
            max_jobs=some(4),
            max_jobs_pu=some(4),
            max_jobs_pa=some(5),
            grp_tres=tres(20),
            max_tres_pu=tres(12),
            max_tres_pa=tres(16),
            grp_tres_run_mins=tres(9) if draw.random() < 0.3 else {},
        )

    names = [("root", "", -1), ("a", "", 0), ("b", "", 1), ("a", "u1", 1), ("b", "u2", 2), ("b", "u3", 2)]
    return SlurmSite(
        enforce=frozenset({"limits"}),
        associations=tuple(SlurmAssociation(a, u, parent=p, limits=limits()) for a, u, p in names),
        qos=tuple(SlurmQos(name, limits=limits()) for name in ("normal", "high", "part")),
        partitions=tuple(SlurmPartition(name, qos=str(draw.choice(["", "part"]))) for name in ("all", "thin", "fat")),
    )


@pytest.mark.parametrize("seed", by_day(range(400), 16))
def test_twin(seed: int) -> None:
    """Of each job and at each instant, with limits of all kinds."""
    draw = np.random.default_rng(seed)
    schedule, own = random_on_nodes(seed, jobs=16), random_site(np.random.default_rng(seed + 1000))
    many = len(schedule.jobs)
    users, words = draw.choice(["u1", "u2", "u3"], many).tolist(), draw.choice(["normal", "high"], many).tolist()
    assert schedule.machine is not None
    own = replace(own, partitions=own.partitions[: len(schedule.machine.partitions)])
    own = replace(
        own,
        partitions=tuple(
            replace(each, name=of.name) for each, of in zip(own.partitions, schedule.machine.partitions, strict=False)
        ),
    )
    schedule = at_site(schedule, own, user=users, qos=words)
    account = {"u1": ("a", 3), "u2": ("b", 4), "u3": ("b", 5)}
    rules = {each.name: each.qos for each in own.partitions}
    jobs = [
        {
            "user": users[run["row"]],
            "account": account[users[run["row"]]][0],
            "association": account[users[run["row"]]][1],
            "qos": words[run["row"]],
            "partition_qos": rules.get(run["partition"], ""),
            "held": _held(run),
            "limit": float(schedule.jobs["requested_time"].iloc[run["row"]]),
        }
        for run in naive_runs(schedule)
    ]
    runs = naive_runs(schedule)

    def stands(place: int, time: float) -> bool:
        running = [jobs[other] for other, run in enumerate(runs) if run["start"] <= time < run["end"]]
        return is_limited(own, jobs[place], running)

    of_jobs, over_time, times = naive_wait_reasons(schedule, stands)
    waits, steps = wait_reasons(schedule), wait_reasons_over_time(schedule)
    for name in REASONS:
        assert waits[name].tolist() == pytest.approx([each.get(name, 0.0) for each in of_jobs])
    for time, found in zip(times, over_time, strict=True):
        last = steps[steps["time"] <= time].iloc[-1]
        assert {name: last[name] for name in REASONS if last[name]} == found
    assert waits[list(REASONS)].sum(axis=1).tolist() == pytest.approx(schedule.jobs["wait_time"].tolist())
    assert sum_wait_reasons(schedule)["limits"].iloc[0] == pytest.approx(waits["limits"].sum() / 3600)


def _held(run: dict[str, Any]) -> dict[str, float]:
    nodes = run["held"].values()
    held = {name: sum(each[of] for each in nodes) for name, of in (("cpu", "cores"), ("mem", "memory"))}
    return held | {"node": len(nodes), "gres/gpu": sum(each["gpus"] for each in nodes) / GPU, "billing": held["cpu"]}


def test_limits_are_reached_in_the_twin() -> None:
    """Else it would show nothing."""
    total = 0.0
    for seed in range(8):
        own = random_site(np.random.default_rng(seed + 1000))
        schedule = random_on_nodes(seed, jobs=16)
        users = np.random.default_rng(seed).choice(["u1", "u2", "u3"], len(schedule.jobs)).tolist()
        total += wait_reasons(at_site(schedule, own, user=users))["limits"].sum()
    assert total > 20


def test_times_are_united_and_the_rest_is_what_is_left() -> None:
    """Parts of a job that touch or overlap become one; nothing is outside of its wait."""
    schedule = draw_on_nodes("job submit start run nodes cores / A 0 9 1 0 4 / B 1 9 1 1 4", MACHINE)
    notes = pd.DataFrame(
        {
            "job_number": [1, 1, 2, 1, 1],
            "job_occurrence": [0] * 5,
            "begin": [4.0, 2.0, -5.0, 5.0, 8.0],
            "end": [6.0, 4.0, 3.0, 5.5, np.nan],
            "reason": ["AssocGrpJobsLimit"] * 5,
        }
    )
    begin, end = np.array([0.0, 1.0]), np.array([9.0, 9.0])
    found = limited_times(replace(schedule, notes={"wait_reasons": notes}), begin, end)
    assert [each.tolist() for each in found] == [[0, 0, 1], [2, 8, 1], [6, 9, 3]]
    assert [each.tolist() for each in unlimited_parts(found, begin, end)] == [[0, 0, 1], [0, 6, 3], [2, 8, 9]]
    nothing = Times(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    assert [each.tolist() for each in unlimited_parts(nothing, begin, begin)] == [[], [], []]
