# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of tasks: how rules, methods and augmentations are given on a command line or in Python.

Those of tasks that simulate are in ``simulation_parameters.py``.

Each class reads what a person writes, text or JSON, and normalizes it to canonical JSON, so that equal meanings are
equal tasks. A mistake is told before any task is run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import luigi

from pipelines.keys import canonical_json
from pipelines.logs.machine import changes_text, machine_text
from swftools.cleaning import list_rules, resolve_rules
from swftools.errors import ParameterError
from swftools.parameters import Parameters
from swftools.parameters.as_text import read_assignments, read_entries, write_entry
from swftools.parameters.spelling import as_known, require_known, with_known_name
from swftools.parameters.strict_yaml import read_yaml_file

AUGMENTATIONS: dict[str, type[Any]] = {}
"""The tasks of augmentations by name, in the order in which they are defined; their base class fills this."""

NONE = "none"
"""The word for no augmentation."""


def find_augmentation(name: str) -> type[Any]:
    """Return the task of an augmentation.

    Raises
    ------
    ParameterError
        There is none of that name.
    """
    return AUGMENTATIONS[require_known(f"no augmentation {name!r}", name, AUGMENTATIONS)]


class RulesParameter(luigi.Parameter):
    """Cleaning rules as text, such as ``default,cancelled:action=quarantine``, or as a JSON list; empty: the card's."""

    def normalize(self, value: Any) -> str:
        """Return the rules as canonical JSON; empty stays empty.

        Raises
        ------
        ParameterError, UnknownRuleError
            A rule is unknown or malformed.
        """
        if not value:
            return ""
        known = {*list_rules(), "default"}
        rules = from_json("rules", value, "[")
        if rules is None:
            rules = [{"rule": name, **given} if given else name for name, given in read_entries(value, known)]
        resolve_rules(rules)
        return canonical_json([_rule_as_known(rule, known) for rule in rules])


class MethodsParameter(luigi.Parameter):
    """Bounds of waits, and rivals, as text, such as ``binomial,lognormal``, or as a JSON list of such texts."""

    def normalize(self, value: Any) -> str:
        """Return the methods as canonical JSON: texts, each with the parameters that were given.

        Raises
        ------
        ParameterError
            A method is unknown, takes no such parameter, stands there twice, or none is given.
        """
        from swftools.qbets.methods import find_method, list_methods  # noqa: PLC0415 (imports scikit-learn: a second)

        listed = from_json("methods", value, "[")
        if listed is None:
            listed = [write_entry(name, given) for name, given in read_entries(value, list_methods())]
        listed = [with_known_name(text, list_methods()) if isinstance(text, str) else text for text in listed]
        for text in listed:
            find_method(text)
        if not listed or len(set(listed)) < len(listed):
            raise ParameterError(f"methods={value!r}: give at least one, and each once")
        return canonical_json(listed)


class MappingParameter(luigi.Parameter):
    """Parameters of a kind, as text such as ``quantile=0.9,clustering=false``, or as JSON; ``what`` is in messages."""

    def __init__(self, what: str, kind: type[Parameters], **known: Any) -> None:
        self._what, self._kind = what, kind
        super().__init__(**known)

    def normalize(self, value: Any) -> str:
        """Return all parameters as canonical JSON.

        Raises
        ------
        ParameterError
            One is unknown or outside its domain.
        """
        return canonical_json(self._kind.from_mapping(assignments(self._what, value)).to_mapping())


class AugmentParameter(luigi.Parameter):
    """Names of augmentations, separated by commas; empty, or ``none``, for none."""

    def normalize(self, value: Any) -> str:
        """Return the names in the registry's order, each once.

        Raises
        ------
        ParameterError
            A name is unknown.
        """
        names = value.split(",") if isinstance(value, str) else list(value)
        wanted = {as_known(name.strip(), AUGMENTATIONS) for name in names if name.strip()}
        if wanted == {NONE}:
            return ""
        for name in wanted:
            find_augmentation(name)
        return ",".join(name for name in AUGMENTATIONS if name in wanted)

    @classmethod
    def _parser_kwargs(cls, param_name: str, task_name: str | None = None) -> dict[str, Any]:
        """Return how a command line is read: luigi takes an empty word for none given, so it becomes ``none``."""
        kwargs: dict[str, Any] = super()._parser_kwargs(param_name, task_name)
        return {**kwargs, "type": lambda word: word.strip() or NONE}


class ParametersParameter(luigi.Parameter):
    """Parameters by augmentation, as JSON or as the path of a JSON or YAML file."""

    def normalize(self, value: Any) -> str:
        """Return the parameters as canonical JSON.

        Raises
        ------
        ParameterError
            Not a mapping of augmentation to parameters, or a parameter that the augmentation refuses.
        """
        chosen = _load_parameters(value) if isinstance(value, str) else value
        if not isinstance(chosen, Mapping) or not all(isinstance(part, Mapping) for part in chosen.values()):
            raise ParameterError(f"parameters={value!r}: give a mapping such as {{'utility': {{'globmax': 2}}}}")
        chosen = {as_known(str(name), AUGMENTATIONS): parameters for name, parameters in chosen.items()}
        for name, parameters in chosen.items():
            find_augmentation(name).check(parameters)
        return canonical_json(chosen)


class MachineParameter(luigi.Parameter):
    """A machine of nodes: path of its description, its JSON, or ``card``; empty, or ``pool``, for a pool."""

    def normalize(self, value: Any) -> str:
        """Return what the file says now, as canonical JSON: so one that is edited later does not change a run.

        Raises
        ------
        ParameterError
            The file cannot be read, or is not valid.
        """
        return machine_text(value)


class ChangesParameter(luigi.Parameter):
    """Changes of a machine, as one text, a list, or JSON of one."""

    def normalize(self, value: Any) -> str:
        """Return the changes as canonical JSON.

        Raises
        ------
        ParameterError
            They are not texts.
        """
        return changes_text(value)


def from_json(what: str, text: Any, opening: str) -> Any:
    """Return what a text says that is JSON by its first character; None if it is not; what is no text, as it is."""
    if not isinstance(text, str):
        return text
    if not text.lstrip().startswith(tuple(opening)):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{what}={text[:200]!r} is not JSON: {error}") from error


def assignments(what: str, value: Any) -> Any:
    """Return parameters that are given as ``KEY=VALUE,KEY=VALUE``, as JSON, or as a mapping."""
    mapping = from_json(what, value, "{")
    return read_assignments(value) if mapping is None else mapping


def _rule_as_known(rule: Any, known: Collection[str]) -> Any:
    """Return a rule, text or mapping, with its name as it is registered."""
    if isinstance(rule, str):
        return with_known_name(rule, known)
    return {**rule, "rule": as_known(rule["rule"], known)}


def _load_parameters(text: str) -> Any:
    """Return what a JSON text, or a JSON or YAML file, holds."""
    if not text.strip():
        return {}
    told = from_json("parameters", text, "{")
    if told is not None:
        return told
    return read_yaml_file(text, ParameterError, "give JSON, or the path of a JSON or YAML file")[1]
