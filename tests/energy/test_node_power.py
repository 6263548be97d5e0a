# SPDX-License-Identifier: BSD-3-Clause
"""Power of nodes by their kind: by hand, second by second, and as the power of all processors where kinds are alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from swftools.energy import NodePower, measure_energy, power_over_time, powers_of
from swftools.errors import ParameterError
from swftools.machines.description import MachineDescription
from tests.examples import by_day
from tests.interpreted import all_interpreted
from tests.on_nodes import draw_machine, draw_on_nodes, random_on_nodes

MACHINE = draw_machine("kind count cores / thin 2 4 / fat 1 8")
SCHEDULE = draw_on_nodes(
    """
    job submit start run nodes cores exclusive
    A   0      0     10  0-1   2     no
    B   0      2     4   2     1     yes
    """,
    MACHINE,
)
POWERS = {"thin": NodePower(busy=10, idle=1, static=100), "fat": NodePower(busy=20, idle=5)}


@pytest.fixture(autouse=True)
def _interpreted() -> object:
    with all_interpreted():
        yield


def test_by_hand() -> None:
    """A takes 4 cores of 10 W; B all 8 of its node, of 20 W; thin nodes 100 W each whatever runs there."""
    steps = power_over_time(SCHEDULE, powers=POWERS)
    assert steps["time"].tolist() == [0, 2, 6, 10]
    assert steps["job_power"].tolist() == [40, 200, 40, 0]
    assert steps["idle_power"].tolist() == [4 + 40, 4, 44, 48]
    assert steps["power"].tolist() == [284, 404, 284, 248]
    values = measure_energy(SCHEDULE, powers=POWERS).set_index(["measure", "statistic"])["value"]
    assert values["energy", "total"] == 284 * 6 + 404 * 4
    assert values["energy", "of_jobs"] == 40 * 10 + 160 * 4
    assert values["energy_delay", "by_turnaround"] == 400 * 10 + 640 * 6
    assert values["assumed_power", "count"] == 2
    early = measure_energy(SCHEDULE, powers=POWERS, window=(-5.0, 0.0)).set_index(["measure", "statistic"])["value"]
    assert early["energy", "total"] == 248 * 5


def test_what_kinds_do_not_say() -> None:
    """The parameters do: of busy cores, idle ones, and what is always on beside the nodes."""
    some = {"fat": NodePower(busy=20)}
    steps = power_over_time(SCHEDULE, powers=some, busy_power=10, idle_power=2, static_power=7)
    assert steps["job_power"].tolist() == [40, 200, 40, 0]
    assert steps["idle_power"].tolist() == [2 * 12, 2 * 4, 2 * 12, 2 * 16]
    assert steps["power"].iloc[-1] == 32 + 7


def test_logged_power_goes_first() -> None:
    """It is that of the job, whatever was logged as its width; also without powers of kinds, and without a width."""
    jobs = SCHEDULE.jobs.assign(mean_power=[np.nan, 33.0], width=pd.array([4, 1], dtype="Int64"))
    logged = replace(SCHEDULE, jobs=jobs)
    assert power_over_time(logged, powers=POWERS)["job_power"].tolist() == [40, 73, 40, 0]
    both = replace(logged, jobs=jobs.assign(mean_power=[60.0, 33.0]))
    assert power_over_time(both, powers=POWERS)["job_power"].tolist() == [60, 93, 60, 0]
    assert power_over_time(both)["job_power"].tolist() == [60, 93, 60, 0]
    assert power_over_time(logged, busy_power=5)["job_power"].tolist() == [20, 53, 20, 0]
    unknown = replace(both, jobs=both.jobs.assign(width=pd.array([pd.NA, 0], dtype="Int64")))
    assert power_over_time(unknown, powers=POWERS)["job_power"].tolist() == [60, 93, 60, 0]
    assert power_over_time(logged, powers=POWERS, logged=False)["job_power"].tolist() == [40, 200, 40, 0]


def test_a_job_that_has_its_node_alone_takes_what_was_logged() -> None:
    """As PM100 tells it: one job, one node of 32 cores, of which it asked for one; 1000 W for 10 s are 10 kJ."""
    machine = draw_machine("kind count cores / n 1 32")
    schedule = draw_on_nodes("job submit start run nodes cores exclusive / A 0 0 10 0 1 yes", machine)
    for width in (1, 32, 128):
        jobs = schedule.jobs.assign(mean_power=[1000.0], width=pd.array([width], dtype="Int64"))
        for powers in (None, {"n": NodePower(busy=3)}):
            values = measure_energy(replace(schedule, jobs=jobs), powers=powers).set_index(["measure", "statistic"])
            assert values["value"]["energy", "of_jobs"] == 10_000


def test_what_a_description_says() -> None:
    """By the names that its kinds have as nodes; of kinds without power nothing."""
    described = MachineDescription.from_mapping(
        {
            "nodes": [
                {"kind": "thin", "count": 2, "cores": 4, "power": {"busy": 10, "idle": 1, "static": 100}},
                {"names": "fat[1-2]", "cores": 8, "power": {"busy": 20}},
                {"kind": "dark", "count": 1, "cores": 1},
            ]
        }
    )
    powers = powers_of(described)
    assert powers == {"thin": NodePower(10, 1, 100), "fat[1-2]": NodePower(20)}
    assert set(powers) < set(described.table().kinds)


@pytest.mark.parametrize("seed", by_day(range(40), 10))
def test_kinds_that_are_alike(seed: int) -> None:
    """They take what processors that are all alike take; and energy is that of each node by itself."""
    schedule = random_on_nodes(seed)
    alike = dict.fromkeys(("thin", "fat"), NodePower(busy=3, idle=2))
    options = {"static_power": 5.0}
    expected = power_over_time(schedule, busy_power=3, idle_power=2, **options)
    found = power_over_time(schedule, powers=alike, **options)
    np.testing.assert_allclose(found.to_numpy(), expected.to_numpy())
    own = {"thin": NodePower(busy=0, idle=0), "fat": NodePower(busy=3, idle=2)}
    other = {"thin": NodePower(busy=3, idle=2), "fat": NodePower(busy=0, idle=0)}
    apart = [measure_energy(schedule, powers=each)["value"].iloc[0] for each in (own, other)]
    assert sum(apart) == pytest.approx(measure_energy(schedule, powers=alike)["value"].iloc[0])


def test_what_is_refused() -> None:
    """A kind that there is not, a power below 0, a pool, and jobs whose power nothing says."""
    with pytest.raises(ParameterError, match=r"powers=fad: no kinds of nodes of this machine; it has thin, fat; did"):
        measure_energy(SCHEDULE, powers={"fad": NodePower(1)})
    with pytest.raises(ParameterError, match="powers: idle=-1 of kind fat is not a number of 0 or more, W"):
        measure_energy(SCHEDULE, powers={"fat": NodePower(1, -1)})
    with pytest.raises(ParameterError, match="is a pool of processors, without nodes"):
        measure_energy(replace(SCHEDULE, machine=None), powers=POWERS)
    words = r"2 of 2 jobs have no mean_power in the log, and kinds of nodes that they had no power of a busy core; give"
    with pytest.raises(ParameterError, match=words):
        measure_energy(SCHEDULE, powers={"thin": NodePower(1)})
