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

LONGEST_IN_LINE = 10.0
"""Seconds after which who waits for the ones before is refused: a connection ends a few seconds later."""

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
            Too many wait already, or it has not begun after a while; then it is not done at all.
        """
        if self._in_line > MOST_IN_LINE:
            raise Refusal(503, f"{MOST_IN_LINE} such questions wait already: ask again in a minute")
        self._in_line += 1
        asked = self._thread.submit(what)
        try:
            told = asyncio.wrap_future(asked)
            await asyncio.wait([told], timeout=LONGEST_IN_LINE)
            if asked.cancel():
                raise Refusal(503, f"questions before this one take longer than {LONGEST_IN_LINE:g} s: ask again later")
            return await told
        finally:
            asked.cancel()  # who asked has gone
            self._in_line -= 1

    def stop(self) -> None:
        """Begin nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)
