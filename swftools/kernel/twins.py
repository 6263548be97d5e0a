# SPDX-License-Identifier: BSD-3-Clause
"""The same source with other kernels in the place of some that it calls: how one text serves two kinds of machine.

numba compiles a function by what its names mean. A twin has the code of a function, and names that mean the others; so
have twins of the kernels through which it reaches them. What a function is compiled from says which of the two it is,
so the cache on disk keeps them apart, and the first one's machine code is what it was.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

from swftools.kernel.decorator import Kernel


class Twins:
    """Makes twins of functions and kernels, one of each.

    Parameters
    ----------
    name : str
        Stands behind the names of the twins, so that their compiled code has files of its own.
    exchanged : mapping
        What stands in the place of what: kernels, and tuples that are lent.
    """

    def __init__(self, name: str, exchanged: Mapping[Any, Any]) -> None:
        self.name, self._exchanged = name, {id(old): new for old, new in exchanged.items()}
        self._kept = list(exchanged)  # or another object might come to have its identity
        self._made: dict[int, Any] = {}

    def of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the twin of a function of Python; itself where it reaches nothing that is exchanged."""
        if id(function) in self._made:
            known: Callable[..., Any] = self._made[id(function)]
            return known
        scope, changes = function.__globals__, {}
        for name in sorted(set(_globals_of(function.__code__)) & scope.keys()):
            value = scope[name]
            if (new := self.standing_for(value)) is not value:
                changes[name] = new
        made = function
        if changes:
            given = function.__name__, function.__defaults__, function.__closure__
            made = FunctionType(function.__code__, {**scope, **changes}, *given)
            made.__module__, made.__doc__ = function.__module__, function.__doc__
            made.__qualname__ = f"{function.__qualname__}.{self.name}"
            made.__kwdefaults__ = function.__kwdefaults__
        self._made[id(function)] = made
        self._kept.append(function)
        return made

    def standing_for(self, value: Any) -> Any:
        """Return what a name means in twins that means a value elsewhere."""
        if id(value) in self._exchanged:
            return self._exchanged[id(value)]
        if not isinstance(value, Kernel):
            return value
        if id(value) not in self._made:
            source = self.of(value.py_func)
            same = source is value.py_func
            self._made[id(value)] = value if same else Kernel(source, value.signature, value.allocates, value.merges)
            self._kept.append(value)
        return self._made[id(value)]


def reached_from(function: Callable[..., Any]) -> dict[int, Any]:
    """Return the kernels that a function may call, and those that they may, by identity."""
    found: dict[int, Any] = {}
    rest = [function]
    while rest:
        source = rest.pop()
        for name in set(_globals_of(source.__code__)) & source.__globals__.keys():
            value = source.__globals__[name]
            if isinstance(value, Kernel) and id(value) not in found:
                found[id(value)] = value
                rest.append(value.py_func)
    return found


def _globals_of(code: CodeType) -> Iterator[str]:
    """Yield the names that a function looks up in its module, and those that functions within look up."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(constant)
