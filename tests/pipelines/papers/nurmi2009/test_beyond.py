# SPDX-License-Identifier: BSD-3-Clause
"""Beyond the paper: what is run, what stands in the tables, and what is drawn of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipelines.papers import find_paper
from pipelines.papers.cells import compare
from pipelines.papers.nurmi2009 import beyond
from pipelines.papers.nurmi2009.beyond import ReservedOfLog, measure_reserved, promises_of, share_run
from pipelines.papers.paper import Measurements
from swftools.plots import style
from swftools.qbets import WaitPredictor
from swftools.reservations import simulate_reservations
from swftools.simulator import simulate
from tests.reservations.test_varq import busy_log

PAPER = find_paper("nurmi2009-beyond")
MINE = "mine"


def test_what_is_run() -> None:
    """Six shares and two targets of whole logs; all methods at two shares of the first jobs."""
    runs = PAPER.runs(PAPER.tables, MINE, False)
    chosen: list[dict[str, Any]] = [run.parameters.to_mapping() for run in runs]
    whole = [each for each in chosen if not each["jobs"]]
    assert [(each["percent"], each["probability"]) for each in whole] == [
        (percent, target) for target in (0.75, 0.95) for percent in (1, 10, 25, 50, 75, 95)
    ]
    parts = [each for each in chosen if each["jobs"]]
    assert len(parts) == 12
    assert {each["jobs"] for each in parts} == {20_000}
    assert sum(each["adapt"] > 0 for each in parts) == 2
    assert len({run.text for run in runs}) == 24
    assert len(PAPER.runs(PAPER.tables, MINE, True)) == 8


def test_what_is_measured() -> None:
    """The measures of the function, and of each promise how often it was met; of the first jobs where it is so."""
    log = busy_log(400)
    given = ReservedOfLog(percent=50, probability=0.5, adapt=0.02, jobs=300, training=20)
    table = measure_reserved(log, given, 3).set_index(["measure", "x"])["value"]
    part = log.with_jobs(log.jobs.head(300))
    waits = WaitPredictor("binomial", by="queue", training=20)
    found = simulate_reservations(part, "easy", waits=waits, seed=3, share=0.5, probability=0.5, adapt=0.02)
    expected = found.measures(simulate(part, "easy", seed=3))
    assert table["accepted", ""] == expected["accepted"] > 20
    assert table["met", ""] == expected["met"]
    promised = table[beyond.PROMISED]
    assert promised.sum() == expected["accepted"]
    assert (promised * table[beyond.MET]).sum() / promised.sum() == pytest.approx(expected["met"])
    near = (found.reservations["probability_at_submission"] / 0.05).round() == 10
    assert promised["0.50"] == near.sum()


@pytest.fixture(scope="module")
def found() -> Measurements:
    """Return drawn measurements of a log: of each run what tells it from the others."""
    rows = []
    for run in PAPER.runs(PAPER.tables, MINE, False):
        given: Any = run.parameters
        met = given.probability - given.percent / 1000.0
        values = {
            "asked": 1000.0,
            "accepted": 400.0,
            "met": met,
            "needed_hours": 10.0,
            "paid_hours": 10.0 + given.percent,
        }
        values |= {"others_mean_wait": 50.0 + given.percent, "others_mean_wait_plain": 50.0}
        rows += [(MINE, run.text, "all", "", name, value) for name, value in values.items()]
        promised = {f"{given.probability:.2f}": (met, 100.0), "0.90": (0.5, 30.0), "0.10": (0.9, 15.0)}
        for x, (share, count) in promised.items():
            rows += [(MINE, run.text, "all", x, beyond.MET, share), (MINE, run.text, "all", x, beyond.PROMISED, count)]
    return Measurements(pd.DataFrame(rows, columns=["log", "experiment", "subject", "x", "measure", "value"]))


def test_tables(found: Measurements) -> None:
    """Each cell is of its own run."""
    cells = compare(PAPER, PAPER.tables, found, quick=False).set_index(["place", "row", "column"])["ours"]
    row = f"{MINE}, 0.75 asked for"
    assert cells["ours alone: met", row, "25 %"] == pytest.approx(0.725)
    assert cells["ours alone: accepted", row, "1 %"] == 0.4
    assert cells["ours alone: paid", f"{MINE}, 0.95 asked for", "95 %"] == 10.5
    assert cells["ours alone: others", row, "50 %"] == 2.0
    assert cells["ours alone: bounds", f"{MINE}: Weibull", "10 %: met"] == pytest.approx(0.74)
    assert cells["ours alone: promises", f"{MINE}, 10 %", "promised 0.75"] == pytest.approx(0.74)
    assert np.isnan(cells["ours alone: promises", f"{MINE}, 10 %", "promised 1.00"])
    assert ("ours alone: promises", f"{MINE}, 10 %", "promised 0.10") not in cells
    # Those of both targets together; too few were promised .10 by one target, and not by both.
    assert cells["ours alone: promises", f"{MINE}, 10 %", "promised 0.90"] == 0.5
    assert [x for x, _, _ in promises_of(found, MINE, False, 10)] == ["0.10", "0.75", "0.90", "0.95"]
    assert promises_of(found, MINE, False, 10)[0] == ("0.10", pytest.approx(0.9), 30.0)


def test_pictures(found: Measurements) -> None:
    """A column a log: met above, others' waits below; a curve a target."""
    with style():
        figure = PAPER.pictures["reserved"](found.table)
        (place,) = PAPER.pictures["promises"](found.table).axes
    above, below = figure.axes
    assert above.get_title() == MINE
    curve = above.containers[0].lines[0]
    np.testing.assert_allclose(curve.get_xdata(orig=False), [0.01, 0.1, 0.25, 0.5, 0.75, 0.95])
    np.testing.assert_allclose(curve.get_ydata(orig=False), 0.75 - np.array([1, 10, 25, 50, 75, 95]) / 1000)
    np.testing.assert_allclose(below.lines[0].get_ydata(orig=False), 1 + np.array([1, 10, 25, 50, 75, 95]) / 50)
    assert [curve.get_label() for curve in place.containers] == ["1 % ask", "25 % ask", "75 % ask"]
    np.testing.assert_allclose(place.containers[1].lines[0].get_xdata(orig=False), [0.75, 0.9, 0.95])
    np.testing.assert_allclose(place.containers[1].lines[0].get_ydata(orig=False), [0.725, 0.5, 0.925])
    assert share_run(False, 10, 0.75).text in set(found.table["experiment"])
