# SPDX-License-Identifier: BSD-3-Clause
"""What a run of many cells leaves in the work folder, so that one can ask how far it is: its cells, and how it went.

``<work root>/runs/<data set>/`` holds ``plan.json``, written when a run begins, ``progress.json``, written again while
it runs and at its end, and ``job.json`` where the run is a job of a batch system. Which cells are finished is not
written there: their outputs are looked at.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines.names import check_name
from swftools.output.whole_files import create_file

AREA = "runs"
OFTEN = 5.0
"""Seconds between two notes of a run's progress."""

_NUMBERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")
"""Variables in which batch systems tell a job its number."""

SUBMITTED, RUNNING, PUBLISHED, FAILED, INTERRUPTED = "submitted", "running", "published", "failed", "interrupted"


@dataclass
class StoredRun:
    """A run of many cells.

    Parameters
    ----------
    folder : Path
        Where its files are.
    plan : dict
        What is run: ``subject``, ``parameters``, ``cluster``, ``begun`` (s since 1970), ``host``, ``process``, and the
        ``cells``: by folder, the names of their outputs; ``before`` of them were there when it began.
    progress : dict
        ``state``, one of the constants above, ``at`` (s since 1970), ``failed`` cells, and ``error``.
    job : dict
        ``number``, ``kind``, ``log`` and ``command`` of the job that the run is; empty where it is none.
    """

    folder: Path
    plan: dict[str, Any]
    progress: dict[str, Any]
    job: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def begin(
        cls, work: Path, name: str, facts: dict[str, Any], outputs: Iterable[Path], state: str = RUNNING
    ) -> StoredRun:
        """Note a run that begins.

        Parameters
        ----------
        work : Path
            The work root.
        name : str
            Of the data set.
        facts : dict
            Its subject, parameters and cluster.
        outputs : iterable of Path
            Those of its cells.
        state : str
            SUBMITTED where it is a job that has not begun.
        """
        cells: dict[str, list[str]] = {}
        for path in outputs:
            cells.setdefault(str(path.parent.absolute()), []).append(path.name)
        here = {"begun": time.time(), "host": socket.gethostname(), "process": os.getpid()}
        run = cls(work / AREA / check_name(name, "data set"), {**facts, **here, "cells": cells}, {})
        run.folder.mkdir(parents=True, exist_ok=True)
        run.plan["before"], _ = run.count_cells()
        run._write("plan", run.plan)
        if _read(run.folder / "job.json").get("number") not in _own_numbers():
            (run.folder / "job.json").unlink(missing_ok=True)
        run.note(state)
        return run

    @classmethod
    def find(cls, work: Path, name: str) -> StoredRun | None:
        """Return the last run of a data set; None if there is none."""
        folder = work / AREA / check_name(name, "data set")
        plan, progress, job = (_read(folder / f"{part}.json") for part in ("plan", "progress", "job"))
        return cls(folder, plan, progress, job) if plan else None

    @staticmethod
    def names(work: Path) -> list[str]:
        """Return the data sets of which there are runs."""
        return sorted(path.parent.name for path in (work / AREA).glob("*/plan.json"))

    def note(self, state: str, **others: Any) -> None:
        """Note the state, and what else is to be known."""
        self.progress = {"failed": 0, **self.progress, **others, "state": state, "at": time.time()}
        self._write("progress", self.progress)

    def count(self, *, is_failed: bool) -> None:
        """Count a cell."""
        self.progress["failed"] += is_failed
        if time.time() - self.progress["at"] > OFTEN:
            self.note(RUNNING)

    def note_job(self, number: str, kind: str, log: str, command: str) -> None:
        """Note the job that the run is."""
        self.job = {"number": number, "kind": kind, "log": log, "command": command}
        self._write("job", self.job)

    def count_cells(self) -> tuple[int, int]:
        """Return how many cells are finished, and how many there are."""
        total = sum(map(len, self.plan["cells"].values()))
        return sum(_finished(Path(folder), names) for folder, names in self.plan["cells"].items()), total

    def is_gone(self) -> bool:
        """Whether its process was one of this host, and is there no more, though the run did not end."""
        if self.progress["state"] != RUNNING or self.plan["host"] != socket.gethostname():
            return False
        try:
            os.kill(self.plan["process"], 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # it is there, and somebody else's
            return False
        return False

    def _write(self, part: str, content: dict[str, Any]) -> None:
        with create_file(self.folder / f"{part}.json") as file:
            file.write(json.dumps(content, ensure_ascii=False).encode())


@contextmanager
def recorded(run: StoredRun) -> Iterator[StoredRun]:
    """Note how a run ends that is the body of a with block."""
    try:
        yield run
    except KeyboardInterrupt:
        run.note(INTERRUPTED)
        raise
    except Exception as error:
        run.note(FAILED, error=f"{type(error).__name__}: {error}")
        raise
    run.note(PUBLISHED)


def _finished(folder: Path, names: list[str]) -> int:
    """Return how many outputs are there, and hold something."""
    try:
        there = {path.name for path in folder.iterdir()}
    except OSError:
        return 0
    return sum(name in there and any((folder / name).iterdir()) for name in set(names))


def _own_numbers() -> set[str]:
    """Return the number of the job that this process is in, if it is in one."""
    return {os.environ[name].partition(".")[0] for name in _NUMBERS if name in os.environ}


def _read(path: Path) -> dict[str, Any]:
    """Return what a file holds; nothing if it is not there, or is no JSON."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found
