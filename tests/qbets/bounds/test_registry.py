# SPDX-License-Identifier: BSD-3-Clause
"""What every bound does: as an estimator of scikit-learn, found by name, told waits in parts, and told nonsense."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError as ScikitNotFittedError

from swftools.errors import NotFittedError, ParameterError, SwfToolsError
from swftools.kernel import FloatArray, kernel
from swftools.qbets.bounds import (
    BinomialBound,
    Bound,
    LogNormalBound,
    LogNormalPlainBound,
    LogUniformBound,
    TrailingQuantile,
    WeibullBound,
    find_bound,
    list_bounds,
)
from swftools.qbets.bounds import registry as bound_registry
from swftools.qbets.bounds.registry import FEW, register_bound
from swftools.qbets.history import HEAD
from tests.examples import examples
from tests.qbets.bounds.known_waits import WAITS

KINDS = [BinomialBound, LogNormalBound, LogNormalPlainBound, LogUniformBound, TrailingQuantile, WeibullBound]
SIDED = [BinomialBound, LogNormalBound]
BOUNDS = [
    *(kind(0.75) for kind in KINDS),
    *(kind(0.5, 0.8, side) for kind in SIDED for side in ("lower", "two-sided")),
    BinomialBound(0.9, 0.9, approximation="large-sample"),
]
SAMPLE = np.random.default_rng(1).lognormal(6, 2, 700)

every_kind = pytest.mark.parametrize("kind", KINDS)
every_bound = pytest.mark.parametrize("bound", BOUNDS, ids=Bound.to_text)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget afterwards what a test registers."""
    monkeypatch.setattr(bound_registry.BOUNDS, "known", dict(bound_registry.BOUNDS.known))
    monkeypatch.setattr(bound_registry.BOUNDS, "_sources", dict(bound_registry.BOUNDS._sources))


def longest_so_far(state: FloatArray, facts: FloatArray, wait: float) -> None:
    """Keep the longest, and that there is one."""
    state[0] = max(state[0], wait)
    state[1] = 1.0


def longest_and_more(state: FloatArray, facts: FloatArray) -> float:
    """Return the longest and some."""
    return state[0] * facts[0] if state[1] > 0.0 else np.nan


class LongestBound(Bound):
    """A bound of one's own: the longest wait times a factor."""

    name: ClassVar[str] = "longest"
    add: ClassVar[Any] = kernel(allocates=False)(longest_so_far)
    bound: ClassVar[Any] = kernel(allocates=False)(longest_and_more)

    def __init__(self, factor: float = 2.0) -> None:
        self.factor = factor

    def check(self) -> None:
        """Refuse what makes it shorter."""
        if self.factor < 1.0:
            raise ParameterError(f"factor={self.factor!r} is less than 1")

    def facts(self, waits: int) -> tuple[FloatArray, ...]:
        """Return the factor."""
        return (np.array([self.factor]),)

    def places(self, waits: int) -> int:
        """Return the length of a state."""
        return 2


def test_all_are_registered() -> None:
    """These are the bounds, by name; a copy of the register is handed out."""
    assert {kind.name: kind for kind in KINDS} == list_bounds()
    list_bounds().clear()
    assert len(list_bounds()) == len(KINDS)


@every_bound
def test_estimator(bound: Bound) -> None:
    """Parameters are got and set, a clone has them and knows no waits, and ``repr`` shows them."""
    parameters = bound.get_params()
    assert set(parameters) >= {"quantile"}
    copy = clone(bound.fit(SAMPLE))
    assert copy is not bound
    assert copy.get_params() == parameters
    assert not hasattr(copy, "waits_")
    assert copy.set_params(quantile=0.25) is copy
    assert copy.quantile == 0.25
    assert bound.get_params() == parameters
    assert repr(bound).startswith(f"{type(bound).__name__}(")
    assert f"quantile={bound.quantile}" in repr(bound)
    with pytest.raises(ValueError, match=r"unknown parameters \['quantil'\].*did you mean quantile"):
        bound.set_params(quantil=0.5)


@every_bound
def test_texts(bound: Bound) -> None:
    """The text of a bound makes it again."""
    again = find_bound(bound.to_text())
    assert type(again) is type(bound)
    assert again.get_params() == bound.get_params()


@every_bound
def test_pickling(bound: Bound) -> None:
    """It is stored with what it knows, and learns on."""
    bound.fit(SAMPLE[:100])
    bound.predict()
    copy = pickle.loads(pickle.dumps(bound))
    assert copy.waits_ == 100
    np.testing.assert_equal(copy.predict(), bound.predict())
    np.testing.assert_equal(copy.update(SAMPLE[100:]).predict(), bound.update(SAMPLE[100:]).predict())


@every_kind
@pytest.mark.parametrize(
    "call", [lambda bound: bound.predict(), lambda bound: bound.update([1.0])], ids=["ask", "tell"]
)
def test_not_fitted(kind: type[Bound], call: Any) -> None:
    """The error says what to do, and is of the kind that scikit-learn's is."""
    with pytest.raises(NotFittedError, match=rf"this {kind.__name__} is not fitted yet: call fit\(waits\) first"):
        call(kind())
    assert NotFittedError.__bases__[1:] == ScikitNotFittedError.__bases__
    assert issubclass(NotFittedError, SwfToolsError)


@every_kind
@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1.5, np.nan, np.inf, 0, 1, True, "0.5", None])
def test_bad_levels(kind: type[Bound], value: Any) -> None:
    """A quantile, and a confidence, is between 0 and 1; the parameter is named."""
    for name in kind().get_params().keys() & {"quantile", "confidence"}:
        with pytest.raises(ParameterError, match=rf"^{name}={value!r} is not a number between 0 and 1, both excluded"):
            kind(**{name: value}).fit([1.0])


@pytest.mark.parametrize("kind", SIDED)
@pytest.mark.parametrize("side", ["Upper", "both", "", None, 1])
def test_bad_sides(kind: Any, side: Any) -> None:
    """There are three sides."""
    with pytest.raises(ParameterError, match=rf"^side={side!r} is not one of: upper, lower, two-sided$"):
        kind(side=side).fit([1.0])


def test_bad_approximation() -> None:
    """There are two ways to a rank."""
    with pytest.raises(ParameterError, match=r"^approximation='normal' is not one of: exact, large-sample$"):
        find_bound("binomial:approximation=normal")


@every_bound
@pytest.mark.parametrize(
    ("waits", "message"),
    [
        ([1.0, np.nan, np.inf], r"wait 1 is nan s \(2 such\)"),
        ([1.0, 2.0, np.inf], r"wait 2 is inf s \(1 such\)"),
        ([-1.0, 5.0, -2.5], r"wait 0 is -1 s \(2 such\)"),
        ([None], r"wait 0 is nan s"),
        ([[1.0, 2.0]], r"one-dimensional array, not of shape \(1, 2\)"),
        (5.0, r"not of shape \(\)"),
        (["soon"], r"waits must be numbers, of seconds: "),
        ([[1.0], [1.0, 2.0]], r"waits must be numbers, of seconds: "),
        (pd.Series([1, None], dtype="Int64"), r"waits? "),
    ],
)
def test_bad_waits(bound: Bound, waits: Any, message: str) -> None:
    """They are refused with the place of the first, and nothing of them is learnt."""
    before = bound.fit(SAMPLE).predict()
    with pytest.raises(ParameterError, match=message):
        bound.update(waits)
    assert bound.waits_ == len(SAMPLE)
    np.testing.assert_equal(bound.predict(), before)
    with pytest.raises(ParameterError, match=message):
        clone(bound).fit(waits)


@every_bound
def test_no_waits(bound: Bound) -> None:
    """None at all bound nothing, nor does one, but for an empirical quantile, and are no error; nor are none more."""
    assert np.isnan(bound.fit([]).predict()).all()
    assert bound.waits_ == 0
    before = bound.update([]).fit(SAMPLE).predict()
    np.testing.assert_equal(bound.update(np.array([])).predict(), before)
    assert np.isnan(bound.fit([3.0]).predict()).all() or (
        isinstance(bound, TrailingQuantile) and bound.predict() == 3.0
    )


@every_bound
def test_fit_forgets(bound: Bound) -> None:
    """A second fit knows nothing of the first."""
    expected = clone(bound).fit(SAMPLE[:90]).predict()
    np.testing.assert_equal(bound.fit(SAMPLE).fit(SAMPLE[:90]).predict(), expected)


@every_bound
def test_forms_of_waits(bound: Bound) -> None:
    """Lists, Series and arrays of whole numbers are waits too, and are left as they are."""
    whole = np.floor(SAMPLE).astype(np.int64)
    whole.flags.writeable = False
    expected = bound.fit(whole.astype(float)).predict()
    for waits in (whole, whole.tolist(), pd.Series(whole), pd.Series(whole, dtype="Int64"), whole.astype(np.int32)):
        np.testing.assert_equal(bound.fit(waits).predict(), expected)
    column = pd.Series(whole.astype(float))  # its array cannot be written to
    for waits in (column, column[::-1][::-1], np.repeat(column.to_numpy(), 3)[::3], column.tolist()):
        np.testing.assert_equal(bound.fit(waits).predict(), expected)


@every_bound
@examples(0.4)
@given(
    parts=st.lists(st.lists(WAITS, max_size=3 * FEW), max_size=6),
    asked=st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_parts(bound: Bound, parts: list[list[float]], asked: list[bool]) -> None:
    """Waits in parts of any length, asked about in between or not, are waits told at once."""
    at_once = clone(bound).fit([wait for part in parts for wait in part])
    in_parts = clone(bound).fit([])
    for part, ask in zip(parts, asked, strict=False):
        in_parts.update(part)
        if ask:
            in_parts.predict()
    assert in_parts.waits_ == at_once.waits_
    np.testing.assert_allclose(in_parts.predict(), at_once.predict(), rtol=1e-9)
    np.testing.assert_array_equal(in_parts.predict(), in_parts.predict())


@every_bound
def test_interpreted_is_compiled(bound: Bound) -> None:
    """The kernels say the same when Python runs them, to the last bit."""
    kind = type(bound)
    for facts in bound.facts(150):
        compiled, interpreted = np.zeros(bound.places(150)), np.zeros(bound.places(150))
        for wait in np.r_[1e300, 1e-300, SAMPLE[:145], 0.0, 0.0, 7.0]:
            kind.add(compiled, facts, wait)
            kind.add.py_func(interpreted, facts, wait)
            told = kind.bound(compiled, facts)
            np.testing.assert_array_equal(kind.bound.py_func(interpreted, facts), told)


def test_names() -> None:
    """By name, with parameters behind it or beside it; those behind it are preferred, and what it lacks is left out."""
    assert find_bound("binomial").get_params() == BinomialBound().get_params()
    found = find_bound("binomial: confidence=0.99, side=lower", quantile=0.5, confidence=0.9)
    assert isinstance(found, BinomialBound)
    assert (found.quantile, found.confidence, found.side) == (0.5, 0.99, "lower")
    assert find_bound("weibull", quantile=0.5, confidence=0.9).get_params() == {"quantile": 0.5}
    assert isinstance(find_bound("swftools.qbets.bounds:lognormal-plain"), LogNormalPlainBound)
    bound = WeibullBound()
    assert find_bound(bound, quantile=0.5) is bound
    assert bound.quantile == 0.95


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("binomail", r"no bound 'binomail'; there are: binomial, .*, weibull; did you mean binomial\?$"),
        ("weibul:quantile=0.5", r"did you mean weibull\?$"),
        ("lognormal:confidense=0.9", r"bound 'lognormal' takes no 'confidense'; it takes: confidence, quantile, side"),
        ("weibull:confidence=0.9", r"bound 'weibull' takes no 'confidence'; it takes: quantile$"),
        ("binomial:quantile=1.5", r"quantile=1.5 is not a number between 0 and 1"),
        ("binomial:quantile=high", r"quantile='high' is not a number"),
        ("binomial:0.5", r"'0.5' is not KEY=VALUE, such as binomial:KEY=VALUE"),
        ("binomial,weibull", r"not one NAME"),
        ("no_such_module:mine", r"module 'no_such_module' cannot be imported"),
        ("", r"not one NAME"),
        (None, r"bound None is neither a name nor a Bound; there are: binomial, "),
        (BinomialBound, r"is neither a name nor a Bound"),
    ],
)
def test_typos(text: Any, message: str) -> None:
    """What is no bound is told with what there is."""
    with pytest.raises(ParameterError, match=message):
        find_bound(text)


def test_an_object() -> None:
    """A bound of one's own need not be registered."""
    bound = LongestBound(factor=3.0)
    assert find_bound(bound) is bound
    assert "longest" not in list_bounds()
    assert np.isnan(bound.fit([]).predict())
    assert bound.fit([5.0, 7.0]).predict() == 21.0
    assert bound.update(np.arange(100.0)).predict() == 297.0
    assert clone(bound).get_params() == {"factor": 3.0}
    with pytest.raises(ParameterError, match=r"factor=0\.5 is less than 1"):
        LongestBound(0.5).fit([1.0])


@pytest.mark.usefixtures("names")
def test_registering() -> None:
    """One's own is found as the others are; its name is no other's."""
    assert register_bound(LongestBound) is LongestBound
    assert register_bound(LongestBound) is LongestBound  # a module that is imported again
    assert find_bound("longest:factor=4.0", quantile=0.5).fit([2.0]).predict() == 8.0
    with pytest.raises(ParameterError, match=r"bound 'weibull' is registered already, by swftools\.qbets\.bounds"):
        register_bound(type("MyBound", (LongestBound,), {"name": "weibull"}))
    with pytest.raises(ParameterError, match=r"bound 'my bound': a name is of letters"):
        register_bound(type("MyBound", (LongestBound,), {"name": "my bound"}))


@pytest.mark.usefixtures("names")
def test_a_module_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that registers one is imported by the text."""
    source = "from tests.qbets.bounds.test_registry import LongestBound\n"
    source += "from swftools.qbets.bounds.registry import register_bound\n"
    source += "@register_bound\nclass Mine(LongestBound):\n    name = 'mine'\n"
    (tmp_path / "bounds_of_mine.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_bound("bounds_of_mine:mine:factor=1.0").fit([9.0]).predict() == 9.0


@every_bound
@pytest.mark.parametrize("waits", [0, 2, 59, 500])
def test_resized(bound: Bound, waits: int) -> None:
    """A state moved into just the room it needs, and from there into more, says the same and learns on."""
    kind = type(bound)
    for facts in bound.facts(len(SAMPLE)):
        state = np.zeros(bound.places(len(SAMPLE)))
        for wait in SAMPLE[:waits]:
            kind.add(state, facts, wait)
        kind.bound(state, facts)
        moved = bound.resized(bound.resized(state, bound.places(waits)), bound.places(len(SAMPLE) + 9))
        for wait in SAMPLE[waits : waits + 150]:
            np.testing.assert_array_equal(kind.bound(moved, facts), kind.bound(state, facts))
            kind.add(moved, facts, wait)
            kind.add(state, facts, wait)


@every_bound
def test_forgetting(bound: Bound) -> None:
    """A state whose first numbers are zero knows nothing, as a replay makes it forget, whatever stands behind them."""
    kind = type(bound)
    for facts in bound.facts(300):
        used, new = np.zeros(bound.places(300)), np.zeros(bound.places(300))
        for wait in SAMPLE[:300]:
            kind.add(used, facts, wait)
            kind.bound(used, facts)
        used[:HEAD] = 0.0
        for wait in SAMPLE[400:600]:
            np.testing.assert_array_equal(kind.bound(used, facts), kind.bound(new, facts))
            kind.add(used, facts, wait)
            kind.add(new, facts, wait)
