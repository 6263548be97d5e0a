# SPDX-License-Identifier: BSD-3-Clause
"""Several schedules in one picture, the log beside them."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from swftools import measure
from swftools.errors import ParameterError
from swftools.plots import caption, data, look_of, plot
from swftools.trace import Trace
from tests.drawn import draw_schedule
from tests.plots.odd import legend_of

DRAWN = draw_schedule("job submit width request start run\nA 0 1 90 0 50\nB 0 1 90 100 50")
EASY, FCFS = (replace(DRAWN, policy=name) for name in ("easy", "fcfs"))
TRACE = Trace.from_columns(job_number=[1, 2], submit_time=[0, 0], wait_time=[20, 3000], run_time=[50, 50])


@pytest.mark.parametrize("name", ["waits", "slowdowns"])
def test_curves_in_one(name: str) -> None:
    """Each has the colour of its policy and its entry, on new axes, on given ones, and one after the other."""
    axes = plot([FCFS, EASY], name)
    one_by_one = Figure().add_subplot()
    for each in (FCFS, EASY):
        plot(each, name, ax=one_by_one)
    for drawn in (axes, plot([FCFS, EASY], name, ax=Figure().add_subplot()), one_by_one):
        colors = {line.get_color() for line in drawn.lines}
        assert colors == {look_of("fcfs")["color"], look_of("easy")["color"]}
        assert [text.split(":")[0] for text in legend_of(drawn)] == ["fcfs", "easy"]


def test_names() -> None:
    """By policy; by the options that differ; by a mapping; a trace is what the log says."""
    wide = replace(EASY, options={"reservations": 2, "seed": 0})
    assert data([TRACE, EASY], "waits")["of"].unique().tolist() == ["logged", "easy"]
    names = data([replace(EASY, options={"reservations": 1, "seed": 0}), wide], "waits")["of"].unique().tolist()
    assert names == ["easy:reservations=1", "easy:reservations=2"]
    assert data({"a": EASY, "b": EASY}, "waits")["of"].unique().tolist() == ["a", "b"]
    with pytest.raises(ParameterError, match="two are called 'easy'; give a mapping of names"):
        plot([EASY, EASY], "waits")
    for wrong, word in (([], "nothing"), ([EASY, 3], "int")):
        with pytest.raises(ParameterError, match=f"are traces and schedules; there is {word} among them"):
            plot(wrong, "waits")


def test_panels() -> None:
    """A picture that cannot be laid over another has a panel each, with its name."""
    axes = plot([EASY, FCFS], "gantt")
    titles = [each.get_title(loc="left") for each in axes.figure.axes]
    assert [title for title in titles if title] == ["easy", "fcfs"]
    alone = plot(EASY, "gantt").figure
    assert axes.figure.get_figheight() == pytest.approx(2 * alone.get_figheight())  # type: ignore[union-attr]
    assert caption([EASY, FCFS], "gantt").count("2 runs in") == 2


def test_measures_are_a_comparison() -> None:
    """Of schedules, or put below each other by hand; without a seed."""
    measured = pd.concat([measure(EASY), measure(FCFS)])
    for subject in ([EASY, FCFS], measured):
        table = data(subject, "policies", metric="wait_mean")
        assert table[["policy", "mean"]].to_numpy().tolist() == [["easy", 50.0], ["fcfs", 50.0]]
    assert data([EASY, FCFS], "differences", metric="wait_mean")["mean"].tolist() == [0.0]
