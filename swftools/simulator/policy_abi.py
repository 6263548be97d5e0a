# SPDX-License-Identifier: BSD-3-Clause
"""What the engine calls: one shape for every policy, and one for every predictor, whatever arguments they take.

A policy takes ``machine`` and, of the following, what it names among its arguments: ``parameters`` (its parameters by
name), ``memory`` (the tuple of arrays that it asked for) and ``rng`` (a numpy Generator of the run's seed). A predictor
takes ``event``, ``machine`` and ``job``, and the same. The engine hands all of it on in one form, ``Own``; the function
that unpacks it is written here, as text, for each policy, since numba needs the types and numbers of arrays said.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError, PolicyWarning
from swftools.kernel import Kernel, kernel
from swftools.kernel.pointers import Lent, place_of
from swftools.kernel.twins import Twins, reached_from
from swftools.simulator.machine.state import empty_machine, no_requests

OPTIONAL = ("parameters", "memory", "rng")
"""The arguments that a policy or predictor has only if it names them."""

Memory = Any
"""A tuple of one-dimensional arrays, or of such tuples."""


class Own(NamedTuple):
    """What a policy or predictor has of its own: its parameters as numbers, its memory, draws."""

    parameters: npt.NDArray[np.float64]
    memory: Memory
    rng: np.random.Generator


def check_arguments(
    what: str, function: Callable[..., Any], first: Sequence[str], optional: Sequence[str] = OPTIONAL
) -> tuple[str, ...]:
    """Return which of the optional arguments a function takes, in its order.

    Raises
    ------
    ParameterError
        It is no function made by ``def`` or ``lambda``, does not take the arguments that it must, or takes others.
    """
    wanted = f"({', '.join(first)}), and behind that of {', '.join(optional)} what it needs, by these names"
    if not inspect.isfunction(function):
        kind = f"the class {function.__name__}" if isinstance(function, type) else f"of type {type(function).__name__}"
        advice = "without @kernel or njit, for it is compiled with the engine" if hasattr(function, "py_func") else ""
        remedy = advice or f"write a function that takes {wanted}, and what it remembers into a memory="
        raise ParameterError(f"{what} is {kind}, and must be a plain function: {remedy}")
    signature = inspect.signature(function)
    arguments = signature.parameters
    own = tuple(arguments)[len(first) :]
    plain = all(one.kind is one.POSITIONAL_OR_KEYWORD for one in arguments.values())
    if not plain or tuple(arguments)[: len(first)] != tuple(first) or not set(own) <= set(optional):
        bare = [one.replace(annotation=one.empty) for one in arguments.values()]
        taken = signature.replace(parameters=bare, return_annotation=signature.empty)
        raise ParameterError(
            f"{what} takes {taken}; it must take {wanted}; it looks up everything else, such as now(machine), or "
            "declares it in the class of its parameters"
        )
    return own


def pack(values: Sequence[float], memory: Memory, rng: np.random.Generator) -> Own:
    """Return what a policy has of its own, as the engine hands it on; memory as it is at the beginning.

    Raises
    ------
    ParameterError
        The memory is not of one-dimensional arrays of numbers.
    """
    return Own(np.array(values, np.float64), _owned(memory), rng)


def _owned(memory: Memory) -> Memory:
    """Return a memory of the same kind and content that nobody else has."""
    if isinstance(memory, tuple):
        parts = [_owned(part) for part in memory]
        return type(memory)(*parts) if hasattr(memory, "_fields") else tuple(parts)
    if not isinstance(memory, np.ndarray) or memory.ndim != 1 or memory.dtype.kind not in "iufb":
        raise ParameterError(f"memory {memory!r:.80}: a memory is a tuple of one-dimensional arrays of numbers")
    owned = np.zeros(memory.shape, memory.dtype)
    # A look at zeros that were never used would make the system hand out memory for them.
    if (memory[:1] if memory.strides == (0,) else memory).any():
        owned[:] = memory
    return owned


machine_at = Lent(lambda: empty_machine(no_requests(1), 1, np.zeros(2)))


@dataclass(frozen=True, eq=False)
class MachineKind:
    """A kind of machine, for which policies, predictors and engine are compiled from one text.

    Parameters
    ----------
    name : str
        Its name.
    machine_at : Lent
        Takes such a machine.
    state_at : Lent, optional
        Takes the state of a simulation of one; None of a pool, whose state is the engine's.
    twins : Twins, optional
        What has the verbs of such a machine in the place of a pool's; None of a pool.
    refused : mapping
        Kernels that such a machine lacks, by identity: what each is called.
    """

    name: str
    machine_at: Lent
    state_at: Lent | None = None
    twins: Twins | None = None
    refused: Mapping[int, str] = field(default_factory=dict)

    def __reduce__(self) -> str:
        if self.twins is not None:
            raise TypeError(f"what is made for a machine of {self.name} is not sent to other processes")
        return "POOL"  # by which another process finds it

    def of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function as it is on such a machine."""
        return self.twins.of(function) if self.twins else function

    def kernel_of(self, kernel: Kernel[..., Any]) -> Kernel[..., Any]:
        """Return a kernel as it is on such a machine."""
        found: Kernel[..., Any] = self.twins.standing_for(kernel) if self.twins else kernel
        return found

    def lacking(self, function: Callable[..., Any]) -> tuple[str, ...]:
        """Return what a function, as it is on such a machine, may call that the machine lacks."""
        return _lacking(self, function)


@cache
def _lacking(kind: MachineKind, function: Callable[..., Any]) -> tuple[str, ...]:
    """Return it; to look at all that a function may call takes as long as to simulate thousands of jobs."""
    return tuple(sorted({kind.refused[each] for each in reached_from(function) if each in kind.refused}))


POOL = MachineKind("pool", machine_at)
"""Equal processors."""


def interpreted_entry(function: Callable[..., Any], own: tuple[str, ...], values: Any) -> Callable[..., Any]:
    """Return what an interpreted engine calls; what the function returns is returned."""

    def entry(*arguments: Any) -> Any:
        *given, packed = arguments
        mine = {"parameters": values, "memory": packed.memory, "rng": packed.rng}
        return function(*given, *(mine[name] for name in own))

    return entry


def compiled_entry(
    function: Callable[..., Any],
    first: Sequence[str],
    own: tuple[str, ...],
    values: Any,
    own_at: Lent,
    allocates: bool = True,
    kind: MachineKind = POOL,
) -> Kernel[..., None]:
    """Return what the compiled engine calls: a kernel that unpacks what is the function's own, and calls it.

    It is handed the machine, and what is the function's own, by where they lie, and so takes of them what is used.

    Parameters
    ----------
    function : callable
        A policy, or what a predictor observes with.
    first : sequence of str
        Its arguments before those of its own.
    own : tuple of str
        Which of ``OPTIONAL`` it takes.
    values : named tuple
        Its parameters; their names and types are compiled in.
    own_at : Lent
        Takes an ``Own`` of its kind.
    allocates : bool
        As of a kernel.
    kind : MachineKind
        What machine it is compiled for.
    """
    decide = kernel(allocates=allocates, merges=True)(function)
    names: dict[str, Any] = {"decide": decide, "machine_at": kind.machine_at, "own_at": own_at}
    written = {"parameters": _written_values(values, names), "memory": "own.memory", "rng": "own.rng"}
    arguments = ", ".join([*first, *(written[name] for name in own)])
    taken = "machine, own = machine_at(machine), own_at(own)"
    text = f"def entry({', '.join(first)}, own):\n    {taken}\n    decide({arguments})\n"
    # The file and the name are the function's: by these, and by what the file says, numba's cache is kept.
    names["__name__"] = function.__module__
    exec(compile(text, function.__code__.co_filename, "exec"), names)  # noqa: S102 (text of ours, as namedtuple's)
    entry = names["entry"]
    entry.__module__, entry.__qualname__ = function.__module__, f"{function.__qualname__}.entry"
    return kernel(_signature(len(first) + 1), allocates=False)(entry)


def place_or_none(what: str, entry: Kernel[..., None], *, checked: bool) -> Any:
    """Return where a kernel lies, compiled now at the latest; None, with a warning, where numba cannot compile it."""
    from numba import NumbaError  # noqa: PLC0415 (takes half a second, and is needed from here on)

    try:
        return place_of(entry, checked=checked)
    except NumbaError as error:
        reason = str(error).strip().splitlines()[-1][:200]
        warnings.warn(f"{what} is interpreted, not compiled: {reason}", PolicyWarning, stacklevel=3)
        return None


@cache
def _signature(integers: int) -> Any:
    """Return numba's signature of what takes so many integers, and returns nothing."""
    from numba import types  # noqa: PLC0415 (as above)

    return types.void(*[types.int64] * integers)


def _written_values(values: Any, names: dict[str, Any]) -> str:
    """Return how parameters are made of an array of numbers, by name."""
    if values is None:
        return "None"
    names["Values"] = type(values)
    kinds = {bool: "{} != 0.0", int: "int({})", float: "{}"}
    numbers = [kinds[type(value)].format(f"own.parameters[{i}]") for i, value in enumerate(values)]
    return f"Values({', '.join(numbers)})"
