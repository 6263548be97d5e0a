# SPDX-License-Identifier: BSD-3-Clause
"""swftools energy, and convert --as-read: what is told, written and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import WRONG_COMMAND
from pipelines.logs.how_read import HowRead
from swftools import read_swf
from swftools.errors import UnreadableLogError
from swftools.formats.swf.dialects import EPOCH_NOTE

LOG = "lublin-feitelson:jobs=40,processors=16,load=0.7,seed=3"


def run(*arguments: object) -> Result:
    """Run swftools."""
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_energy_of_two_policies(tmp_path: Path) -> None:
    """A column each, over one window: without idle power they take the same, and their mean power is one."""
    rates = tmp_path / "r.csv"
    times = pd.date_range("2022-01-01", periods=24 * 60, freq="h")
    pd.DataFrame({"time": times, "g": [10.0 + hour % 24 for hour in range(len(times))]}).to_csv(rates, index=False)
    options = ("--busy-power", 50, "--intensity", rates, "--time-zone", "UTC", "--origin", "2022-01-01T00:00Z")
    result = run("energy", LOG, "--policies", "fcfs,easy:reservations=2,backfill_order=sjf", *options, "--json")
    assert 0 == result.exit_code, result.output
    rows = pd.DataFrame(json.loads(result.stdout)["energy"])
    wide = rows.pivot(index=["measure", "statistic"], columns="policy", values="value")
    fcfs, easy = wide.columns
    assert wide.loc[("energy", "total"), fcfs] == pytest.approx(wide.loc[("energy", "total"), easy], rel=1e-9)
    assert wide.loc[("power", "time_mean"), fcfs] == pytest.approx(wide.loc[("power", "time_mean"), easy], rel=1e-9)
    assert wide.loc[("carbon_intensity", "time_mean")].nunique() == 1
    told = run("energy", LOG, "--policies", "fcfs", *options, "--output", tmp_path / "e.csv")
    assert "carbon total (gCO2)" in told.output
    written = pd.read_csv(tmp_path / "e.csv")
    assert "carbon" in written["measure"].tolist()
    printed = [line.rsplit(maxsplit=1)[-1] for line in told.output.splitlines() if line[:40].rstrip().endswith(")")]
    assert printed == ["-" if pd.isna(value) else f"{value:,.6g}" for value in written["value"]]
    assert any(value != "-" for value in printed)


def test_energy_on_nodes_with_power_of_their_own(tmp_path: Path) -> None:
    """By the machine's description, with its changes: 2 of 4 cores are busy for 10 s."""
    (tmp_path / "log.swf").write_text("; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1\n")
    machine = tmp_path / "m.yaml"
    machine.write_text("nodes: [{names: n1, cores: 4, memory: 1G, power: {busy: 100, idle: 10, static: 5}}]\n")
    words = ("energy", tmp_path / "log.swf", "--machine", machine, "--policies", "fcfs,easy")
    for options, joules in (
        ((), 10 * (2 * 100 + 2 * 10 + 5)),
        (("--change", "nodes.n1.power.busy=50"), 10 * (2 * 50 + 2 * 10 + 5)),
        (("--busy-power", 7, "--idle-power", 1), 10 * (2 * 100 + 2 * 10 + 5)),
    ):
        result = run(*words, *options, "--json")
        assert result.exit_code == 0, result.output
        rows = pd.DataFrame(json.loads(result.stdout)["energy"]).set_index(["measure", "statistic"])
        energy = rows.loc[("energy", "total")]
        assert (energy["value"] * {"J": 1, "kWh": 3.6e6}[energy["unit"].iloc[0]]).round(6).tolist() == [joules] * 2
    printed = run(*words).output
    assert "energy total" in printed
    assert "not simulated" not in printed
    assert "machine: power: told, not simulated (n1)" in run("simulate", *words[1:4]).output


def test_energy_of_nodes_that_are_switched_off(tmp_path: Path) -> None:
    """Two runs of 10 s at 225 W; between them 2 s idle at 45 W, 27 s off at 3 W, and a boot of 1 s at 99 W."""
    row = "{} {} -1 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1\n"
    (tmp_path / "log.swf").write_text("; MaxProcs: 4\n" + row.format(1, 0) + row.format(2, 40))
    machine = tmp_path / "m.yaml"
    machine.write_text("nodes: [{names: n1, cores: 4, memory: 1G, power: {busy: 100, idle: 10, static: 5}}]\n")
    off = ("--off-after", 2, "--off-power", 3, "--boot-time", 1, "--boot-power", 99)
    result = run("energy", tmp_path / "log.swf", "--machine", machine, *off, "--json")
    assert result.exit_code == 0, result.output
    rows = pd.DataFrame(json.loads(result.stdout)["energy"]).set_index(["measure", "statistic"])["value"]
    assert rows["energy", "total"] == pytest.approx(2 * 2250 + 90 + 81 + 99)
    assert rows["switched_on", "count"] == 1
    refused = run("energy", tmp_path / "log.swf", "--busy-power", 5, *off)
    assert refused.exit_code != 0
    assert "is a pool of processors, without nodes" in refused.output


def test_energy_that_cannot_be_told(tmp_path: Path) -> None:
    """No power, no second 0, no zone."""
    pd.DataFrame({"t": pd.date_range("2022-01-01", periods=3, freq="h"), "v": 1.0}).to_csv(tmp_path / "r.csv")
    for options, told in (
        ((), "have no mean_power in the log; give the power of a busy processor by busy_power="),
        (("--busy-power", 5, "--price", tmp_path / "r.csv"), "2 columns are of numbers"),
    ):
        result = run("energy", LOG, *options)
        assert (True, True) == (result.exit_code != 0, told in result.output.replace("\n", " ")), result.output


def test_a_log_is_converted_back(tmp_path: Path) -> None:
    """Through Parquet, cleaned or not; not into Parquet."""
    log = tmp_path / "a.swf"
    log.write_text("0 1700000000 5 100 2 -1 -1 2 7200 -1 1 62 1 1 -1 1 -1 -1 0 -1 frontier:excl:2x56\n")
    assert 0 == run("convert", log, tmp_path / "a.parquet").exit_code
    assert 0 == run("convert", tmp_path / "a.parquet", tmp_path / "b.swf", "--as-read").exit_code
    assert log.read_text().split() == (tmp_path / "b.swf").read_text().split()
    assert 0 == run("convert", log, tmp_path / "c.swf").exit_code
    assert (112, (EPOCH_NOTE,)) == (
        read_swf(tmp_path / "c.swf").arrays.width[0],
        read_swf(tmp_path / "c.swf").header.notes,
    )
    result = run("convert", log, tmp_path / "d.parquet", "--as-read")
    assert (WRONG_COMMAND, True) == (result.exit_code, "--as-read is of SWF" in result.output)


def test_a_file_of_machines_counts_in_what_is_kept(tmp_path: Path) -> None:
    """Another content is another key, and none at all is told of."""
    path = tmp_path / "m.machines"
    keys = []
    for nodes in (2, 3):
        path.write_text(f"0 a {nodes} 4 1 9\n")
        keys.append(HowRead(f"swf:machines={path}").key)
    assert keys[0] != keys[1]
    assert {} == HowRead("swf").key
    path.unlink()
    with pytest.raises(UnreadableLogError, match=r"m\.machines: cannot be read"):
        _ = HowRead(f"swf:machines={path}").key
