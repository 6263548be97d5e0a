# SPDX-License-Identifier: BSD-3-Clause
"""Read a small YAML 1.2 file written by hand: plain values only, no surprises, and the line of every key.

PyYAML parses it. Values are those of YAML 1.2 (``no`` is a text), with ``_`` between digits; a date stays the text that
was written. Keys that stand twice, anchors, aliases (so that no file can expand), tags and deep nesting are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml
from yaml.events import (
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from swftools.errors import ParameterError, SwfToolsError
from swftools.parameters.small_files import SIZE_LIMIT, read_small_file
from swftools.parameters.spelling import did_you_mean

KeyPath = tuple[Any, ...]
"""The keys and list positions that lead to a value."""

_DEEPEST = 12
_QUICK_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, where PyYAML has it: the same in a twentieth of the time."""

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*(?P<part>\.[\d_]*)?|(?P<point>\.\d[\d_]*))(?P<power>[eE][-+]?\d+)?", re.ASCII)
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_NO_NUMBER = re.compile(r"(?P<sign>[-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class NotYamlError(ParameterError):
    """Text is not the YAML that is read here; the message begins with the line where there is one."""


class _Document:
    """A document made of what PyYAML parses, with the line of each value by its path."""

    def __init__(self, data: bytes | str, loader: Any) -> None:
        self._events: Iterator[Any] = iter(yaml.parse(data, Loader=loader))  # whose types PyYAML does not tell
        self.lines: dict[KeyPath, int] = {}
        next(self._events)  # the stream's beginning
        is_there = isinstance(next(self._events), DocumentStartEvent)
        self.value = self._value(next(self._events), ()) if is_there else None
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                raise _refused(event, "but found another document; leave one")

    def _value(self, event: Any, path: KeyPath) -> Any:
        """Return the value that begins with an event."""
        if event.anchor is not None:
            raise _refused(event, f"anchor or alias {event.anchor!r}; write the value out where it is needed")
        if event.tag is not None:
            raise _refused(event, f"tag {event.tag!r}; leave it out")
        if len(path) > _DEEPEST:
            raise _refused(event, f"more than {_DEEPEST} levels of nesting; close a bracket")
        if isinstance(event, SequenceStartEvent):
            return self._list(path)
        if isinstance(event, MappingStartEvent):
            return self._mapping(event, path)
        return _plain(event.value) if event.implicit[0] else event.value

    def _list(self, path: KeyPath) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            here = (*path, len(found))
            self.lines[here] = _line(event)
            found.append(self._value(event, here))
        return found

    def _mapping(self, begun: Any, path: KeyPath) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            if isinstance(event, SequenceStartEvent | MappingStartEvent):
                raise _refused(event, "found unhashable key")
            key = self._value(event, path)
            if key == "<<":
                others = self._value(event := next(self._events), path)
                for other in others if isinstance(others, list) else [others]:
                    if not isinstance(other, dict):
                        raise _refused(event, "<< stands before what is no mapping; leave it out")
                    merged = {**other, **merged}
                continue
            if key in found:
                where = f"in the mapping that begins in line {_line(begun)}"
                raise _refused(event, f'found duplicate key "{key}" {where}; remove one')
            here = (*path, key)
            self.lines[here] = _line(event)
            found[key] = self._value(next(self._events), here)
        return {**merged, **found}


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _refused(event: Any, problem: str) -> NotYamlError:
    return NotYamlError(f"line {_line(event)}: not readable as YAML: {problem}")


def _plain(text: str) -> Any:
    """Return the value of a text without quotes: null, a truth value, a number, or the text."""
    if text in _WORDS:
        return _WORDS[text]
    if number := _NUMBER.fullmatch(text):
        digits = text.replace("_", "")
        return float(digits) if any(number[name] is not None for name in ("part", "point", "power")) else int(digits)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    if found := _NO_NUMBER.fullmatch(text):
        return math.nan if found["sign"] is None else float(f"{found['sign']}inf")
    return text


def read_yaml_file(path: str | Path | Traversable, refused: type[SwfToolsError], remedy: str) -> tuple[bytes, Any]:
    """Read a file of one YAML document, or of JSON, which is such: its bytes, and what it holds.

    Parameters
    ----------
    path : str, Path or resource
        The file, as messages name it.
    refused : type of SwfToolsError
        What is raised where it cannot be read, or is not YAML.
    remedy : str
        What to do if there is no such file.
    """
    try:
        data = read_small_file(path) if isinstance(path, str | Path) else path.read_bytes()
        return data, read_yaml(data)
    except (OSError, ValueError) as error:  # a path with a zero byte is no path
        if isinstance(error, NotYamlError):
            raise refused(f"{path}, {error}") from error
        raise refused(f"{path}: {getattr(error, 'strerror', None) or error}; {remedy}") from error


def check_keys(content: Iterable[Any], known: Collection[str], where: str) -> None:
    """Raise ParameterError at a key of a mapping that is not known; the message begins with ``where``."""
    for key in content:
        if key not in known:
            near = did_you_mean([str(key)], known)
            raise ParameterError(f"{where}: unknown key {key!r}{near}; there are: {', '.join(known)}")


def read_yaml(data: bytes | str, most: int = SIZE_LIMIT) -> Any:
    """Read one YAML document; None where it is empty.

    Parameters
    ----------
    data : bytes or str
        One YAML document; bytes in UTF-8 or UTF-16.
    most : int
        Bytes that it may have.

    Raises
    ------
    NotYamlError
        It is not YAML, or holds what is refused here.
    """
    if len(data) > most:
        raise NotYamlError(f"{len(data):,} bytes, more than {most:,}: is this the right file?")
    return _document(data).value


def _document(data: bytes | str) -> _Document:
    try:
        try:
            return _Document(data, _QUICK_LOADER)
        except yaml.YAMLError:
            return _Document(data, yaml.SafeLoader)  # which says more of what is wrong
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        raise NotYamlError(f"{line}not readable as YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, NotYamlError):
            raise
        # Bytes that are no text, or a number with thousands of digits: these come without a line.
        raise NotYamlError(f"not readable as YAML: {' '.join(str(error).split())}") from error


def read_value(text: str) -> Any:
    """Return one value as such a file would hold it, from a word of a command line.

    Raises
    ------
    NotYamlError
        It is not readable.

    Examples
    --------
    >>> read_value("1e9"), read_value("no"), read_value("{2: 0}")
    (1000000000.0, 'no', {2: 0})
    """
    return read_yaml(text)


def lines_of(data: bytes, paths: Iterable[KeyPath]) -> list[int]:
    """Return the line of what each path leads to, or of the nearest that encloses it; 1 for the whole file.

    Parameters
    ----------
    data : bytes
        What ``read_yaml`` has read.
    paths : iterable of tuple
        Keys and list positions.
    """
    lines = _document(data).lines
    return [next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), 1) for path in paths]
