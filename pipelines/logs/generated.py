# SPDX-License-Identifier: BSD-3-Clause
"""Logs that are generated: ``lublin-feitelson:jobs=10000,load=0.8`` names a workload as a path names a file."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from swftools.models import cirne_berman, lublin_feitelson
from swftools.parameters import Parameters
from swftools.parameters.as_text import read_assignments
from swftools.parameters.spelling import as_known
from swftools.trace import Trace

MODELS: dict[str, tuple[type[Parameters], Callable[..., Trace]]] = {
    "lublin-feitelson": (lublin_feitelson.LublinFeitelsonParameters, lublin_feitelson.generate),
    "cirne-berman": (cirne_berman.CirneBermanParameters, cirne_berman.generate),
}
"""The parameter class of each model, and what generates a trace of them, by name."""


@cache
def find_model(log: str) -> Parameters | None:
    """Return the parameters of the workload that a log's name means; None where it names no model.

    The form is ``MODEL`` or ``MODEL:KEY=VALUE,KEY=VALUE``, as of everything that takes parameters; a key with a dot is
    a parameter within a mapping, such as ``batch.u_med`` for an override.

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
    name = as_known(name, MODELS)
    return MODELS[name][0].from_mapping(read_assignments(text)) if name in MODELS else None


def generate_log(parameters: Parameters) -> Trace:
    """Generate the workload that ``find_model`` found."""
    return MODELS[parameters.NAME][1](**parameters.to_mapping())
