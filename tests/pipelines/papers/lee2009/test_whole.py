# SPDX-License-Identifier: BSD-3-Clause
"""All tables of Lee 2009: of the shipped log, which is its window, in few generations; and what must come out."""

from __future__ import annotations

from pathlib import Path

import luigi
import pandas as pd
import pytest

from pipelines.logs.find import SHIPPED_LOG
from pipelines.papers import find_paper
from pipelines.papers.lee2009.schedules import JOBS, PERCENTS, UTILITY, WAIT, policy_run
from pipelines.papers.lee2009.tables import OTHERS, TOLD, told_run
from pipelines.papers.lee2009.values import mean, ratios
from pipelines.papers.lee2009.windows import BLUE, DATASTAR
from pipelines.papers.paper import Measurements, Run
from pipelines.tasks.reproduce_paper import ReproducePaper
from swftools.trace import Trace
from tests.remembered import remember, remembered

PAPER = find_paper("lee2009")


def publish(data_root: Path, **parameters: object) -> Path:
    """Build in this process and return the version."""
    task = ReproducePaper(paper="lee2009", data_root=str(data_root), **parameters)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    return Path(task.output().path)


def measure(trace: Trace, runs: list[Run]) -> Measurements:
    """Return what runs measure on the shipped log."""
    tables = [
        remembered(PAPER.experiments[run.experiment])(trace, run.parameters, run.seed).assign(
            log=BLUE, experiment=run.text
        )
        for run in runs
    ]
    return Measurements(pd.concat(tables, ignore_index=True))


def test_the_window_is_the_shipped_log() -> None:
    """So a whole run needs no other log for chapter 4."""
    assert BLUE == SHIPPED_LOG
    assert list(PAPER.logs) == [BLUE, DATASTAR]


@pytest.mark.slow
def test_a_quick_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table has rows, nearly all values are known, none is printed beside; every picture can be drawn."""
    remember(PAPER, monkeypatch)
    path = publish(tmp_path, quick=True)
    table = pd.read_parquet(path / "reproduction")
    assert set(table["place"]) == {each.place for each in PAPER.tables}
    assert table["printed"][table["row"] != "statement"].isna().all()
    known = table.groupby("place")["ours"].agg(lambda ours: ours.notna().mean())
    assert known.min() > 0.9, known
    rows = table[table["is_chosen"]].set_index(["place", "row", "column"])["ours"]
    assert rows["Table 4.1", "EASY", "wait 100 %"] == 116_552
    utility = rows["Table 4.1"].xs("aggregate utility", level="column")
    assert utility["Cons"] < utility["EASY"] == 1 < utility["Prio"] < utility["GA"]
    assert rows["Figure 6.6", "SDSC-BLUE GA-ckpt none", "jobs that were stopped"] > 0
    assert rows["Figure 6.6", "SDSC-BLUE GA", "jobs that were stopped"] == 0
    measurements = pd.read_parquet(path / "measurements")
    values = Measurements(measurements)
    of_draw = [
        values.values(BLUE, told_run(BLUE, name, True), JOBS, UTILITY) for name in ("easy", "prio-fifo", "genetic")
    ]
    assert all(easy < prio < bred for easy, prio, bred in zip(*of_draw, strict=True))
    for picture in PAPER.pictures.values():
        figure = picture(measurements)
        assert any(axes.lines or axes.patches for axes in figure.axes)


@pytest.mark.parametrize("draws", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_waits_and_utility_of_some_draws(draws: int, shipped: Trace) -> None:
    """EASY's longest wait is the printed one to the second, and Prio-FIFO earns more than EASY as printed."""
    runs = {name: [policy_run(name, seed) for seed in range(draws)] for name in ("easy", "prio-fifo")}
    found = measure(shipped, [run for each in runs.values() for run in each])
    easy, prio = (each[0] for each in runs.values())
    waits = {run: [found.value(BLUE, run, JOBS, WAIT, str(mark)) for mark in PERCENTS] for run in (easy, prio)}
    assert waits[easy][-1] == 116_552
    assert [round(wait) for wait in waits[prio]] == [0, 0, 2730, 72348, 321543]
    by_draw = ratios(found, BLUE, prio, easy)
    assert len(by_draw) == draws
    assert min(by_draw) > 1
    assert mean(by_draw) == pytest.approx(1.095, abs=0.02)


@pytest.mark.slow
def test_genetic_scheduling_of_ten_draws(shipped: Trace) -> None:
    """It earns more than both in every draw, about as much as another program does that was written by the paper."""
    runs = {
        name: [policy_run(name, seed, generations=5) for seed in range(10)] for name in ("easy", "prio-fifo", "genetic")
    }
    found = measure(shipped, [run for each in runs.values() for run in each])
    easy, prio, bred = (each[0] for each in runs.values())
    assert min(ratios(found, BLUE, bred, prio)) > 1
    assert mean(ratios(found, BLUE, bred, easy)) == pytest.approx(1.218, abs=0.04)
    assert mean(ratios(found, BLUE, bred, prio)) == pytest.approx(1.097, abs=0.04)


def test_runs_are_planned_once_for_all_tables() -> None:
    """Tables share their schedules; only Tables 4.1 and 4.2 and the runs by generations breed 100 generations."""
    runs = PAPER.runs(PAPER.tables, BLUE, quick=False)
    assert len(runs) == len({(run.text, run.seed) for run in runs})
    full = [run for run in runs if "policy=genetic," in run.text and "generations=100," in run.text]
    assert len(full) == 20
    assert all(run.experiment in ("survey", "checkpoints") for run in PAPER.runs(PAPER.tables, DATASTAR, quick=False))
    assert "survey" not in {run.experiment for run in runs}
    assert len(PAPER.runs(PAPER.chosen_tables("4.1"), BLUE, quick=False)) == 10 * (4 + len(OTHERS))
    assert list(TOLD) == ["4.1", "4.2"]
