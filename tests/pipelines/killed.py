"""Acts on a data root that break off at each of their changes to the file system in turn: killed, or by a full disk."""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.store.data_root import DataRoot

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["pipelines.history.task", "pytest", "swftools.rehearsal"])

HARMLESS = {"fspath", "_path_normpath", "stat", "lstat", "fstat", "scandir", "listdir", "getpid", "getcwd", "urandom"}
"""Calls of the operating system that change nothing: being killed before one is being killed before the next."""


def die_at(step: int, act: Callable[[DataRoot], None], place: Path) -> None:
    """Act, in a process that kills itself just before its step-th change to the file system."""
    root = DataRoot.open(place)
    calls = 0

    def count(frame: Any, event: str, function: Any) -> None:
        nonlocal calls
        is_system = event == "c_call" and getattr(function, "__module__", None) in ("posix", "_io")
        if is_system and function.__name__ not in HARMLESS:
            calls += 1
            if calls == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    act(root)


def killed_at_every_step(act: Callable[[DataRoot], None], base: Path, place: Path) -> Iterator[int]:
    """Yield once for each step at which a process that acts on a copy of a root was killed."""
    for step in range(1, 500):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(base, place)
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
