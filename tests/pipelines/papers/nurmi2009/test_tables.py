# SPDX-License-Identifier: BSD-3-Clause
"""Tables 4.1 and 4.2, the statements and the curves, of measures made by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

import pandas as pd
import pytest
from matplotlib.figure import Figure

from pipelines.papers import find_paper
from pipelines.papers.cells import compare
from pipelines.papers.nurmi2009.predictions import BOUND, METHODS, replay_run
from pipelines.papers.paper import Measurements
from pipelines.papers.report import as_markdown

CTC, DS, MINE = "CTC-SP2-1996-3.1-cln", "SDSC-DS-2004-2.1-cln", "mine"
PAPER = find_paper("nurmi2009")

Values = dict[str, float]
USUAL: Values = {"jobs": 100, "predicted": 90, "share_not_predicted": 0.1, "withheld_correctness": 0.8}
CLUSTERS: Values = {"fewest_clusters": 3, "most_clusters": 5}


def measurements(of: Callable[[str, bool, bool], Values], rows: dict[str, str], quick: bool = False) -> pd.DataFrame:
    """Return the measures of each method with and without QBETS and availability, of one row of each log."""
    made = []
    for log, row in rows.items():
        for method in (*METHODS.values(), BOUND):
            for qbets, availability in ((True, True), (True, False), (False, True)):
                run = replay_run(log, quick, method, qbets=qbets, availability=availability)
                clusters = CLUSTERS if qbets else {}
                values = USUAL | {"standard_error": 0.01} | clusters | of(method, qbets, availability)
                made += [(log, run.text, row, *_placed(name), value) for name, value in values.items()]
    return pd.DataFrame(made, columns=["log", "experiment", "subject", "x", "measure", "value"])


def _placed(name: str) -> tuple[str, str]:
    """Return place and name of a measure."""
    measure, _, x = name.partition("@")
    return x, measure


def table(number: str, found: pd.DataFrame, quick: bool = False) -> pd.DataFrame:
    """Return a table beside what is printed."""
    return compare(PAPER, PAPER.chosen_tables(number), Measurements(found), quick=quick)


RMS = {"binomial": 100.0, "lognormal-plain": 200.0, "loguniform": 1000.0, "weibull": 50.0, "lognormal": 400.0}


def by_method(method: str, qbets: bool, availability: bool) -> Values:
    """Return a correctness that tells method and parts."""
    place = (*METHODS.values(), BOUND).index(method)
    return {"correctness": 0.9 + 0.01 * place + 0.002 * qbets + 0.001 * availability, "rms_over": RMS[method]}


def test_table_4_1() -> None:
    """Correctness and ratio of each method, without QBETS; the bound with confidence as another reading."""
    cells = table("4.1", measurements(by_method, {CTC: "ctc/ALL"}))
    chosen = cells[cells["is_chosen"]].set_index("column")
    assert chosen["ours"].to_dict() == pytest.approx(
        {
            "BM correctness": 0.901,
            "LogN correctness": 0.911,
            "LogU correctness": 0.921,
            "Weib correctness": 0.931,
            "LogN RMS ratio": 0.5,
            "LogU RMS ratio": 0.1,
            "Weib RMS ratio": 2.0,
        }
    )
    assert chosen["spread"].notna().sum() == 4
    assert chosen["printed"].tolist() == ["0.94", "0.97", "1.00", "0.92", "0.48", "0.04", "0.49"]
    assert chosen["is_reproduced"].tolist() == [False, False, False, False, True, False, False]
    other = cells[~cells["is_chosen"]].set_index("column")["ours"]
    assert other.to_dict() == pytest.approx({"LogN correctness": 0.941, "LogN RMS ratio": 0.25})


def test_table_4_2() -> None:
    """The same with QBETS; and with bounds also where nothing seems to start."""
    cells = table("4.2", measurements(by_method, {CTC: "ctc/ALL"}))
    chosen = cells[cells["is_chosen"]].set_index("column")["ours"]
    assert chosen["BM correctness"] == pytest.approx(0.903)
    readings = cells[~cells["is_chosen"]].groupby("reading", sort=False)["ours"]
    assert [len(part) for _, part in readings] == [2, 7]
    assert readings.get_group("jobs are told a bound also where nothing seems to start").iloc[0] == pytest.approx(0.902)


def test_within_which_limits() -> None:
    """Half a unit of the last digit in Table 4.1, a hundredth in Table 4.2; of ratios a hundredth or 5 %."""
    near = {"4.1": 0.9449, "4.2": 0.969}
    far = {"4.1": 0.9451, "4.2": 0.9701}
    for values, reproduces in ((near, True), (far, False)):
        for number, value in values.items():
            found = measurements(lambda *_, v=value: {"correctness": v, "rms_over": 1.0}, {CTC: "ctc/ALL"})
            first = table(number, found).iloc[0]
            assert (first["column"], first["is_reproduced"]) == ("BM correctness", reproduces)


def test_what_cannot_be_compared() -> None:
    """DataStar is of another period: printed, and not compared. A log of one's own: not printed."""
    cells = table("4.1", measurements(by_method, {DS: "datastar/high", MINE: "any/7"}))
    star, mine = cells[cells["row"] == "datastar/high"], cells[cells["row"] == "mine/7"]
    assert star["printed"].notna().all()
    assert star["note"].str.contains("another period").all()
    assert mine["printed"].isna().all()
    assert cells["is_reproduced"].isna().all()
    assert len(star) == len(mine) == 9


def test_queues_without_predictions_are_left_out() -> None:
    """All their jobs were of the training."""
    found = measurements(lambda *_: {"predicted": 0.0}, {CTC: "ctc/ALL"})
    assert table("4.1", found).empty


def statement(words: str, found: pd.DataFrame) -> pd.Series:  # type: ignore[type-arg]
    """Return a statement."""
    cells = table("statements", found)
    chosen = cells[cells["column"].str.contains(words, regex=False)]
    assert len(chosen) == 1
    return chosen.iloc[0]


def correctness(**values: tuple[float, float]) -> Callable[[str, bool, bool], Values]:
    """Return measures with the correctness of methods without and with QBETS, .9 of the others."""

    def of(method: str, qbets: bool, availability: bool) -> Values:
        pair = values.get(method.replace("-plain", ""), (0.9, 0.9))
        return {"correctness": pair[qbets], "rms_over": RMS[method]}

    return of


def test_statement_of_the_log_uniform_method() -> None:
    """It alone is correct without QBETS, or it is not."""
    rows = {CTC: "ctc/ALL"}
    alone = statement("log-uniform method alone", measurements(correctness(loguniform=(0.95, 0.9)), rows))
    assert (alone["ours"], alone["is_reproduced"]) == (1.0, True)
    both = correctness(loguniform=(0.95, 0.9), binomial=(0.95, 0.9))
    assert not statement("log-uniform method alone", measurements(both, rows))["is_reproduced"]
    none = statement("log-uniform method alone", measurements(correctness(loguniform=(0.9499, 1.0)), rows))
    assert (none["ours"], none["is_reproduced"]) == (0.0, False)


def test_statements_of_the_binomial_method() -> None:
    """How often it is correct, and tighter than others that are."""
    rows = {CTC: "ctc/ALL"}
    good = measurements(correctness(binomial=(0.9, 0.95), loguniform=(1.0, 1.0)), rows)
    for words in ("for nearly every queue", "is always tighter", "more often than any other"):
        assert statement(words, good)[["ours", "is_reproduced"]].tolist() == [1.0, True], words
    beaten = measurements(correctness(binomial=(0.9, 0.95), weibull=(0.9, 0.96)), rows)
    assert statement("more often than any other", beaten)[["ours", "is_reproduced"]].tolist() == [0.0, False]
    assert statement("is always tighter", beaten)["is_reproduced"] is pd.NA
    wrong = measurements(correctness(binomial=(0.9, 0.949), loguniform=(1.0, 1.0)), rows)
    assert statement("for nearly every queue", wrong)[["ours", "is_reproduced"]].tolist() == [0.0, False]


def test_statements_of_parts() -> None:
    """Months, clusters, and jobs that are told nothing."""

    def of(method: str, qbets: bool, availability: bool) -> Values:
        months = {"correctness@2000-01": 0.95, "correctness@2000-02": 0.96 if qbets else 0.94}
        return {"correctness": 0.95, "rms_over": RMS[method], **months}

    found = measurements(of, {CTC: "ctc/ALL"})
    assert statement("month by month", found)[["ours", "is_reproduced"]].tolist() == [1.0, True]
    same = measurements(lambda *given: of(*given) | {"correctness@2000-02": 0.96}, {CTC: "ctc/ALL"})
    assert statement("month by month", same)[["ours", "is_reproduced"]].tolist() == [0.0, False]
    assert statement("three to five clusters", found)[["ours", "is_reproduced"]].tolist() == [3.0, True]
    told = statement("less than 1 %", found)
    assert (told["ours"], told["is_reproduced"]) == (pytest.approx(0.1), False)
    assert "0.80 to 0.80 would have been right" in told["definition"]
    assert "withhold far more" in told["note"]
    other = {"share_not_predicted": 0.009, "fewest_clusters": 2}
    few = measurements(lambda *given: of(*given) | other, {CTC: "ctc/ALL"})
    assert statement("less than 1 %", few)["is_reproduced"]
    assert not statement("three to five clusters", few)["is_reproduced"]
    curves = table("coverage", found).set_index("column")["ours"]
    assert curves.to_dict() == {"without QBETS": 0.5, "with QBETS": 1.0}


def test_shares_are_of_all_jobs() -> None:
    """A queue of many jobs counts as many times."""

    def of(method: str, qbets: bool, availability: bool) -> Values:
        return {"correctness": 0.95, "rms_over": 1.0}

    found = measurements(of, {CTC: "ctc/ALL", DS: "datastar/high"})
    run = replay_run(DS, False, "binomial").text
    for name, value in (("jobs", 300.0), ("share_not_predicted", 0.02)):
        found.loc[(found["experiment"] == run) & (found["measure"] == name), "value"] = value
    assert statement("less than 1 %", found)["ours"] == pytest.approx((100 * 0.1 + 300 * 0.02) / 400)


def test_statements_of_other_logs() -> None:
    """That one does not hold of them says nothing of the paper."""
    found = measurements(correctness(), {MINE: "any/1"})
    cells = table("statements", found)
    assert set(cells.loc[cells["is_reproduced"].eq(False).fillna(False), "note"]) == {"of other logs than the paper's"}


def test_nothing_was_scored() -> None:
    """No queue has as many jobs as the training: statements cannot be decided, and the page can be written."""
    found = measurements(lambda *_: {"predicted": 0.0}, {MINE: "any/1"})
    cells = compare(PAPER, PAPER.tables, Measurements(found), quick=False)
    assert "nan" not in as_markdown(PAPER, PAPER.tables, cells)
    counts = cells[cells["row"] == "statement"].set_index("column")["is_reproduced"]
    assert counts.isna().all()
    assert isnan(cells.loc[cells["column"].str.contains("less than 1 %"), "ours"].item())


PRINTED = (("4.1", "without QBETS"), ("4.2", "with QBETS"))


@pytest.mark.parametrize("quick", [False, True])
def test_the_picture(quick: bool) -> None:
    """A panel a queue, a line with QBETS and one without."""
    months = {"correctness@2000-01": 0.96, "correctness@2000-02": 0.5}
    found = measurements(lambda *_: months, {CTC: "ctc/ALL", MINE: "any/1"}, quick)
    figure = PAPER.pictures["coverage"](found)
    assert isinstance(figure, Figure)
    drawn = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in drawn] == ["ctc/ALL", "mine/1"]
    lines = {str(line.get_label()): list(line.get_ydata()) for line in drawn[0].get_lines()[:2]}
    assert lines == {"without QBETS": [0.96, 0.5], "with QBETS": [0.96, 0.5]}
    printed = {str(line.get_label()): list(line.get_ydata()) for line in drawn[0].get_lines()[2:4]}
    tables = {name: PAPER.chosen_tables(number)[0].printed["ctc/ALL"]["BM correctness"] for number, name in PRINTED}
    assert printed == {f"{name}: printed, all": [float(value)] for name, value in tables.items()}
    assert len(drawn[1].get_lines()) == 3  # no paper prints anything of another log


def test_a_picture_of_nothing() -> None:
    """Without months there are no panels."""
    found = measurements(lambda *_: {}, {CTC: "ctc/ALL"})
    assert [axes for axes in PAPER.pictures["coverage"](found).axes if axes.axison] == []
