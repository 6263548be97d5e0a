# SPDX-License-Identifier: BSD-3-Clause
"""What the arrays of a simulation are, each said once: in the field of a named tuple, by a ``StateColumn``.

A tuple of arrays is declared as ``start_time: Annotated[FloatArray, Column(REAL, PER_JOB)]``. The type is for people
and type checkers, the column for everything that makes such arrays, copies them, lets them grow, or writes them to a
file.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt

REAL, WHOLE, SHORT, TINY = "f8", "i8", "i4", "i1"
"""Types of numbers: float64, int64, int32, int8."""

Per = Literal[
    "jobs",
    "rows",
    "runs",
    "running",
    "places",
    "held",
    "ends",
    "edges",
    "nodes",
    "parts",
    "table",
    "partitions",
    "heads",
    "planned",
    "asked_places",
    "sets",
    "ranges",
    "outages",
    "changes",
    "returns",
    "allowed",
    "kept",
    "",
]

PER_JOB: Per = "jobs"
PER_ROW: Per = "rows"
PER_RUN: Per = "runs"
PER_RUNNING: Per = "running"
PER_PLACE: Per = "places"
PER_HELD: Per = "held"
PER_END: Per = "ends"
PER_EDGE: Per = "edges"
PER_NODE: Per = "nodes"
PER_PART: Per = "parts"
PER_STATE: Per = ""
"""What an array has elements for: each job, row of the trace, run, job that may run at once, place of the queue, job
that may be held back, end to come, pair of jobs one of which waits for the other, node, part of a job that is on one
node; or for the state as a whole."""

COPY, BLANK, RENUMBER, RESET = "copy", "blank", "renumber", "reset"
"""What a fork does with an element of a job or run that it takes along: copies it, leaves it empty until it is written
by who knows more, gives the job in it its new number; or begins with an empty array."""


class StateColumn(NamedTuple):
    """An array of the state.

    Parameters
    ----------
    kind : str
        Type of its numbers.
    per : str
        What it has elements for.
    times : int
        How many it has for each.
    empty : float
        What stands where nothing is known.
    on_fork : str
        What a fork does with it.
    further : tuple
        Its other dimensions: numbers, or a name of ``StateSizes``.
    is_optional : bool
        Whether it has no elements unless ``StateSizes.optional`` has its name.
    is_given : bool
        Whether it is somebody else's, and is not written to.
    is_rare : bool
        Whether it is empty in most simulations; it takes no memory then where each array is by itself.
    is_ahead : bool
        Whether it is known of jobs before they are submitted; of the others nothing is.
    """

    kind: str
    per: Per
    times: int = 1
    empty: float = 0
    on_fork: str = COPY
    further: tuple[int | str, ...] = ()
    is_optional: bool = False
    is_given: bool = False
    is_rare: bool = False
    is_ahead: bool = False

    def shape(self, sizes: StateSizes, name: str) -> tuple[int, ...]:
        """Return how many elements it has in a state of some sizes."""
        many = self.times * (getattr(sizes, self.per) if self.per else 1)
        if self.is_optional and name not in sizes.optional:
            many = 0
        return many, *(getattr(sizes, each) if isinstance(each, str) else each for each in self.further)


class ColumnView(NamedTuple):
    """Stands in place of a column for an array, or a tuple of them, that shows another part of the state."""

    what: str


class StateSizes(NamedTuple):
    """How much room a state has, by what its columns are per; ``optional`` names the optional columns that it has."""

    jobs: int = 0
    rows: int = 0
    runs: int = 0
    running: int = 0
    places: int = 0
    held: int = 0
    ends: int = 0
    edges: int = 0
    nodes: int = 0
    parts: int = 0
    table: int = 0
    partitions: int = 0
    heads: int = 0
    planned: int = 0
    asked_places: int = 0
    sets: int = 0
    ranges: int = 0
    outages: int = 0
    changes: int = 0
    returns: int = 0
    allowed: int = 0
    kept: int = 0
    points: int = 0
    optional: frozenset[str] = frozenset()


@cache
def fields_of(kind: type) -> Mapping[str, Any]:
    """Return what a named tuple says of its fields: ``StateColumn``, ``ColumnView``, or the class of a tuple in it."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: getattr(hint, "__metadata__", (hint,))[0] for name, hint in hints.items()}


_COLUMNS: dict[type, Mapping[str, StateColumn]] = {}


def columns_of(kind: type) -> Mapping[str, StateColumn]:
    """Return the columns of a tuple of arrays, and of the tuples in it, by paths such as ``machine.queue.job``."""
    if kind not in _COLUMNS:
        found: dict[str, StateColumn] = {}
        for name, what in fields_of(kind).items():
            if isinstance(what, StateColumn):
                found[name] = what
            elif isinstance(what, type):
                found |= {f"{name}.{path}": column for path, column in columns_of(what).items()}
        _COLUMNS[kind] = found
    return _COLUMNS[kind]


def names_per(kind: type, per: str, *, ahead: bool | None = None) -> list[str]:
    """Return the paths of the arrays of a tuple that have elements for the same; perhaps only those known ahead."""
    found = [(path, column) for path, column in columns_of(kind).items() if column.per == per]
    return [path for path, column in found if ahead is None or column.is_ahead == ahead]


def array_at(value: Any, path: str) -> npt.NDArray[Any]:
    """Return the array of a path."""
    for name in path.split("."):
        value = getattr(value, name)
    return np.asarray(value)


def put_at(value: Any, path: str, part: Any) -> Any:
    """Return the same tuple with another array, or tuple, at a path."""
    name, _, rest = path.partition(".")
    return value._replace(**{name: put_at(getattr(value, name), rest, part) if rest else part})


def made_of(kind: type, arrays: Mapping[str, Any], path: str = "") -> Any:
    """Return a tuple of a kind of arrays by path; what shows another part of the state is ``()`` at first."""
    parts: list[Any] = []
    for name, what in fields_of(kind).items():
        if isinstance(what, StateColumn):
            parts.append(arrays[path + name])
        else:
            parts.append(made_of(what, arrays, f"{path}{name}.") if isinstance(what, type) else ())
    return tuple.__new__(kind, parts)


def empty(kind: type, sizes: StateSizes) -> Any:
    """Return a tuple of a kind in which nothing is known; what shows another part of a state is ``()``."""
    shapes = {path: column.shape(sizes, path.rpartition(".")[2]) for path, column in columns_of(kind).items()}
    return made_of(kind, {path: np.full(shapes[path], one.empty, one.kind) for path, one in columns_of(kind).items()})


def sizes_of(value: Any) -> StateSizes:
    """Return how much room a state has; errors are those of ``sizes_in``."""
    return sizes_in(type(value), {path: array_at(value, path) for path in columns_of(type(value))})


def sizes_in(kind: type, arrays: Mapping[str, npt.NDArray[Any]]) -> StateSizes:
    """Return how much room a state has that has some arrays, by path.

    Raises
    ------
    ValueError
        Two of them say different things.
    """
    found: dict[str, int] = {}
    optional = set()
    for path, array in arrays.items():
        column, name = columns_of(kind)[path], path.rpartition(".")[2]
        if column.is_optional:
            if not len(array):
                continue
            optional.add(name)
        if not column.per and len(array) != column.times:
            raise ValueError(f"{path}: a column of {len(array):,} numbers where {column.times:,} are needed")
        wanted: dict[str, float] = {column.per: array.shape[0] / column.times} if column.per else {}
        wanted |= {each: array.shape[1 + i] for i, each in enumerate(column.further) if isinstance(each, str)}
        for size, count in wanted.items():
            if found.setdefault(size, int(count)) != count:
                raise ValueError(f"{path}: a column of {len(array):,} numbers, others have {size}={found[size]:,}")
    return StateSizes(**found, optional=frozenset(optional))
