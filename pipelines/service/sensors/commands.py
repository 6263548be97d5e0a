# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of a batch system: never for longer than a while, counted, and ended with the service."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from pipelines.service.sensors.sensor import Cost, SensorError
from swftools.output.shown_text import shown

SECONDS = 30.0
"""A command that takes longer is ended."""

NICE = 10
"""By how much commands stand back behind the answers of the service, on one core."""

Waited = TypeVar("Waited")

Run = Callable[[tuple[str, ...]], str]
"""Runs a command, and returns what it prints."""


class CommandSettings(BaseModel):
    """How the commands of a batch system are called."""

    model_config = ConfigDict(extra="forbid")

    folder: str = ""
    """Where they are; default: as ``PATH`` says."""
    timeout: Annotated[float, Field(gt=0, le=600)] = SECONDS
    """A command that takes longer is ended, s."""
    records_every: Annotated[float, Field(ge=60, le=3600)] = 300.0
    """Seconds after which records are asked for although nobody is gone."""


class _Calls:
    """Calls that are ended together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._endings: dict[object, Callable[[], object]] = {}
        self._is_over = False

    @contextlib.contextmanager
    def waiting(self, begin: Callable[[], Waited], end: Callable[[Waited], object]) -> Iterator[Waited]:
        """Begin something, and wait for it within this; ``end`` ends it, wherever it is by then."""
        name = object()
        with self._lock:
            if self._is_over:
                raise SensorError("the service ends")
            begun = begin()
            self._endings[name] = partial(end, begun)
        try:
            yield begun
        finally:
            with self._lock:
                del self._endings[name]

    def end(self) -> None:
        """End all, and let none begin any more; who waits is told that there is no answer."""
        with self._lock:
            self._is_over = True
            for each in self._endings.values():
                with contextlib.suppress(OSError):
                    each()


_CALLS = ContextVar("_CALLS", default=_Calls())  # noqa: B039 (those that nobody ends)


@contextlib.contextmanager
def calls_end_here() -> Iterator[None]:
    """At the end of this all calls are ended that were begun within it, also by its tasks and their threads."""
    calls = _Calls()
    token = _CALLS.set(calls)
    try:
        yield
    finally:
        calls.end()
        _CALLS.reset(token)


def ends_with_the_service(
    begin: Callable[[], Waited], end: Callable[[Waited], object]
) -> contextlib.AbstractContextManager[Waited]:
    """Begin something that may be waited for within this, and that ``end`` ends when the service ends.

    Raises
    ------
    SensorError
        The service ends already.
    """
    return _CALLS.get().waiting(begin, end)


def run_command(
    command: tuple[str, ...],
    *,
    environment: Mapping[str, str] | None = None,
    folder: str = "",
    seconds: float | None = None,
    remedy: str = "run it where the commands of the batch system are",
    allowed: tuple[int, ...] = (),
) -> str:
    """Return what a command prints; times are those of UTC.

    Parameters
    ----------
    command : tuple of str
        Its name and its words; nothing of it is read by a shell.
    environment : mapping of str to str, optional
        What is set for it beside what is set here.
    folder : str
        Where it is; default: as ``PATH`` says.
    seconds : float, optional
        A command that takes longer is ended; default: 30 s.
    remedy : str
        What to do where the command is missing.
    allowed : tuple of int
        Exit statuses, beside 0, with which it has answered.

    Raises
    ------
    SensorError
        It is not there, takes too long, is ended, or ends with an error.
    """
    limit = SECONDS if seconds is None else seconds
    words = (os.path.join(folder, command[0]) if folder else command[0], *command[1:])  # noqa: PTH118 (a program's name)
    told = {**os.environ, "TZ": "UTC", "LC_ALL": "C", **(environment or {})}

    def begin() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(  # noqa: S603 (our own words, and ids that the batch system printed)
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=told,
            start_new_session=True,  # so that it is ended with all that it started
        )
        with contextlib.suppress(OSError):  # it is over already
            os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
        return process

    try:
        with ends_with_the_service(begin, _kill) as process:
            try:
                printed, wrong = process.communicate(timeout=limit)
            finally:
                _end(process)
    except subprocess.TimeoutExpired as error:
        raise SensorError(f"{command[0]} did not answer within {limit:.0f} s") from error
    except SensorError:
        raise
    except OSError as error:
        raise SensorError(f"{command[0]} is not there ({error.strerror}): {remedy}") from error
    if process.returncode not in (0, *allowed):
        said = wrong.decode(errors="replace").strip()[:200]
        raise SensorError(f"{command[0]} ended with {process.returncode}: {shown(said)}")
    return printed.decode(errors="replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let nothing of a command stay behind: also what a script started that is over."""
    with contextlib.suppress(OSError):
        _kill(process)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    process.wait()


def counted(run: Run, costs: dict[str, Cost], ticks: Callable[[], float] = time.monotonic) -> Run:
    """Return what runs a command and counts what that costs, by the command's name.

    Parameters
    ----------
    run : callable
        Runs it.
    costs : dict of str to Cost
        Gets what it costs.
    ticks : callable, optional
        Seconds that rise.
    """

    def counting(command: tuple[str, ...]) -> str:
        cost = costs.setdefault(command[0], Cost())
        cost.calls += 1
        begin = ticks()
        try:
            return run(command)
        except SensorError:
            cost.failures += 1
            raise
        finally:
            cost.seconds += ticks() - begin

    return counting
