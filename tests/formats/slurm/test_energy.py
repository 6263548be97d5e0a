# SPDX-License-Identifier: BSD-3-Clause
"""What sacct says of energy, as text and as JSON, and what is made of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.slurm.test_json import document, job
from tests.formats.slurm.told import one, read, table

SAID: list[tuple[dict[str, object], float | None]] = [
    ({"ConsumedEnergyRaw": 1200}, 1200.0),
    ({"ConsumedEnergyRaw": 1200, "ConsumedEnergy": "9K", "AllocTRES": "energy=7"}, 1200.0),
    ({"ConsumedEnergyRaw": "", "ConsumedEnergy": "1.25K", "AllocTRES": "energy=7"}, 1250.0),
    ({"ConsumedEnergy": "2M"}, 2e6),
    ({"AllocTRES": "cpu=4,energy=600,node=1"}, 600.0),
    ({"ConsumedEnergyRaw": 0, "AllocTRES": "cpu=4,energy=600"}, 600.0),
    ({"AllocTRES": "cpu=4,energy=18446744073709551614,node=1"}, None),
    ({"ConsumedEnergyRaw": 18446744073709551614}, None),
    ({"ConsumedEnergyRaw": 4294967294}, None),
    ({"ConsumedEnergyRaw": 0}, None),
    ({"ConsumedEnergyRaw": ""}, None),
]


@pytest.mark.parametrize(("columns", "energy"), SAID)
def test_energy_of_a_job(columns: dict[str, object], energy: float | None) -> None:
    """J, by the first column that says it; the mean power over the 600 s that it ran."""
    row = one(table(columns))["row"]
    assert energy == row.get("energy")
    assert (None if energy is None else energy / 600) == row.get("mean_power")


def test_steps_do_not_count() -> None:
    """The line of the job has the sum over its steps."""
    text = table({"ConsumedEnergyRaw": 1200}, {"ConsumedEnergyRaw": 700}, {"ConsumedEnergyRaw": 500})
    assert 1200 == one(text)["row"]["energy"]


def test_what_is_odd_is_counted() -> None:
    """No energy in a long run; a word; a negative amount; beyond any machine. None of them loses the job."""
    for columns, told in (
        ({"ConsumedEnergyRaw": 0}, "no energy of a run: taken for not recorded"),
        ({"ConsumedEnergy": "much"}, "ConsumedEnergy is no energy: taken for missing"),
        ({"ConsumedEnergyRaw": "much"}, "ConsumedEnergyRaw is no number: taken for missing"),
        ({"ConsumedEnergyRaw": -5}, "energy is below 0 or beyond 1e+18: taken for missing"),
        ({"ConsumedEnergyRaw": "2000000000000000000"}, "energy is below 0 or beyond 1e+18: taken for missing"),
    ):
        trace = read(table(columns))
        assert (1, 1) == (len(trace), trace.provenance["anomalies"][told])
        assert "energy" not in trace.jobs
    for columns in ({"ConsumedEnergyRaw": 1}, {"AllocTRES": "cpu=4,energy=18446744073709551614,node=1"}):
        assert "anomalies" not in read(table(columns)).provenance  # the latter is how Slurm writes that it knows none


def test_a_run_of_no_time_has_no_mean_power() -> None:
    """Its energy stays."""
    row = one(table({"ConsumedEnergyRaw": 5, "ElapsedRaw": 0}))["row"]
    assert (5, None) == (row["energy"], row.get("mean_power"))


def test_who_never_ran_took_none() -> None:
    """A job cancelled while it waited."""
    columns = {"ConsumedEnergyRaw": 9, "AllocTRES": "", "NodeList": "None assigned"}
    trace = read(table(columns, State="CANCELLED", Start="Unknown"))
    assert (1, False) == (len(trace), "energy" in trace.jobs)


@pytest.mark.parametrize(
    ("changes", "energy"),
    [
        ({"tres": {"allocated": [{"type": "cpu", "count": 4}, {"type": "energy", "count": 1000}]}}, 1000.0),
        ({"tres": {"allocated": [{"type": "cpu", "count": 4}, {"type": "energy", "count": -2}]}}, 30.0),
        ({"tres": {"allocated": [{"type": "cpu", "count": 4}]}}, 30.0),
    ],
)
def test_energy_in_json(changes: dict[str, Any], energy: float) -> None:
    """Of the trackable resources, else the sum over the steps."""
    steps = [{"statistics": {"energy": {"consumed": {"set": True, "number": each}}}} for each in (10, 20)]
    row = one(document(job(**changes, steps=[*steps, {"statistics": {}}])), time_zone=None)["row"]
    assert (energy, energy / 500) == (row["energy"], row["mean_power"])
