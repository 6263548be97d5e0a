# SPDX-License-Identifier: BSD-3-Clause
"""Commands that list what can be named, with a line each: policies, predictors, measures, pictures."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completion import complete_picture, complete_policy, complete_predictor
from pipelines.cli.output import json_option, print_json
from swftools.output.shown_text import shown

if TYPE_CHECKING:
    from swftools.parameters import Parameters
    from swftools.plots.picture import Picture
    from swftools.simulator.predictors.kinds import Predictor, PythonPredictor
    from swftools.simulator.registry import Policy


@click.command(short_help="List the policies.")
@click.argument("name", required=False, shell_complete=complete_policy)
@json_option
def policies(name: str | None, as_json: bool) -> None:
    """List the scheduling policies, a line each; of one, NAME or module:name, when to use it and its parameters too.

    \b
    Example: swftools policies easy
    """
    from swftools.simulator.registry import find_policy, list_policies

    found = list_policies() if name is None else {name: find_policy(name)}
    facts = [
        {**_facts(each.name, _of_policy(each), each.parameters, each.fixed), "when": each.when}
        for each in found.values()
    ]
    _print(facts, as_json=as_json, in_full=name is not None)


@click.command(short_help="List the predictors of run times.")
@click.argument("name", required=False, shell_complete=complete_predictor)
@json_option
def predictors(name: str | None, as_json: bool) -> None:
    """List the predictors of run times, a line each; of one, NAME or module:name, its parameters too.

    \b
    Example: swftools predictors virtual
    """
    from swftools.simulator.predictors.kinds import Predictor
    from swftools.simulator.predictors.registry import find_predictor, list_predictors

    found: dict[str, Predictor | PythonPredictor] = (
        dict(list_predictors()) if name is None else {name: find_predictor(name)}
    )
    facts = [
        _facts(each.name, _of_predictor(each), each.parameters if isinstance(each, Predictor) else None)
        for each in found.values()
    ]
    _print(facts, as_json=as_json, in_full=name is not None)


@click.command(short_help="List the measures of schedules.")
@json_option
def measures(as_json: bool) -> None:
    """List the measures of schedules: of each its unit, which values are worse, and what it means.

    \b
    Example: swftools measures
    """
    from swftools.simulator.measure_definitions import MEASURES, NEITHER

    facts = []
    for name, (unit, worse, meaning) in MEASURES.items():
        words = "a number" if unit == "1" else unit
        told = words if worse == NEITHER else f"{words}; {worse} is worse"
        facts.append({"name": name, "title": f"{meaning.replace('`', '')} ({told})", "unit": unit, "worse": worse})
    _print(facts, as_json=as_json)


@click.command(short_help="List the pictures.")
@click.argument("name", required=False, shell_complete=complete_picture)
@json_option
def pictures(name: str | None, as_json: bool) -> None:
    """List the pictures, a line each, by what they are drawn of; of one, NAME, its parameters too.

    swftools plot draws those of logs (Trace) and schedules, Python all of them.

    \b
    Example: swftools pictures arrivals
    """
    from swftools import plots
    from swftools.errors import ParameterError
    from swftools.parameters.spelling import as_known, did_you_mean
    from swftools.plots.picture import kinds_of_pictures

    known: list[tuple[str, Picture]] = [
        (kind.__name__, each) for kind in kinds_of_pictures() for each in plots.list_pictures(kind).values()
    ]
    names = {each.name for _, each in known}
    if name is not None:
        name = as_known(name, names)
        if name not in names:
            raise ParameterError(f"no picture {name!r}; swftools pictures lists them{did_you_mean([name], names)}")
    facts = [
        {**_facts(each.name, _first_line(each), each.parameters), "of": of}
        for of, each in known
        if name is None or each.name == name
    ]
    _print(facts, as_json=as_json, in_full=name is not None)


def _of_policy(policy: Policy) -> str:
    """Return in a line what a policy does."""
    fixed = "".join(f"; {key}={value}" for key, value in policy.fixed.items())
    said = policy.in_python.args[0] if policy.in_python and hasattr(policy.in_python, "args") else policy.decide
    return _first_line(said).removesuffix("." if fixed else "") + fixed


def _of_predictor(predictor: Predictor | PythonPredictor) -> str:
    """Return in a line what a predictor does."""
    said = [getattr(predictor, each, None) for each in ("observe", "foretell", "learner")]
    return _first_line(next((each for each in said if each), type(predictor)))


def _first_line(thing: Any) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0].replace("``", "")


def _facts(
    name: str, title: str, parameters: type[Parameters] | None = None, fixed: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what is listed of a thing: name, a line, and of each parameter that is open its default and its values."""
    if parameters is None:
        return {"name": name, "title": title, "parameters": []}
    usual, domains = parameters().to_mapping(), parameters.domains()
    return {
        "name": name,
        "title": title,
        "parameters": [
            {"name": key, "default": value, "values": domains[key].words if key in domains else ""}
            for key, value in usual.items()
            if key not in (fixed or {})
        ],
    }


def _print(facts: list[dict[str, Any]], *, as_json: bool, in_full: bool = False) -> None:
    """Print things with a line each, those of a kind under its name; in full with their parameters."""
    if as_json:
        print_json(facts)
        return
    from swftools.parameters.as_text import write_entry

    columns, kind = shutil.get_terminal_size().columns, None
    width = max(len(each["name"]) for each in facts)
    for each in facts:
        if each.get("of") != kind:
            kind = each["of"]
            click.echo(f"of a {kind}:" if kind != "DataFrame" else "of a table:")
        indent = "  " if kind else ""
        click.echo(_line(indent, each["name"], width, each["title"], columns))
        if in_full and each.get("when"):
            click.echo(_line(f"{indent}  ", "when", 4, each["when"].replace("`", ""), columns))
        for parameter in each.get("parameters", ()) if in_full else ():
            click.echo(f"{indent}  {write_entry('', {parameter['name']: parameter['default']})[1:]}")
            if parameter["values"]:
                click.echo(f"{indent}      {parameter['values']}")


def _line(indent: str, name: str, width: int, title: str, columns: int) -> str:
    """Return the line of a thing; where the terminal is too narrow, more than one."""
    before = f"{indent}{name:<{width}}  "
    told = click.wrap_text(shown(title), max(columns, len(before) + 30), before, " " * len(before))
    return told if title else before.rstrip()
