# SPDX-License-Identifier: BSD-3-Clause
"""Figures 5.2 and 5.4: the queue, the month and the cluster that stand, the trajectory, and what is drawn of both."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pipelines.papers import find_paper
from pipelines.papers.cells import compare
from pipelines.papers.nurmi2009 import trajectories
from pipelines.papers.nurmi2009.trajectories import TrajectoryOfPaper, measure_trajectory, trajectory_run
from pipelines.papers.paper import Measurements
from swftools import Trace
from swftools.header import SwfHeader
from swftools.plots import style
from tests.reservations.states import log_of_waits

DS = "SDSC-DS-2004-2.1-cln"
PAPER = find_paper("nurmi2009")
DAY = 86_400.0


def log_of_months() -> Trace:
    """Return ten jobs a day of 80 days from January on; those of queue 2 are a few."""
    rng = np.random.default_rng(0)
    log = log_of_waits(np.round(rng.uniform(10, 1000, 800)), every=DAY / 10)
    header = SwfHeader.from_lines(["; MaxProcs: 8", "; UnixStartTime: 1104537600"])  # 2005-01-01
    return Trace(header, log.jobs.assign(queue_id=np.where(np.arange(800) % 10 == 0, 2, 3), run_time=60))


@pytest.fixture(scope="module")
def found() -> Measurements:
    """Return what is measured of February, under the name of DataStar's log."""
    run = trajectory_run(DS, True)
    table = measure_trajectory(log_of_months(), run.parameters, 0)  # type: ignore[arg-type]
    return Measurements(table.assign(log=DS, experiment=run.text, seed=0))


def test_the_queue_and_the_month(found: Measurements) -> None:
    """February of the queue normal; every job of it is a point, and what is beside is none."""
    run = trajectory_run(DS, True)
    assert run.parameters.to_mapping() == {
        "population": "datastar",
        "month": "2005-02",
        "processors": 32,
        "training": 200,
    }
    assert trajectory_run("other", False).parameters == TrajectoryOfPaper(month=None, processors=4)
    (row,) = found.subjects(DS, run)
    assert row == "datastar/normal"
    jobs = log_of_months().jobs
    normal = jobs[jobs["queue_id"] == 3]
    day = normal["submit_time"] / DAY
    is_told = (day >= 31) & (day < 59) & (np.arange(len(normal)) >= 0)
    at, waits = trajectories.curve_of(found, DS, run, row, "wait")
    told = normal[is_told.astype(bool)]
    first = float(told["submit_time"].min())
    known = told[(told["submit_time"] - first) / DAY >= at[0] - 1e-3]
    np.testing.assert_allclose(at, (known["submit_time"] - first) / DAY, atol=1e-4)
    np.testing.assert_array_equal(waits, known["wait_time"])
    assert found.value(DS, run, row, "jobs") == len(at) > 20
    at, bounds = trajectories.curve_of(found, DS, run, row, "bound")
    assert found.value(DS, run, row, "within") == (waits <= bounds).mean()
    assert found.value(DS, run, row, "wait .05") == np.quantile(waits, 0.05)
    assert found.value(DS, run, row, "bound .95") == np.quantile(bounds, 0.95)


def test_the_trajectory(found: Measurements) -> None:
    """Waits are below 1,000 s: an hour is enough, and the latest submission for .5 is some 500 s before the start."""
    run, row = trajectory_run(DS, True), "datastar/normal"
    at, probability = trajectories.curve_of(found, DS, run, row, "probability")
    assert (at[0], at[-1]) == (0.0, 12 * 3600 - 30)
    assert (np.diff(probability[:-1]) < 0).all()
    latest = found.value(DS, run, row, "latest wait")
    assert 400 <= 12 * 3600 - latest <= 800
    assert found.value(DS, run, row, "latest request") == 3600 + 12 * 3600 - latest
    best = found.value(DS, run, row, "best wait")
    assert best < latest
    assert found.value(DS, run, row, "best probability") == probability.max()


def test_cells_and_pictures(found: Measurements) -> None:
    """Beside what the text prints of other machines, and not compared with it."""
    tables = [table for number in ("figure-5.2", "figure-5.4") for table in PAPER.chosen_tables(number)]
    cells = compare(PAPER, tables, found, quick=True).set_index("column")
    assert cells.loc["request", "printed"] == "6330"
    assert cells.loc["waits", "printed"] == "10"
    assert cells["is_reproduced"].isna().all()
    assert cells["ours"].notna().all()
    for name in ("figure_5_2", "figure_5_4"):
        with style():
            figure = PAPER.pictures[name](found.table)
        (axes,) = figure.axes
        assert axes.get_title() == "datastar/normal"
        assert len(axes.lines) >= 2


def test_nothing_to_show() -> None:
    """A log in which nobody is told anything, and one without such jobs, are measured as nothing."""
    few = log_of_months()
    few = few.with_jobs(few.jobs.head(30))
    assert measure_trajectory(few, TrajectoryOfPaper(training=1000), 0).empty
    assert measure_trajectory(few.with_jobs(few.jobs.assign(run_time=0)), TrajectoryOfPaper(), 0).empty
    empty = Measurements(pd.DataFrame(columns=["log", "experiment", "subject", "x", "measure", "value"]))
    with style():
        assert PAPER.pictures["figure_5_2"](empty.table).axes
