# SPDX-License-Identifier: BSD-3-Clause
"""What takes longer than an answer may hold up others: it is done beside them, one thing at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pipelines.service.questions import Refusal

MOST_IN_LINE = 8
"""Questions that wait for the one before; more are refused."""

Told = TypeVar("Told")


class Worker:
    """A thread that does one thing after the other."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "swftools-serve")
        self._in_line = 0

    async def do(self, what: Callable[[], Told]) -> Told:
        """Return what a call returns, when its turn has come.

        Raises
        ------
        Refusal
            Too many wait already.
        """
        if self._in_line > MOST_IN_LINE:
            raise Refusal(503, f"{MOST_IN_LINE} such questions wait already: ask again in a minute")
        self._in_line += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, what)
        finally:
            self._in_line -= 1

    def stop(self) -> None:
        """Begin nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)
