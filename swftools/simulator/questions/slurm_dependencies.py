# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs of a queue wait for which: what Slurm's words for dependencies name, as places in the queue."""

from __future__ import annotations

import pandas as pd


def preceding_rows(frame: pd.DataFrame) -> list[list[int] | None]:
    """Return the numbers of the jobs for which each waits, from 1 on as rows are; None where it waits for none.

    A job that is not in the queue has ended, so nobody waits for it any more. An array stands for all its tasks that
    are there. Of several of which one is enough the first counts.

    Parameters
    ----------
    frame : pandas.DataFrame
        With ``name`` and ``preceding`` (``swftools.formats.slurm.queue_owners``), ``array`` and ``user``.

    Examples
    --------
    >>> names, waits = ["5", "7_1", "7_2", "8"], ["", "", "", "=5 7 6"]
    >>> preceding_rows(pd.DataFrame({"name": names, "array": ["", "7", "7", ""], "user": "u", "preceding": waits}))
    [None, None, None, [1, 2, 3]]
    """
    rows: dict[str, list[int]] = {}
    for row, (name, array) in enumerate(zip(frame["name"].astype(str), frame["array"], strict=True)):
        for key in {name, array} if isinstance(array, str) and array else {name}:
            rows.setdefault(key, []).append(row + 1)
    found: list[list[int] | None] = []
    for number, text in enumerate(frame["preceding"], start=1):
        words = text.split() if isinstance(text, str) else []
        chosen = [each for word in words if not word.startswith("|") for each in rows.get(word.lstrip("=!"), ())]
        one_of = [each for word in words if word.startswith("|") for each in rows.get(word.lstrip("|=!"), ())]
        chosen += one_of[:1]
        found.append(sorted(set(chosen) - {number}) or None)
    return found
