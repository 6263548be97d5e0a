# SPDX-License-Identifier: BSD-3-Clause
"""Batches of cells: how they are handed out, what a worker does with one, and what it reports.

A worker keeps its kernels and the last trace, and runs one cell after the other. A cell's output appears whole or not
at all, so whatever was finished is there when a run is stopped, and is not made again.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from luigi.task import flatten

from pipelines.tasks.augmented import keep_trace
from pipelines.tasks.one_look import one_look
from pipelines.tasks.stage_task import StageTask, progress
from swftools.errors import StorageError, UnreadableLogError
from swftools.kernel.compiling import WATCH
from swftools.output.amounts import duration

BATCH_SECONDS = 2.0
"""About how long a batch takes: long beside what it takes to hand it out, short beside a person's patience."""

MOST = 64
"""Cells of a batch, at most."""

LIVES = 3
"""How many workers may die while they run the same cell alone."""


class OtherCellError(LookupError):
    """A cell is another one on a host than where it was asked for."""


OF_HOST = (OSError, MemoryError, ImportError, OtherCellError, StorageError, UnreadableLogError)
"""What is raised for a host's sake: a file that is not there or cannot be written, no memory, no library."""


@dataclass(frozen=True)
class CellOutcome:
    """What became of a cell.

    Parameters
    ----------
    number : int
        Place among the cells given.
    seconds : float
        That it took.
    error : str
        Class and message of what it raised; empty where it is done.
    worker : str
        Who ran it: host and process.
    is_of_host : bool
        Whether it failed for its host's sake, so that it may be done elsewhere.
    """

    number: int
    seconds: float
    error: str = ""
    worker: str = ""
    is_of_host: bool = False


class Engine(Protocol):
    """Where cells are run."""

    def check(self, data_root: str) -> None:
        """Raise ClusterError if it cannot be reached, or its workers cannot run cells."""

    def run(self, cells: Sequence[StageTask], tell: Callable[[CellOutcome], None]) -> list[CellOutcome]:
        """Run cells whose output is not there; return those that failed.

        Parameters
        ----------
        cells : sequence of StageTask
            What they share, traces and augmentations, is there.
        tell : callable
            Called once for each of them, with what became of it, as it is known.
        """


@runtime_checkable
class Submits(Engine, Protocol):
    """An engine whose workers are jobs of a batch system."""

    def job_script(self, data_root: str) -> str:
        """Return the script of a job."""

    def detach(self, data_root: str, words: list[str]) -> tuple[str, str, str]:
        """Submit a job that runs a command of swftools; return its number, the kind of batch system, and its log."""


@dataclass(frozen=True)
class SentCell:
    """A cell as it is sent to a worker.

    Parameters
    ----------
    number : int
        Place among the cells given.
    parameters : dict
        Of its task.
    key : str
        Its content key here: with another one the worker would run something else.
    """

    number: int
    parameters: dict[str, Any]
    key: str


@dataclass(frozen=True)
class Batch:
    """Cells that a worker runs one after the other.

    Parameters
    ----------
    kind : type
        Task of the cells.
    cells : sequence of SentCell
        In the order in which they are run.
    """

    kind: type[StageTask]
    cells: list[SentCell]

    @classmethod
    def of(cls, cells: Sequence[StageTask], numbers: Iterable[int]) -> Batch:
        """Return a batch of some of the cells."""
        with one_look():
            sent = [SentCell(number, dict(cells[number].param_kwargs), key_of(cells[number])) for number in numbers]
        return cls(type(cells[0]), sent)


@dataclass(frozen=True)
class Report:
    """What a worker tells of a batch.

    Parameters
    ----------
    told : list of CellOutcome
        A line a cell.
    worker : str
        Host and process.
    kernels : int
        That were compiled meanwhile: none where the cache is warm.
    seconds : float
        That compiling took.
    """

    told: list[CellOutcome] = field(default_factory=list)
    worker: str = ""
    kernels: int = 0
    seconds: float = 0.0


_ONE_BATCH = threading.Lock()
"""A process runs one batch at a time, also where its cluster gives it several threads."""


def run_batch(batch: Batch, surroundings: AbstractContextManager[Any] | None = None) -> Report:
    """Run cells one after the other, whatever becomes of each."""
    worker = f"{socket.gethostname()}:{os.getpid()}"
    told = []
    with _ONE_BATCH, progress.silent(), keep_trace(), one_look():
        kernels, seconds = WATCH.count, WATCH.seconds
        for cell in batch.cells:
            begun = time.perf_counter()
            error, is_of_host = "", False
            try:
                with surroundings or nullcontext():
                    _run_cell(batch.kind, cell)
            except Exception as caught:  # noqa: BLE001 (whatever it is, the other cells go on)
                error, is_of_host = f"{type(caught).__name__}: {caught}", isinstance(caught, OF_HOST)
            told.append(CellOutcome(cell.number, time.perf_counter() - begun, error, worker, is_of_host))
        return Report(told, worker, WATCH.count - kernels, WATCH.seconds - seconds)


def _run_cell(kind: type[StageTask], cell: SentCell) -> None:
    """Run a cell, unless it would be another one here than where it was sent from."""
    task = kind(**cell.parameters)
    if key_of(task) != cell.key:
        raise OtherCellError(
            f"{task.label} is another one on {socket.gethostname()} now than where it was asked for: its log was "
            "changed or removed since, or it, or a policy or rule of one's own, differs there. Let all hosts read the "
            "same files, and start again"
        )
    run_task(task)


def unlike(batch: Batch, surroundings: AbstractContextManager[Any]) -> str:
    """Return why cells are other ones here than where they were asked for, and what to do; empty if they are not."""
    with surroundings, one_look():
        for cell in batch.cells:
            task = batch.kind(**cell.parameters)
            if key_of(task) == cell.key:
                continue
            name, log = getattr(task, "log", task.label), getattr(task, "found", None)
            if log is not None and (problem := log.problem or log.damage):
                return f"cannot open {name}: {problem}"
            return f"has another {name} than is here: let all hosts read the same files"
    return ""


def first_of_each_log(cells: Sequence[StageTask]) -> list[int]:
    """Return the place of the first cell of each log."""
    return sorted({getattr(cell, "log", ""): number for number, cell in reversed([*enumerate(cells)])}.values())


def run_task(task: StageTask) -> None:
    """Run what a task lacks, and then the task."""
    if task.output().exists():
        return
    for needed in flatten(task.requires()):
        run_task(needed)
    task.run()


def key_of(task: StageTask) -> str:
    """Return the content key of a task."""
    key: str = task.key  # type: ignore[attr-defined]
    return key


class Cells:
    """The cells that are left, handed out in batches.

    The first batches are of one cell; later ones take about ``BATCH_SECONDS``, by what cells took so far. A batch whose
    worker died is run again, cell by cell, and behind all others: so one that ends its worker holds up no other.

    Parameters
    ----------
    cells : sequence of StageTask
        All of them.
    tell : callable
        Called with what became of each that was left.
    """

    def __init__(self, cells: Sequence[StageTask], tell: Callable[[CellOutcome], None]) -> None:
        self.cells, self._tell = cells, tell
        with one_look():
            self._left = {number for number, cell in enumerate(cells) if not cell.is_done()}
        self._waiting = deque(sorted(self._left))
        self._alone: deque[int] = deque()
        self._deaths: dict[int, int] = {}
        self._mean: float | None = None
        self._compiled: set[str] = set()
        self.failed: list[CellOutcome] = []

    def __bool__(self) -> bool:
        """Whether cells are left."""
        return bool(self._left)

    def __len__(self) -> int:
        """Return how many cells are left."""
        return len(self._left)

    @property
    def is_of_suspects(self) -> bool:
        """Whether no cell waits but those whose workers died."""
        return not self._waiting and bool(self._alone)

    def take(self, workers: int) -> list[int]:
        """Return the next cells for one of so many workers; none where all are handed out."""
        if not self._waiting:
            return [self._alone.popleft()] if self._alone else []
        by_time = 1 if self._mean is None else int(BATCH_SECONDS / max(self._mean, 1e-6))
        # Towards the end batches are small, lest one worker has many while others have none.
        size = max(1, min(MOST, by_time, len(self._waiting) // (2 * workers)))
        return [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]

    def give_back(self, numbers: Iterable[int]) -> None:
        """Take cells back that nobody runs any more; those that are done all the same are told of."""
        self._waiting.extendleft(reversed(self._not_done(numbers)))

    def lose(self, numbers: Iterable[int], deaths: int = 0) -> None:
        """Take cells back whose worker died: each is run again, alone, until ``LIVES`` workers have died of it.

        Parameters
        ----------
        numbers : iterable of int
            The cells.
        deaths : int
            Of workers that ran nothing else; 0 where it may have been another cell's fault.
        """
        for number in self._not_done(numbers):
            self._deaths[number] = self._deaths.get(number, 0) + deaths
            if self._deaths[number] >= LIVES:
                why = "is there too little memory, or does its job end before it is done (walltime)?"
                died = f"a worker died each of {LIVES} times that it ran this; {why}"
                self._take(CellOutcome(number, 0.0, died))
            else:
                self._alone.appendleft(number)

    def hear(self, report: Report) -> str:
        """Take a report; return what is to be said of its worker, once."""
        for told in report.told:
            if not told.error:
                self._mean = told.seconds if self._mean is None else 0.8 * self._mean + 0.2 * told.seconds
            self._take(told)
        if not report.kernels or report.worker in self._compiled:
            return ""
        self._compiled.add(report.worker)
        return (
            f"worker {report.worker} compiled {report.kernels} kernels in {duration(report.seconds)}: its cache was "
            "cold; "
            "'swftools warm-up' does it ahead, and NUMBA_CACHE_DIR names a folder that hosts may share"
        )

    def fail(self, numbers: Iterable[int], error: str) -> None:
        """Note that cells failed."""
        for number in self._not_done(numbers):
            self._take(CellOutcome(number, 0.0, error))

    def _not_done(self, numbers: Iterable[int]) -> list[int]:
        """Return which cells have no output; the others were finished, though nobody heard of it."""
        left = []
        for number in numbers:
            if number in self._left and self.cells[number].is_done():
                self._take(CellOutcome(number, 0.0))
            elif number in self._left:
                left.append(number)
        return left

    def _take(self, told: CellOutcome) -> None:
        """Note what became of a cell: what is heard first counts."""
        if told.number not in self._left:
            return
        self._left.discard(told.number)
        self.failed.extend([told] if told.error else [])
        self._tell(told)
