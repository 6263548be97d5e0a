# SPDX-License-Identifier: BSD-3-Clause
"""The tables of measures made by hand, and what is printed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pipelines.papers import find_paper
from pipelines.papers.cells import compare
from pipelines.papers.paper import Measurements, Run
from pipelines.papers.popa2023.beyond import LEAK_ROWS, NAMES
from pipelines.papers.popa2023.bounds import bounds_run
from pipelines.papers.popa2023.by_days import paired, weighted
from pipelines.papers.popa2023.checks import ESTIMATES
from pipelines.papers.popa2023.fits import fit_run, folds_run, past_run
from pipelines.papers.popa2023.models import BOOSTING, CONSTANT, LINEAR
from pipelines.papers.popa2023.polls import HONEST, THEIRS
from pipelines.papers.popa2023.tables import CEDAR, GRAHAM, MADE_OF, NETWORK, PAST, SLURM

PAPER, BEYOND = find_paper("popa2023"), find_paper("popa2023-beyond")
PRINTED = {table.number: table.printed for table in PAPER.tables}

Row = tuple[str, Run, str, str, str, float]


def measurements(*rows: Row) -> pd.DataFrame:
    """Return measures of a log, run, subject and place of a curve."""
    made = [(log, run.text, subject, x, measure, value) for log, run, subject, x, measure, value in rows]
    return pd.DataFrame(made, columns=["log", "experiment", "subject", "x", "measure", "value"])


def of_fit(log: str, run: Run, error: float, *, missing: int = 0, rows: float = 15042.0) -> list[Row]:
    """Return the measures of a fit; some test days may be missing."""
    found: list[Row] = []
    for place, part in enumerate(("train", "valid", "test")):
        there = 7 - (missing if part == "test" else 0)
        own = {"rows": rows, "days": 7.0, "days found": there, "mse": error + place, "within 2": 0.4, "within 3": 0.6}
        found += [(log, run, part, "", name, value) for name, value in own.items()]
    return found


def table(paper: str, number: str, found: pd.DataFrame) -> pd.DataFrame:
    """Return a table beside what is printed."""
    about = find_paper(paper)
    return compare(about, about.chosen_tables(number), Measurements(found))


def test_what_is_printed() -> None:
    """Digits and all."""
    assert PRINTED["cedar"][NETWORK] == {
        "train": "0.2139",
        "valid": "0.3673",
        "test": "0.4299",
        "within 2": "38.19",
        "within 3": "56.76",
    }
    assert [PRINTED["cedar"]["linear"][part] for part in ("train", "valid", "test")] == ["0.4046", "0.8315", "0.4224"]
    assert [PRINTED["graham"][NETWORK][name] for name in ("test", "within 2", "within 3")] == [
        "0.6583",
        "41.60",
        "59.89",
    ]
    assert list(PRINTED["past"]["Cedar"].values()) == ["0.3727", "0.4468", "0.5956", "33.30", "50.38"]
    assert {row: cells["mean difference"] for row, cells in PRINTED["slurm"].items()} == {
        "Cedar": "3.2032",
        "Narval": "2.4870",
    }
    # 10 runs of 15,042 and of 42,922 test rows; the linear model is better than the network on Cedar's test
    assert {row: int(cells["predictions"]) for row, cells in PRINTED["rows"].items()} == {
        "Cedar": 429220,
        "Graham": 150420,
    }
    assert PRINTED["cedar"]["linear"]["test"] < PRINTED["cedar"][NETWORK]["test"]


@pytest.mark.parametrize(("missing", "verdict"), [(0, True), (4, None)])
def test_rows_of_missing_days_are_not_compared(missing: int, verdict: bool | None) -> None:
    """Ten times the test rows are the predictions that are printed, where all days are there."""
    found = measurements(*of_fit(GRAHAM, fit_run(CONSTANT), 0.4, missing=missing))
    cell = table("popa2023", "rows", found).set_index("column").loc["predictions"]
    assert (cell["ours"], cell["printed"]) == (150420, "150420")
    assert pd.isna(cell["is_reproduced"]) if verdict is None else cell["is_reproduced"] == verdict
    assert (cell["note"] == "4 of 7 days for test are missing here") == bool(missing)
    other = measurements(*of_fit(GRAHAM, fit_run(CONSTANT), 0.4, rows=15041))
    assert table("popa2023", "rows", other)["is_reproduced"].dropna().tolist() == [False]


def test_models_of_cedar() -> None:
    """The linear model is compared where all days are there, within 5 %; the network stands there by itself."""
    for missing, test, verdict in ((0, 0.443, True), (0, 0.444, False), (1, 0.4224, None)):
        found = measurements(
            *(row for made in MADE_OF.values() for row in of_fit(CEDAR, fit_run(*made), test - 2.0, missing=missing))
        )
        cells = table("popa2023", "cedar", found).set_index(["row", "column"])
        verdict_of_test = cells.loc[("linear", "test"), "is_reproduced"]
        assert pd.isna(verdict_of_test) if verdict is None else verdict_of_test == verdict
        assert cells.loc[("linear", "test"), "ours"] == pytest.approx(test)
        assert cells.loc[("boosted trees, known at the poll", "within 3"), "ours"] == pytest.approx(60.0)
        network = cells.loc[NETWORK]
        assert network["ours"].isna().all()
        assert network["is_reproduced"].isna().all()
        assert network["note"].unique().tolist() == ["the network is not made anew"]
        assert set(cells["printed"].dropna()) == {
            text for row in PRINTED["cedar"].values() for text in row.values() if text
        }
    assert table("popa2023", "graham", found).empty


def test_earlier_days() -> None:
    """The last day, and all days; what is printed stands below the cluster that it is of."""
    rows = []
    for place, model in enumerate(PAST.values()):
        run = past_run(False, model, THEIRS)
        rows += [(CEDAR, run, "test", "", "mse", float(place)), (CEDAR, run, "all", "", "mse", 10.0 + place)]
    cells = table("popa2023", "past", measurements(*rows)).set_index(["row", "column"])
    for place, row in enumerate(PAST):
        assert cells.loc[(f"Cedar: {row}", "test"), "ours"] == place
        assert cells.loc[(f"Cedar: {row}", "all days"), "ours"] == 10 + place
    assert cells.loc[(f"Cedar: {NETWORK}", "test"), "printed"] == "0.5956"


def test_slurm() -> None:
    """Half of the last digit; the number of jobs exactly."""
    for mean, jobs, verdicts in ((3.20316, 53, [True, True]), (3.2033, 54, [False, False])):
        found = measurements(
            (SLURM, ESTIMATES, "cedar", "", "mean of log10 s", mean), (SLURM, ESTIMATES, "cedar", "", "estimates", jobs)
        )
        cells = table("popa2023", "slurm", found)
        assert cells["is_reproduced"].dropna().tolist() == verdicts


def statement(words: str, *rows: Row) -> pd.Series:  # type: ignore[type-arg]
    """Return the statement that has some words."""
    cells = table("popa2023", "statements", measurements(*rows))
    return next(row for _, row in cells.iterrows() if words in row["column"])


def test_the_network_beside_a_constant() -> None:
    """Worse where the constant's error is below the printed .6583; nothing holds, as the text does not say so."""
    for test, which in ((0.4695, "worse"), (0.66, "better")):
        found = statement("test error on Graham", *of_fit(GRAHAM, fit_run(CONSTANT), test - 2.0))
        assert (found["printed"], found["ours"]) == ("0.6583", pytest.approx(test))
        assert f"the network is {which} than it" in found["definition"]
        assert pd.isna(found["is_reproduced"])
    found = statement("beside a linear model", *of_fit(GRAHAM, fit_run(LINEAR), 0.492 - 2.0))
    assert found["ours"] == pytest.approx(0.492)


def test_what_is_no_factor() -> None:
    """1,594 times closer: of seconds, so it does not hold whatever is measured."""
    found = statement("1,594", (SLURM, ESTIMATES, "cedar", "", "mean of log10 s", 3.0))
    assert (found["ours"], found["is_reproduced"]) == (1000.0, False)
    nothing = statement("1,594", (GRAHAM, ESTIMATES, "cedar", "", "mean of log10 s", 3.0))
    assert pd.isna(nothing["is_reproduced"])


def test_more_days() -> None:
    """The later half of the days beside the earlier, within two standard errors of both."""
    run = past_run(False, BOOSTING, THEIRS)
    for log, words, late, holds in (
        (CEDAR, "more days", (1.0, 2.0), True),
        (CEDAR, "more days", (9.0, 9.0), False),
        (GRAHAM, "same of Graham", (9.0, 9.0), False),
    ):
        values = [1.0, 3.0, 2.0, *late, sum(late) / 2]
        rows = [(log, run, "day", f"d{i}", "mse", value) for i, value in enumerate(values)]
        rows += [(log, run, "day", f"d{i}", "rows", 10.0) for i in range(6)]
        found = statement(words, *rows)
        assert (found["ours"], found["is_reproduced"]) == (pytest.approx(sum(late) / 2 - 2.0), holds)
        few = statement(words, *(row for row in rows if row[3] != "d5"))
        assert pd.isna(few["is_reproduced"])


def test_errors_of_days() -> None:
    """By hand: weights 1 and 3, values 0 and 4: mean 3, error sqrt(2 / 1) sqrt(9 + 9) / 4; of one day there is none."""
    assert weighted(np.array([0.0, 4.0]), np.array([1.0, 3.0])) == pytest.approx((3.0, 1.5))
    one = weighted(np.array([2.0]), np.array([5.0]))
    assert one[0] == 2.0
    assert np.isnan(one[1])
    assert np.isnan(weighted(np.zeros(0), np.zeros(0))).all()
    equal = np.array([1.0, 2.0, 6.0])
    assert weighted(equal, np.full(3, 7.0))[1] == pytest.approx(equal.std(ddof=1) / 3**0.5)


def test_standard_errors_of_models() -> None:
    """Of each part by its own days, of shares in percent; the whole of a past by all days that are asked."""
    run, past = fit_run(BOOSTING, HONEST), past_run(False, BOOSTING, THEIRS)
    rows = of_fit(GRAHAM, run, 0.4)
    for part, last in (("train", 5.0), ("test", 4.0)):
        for day, rows_of_day, error in (("a", 1.0, 0.0), ("b", 3.0, last)):
            own = {"rows": rows_of_day, "mse": error, "within 2": error / 8}
            rows += [(GRAHAM, run, part, day, name, each) for name, each in own.items()]
    rows += [(GRAHAM, past, "all", "", "mse", 3.0)]
    for day, rows_of_day, error in (("a", 1.0, 0.0), ("b", 3.0, 4.0)):
        rows += [(GRAHAM, past, "day", day, "rows", rows_of_day), (GRAHAM, past, "day", day, "mse", error)]
    cells = table("popa2023", "graham", measurements(*rows)).set_index(["row", "column"])
    own = cells.loc["boosted trees, known at the poll", "spread"]
    assert own[["train", "test", "within 2"]].tolist() == pytest.approx([1.5 * 5 / 4, 1.5, 100 * 1.5 / 8])
    assert own[["valid", "within 3"]].isna().all()
    assert cells.loc[NETWORK, "spread"].isna().all()
    cells = table("popa2023", "past", measurements(*rows)).set_index(["row", "column"])
    assert cells.loc[("Graham: boosted trees", "all days"), "spread"] == pytest.approx(1.5)


def test_the_leak_in_pairs() -> None:
    """By how much one is above the other on the same days, weighted by rows; days of one alone do not count."""
    ours, base = folds_run(BOOSTING, THEIRS), folds_run(BOOSTING, HONEST)
    rows: list[Row] = []
    for run, values in ((ours, {"a": 1.0, "b": 2.0, "c": 9.0}), (base, {"a": 2.0, "b": 2.5})):
        for day, error in values.items():
            rows += [
                (GRAHAM, run, "day", day, "mse", error),
                (GRAHAM, run, "day", day, "rows", 3.0 if day == "a" else 1.0),
            ]
    more, error = paired(Measurements(measurements(*rows)), GRAHAM, ours, base)
    assert (more, error) == pytest.approx((-0.875, 2**0.5 * (2 * 0.375**2) ** 0.5 / 4.0))
    cells = table("popa2023-beyond", "leak", measurements(*rows)).set_index(["row", "column"])
    assert cells.loc[("Graham: boosted trees, 76 columns", "more"), "ours"] == pytest.approx(-0.875)
    own = weighted(np.array([1.0, 2.0, 9.0]), np.array([3.0, 1.0, 1.0]))[1]
    assert cells.loc[("Graham: boosted trees, 76 columns", "mse"), "spread"] == pytest.approx(own)
    assert len(cells) == 4 * len(LEAK_ROWS)


def test_earlier_days_beside_random_ones() -> None:
    """Of the same days: those that are asked of earlier ones."""
    rows: list[Row] = []
    for run, values in (
        (folds_run(BOOSTING, HONEST), {"a": 1.0, "b": 5.0, "c": 3.0}),
        (past_run(False, BOOSTING, HONEST), {"b": 2.0, "c": 4.0}),
    ):
        for day, error in values.items():
            rows += [(GRAHAM, run, "day", day, "mse", error), (GRAHAM, run, "day", day, "rows", 1.0)]
    cells = table("popa2023-beyond", "future", measurements(*rows)).set_index(["row", "column"])["ours"]
    assert cells["Graham: from other days, at random", "mse"] == 4.0
    assert cells["Graham: from earlier days", "mse"] == 3.0
    assert (cells["Graham: from earlier days", "worst day"], cells["Graham: from earlier days", "median day"]) == (4, 3)


def test_bounds() -> None:
    """Told of asked, kept, by day, tightness; a row a method."""
    method = "boosting-conformal"
    run = bounds_run(False, method, 0.95)
    own = {"rows": 10.0, "told": 8.0, "share kept": 0.9, "days kept": 0.5, "median ratio": 7.0}
    of_days = [
        (day, name, each)
        for day, share in (("a", 1.0), ("b", 0.8))
        for name, each in (("share kept", share), ("rows", 4.0))
    ]
    found = measurements(
        *((CEDAR, run, method, "", name, number) for name, number in own.items()),
        *((CEDAR, run, method, day, name, number) for day, name, number in of_days),
    )
    cells = table("popa2023-beyond", "bounds", found).set_index(["row", "column"])
    row = cells.loc[f"Cedar: {NAMES[method]}"]
    assert row["ours"].to_dict() == {"told": 0.8, "kept": 0.9, "days kept": 0.5, "bound / wait": 7.0}
    assert row.loc["kept", "spread"] == pytest.approx(0.1)
    assert len(cells) == 4 * len(NAMES)
    assert cells["ours"].notna().sum() == 4
