# SPDX-License-Identifier: BSD-3-Clause
"""What LoadLeveler says in words of its own: geometries of tasks, resources, dependencies on steps."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from swftools.formats.accounting.meanings import by_word
from swftools.kernel import FloatArray

_TASK = re.compile(r"[0-9]+")
_MEMORY = re.compile(r"ConsumableMemory\s*\(\s*([0-9.]+)\s*([kmgt]?b?)\s*\)", re.IGNORECASE)
_STEP = re.compile(r"\s*\(*\s*([A-Za-z_][\w.]*|[0-9]+)\s*[=!<>]=?\s*[^&|]*")
_TERMS = re.compile(r"&&|\|\|")
_KB = {"": 1024.0, "b": 1 / 1024, "k": 1.0, "m": 1024.0, "g": 1024.0**2, "t": 1024.0**3}


def counted_tasks(geometries: pa.LargeStringArray) -> FloatArray:
    """Return how many tasks a Task_geometry such as ``{(0,1)(2,3)}`` has."""
    return by_word(geometries, lambda word: float(len(_TASK.findall(word))) or np.nan, np.nan)


def memory_of_resources(resources: pa.LargeStringArray) -> FloatArray:
    """Return the ConsumableMemory of each task that Resources name, in KB; a number without a unit is of MB."""

    def kilobytes(word: str) -> float:
        found = _MEMORY.search(word)
        return float(found[1]) * _KB[found[2].lower()[:1]] if found else np.nan

    return by_word(resources, kilobytes, np.nan)


def preceding_steps(
    ids: pa.LargeStringArray, step_names: pa.LargeStringArray, dependencies: pa.LargeStringArray
) -> pa.LargeStringArray:
    """Return the ids of the steps that each step waits for, null where it waits for none.

    A dependency such as ``first == 0`` names a step of the same job by its name or its number; one of several that are
    parted by ``||`` is enough, which is marked.
    """
    preceding: list[str | None] = [None] * len(ids)
    waiting = np.flatnonzero(np.asarray(dependencies.is_valid()))
    if len(waiting):
        every_id, every_name = ids.to_pylist(), step_names.to_pylist()
        by_name = {
            (name_of[0].rpartition(".")[0], name_of[1]): name_of[0]
            for name_of in zip(every_id, every_name, strict=True)
            if name_of[0] and name_of[1]
        }
        for row in waiting.tolist():
            words = dependencies[row].as_py()
            found = [_STEP.fullmatch(term) for term in _TERMS.split(words)]
            job = (every_id[row] or "").rpartition(".")[0]
            steps = [by_name.get((job, each[1])) if each else None for each in found]
            if "||" in words:  # without one of them nobody knows when the others would have let it start
                steps = [None if None in steps or "&&" in words else f"|{step}" for step in steps]
            preceding[row] = " ".join(step for step in steps if step) or None
    return pa.array(preceding, pa.large_string())
