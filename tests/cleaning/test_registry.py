# SPDX-License-Identifier: BSD-3-Clause
"""Which rules clean a trace, in which order, and which lists of rules are refused."""

from __future__ import annotations

from typing import Any

import pytest

from swftools import Trace, clean, cleaning_rule
from swftools.cleaning import DEFAULT_RULES, Decision, registry, resolve_rules
from swftools.errors import ParameterError, SwfToolsError, UnknownRuleError
from tests.drawn import draw_trace


def test_no_rules() -> None:
    """An empty list does nothing but count."""
    trace = draw_trace("job submit\n2 .\n1 0")
    cleaned, report = clean(trace, [])
    assert ["read"] == report.steps["rule"].tolist()
    assert [2, 1] == cleaned.jobs["job_number"].tolist()


def test_default_rules() -> None:
    """None and ``default`` both stand for the default rules, also amid others."""
    names = ["read", *DEFAULT_RULES]
    for chosen in (None, ["default"], iter(["default"])):
        assert names == clean(Trace.from_columns(), chosen)[1].steps["rule"].tolist()
    around = ["flurries", "default", {"rule": "cancelled", "action": "quarantine"}]
    assert ["read", "flurries", *DEFAULT_RULES, "cancelled"] == clean(Trace.from_columns(), around)[1].steps[
        "rule"
    ].tolist()


def test_rules_are_applied_in_order() -> None:
    """What an earlier rule removed a later one does not see."""
    trace = draw_trace("job submit run status asked\n1 0 . 5 4\n2 0 5 5 4")
    remove = [{"rule": name, "action": "quarantine"} for name in ("never-started", "cancelled")]
    assert ["never-started", "cancelled"] == clean(trace, remove)[0].quarantine["rule"].tolist()
    assert ["cancelled", "cancelled"] == clean(trace, remove[::-1])[0].quarantine["rule"].tolist()


def test_parameters_are_recorded_in_full() -> None:
    """The report and the plan hold every parameter, given or not, so that equal plans mean equal cleaning."""
    plan = resolve_rules(["wider-than-machine", {"rule": "unrepresentative-start", "days": 3}, "duplicates"])
    expected = [
        ("wider-than-machine", {"action": "quarantine"}),
        ("unrepresentative-start", {"last_job": None, "days": 3}),
        ("duplicates", {}),
    ]
    assert expected == [(name, parameters) for name, _, parameters in plan]
    again = resolve_rules([{"rule": name, **parameters} for name, _, parameters in plan])
    assert plan == again
    assert '{"action": "flag"}' == clean(Trace.from_columns(), ["cancelled"])[1].steps["parameters"][1]


@pytest.mark.parametrize(
    ("chosen", "error", "message"),
    [
        ("cancelled", ParameterError, "rules='cancelled': give a list of rules, such as ['cancelled']"),
        ({"rule": "cancelled"}, ParameterError, "give a list of rules, such as [{'rule': 'cancelled'}]"),
        ([3], ParameterError, "3: a rule is a name, or a mapping with the key 'rule'"),
        ([{}], ParameterError, "{}: a rule is a name, or a mapping with the key 'rule'"),
        ([{"rule": 3}], ParameterError, "{'rule': 3}: a rule is a name"),
        ([["cancelled", "flag"]], ParameterError, "a rule is a name, or a mapping"),
        (["canceled"], UnknownRuleError, "no cleaning rule 'canceled'; there are: cancelled, duplicates, flurries"),
        ([""], UnknownRuleError, "no cleaning rule ''"),
        (["no_such_module:rule"], UnknownRuleError, "'no_such_module:rule': ModuleNotFoundError"),
        (
            ["tests.cleaning.rules_of_others:missing"],
            UnknownRuleError,
            "AttributeError: module 'tests.cleaning.rules_of_others'",
        ),
        (["tests.cleaning.rules_of_others:LIMIT"], UnknownRuleError, "is int, not a function"),
        ([":rule"], UnknownRuleError, "':rule': ValueError"),
        (["math:"], UnknownRuleError, "give module:function of an importable module"),
        (
            ["tests.cleaning.broken_rule:rule"],
            UnknownRuleError,
            "'tests.cleaning.broken_rule:rule': ZeroDivisionError: division by zero",
        ),
        (
            [{"rule": "tests.cleaning.rules_of_others:anything", "x": float("nan")}],
            ParameterError,
            "Out of range float values",
        ),
        (
            [{"rule": "tests.cleaning.rules_of_others:anything", "x": {1, 2}}],
            ParameterError,
            "set is not JSON serializable",
        ),
        (["builtins:int"], ParameterError, "builtins:int: "),
        (["tests.cleaning.rules_of_others:no_trace"], ParameterError, "too many positional arguments"),
        (
            [{"rule": "tests.cleaning.rules_of_others:long_runs", "hours": -1}],
            ParameterError,
            "hours=-1 must be positive",
        ),
    ],
)
def test_wrong_lists_of_rules_are_refused(chosen: Any, error: type[SwfToolsError], message: str) -> None:
    """An unknown rule or a malformed list is refused before any rule is applied, with what would be right."""
    for use in (resolve_rules, lambda wrong: clean(Trace.from_columns(job_number=[1]), wrong)):
        with pytest.raises(error) as caught:
            use(chosen)
        assert message in str(caught.value)


def test_wrong_parameters_are_refused_before_any_work() -> None:
    """A value that the last rule refuses keeps the first from being applied."""
    applied: list[int] = []

    def first(trace: Trace) -> Decision:
        applied.append(len(trace))
        return Decision()

    cleaning_rule("test-first")(first)
    try:
        with pytest.raises(ParameterError, match="is not one of quarantine, clip"):
            clean(Trace.from_columns(job_number=[1]), ["test-first", {"rule": "wider-than-machine", "action": "cut"}])
    finally:
        del registry._RULES["test-first"]
    assert [0] == applied  # tried on a trace without jobs, and no other
