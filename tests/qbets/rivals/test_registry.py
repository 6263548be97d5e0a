# SPDX-License-Identifier: BSD-3-Clause
"""Rivals by name: found, declared, refused, and one of one's own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from swftools.errors import ParameterError
from swftools.qbets import WaitPredictor, find_method, list_bounds, list_methods, list_rivals, replay
from swftools.qbets.bounds import BinomialBound
from swftools.qbets.rivals import ConformalGradientBoosting, GradientBoosting, find_rival, register_rival
from swftools.qbets.rivals import registry as registry_of_rivals
from tests.qbets.rivals.logs import crowded_log

OWN = '''
from dataclasses import dataclass
from swftools.parameters import number
from swftools.qbets.rivals import COLUMNS, Conformal, Rival, register_rival

class Times:
    def __init__(self, factor):
        self.factor = factor

    def predict(self, rows):
        return self.factor * rows[:, COLUMNS.index("waiting_jobs")]

@register_rival
@dataclass(frozen=True)
class PerJob(Rival):
    """So many seconds for each job that waits."""

    NAME = "per-job"
    factor: float = number(60.0, above=0)

    def fit(self, rows, waits):
        return Times(self.factor)

@register_rival
@dataclass(frozen=True)
class ConformalPerJob(Conformal, PerJob):
    """The same, calibrated."""

    NAME = "per-job-conformal"
'''


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone with it."""
    monkeypatch.setattr(registry_of_rivals.RIVALS, "known", list_rivals())
    monkeypatch.setattr(registry_of_rivals.RIVALS, "_sources", dict(registry_of_rivals.RIVALS._sources))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module with rivals of one's own."""
    (tmp_path / "my_rivals.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_rivals", raising=False)
    return "my_rivals:per-job"


def test_ours() -> None:
    """By name; bounds and rivals are methods."""
    assert list(list_rivals()) == ["gradient-boosting", "gradient-boosting-conformal"]
    assert list(list_methods()) == [*list_bounds(), *list_rivals()]
    assert type(find_method("gradient-boosting")) is GradientBoosting
    assert type(find_method("binomial")) is BinomialBound


def test_text_and_parameters() -> None:
    """The text says all parameters and is taken back; short, those that are not as they are by themselves."""
    rival = find_rival("gradient-boosting-conformal:window=500,rate=0.1", quantile=0.9, confidence=0.8)
    assert (rival.window, rival.quantile) == (500, 0.9)
    assert find_rival(rival.to_text()) == rival
    assert find_rival(rival) is rival
    assert rival.short_text() == "gradient-boosting-conformal:quantile=0.9,window=500,rate=0.1"
    assert find_rival("gradient-boosting:quantile=0.5", quantile=0.9).quantile == 0.5
    assert WaitPredictor(GradientBoosting(window=9)).name == "gradient-boosting:window=9"
    assert WaitPredictor("gradient-boosting:window=9", quantile=0.8).name == "gradient-boosting:window=9"
    assert isinstance(rival, ConformalGradientBoosting)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gradient-bosting", "no method 'gradient-bosting'; there are: binomial, .*did you mean gradient-boosting"),
        ("gradient-boosting:windows=3", r"unknown parameters \['windows'\]; .*did you mean window\?"),
        ("gradient-boosting:window=0", "gradient-boosting: window=0 is not an integer of 1 or more"),
        ("gradient-boosting:quantile=1.5", "quantile=1.5 is not a number between 0 and 1"),
        ("gradient-boosting:first_fit=0", "first_fit=0 is not an integer of 1 or more"),
        ("gradient-boosting-conformal:scores=5", "scores=5 is not at least 19"),
        ("nowhere:rival", "module 'nowhere' cannot be imported"),
        ("gradient-boosting,binomial", "is not one NAME"),
    ],
)
def test_what_is_refused(text: str, says: str) -> None:
    """One clear error."""
    with pytest.raises(ParameterError, match=says):
        WaitPredictor(text)


def test_names_are_taken_once() -> None:
    """Neither two rivals nor a rival and a bound have one name; the same class may be registered again."""
    register_rival(GradientBoosting)

    @dataclass(frozen=True)
    class Other(GradientBoosting):
        NAME = "gradient-boosting"

    with pytest.raises(ParameterError, match="registered already"):
        register_rival(Other)
    Other.NAME = "binomial"
    with pytest.raises(ParameterError, match="a bound has that name"):
        register_rival(Other)


def test_one_of_your_own(own: str) -> None:
    """By its module, with its parameters, and calibrated by what is inherited."""
    log = crowded_log(400, 5)
    table = replay(log, f"{own}:factor=30,first_fit=20", training=0, by=None)
    assert table["wait_bound"].dropna().mod(30).eq(0).all()
    assert table["wait_bound"].notna().sum() > 300
    both = [replay(log, f"{own}{kind}:factor=30,first_fit=20", by=None, training=100) for kind in ("", "-conformal")]
    right = [
        (one["wait_bound"] >= one["wait_time"])[one["wait_bound"].notna() & one["wait_time"].notna()] for one in both
    ]
    assert right[0].mean() < 0.9
    assert right[1].mean() == pytest.approx(0.95, abs=0.03)
