# SPDX-License-Identifier: BSD-3-Clause
"""What files of the current folder would register if they were imported: for messages, so nothing of them is run."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from swftools.parameters.spelling import folded

_MOST_FILES = 50
_LARGEST = 1 << 20  # bytes of a file that is looked into


def registered_here(name: str, decorators: Collection[str]) -> list[str]:
    """Return ``module:name`` of what files of the current folder register under a name, or in a file of that name.

    Parameters
    ----------
    name : str
        What was asked for: ``wfp``, ``wfp.py``, or a name that one of these files registers.
    decorators : collection of str
        Names of the decorators that register such things; their first argument is the name.
    """
    stem = name.removesuffix(".py")
    found: list[str] = []
    for file in islice(sorted(Path().glob("*.py")), _MOST_FILES):
        names = list(_names_in(file, decorators)) if file.stem.isidentifier() else []
        if folded(file.stem) == folded(stem):
            return [f"{file.stem}:{each}" for each in names]
        found += [f"{file.stem}:{each}" for each in names if folded(each) == folded(name)]
    return found


def _names_in(file: Path, decorators: Collection[str]) -> Iterator[str]:
    """Yield the names that a file's decorators give; none of a file that cannot be read."""
    try:
        if file.stat().st_size > _LARGEST:
            return
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        for call in getattr(node, "decorator_list", ()):
            if not isinstance(call, ast.Call):
                continue
            called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            first = next(iter([*call.args, *(key.value for key in call.keywords if key.arg == "name")]), None)
            if called in decorators and isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value
