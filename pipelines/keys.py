# SPDX-License-Identifier: BSD-3-Clause
"""Content keys: the hash of what determines a stage's output, which names it.

A changed input, parameter or code version is another key, hence another path: luigi takes whatever exists for
done, and so nothing stale is ever taken.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from swftools.fields.dictionary import COMMON_VERSION, table_version

MISSING_INPUT = "input-missing"
"""Stands for the key where the log is not there to be hashed; no output ever has this name."""


def canonical_json(value: Any) -> str:
    """Return JSON that is equal for equal values: sorted keys, no blanks, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def content_key(stage: str, code_version: int, inputs: Mapping[str, Any]) -> str:
    """Return the key of a stage's output, 16 hexadecimal digits.

    Parameters
    ----------
    stage : str
        Name of the stage.
    code_version : int
        Raised whenever the stage's output changes for equal inputs.
    inputs : mapping
        All else that determines the output: keys of upstream outputs, parameters, seeds.

    Examples
    --------
    >>> content_key("clean", 1, {"rules": ["duplicates"]}) == content_key("clean", 2, {"rules": ["duplicates"]})
    False
    """
    if MISSING_INPUT in inputs.values():
        return MISSING_INPUT
    text = canonical_json({"stage": stage, "code_version": code_version, "inputs": dict(inputs)})
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def schema_of(tables: Iterable[str]) -> int | dict[str, int]:
    """Return what a key says of the schema of the tables that a task reads or writes.

    It is the version that all tables once had in common, and beside it nothing but those that were raised since: so
    raising one table moves the keys of its tasks and of no others.
    """
    versions = {table: table_version(table) for table in tables}
    return {table: version for table, version in versions.items() if version != COMMON_VERSION} or COMMON_VERSION
