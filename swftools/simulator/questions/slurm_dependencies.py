# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs of a queue wait for which: what Slurm's words for dependencies name, as places in the queue."""

from __future__ import annotations

import pandas as pd


def preceding_rows(frame: pd.DataFrame) -> list[list[int] | None]:
    """Return the numbers of the jobs for which each waits, from 1 on as rows are; None where it waits for none.

    A job that is not in the queue has ended, so nobody waits for it any more. An array stands for all its tasks that
    are there. Of several of which one is enough the first counts. ``singleton`` waits for all jobs of the same user and
    name that run, or were submitted before.

    Parameters
    ----------
    frame : pandas.DataFrame
        In the order of submission, with ``name``, ``runs`` and ``preceding``, ``array``, ``user`` and ``called``
        (``swftools.formats.slurm.queue_owners``).

    Examples
    --------
    >>> names, waits = ["5", "7_1", "7_2", "8", "9"], ["", "", "", "=5 7 6", "*"]
    >>> jobs = pd.DataFrame({"name": names, "array": ["", "7", "7", "", ""], "user": "u", "preceding": waits})
    >>> preceding_rows(jobs.assign(called=["a", "b", "b", "a", "a"], runs=[True, False, False, False, False]))
    [None, None, None, [1, 2, 3], [1, 4]]
    """
    rows: dict[str, list[int]] = {}
    for row, (name, array) in enumerate(zip(frame["name"].astype(str), frame["array"], strict=True)):
        for key in {name, array} if isinstance(array, str) and array else {name}:
            rows.setdefault(key, []).append(row + 1)
    alike = [key if all(isinstance(each, str) and each for each in key) else None for key in _owners(frame)]
    runs = frame["runs"].to_numpy(bool)
    found: list[list[int] | None] = []
    for number, text in enumerate(frame["preceding"], start=1):
        words = text.split() if isinstance(text, str) else []
        chosen = [each for word in words if not word.startswith("|") for each in rows.get(word.lstrip("=!"), ())]
        one_of = [each for word in words if word.startswith("|") for each in rows.get(word.lstrip("|=!"), ())]
        chosen += one_of[:1]
        if "*" in words and (own := alike[number - 1]):
            chosen += [row + 1 for row, key in enumerate(alike) if key == own and (runs[row] or row + 1 < number)]
        found.append(sorted(set(chosen) - {number}) or None)
    return found


def _owners(frame: pd.DataFrame) -> list[tuple[object, object]]:
    """Return the user of each job, and what it is called."""
    return list(zip(frame["user"], frame["called"], strict=True))
