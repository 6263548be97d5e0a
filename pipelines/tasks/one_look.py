# SPDX-License-Identifier: BSD-3-Clause
"""One look at the logs: while thousands of cells are gone through, what they share is found, read and hashed once.

A task's key follows from its log as it is now, so it is made anew whenever it is asked for: logs change. Of cells that
are looked at together the log is the same one, and so is the key of its trace, which costs a hundred times what is
different in each. The same holds for most of their parameters, and for what these mean. Of one task too: whether it
is complete, and what it requires, takes the key of its trace once for each of its augmentations, and for each of its
outputs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Value = TypeVar("Value")

_seen: list[dict[Any, Any]] = []
"""What is known in the looks that are being taken, of which those within others share it."""


@contextmanager
def one_look() -> Iterator[None]:
    """Take what is asked for first within a with block for what it is until the end of the block."""
    _seen.append(_seen[-1] if _seen else {})
    try:
        yield
    finally:
        _seen.pop()


def is_looking() -> bool:
    """Whether a look is being taken."""
    return bool(_seen)


def asked_once(make: Callable[..., Value], *arguments: Any) -> Value:
    """Return what a function returns, called once a look for equal arguments; outside of a look each time.

    Parameters
    ----------
    make : callable
        Whose value follows from its arguments, the logs and the settings.
    *arguments
        Hashable; equal ones must mean the same.
    """
    if not _seen:
        return make(*arguments)
    key = make, arguments
    if key not in _seen[-1]:
        _seen[-1][key] = make(*arguments)
    value: Value = _seen[-1][key]
    return value


def in_one_look(make: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Let a method without arguments take one look: what it asks for again and again follows from the log as it is."""

    @functools.wraps(make)
    def made(task: Any) -> Value:
        with one_look():
            return make(task)

    return made


def once_a_look(make: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Let a method without arguments, of a task, be called once a look and task; outside of a look each time."""

    @functools.wraps(make)
    def made(task: Any) -> Value:
        return asked_once(make, task)

    return made
