# SPDX-License-Identifier: BSD-3-Clause
"""Acts on a data root that break off at each of their changes to the file system in turn: killed, or by a full disk."""

from __future__ import annotations

import builtins
import errno
import io
import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

import pytest

from pipelines.store.data_root import DataRoot

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["pytest", "tests.pipelines.loaded"])

HARMLESS = {"fspath", "_path_normpath", "stat", "lstat", "fstat", "scandir", "listdir", "getpid", "getcwd", "urandom"}
"""Calls of the operating system that change nothing: being killed before one is being killed before the next."""


@contextmanager
def watched(act: Callable[[int], None]) -> Iterator[None]:
    """Act just before each change to the file system, and once behind the last; be told its number, from 1 on.

    The functions are replaced where they are looked up: a profiler would slow down all that is not such a change.
    """
    calls = 0

    def telling(original: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            act(calls)
            return original(*args, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name, function in list(vars(os).items()):
            is_system = isinstance(function, BuiltinFunctionType) and function.__module__ == "posix"
            if is_system and name not in HARMLESS:
                patch.setattr(os, name, telling(function))
        opens = telling(io.open)
        for module in (io, builtins):
            patch.setattr(module, "open", opens)
        yield
    act(calls + 1)


def dying_at(step: int) -> Callable[[int], None]:
    """Return what kills this process when it is told a number."""
    kill = os.kill

    def die(calls: int) -> None:
        if calls == step:
            kill(os.getpid(), signal.SIGKILL)

    return die


def die_at(step: int, act: Callable[[DataRoot], None], place: Path) -> None:
    """Act, in a process that kills itself just before its step-th change to the file system."""
    root = DataRoot.open(place)
    with watched(dying_at(step)):
        act(root)


def killed_at_every_step(act: Callable[[DataRoot], None], base: Path, place: Path) -> Iterator[int]:
    """Yield once for each step at which a process that acts on a copy of a root was killed."""
    for step in range(1, 500):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(base, place, symlinks=True)
        process = PROCESSES.Process(target=die_at, args=(step, act, place))
        process.start()
        process.join()
        if process.exitcode == 0:
            return
        assert -signal.SIGKILL == process.exitcode
        yield step
    pytest.fail("never came to an end")


MKDIR = os.mkdir


class Full:
    """A function of the operating system that finds the disk full at one of its calls that change something."""

    def __init__(self, name: str, step: int) -> None:
        self.original, self.step, self.calls = getattr(os, name), step, 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the original unless it is time to fail."""
        # Removing a directory tree opens directories relative to another; making one that exists is no change.
        if "dir_fd" not in options and not (self.original is MKDIR and Path(args[0]).exists()):
            self.calls += 1
            if self.calls == self.step:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.original(*args, **options)
