# SPDX-License-Identifier: BSD-3-Clause
"""Models, their figures, and who learns from which days."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipelines.papers.popa2023 import fits
from pipelines.papers.popa2023.fits import (
    FitOfPaper,
    FoldsOfDays,
    PastDays,
    measure_fit,
    measure_folds,
    measure_past,
    past_places,
)
from pipelines.papers.popa2023.models import BOOSTING, CONSTANT, LINEAR, MODELS, figures_of, predict
from pipelines.papers.popa2023.polls import complete_rows
from tests.pipelines.papers.popa2023.polls import DAY, excerpt, polls_of


def value(found: pd.DataFrame, subject: str, measure: str, x: str = "") -> float:
    """Return a measure."""
    rows = found[(found["subject"] == subject) & (found["measure"] == measure) & (found["x"] == x)]
    (one,) = rows["value"]
    return float(one)


def test_figures() -> None:
    """By hand: errors of 0, .1, .4 and 1; a factor of 2 is .301, of 3 .477; the mean square is .2925."""
    found = figures_of(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.1, 2.6, 5.0]))
    assert found == pytest.approx({"mse": 0.2925, "within 2": 0.5, "within 3": 0.75})
    near_limits = figures_of(np.log10([10.0, 10.0, 10.0, 10.0]), np.log10([19.9, 5.1, 31.0, 3.4]))
    assert (near_limits["within 2"], near_limits["within 3"]) == (0.5, 0.75)
    assert figures_of(np.zeros(0), np.zeros(0)) == {}


def test_models() -> None:
    """A constant is the mean; a linear relation is found exactly, also beside a column that never changes."""
    known = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0, 5.0], "b": [1.0, 0.0, 1.0, 0.0, 1.0], "same": 7.0})
    target = (2.0 * known["a"] - known["b"] + 3.0).to_numpy()
    asked = pd.DataFrame({"a": [10.0], "b": [0.5], "same": [7.0]})
    assert predict(CONSTANT, known, target, {"x": asked})["x"].tolist() == [target.mean()]
    assert predict(LINEAR, known, target, {"x": asked, "y": known}).keys() == {"x", "y"}
    assert predict(LINEAR, known, target, {"x": asked})["x"] == pytest.approx([22.5])
    grown = pd.DataFrame({"a": np.arange(200.0)})
    step = np.where(grown["a"] < 100, 1.0, 3.0)
    told = predict(BOOSTING, grown, step, {"x": pd.DataFrame({"a": [3.0, 190.0]})})["x"]
    assert told == pytest.approx([1.0, 3.0], abs=0.01)


@pytest.mark.parametrize("model", MODELS)
def test_equal_fits(model: str) -> None:
    """Give equal bits."""
    parameters = FitOfPaper(model)
    pd.testing.assert_frame_equal(measure_fit(excerpt(), parameters, 0), measure_fit(excerpt(), parameters, 1))


def test_a_fit_of_days_at_random() -> None:
    """The constant by hand: the mean of the training rows' logarithms, on the test rows; missing days are told."""
    rows = complete_rows(excerpt())
    days = fits.random_days(rows.days)
    train, test = (
        rows.target[np.isin(rows.day, [rows.days.index(day) for day in part])] for part in (days.train, days.test)
    )
    found = measure_fit(excerpt(), FitOfPaper(CONSTANT), 0)
    assert value(found, "test", "mse") == pytest.approx(((test - train.mean()) ** 2).mean())
    assert value(found, "train", "mse") == pytest.approx(train.var())
    assert [value(found, part, "rows") for part in ("train", "test")] == [len(train), len(test)]
    assert [value(found, part, "days") for part in ("train", "valid", "test")] == [8, 2, 2]
    for part, own in (("train", days.train), ("test", days.test)):
        by_day = {day: rows.target[rows.day == rows.days.index(day)] for day in own}
        for day, each in by_day.items():
            assert value(found, part, "mse", day) == pytest.approx(((each - train.mean()) ** 2).mean())
            assert value(found, part, "rows", day) == len(each)
        assert set(found[(found["subject"] == part) & (found["x"] != "")]["x"]) == set(own)
    some = polls_of([[10.0, 20.0]] * 12, missing=[rows.days.index(days.test[0]), rows.days.index(days.train[1])])
    told = measure_fit(some, FitOfPaper(CONSTANT), 0)
    assert [value(told, part, "days found") for part in ("train", "valid", "test")] == [7, 2, 1]


class Watched:
    """A model that notes what it is asked, and predicts the place of a call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[pd.DataFrame, Mapping[str, pd.DataFrame]]] = []
        monkeypatch.setattr(fits, "predict", self.predict)

    def predict(
        self, model: str, known: pd.DataFrame, target: Any, asked: Mapping[str, pd.DataFrame]
    ) -> dict[str, Any]:
        """Note it."""
        assert len(known) == len(target)
        assert model == CONSTANT
        self.calls.append((known, asked))
        return {name: np.full(len(rows), float(len(self.calls))) for name, rows in asked.items()}


def test_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row is asked once, of rows of other days alone; figures are those of its prediction."""
    watched = Watched(monkeypatch)
    found = measure_folds(polls_of([[10.0, 10.0]] * 7, missing=[3]), FoldsOfDays(CONSTANT, "theirs", 3), 0)
    asked = [rows["all"]["poll_time"] for _, rows in watched.calls]
    assert sorted(pd.concat(asked).index) == list(range(12))
    for known, rows in watched.calls:
        assert not set(known["poll_time"]) & set(rows["all"]["poll_time"])
        assert len(known) + len(rows["all"]) == 12
    assert [len(each) for each in asked] == [4, 4, 4]
    means = [value(found, "day", "mse", f"2021-05-0{day}") for day in (1, 2, 3, 5, 6, 7)]
    assert sorted(means) == [0, 0, 1, 1, 4, 4]
    assert value(found, "all", "mse") == pytest.approx(10 / 6)
    other = measure_folds(polls_of([[10.0, 10.0]] * 7, missing=[3]), FoldsOfDays(CONSTANT, "theirs", 3), 5)
    assert not other.equals(found)  # the seed draws the folds


def test_earlier_days(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each day that is asked learns from days before it alone; ``known``: from waits that were over at its poll."""
    waits = [[10.0, 1.5 * DAY]] * 7
    for known in (False, True):
        watched = Watched(monkeypatch)
        found = measure_past(polls_of(waits), PastDays(CONSTANT, "theirs", known, 3, 2), 0)
        assert [int(each["test"]["poll_time"].iloc[0]) for _, each in watched.calls] == sorted(
            {int(each["test"]["poll_time"].iloc[0]) for _, each in watched.calls}
        )
        for learnt, each in watched.calls:
            poll = each["test"]["poll_time"].iloc[0]
            assert (learnt["poll_time"] < poll).all()
            newest = learnt[learnt["poll_time"] == poll - DAY]
            if len(newest):
                assert len(newest) == (1 if known else 2)
            assert len(each["test"]) == 2
        days = list(dict.fromkeys(found[found["subject"] == "day"]["x"]))
        assert days == ["2021-05-05", "2021-05-07"]
        assert value(found, "all", "rows") == 4
        assert value(found, "day", "mse", "2021-05-05") == pytest.approx(
            ((np.log10([10.0, 1.5 * DAY]) - 1.0) ** 2).mean()
        )


def test_days_that_are_asked() -> None:
    """The last, and each so many before it, down to the first; those that are missing are not."""
    rows = complete_rows(polls_of([[1.0]] * 10, missing=[5]))
    assert past_places(rows, 3, 2) == [3, 7, 9]
    assert past_places(rows, 4, 5) == [4, 9]
