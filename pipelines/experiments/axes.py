# SPDX-License-Identifier: BSD-3-Clause
"""The axes of an experiment, and the product of them that makes its cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from swftools.parameters.run_option_table import RUN_OPTIONS

if TYPE_CHECKING:
    import pandas as pd

_OF_SETTINGS = [each for each in RUN_OPTIONS.values() if not each.is_repetition]
_OF_REPETITIONS = [each for each in RUN_OPTIONS.values() if each.is_repetition]

AXES = {
    "logs": "log",
    "loads": "load",
    "windows": "window",
    "processors": "processors",
    "machines": "machine",
    "changes": "changes",
    **{each.axis: each.name for each in _OF_SETTINGS},
    "policies": "policy",
    **{each.axis: each.name for each in _OF_REPETITIONS},
    "shakes": "shake",
}
"""The parameter of a simulation that each axis varies; cells are in the order of these, the last runs fastest."""

REPETITIONS = (*(each.name for each in _OF_REPETITIONS), "shake")
"""What makes repetitions of one and the same setting: all else is asked about, these are noise."""

OF_MACHINES = {"machine": "a pool of processors", "changes": "unchanged"}
"""What came later, and is in tables where a cell has it: what it is called where it is empty."""

OPTIONS = ("load", "window", "processors", *OF_MACHINES, *(each.name for each in _OF_SETTINGS))
SETTING = ("log", *OPTIONS)
"""What tells settings apart: all but the policy and what makes repetitions."""


def with_options(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of an experiment with every option: one that came later, and it lacks, had its default."""
    usual = {**dict.fromkeys(OF_MACHINES, ""), **{each.name: each.usual for each in _OF_SETTINGS}}
    return table.assign(**{name: value for name, value in usual.items() if name not in table})


def cells_of(
    axes: Mapping[str, Sequence[Any]], exclude: Sequence[Mapping[str, Sequence[Any]]] = ()
) -> Iterator[dict[str, Any]]:
    """Yield each cell of the product of axes that no exclusion takes out, as a value by parameter.

    Parameters
    ----------
    axes : mapping of str to sequence
        Values by axis, in any order.
    exclude : sequence of mappings
        Each a few axes with values; a cell is out that has one of the values on each of them.

    Examples
    --------
    >>> list(cells_of({"policies": ["fcfs", "easy"], "seeds": [0, 1]}, [{"policies": ["easy"], "seeds": [1]}]))
    [{'policy': 'fcfs', 'seed': 0}, {'policy': 'fcfs', 'seed': 1}, {'policy': 'easy', 'seed': 0}]
    """
    names = [name for name in AXES if name in axes]
    for values in product(*(axes[name] for name in names)):
        cell = dict(zip(names, values, strict=True))
        if not any(all(cell[name] in out for name, out in rule.items()) for rule in exclude):
            yield {AXES[name]: value for name, value in cell.items()}
