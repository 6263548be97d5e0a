"""What a compiled kernel depends on: its own file, and all files that have kernels.

numba keys what it keeps to the file of the function alone, and would go on with old code after a change in a function
that this one calls. Here the key is the text of every file of swftools that imports ``swftools.kernel``, or names it
in a comment. Kernels take functions, constants and named tuples from such files only; ``tests/kernel/test_cache.py``
holds that.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

PACKAGE = Path(__file__).parent.parent
_MARK = b"swftools.kernel"
_BEGIN = time.time()
"""When this process began to import kernels: what changed on disk since may not be what it runs."""


@cache
def kernel_files() -> dict[Path, bytes]:
    """Return the files of swftools that have kernels, in order of name, with the hash of each text."""
    texts = ((path, path.read_bytes()) for path in sorted(PACKAGE.rglob("*.py")))
    return {path: hashlib.sha256(text).digest() for path, text in texts if _MARK in text}


def kernel_modules() -> list[str]:
    """Return the names of the modules that have kernels."""
    parts = (path.relative_to(PACKAGE.parent).with_suffix("").parts for path in kernel_files())
    return [".".join(part[:-1] if part[-1] == "__init__" else part) for part in parts]


@cache
def kernels_stamp() -> str:
    """Return a hash of all files that have kernels; once in a process, which takes some milliseconds."""
    digest = hashlib.sha256()
    for path, text in kernel_files().items():
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode() + text)
    return digest.hexdigest()


def source_stamp(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return what a compiled function is keyed to: all kernels of swftools, and files of others that it uses."""
    return (kernels_stamp(), *(hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(own_files(function))))


def own_files(function: Callable[..., Any]) -> set[Path]:
    """Return the files outside swftools that a function and the compiled functions it may call stand in."""
    paths = (Path(source.__code__.co_filename) for source in _own_sources(function))
    return {path for path in paths if not path.is_relative_to(PACKAGE) and path.is_file()}


def fingerprint(function: Callable[..., Any]) -> str:
    """Return a hash of what a function is compiled from that its file need not say.

    Its constants and names, which tell functions of one name in one file apart, and what its names stand for: numbers,
    arrays, fields of named tuples, which may be of a file that has no kernels. The same of the compiled functions
    outside swftools that it may call.
    """
    parts = []
    for source in _own_sources(function):
        names = _names(source.__code__)
        parts.append((_said(source.__code__), [(name, _meaning(value)) for name, value in _uses(source, names)]))
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _own_sources(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """Return a function and the sources of compiled functions outside swftools that it may call, as they are found."""
    found, rest = [], [function]
    while rest:
        source = rest.pop(0)
        is_ours = Path(source.__code__.co_filename).is_relative_to(PACKAGE)
        if source in found or (is_ours and source is not function):
            continue
        found.append(source)
        values = (value for _, value in _uses(source, _names(source.__code__)))
        rest += [value.py_func for value in values if hasattr(getattr(value, "py_func", None), "__code__")]
    return found


def _names(code: CodeType) -> set[str]:
    """Return the names that a function's code looks up, and that of functions within."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def _uses(function: Callable[..., Any], names: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield what names stand for in a function's module, and in the modules that these are, in order of name."""
    scopes, seen = [function.__globals__], set()
    while scopes:
        scope = scopes.pop()
        for name in sorted(names & scope.keys()):
            value = scope[name]
            yield name, value
            if isinstance(value, ModuleType) and value.__name__ not in seen:
                seen.add(value.__name__)
                scopes.append(vars(value))


def _said(code: CodeType) -> tuple[Any, ...]:
    """Return what a code says beside its bytecode."""
    return (code.co_names, [_meaning(constant) for constant in code.co_consts])


def _meaning(value: Any) -> str:
    """Return in words what is compiled in of a value: the same in each process."""
    if isinstance(value, CodeType):
        return f"code {_said(value)} {value.co_code!r}"
    if isinstance(value, tuple | frozenset):
        parts = [_meaning(part) for part in value]
        return f"{_meaning(type(value))} {parts if isinstance(value, tuple) else sorted(parts)}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        return f"{type(value).__qualname__} {value!r}"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    return type(value).__qualname__


def changed_since_import(function: Callable[..., Any]) -> bool:
    """Whether a file that a function is keyed to changed while this process ran, which may still have the old text."""
    own = Path(function.__code__.co_filename)
    return any(_changed(path) for path in (own, *kernel_files(), *own_files(function)))


def _changed(path: Path) -> bool:
    """Whether a file was changed, or taken away, since this process began; the change time cannot be set back."""
    try:
        return os.stat(path).st_ctime > _BEGIN  # noqa: PTH116 (thirty files for each kernel: Path.stat is slower)
    except OSError:
        return True
