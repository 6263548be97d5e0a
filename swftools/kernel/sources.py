# SPDX-License-Identifier: BSD-3-Clause
"""What a compiled kernel depends on: what it says itself, and what the kernels say that it may call.

numba keys what it keeps to the file of the function alone, and would go on with old code after a change in a function
that this one calls. Here the key is made of the code of the function and of all kernels that its names reach, and of
what else these names stand for: numbers, arrays, fields of named tuples, in whatever file they are defined. A change of
a kernel is a change of those that call it, and of no others; a comment or a docstring changes nothing. What is compiled
from is what this process imported, whatever the files say by now.
"""

from __future__ import annotations

import dis
import hashlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from swftools.kernel import numba_adapter

PACKAGE = Path(__file__).parent.parent
_MARK = b"swftools.kernel"
_LOADS_FIRST = re.compile(
    b"[%s]\0" % bytes(dis.opmap[name] for name in ("LOAD_CONST", "RETURN_CONST") if name in dis.opmap)
)
"""Where bytecode loads the first of its constants; or seems to, in the middle of an instruction."""


@cache
def kernel_modules() -> list[str]:
    """Return the names of the modules of swftools that have kernels: that import ``swftools.kernel``, or name it."""
    adapter = Path(numba_adapter.__file__).parent  # which has none, and may not suit numba
    files = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != adapter)
    found = [path for path in files if _MARK in path.read_bytes()]
    parts = (path.relative_to(PACKAGE.parent).with_suffix("").parts for path in found)
    return [".".join(part[:-1] if part[-1] == "__init__" else part) for part in parts]


@cache
def compiler_stamp() -> str:
    """Return a hash of the files that say how kernels are compiled, once in a process: those of this folder."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def fingerprint(function: Callable[..., Any]) -> str:
    """Return a hash of all that a function is compiled from: its code, and that of the kernels that it may call.

    With each go its constants, and what its names stand for: numbers, arrays, fields of named tuples.
    """
    digest = hashlib.sha256()
    seen, rest = {function}, [function]
    while rest:
        source = rest.pop(0)
        digest.update(_said(source.__code__).encode())
        digest.update(_meaning(source.__defaults__).encode())
        for name, value in _uses(source):
            digest.update(f"{name} {_meaning(value)}\n".encode())
            for called in _sources(value):
                if called not in seen:
                    seen.add(called)
                    rest.append(called)
    return digest.hexdigest()


def _sources(value: Any) -> Iterator[Callable[..., Any]]:
    """Yield the functions that are compiled where a value is used: of a kernel, of an intrinsic, of a tuple of such."""
    if isinstance(value, tuple):
        for part in value:
            yield from _sources(part)
        return
    if source := numba_adapter.source_of(value):
        yield source


def _uses(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield what names stand for in a function's module, and in the modules that these are, in order of name."""
    names = _names(function.__code__)
    scopes, seen = [function.__globals__], set()
    while scopes:
        scope = scopes.pop()
        for name in sorted(names & scope.keys()):
            value = scope[name]
            yield name, value
            if isinstance(value, ModuleType) and value.__name__ not in seen:
                seen.add(value.__name__)
                scopes.append(vars(value))


@cache
def _names(code: CodeType) -> frozenset[str]:
    """Return the names that a function's code looks up, and that of functions within."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(code.co_names).union(*inner)


@cache
def _said(code: CodeType) -> str:
    """Return what a code says: its bytecode, names and constants. A docstring is a constant that is never loaded."""
    constants = code.co_consts
    if constants and isinstance(constants[0], str) and not _LOADS_FIRST.search(code.co_code):
        constants = (None, *constants[1:])
    return f"code {code.co_code!r} {code.co_names} {code.co_varnames} {[_meaning(each) for each in constants]}"


def _meaning(value: Any) -> str:
    """Return in words what is compiled in of a value: the same in each process."""
    if isinstance(value, CodeType):
        return _said(value)
    if isinstance(value, tuple | frozenset):
        parts = [_meaning(part) for part in value]
        return f"{_meaning(type(value))} {parts if isinstance(value, tuple) else sorted(parts)}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        return f"{type(value).__qualname__} {value!r}"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    if hasattr(value, "meaning"):
        return str(value.meaning)
    if hasattr(value, "py_func"):
        options = [str(getattr(value, name, None)) for name in ("allocates", "merges", "apart", "signature")]
        return f"kernel {value.py_func.__module__}.{value.py_func.__qualname__} {options}"
    return type(value).__qualname__
