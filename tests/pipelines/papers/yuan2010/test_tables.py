# SPDX-License-Identifier: BSD-3-Clause
"""Tables, figures and statements of Yuan et al. 2010, of measures made by hand."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest
from matplotlib.figure import Figure

from pipelines.papers import find_paper
from pipelines.papers.cells import compare
from pipelines.papers.paper import Measurements, Run
from pipelines.papers.report import as_markdown, summary_lines
from pipelines.papers.yuan2010.errors import ANY_MOMENT, POLICIES, REQUEST, error_run, repetitions
from pipelines.papers.yuan2010.populations import LOGS, OTHER_LOGS, POPULATION
from pipelines.papers.yuan2010.schedules import EASY, EASY_LAST, PV_EASY, schedule_run
from pipelines.papers.yuan2010.tables import EASY_OFTEN, INCREMENTS
from swftools.plots import look_of

CTC, BLUE, DS = LOGS.values()
MINE, KTH = "mine", OTHER_LOGS["KTH-SP2"]
PAPER = find_paper("yuan2010")

Key = tuple[str, Run, str, str, str]
"""Log, run, subject, measure, place of a curve."""


def measurements(values: dict[Key, float]) -> pd.DataFrame:
    """Return the table of what was measured."""
    rows = [(log, run.text, subject, x, measure, value) for (log, run, subject, measure, x), value in values.items()]
    return pd.DataFrame(rows, columns=["log", "experiment", "subject", "x", "measure", "value"])


def table(number: str, values: dict[Key, float], quick: bool = False) -> pd.DataFrame:
    """Return a table beside what is printed."""
    return compare(PAPER, PAPER.chosen_tables(number), Measurements(measurements(values)), quick=quick)


def chosen(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the chosen readings that are known, by row and column."""
    return cells[cells["is_chosen"] & cells["ours"].notna()].set_index(["row", "column"])


def of_jobs(log: str, run: Run, **values: float) -> dict[Key, float]:
    """Return measures of all jobs; an underscore stands for a blank."""
    return {(log, run, "jobs", name.replace("_", " "), ""): value for name, value in values.items()}


def test_table_1() -> None:
    """Of the schedule that section 5.2 has, with any job of lower priority; three readings beside it."""
    values = {}
    for factor, run in ((1, EASY_LAST), (10, EASY)):
        values |= of_jobs(
            CTC,
            run,
            blocked_jobs=3833 * factor,
            late_heads=700 * factor,
            late_heads_by_later_starts=7 * factor,
            mean_delay=80 * factor,
            mean_delay_by_later_starts=8 * factor,
            longest_delay=14 * factor,
            longest_delay_by_later_starts=4 * factor,
        )
    cells = table("1", values)
    first = chosen(cells).loc["CTC"]
    assert first["ours"].to_dict() == {
        "delayed jobs": 700,
        "blocked jobs": 3833,
        "mean delay": 80,
        "longest delay": 14,
    }
    assert first["printed"].tolist() == ["736", "3833", "80.05", "14.81"]
    assert first["unit"].tolist() == ["jobs", "jobs", "min", "h"]
    assert first["is_reproduced"].all()
    readings = [part["ours"].tolist() for _, part in cells[~cells["is_chosen"]].groupby("reading", sort=False)]
    assert readings == [[7, 3833, 8, 4], [7000, 38330, 800, 140], [70, 38330, 80, 40]]


def test_table_2() -> None:
    """By what is benign, and by what is expected of a job that outlives its prediction."""
    names = ("jobs", "mean parallelism", "mean delay", "mean slowdown increment", "longest delay")
    values: dict[Key, float] = {}
    for number, subject in enumerate(("violated", "benign too", "clear of benign", "by later starts")):
        values |= {(BLUE, EASY_LAST, subject, name, ""): 400.0 + number for name in names}
    values |= {(BLUE, INCREMENTS, "violated", name, ""): 404.0 for name in names}
    cells = table("2", values).dropna(subset="ours")
    assert [part["ours"].unique().tolist() for _, part in cells.groupby("reading", sort=False)] == [
        [400],
        [401],
        [402],
        [403],
        [404],
    ]
    first = chosen(cells).loc["SDSC-BLUE"]
    assert first["unit"].tolist() == ["jobs", "processors", "min", "1", "h"]
    assert first["printed"].tolist() == ["407", "533.48", "154.76", "36.13", "32.90"]
    assert first["is_reproduced"].tolist() == [True, False, False, False, False]


def test_table_3() -> None:
    """Loads from second 0 and, beside them, from the first submission; within half a percent."""
    names = {"jobs": 85045.0, "load": 62.86, "load between submissions": 67.1, "mean parallelism": 60.0}
    cells = table("3", {(DS, POPULATION, "jobs", name, ""): value for name, value in names.items()})
    first = chosen(cells).loc["SDSC-DS"]
    assert first["ours"].tolist() == [85045, 62.86, 60.0]
    assert first["is_reproduced"].tolist() == [True, True, False]
    other = cells[~cells["is_chosen"]].iloc[0]
    assert other[["column", "ours", "is_reproduced"]].tolist() == ["load", 67.1, False]


def test_table_4() -> None:
    """EASY by either reading, and PV-EASY."""
    values = of_jobs(CTC, PV_EASY, backfilled_jobs=29883, blocked_jobs=6582)
    values |= of_jobs(CTC, EASY_LAST, backfilled_jobs=40159, blocked_jobs=3460)
    values |= of_jobs(CTC, EASY, backfilled_jobs=35760, blocked_jobs=4582)
    values |= of_jobs(CTC, EASY_OFTEN, backfilled_jobs=40211, blocked_jobs=3362)
    cells = table("4", values)
    assert chosen(cells)["ours"].tolist() == [40159, 3460, 29883, 6582]
    assert chosen(cells)["is_reproduced"].all()
    other = cells[~cells["is_chosen"]]
    assert other["ours"].dropna().tolist() == [35760, 4582, 40211, 3362]
    assert other["is_reproduced"].dropna().tolist() == [True, False, True, False]
    assert set(other["row"]) == {"CTC EASY"}


def test_tables_5_and_6() -> None:
    """Loads over either time; kills, and their waste by job or by work."""
    names = {"total_load": 68.0, "wasted_load": 2.5, "preempted_jobs": 10509, "rate": 13.6, "mean_kills": 1.82}
    values = of_jobs(CTC, PV_EASY, mean_run_time_waste=39.7, waste_of_all_work=12.0, **names)
    values |= of_jobs(
        CTC, PV_EASY, total_load_from_the_first_submission=69.0, wasted_load_from_the_first_submission=3.0
    )
    loads, kills = table("5", values), table("6", values)
    assert chosen(loads)["ours"].tolist() == [68.0, 2.5]
    assert loads.loc[~loads["is_chosen"], "ours"].tolist() == [69.0, 3.0]
    assert chosen(kills)["ours"].tolist() == [10509, 13.6, 1.82, 39.7]
    assert kills.loc[~kills["is_chosen"], ["column", "ours"]].to_numpy().tolist() == [["mean run time waste", 12.0]]
    assert set(loads["unit"]) == {"%"}
    assert kills["unit"].tolist() == ["jobs", "%", "1", "%", "%"]


@pytest.mark.parametrize(("ours", "is_so"), [(11189.2, True), (11189.3, False), (9154.8, True), (9154.7, False)])
def test_within_a_tenth(ours: float, is_so: bool) -> None:
    """As Tables 1, 2 and 4 to 6 are compared."""
    row = table("6", of_jobs(CTC, PV_EASY, preempted_jobs=ours)).iloc[0]
    assert row[["column", "is_reproduced"]].tolist() == ["preempted jobs", is_so]


def test_a_log_of_ones_own() -> None:
    """Takes the place of the paper's, and is compared with nothing; KTH-SP2 has tables of its own."""
    assert table("6", of_jobs(MINE, PV_EASY, preempted_jobs=5))[["row", "is_reproduced"]].iloc[0].tolist() == [
        "mine",
        pd.NA,
    ]
    assert table("6", of_jobs(KTH, PV_EASY, preempted_jobs=5)).empty
    others = table("other-logs", of_jobs(KTH, PV_EASY, preempted_jobs=5) | of_jobs(CTC, PV_EASY, preempted_jobs=6))
    assert chosen(others)["ours"].to_dict() == {("KTH-SP2 PV-EASY", "preempted jobs"): 5}
    assert {PAPER.runs(PAPER.chosen_tables(number), KTH, quick=False) == [] for number in "123456"} == {True}


def test_figures_of_blocked_jobs() -> None:
    """By parts of the machine, and whether they take more than a quarter."""
    values: dict[Key, float] = {}
    for factor, run in ((1.0, PV_EASY), (10.0, EASY_LAST), (100.0, EASY)):
        values |= {(CTC, run, "big blocked jobs", "MBS", ""): 3 * factor}
        values |= {(CTC, run, "small blocked jobs", "MBS", ""): 2 * factor}
        values |= {(CTC, run, "blocked jobs", "MBS", "3"): factor, (CTC, run, "blocked jobs", "MWBS", "3"): -factor}
    cells = table("figure-2", values)
    row = {"up to 1/4": 2.0, "above 1/4": 3.0, "3/8": 1.0}
    assert chosen(cells).loc["CTC PV-EASY", "ours"].to_dict() == row
    assert chosen(cells).loc["CTC EASY", "ours"].to_dict() == {name: 10 * value for name, value in row.items()}
    assert cells.loc[~cells["is_chosen"], "ours"].dropna().tolist() == [200, 300, 100]
    assert chosen(table("figure-3", values))["ours"].tolist() == [-1, -10]


def test_figures_of_all_jobs() -> None:
    """MBS in Figure 5, MWBS in Figure 6, of the three."""
    values = {}
    for number, run in enumerate((PV_EASY, EASY, EASY_LAST)):
        values |= of_jobs(CTC, run, MBS=number, MWBS=10 + number)
    assert chosen(table("figure-5", values))["ours"].to_dict() == {
        ("CTC", "PV-EASY"): 0,
        ("CTC", "EASY"): 1,
        ("CTC", "EASY-Last"): 2,
    }
    assert chosen(table("figure-6", values))["ours"].tolist() == [10, 11, 12]


def points(
    of: Callable[[str, str, int, str], float], log: str = CTC, quick: bool = False, spread: float = 1.0
) -> dict[Key, float]:
    """Return Figure 4's points of a log by metric, policy, error and reading; draws lie at either side of them."""
    values: dict[Key, float] = {}
    for reading in (REQUEST, ANY_MOMENT):
        for policy in POLICIES.values():
            for percent in range(0, 101, 50 if quick else 10):
                if reading == ANY_MOMENT and percent == 0:
                    continue  # without errors both are one run
                run = error_run(policy, percent, quick, reading)
                many = repetitions(percent, quick, reading)
                for place in range(many):
                    aside = spread * (2 * place / (many - 1) - 1) if many > 1 else 0.0
                    for metric in ("MBS", "MWBS"):
                        key = (log, run, "predicted", metric, str(place))
                        values[key] = of(metric, policy, percent, reading) + aside
    return values


def test_figure_4() -> None:
    """The mean over draws and its standard error; exact predictions have one draw, and one for both readings."""

    def of(metric: str, policy: str, percent: int, reading: str) -> float:
        later = 1000 if reading == ANY_MOMENT and percent else 0
        return later + 100 * list(POLICIES.values()).index(policy) + percent + (0.5 if metric == "MWBS" else 0)

    cells = table("figure-4", points(of))
    assert len(cells) == 2 * 3 * 11 * 2
    first = chosen(cells)
    assert first.loc[("CTC MBS SJF-EASY", "30 %"), "ours"] == pytest.approx(230)
    assert first.loc[("CTC MWBS PV-EASY", "0 %"), "ours"] == 0.5
    # Ten draws from -1 to 1 in equal steps have the standard deviation sqrt(110 / 243).
    assert first.loc[("CTC MBS SJF-EASY", "30 %"), "spread"] == pytest.approx((110 / 243 / 10) ** 0.5)
    assert pd.isna(first.loc[("CTC MBS SJF-EASY", "0 %"), "spread"])
    other = cells[~cells["is_chosen"]].set_index(["row", "column"])["ours"]
    assert other["CTC MBS FCFS-EASY", "100 %"] == pytest.approx(1200)
    assert other["CTC MBS FCFS-EASY", "0 %"] == 100
    quick = table("figure-4", points(of, MINE, quick=True), quick=True)
    assert chosen(quick).loc[("mine MBS FCFS-EASY", "50 %"), "ours"] == pytest.approx(150)
    assert set(quick["column"]) == {"0 %", "50 %", "100 %"}


def statement(words: str, values: dict[Key, float], quick: bool = False) -> pd.Series:  # type: ignore[type-arg]
    """Return a statement."""
    cells = table("statements", values, quick)
    found = cells[cells["column"].str.contains(words, regex=False)]
    assert len(found) == 1
    return found.iloc[0]


def verdict(words: str, values: dict[Key, float]) -> list[object]:
    """Return what decides a statement, and whether it holds."""
    return list(statement(words, values)[["ours", "is_reproduced"]])


def test_statements_of_fairness() -> None:
    """None may be late, in no log."""
    fair = of_jobs(CTC, PV_EASY, late_heads=0, blocked_jobs=7) | {(CTC, PV_EASY, "violated", "jobs", ""): 0.0}
    unfair = of_jobs(DS, PV_EASY, late_heads=1, blocked_jobs=8) | {(DS, PV_EASY, "violated", "jobs", ""): 2.0}
    assert verdict("no job of lower priority", fair) == [0, True]
    assert verdict("no reservation is violated", fair) == [0, True]
    assert verdict("no job of lower priority", fair | unfair) == [1, False]
    assert verdict("no reservation is violated", fair | unfair) == [2, False]
    assert statement("no job of lower priority", fair | unfair)["definition"] == "of 15 blocked jobs"


def blocked(metric: str, ours: dict[int, float], easy: dict[int, float]) -> dict[Key, float]:
    """Return slowdowns of groups of blocked jobs under both, EASY with requests as bad as 100."""
    values: dict[Key, float] = {(CTC, EASY, "blocked jobs", metric, str(part)): 100.0 for part in easy}
    for run, parts in ((PV_EASY, ours), (EASY_LAST, easy)):
        values |= {(CTC, run, "blocked jobs", metric, str(part)): value for part, value in parts.items()}
    return values


@pytest.mark.parametrize(("figure", "metric"), [(2, "MBS"), (3, "MWBS")])
def test_statements_of_big_blocked_jobs(figure: int, metric: str) -> None:
    """Of groups above a quarter that both have; most of them."""
    easy = {2: 10.0, 3: 10.0, 4: 10.0, 5: 10.0, 8: 10.0}
    better = blocked(metric, {2: 1.0, 3: 9.0, 4: 9.0, 5: 11.0, 6: 1.0}, easy)
    assert verdict(f"Figure {figure}:", better) == [2, True]
    told = statement(f"Figure {figure}:", better)["definition"]
    assert told.startswith("of 3 groups")
    assert "what users request 3 of 3" in told
    half = blocked(metric, {3: 9.0, 4: 9.0, 5: 11.0, 8: 10.0}, easy)
    assert verdict(f"Figure {figure}:", half) == [2, False]


def test_statements_of_small_and_big() -> None:
    """All values must be so, in both metrics."""
    values: dict[Key, float] = {}
    for metric in ("MBS", "MWBS"):
        for subject, ours in (("small blocked jobs", 11.0), ("big blocked jobs", 9.0)):
            values |= {(CTC, PV_EASY, subject, metric, ""): ours, (CTC, EASY_LAST, subject, metric, ""): 10.0}
    assert verdict("small blocked jobs fare no better", values) == [2, True]
    assert verdict("big blocked jobs as a whole fare better", values) == [2, True]
    values[CTC, PV_EASY, "small blocked jobs", "MBS", ""] = 9.0
    values[CTC, PV_EASY, "big blocked jobs", "MWBS", ""] = 11.0
    assert verdict("small blocked jobs fare no better", values) == [1, False]
    assert verdict("big blocked jobs as a whole fare better", values) == [1, False]


def test_statement_of_table_4() -> None:
    """Fewer backfilled and more blocked, in each log."""
    values = of_jobs(CTC, PV_EASY, backfilled_jobs=1, blocked_jobs=2)
    values |= of_jobs(CTC, EASY_LAST, backfilled_jobs=2, blocked_jobs=1)
    assert verdict("fewer jobs are backfilled", values) == [1, True]
    worse = of_jobs(DS, PV_EASY, backfilled_jobs=3, blocked_jobs=2)
    worse |= of_jobs(DS, EASY_LAST, backfilled_jobs=2, blocked_jobs=1)
    assert verdict("fewer jobs are backfilled", values | worse) == [1, False]


def test_statements_of_figure_4() -> None:
    """PV-EASY has to beat both others, up to an error of 10 % or from it on; the other reading stands beside."""

    def of(metric: str, policy: str, percent: int, reading: str) -> float:
        if reading == ANY_MOMENT:
            return 1.0 if policy == "pv-easy" else 5.0
        others = {"easy-at-events": 100.0, "sjf-at-events": 9.0 if percent < 10 else 11.0}
        return others.get(policy, 10.0)

    values = points(of, spread=0.0)
    assert verdict("at most 10 %", values) == [2, False]
    assert verdict("at least 10 %", values) == [20, True]
    told = statement("at least 10 %", values)["definition"]
    assert "of 20 points" in told
    assert "CTC MBS from 10 % on; CTC MWBS from 10 % on" in told
    # Exact predictions are outlived by none, so their points are those of the chosen reading.
    assert "at 20 of 20: CTC MBS from 10 % on" in told
    last = points(lambda metric, policy, percent, reading: of(metric, policy, 100 - percent, reading), spread=0.0)
    assert "CTC MBS never to the end" in statement("at most 10 %", last)["definition"]
    assert verdict("at most 10 %", last) == [4, True]


def test_statements_of_performance() -> None:
    """Up to a tenth above EASY is similar; EASY-Last is compared by itself."""
    values = of_jobs(CTC, PV_EASY, MBS=11.0, MWBS=1.0, makespan=1000.5)
    values |= of_jobs(CTC, EASY, MBS=10.0, MWBS=2.0, makespan=1000.0) | of_jobs(CTC, EASY_LAST, MBS=12.0, MWBS=3.0)
    assert verdict("are smaller than EASY's, or similar", values) == [2, True]
    assert "ratios 1.10, 0.50" in statement("are smaller than EASY's, or similar", values)["definition"]
    assert verdict("with the same predictor", values) == [2, True]
    assert verdict("EASY-Last has the largest MWBS", values) == [1, True]
    assert verdict("smaller MBS and MWBS than EASY-Last", values) == [2, True]
    assert verdict("within the same time", values) == [pytest.approx(0.05), True]
    other = values | of_jobs(CTC, PV_EASY, MBS=11.01, MWBS=3.0, makespan=1002.0) | of_jobs(CTC, EASY_LAST, MBS=10.0)
    assert verdict("are smaller than EASY's, or similar", other) == [0, False]
    assert verdict("with the same predictor", other) == [0, False]
    assert verdict("EASY-Last has the largest MWBS", other) == [0, False]
    assert verdict("smaller MBS and MWBS than EASY-Last", other) == [1, False]
    assert verdict("within the same time", other) == [pytest.approx(0.2), False]


def test_statements_of_other_logs() -> None:
    """That one does not hold of them says nothing of the paper."""
    late = of_jobs(MINE, PV_EASY, late_heads=1, blocked_jobs=7)
    assert statement("no job of lower priority", late)["note"] == "of other logs than the paper's"
    assert statement("no job of lower priority", of_jobs(CTC, PV_EASY, late_heads=1))["note"] == "unexplained"


def test_nothing_was_measured() -> None:
    """Statements cannot be decided, and the page can be written."""
    found = Measurements(measurements({(MINE, PV_EASY, "jobs", "jobs", ""): 0.0}))
    cells = compare(PAPER, PAPER.tables, found, quick=True)
    assert cells.loc[cells["row"] == "statement", "is_reproduced"].isna().all()
    assert "nan" not in as_markdown(PAPER, PAPER.tables, cells)


def test_tables_of_our_own() -> None:
    """Each by itself on the page, though none is of the paper; measures by run."""
    values = of_jobs(CTC, schedule_run(policy="easy", load=0.8), MBS=5.0, late_heads=3)
    values |= of_jobs(CTC, schedule_run(load=0.8), wasted_load_from_the_first_submission=2.0)
    values |= of_jobs(KTH, schedule_run(predictor="user-average"), MWBS=6.0)
    values |= of_jobs(KTH, schedule_run(policy="easy", predictor="user-average"), MWBS=7.0)
    values |= of_jobs(CTC, schedule_run(preemption="suspend", restart_overhead=60.0), overhead_load=0.5)
    values |= of_jobs(CTC, schedule_run(slp=False), MBS=8.0)
    wanted = {
        "load": {
            ("CTC at load 0.8", "MBS EASY with Last Model"): 5,
            ("CTC at load 0.8", "late heads EASY with Last Model"): 3,
        }
        | {("CTC at load 0.8", "wasted load PV-EASY"): 2},
        "predictors": {("KTH-SP2 user-average", "MWBS PV-EASY"): 6, ("KTH-SP2 user-average", "MWBS EASY"): 7},
        "preemption": {("CTC suspend, 60 s a restart", "overhead load"): 0.5},
        "parts": {("CTC without SLP", "MBS"): 8},
    }
    for number, cells in wanted.items():
        assert chosen(table(number, values))["ours"].to_dict() == cells
    tables = [*PAPER.chosen_tables("parts"), *PAPER.chosen_tables("preemption")]
    cells = compare(PAPER, tables, Measurements(measurements(values)), quick=False)
    page = as_markdown(PAPER, tables, cells)
    for title in ("Each part of PV-EASY by itself", "What becomes of the work of preempted jobs"):
        assert page.count(f"\n## {title}\n") == 1
    assert page.count("| CTC without SLP |") == 1
    assert summary_lines(tables, cells)[0] == "Each part of PV-EASY by itself: nothing to compare with"


def test_the_other_program() -> None:
    """Its values stand where the paper's would; within a hundredth."""
    values = of_jobs(CTC, PV_EASY, backfilled_jobs=29880, mean_kills=1.8) | of_jobs(CTC, EASY, MBS=10.74)
    cells = chosen(table("other-program", values | of_jobs(MINE, PV_EASY, MBS=1.0)))
    assert cells["printed"].tolist() == ["29883", "1.82", "10.7"]
    assert cells["is_reproduced"].tolist() == [True, False, True]


@pytest.mark.parametrize("quick", [False, True])
def test_the_picture_of_figure_4(quick: bool) -> None:
    """A panel a metric and log, a line a policy and reading, at their errors."""
    values = points(lambda metric, policy, percent, reading: 1.0 + percent, quick=quick)
    figure = PAPER.pictures["errors"](measurements(values | points(lambda *_: 2.0, MINE, quick)))
    assert isinstance(figure, Figure)
    assert [axes.get_title() for axes in figure.axes] == ["CTC", "mine"] * 2
    lines = [container[0] for container in figure.axes[0].containers]  # type: ignore[index]
    assert len(lines) == 6
    assert list(lines[0].get_xdata()) == ([0, 50, 100] if quick else list(range(0, 101, 10)))
    assert list(lines[0].get_ydata()) == pytest.approx([1 + x for x in lines[0].get_xdata()])
    assert PAPER.pictures["errors"](measurements(of_jobs(CTC, PV_EASY, MBS=1.0))).axes


def test_the_pictures_of_the_other_figures() -> None:
    """Points and bars of each policy, in each log; no bar stands on a logarithmic axis."""
    values = {}
    for height, run in enumerate((PV_EASY, EASY, EASY_LAST), 1):
        values |= of_jobs(CTC, run, MBS=height, MWBS=10 * height)
        values |= {(CTC, run, "blocked jobs", "MBS", "3"): float(height)}
    blocked_jobs = PAPER.pictures["blocked"](measurements(values)).axes
    assert [axes.get_title() for axes in blocked_jobs] == ["CTC", "CTC"]
    assert [list(line.get_ydata())[2] for line in blocked_jobs[0].lines] == [1, 2, 3]  # type: ignore[arg-type]
    assert [line.get_color() for line in blocked_jobs[0].lines] == [
        look_of(name)["color"] for name in ("pv-easy", *["easy"] * 2)
    ]
    assert len({str(line.get_linestyle()) + str(line.get_marker()) for line in blocked_jobs[0].lines}) == 3
    assert not blocked_jobs[0].patches
    mbs, mwbs = PAPER.pictures["slowdowns"](measurements(values)).axes
    for axes, factor in ((mbs, 1), (mwbs, 10)):
        assert [bars[0].get_height() for bars in axes.containers] == [factor, 2 * factor, 3 * factor]  # type: ignore[index]
    for name in ("blocked", "slowdowns"):
        assert PAPER.pictures[name](measurements({(MINE, PV_EASY, "jobs", "jobs", ""): 0.0})).axes
