# SPDX-License-Identifier: BSD-3-Clause
"""Prices as a published table, and on the console."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import swftools
from pipelines.cli.main import main
from pipelines.cli.prices import lines_of
from pipelines.store.data_root import DataRoot
from pipelines.tasks.price import PriceSchedule
from swftools.errors import ParameterError
from swftools.market.prices import Prices
from tests.pipelines.small_logs import build

LOG = "lublin-feitelson:jobs=60,processors=64,load=20,types=mix,seed=3"


def priced(data_root: Path, **parameters: object) -> PriceSchedule:
    """Run the task and return it."""
    given = {"log": LOG, "data_root": str(data_root), "policy": "easy", "parts": 3, **parameters}
    task = PriceSchedule(**given)
    assert build(task)
    return task


def test_the_task_publishes_what_the_function_returns(tmp_path: Path) -> None:
    """Whatever the number of parts; the bill stands beside it."""
    task = priced(tmp_path, mechanism="vcg:horizon=1h")
    root = DataRoot.open(str(tmp_path))
    found = pd.read_parquet(f"{task.output().path}/prices")
    simulation = task.simulation
    expected = swftools.price(simulation.load_schedule(), "vcg:horizon=1h", trace=task.cells[0]._trace())
    assert found["price"].tolist() == expected.jobs["price"].tolist()
    assert found["price"].sum() > 0
    bill = pd.read_csv(f"{task.output().path}/bill.csv")
    assert bill["price"].sum() == pytest.approx(found["price"].sum())
    manifest = root.manifest(task.data_set_name, task.version)
    assert manifest["parameters"]["prices"]["horizon"] == "1h"
    assert manifest["main_table"] == "prices"
    assert PriceSchedule(log=LOG, data_root=str(tmp_path), policy="easy", parts=5, mechanism="vcg:horizon=1h").is_done()
    other = PriceSchedule(log=LOG, data_root=str(tmp_path), policy="easy", mechanism="fixed")
    assert other.version != task.version


def test_wrong_mechanisms_are_refused_before_the_work(tmp_path: Path) -> None:
    """So are parts that there are none of."""
    with pytest.raises(ParameterError, match="no price mechanism"):
        PriceSchedule(log=LOG, data_root=str(tmp_path), mechanism="vgc").check_values()
    with pytest.raises(ParameterError, match="parts=0"):
        PriceSchedule(log=LOG, data_root=str(tmp_path), mechanism="vcg", parts=0).check_values()


def test_the_console_prints_the_bill(tmp_path: Path) -> None:
    """And writes prices, as CSV and Parquet, and as JSON."""
    call = ["price", LOG, "--policy", "easy", "--mechanism", "fixed", "--sample", "20"]
    result = CliRunner().invoke(main, [*call, "-o", str(tmp_path / "prices.csv")])
    assert result.exit_code == 0, result.output
    assert "Prices: fixed:rate=1.0, 20 jobs under easy" in result.output
    written = pd.read_csv(tmp_path / "prices.csv")
    assert len(written) == 20
    assert all(len(line) <= 80 for line in result.output.splitlines() if str(tmp_path) not in line and LOG not in line)
    found = json.loads(CliRunner().invoke(main, [*call, "--json", "-o", str(tmp_path / "p.parquet")]).output)
    assert sum(row["price"] for row in found["bill"]) == pytest.approx(written["price"].sum())
    assert (found["jobs"], found["no_price"]) == (20, {})
    assert pd.read_parquet(tmp_path / "p.parquet")["price"].tolist() == written["price"].tolist()


def test_the_console_names_users() -> None:
    """Number and name, as the log has it, in lines that fit; others by their numbers."""
    jobs = pd.DataFrame({"user_id": pd.array([1, 2, 3, None], dtype="Int64"), "price": [4.0, 3.0, 2.0, 1.0]})
    jobs = jobs.assign(job_number=[1, 2, 3, 4], utility_got=0.0, processor_hours=1e12, no_price=None)
    lines = lines_of(Prices(jobs, "fixed", "easy"), {1: "ann", 2: "b\x1b" * 20})
    shortened = "b\\x1b" * 4 + "b..."
    rows = [["1", "ann"], ["2", shortened], ["3", "1"], ["none", "1"]]
    assert [line.split()[:2] for line in lines[-4:]] == rows
    assert all(len(line) <= 80 for line in lines)


def test_the_console_refuses_in_one_line() -> None:
    """A log without utility functions has no first prices; the remedy is named."""
    result = CliRunner().invoke(main, ["price", LOG, "--mechanism", "first-price"])
    assert result.exit_code != 0
    assert "the augmentation utility makes it" in str(result.output)
