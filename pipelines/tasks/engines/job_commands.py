# SPDX-License-Identifier: BSD-3-Clause
"""The commands of batch systems: run, and what they say of a failure in one line."""

from __future__ import annotations

import _thread
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

ANSWERS_WITHIN = 60.0
"""Seconds in which a command must answer."""

AGAIN = 0.01
"""Seconds after which an interrupt that Python dropped is raised again."""


_ELSEWHERE = "start where jobs can be submitted, or mend PATH"


class CommandError(Exception):
    """A command of a batch system did not do what it was asked for; the message is what it said, in one line."""


def said_by(command: Sequence[str], given: str = "") -> str:
    """Return what a command printed.

    Ctrl-C does not reach it, and it is waited for: what was submitted is known, and what is to be cancelled is.

    Parameters
    ----------
    command : sequence of str
        Its words.
    given : str
        What it reads: the script of a job.

    Raises
    ------
    CommandError
        It is not there, fails, or does not answer.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 (the words are those of a batch system, no shell reads them)
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise CommandError(f"{command[0]} cannot be run ({error.strerror}): {_ELSEWHERE}") from error
    try:
        printed, said = process.communicate(given, timeout=ANSWERS_WITHIN)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.communicate()
        raise CommandError(f"{command[0]} has not answered for {ANSWERS_WITHIN:.0f} s") from error
    if process.returncode:
        lines = [line.strip().removeprefix(f"{command[0]}: ") for line in f"{said}\n{printed}".splitlines()]
        words = "; ".join(line.removeprefix("error: ") for line in lines if line)
        raise CommandError(f"{command[0]} says: {words or f'status {process.returncode}'}")
    return printed


def check_there(command: str) -> None:
    """Raise CommandError if a command is not there, without running it."""
    if shutil.which(command) is None:
        raise CommandError(f"{command} is not there: {_ELSEWHERE}")


def submit(job: Any, script: str) -> str:
    """Submit a script by the command of a job of dask-jobqueue; return the number of what was submitted.

    Raises
    ------
    CommandError
        It is not taken.
    """
    printed = said_by(job.submit_command.split(), script)
    number = re.search(job.job_id_regexp, printed)
    if number is None:
        raise CommandError(f"{job.submit_command} gave no number of a job: {' '.join(printed.split())}")
    return number["job_id"]


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM do within a with block what Ctrl-C does: a batch system sends it before it ends a job.

    What is raised while Python collects garbage is dropped, and libraries look at collections: then it is raised again.
    """
    before = sys.unraisablehook

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    def dropped(told: Any) -> None:
        if told.exc_type is KeyboardInterrupt:  # here it would be dropped again
            threading.Timer(AGAIN, _thread.interrupt_main, (signal.SIGTERM,)).start()
        else:
            before(told)

    with _handled(interrupt):
        sys.unraisablehook = dropped
        try:
            yield
        finally:
            sys.unraisablehook = before


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back until the end of a with block.

    Raises
    ------
    KeyboardInterrupt
        At the end, if one came.
    """
    came: list[int] = []
    with _handled(lambda number, _: came.append(number), signal.SIGINT):
        yield
    if came:
        raise KeyboardInterrupt


@contextmanager
def _handled(handler: Any, *others: signal.Signals) -> Iterator[None]:
    """Let a function take SIGTERM, and other signals, within a with block; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, *others)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
