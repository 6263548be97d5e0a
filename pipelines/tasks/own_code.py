# SPDX-License-Identifier: BSD-3-Clause
"""Hashes of code of the user's own in simulations, for which no ``code_version`` of ours speaks: keys have them."""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from swftools.parameters.as_text import read_entry
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.predictors.registry import find_predictor
from swftools.simulator.registry import find_policy
from swftools.simulator.search.search_parameters import Searching


def source_hash(name: str) -> str | None:
    """Return the hash of the source of a policy of the user's own, for which no ``code_version`` of ours speaks.

    What it decides by beside its source, such as trained weights, goes in.
    """
    found = find_policy(name)
    own = hash_of_module(found.module)
    return hashlib.sha256(f"{own} {found.stamp}".encode()).hexdigest() if found.stamp else own


def own_measures(entry: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the hash of the source of each measure of the user's own in the objective of a search."""
    given = {name: value for name, value in entry.items() if name != "policy"}
    parameters = find_policy(entry["policy"]).chosen(given)
    if not isinstance(parameters, Searching):
        return {}
    functions = {measure.name: measure.function for measure in parameters.measures}
    return {name: hash_of_module(own.py_func.__module__) for name, own in functions.items() if own is not None}


def version_of_predictor(predictor: str) -> dict[str, Any]:
    """Return the version that a predictor declares, and the hash of its source if it is the user's own.

    Of one in Python that is all: it declares no version.
    """
    found = find_predictor(predictor)
    if isinstance(found, Predictor):
        return {"version": found.version, "own": hash_of_module(found.function.__module__)}
    module = read_entry(predictor)[0].rpartition(":")[0]
    return {"version": None, "own": hash_of_module(module)}


def hash_of_module(module: str) -> str | None:
    """Return the hash of a module's source; None of one of ours."""
    if module.startswith("swftools."):
        return None
    return hashlib.sha256(inspect.getsource(importlib.import_module(module)).encode()).hexdigest()
