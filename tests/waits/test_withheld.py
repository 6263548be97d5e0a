# SPDX-License-Identifier: BSD-3-Clause
"""Users and accounts that are called otherwise: the same study, under other names."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from swftools.formats.privacy import Privacy
from swftools.machines.slurm_site import SlurmAssociation, SlurmLimits, SlurmSite
from swftools.simulator.metrics.wait_reasons import REASONS
from swftools.simulator.schedule import Schedule
from swftools.waits import study_waits
from swftools.waits.withheld import withhold_people
from tests.on_nodes import draw_machine, draw_on_nodes

MACHINE = draw_machine("kind count cores / thin 3 4", {"all": "0-2"})
SITE = SlurmSite(
    enforce=frozenset({"limits"}),
    associations=(
        SlurmAssociation("root"),
        SlurmAssociation("phys", parent=0, shares=3),
        SlurmAssociation("bio", parent=0, shares=1),
        SlurmAssociation("phys", "anna", parent=1, limits=SlurmLimits(max_jobs=1)),
        SlurmAssociation("bio", "bert", parent=2),
        SlurmAssociation("bio", "zoe", parent=2),
    ),
)


@pytest.fixture
def schedule() -> Schedule:
    """Return a log of two users, of whom one has a limit; zoe ran nothing."""
    made = draw_on_nodes("job submit start run nodes cores / A 0 0 6 0 3 / B 0 0 4 1 3 / C 1 9 1 2 2", MACHINE)
    jobs = made.jobs.assign(
        user_id=pd.array([7, 8, 7], dtype="Int64"),
        group_id=pd.array([1, 2, 1], dtype="Int64"),
        account=pd.array(["phys", "bio", "phys"], dtype="str"),
        submit_line=pd.array(["sbatch -A phys"] * 3, dtype="str"),
    )
    known = {"user": {7: "anna", 8: "bert"}, "group": {1: "phys", 2: "bio"}, "queue": {1: "all"}}
    return replace(made, jobs=jobs, known_names=known, machine=replace(MACHINE, slurm=SITE), policy="logged")


@pytest.mark.parametrize("privacy", [Privacy("numbers"), Privacy("hash", key="secret")])
def test_the_study_is_the_same_under_other_names(schedule: Schedule, privacy: Privacy) -> None:
    """Limits are still those of the same users, shares those of the same accounts."""
    plain, other = study_waits(schedule), study_waits(withhold_people(schedule, privacy))
    assert plain.groups["limits"].iloc[0] > 0
    by_group = [each.groups.sort_values(["grouped_by", "amount", *REASONS, "jobs"]) for each in (plain, other)]
    for name in ("grouped_by", "jobs", "amount", *REASONS):
        assert by_group[0][name].tolist() == by_group[1][name].tolist()
    shares = [
        each.shares.sort_values("share")[["share", "served", "ratio"]].to_numpy().tolist() for each in (plain, other)
    ]
    assert shares[0] == shares[1] == [[0.25, 0.375, 1.5], [0.75, 0.625, pytest.approx(5 / 6)]]
    told = str(other.to_mapping()) + str(withhold_people(schedule, privacy))
    assert not [name for name in ("anna", "bert", "zoe", "phys", "bio") if name in told]


def test_numbers_are_those_of_the_log(schedule: Schedule) -> None:
    """Who has none there is called by another one; queues keep their names, words that may hold names are dropped."""
    found = withhold_people(schedule, Privacy("numbers"))
    assert found.machine is not None
    assert found.machine.slurm is not None
    told = [(each.account, each.user) for each in found.machine.slurm.associations]
    assert told == [("root", ""), ("1", ""), ("2", ""), ("1", "7"), ("2", "8"), ("2", "user-1")]
    assert found.jobs["account"].tolist() == ["1", "2", "1"]
    assert found.known_names == {"queue": {1: "all"}}
    assert "submit_line" not in found.jobs


def test_nothing_is_withheld_that_need_not_be(schedule: Schedule) -> None:
    """And a schedule without accounts or names stays as it is."""
    assert withhold_people(schedule, Privacy()) is schedule
    pool = replace(draw_on_nodes("job submit start run nodes cores / A 0 0 6 0 3", MACHINE), machine=None)
    assert withhold_people(pool, Privacy("numbers")).jobs.equals(pool.jobs)
