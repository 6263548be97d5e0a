# SPDX-License-Identifier: BSD-3-Clause
"""Lists of the tasks of an array, as batch systems print them."""

from __future__ import annotations

import re

MOST_TASKS = 5_000_000
"""Of a list; a part with which there were more is left out."""

_SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")


def tasks_in(text: str) -> list[int]:
    """Return the tasks of a list.

    Examples
    --------
    >>> tasks_in("1-3,7"), tasks_in("0-8:4, 9-"), tasks_in("1-999999999,5")
    ([1, 2, 3, 7], [0, 4, 8], [5])
    """
    tasks: list[int] = []
    for part in text.split(","):
        if span := _SPAN.fullmatch(part.strip()):
            steps = range(int(span[1]), int(span[2] or span[1]) + 1, int(span[3] or 1) or 1)
            tasks += steps if len(tasks) + len(steps) <= MOST_TASKS else ()
    return tasks
