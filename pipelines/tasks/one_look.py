# SPDX-License-Identifier: BSD-3-Clause
"""One look at the logs: while thousands of cells are gone through, what they share is found and hashed once.

A task's key follows from its log as it is now, so it is made anew whenever it is asked for: logs change. Of cells that
are looked at together the log is the same one, and so is the key of its trace, which costs a hundred times what is
different in each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Value = TypeVar("Value")

_seen: list[dict[Any, Any]] = []


@contextmanager
def one_look() -> Iterator[None]:
    """Take what is asked for first within a with block for what it is until the end of the block."""
    _seen.append(_seen[-1] if _seen else {})
    try:
        yield
    finally:
        _seen.pop()


def once_a_look(make: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Let a method without arguments, of a task, be called once a look and task; outside of a look each time."""

    @functools.wraps(make)
    def made(task: Any) -> Value:
        if not _seen:
            return make(task)
        key = make, task.task_id
        if key not in _seen[-1]:
            _seen[-1][key] = make(task)
        value: Value = _seen[-1][key]
        return value

    return made
