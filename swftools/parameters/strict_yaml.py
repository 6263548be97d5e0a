# SPDX-License-Identifier: BSD-3-Clause
"""Read a small YAML 1.2 file written by hand: plain values only, no surprises, and the line of every key.

Beyond ``ruamel.yaml``, which reads it and refuses keys that stand twice, anchors, aliases (so that no file can expand),
tags and deep nesting are refused, and a date stays the text that was written.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.composer import Composer, ComposerError, MaxDepthExceededError
from ruamel.yaml.constructor import DuplicateKeyError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from swftools.errors import ParameterError, SwfToolsError
from swftools.parameters.small_files import SIZE_LIMIT, read_small_file

KeyPath = tuple[Any, ...]
"""The keys and list positions that lead to a value."""

_DEEPEST = 12


class NotYamlError(ParameterError):
    """Text is not the YAML that is read here; the message begins with the line where there is one."""


class _Composer(Composer):
    """Refuses what a value may not have, before anything is made of it."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        if event.anchor is not None:
            problem = f"anchor or alias {event.anchor!r}; write the value out where it is needed"
            raise ComposerError(None, None, problem, event.start_mark)
        if getattr(event, "tag", None) is not None:
            raise ComposerError(None, None, f"tag {event.tag!r}; leave it out", event.start_mark)
        return super().compose_node(parent, index)


class _Constructor(SafeConstructor):
    """Makes plain values."""


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


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


def read_yaml(data: bytes | str) -> Any:
    """Read one YAML document; None where it is empty.

    Parameters
    ----------
    data : bytes or str
        One YAML document; bytes in UTF-8 or UTF-16.

    Raises
    ------
    NotYamlError
        It is not YAML, or holds what is refused here.
    """
    if len(data) > SIZE_LIMIT:
        raise NotYamlError(f"{len(data):,} bytes, more than {SIZE_LIMIT:,}: is this the right file?")
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer, yaml.Constructor, yaml.max_depth = _Composer, _Constructor, _DEEPEST
    try:
        return yaml.load(data)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1
        raise NotYamlError(f"line {line}: not readable as YAML: {_problem(error)}") from error
    except (YAMLError, ValueError) as error:
        # Bytes that are no text, or a number with thousands of digits: these come without a line.
        raise NotYamlError(f"not readable as YAML: {' '.join(str(error).split())}") from error


def _problem(error: MarkedYAMLError) -> str:
    """Say what is wrong; ruamel.yaml's own words but for remedies, which are for programmers."""
    if isinstance(error, MaxDepthExceededError):
        return f"more than {_DEEPEST} levels of nesting; close a bracket"
    if isinstance(error, DuplicateKeyError):
        found = error.problem.partition(" with value ")[0]
        return f"{found} in the mapping that begins in line {error.context_mark.line + 1}; remove one"
    return str(error.problem)


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

    The file is read again with its lines, which takes longer than ``read_yaml`` and is done for messages only.

    Parameters
    ----------
    data : bytes
        What ``read_yaml`` has read.
    paths : iterable of tuple
        Keys and list positions.
    """
    root = YAML(typ="rt", pure=True).load(data)
    lines = []
    for path in paths:
        node, line = root, 1
        for key in path:
            # What a merge brings has no place of its own.
            if not isinstance(node, CommentedMap | CommentedSeq) or key not in (node.lc.data or ()):
                break
            line = node.lc.data[key][0] + 1
            node = node[key]
        lines.append(line)
    return lines
