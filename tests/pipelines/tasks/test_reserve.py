# SPDX-License-Identifier: BSD-3-Clause
"""Reservations as a published version: what the functions return, what the console prints, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.reports import Version
from pipelines.reports.report import parts_of
from pipelines.store.data_root import DataRoot
from pipelines.tasks.reserve import PublishReservations
from swftools.errors import ParameterError
from swftools.qbets import WaitPredictor
from swftools.reservations import simulate_reservations
from swftools.simulator import simulate
from tests.pipelines.luigi_runs import SWFTOOLS, run
from tests.pipelines.small_logs import build

LOG = "lublin-feitelson:jobs=700,processors=64,load=0.9,seed=3"
"""A log without requests, in which nobody can reserve unless some are made up."""

VARQ = {"share": 0.4, "probability": 0.5}


def task_of(data_root: Path, **parameters: Any) -> PublishReservations:
    """Return the task."""
    given = {"log": LOG, "data_root": str(data_root), "augment": "", "by": "all", "requests": "factor:factor=2"}
    given["wait_options"] = "training=60"
    return PublishReservations(**{**given, "varq": json.dumps(VARQ), **parameters})


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> PublishReservations:
    """Return a task that is done."""
    task = task_of(tmp_path_factory.mktemp("reserved"))
    assert build(task)
    return task


def test_what_is_published(published: PublishReservations) -> None:
    """The tables and measures of the function; the manifest says of what they are."""
    folder = Path(published.output().path)
    trace = published.simulation.simulated_trace()
    waits = WaitPredictor("binomial", by=None, training=60)
    options = {"requests": "factor:factor=2"}
    found = simulate_reservations(trace, "easy", waits=waits, options=options, **VARQ)
    bare = simulate_reservations(trace, "easy", waits=waits, **VARQ)
    assert set(bare.reservations["why_denied"]) == {"no-request"}
    table = pd.read_parquet(folder / "reservations")
    assert table["is_accepted"].sum() > 50
    for name in ("job_number", "ask_time", "start_by", "submit_time", "start_time", "surplus_time", "requested_time"):
        assert table[name].tolist() == found.reservations[name].tolist()
    assert table["why_denied"].isna().tolist() == found.reservations["is_accepted"].tolist()
    schedule = pd.read_parquet(folder / "schedule")
    assert schedule["start_time"].tolist() == found.schedule.jobs["start_time"].tolist()
    measures = pd.read_csv(folder / "measures.csv").set_index("measure")["value"]
    expected = found.measures(simulate(trace, "easy", **options))
    assert measures.to_dict() == pytest.approx(expected)
    root = DataRoot.open(published.data_root)
    manifest = root.manifest(published.data_set_name, published.version)
    assert manifest["parameters"]["reservations"]["varq"]["share"] == 0.4
    assert manifest["main_table"] == "reservations"
    assert manifest["title"].startswith("40 % of the jobs reserve, easy, seed 0")
    assert published.data_set_name.endswith("-reservations")
    assert "jobs asked" in published.heading(lambda: pd.NA)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    "change",
    [
        {"varq": '{"share": 0.5, "probability": 0.5}'},
        {"varq": '{"share": 0.4, "probability": 0.5, "adapt": 0.1}'},
        {"waits": "lognormal"},
        {"by": "user"},
        {"wait_options": "training=61"},
        {"policy": "fcfs"},
        {"seed": 1},
        {"load": 0.5},
    ],
)
def test_other_reservations_are_another_version(published: PublishReservations, change: dict[str, Any]) -> None:
    """Also of the stage."""
    other = task_of(Path(published.data_root), **change)
    assert other.version != published.version
    assert other.reserving.key != published.reserving.key
    assert published.is_done()
    assert not other.is_done()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"varq": "share=2"}, "share=2"),
        ({"varq": "chare=.2"}, "chare"),
        ({"waits": "gradient-boosting"}, "of submissions to come"),
        ({"waits": "binomial,lognormal"}, "2 methods"),
        ({"by": "moon"}, "moon"),
        ({"predictor": "exact"}, "leave predictor= out"),
        ({"policy": "scojo-p", "augment": "speedup"}, "wider and narrower"),
        ({"wait_options": "trainin=3"}, "trainin"),
    ],
)
def test_what_is_refused_before_the_work(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    """One clear error each; nothing is made."""
    with pytest.raises(ParameterError, match=words):
        task_of(tmp_path, **change).check_values()
    assert not list(tmp_path.iterdir())


def test_the_console_says_the_same(published: PublishReservations, tmp_path: Path) -> None:
    """The command measures what the task does, and writes the same table, as CSV and Parquet."""
    options = [
        "--share",
        ".4",
        "--probability",
        ".5",
        "--by",
        "all",
        "--training",
        "60",
        "--requests",
        "factor:factor=2",
    ]
    for suffix in ("csv", "parquet"):
        path = tmp_path / f"asked.{suffix}"
        result = CliRunner().invoke(main, ["reservations", LOG, *options, "--json", "-o", str(path)])
        assert result.exit_code == 0, result.output
        mine = pd.read_csv(path) if suffix == "csv" else pd.read_parquet(path)
        table = pd.read_parquet(f"{published.output().path}/reservations")
        assert mine["submit_time"].tolist() == table["submit_time"].tolist()
        assert list(mine.columns) == list(table.columns)
    told = json.loads(result.stdout)["measures"]
    assert told == pytest.approx(published.reserving.load_told()["measures"])


def test_by_the_command_run(tmp_path: Path) -> None:
    """A slip is told in one line."""
    result = run([*SWFTOOLS, "run", "PublishReservations", "--log", LOG, "--varq", "probability=1"], tmp_path)
    assert result.returncode == 2
    assert "probability=1" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_report(published: PublishReservations) -> None:
    """Its measures, promises that were kept or not, and a row a group; beside another version, a column more."""
    root = DataRoot.open(published.data_root)
    version = Version(root, root.manifest(published.data_set_name, published.version))
    what, (figures, promises, groups) = parts_of(version, version)
    assert what == "Reservations by predicted waits, in a simulated schedule"
    rows = {row[0]: row[1] for row in figures.tables[0].rows}
    told = published.reserving.load_told()["measures"]
    assert rows["jobs that asked"] == told["asked"]
    assert rows["paid / needed"] == told["paid_over_needed"]
    assert len(rows) == len(told)
    table = pd.read_parquet(f"{published.output().path}/reservations")
    assert promises.pictures[0].subject["predicted"].sum() == table["is_accepted"].sum()
    (row,) = groups.tables[0].rows
    assert row[:3] == ["all", len(table), table["is_accepted"].sum()]
    assert row[3] == pytest.approx(told["met"])
    assert "training" in str(row[4])
