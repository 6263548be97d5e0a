# SPDX-License-Identifier: BSD-3-Clause
"""The same source with other kernels in the place of some that it calls: how one text serves two kinds of machine.

numba compiles a function by what its names mean. A twin has the code of a function, and names that mean the others; so
have twins of the kernels through which it reaches them. What a function is compiled from says which of the two it is,
so the cache on disk keeps them apart, and the first one's machine code is what it was.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from swftools.kernel.decorator import Kernel

_LOAD_GLOBAL = dis.opmap["LOAD_GLOBAL"]
_CODES = 4096
"""Functions of which it is kept which names they look up; there are a tenth as many kernels."""


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
        self.name, self._exchanged = name, {id(old): new for old, new in exchanged.items() if new is not old}
        self._kept = list(exchanged)  # or another object might come to have its identity
        self._made: dict[int, Any] = {}

    def of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the twin of a function of Python; itself where it reaches nothing that is exchanged."""
        if id(function) in self._exchanged:
            other: Callable[..., Any] = self._exchanged[id(function)]
            return other
        if id(function) in self._made:
            known: Callable[..., Any] = self._made[id(function)]
            return known
        self._kept.append(function)
        if not self._is_touched(function):
            return function
        scope = dict(function.__globals__)
        cells = tuple(CellType() for _ in function.__closure__ or ()) if function.__closure__ else None
        made = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
        made.__module__, made.__doc__ = function.__module__, function.__doc__
        made.__qualname__ = f"{function.__qualname__}.{self.name}"
        made.__kwdefaults__ = function.__kwdefaults__
        self._made[id(function)] = made  # before its names, among which it may be itself
        for name in _globals_of(function.__code__):
            if name in scope:
                scope[name] = self.standing_for(function.__globals__[name], function.__code__)
        for new, old in zip(cells or (), function.__closure__ or (), strict=True):
            new.cell_contents = self.standing_for(old.cell_contents, function.__code__)
        return made

    def _is_touched(self, function: Callable[..., Any]) -> bool:
        """Whether a function reaches what is exchanged; if it does not, what it reaches has no twins either."""
        rest, seen = [function], {id(function)}
        passed = []
        while rest:
            source = rest.pop()
            passed.append(source)
            for value in _named_by(source):
                if id(value) in self._exchanged:
                    return True
                if not isinstance(value, Kernel) or id(value.py_func) in seen:
                    continue
                known = self._made.get(id(value.py_func))
                if known is not None and known is not value.py_func:
                    return True
                seen.add(id(value.py_func))
                if known is None:
                    rest.append(value.py_func)
        self._kept += passed
        self._made.update({id(source): source for source in passed})
        return False

    def standing_for(self, value: Any, code: CodeType | None = None) -> Any:
        """Return what a name means in twins that means a value elsewhere; ``code`` looks it up."""
        if id(value) in self._exchanged:
            return self._exchanged[id(value)]
        if isinstance(value, ModuleType) and code is not None:
            return self._module(value, code)
        if not isinstance(value, Kernel):
            return value
        source = self.of(value.py_func)
        if source is value.py_func:
            return value
        if id(value) not in self._made:
            options = value.signature, value.allocates, value.merges, value.apart
            self._made[id(value)] = type(value)(source, *options)
            self._kept.append(value)
        return self._made[id(value)]

    def _module(self, module: ModuleType, code: CodeType) -> ModuleType:
        """Return a module of which a function looks up kernels that have twins; itself if it looks up none."""
        values = _attributes_of(module, code)
        changes = {name: new for name, value in values.items() if (new := self.standing_for(value)) is not value}
        if not changes:
            return module
        made = ModuleType(module.__name__, module.__doc__)
        vars(made).update(vars(module), **changes)
        return made


def reached_from(function: Callable[..., Any]) -> set[int]:
    """Return the identities of the kernels that a function may call, and those that they may."""
    return {id(value) for value in _reached(function)}


def _reached(function: Callable[..., Any]) -> list[Any]:
    """Return what the names of a function mean, and those of the kernels among them, and so on: each once."""
    found: dict[int, Any] = {}
    rest = [function]
    while rest:
        source = rest.pop()
        for value in _named_by(source):
            if id(value) not in found:
                found[id(value)] = value
                if isinstance(value, Kernel):
                    rest.append(value.py_func)
    return list(found.values())


def _named_by(function: Callable[..., Any]) -> Iterator[Any]:
    """Yield what a function's names mean: in its module, in functions around it, in modules that it names."""
    scope = function.__globals__
    values = [scope[name] for name in _globals_of(function.__code__) if name in scope]
    values += [cell.cell_contents for cell in function.__closure__ or ()]
    for value in values:
        yield value
        if isinstance(value, ModuleType):
            yield from _attributes_of(value, function.__code__).values()


def _attributes_of(module: ModuleType, code: CodeType) -> dict[str, Any]:
    """Return what a function may look up of a module, by name."""
    return {name: vars(module)[name] for name in _looked_up(code) if name in vars(module)}


@lru_cache(_CODES)
def _looked_up(code: CodeType) -> frozenset[str]:
    """Return all names that a function looks up, also of attributes, and those that functions within do."""
    inner = (_looked_up(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(code.co_names).union(*inner)


@lru_cache(_CODES)
def _globals_of(code: CodeType) -> tuple[str, ...]:
    """Return the names that a function looks up in its module, and that functions within do, each once.

    Taking code apart is what takes long where twins are made, and kernels are reached on many ways.
    """
    names, high = set[str](), 0
    for operation, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        index = high | argument
        high = index << 8 if operation == dis.EXTENDED_ARG else 0
        if operation == _LOAD_GLOBAL:
            names.add(code.co_names[index >> 1])  # the lowest bit is of calls
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(_globals_of(constant))
    return tuple(sorted(names))
