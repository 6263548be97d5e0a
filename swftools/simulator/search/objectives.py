# SPDX-License-Identifier: BSD-3-Clause
"""Objectives of search: when one planned schedule is better than another, as text and parsed.

An objective is a model and the measures that it compares. Small values are better in all of them:

``lexical(x -> y -> z)``
    x alone decides; y where x is equal; and so on, one to four measures.
``tradeoff-a(x:y)``, ``tradeoff-b(x:y)``, ``tradeoff-c(x:y)``
    Two measures that weigh the same: what one gains, as a share of a reference value, must exceed what the other loses.
    The letter says which reference: of the best so far (a), the lesser of the two (b), or of a schedule of backfilling,
    once for each decision (c).

If two measures conflict, a difference of up to one percent does not count; with ``strict-`` before the model it does. A
measure is a name from ``swftools.simulator.search.measures``. Some take a threshold in brackets: ``T_w(50h)``, in s,
min, h or d. Blanks do not count.

References
----------
Chiang and Vasupongayya (2008), sections 3.1 to 3.3; the notation is theirs, and so is ``T_w`` of a fixed threshold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NoReturn

from swftools.errors import ParameterError
from swftools.parameters import did_you_mean
from swftools.parameters.spelling import as_known, folded
from swftools.simulator.search.measures import find_measure, list_measures

MODELS = ("lexical", "tradeoff-a", "tradeoff-b", "tradeoff-c")
"""How measures are compared."""

MOST_MEASURES = 4
"""As many measures an objective has at most; a trade-off has two."""

UNITS = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}
"""Seconds of each unit of a threshold, the longest first."""

_STRICT = "strict-"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*(?:-[A-Za-z0-9_.]+)*")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+")
_PAPERS_TRADEOFF = re.compile(r"(?:([abc])-)?tradeoff$")  # A-Tradeoff, or Tradeoff, which is version A there
_SHOWN = 60  # characters of a text, about the mistake in it


@dataclass(frozen=True)
class Term:
    """A measure of an objective.

    Parameters
    ----------
    measure : str
        Its name.
    threshold : float or None
        Waits up to it do not count, s; None: the threshold of each decision, or the measure takes none.
    """

    measure: str
    threshold: float | None = None

    def to_text(self) -> str:
        """Return the measure as it stands in an objective.

        Examples
        --------
        >>> Term("T_w", 180_000.0).to_text(), Term("avgX").to_text()
        ('T_w(50h)', 'avgX')
        """
        return self.measure if self.threshold is None else f"{self.measure}({_duration_text(self.threshold)})"


@dataclass(frozen=True)
class Objective:
    """What makes one planned schedule better than another.

    Parameters
    ----------
    model : str
        One of ``MODELS``.
    is_strict : bool
        In a conflict of measures the least difference counts; otherwise only one of more than a percent.
    terms : tuple of Term
        The measures, the first first.
    """

    model: str
    is_strict: bool
    terms: tuple[Term, ...]

    def to_text(self) -> str:
        """Return the text in its one canonical form, of which ``read_objective`` makes an equal objective.

        Examples
        --------
        >>> read_objective(" strict-lexical( T_w( 72h )->avgX )").to_text()
        'strict-lexical(T_w(3d) -> avgX)'
        """
        joint = " -> " if self.model == "lexical" else ":"
        return f"{_STRICT * self.is_strict}{self.model}({joint.join(term.to_text() for term in self.terms)})"


def read_objective(text: str) -> Objective:
    """Return the objective that a text means.

    Parameters
    ----------
    text : str
        ``[strict-]MODEL(MEASURES)``, as the head of this module tells.

    Raises
    ------
    ParameterError
        The text is none. The message shows it with a caret under the mistake, says what was expected there, and which
        name may have been meant.

    Examples
    --------
    >>> read_objective("tradeoff-a(T_w:avgX)").terms
    (Term(measure='T_w', threshold=None), Term(measure='avgX', threshold=None))
    >>> read_objective("tradeoff-a(T_w, avgX)")
    Traceback (most recent call last):
        ...
    swftools.errors.ParameterError: objective: tradeoff-a has two measures, joined by a colon
      tradeoff-a(T_w, avgX)
                    ^
    expected : and another measure
    """
    if not isinstance(text, str):
        raise ParameterError(f"objective: {text!r} is not a text, such as tradeoff-a(T_w:avgX)")
    return _Reader(text).objective()


class _Reader:
    """Reads an objective from left to right; ``place`` is where it has come to."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def objective(self) -> Objective:
        """Return the objective that the whole text is."""
        model, is_strict = self._model()
        self._demand("(", "the measures are missing", f"( behind {model}, and its measures")
        terms = [self._term([])]
        if model == "lexical":
            while self._passes("->"):
                terms.append(self._term(terms))
                if len(terms) == MOST_MEASURES:
                    break
            is_full = len(terms) == MOST_MEASURES
            wrong = f"{model} has {MOST_MEASURES} measures at most" if is_full else "the measures do not end here"
            self._demand(")", wrong, ")" if is_full else "-> and another measure, or )")
        else:
            self._demand(":", f"{model} has two measures, joined by a colon", ": and another measure")
            terms.append(self._term(terms))
            self._demand(")", f"{model} has two measures", ")")
        self._skip_blanks()
        if self.place < len(self.text):
            self._fail("there is more behind the objective", "nothing more")
        return Objective(model, is_strict, tuple(terms))

    def _model(self) -> tuple[str, bool]:
        """Return the model, and whether it is strict."""
        start, name = self._match(_NAME)
        is_strict = folded(name).startswith(_STRICT)
        model = as_known(name[len(_STRICT) :] if is_strict else name, MODELS)
        if model not in MODELS:
            self.place = start
            what = f"there is no model {name!r}" if name else "the model is missing"
            known = [*MODELS, *(_STRICT + each for each in MODELS)]
            ours = _PAPERS_TRADEOFF.sub(lambda found: f"tradeoff-{found[1] or 'a'}", name.lower())
            meant = did_you_mean([ours], known) if name else ""
            self._fail(what, f"a model: {', '.join(MODELS)}, each also behind {_STRICT}{meant}")
        return model, is_strict

    def _term(self, before: list[Term]) -> Term:
        """Return a measure and its threshold, which is none of those before it."""
        start, name = self._match(_NAME)
        known = list_measures()
        name = as_known(name, known)
        if name not in known:
            self.place = start
            meant = did_you_mean([name], known) if name else ""
            what = f"there is no measure {name!r}" if name else "a measure is missing"
            self._fail(what, f"a measure: {', '.join(sorted(known))}{meant}")
        if name in [term.measure for term in before]:
            self.place = start
            others = sorted(set(known) - {term.measure for term in before})
            self._fail(f"{name} appears twice", f"another measure: {', '.join(others)}")
        self._skip_blanks()
        start = self.place
        if not self._passes("("):
            return Term(name)
        if not find_measure(name).takes_threshold:
            self.place = start
            takers = sorted(each for each in known if known[each].takes_threshold)
            self._fail(f"{name} takes no threshold", f"none here; {' and '.join(takers)} take one")
        threshold = self._duration()
        self._demand(")", "the threshold does not end here", ")")
        return Term(name, threshold)

    def _duration(self) -> float:
        """Return a threshold, s."""
        number = "a number of 0 or more and its unit, such as 50h"
        start, digits = self._match(_NUMBER)
        if not digits:
            self._fail("a threshold is missing", number)
        at, unit = self._match(_NAME)
        if unit not in UNITS:
            self.place = at
            what = f"there is no unit {unit!r}" if unit else "the unit is missing"
            self._fail(what, f"a unit: {', '.join(reversed(UNITS))}")
        try:
            return float(Fraction(Decimal(digits)) * UNITS[unit])
        except OverflowError:
            self.place = start
            self._fail("the threshold is too great for a number", number)

    def _match(self, pattern: re.Pattern[str]) -> tuple[int, str]:
        """Pass what a pattern takes; return where it begins and it, "" if it takes nothing here."""
        self._skip_blanks()
        start = self.place
        found = pattern.match(self.text, start)
        if found:
            self.place = found.end()
        return start, self.text[start : self.place]

    def _passes(self, mark: str) -> bool:
        """Whether a mark stands here; it is passed then."""
        self._skip_blanks()
        stands = self.text.startswith(mark, self.place)
        self.place += len(mark) * stands
        return stands

    def _demand(self, mark: str, wrong: str, expected: str) -> None:
        """Pass a mark that must stand here."""
        if not self._passes(mark):
            self._fail(wrong, expected)

    def _skip_blanks(self) -> None:
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1

    def _fail(self, wrong: str, expected: str) -> NoReturn:
        """Raise the error of a mistake that stands here."""
        first = max(0, self.place - _SHOWN // 2) if len(self.text) > _SHOWN else 0
        part = "".join(letter if letter.isprintable() else " " for letter in self.text[first : first + _SHOWN])
        before = "..." if first else ""
        behind = "..." if first + _SHOWN < len(self.text) else ""
        caret = " " * (len(before) + self.place - first) + "^"
        raise ParameterError(f"objective: {wrong}\n  {before}{part}{behind}\n  {caret}\nexpected {expected}")


def _duration_text(seconds: float) -> str:
    """Return seconds in the longest unit of which they are a whole number, or else in s."""
    for unit, length in UNITS.items():
        if seconds % length == 0 and (seconds or length == 1):
            return f"{int(seconds) // length}{unit}"
    return f"{Decimal(repr(seconds)):f}s"
