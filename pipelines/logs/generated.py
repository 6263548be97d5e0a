"""Logs that are generated: ``lublin-feitelson:jobs=10000,load=0.8`` names a workload as a path names a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pipelines.catalog.strict_yaml import read_value
from swftools.errors import ParameterError
from swftools.models import cirne_berman, lublin_feitelson
from swftools.parameters import Parameters
from swftools.trace import Trace

MODELS: dict[str, tuple[type[Parameters], Callable[..., Trace]]] = {
    "lublin-feitelson": (lublin_feitelson.LublinFeitelsonParameters, lublin_feitelson.generate),
    "cirne-berman": (cirne_berman.CirneBermanParameters, cirne_berman.generate),
}
"""The parameter class of each model, and what generates a trace of them, by name."""


def find_model(log: str) -> Parameters | None:
    """Return the parameters of the workload that a log's name means; None where it names no model.

    The form is ``MODEL`` or ``MODEL:NAME=VALUE,NAME=VALUE,...``; values are read as YAML, and a name with a dot is a
    parameter within a mapping, such as ``batch.u_med`` for an override.

    Raises
    ------
    ParameterError
        The form is another, a name is unknown or a value outside its domain.

    Examples
    --------
    >>> found = find_model("lublin-feitelson:jobs=50,types=mix,batch.u_med=4.5").to_mapping()
    >>> found["jobs"], found["overrides"]
    (50, {'batch': {'u_med': 4.5}})
    >>> find_model("my.swf") is None
    True
    """
    name, _, text = log.partition(":")
    if name not in MODELS:
        return None
    values: dict[str, Any] = {}
    for word in text.split(",") if text.strip() else ():
        key, equals, value = (part.strip() for part in word.partition("="))
        outer, dot, inner = key.partition(".")
        if not (equals and key and value and bool(dot) == bool(inner)):
            raise ParameterError(f"log {log!r}: {word!r} is not NAME=VALUE, such as {name}:jobs=10000,load=0.8")
        target = values.setdefault("overrides", {}).setdefault(outer, {}) if dot else values
        if (inner or key) in target:
            raise ParameterError(f"log {log!r}: {key} is given twice")
        try:
            target[inner or key] = read_value(value)
        except ParameterError as error:
            raise ParameterError(f"log {log!r}: {word!r} is not NAME=VALUE: {error}") from error
    return MODELS[name][0].from_mapping(values)


def generate_log(parameters: Parameters) -> Trace:
    """Generate the workload that ``find_model`` found."""
    return MODELS[parameters.NAME][1](**parameters.to_mapping())
