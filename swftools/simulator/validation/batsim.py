# SPDX-License-Identifier: BSD-3-Clause
"""The schedule that Batsim writes, ``jobs.csv``, as the table of starts that we read.

Its columns have names of their own; jobs are ``WORKLOAD!NUMBER`` in some versions; one that was rejected has no start.
"""

from __future__ import annotations

import re

import pandas as pd

_NEEDED = ("job_id", "starting_time", "finish_time")
_NAMES = {
    "starting_time": "start_time",
    "finish_time": "end_time",
    "execution_time": "run_time",
    "requested_time": "requested_time",
}
_PART = re.compile(r"(\d+)(?:-(\d+))?")


def is_of_batsim(table: pd.DataFrame) -> bool:
    """Whether a table has the columns of Batsim's ``jobs.csv``."""
    return all(name in table for name in _NEEDED)


def starts_of_batsim(table: pd.DataFrame) -> pd.DataFrame:
    """Return the starts of a ``jobs.csv`` of Batsim under our names; jobs that never started are left out.

    Parameters
    ----------
    table : pandas.DataFrame
        As Batsim writes it. The width of a job is the number of its resources (``0-3 7``), else what it asked for;
        on a machine of nodes its resources are nodes.

    Examples
    --------
    >>> table = pd.DataFrame({"job_id": ["w0!7"], "starting_time": [5.0], "finish_time": [9.0],
    ...                       "allocated_resources": ["0-2 5"]})
    >>> starts_of_batsim(table).to_dict("records")
    [{'job_number': '7', 'start_time': 5.0, 'end_time': 9.0, 'allocated_processors': 4.0, 'nodes': '0-2 5'}]
    """
    started = pd.to_numeric(table["starting_time"], errors="coerce") >= 0
    rows = table[started]
    found = pd.DataFrame({"job_number": rows["job_id"].astype(str).str.rpartition("!")[2]})
    for name, ours in _NAMES.items():
        if name in rows:
            found[ours] = rows[name]
    if "requested_time" in found:  # -1: without a limit
        asked = pd.to_numeric(found["requested_time"], errors="coerce")
        found["requested_time"] = asked.where(asked > 0, found["end_time"] - found["start_time"])
    wanted = rows.get("requested_number_of_resources")
    if "allocated_resources" in rows:
        width = rows["allocated_resources"].map(_count_resources)
        found["allocated_processors"] = width if wanted is None else width.fillna(wanted)
        found["nodes"] = rows["allocated_resources"]
    elif wanted is not None:
        found["allocated_processors"] = wanted
    return found.reset_index(drop=True)


def _count_resources(told: object) -> float:
    """Return how many resources a list such as ``0-3 7`` has; NaN if it is none."""
    parts = [_PART.fullmatch(part) for part in str(told).replace(",", " ").split()]
    if not parts or None in parts:
        return float("nan")
    return float(sum(int(part[2] or part[1]) - int(part[1]) + 1 for part in parts if part))
