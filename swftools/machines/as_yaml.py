# SPDX-License-Identifier: BSD-3-Clause
"""A description of a machine as plain values, and as YAML that is read back as the same."""

from __future__ import annotations

import dataclasses
from typing import Any

import yaml

from swftools.parameters.strict_yaml import NotYamlError, read_value

GUESSED = "guessed from a log: what it never used is not there, and sizes are the most that was in use"
"""The first note of a machine that is a guess."""

_FIRST = ("name", "kind", "names")
"""Keys that stand first, where they are."""


class _Writer(yaml.SafeDumper):
    """Writes texts in quotes where our YAML would read something else."""


def mapping_of(part: Any) -> dict[str, Any]:
    """Return a description, or a part of it, as plain values, without what is as by default."""
    found = {}
    for each in sorted(dataclasses.fields(part), key=lambda each: each.name not in _FIRST):
        value = getattr(part, each.name)
        usual = each.default if each.default_factory is dataclasses.MISSING else each.default_factory()
        if value != usual:
            found[each.name] = _plain(value)
    return found


def yaml_of(description: Any) -> str:
    """Return a description as YAML; a guess says so in its first line."""
    text: str = yaml.dump(
        mapping_of(description), Dumper=_Writer, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None
    )
    return f"# {GUESSED}\n{text}" if GUESSED in description.notes else text


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return mapping_of(value)
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def _text(writer: _Writer, text: str) -> yaml.ScalarNode:
    """Return how a text is written: plain only if it is read back as it is."""
    try:
        is_plain = read_value(text) == text
    except NotYamlError:
        is_plain = False
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_plain else '"')


_Writer.add_representer(str, _text)
