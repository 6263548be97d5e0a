"""Cleaning rules by name: how one is registered and looked up, which are the default, and what parameters they take."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache
from typing import Any

import pandas as pd

from swftools.cleaning.decisions import FLAGS, Decision
from swftools.errors import ParameterError, SwfToolsError, UnknownRuleError
from swftools.keyed_random import count_occurrences
from swftools.trace import Trace

Rule = Callable[..., Decision]
RuleSpec = str | Mapping[str, Any]

DEFAULT_RULES: tuple[str, ...] = (
    "partial-executions",
    "unknown-status",
    "duplicates",
    "missing-submit-time",
    "submission-order",
    "missing-processors",
    "wider-than-machine",
    "cancelled",
    "never-started",
    "missing-run-time",
    "run-over-request",
)
"""Applied when neither the card nor the user chooses; ``default`` in a list of rules stands for these.

Rules that change values come before the one that compares them, so that cleaning again finds nothing new.
"""


_RULES: dict[str, Rule] = {}


def cleaning_rule(name: str) -> Callable[[Rule], Rule]:
    """Register a cleaning rule under a name; the rule takes a Trace and keyword parameters with defaults.

    Defining the same function again, as a notebook does, replaces it.

    Raises
    ------
    ParameterError
        Another rule has the name, or it cannot be one.
    """

    def register(rule: Rule) -> Rule:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) or name in {"default", "read"}:
            raise ParameterError(f"cleaning rule {name!r}: a name is of letters, digits and -._; not default or read")
        known, own = (f"{part.__module__}:{part.__qualname__}" for part in (_RULES.get(name, rule), rule))
        if known != own:
            raise ParameterError(f"cleaning rule {name!r} is registered already, as {known}")
        _RULES[name] = rule
        return rule

    return register


def list_rules() -> dict[str, Rule]:
    """Return the registered rules by name."""
    return dict(_RULES)


def resolve_rules(rules: Iterable[RuleSpec] | None = None) -> list[tuple[str, Rule, dict[str, Any]]]:
    """Return name, function and every parameter of each rule in a list of rules, checked.

    Parameters that are not given have their defaults, so that equal lists mean equal cleaning.

    Raises
    ------
    UnknownRuleError, ParameterError
        As in ``clean``.

    Examples
    --------
    >>> [(name, parameters) for name, _, parameters in resolve_rules(["cancelled"])]
    [('cancelled', {'action': 'flag'})]
    """
    plan = []
    for spec in _expanded(rules):
        given = {"rule": spec} if isinstance(spec, str) else dict(spec)
        name = given.pop("rule", None)
        if not isinstance(name, str):
            raise ParameterError(f"{spec!r}: a rule is a name, or a mapping with the key 'rule'")
        rule = _find_rule(name)
        parameters = _all_parameters(name, rule, given)
        _try_without_jobs(rule, json.dumps(parameters, sort_keys=True))
        plan.append((name, rule, parameters))
    return plan


def _expanded(rules: Iterable[RuleSpec] | None) -> list[RuleSpec]:
    """Return a list of rules with ``default`` replaced by what it stands for."""
    if isinstance(rules, str | Mapping):
        raise ParameterError(f"rules={rules!r}: give a list of rules, such as [{rules!r}]")
    expanded: list[RuleSpec] = []
    for spec in ["default"] if rules is None else rules:
        if not isinstance(spec, str | Mapping):
            raise ParameterError(f"{spec!r}: a rule is a name, or a mapping with the key 'rule'")
        expanded.extend(DEFAULT_RULES if spec == "default" else [spec])
    return expanded


def _find_rule(name: str) -> Rule:
    """Return the rule of a name, or the function that ``module:function`` names."""
    known = list_rules()
    if name in known:
        return known[name]
    module, colon, function = name.partition(":")
    if not colon:
        names = ", ".join(sorted(known))
        raise UnknownRuleError(f"no cleaning rule {name!r}; there are {names}, or your own module:function")
    try:
        found: Rule = getattr(importlib.import_module(module), function)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise UnknownRuleError(
            f"cleaning rule {name!r}: {why}; give module:function of an importable module"
        ) from error
    if not callable(found) or not isinstance(found, Hashable):
        raise UnknownRuleError(f"cleaning rule {name!r} is {type(found).__name__}, not a function")
    return found


def _all_parameters(name: str, rule: Rule, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a rule, given ones and defaults, as JSON holds them."""
    known: list[str] = []
    try:
        signature = inspect.signature(rule)
        known = list(signature.parameters)[1:]
        bound = signature.bind(None, **given)
        bound.apply_defaults()
        parameters: dict[str, Any] = {}
        for key, value in list(bound.arguments.items())[1:]:
            parameters |= value if signature.parameters[key].kind is inspect.Parameter.VAR_KEYWORD else {key: value}
        return dict(json.loads(json.dumps(parameters, allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise ParameterError(f"cleaning rule {name!r}: {error}; its parameters are {known}") from error


@cache
def _try_without_jobs(rule: Rule, parameters: str) -> None:
    """Let a rule refuse its parameters before there is any work to lose."""
    try:
        rule(prepare(Trace.from_columns()), **json.loads(parameters))
    except SwfToolsError:
        raise
    except Exception:  # noqa: BLE001, S110 (it may not be made for no jobs; if it fails on jobs, that will be told)
        pass


def prepare(trace: Trace) -> Trace:
    """Return a trace as rules get it: jobs with an index from 0, line numbers, occurrences, and every flag."""
    jobs = trace.jobs.reset_index(drop=True)
    added: dict[str, Any] = {flag: False for flag in FLAGS if flag not in jobs}
    if "line_number" not in jobs:
        added["line_number"] = pd.array([None] * len(jobs), dtype="Int64")
    occurrences = pd.array(count_occurrences(jobs), dtype="Int64")
    return trace.with_jobs(jobs.assign(**added, job_occurrence=occurrences))
