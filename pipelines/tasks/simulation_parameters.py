# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of the tasks that simulate, as text; apart, since what they name takes time to import."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import luigi

from pipelines.keys import canonical_json
from pipelines.tasks.parameters import MappingParameter, assignments, from_json
from swftools.errors import ParameterError
from swftools.parameters import did_you_mean
from swftools.parameters.as_text import read_entries, read_entry, write_entry
from swftools.parameters.run_option_table import RUN_OPTIONS, WHERE_SET, RunOption
from swftools.parameters.spelling import respelled
from swftools.selection import select_jobs
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.predictors.registry import find_predictor, list_predictors
from swftools.simulator.registry import list_policies, read_policy
from swftools.simulator.run_options import FIND

Task = TypeVar("Task", bound=luigi.Task)


class PoliciesParameter(luigi.Parameter):
    """Policies as text, such as ``fcfs,easy:reservations=2``, or as a JSON list of such texts and of mappings."""

    def normalize(self, value: Any) -> str:
        """Return the policies as canonical JSON, each a mapping with every parameter that was given.

        Raises
        ------
        ParameterError
            A policy or a parameter is unknown, or none is given.
        """
        listed = from_json("policies", value, "[{")
        if listed is None:
            listed = [{"policy": name, **given} for name, given in read_entries(value, list_policies())]
        chosen = [_policy_entry(entry) for entry in (listed if isinstance(listed, list | tuple) else [listed])]
        if not chosen:
            raise ParameterError("policies: give at least one")
        return canonical_json(chosen)


class ReadParameter(luigi.Parameter):
    """An option of a run that is a text with parameters, such as ``factor:factor=2`` of requests.

    Parameters
    ----------
    find : callable
        Reads the text.
    usual : str
        What the default is written as, however it is given: keys and tables without the option stand for this text.
        Empty: by name and every parameter, as any other.
    """

    def __init__(self, find: Callable[[Any], Any], usual: str = "", **known: Any) -> None:
        self._find, self._usual = find, usual
        super().__init__(**known)

    def normalize(self, value: Any) -> str:
        """Return name and parameters in their one form.

        Raises
        ------
        ParameterError
            There is none of that name, or it takes no such parameter, or another value.
        """
        found = str(self._find(value).to_text())
        return self._usual if self._usual and found == self._find(self._usual).to_text() else found


class PredictorParameter(luigi.Parameter):
    """What policies are told of run times, as text: ``exact``, ``virtual:error=0.5``, ``module:name`` of one's own."""

    def normalize(self, value: Any) -> str:
        """Return name and parameters that are given in one form, ``module:`` with them.

        Raises
        ------
        ParameterError
            There is none of that name, or it takes no such parameter.
        """
        found = find_predictor(value)
        name, given = read_entry(value, list_predictors())
        # Keys hold the name as it is registered; one in Python is named by its class, which may be any.
        registered = respelled(name, [found.name]) if isinstance(found, Predictor) else name
        return write_entry(registered, dict(sorted(given.items())))


class WindowParameter(luigi.Parameter):
    """Which jobs of a log are simulated, as for ``select_jobs``: ``month=2000-07,warm_up=604800``, or JSON."""

    def normalize(self, value: Any) -> str:
        """Return the conditions as canonical JSON; empty stays empty.

        Raises
        ------
        ParameterError
            A condition is unknown.
        """
        if not value:
            return ""
        chosen = assignments("window", value)
        known = inspect.signature(select_jobs).parameters.keys() - {"trace"}
        for name in chosen:
            if name not in known:
                raise ParameterError(
                    f"window: no condition {name!r}{did_you_mean([name], known)}; there are: {', '.join(sorted(known))}"
                )
        return canonical_json(chosen)


MetricsParameter = partial(MappingParameter, "metrics", MetricParameters)

_BY_TYPE: dict[type, Callable[..., Any]] = {
    str: luigi.Parameter,
    int: luigi.IntParameter,
    float: luigi.FloatParameter,
    bool: partial(luigi.BoolParameter, parsing=luigi.BoolParameter.EXPLICIT_PARSING),
}
"""What a task takes an option of a run as, by the type of its value."""


def parameter_of(option: RunOption) -> luigi.Parameter:
    """Return the parameter of a task for an option of a run."""
    choices = f" {', '.join(option.choices)}" if option.choices else ""
    known: dict[str, Any] = {"default": option.usual, "description": option.sentence() + choices}
    if option.name == "predictor":
        return PredictorParameter(**known)
    if option.forms:
        usual = str(option.usual) if option.in_key == WHERE_SET else ""
        return ReadParameter(FIND[option.name], usual, **known)
    made: luigi.Parameter = _BY_TYPE[option.type](**known)
    return made


def takes_run_options(*, repetitions: bool) -> Callable[[type[Task]], type[Task]]:
    """Give a task the options of a run as parameters: those that make settings, or those that make repetitions."""

    def give(task: type[Task]) -> type[Task]:
        for option in RUN_OPTIONS.values():
            if option.is_repetition == repetitions:
                parameter = parameter_of(option)
                parameter.__set_name__(task, option.name)  # as in the body of a class
                setattr(task, option.name, parameter)
        return task

    return give


def _policy_entry(entry: Any) -> dict[str, Any]:
    """Return a policy, given as text or as a mapping, with the parameters that are given, checked."""
    given = {"policy": entry} if isinstance(entry, str) else entry
    if not isinstance(given, Mapping) or not isinstance(given.get("policy"), str):
        raise ParameterError(f"policies: {entry!r} is neither a name nor a mapping with the key policy")
    name, _ = read_entry(given["policy"], list_policies())
    policy, parameters = read_policy(given["policy"], {key: given[key] for key in given if key != "policy"})
    values = policy.chosen(parameters).to_mapping()  # texts in their one form
    return {"policy": respelled(name, [policy.name]), **{key: values[key] for key in parameters}}
