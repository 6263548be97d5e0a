# SPDX-License-Identifier: BSD-3-Clause
"""Clusters are polled again and again, each by itself: one that does not answer keeps no other waiting."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

from pipelines.service.sensors.commands import calls_end_here
from pipelines.service.sensors.sensor import SensorError
from swftools.errors import StorageError, SwfToolsError
from swftools.live import JobEvent
from swftools.output.shown_text import shown

_LOG = logging.getLogger("pipelines.service")


class Listener(Protocol):
    """Hears of a cluster, and learns from it.

    Attributes
    ----------
    name : str
        Of the cluster.
    tick : float
        Seconds between two polls.
    """

    name: str
    tick: float

    def hear(self) -> tuple[float, list[JobEvent]]:
        """Return what time it is, and what happened; this may take a while, and changes nothing that is told."""

    def learn(self, now: float, heard: Iterable[JobEvent]) -> None:
        """Take in what was heard."""

    def settle(self) -> None:
        """Write down what could wait until it was learnt."""

    def write(self) -> None:
        """Write files for others, which may take a while: what is told does not depend on it."""


def begin(listeners: Sequence[Listener]) -> None:
    """Hear of all once; one of several that does not answer is said, and asked again later.

    Raises
    ------
    SwfToolsError
        Not one answers: what the last one said.
    """
    silent = []
    for each in listeners:
        try:
            each.learn(*each.hear())
        except SwfToolsError as error:
            if len(listeners) > 1:
                _LOG.error("%s: %s", shown(each.name), shown(_told(error)))
            silent.append(error)
    if silent and len(silent) == len(listeners):
        raise silent[-1]


async def listen(listeners: Sequence[Listener]) -> None:
    """Poll all, again and again; what fails is said once, and tried again until it is mended."""
    with calls_end_here():  # what does not answer does not hold up the end
        await asyncio.gather(*(_listen(each) for each in listeners))


async def _listen(each: Listener) -> None:
    """Poll one."""
    wrong: str | None = None
    while True:
        await asyncio.sleep(each.tick)
        try:
            each.learn(*await asyncio.to_thread(each.hear))
            each.settle()
            await asyncio.to_thread(each.write)  # a folder that hangs keeps nobody else waiting
            now = None
        except Exception as error:  # noqa: BLE001 (whatever it is: it is tried again)
            now = type(error).__name__
            if now != wrong:
                _LOG.error("%s: %s", shown(each.name), shown(_told(error)))
        if wrong is not None and now is None:
            _LOG.warning("%s: all is well again", shown(each.name))
        wrong = now


def _told(error: Exception) -> str:
    """Return what is wrong, in words."""
    if isinstance(error, StorageError):
        return f"it is tried again: {error}"
    return f"nothing is heard of it: {error if isinstance(error, SensorError) else repr(error)}"
