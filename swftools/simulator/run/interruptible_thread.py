# SPDX-License-Identifier: BSD-3-Clause
"""Compiled work in a thread of its own, where no signal reaches it.

Python handles signals in its main thread, whatever that is doing: also between numba's steps of handing functions and
Generators to what is compiled, where the exception that a handler raises is lost, becomes another, or ends the process.
A thread beside the main one is not interrupted. The main one meanwhile waits, hears Ctrl-C at once, asks the work to
stop, and raises when it has stopped.
"""

from __future__ import annotations

import _thread
import contextvars
import time
from collections.abc import Callable

PAUSE = 0.1
"""Seconds that work goes on before it is asked to stop, where it shall stop from time to time."""

ASKING = 0.005
"""Seconds between two askings: what is worked on writes where it is asked, too, so that an asking may be lost."""

PATIENCE = 0.5
"""Seconds that an interrupt waits for the work to stop; then the work is left alone, and the interrupt raised."""


def run_aside(work: Callable[[], None], stop: Callable[[], None], *, pauses: bool, leave: Callable[[], None]) -> None:
    """Run work in another thread to its end, and raise what it raises.

    Parameters
    ----------
    work : callable
        What is run.
    stop : callable
        Asks the work to end soon; called repeatedly until it has ended.
    pauses : bool
        Ask it so after ``PAUSE`` seconds; else only where an interrupt comes.
    leave : callable
        Called where an interrupt came and the work did not end within ``PATIENCE`` seconds: it goes on by itself then.
    """
    errors: list[BaseException] = []
    over = _thread.allocate_lock()
    ended = False

    def run() -> None:
        nonlocal ended
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (all of it is raised again below)
            errors.append(error)
        finally:
            ended = True
            over.release()

    over.acquire()
    context = contextvars.copy_context()
    try:
        # One call in C: an interrupt comes before or behind it, while threading.Thread is started by steps in Python
        # that one may break, or lose. Nor does such a thread, in a decision without end, keep Python from ending.
        _thread.start_new_thread(context.run, (run,))
        wait = PAUSE
        while not over.acquire(timeout=wait):
            if pauses:
                stop()
                wait = ASKING
    except BaseException:
        end = time.monotonic() + PATIENCE
        while not ended and time.monotonic() < end:
            stop()
            time.sleep(ASKING)
        if not ended:
            leave()
        raise
    if errors:
        try:
            raise errors[0]
        finally:
            errors.clear()  # else error, frames and all that they hold would keep each other
