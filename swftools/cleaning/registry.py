# SPDX-License-Identifier: BSD-3-Clause
"""Cleaning rules by name: how one is registered and looked up, which are the default, and what parameters they take.

A rule is called ``rule(trace, parameters)`` if it was registered with a class of parameters. Without one its keywords
are its parameters, each with a default: ``rule(trace, seconds=10)``, which serves for a function of a script.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from swftools.cleaning.decisions import FLAGS, Decision
from swftools.errors import ParameterError, SwfToolsError, UnknownRuleError
from swftools.kernel import untouched_zeros
from swftools.keyed_random import count_occurrences
from swftools.parameters import Parameters, did_you_mean, refuse_unknown
from swftools.parameters.as_text import read_entry
from swftools.parameters.registry import import_own
from swftools.parameters.spelling import as_known, folded
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
_CLASSES: dict[Rule, type[Parameters]] = {}
"""The class of parameters of each rule that has one."""


def cleaning_rule(name: str, parameters: type[Parameters] | None = None) -> Callable[[Rule], Rule]:
    """Register a cleaning rule under a name, with the class of its parameters.

    Defining the same function again, as a notebook does, replaces it.

    Raises
    ------
    ParameterError
        Another rule has the name, or it cannot be one; or the class of parameters is another rule's.
    """

    def register(rule: Rule) -> Rule:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) or name in {"default", "read"}:
            raise ParameterError(f"cleaning rule {name!r}: a name is of letters, digits and -._; not default or read")
        known, own = (f"{part.__module__}:{part.__qualname__}" for part in (_RULES.get(name, rule), rule))
        if known != own:
            raise ParameterError(f"cleaning rule {name!r} is registered already, as {known}")
        if parameters is not None:
            _CLASSES[rule] = parameters.named(name)
        _RULES[name] = rule
        return rule

    return register


def list_rules() -> dict[str, Rule]:
    """Return the registered rules by name."""
    return dict(_RULES)


def resolve_rules(rules: Iterable[RuleSpec] | None = None) -> list[tuple[str, Rule, dict[str, Any]]]:
    """Check a list of rules, and return name, function and parameters of each.

    A rule is given as text, ``NAME`` or ``NAME:KEY=VALUE``, or as a mapping of ``rule`` to the name and of parameters
    to values. Parameters that are not given have their defaults, so that equal lists mean equal cleaning.

    Raises
    ------
    UnknownRuleError, ParameterError
        As in ``clean``.

    Examples
    --------
    >>> [(name, parameters) for name, _, parameters in resolve_rules(["cancelled", "never-started:action=quarantine"])]
    [('cancelled', {'action': 'flag'}), ('never-started', {'action': 'quarantine'})]
    """
    plan = []
    for spec in _expanded(rules):
        name, given = _named(spec)
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
        expanded.extend(DEFAULT_RULES if isinstance(spec, str) and folded(spec) == "default" else [spec])
    return expanded


def _named(spec: RuleSpec) -> tuple[str, dict[str, Any]]:
    """Return the name of a rule and the parameters given with it."""
    if isinstance(spec, str):
        return read_entry(spec, _RULES) if spec.strip() else (spec, {})
    given = dict(spec)
    name = given.pop("rule", None)
    if not isinstance(name, str):
        raise ParameterError(f"{spec!r}: a rule is a name, or a mapping with the key 'rule'")
    return as_known(name, _RULES), given


def _find_rule(name: str) -> Rule:
    """Return the rule of a name, or the function that ``module:function`` names."""
    known = list_rules()
    if name in known:
        return known[name]
    module, colon, function = name.partition(":")
    if not colon:
        names, alike = ", ".join(sorted(known)), did_you_mean([name], known)
        raise UnknownRuleError(f"no cleaning rule {name!r}; there are: {names}, or your own module:function{alike}")
    try:
        found: Rule = getattr(import_own(module), function)
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
    kind = _CLASSES.get(rule)
    parameters = kind.from_mapping(given).to_mapping() if kind else _keywords(name, rule, given)
    try:
        return dict(json.loads(json.dumps(parameters, allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name}: {error}; parameters are what JSON holds") from error


def _keywords(name: str, rule: Rule, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every keyword of a function that is called by keywords, given ones and defaults."""
    wanted = "a rule takes a trace and keywords with defaults, or is registered with the class of its parameters"
    try:
        signature = _signature(rule)
        signature.bind(None)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name}: {error}; {wanted}") from error
    keywords = list(signature.parameters.values())[1:]
    if all(keyword.kind is not inspect.Parameter.VAR_KEYWORD for keyword in keywords):
        refuse_unknown(name, given, [keyword.name for keyword in keywords])
    bound = signature.bind(None, **given)
    bound.apply_defaults()
    parameters: dict[str, Any] = {}
    for key, value in list(bound.arguments.items())[1:]:
        parameters |= value if signature.parameters[key].kind is inspect.Parameter.VAR_KEYWORD else {key: value}
    return parameters


@cache
def _signature(rule: Rule) -> inspect.Signature:
    """Return how a rule is called: to find out takes most of what it takes to check a list of rules."""
    return inspect.signature(rule)


def decide(rule: Rule, trace: Trace, parameters: Mapping[str, Any]) -> Any:
    """Ask a rule for its decision, with every parameter as ``resolve_rules`` returns them."""
    if rule in _CLASSES:
        return rule(trace, _CLASSES[rule].from_mapping(parameters))
    return rule(trace, **parameters)


@cache
def _try_without_jobs(rule: Rule, parameters: str) -> None:
    """Let a rule refuse its parameters before there is any work to lose."""
    try:
        decide(rule, prepare(Trace.from_columns()), json.loads(parameters))
    except SwfToolsError:
        raise
    except Exception:  # noqa: BLE001, S110 (it may not be made for no jobs; if it fails on jobs, that will be told)
        pass


def prepare(trace: Trace) -> Trace:
    """Return a trace as rules get it: jobs with an index from 0, line numbers, occurrences, and every flag."""
    jobs = trace.jobs.reset_index(drop=True)
    added: dict[str, Any] = {flag: untouched_zeros(len(jobs), np.bool_) for flag in FLAGS if flag not in jobs}
    if "line_number" not in jobs:
        added["line_number"] = pd.array([None] * len(jobs), dtype="Int64")
    counted = count_occurrences(jobs)
    occurrences = pd.arrays.IntegerArray(counted, untouched_zeros(len(jobs), np.bool_))
    return trace.with_jobs(jobs.assign(**added, job_occurrence=occurrences))
