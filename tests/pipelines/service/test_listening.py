# SPDX-License-Identifier: BSD-3-Clause
"""Clusters that are polled: each by itself, and each fault is said once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

import pytest

from pipelines.service.listening import begin, listen
from pipelines.service.sensors.sensor import SensorError
from swftools.errors import StorageError, SwfToolsError
from swftools.live import JobEvent


class Follower:
    """Hears nothing, or fails as it is told to."""

    def __init__(self, name: str, faults: Iterable[Exception | None] = (), tick: float = 0.001) -> None:
        self.name, self.tick, self.polls, self._faults = name, tick, 0, iter(faults)
        self.may_write = threading.Event()
        self.may_write.set()

    def hear(self) -> tuple[float, list[JobEvent]]:
        """Fail if it is so far."""
        self.polls += 1
        if (fault := next(self._faults, None)) is not None:
            raise fault
        return 0.0, []

    def learn(self, now: float, heard: Iterable[JobEvent]) -> None:
        """Learn nothing."""

    def settle(self) -> None:
        """Write nothing."""

    def write(self) -> None:
        """Write when it may."""
        assert self.may_write.wait(30)


def heard_until(followers: list[Follower], polls: int) -> None:
    """Poll until the last one was polled so often."""

    async def run() -> None:
        listening = asyncio.create_task(listen(followers))
        while followers[-1].polls < polls:
            await asyncio.sleep(0.001)
        for each in followers:
            each.may_write.set()
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

    asyncio.run(run())


def test_each_fault_is_said_once_and_its_end_too(caplog: pytest.LogCaptureFixture) -> None:
    """Another fault while one lasts is said; the same one again is not."""
    away, full = SensorError("squeue is away"), StorageError("journal: no space")
    heard_until([Follower("blue", [None, full, full, away, away, None, None, away])], 10)
    assert [record.getMessage() for record in caplog.records] == [
        "blue: it is tried again: journal: no space",
        "blue: nothing is heard of it: squeue is away",
        "blue: all is well again",
        "blue: nothing is heard of it: squeue is away",
        "blue: all is well again",
    ]


def test_a_folder_that_hangs_keeps_nobody_waiting() -> None:
    """The other cluster is polled on."""
    slow, quick = Follower("slow"), Follower("quick")
    slow.may_write.clear()
    heard_until([slow, quick], 20)
    assert slow.polls == 1


def test_at_the_start_one_of_several_may_be_away(caplog: pytest.LogCaptureFixture) -> None:
    """It is said, and asked again later; where none answers there is nothing to begin with."""
    away = SensorError("squeue is away")
    good = Follower("good")
    begin([Follower("bad", [away]), good])
    assert (good.polls, [record.getMessage() for record in caplog.records]) == (
        1,
        ["bad: nothing is heard of it: squeue is away"],
    )
    with pytest.raises(SwfToolsError, match="squeue is away"):
        begin([Follower("bad", [away])])
    with pytest.raises(SwfToolsError, match="the other"):
        begin([Follower("bad", [away]), Follower("worse", [SensorError("the other")])])
