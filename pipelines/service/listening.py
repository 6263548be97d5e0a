# SPDX-License-Identifier: BSD-3-Clause
"""Clusters are polled again and again, each by itself: one that does not answer keeps no other waiting."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

from pipelines.service.sensors.commands import calls_end_here
from pipelines.service.sensors.sensor import SensorError
from swftools.errors import StorageError
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


async def listen(listeners: Sequence[Listener]) -> None:
    """Poll all, again and again; what fails is said once, and tried again until it is mended."""
    with calls_end_here():  # what does not answer does not hold up the end
        await asyncio.gather(*(_listen(each) for each in listeners))


async def _listen(each: Listener) -> None:
    """Poll one."""
    is_silent = False
    while True:
        await asyncio.sleep(each.tick)
        try:
            each.learn(*await asyncio.to_thread(each.hear))
            each.settle()
            is_silent = False
        except Exception as error:  # noqa: BLE001 (whatever it is: it is tried again)
            if not is_silent:
                _LOG.error("%s: %s", shown(each.name), shown(_told(error)))
            is_silent = True


def _told(error: Exception) -> str:
    """Return what is wrong, in words."""
    if isinstance(error, StorageError):
        return f"it is tried again: {error}"
    return f"nothing is heard of it: {error if isinstance(error, SensorError) else repr(error)}"
