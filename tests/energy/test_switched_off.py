# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are switched off by an idle time-out, and power by kind: by hand, and second by second."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from swftools.energy import NodePower, measure_energy, power_by_kind, power_over_time, read_rates
from swftools.energy.switched_off import find_switched_off
from swftools.errors import ParameterError
from tests.examples import by_day
from tests.interpreted import all_interpreted
from tests.naive.energy import power_of_nodes_each_second
from tests.on_nodes import draw_machine, draw_on_nodes, random_on_nodes

MACHINE = draw_machine("kind count cores / thin 2 4 / fat 1 8")
SCHEDULE = draw_on_nodes(
    """
    job submit start run nodes cores
    A   0      0     10  0     2
    B   0      30    10  0-1   4
    C   0      41    9   2     8
    """,
    MACHINE,
)
POWERS = {"thin": NodePower(busy=10, idle=1, static=100), "fat": NodePower(busy=20, idle=5, static=10)}


@pytest.fixture(autouse=True)
def _interpreted() -> object:
    with all_interpreted():
        yield


def values_of(schedule: object, **options: object) -> pd.Series:
    """Return measures by name and statistic."""
    return measure_energy(schedule, powers=POWERS, **options).set_index(["measure", "statistic"])["value"]  # type: ignore[arg-type]


def test_by_hand() -> None:
    """Idle thin nodes take 104 W, the fat one 50 W. Node 1 is off from 5 s, node 0 from 15 s, node 2 from 5 s on.

    The thin ones boot at 28 s for 30 s, the fat one at 39 s for 41 s. After B the thin ones are off from 45 s on.
    """
    options = {"off_after": 5, "off_power": 2, "boot_time": 2, "boot_power": 200}
    steps = power_over_time(SCHEDULE, powers=POWERS, **options)
    assert steps["time"].tolist() == [0, 5, 10, 15, 28, 30, 39, 40, 41, 45, 50, 55]
    thin, fat = 104 - 2, 50 - 2
    assert steps["saved_power"].tolist() == [
        *(0, thin + fat, thin + fat, 2 * thin + fat, 2 * (104 - 200) + fat),
        *(fat, 50 - 200, 50 - 200, 0, 2 * thin, 2 * thin, 2 * thin + fat),
    ]
    assert steps["power"].iloc[0] == 2 * 10 + 2 + 4 + 200 + 50
    assert steps["power"].iloc[-1] == 3 * 2
    values, without = values_of(SCHEDULE, **options), values_of(SCHEDULE)
    saved = 10 * (thin + fat) + 13 * (2 * thin + fat) + 2 * (fat - 192) + 9 * fat - 2 * 150 + 5 * 2 * thin
    assert values["energy", "saved_off"] == pytest.approx(saved)
    assert values["energy", "total"] == pytest.approx(without["energy", "total"] - saved)
    assert values["switched_on", "count"] == 3
    assert values["off_nodes", "time_mean"] == pytest.approx((23 + 13 + 34 + 2 * 5) / 50)
    later = values_of(SCHEDULE, **options, window=(0.0, 65.0))
    assert later["off_nodes", "time_mean"] == pytest.approx((23 + 13 + 34 + 2 * 20 + 10) / 65)
    assert values_of(SCHEDULE, **options, window=(0.0, 40.0))["switched_on", "count"] == 2


def test_no_time_to_switch_off() -> None:
    """Node 0 is idle for 20 s: too short for a time-out of 18 s and a boot of 2 s, and a second shorter it is off."""
    for off_after, is_off in ((18, False), (17, True)):
        found = find_switched_off(SCHEDULE, off_after, 2, 0)
        of_node = [each[found.node == 0].tolist() for each in found]
        last = [off_after + 40, np.inf, np.inf]
        assert list(zip(*of_node[1:], strict=True)) == [*[(27, 28, 30)] * is_off, tuple(last)]


def test_a_window_that_begins_before_all() -> None:
    """Nodes are idle from its begin on; without one from the first submission on."""
    early = values_of(SCHEDULE, off_after=5, window=(-20.0, 0.0))
    assert early["off_nodes", "time_mean"] == pytest.approx((2 * 15 + 15) / 20)
    assert early["switched_on", "count"] == 1
    assert values_of(SCHEDULE, off_after=5, window=(35.0, 65.0))["switched_on", "count"] == 1
    late = values_of(SCHEDULE, off_after=5, window=(2.0, 10.0))
    assert late["off_nodes", "time_mean"] == pytest.approx(2 * 5 / 8)


def test_what_is_off_by_default() -> None:
    """A node that is off takes nothing, and one that boots what it takes while it is idle; all parameters as usual."""
    steps = power_over_time(SCHEDULE, busy_power=3, idle_power=1, off_after=0, boot_time=1)
    assert steps["time"].tolist() == [0, 10, 29, 30, 40, 41, 50]
    assert steps["power"].tolist() == [2 * 3 + 2, 0, 8, 8 * 3, 8, 8 * 3, 0]
    never = power_over_time(SCHEDULE, powers=POWERS, off_after=1000)
    np.testing.assert_array_equal(
        np.interp([0, 10, 30, 40], never["time"], never["power"]),
        np.interp([0, 10, 30, 40], *power_over_time(SCHEDULE, powers=POWERS)[["time", "power"]].to_numpy().T),
    )
    assert "saved_power" not in power_over_time(SCHEDULE, powers=POWERS)
    assert ("switched_on", "count") not in values_of(SCHEDULE)


@pytest.mark.parametrize("seed", by_day(range(100), 10))
def test_second_by_second(seed: int) -> None:
    """Of all nodes, and of those of a kind; energy and carbon are their sums."""
    schedule = random_on_nodes(seed, jobs=6)
    draw = np.random.default_rng(seed)
    options = {
        "off_after": int(draw.integers(4)),
        "off_power": 0.5,
        "boot_time": int(draw.integers(3)),
        "boot_power": 70.0,
    }
    powers = {"thin": NodePower(3, 1, 20), "fat": NodePower(4, 2, 30)}
    begin, end = int(schedule.jobs["submit_time"].min()), int(schedule.jobs["end_time"].max())
    twin = np.array(power_of_nodes_each_second(schedule, dict(powers), end, **options))  # type: ignore[arg-type]
    seconds = np.arange(begin, end)
    steps = power_over_time(schedule, powers=powers, static_power=9, **options)
    power = steps["power"].to_numpy()[np.searchsorted(steps["time"], seconds, "right") - 1]
    assert power == pytest.approx(twin.sum(axis=0) + 9)
    machine = schedule.machine
    assert machine is not None
    by_kind = power_by_kind(schedule, powers=powers, static_power=9, **options)
    for place, kind in enumerate(machine.kinds):
        of_kind = by_kind[by_kind["kind"] == kind]
        assert of_kind["time"].tolist() == steps["time"].tolist()
        power = of_kind["power"].to_numpy()[np.searchsorted(of_kind["time"], seconds, "right") - 1]
        assert power == pytest.approx(twin[machine.kind == place].sum(axis=0))
    moments = pd.date_range("2022-01-01", periods=end + 1, freq="s", tz="UTC")
    rates = draw.integers(1, 9, end + 1).astype(float)
    values = measure_energy(
        schedule, powers=powers, intensity=read_rates(pd.Series(rates, moments)), origin="2022-01-01T00:00Z", **options
    ).set_index(["measure", "statistic"])["value"]
    assert values["energy", "total"] == pytest.approx(twin.sum())
    assert values["carbon", "total"] == pytest.approx((twin.sum(axis=0) * rates[begin:end]).sum() / 3.6e6)


def test_logged_power_by_kind() -> None:
    """It is shared out by the cores that a job holds on each node."""
    table = "job submit start run nodes cores / A 0 0 10 0-2 2 / B 0 0 5 2 2"
    schedule = draw_on_nodes(table, MACHINE)
    logged = replace(schedule, jobs=schedule.jobs.assign(mean_power=[60.0, np.nan]))
    found = power_by_kind(logged, powers=POWERS).set_index(["kind", "time"])["power"]
    assert found["thin", 0] == 40 + 2 * 2 + 200
    assert found["fat", 0] == 20 + 2 * 20 + 4 * 5 + 10
    assert found["fat", 5] == 20 + 6 * 5 + 10
    assert found["thin", 10] == 208


def test_nothing_ran_and_what_is_refused() -> None:
    """An empty schedule has no steps, and with a window all nodes are off; a pool has no nodes to switch off."""
    empty = replace(SCHEDULE, jobs=SCHEDULE.jobs[:0], segments=SCHEDULE.segments[:0])
    assert len(power_over_time(empty, powers=POWERS, off_after=5)) == 0
    assert values_of(empty, off_after=5, window=(0.0, 10.0))["off_nodes", "time_mean"] == pytest.approx(1.5)
    assert np.isnan(values_of(empty, off_after=5)["energy", "saved_off"])
    with pytest.raises(ParameterError, match="is a pool of processors, without nodes"):
        measure_energy(replace(SCHEDULE, machine=None), busy_power=1, off_after=5)
    with pytest.raises(ParameterError, match="is a pool of processors, without nodes"):
        power_by_kind(replace(SCHEDULE, machine=None), busy_power=1)
    with pytest.raises(ParameterError, match="off_after=-1"):
        measure_energy(SCHEDULE, powers=POWERS, off_after=-1)
