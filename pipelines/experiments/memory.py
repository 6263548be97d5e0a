# SPDX-License-Identifier: BSD-3-Clause
"""How much memory a worker takes that runs cells of a log, and how many workers fit: from measurements, before any run.

The numbers are those of docs/experiments.md, "Long logs"; tests/benchmark/test_memory.py measures them again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pipelines.logs.find import Log
from pipelines.logs.published import JOBS, read_manifest
from swftools.errors import SwfToolsError
from swftools.formats.multi_file import log_files
from swftools.formats.place import file_of

LIBRARIES = 310_000_000
"""Bytes of a worker that has read nothing: modules, and the shared libraries of numba and pyarrow among them."""

OF_A_JOB = 310
"""Bytes that a worker takes for each job of a log whose cell it simulates and measures, at most."""

OF_UTILITY = 200
"""Bytes a job more where jobs carry utility functions."""

SPARE = 0.1
"""Share of the memory that is left to others."""

TEXT_OF_COMPRESSED = 6
"""Bytes of text in a byte of a compressed log, about: 4 to 8 in logs of the archive."""

_COUNT = re.compile(rb"^;[ \t]*(?:MaxJobs|MaxRecords)[ \t]*:[ \t]*([0-9]{1,12})", re.MULTILINE)
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".z")

_GROUPS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


class LogSize(NamedTuple):
    """A log that cells are of: how many jobs it has, whether that is estimated, and what jobs carry."""

    name: str
    jobs: int
    is_estimated: bool
    has_utility: bool

    @classmethod
    def of(cls, log: Log, augment: str) -> LogSize:
        """Return the size of a log whose jobs carry some augmentations, without reading it.

        By its card, its parameters, its manifest or its header; else estimated from the size of its file.
        """
        told = _jobs_told(log)
        jobs = _jobs_estimated(log) if told is None else told
        return cls(log.name, jobs, told is None, "utility" in augment.split(","))


class MemoryPlan(NamedTuple):
    """What a worker takes for the log that needs most, what there is (None: not known), and how many workers fit."""

    log: LogSize
    a_worker: int
    available: int | None
    fit: int | None

    def told(self, workers: int) -> list[str]:
        """Return it in lines, with a warning if so many workers do not fit."""
        how = ", estimated from its size" if self.log.is_estimated else ""
        told = [f"memory: {_shown(self.a_worker)} a worker, for {self.log.jobs:,} jobs of {self.log.name}{how}"]
        if self.available is None or self.fit is None:
            return [*told, "how much memory this machine has cannot be told"]
        told[0] += f"; {_shown(self.available)} are free here"
        if self.fit >= workers:
            return told
        if self.fit == 0:
            return [
                *told,
                "warning: not one worker fits; take a machine with more, or a part of the log",
            ]
        return [*told, f"warning: {workers} workers do not fit; take --workers {self.fit}"]


def plan_of(logs: Iterable[LogSize]) -> MemoryPlan:
    """Return what a worker needs that may run cells of any of some logs; it keeps one log at a time."""
    sizes = [(_need_of(log), log) for log in logs]
    a_worker, log = max(sizes, key=lambda size: size[0])
    available = free_memory()
    fit = None if available is None else int(available * (1 - SPARE) // a_worker)
    return MemoryPlan(log, a_worker, available, fit)


def _jobs_told(log: Log) -> int | None:
    """Return how many jobs a log says that it has; None where it does not say."""
    if log.card is not None:
        return int(log.card.jobs)
    if log.model is not None:
        return getattr(log.model, "jobs", None)
    if log.version is not None:
        return int(read_manifest(log.version)["tables"][JOBS]["rows"])
    found = _COUNT.findall(_head(log))
    return max(map(int, found)) if found else None


def _jobs_estimated(log: Log) -> int:
    """Return how many jobs a log has, about: by the size of its files, and by the lines that it begins with."""
    try:
        files = [file_of(str(source)) for source in log_files(log.path).sources] if log.path else []
        size = sum(path.stat().st_size for path in files)
    except (SwfToolsError, OSError):
        return 0
    if files and files[0].suffix.lower() in _COMPRESSED:
        size *= TEXT_OF_COMPRESSED
    lines = [line for line in _head(log).split(b"\n")[:-1] if line.strip() and not line.startswith(b";")]
    return int(size / (sum(map(len, lines)) / len(lines) + 1)) if lines else size // 90


def _head(log: Log) -> bytes:
    """Return the text that a log begins with; nothing where there is none to be had."""
    try:
        return log_files(log.path).head(0) if log.path is not None else b""
    except (SwfToolsError, OSError):
        return b""


def _need_of(log: LogSize) -> int:
    return LIBRARIES + log.jobs * (OF_A_JOB + OF_UTILITY * log.has_utility)


def free_memory(meminfo: Path = Path("/proc/meminfo"), groups: Iterable[Path] = _GROUPS) -> int | None:
    """Return the bytes that programs may still take: of the machine, or of what a container or batch job allows.

    None where the system does not say.
    """
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        free = 1024 * int(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        try:
            free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, OSError, ValueError):
            return None
    limits = [limit for path in groups if (limit := _limit_of(path)) is not None]
    return min([free, *limits])


def _limit_of(path: Path) -> int | None:
    """Return the limit that a file of a control group tells; None where it tells none."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # there is none, or it says max
        return None


def _shown(size: int) -> str:
    """Return a size as people write it."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.0f} MB"
