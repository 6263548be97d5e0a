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
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

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
    files: set[Path] = set()
    seen, rest = set(), [function]
    while rest:
        source = rest.pop()
        path = Path(source.__code__.co_filename)
        if source in seen or path.is_relative_to(PACKAGE) or not path.is_file():
            continue
        seen.add(source)
        files.add(path)
        rest += _compiled_in(source.__globals__.values())
    return files


def _compiled_in(values: Iterable[Any]) -> Iterator[Callable[..., Any]]:
    """Yield the sources of the compiled functions among the names of a module."""
    for value in values:
        source = getattr(value, "py_func", None)
        if source is not None and hasattr(source, "__code__"):
            yield source


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
