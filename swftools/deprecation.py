# SPDX-License-Identifier: BSD-3-Clause
"""Public names that go: how a parameter is renamed, so that the old name still works for a while and warns.

A function or class that goes is marked by ``deprecated`` of ``typing_extensions``; type checkers know it. Both warn in
the same words (``SAYS``), which ``docs/promises.md`` promises; ``tests/test_going.py`` holds every public name to them.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

SAYS = re.compile(r"use (?P<instead>.+); (?P<version>\d+\.\d+) removes it")
"""What a name that goes says: what to use instead, and which version removes it."""


def renamed(old: str, new: str, removed_in: str) -> Callable[[Callable[Given, Returned]], Callable[Given, Returned]]:
    """Let a function take a parameter by its old name too, with a DeprecationWarning.

    Parameters
    ----------
    old, new : str
        Names of the parameter.
    removed_in : str
        The version that removes the old name, such as ``2.0``.

    Raises
    ------
    TypeError
        In a call that gives both names.

    Examples
    --------
    >>> @renamed("cpus", "processors", "2.0")
    ... def double(processors):
    ...     return 2 * processors
    >>> double(processors=4)
    8
    """

    def decorate(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
        @functools.wraps(function)
        def called(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
            if old in kwargs:
                if new in kwargs:
                    raise TypeError(f"{function.__name__}() got {new}= and its old name {old}=; give {new}= alone")
                warnings.warn(
                    f"{function.__name__}({old}=): use {new}=; {removed_in} removes it",
                    DeprecationWarning,
                    stacklevel=2,
                )
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        called.renamed = {**getattr(function, "renamed", {}), old: removed_in}  # type: ignore[attr-defined]
        return called

    return decorate
