# SPDX-License-Identifier: BSD-3-Clause
"""What two manifests say of how their versions were made, leaf by leaf."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_GROUPS = {
    "inputs": ("log", "logs", "sources", "inputs", "header"),
    "jobs": ("account", "assumptions", "anomalies"),
    "parameters": ("parameters",),
    "seeds": ("seed", "seeds"),
    "code": ("made_by", "code_versions", "policy_versions", "paper_version", "main_table"),
    "schema": ("schema_version",),
    "software": ("software",),
    "machine": ("machine_processors", "computer", "installation", "information", "conversion"),
    "terms": ("title", "licence", "acknowledgement", "citation", "source_url"),
}
"""Entries of manifests, those that determine the content first."""

_OTHER = "other"
_APART = ("data_set", "version", "tables", "files")
"""What tells the versions apart, or is compared by itself."""

_ABSENT = object()


def compare_facts(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Compare all that two manifests say beside their tables and files.

    Returns
    -------
    list of dict
        Of each difference ``group``, ``path`` (keys with dots between them), ``change`` ("added", "gone", "changed", or
        "reordered") and what stands there, ``a`` and ``b``, each where there is one. An element of a list that only one
        has is a difference of its own. Grouped, what determines the content first.
    """
    groups = {key: group for group, keys in _GROUPS.items() for key in keys}
    names = [*groups, *sorted((a.keys() | b.keys()) - groups.keys() - set(_APART))]
    ranks = [*_GROUPS, _OTHER]
    found = [
        {"group": groups.get(name, _OTHER), **change}
        for name in names
        for change in _differences((name,), a.get(name, _ABSENT), b.get(name, _ABSENT))
    ]
    return sorted(found, key=lambda change: ranks.index(change["group"]))


def _differences(path: tuple[str, ...], a: Any, b: Any) -> Iterator[dict[str, Any]]:
    """Yield what differs between two values below a path."""
    place = ".".join(path)
    if a is b:
        return
    if a is _ABSENT:
        yield {"path": place, "change": "added", "b": b}
    elif b is _ABSENT:
        yield {"path": place, "change": "gone", "a": a}
    elif isinstance(a, Mapping) and isinstance(b, Mapping):
        for name in sorted(a.keys() | b.keys()):
            yield from _differences((*path, name), a.get(name, _ABSENT), b.get(name, _ABSENT))
    elif isinstance(a, list) and isinstance(b, list):
        yield from _list_differences(path, a, b)
    elif _text(a) != _text(b):
        yield {"path": place, "change": "changed", "a": a, "b": b}


def _list_differences(path: tuple[str, ...], a: Sequence[Any], b: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield what differs between two lists: by name where all elements have one, else whole elements."""
    if _text(a) == _text(b):
        return
    named_a, named_b = _by_name(a), _by_name(b)
    if named_a is not None and named_b is not None and named_a.keys() & named_b.keys():
        found = list(_differences(path, named_a, named_b))
    else:
        texts_a, texts_b = Counter(map(_text, a)), Counter(map(_text, b))
        place = ".".join(path)
        gone = ({"path": place, "change": "gone", "a": json.loads(text)} for text in (texts_a - texts_b).elements())
        new = ({"path": place, "change": "added", "b": json.loads(text)} for text in (texts_b - texts_a).elements())
        found = [*gone, *new]
    yield from found or [{"path": ".".join(path), "change": "reordered", "a": list(a), "b": list(b)}]


def _by_name(elements: Sequence[Any]) -> dict[str, Any] | None:
    """Return the elements of a list by their names; None if one has none, or two have the same."""
    names = [_name(element) for element in elements]
    if None in names or len(set(names)) < len(names):
        return None
    return {str(name): element for name, element in zip(names, elements, strict=True)}


def _name(element: Any) -> str | None:
    """Return what an element of a list is called: a log, a rule, a policy."""
    if not isinstance(element, Mapping):
        return None
    log = element.get("log")
    names = (element.get("name"), log.get("name") if isinstance(log, Mapping) else None)
    return next((name for name in (*names, element.get("rule"), element.get("policy")) if isinstance(name, str)), None)


def _text(value: Any) -> str:
    """Return JSON that is equal for equal values."""
    return json.dumps(value, sort_keys=True)
