# SPDX-License-Identifier: BSD-3-Clause
"""The options of a run: refused where they are none, do not go together, or the trace lacks what they need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from swftools.errors import ParameterError
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.nodes.away.on_outage import find_on_outage
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.predictors.kinds import Predictor, PythonPredictor
from swftools.simulator.predictors.registry import find_predictor, text_of
from swftools.simulator.registry import Policy, find_policy, list_policies
from swftools.simulator.requested_times import find_requests
from swftools.simulator.restart import find_restart_overhead
from swftools.trace import Trace

_REMEDIES = {
    "priority_rank": "let generate_utility (tasks: --augment utility) make it from the ranks of the log's queues, ",
    "checkpoint_interval": "let infer_checkpoints (tasks: --augment checkpoints) make it, or give each job one (s), ",
    "speedup_curve": "let generate_speedup (tasks: --augment speedup) make it, ",
    "utility": "let generate_utility (tasks: --augment utility) make it, ",
}
"""How a trace comes by what policies need."""


FIND: dict[str, Callable[[Any], Any]] = {
    "predictor": find_predictor,
    "requests": find_requests,
    "restart_overhead": find_restart_overhead,
    "placement": find_placement,
    "on_outage": find_on_outage,
}
"""What reads each option that is a text with parameters, or an object of that kind."""


def check_options(**given: Any) -> None:
    """Raise ParameterError unless options of a simulation, of which all may be missing, are what they may be."""
    RunOptions.from_mapping(given)
    for name, find in FIND.items():
        if name in given:
            find(given[name])


def options_in_words(options: RunOptions, unsaid: Collection[str] = ()) -> dict[str, Any]:
    """Return the options as a schedule tells them, but for some: those that are read as text, with every parameter."""
    told = {name: text_of if name == "predictor" else _as_text(find) for name, find in FIND.items()}
    said = {name: value for name, value in options.to_mapping().items() if name not in unsaid}
    return {name: told[name](value) if name in told else value for name, value in said.items()}


def _as_text(find: Callable[[Any], Any]) -> Callable[[Any], str]:
    """Return what writes a value that is read, in its one form."""
    return lambda value: str(find(value).to_text())


def check_needs(policy: Policy, given: Mapping[str, Any], trace: Trace) -> None:
    """Raise ParameterError unless the jobs have the columns that a policy needs with its parameters."""
    if lacking := [name for name in policy.needed(given) if name not in trace.jobs]:
        raise ParameterError(
            f"policy {policy.name!r} needs {', '.join(lacking)}, which the trace lacks; {_REMEDIES.get(lacking[0], '')}"
            "or choose another policy"
        )


def check_semantics(semantics: str, policy: Policy, predictor: Predictor | PythonPredictor, overrun: str) -> None:
    """Raise ParameterError where it is not known how another simulator would do it."""
    if semantics == "instant":
        return
    told = str(predictor.name)
    if semantics not in policy.restates:
        known = ", ".join(sorted(name for name, other in list_policies().items() if semantics in other.restates))
        raise ParameterError(f"semantics={semantics!r} is known for {known}, not for {policy.name!r}")
    known_to_both = isinstance(predictor, Predictor) and told in ("request", "exact")
    if semantics == "pyss" and (not known_to_both or overrun == "run-on"):
        raise ParameterError(
            f"semantics='pyss' with predictor={told!r}, overrun={overrun!r}: it frees processors when a job is "
            "expected to end, so no job may outlive its prediction"
        )
    if semantics == "cqsim" and (not isinstance(predictor, Predictor) or told != "exact"):
        raise ParameterError(
            f"semantics='cqsim' needs predictor='exact', not {told!r}: it plans waiting jobs by their run times"
        )
    if semantics == "raps" and (not isinstance(predictor, Predictor) or told != "request"):
        raise ParameterError(f"semantics='raps' needs predictor='request', not {told!r}: it knows limits only")
    if semantics == "cqsim" and overrun == "run-on":
        raise ParameterError("semantics='cqsim' with overrun='run-on': it expects no job to outlive its request")


def restated(semantics: str, policy: Policy, given: Mapping[str, Any]) -> tuple[Policy, dict[str, Any]]:
    """Return the policy by which another simulator's rule is restated, and its parameters; else those that are given.

    Raises
    ------
    ParameterError
        A parameter is given, and it is not known what it would be there.
    """
    if semantics not in policy.restated_by:
        return policy, dict(given)
    if given:
        raise ParameterError(
            f"semantics={semantics!r} with {policy.name}:{', '.join(given)}: it is known for {policy.name} without "
            "parameters"
        )
    name, parameters = policy.restated_by[semantics]
    return find_policy(name), dict(parameters)
