"""Read a small YAML file written by hand: plain values only, no surprises, and the line of every key.

Beyond ``yaml.SafeLoader`` this reader refuses duplicate keys, anchors, aliases (so that no file can expand),
tags and deep nesting. Plain words are text: only ``true``, ``false``, ``null`` and decimal numbers are not, so a
queue named ``no`` or a version ``1:30`` stays what was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from swftools.parameter_text import SCALARS

KeyPath = tuple[Any, ...]
"""The keys and list positions that lead to a value."""

SIZE_LIMIT = 1 << 20
"""Most bytes of a file; the reader is plain Python, and no one writes more by hand."""

_DEEPEST = 12


@dataclass
class YamlFile:
    """What a file says: its value, the line of each path, and what is wrong with it as (path, message)."""

    value: Any = None
    lines: dict[KeyPath, int] = field(default_factory=dict)
    problems: list[tuple[KeyPath, str]] = field(default_factory=list)

    def line_of(self, path: KeyPath) -> int | None:
        """Return the line of a path, or of the nearest enclosing one that has a line; None for the whole file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


class StrictLoader(yaml.SafeLoader):
    """The safe loader without duplicate keys, anchors, aliases, tags and the guesses of YAML 1.1.

    For ``yaml.load``; raises ``yaml.YAMLError`` at the first mistake, where ``read_yaml`` collects them.
    """

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as the base class

    def __init__(self, stream: bytes | str) -> None:
        super().__init__(stream)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Refuse what a node may not have, before anything is made of it."""
        event = self.peek_event()
        if event.anchor is not None:
            raise yaml.MarkedYAMLError(
                problem=f"anchor or alias {event.anchor!r}; write the value out where it is needed",
                problem_mark=event.start_mark,
            )
        if getattr(event, "tag", None) is not None:
            raise yaml.MarkedYAMLError(problem=f"tag {event.tag!r}; leave it out", problem_mark=event.start_mark)
        if self._depth == _DEEPEST:
            raise yaml.MarkedYAMLError(
                problem=f"more than {_DEEPEST} levels of nesting; close a bracket", problem_mark=event.start_mark
            )
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that stands twice, of which YAML would silently take the last."""
        lines: dict[Any, int] = {}
        for key_node, _ in node.value:
            if isinstance(key_node, yaml.ScalarNode):
                key = self.construct_object(key_node)
                line = key_node.start_mark.line + 1
                if key in lines:
                    raise yaml.MarkedYAMLError(
                        problem=f"{key!r}: {_twice(lines[key], line)}", problem_mark=key_node.start_mark
                    )
                lines[key] = line
        return super().construct_mapping(node, deep)


_FIRST = {"null": ["~", "n", ""], "bool": ["t", "f"], "int": list("-0123456789"), "float": list("-0123456789")}
for _kind, _pattern in SCALARS.items():
    StrictLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", _pattern, _FIRST[_kind])


def _twice(first: int, line: int) -> str:
    return f"the key stands twice, in lines {first} and {line}; remove one"


def read_yaml(data: bytes) -> YamlFile:
    """Read YAML bytes; everything that is wrong is in the result's ``problems``, nothing is raised.

    Parameters
    ----------
    data : bytes
        One YAML document, UTF-8 or UTF-16.
    """
    result = YamlFile()
    if len(data) > SIZE_LIMIT:
        result.problems.append(((), f"{len(data):,} bytes, more than {SIZE_LIMIT:,}; is this the right file?"))
        return result
    try:
        loader = StrictLoader(data)
        node = loader.get_single_node()
        if node is not None:
            result.value = _plain(loader, node, (), result)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        if mark is not None:
            result.lines[()] = mark.line + 1
        message = " ".join(str(getattr(error, "problem", None) or error).split())
        result.problems.append(((), f"not readable as YAML: {message}"))
    return result


def read_value(text: str) -> Any:
    """Return one value as such a file would hold it, from a word of a command line.

    Raises
    ------
    yaml.YAMLError
        It is not readable.

    Examples
    --------
    >>> read_value("1e9"), read_value("no"), read_value("{2: 0}")
    (1000000000.0, 'no', {2: 0})
    """
    return yaml.load(text, StrictLoader)  # noqa: S506 (a safe loader, and stricter)


def _plain(loader: StrictLoader, node: yaml.Node, path: KeyPath, result: YamlFile) -> Any:
    """Convert a node to plain Python, noting lines and, as problems, keys that occur twice or are not plain."""
    result.lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(loader, item, (*path, number), result) for number, item in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return loader.construct_object(node)
    mapping: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            result.problems.append((path, f"a key in line {line} is a list or mapping; use a word or a number"))
            continue
        key = loader.construct_object(key_node)
        if key in mapping:
            result.problems.append(((*path, key), _twice(result.lines[(*path, key)], line)))
            continue
        result.lines[(*path, key)] = line
        mapping[key] = _plain(loader, value_node, (*path, key), result)
    return mapping
