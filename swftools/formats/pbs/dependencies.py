# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs' ends a job of PBS waits for, by what its records say of dependencies."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

_ENDS = {f"after{how}{of}" for how in ("any", "notok", "ok") for of in ("", "array")}
"""Kinds of dependency on the end of other jobs; Torque has words of their own for those on arrays."""
_NAMED = re.compile(r"([0-9]+(?:\[[0-9]*\])?)((?:\.[^@:,]+)?)(?:@[^:,]+)?")


def preceding_jobs(ids: pa.LargeStringArray, dependencies: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return the ids of the jobs whose end each waits for: null where it waits for none, or for a start."""
    preceding: list[str | None] = [None] * len(ids)
    for row in np.flatnonzero(np.asarray(dependencies.is_valid())).tolist():
        own_server = "".join(ids[row].as_py().partition(".")[1:])
        jobs = []
        for clause in dependencies[row].as_py().split(","):
            kind, _, named = clause.strip().partition(":")
            matches = [_NAMED.fullmatch(job) for job in named.split(":")] if kind in _ENDS else []
            jobs += [found[1] + (found[2] or own_server) for found in matches if found]
        preceding[row] = " ".join(jobs) or None
    return pa.array(preceding, pa.large_string())
