# SPDX-License-Identifier: BSD-3-Clause
"""The console's simulate and the task SimulatePolicy: one log, one schedule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import pytest
from click.testing import CliRunner

import pipelines
from pipelines.cli.main import main
from pipelines.logs.find import SHIPPED_LOG
from tests.pipelines.cli.test_reading_logs import LOG, catalog

COLUMNS = ["job_number", "submit_time", "start_time", "end_time", "allocated_processors"]


def by_console(log: str, folder: Path, *flags: str) -> pd.DataFrame:
    """Simulate by the console and read the file."""
    output = folder / "schedule.parquet"
    result = CliRunner().invoke(main, ["simulate", log, "--output", str(output), *flags])
    assert 0 == result.exit_code, result.output
    return pd.read_parquet(output)[COLUMNS]


def by_task(log: str, folder: Path, **parameters: Any) -> pd.DataFrame:
    """Simulate by the task and read its table."""
    task = pipelines.SimulatePolicy(log=log, data_root=str(folder / "data"), augment="", **parameters)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    return pd.read_parquet(Path(task.output().path) / "schedule.parquet")[COLUMNS]


@pytest.mark.parametrize(
    ("flags", "parameters"),
    [
        ((), {}),
        (("--load", "1.5"), {"load": 1.5}),
        (("--processors", "600"), {"processors": 600}),
        (("--load", "1.5", "--processors", "600"), {"load": 1.5, "processors": 600}),
        (("--rules", "flurries", "--policy", "fcfs"), {"rules": "flurries", "policy": "fcfs"}),
        (
            ("--overrun", "kill", "--cancelled", "end-at-once", "--seed", "3"),
            {"overrun": "kill", "cancelled": "end-at-once", "seed": 3},
        ),
        (("--predictor", "virtual", "--seed", "3"), {"predictor": "virtual", "seed": 3}),
        (
            ("--requests", "factor:factor=3", "--restart-overhead", "60"),
            {"requests": "factor:factor=3", "restart_overhead": "60"},
        ),
    ],
    ids=[
        *("default", "load", "processors", "load and processors", "rules and policy", "options", "predictor and seed"),
        "requests",
    ],
)
def test_on_the_shipped_log(tmp_path: Path, flags: tuple[str, ...], parameters: dict[str, Any]) -> None:
    """Whatever is asked for."""
    console = by_console(SHIPPED_LOG, tmp_path, *flags)
    pd.testing.assert_frame_equal(console, by_task(SHIPPED_LOG, tmp_path, **parameters))
    if flags:
        assert not console.equals(by_console(SHIPPED_LOG, tmp_path))
    if "virtual" in flags:
        assert not console.equals(by_console(SHIPPED_LOG, tmp_path, "--predictor", "virtual"))


def test_on_a_log_with_rules_and_a_machine_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its path: the card is known by the text. The run is cut at 50 s, the wide job gone, and 4 processors all."""
    (tmp_path / "cards.yaml").write_text(catalog(LOG))
    monkeypatch.setenv("SWFTOOLS_CATALOG", str(tmp_path / "cards.yaml"))
    log = tmp_path / "log.swf"
    log.write_text(LOG)
    console = by_console(str(log), tmp_path)
    pd.testing.assert_frame_equal(console, by_task(str(log), tmp_path))
    assert [(1, 0, 50), (3, 50, 110)] == list(
        console[["job_number", "start_time", "end_time"]].itertuples(index=False, name=None)
    )


def test_the_load_is_met(tmp_path: Path) -> None:
    """The console scales the times between submissions, for the machine that it is told of."""
    plain = by_console(SHIPPED_LOG, tmp_path)
    scaled = by_console(SHIPPED_LOG, tmp_path, "--load", "1.5")
    span = [(frame["submit_time"].max() - frame["submit_time"].min()) for frame in (plain, scaled)]
    assert span[1] < span[0]
    assert 0.5 == pytest.approx(span[1] / span[0], abs=0.01)  # of an offered load of 0.7486
