# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong in a file of YAML that pydantic has checked: in words, with the line, the key and a remedy."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from swftools.errors import ParameterError, SwfToolsError
from swftools.parameters.spelling import did_you_mean
from swftools.parameters.strict_yaml import KeyPath, lines_of

Problem = tuple[KeyPath, str]
Kind = TypeVar("Kind")
Checked = TypeVar("Checked")


def report(source: str, data: bytes, problems: list[Problem]) -> str:
    """Write the message of a file's problems: one in one line, several below each other."""
    numbers = lines_of(data, [where for where, _ in problems])
    places = [" > ".join(map(str, where)) for where, _ in problems]
    placed = sorted(zip(numbers, places, [what for _, what in problems], strict=True))
    lines = [f"line {line}: {f'{where}: ' if where else ''}{what}" for line, where, what in placed]
    return f"{source}, {lines[0]}" if len(lines) == 1 else "\n  ".join([f"{source}: {len(lines)} problems", *lines])


def report_placed(source: str, places: Mapping[KeyPath, str], problems: list[Problem]) -> str:
    """Write the message of problems in what was read from files of other programs.

    Parameters
    ----------
    source : str
        What messages call all of it.
    places : mapping of tuple to str
        Where keys were read, as in ``slurm.conf, line 3``; a key that is not there counts as the one that it is under.
    problems : list
        Of each the key, and what is wrong.
    """
    found = []
    for where, what in problems:
        place = next((places[where[:end]] for end in range(len(where), 0, -1) if where[:end] in places), None)
        found.append(f"{place}: {what}" if place else f"{source}: {'.'.join(map(str, where))}: {what}")
    return found[0] if len(found) == 1 else "\n  ".join([f"{source}: {len(found)} problems", *found])


def as_value_error(check: Callable[[Checked], object]) -> Callable[[Checked], Checked]:
    """Return a check of ours as pydantic takes it: its message becomes that of the key."""

    def checked(value: Checked) -> Checked:
        try:
            check(value)
        except SwfToolsError as error:
            raise ValueError(str(error)) from error
        return value

    return checked


def validated(
    kind: type[Kind], source: str, data: bytes, content: Any, places: Mapping[KeyPath, str] | None = None
) -> Kind:
    """Return what a mapping declares.

    Parameters
    ----------
    kind : type
        A dataclass of pydantic's.
    source : str
        What messages call the file.
    data : bytes
        Its text, for the numbers of lines; empty if it is none.
    content : mapping
        What stands in it.
    places : mapping of tuple to str, optional
        As ``report_placed`` takes them, if the file is none of YAML.

    Raises
    ------
    ParameterError
        It is not valid: the message lists every problem with its line.
    """
    try:
        return TypeAdapter(kind).validate_python(content)
    except ValidationError as error:
        problems = [(path_of(details), message_of(details, kind)) for details in error.errors(include_url=False)]
        if data:
            raise ParameterError(report(source, data, problems)) from error
        if places:
            raise ParameterError(report_placed(source, places, problems)) from error
        raise ParameterError("; ".join(f"{'.'.join(map(str, where))}: {what}" for where, what in problems)) from error


def path_of(details: ErrorDetails) -> KeyPath:
    """Return where an error is in the file: pydantic marks a key, and goes through ``parameters``, on its own."""
    return tuple(key for key in details["loc"] if key not in ("[key]", "parameters"))


def message_of(details: ErrorDetails, kind: type) -> str:
    """Say an error of pydantic's as a remedy; ``kind`` is what the whole file is."""
    what, given = details["type"], f"not {details['input']!r:.80}"
    if what == "missing":
        return "missing; add it"
    if what == "unexpected_keyword_argument":
        loc = details["loc"]
        # What stands under a key of its own has that for its name.
        is_named = len(loc) == 3 and isinstance(loc[1], str)
        known = [name for name in _keys_at(kind, loc[:-1]) if name != "name" or not is_named]
        return f"unknown key{did_you_mean([details['loc'][-1]], known) or '; known are ' + ', '.join(known)}"
    if what == "value_error":
        return str(details["ctx"]["error"])
    if what in ("dataclass_type", "dict_type"):
        return f"should be a mapping (KEY: VALUE), {given}"
    if what == "too_short":
        return "is empty; give at least one"
    if what == "tuple_type":
        return f"should be a list (- ITEM), {given}"
    if what == "string_pattern_mismatch":
        return f"should be 64 lower-case hexadecimal digits (gzip -dc LOG | sha256sum), {given}"
    quotes = "; put it in quotes" if what == "string_type" and details["input"] is not None else ""
    return f"{re.sub('^(Input|String) ', '', details['msg'])}, {given}{quotes}"


def _keys_at(kind: Any, loc: KeyPath) -> list[str]:
    """Return the keys that there may be at a place of the file."""
    for key in loc:
        if dataclasses.is_dataclass(kind):
            kind = get_type_hints(kind)[key]
        elif get_origin(kind) is tuple:
            kind = get_args(kind)[0]
        else:
            kind = get_args(kind)[-1]
        if get_origin(kind) is UnionType:  # what may be left out: something or None
            kind = next(each for each in get_args(kind) if each is not NoneType)
    return [item.name for item in dataclasses.fields(kind)]
