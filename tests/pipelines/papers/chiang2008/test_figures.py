# SPDX-License-Identifier: BSD-3-Clause
"""Tables and pictures of Chiang and Vasupongayya 2008, of measures made by hand."""

from __future__ import annotations

from functools import partial
from itertools import product

import pandas as pd
import pytest
from matplotlib.figure import Figure

from pipelines.papers import find_paper
from pipelines.papers.cells import compare
from pipelines.papers.chiang2008.beyond import COMPARED, PROTOTYPE
from pipelines.papers.chiang2008.curves import STRICT_TW, curve_runs
from pipelines.papers.chiang2008.figures import BEST, COLUMNS, FIGURES
from pipelines.papers.chiang2008.months import LOGS, SUMMER
from pipelines.papers.chiang2008.policies import FCFS, LEXICAL, LXF, NODES, TABLE_6, TRADEOFF, changed, made_quick
from pipelines.papers.chiang2008.schedules import CLASS, MEASURES, MONTH, PolicyOfPaper, policy_run
from pipelines.papers.paper import Measurements, Run
from pipelines.papers.report import as_markdown, summary_lines

SP2, KTH = LOGS.values()
PAPER, LARGE = find_paper("chiang2008"), find_paper("chiang2008-large")

Row = tuple[str, str, str, str, str, float]
"""Log, experiment, subject, place of a curve, measure, value."""


def measurements(rows: list[Row]) -> pd.DataFrame:
    """Return the table of what was measured."""
    return pd.DataFrame(rows, columns=["log", "experiment", "subject", "x", "measure", "value"])


def of_months(log: str, run: Run, **values: list[float]) -> list[Row]:
    """Return the values of measures in two months; an underscore stands for a blank, and three for a percent."""
    return [
        (log, run.text, MONTH, f"2000-{month:02}", name.replace("___", " 98 %").replace("_", " "), value)
        for name, every in values.items()
        for month, value in enumerate(every, 1)
    ]


def table(number: str, rows: list[Row], quick: bool = False) -> pd.DataFrame:
    """Return the cells of a table."""
    return compare(PAPER, PAPER.chosen_tables(number), Measurements(measurements(rows)), quick=quick)


def test_the_twelve_policies() -> None:
    """Of each pair of measures each comes first once, and once neither; those with maxW first branch by FCFS."""
    assert len(TABLE_6) == 12
    for name, run in TABLE_6.items():
        parameters = run.parameters.to_mapping()
        model, measures = name.lower().split("(")[0], name.split("(")[1]
        assert parameters["objective"].startswith("tradeoff-a(" if model == "tradeoff" else "lexical(")
        assert parameters["objective"].endswith(measures)
        assert parameters["branching"] == ("fcfs" if name.startswith("Lexical(maxW") else "lxf")
        assert (parameters["nodes"], parameters["load"], parameters["traversal"]) == (NODES, 0.9, "dds")


@pytest.mark.parametrize("number", ["figure-11", "table-6", "starvation"])
def test_means_over_months(number: str) -> None:
    """And the greatest longest wait; a log that was not measured has none."""
    rows = of_months(SP2, TRADEOFF, max_wait=[10.0, 30.0], mean_wait=[1.0, 2.0], excess_over___=[0.0, 5.0])
    if number == "starvation":
        rows = [(log, TABLE_6["Tradeoff(maxW:avgX)"].text, *rest) for log, _, *rest in rows]
    cells = table(number, rows)
    name = "Tradeoff(maxW:avgX)" if number == "starvation" else "Tradeoff(T_w:avgX)"
    row = cells[cells["row"] == f"SDSC-SP2 {name}"].set_index("column")["ours"]
    assert list(row.index) == list(COLUMNS)
    assert row.dropna().to_dict() == {
        "max wait": 20,
        "greatest max wait": 30,
        "mean wait": 1.5,
        "excess over 98 %": 2.5,
    }
    assert cells[cells["row"] != f"SDSC-SP2 {name}"]["ours"].isna().all()
    assert set(cells["unit"]) == {"h", "1", "jobs"}


def test_a_quick_run_has_the_same_rows() -> None:
    """Though its searches visit few nodes."""
    rows = of_months("mine", made_quick(TRADEOFF), max_wait=[10.0, 30.0])
    cells = table("figure-11", rows, quick=True).set_index(["row", "column"])["ours"]
    assert cells["mine Tradeoff(T_w:avgX)", "max wait"] == 20


def test_the_other_program() -> None:
    """Within half of its unit, or one percent; months by summer time are another reading."""
    rows = [
        *of_months(SP2, TRADEOFF, max_wait=[64.2, 64.2], max_bounded_slowdown=[641.3, 641.3]),
        *of_months(SP2, LXF, max_wait=[109.2, 109.2], max_bounded_slowdown=[679, 679]),
        *of_months(SP2, changed(LXF, clock=SUMMER), max_wait=[100.0, 100.0]),
    ]
    cells = table("other-program", rows)
    cells = cells[cells["ours"].notna()].set_index(["row", "column", "is_chosen"])
    assert cells["is_reproduced"].to_dict() == {
        ("SDSC-SP2 LXF-backfill", "max wait", True): False,
        ("SDSC-SP2 LXF-backfill", "max bounded slowdown", True): False,
        ("SDSC-SP2 Tradeoff(T_w:avgX)", "max wait", True): True,
        ("SDSC-SP2 Tradeoff(T_w:avgX)", "max bounded slowdown", True): True,
        ("SDSC-SP2 LXF-backfill", "max wait", False): False,
    }
    assert set(PROTOTYPE) == {f"{log} {name}" for log in LOGS for name in COMPARED}
    assert PROTOTYPE["KTH-SP2 Tradeoff(T_w:avgX)"] == {
        "max wait": "54",
        "mean bounded slowdown": "16",
        "max bounded slowdown": "1360",
        "excess over the max": "0",
        "excess over 98 %": "263",
    }


def test_the_other_program_is_of_two_logs() -> None:
    """It needs no runs of any other log, nor of a quick run."""
    (program,) = PAPER.chosen_tables("other-program")
    assert len(list(program.plan(SP2, False))) == 5 + 3
    assert not list(program.plan("mine", False))
    assert not list(program.plan(SP2, True))


CURVE = {100: 5.0, 4000: 3.0, 64_000: 2.0}


def of_curves(log: str, measure: str) -> list[Row]:
    """Return points of the curves of Figures 3 and 4."""
    rows = []
    for curve, kind in product(STRICT_TW.values(), ("typical", "exceptional")):
        first, more = curve_runs(curve, quick=False, large=True)
        for nodes, value in CURVE.items():
            run = first if nodes <= 4000 else more
            rows.append((log, run.text, f"{kind} 2000-07", str(nodes), measure, value))
    return rows


def test_curves() -> None:
    """A row a curve and measure, of the one month that the figure shows."""
    cells = table("figure-3", of_curves(SP2, "max wait"))
    assert cells["row"].unique().tolist() == [f"SDSC-SP2 2000-07: max wait, {name}" for name in STRICT_TW]
    first = cells[cells["row"] == cells["row"].iloc[0]]
    assert first[["column", "ours"]].to_numpy().tolist() == [["L = 100", 5], ["L = 4000", 3], ["L = 64000", 2]]
    assert (first["unit"] == "h").all()
    assert table("figure-3", of_curves(SP2, "max bounded slowdown")).empty


def test_curves_of_many_nodes_are_planned_apart() -> None:
    """Only ``chiang2008-large`` searches beyond 4,000 nodes; and what it has of fewer is the same."""

    def most(run: Run) -> int:
        parameters = run.parameters.to_mapping()
        return int(parameters.get("most", parameters.get("nodes", 0)))

    usual = PAPER.runs(PAPER.tables, SP2, quick=False)
    assert max(map(most, usual)) == 4000
    larger = LARGE.runs(LARGE.tables, SP2, quick=False)
    assert max(map(most, larger)) == 64_000
    assert {run.text for run in larger if most(run) <= 4000} <= {run.text for run in usual}
    assert len(usual) < 100
    for paper in (PAPER, LARGE):
        quick = paper.runs(paper.tables, SP2, quick=True)
        assert max(most(run) for run in quick if run.experiment != "policy" or "policy=search" in run.text) == 200


def test_figure_12() -> None:
    """A row a policy and range of run times, a column a range of processors."""
    rows: list[Row] = [
        (SP2, FCFS.text, f"{CLASS}(8, 32] & (3600, 14400]", "", "jobs", 4.0),
        (SP2, FCFS.text, f"{CLASS}(8, 32] & (3600, 14400]", "", "mean wait", 7.0),
    ]
    cells = table("figure-12", rows)
    assert cells[["row", "column", "ours", "unit"]].to_numpy().tolist() == [
        ["SDSC-SP2 FCFS-backfill, T (1 h, 4 h]", "N (8, 32]", 7.0, "h"]
    ]


def drawn(name: str, rows: list[Row], paper: str = "chiang2008") -> Figure:
    """Draw a picture."""
    return find_paper(paper).pictures[name](measurements(rows))


def test_every_figure_is_drawn() -> None:
    """Figures 2 to 12, also of nothing."""
    assert list(PAPER.pictures) == [f"figure_{number}" for number in ("2a", "2b", *range(3, 9), "8d", *range(9, 13))]
    for paper in (PAPER, LARGE):
        for name in paper.pictures:
            assert drawn(name, [], paper.name).axes


@pytest.mark.parametrize("number", sorted(FIGURES))
def test_a_picture_by_months(number: str) -> None:
    """A panel a log and measure, a line a policy, a point a month."""
    shown = FIGURES[number]
    rows = [
        row
        for log in (SP2, KTH)
        for height, run in enumerate(shown.runs.values())
        for measure in MEASURES
        for row in of_months(log, run, **{measure: [height, height + 1.0]})
    ]
    figure = partial(drawn, rows=rows)(
        f"figure_{number.removesuffix('-large')}", paper="chiang2008-large" if "large" in number else "chiang2008"
    )
    assert len(figure.axes) == 2 * len(shown.panels)
    for axes in figure.axes:
        assert [list(line.get_ydata()) for line in axes.lines] == [[h, h + 1] for h in range(len(shown.runs))]
    assert [axes.get_title() for axes in figure.axes if axes.get_title()] == list(LOGS)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(shown.runs)


def test_a_picture_of_curves() -> None:
    """A line an algorithm, over nodes on a scale of powers."""
    figure = drawn("figure_4", [*of_curves(SP2, "max wait"), *of_curves(KTH, "max wait")])
    assert len(figure.axes) == 2 * 3
    assert [axes.get_title() for axes in figure.axes if axes.get_title()] == [f"{log} 2000-07" for log in LOGS]
    panel = figure.axes[1]
    assert [line.get_xydata().tolist() for line in panel.lines] == [[list(at) for at in CURVE.items()]] * 4
    assert panel.get_xscale() == "log"
    assert panel.get_ylabel() == "max wait (h)"


def test_the_picture_of_classes() -> None:
    """A panel a log and policy; run times upwards, processors to the right; empty where there are no jobs."""
    rows: list[Row] = []
    for wait, run in enumerate(BEST.values(), 1):
        for label, value in (("<= 1 & <= 600", wait), ("> 64 & (600, 3600]", 10.0 * wait)):
            rows += [(SP2, run.text, f"{CLASS}{label}", "", "jobs", 1.0)]
            rows += [(SP2, run.text, f"{CLASS}{label}", "", "mean wait", float(value))]
    figure = drawn("figure_12", rows)
    panels = [axes for axes in figure.axes if axes.get_title()]
    assert [axes.get_title() for axes in panels] == list(BEST)
    for wait, axes in enumerate(panels, 1):
        grid = axes.images[0].get_array()
        assert grid.shape == (5, 5)
        assert (float(grid[0, 0]), float(grid[1, 4]), grid.count()) == (wait, 10 * wait, 2)


def test_the_page() -> None:
    """Says where a reader looks that the paper's log is not public."""
    rows = of_months(SP2, LEXICAL, max_wait=[10.0, 30.0])
    cells = compare(PAPER, PAPER.chosen_tables("figure-11"), Measurements(measurements(rows)))
    page = as_markdown(PAPER, PAPER.chosen_tables("figure-11"), cells)
    assert "is not public" in page.split("##")[0]
    assert "| SDSC-SP2 Lexical(T_w -> avgX) | 20.00 | 30.00 |" in page
    assert summary_lines(PAPER.chosen_tables("figure-11"), cells)[0].endswith("nothing to compare with")


def test_runs_by_their_text() -> None:
    """Parameters of a policy are given back by the text that names its experiment."""
    run = policy_run(objective="strict-lexical(T_w(50h) -> avgX)", load=None, predictor="last-model")
    assert run.short_text == "policy:objective=strict-lexical(T_w(50h) -> avgX),load=null,predictor=last-model"
    assert PolicyOfPaper.from_mapping(run.parameters.to_mapping()) == run.parameters
