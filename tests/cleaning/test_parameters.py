# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of cleaning rules: mappings, text and classes mean the same, whoever wrote the rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from pipelines.tasks.parameters import RulesParameter
from swftools import Trace, clean, cleaning_rule
from swftools.cleaning import Decision, list_rules, registry, resolve_rules
from swftools.errors import ParameterError, UnknownRuleError
from swftools.parameters import Parameters, number, whole

OTHERS = "tests.cleaning.rules_of_others"


@dataclass(frozen=True)
class ShortParameters(Parameters):
    """Parameters of test-short."""

    seconds: float = number(10.0, above=0, unit="s")
    processors: int | None = whole(None, least=1, optional=True)


@pytest.fixture(autouse=True)
def short_rule(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register a rule for the time of a test."""
    monkeypatch.setattr(registry, "_RULES", list_rules())
    seen.clear()
    cleaning_rule("test-short", parameters=ShortParameters)(short)
    yield
    registry._CLASSES.pop(short)


seen: list[Any] = []


def short(trace: Trace, parameters: ShortParameters) -> Decision:
    """Quarantine short jobs."""
    seen.append(parameters)
    return Decision(quarantine=trace.jobs["run_time"] < parameters.seconds, reason="short")


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ("cancelled:action=quarantine", {"rule": "cancelled", "action": "quarantine"}),
        ("unrepresentative-start:last_job=8,days=0.5", {"rule": "unrepresentative-start", "last_job": 8, "days": 0.5}),
        ("test-short:seconds=5", {"rule": "test-short", "seconds": 5}),
        (f"{__name__}:short:seconds=5", {"rule": f"{__name__}:short", "seconds": 5}),
        (
            f"{OTHERS}:long_runs:hours=5",
            {"rule": f"{OTHERS}:long_runs", "hours": 5},
        ),
        (f"{OTHERS}:anything:x=1", {"rule": f"{OTHERS}:anything", "x": 1}),
    ],
)
def test_text_and_mapping_mean_the_same(given: str, same: dict[str, Any]) -> None:
    """In a list in Python, in a JSON list, and in a list as text, also between others."""
    expected = resolve_rules(["duplicates", same, "default"])
    assert expected == resolve_rules(["duplicates", given, "default"])
    for text in (f"duplicates,{given},default", json.dumps(["duplicates", given, "default"])):
        assert expected == resolve_rules(json.loads(RulesParameter().normalize(text)))


def test_a_rule_gets_its_parameters_as_an_object() -> None:
    """Every one, whether the rule is asked for by its name or as a function of its module."""
    trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 0], run_time=[4, 5])
    for rule in ("test-short", f"{__name__}:short"):
        cleaned, report = clean(trace, [f"{rule}:seconds=5"])
        assert [2] == cleaned.jobs["job_number"].tolist()
        assert ShortParameters(5) == seen[-1]
        assert {"seconds": 5, "processors": None} == json.loads(report.steps["parameters"].iloc[-1])


@pytest.mark.parametrize(
    ("rule", "error", "message"),
    [
        ("test-short:seconds=0", ParameterError, r"test-short: seconds=0 is not a number above 0 \(s\)"),
        (
            "test-short:second=1",
            ParameterError,
            r"test-short: unknown parameters .*; did you mean seconds\?",
        ),
        ("cancelled:action=drop", ParameterError, "cancelled: action='drop' is not one of flag, quarantine"),
        ("cancelled:drop", ParameterError, "'drop' is not KEY=VALUE, such as cancelled:KEY=VALUE"),
        ("cancelled:action=flag,action=flag", ParameterError, "action is given twice"),
        ("cancelled,duplicates", ParameterError, "is not one NAME or NAME:KEY=VALUE,KEY=VALUE but 2"),
        ("canceled", UnknownRuleError, "did you mean cancelled?"),
        (
            f"{OTHERS}:long_runs:hour=1",
            ParameterError,
            rf"{OTHERS}:long_runs: unknown parameters \['hour'\]; there are: hours; did you mean hours\?",
        ),
        (f"{OTHERS}:fails:x=1", ParameterError, r"unknown parameters \['x'\]; there are none"),
        (f"{__name__}:unregistered", ParameterError, "missing a required argument: 'parameters'"),
    ],
)
def test_mistakes_are_told_in_one_wording(rule: str, error: type[Exception], message: str) -> None:
    """Whichever way the rule takes its parameters."""
    with pytest.raises(error, match=message):
        resolve_rules([rule])


def unregistered(trace: Trace, parameters: ShortParameters) -> Decision:
    """Stand as a rule that nobody has told the class of its parameters."""
    return Decision()


def test_a_class_belongs_to_one_rule() -> None:
    """Else errors would name the wrong one."""
    with pytest.raises(ParameterError, match="ShortParameters are parameters of 'test-short'; give 'test-other' a"):
        cleaning_rule("test-other", parameters=ShortParameters)(unregistered)
    assert "test-other" not in list_rules()
