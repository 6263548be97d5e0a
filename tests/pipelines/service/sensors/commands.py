# SPDX-License-Identifier: BSD-3-Clause
"""Programs that stand for those of a batch system, and lines as they print them."""

from __future__ import annotations

import stat
from pathlib import Path

from pipelines.service.sensors.sensor import SensorError
from pipelines.service.sensors.slurm import QUEUE
from swftools.live import JobEvent


class Commands:
    """What squeue and sacct print, and what was asked; who is named in ``away`` does not answer."""

    def __init__(self) -> None:
        self.queue: list[str] = []
        self.records: list[str] = []
        self.asked: list[tuple[str, ...]] = []
        self.away: set[str] = set()

    def __call__(self, command: tuple[str, ...]) -> str:
        """Print what there is."""
        self.asked.append(command)
        if command[0] in self.away:
            raise SensorError(f"{command[0]} ended with 1: it is away")
        return "".join(f"{line}\n" for line in (self.queue if command == QUEUE else self.records))

    def spans(self) -> list[tuple[str, ...]]:
        """Return for which times and jobs sacct was asked."""
        return [tuple(word for word in each if word[:4] in ("--st", "--en", "--jo")) for each in self.asked_of("sacct")]

    def asked_of(self, name: str) -> list[tuple[str, ...]]:
        """Return the calls of a command."""
        return [each for each in self.asked if each[0] == name]


def script(path: Path, text: str) -> None:
    """Write a program."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


WAITS = "7|PENDING|batch|ann|4|1:00:00|1000|1000|N/A|"
RUNS = "7|RUNNING|batch|ann|4|1:00:00|1000|1000|1060|"
RECORD = "7|1000|1000|1060|1200|COMPLETED|batch|ann|4|60"
SUBMITTED = JobEvent("submitted", 1000.0, "7@1000", "", 4, 3600.0, {"queue": "batch", "user": "ann"})
STARTED = JobEvent("started", 1060.0, "7@1000")
ENDED = JobEvent("ended", 1200.0, "7@1000", outcome="completed")


def brief(events: list[JobEvent]) -> list[tuple[str, float, str]]:
    """Return kind, time and job of events."""
    return [(event.kind, event.time, event.job) for event in events]
