# SPDX-License-Identifier: BSD-3-Clause
"""Functions that do one thing for each array of a tuple, written out: numba does not loop over arrays of many types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from swftools.kernel import Kernel, kernel
from swftools.simulator.state.columns import StateColumn


def written(names: Mapping[str, Any], head: str, says: str, lines: Iterable[str]) -> Kernel[..., None]:
    """Return a kernel of a module as it is written by lines of text; it makes no array.

    Parameters
    ----------
    names : mapping
        Of the module: its ``globals()``.
    head : str
        Name and arguments, such as ``take(machine, job)``.
    says : str
        Its docstring.
    lines : iterable of str
        What it does.
    """
    name = head.partition("(")[0]
    text = "\n    ".join([f"def {head}:", f'"""{says}"""', *lines]) + "\n"
    scope = dict(names)
    # The file is the module's: beside it numba's cache is kept, by what the function says.
    exec(compile(text, names["__file__"], "exec"), scope)  # noqa: S102 (text of ours, as namedtuple's)
    made = scope[name]
    made.text = text  # which inspect would not find
    return kernel(allocates=False)(made)


def each_number(column: StateColumn, array: str, line: str) -> list[str]:
    """Return lines that do something for each number that an array has for one job, run or row.

    Parameters
    ----------
    column : StateColumn
        What the array is.
    array : str
        As it is written; if it is optional the lines ask whether it is there.
    line : str
        What is done, with ``{at}`` for the places behind the first: nothing, or ``, i1`` and so on.
    """
    lines = [f"if len({array}) > 0:"] if column.is_optional else []
    at = ""
    for depth in range(1, len(column.further) + 1):
        lines.append("    " * len(lines) + f"for i{depth} in range({array}.shape[{depth}]):")
        at += f", i{depth}"
    return [*lines, "    " * len(lines) + line.format(at=at)]


def empty_value(column: StateColumn) -> str:
    """Return how what stands in an array where nothing is known is written."""
    if column.kind[0] == "f":
        return {"nan": "np.nan", "inf": "np.inf"}.get(str(column.empty), repr(float(column.empty)))
    return repr(int(column.empty))
