# SPDX-License-Identifier: BSD-3-Clause
"""What the text of a paper says: statements, a file of them beside its published values, and whether they hold.

The file is ``published/statements.yaml`` of the paper's folder. Its list ``statements`` has an entry a statement, in
the order in which they are shown; the keys of an entry are those of ``Statement``. The code of the paper measures:
``by`` names one of its functions, which takes what was measured and the values of ``with``, and returns an
``Outcome``. What entries have in common stands above them: under ``functions`` the keys of all that are measured by
one, and under ``usual`` those of all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.resources import files
from math import isnan, nan
from typing import Any, NamedTuple

from pipelines.papers.paper import UNEXPLAINED, Cell
from swftools.errors import ParameterError
from swftools.parameters import did_you_mean
from swftools.parameters.strict_yaml import read_yaml_file

FILE = "published/statements.yaml"


class Outcome(NamedTuple):
    """What was measured of a statement.

    Parameters
    ----------
    ours : float
        What decides; NaN if it was not measured.
    told : mapping
        What else the entry may name: in braces in its texts, and in its rule.
    of : int, optional
        Of how many ``ours`` is a number; of none nothing was measured.
    spread : float
        The standard error of ``ours``.
    """

    ours: float
    told: Mapping[str, Any] = {}
    of: int | None = None
    spread: float = nan


def listed(cases: Sequence[tuple[bool, str]], between: str = ", ", **told: Any) -> Outcome:
    """Return in how many cases something is so; each is told in words."""
    return counted([is_so for is_so, _ in cases], told=between.join(words for _, words in cases), **told)


def counted(outcomes: Sequence[bool], **told: Any) -> Outcome:
    """Return in how many cases something is so."""
    return Outcome(sum(outcomes), told, len(outcomes))


class Share(NamedTuple):
    """How many of all must be so: in words, more than a share of them, and at least so many."""

    words: str
    above: float = -1.0
    least: int = 0

    def holds(self, count: float, of: int) -> bool:
        """Whether so many of so many are enough."""
        return count > self.above * of and count >= self.least


SHARES = {
    "most": Share("more than half of them", above=0.5),
    "nearly all": Share("more than four fifths of them", above=0.8),
    "all": Share("all of them", above=0.999),
    "several": Share("at least 3 of them", least=3),
}
"""Rules of numbers of something."""

SIMILAR = 0.1
"""Values that differ by this share of the other count as similar."""


class PairRule(NamedTuple):
    """What one value is beside another: in words, and whether it is so."""

    words: str
    holds: Callable[[float, float], bool]


PAIR_RULES = {
    "similar": PairRule("within a tenth of it", lambda one, other: abs(one - other) <= SIMILAR * abs(other) + 1e-9),
    "smaller": PairRule("smaller", lambda one, other: one < other),
    "larger": PairRule("larger", lambda one, other: one > other),
    "much smaller": PairRule("smaller by more than a tenth", lambda one, other: one < (1 - SIMILAR) * other),
    "not larger": PairRule("at most a tenth larger", lambda one, other: one <= (1 + SIMILAR) * other + 1e-9),
    "not smaller": PairRule("no smaller", lambda one, other: not one < other),
}
"""Rules of two values, for statements that count in how many cases such a rule holds; the limit is within."""

_LIMITS: dict[str, Callable[[float, float], bool]] = {
    "above": lambda ours, limit: ours > limit,
    "below": lambda ours, limit: ours < limit,
    "at least": lambda ours, limit: ours >= limit,
    "at most": lambda ours, limit: ours <= limit,
}
_LIMIT = re.compile(rf"({'|'.join(_LIMITS)}) (\S+)")
_WITHIN = re.compile(r"within (\S+) of (\S+)")
_TRUTH = re.compile(r"if (\w+)")


@dataclass(frozen=True)
class Statement:
    """A statement of the text.

    Parameters
    ----------
    says : str
        Place and statement, in words of our own.
    printed : str
        What decides in the paper.
    by : str
        The function that measures.
    holds : str
        The rule: a name of ``SHARES``; or ``above``, ``below``, ``at least``, ``at most`` a number, or ``within`` one
        ``of`` another, several of these joined by ``and``, where a number may be the name of one that the function
        tells; or ``if`` and the name of a truth that it tells.
    with : mapping
        What the function is given.
    definition : str
        What ``ours`` is. Here, and in ``says`` and ``otherwise``, names in braces stand for what the function is given
        and tells, ``of`` for ``Outcome.of``, and ``share`` for the words of a share.
    missing : str, optional
        The definition where nothing was measured, if that is another.
    unit : str
        Of ``ours``.
    why : str
        Why it may not hold.
    otherwise : str, optional
        What to note where it does not hold, or is not known to.
    part : str
        In which of several tables of statements it stands.
    where : str
        File and statement, for messages.
    """

    says: str
    printed: str
    by: str
    holds: str
    given: Mapping[str, Any] = field(default_factory=dict)
    definition: str = "{told}"
    missing: str | None = None
    unit: str = "1"
    why: str = UNEXPLAINED
    otherwise: str | None = None
    part: str = ""
    where: str = ""

    def cell(self, outcome: Outcome) -> Cell:
        """Return the statement as a cell; where nothing was measured, nothing decides.

        Raises
        ------
        ParameterError
            It names what the function does not tell.
        """
        share = SHARES.get(self.holds)
        told = {**self.given, **outcome.told, "of": outcome.of, "share": share.words if share else None}
        is_known = outcome.of != 0 and not isnan(outcome.ours)
        try:
            verdict = self._verdict(outcome, told) if is_known else None
            return Cell(
                "statement",
                self.says.format(**told),
                float(outcome.ours) if is_known else nan,
                (self.definition if is_known or self.missing is None else self.missing).format(**told),
                unit=self.unit,
                printed=self.printed,
                reproduces=verdict,
                spread=outcome.spread,
                note=self.otherwise.format(**told) if self.otherwise and not verdict else None,
                why=self.why,
            )
        except KeyError as error:
            raise ParameterError(
                f"{self.where}: it names {error.args[0]!r}, which {self.by!r} does not tell; there are: "
                f"{', '.join(told)}{did_you_mean([str(error.args[0])], told)}"
            ) from error

    def _verdict(self, outcome: Outcome, told: Mapping[str, Any]) -> bool | None:
        """Return whether the rule holds of what was measured; None if the function tells so."""
        ours = outcome.ours
        if share := SHARES.get(self.holds):
            return share.holds(ours, outcome.of or 0)
        if name := _TRUTH.fullmatch(self.holds):
            truth = told[name[1]]
            return None if truth is None else bool(truth)
        return all(_is_within(part, ours, told) for part in self.holds.split(" and "))


def _is_within(rule: str, ours: float, told: Mapping[str, Any]) -> bool:
    """Return whether a value is within one limit; on the limit it is, unless the rule says above or below."""
    if found := _WITHIN.fullmatch(rule):
        distance, other = (_number(word, told) for word in found.groups())
        return abs(ours - other) <= distance
    limit = _LIMIT.fullmatch(rule)
    assert limit is not None, rule  # noqa: S101 (looked at where the file was read)
    return bool(_LIMITS[limit[1]](ours, _number(limit[2], told)))


def _number(word: str, told: Mapping[str, Any]) -> float:
    """Return the number that a word of a rule is or names."""
    try:
        return float(word)
    except ValueError:
        return float(told[word])


def _is_rule(rule: str) -> bool:
    """Whether a text is a rule."""
    parts = rule.split(" and ")
    return (
        rule in SHARES
        or _TRUTH.fullmatch(rule) is not None
        or all(_WITHIN.fullmatch(part) or _LIMIT.fullmatch(part) for part in parts)
    )


def read_statements(package: str, functions: Iterable[Callable[..., Outcome]], name: str = FILE) -> list[Statement]:
    """Return the statements of a package's file.

    Parameters
    ----------
    package : str
        Of the paper.
    functions : iterable of callable
        Those that measure; entries name them.
    name : str
        The file.

    Raises
    ------
    ParameterError
        The file is not as it is to be; the message names it and the statement.
    """
    path = files(package).joinpath(*name.split("/"))
    _, content = read_yaml_file(path, ParameterError, "write the statements of the paper")
    if not isinstance(content, dict) or not isinstance(content.get("statements"), list):
        raise ParameterError(f"{path}: no list 'statements'")
    known = [function.__name__ for function in functions]
    usual, common = content.get("usual") or {}, content.get("functions") or {}
    if unknown := sorted(set(common) - set(known)):
        raise ParameterError(f"{path}: nothing measures by {unknown[0]!r}{did_you_mean(unknown[:1], known)}")
    found = []
    for number, entry in enumerate(content["statements"], 1):
        if not isinstance(entry, dict):
            raise ParameterError(f"{path}, statement {number}: it is no mapping")
        where = f"{path}, statement {number} ({entry.get('says', 'which says nothing')})"
        shared = usual | common.get(entry.get("by", usual.get("by")), {})
        found.append(_statement(where, shared | entry, known))
    return found


_KEYS = {"with" if each.name == "given" else each.name: each.name for each in fields(Statement) if each.name != "where"}
"""Keys of an entry, and the fields that they fill."""


def _statement(where: str, given: Mapping[str, Any], functions: Iterable[str]) -> Statement:
    """Return the statement of an entry."""
    if unknown := [str(key) for key in given if key not in _KEYS]:
        raise ParameterError(f"{where}: unknown key {unknown[0]!r}{did_you_mean(unknown[:1], _KEYS)}")
    if missing := [key for key in ("says", "printed", "by", "holds") if key not in given]:
        raise ParameterError(f"{where}: key {missing[0]!r} is missing")
    if wrong := [key for key, value in given.items() if not isinstance(value, dict if key == "with" else str)]:
        kind = "a mapping" if wrong[0] == "with" else "a text; put it into quotes"
        raise ParameterError(f"{where}: {wrong[0]!r} is {given[wrong[0]]!r}, not {kind}")
    if not _is_rule(given["holds"]):
        raise ParameterError(f"{where}: no rule {given['holds']!r}; see Statement.holds for those that there are")
    if given["by"] not in functions:
        raise ParameterError(f"{where}: nothing measures by {given['by']!r}{did_you_mean([given['by']], functions)}")
    return Statement(where=where, **{_KEYS[key]: value for key, value in given.items()})
