"""Cells of an experiment, run in batches: here, or by a pool of processes that stay.

luigi forks a process for each task; here a worker keeps its kernels and runs one cell after the other. A cell's output
appears whole or not at all, so whatever was finished is there when a run is stopped, and is not made again.
"""

from __future__ import annotations

import logging
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

import luigi
from luigi.task import flatten

from pipelines.tasks.measure import MeasureSchedule

progress = logging.getLogger("pipelines")

BATCH = 16
"""Most cells of a batch."""

LIVES = 3
"""How many times in a row workers may die with no cell finished in between."""


@dataclass(frozen=True)
class Told:
    """What became of a cell.

    Parameters
    ----------
    number : int
        Place among the cells given.
    seconds : float
        That it took.
    error : str
        Class and message of what it raised; empty where it is done.
    """

    number: int
    seconds: float
    error: str = ""


def run_cells(cells: Sequence[MeasureSchedule], workers: int, tell: Callable[[Told], None]) -> list[Told]:
    """Run cells whose output is not there; return those that failed.

    Parameters
    ----------
    cells : sequence of MeasureSchedule
        Their traces and augmentations are there.
    workers : int
        Processes; 1 runs them in this one.
    tell : callable
        Called with what became of each cell, as it is known.

    Notes
    -----
    A worker that dies takes its pool with it: what is left is given to another pool. If that happens ``LIVES`` times
    and no cell is finished in between, each cell that is left fails.
    """
    failed: list[Told] = []
    left = {number: cell for number, cell in enumerate(cells) if not cell.is_done()}

    def take(told: Told) -> None:
        left.pop(told.number)
        failed.extend([told] if told.error else [])
        tell(told)

    if workers == 1:
        for batch in _batches(left, 1):
            for told in _run_batch(batch):
                take(told)
        return failed
    deaths = 0
    while left:
        before = len(left)
        try:
            _in_pool(left, min(workers, len(left)), take)
        except BrokenProcessPool:
            # What a dying worker had finished is there, though nobody heard of it.
            for number in [number for number, cell in left.items() if cell.is_done()]:
                take(Told(number, 0.0))
            deaths = deaths + 1 if len(left) == before else 1
            progress.warning("a worker died; %d cells are left and are given to others", len(left))
            if deaths == LIVES:
                for number in list(left):
                    take(Told(number, 0.0, "a worker died each time; is there too little memory? Use fewer workers"))
    return failed


def _in_pool(left: dict[int, MeasureSchedule], workers: int, take: Callable[[Told], None]) -> None:
    """Run cells by a pool of processes."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        waiting = {pool.submit(_run_batch, batch) for batch in _batches(left, workers)}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    for told in future.result():
                        take(told)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _batches(left: dict[int, MeasureSchedule], workers: int) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    """Yield cells as parameters, so many at a time that each worker gets some batches."""
    size = max(1, min(BATCH, len(left) // (workers * 4)))
    items = [(number, dict(cell.param_kwargs)) for number, cell in left.items()]
    for begin in range(0, len(items), size):
        yield items[begin : begin + size]


def _run_batch(batch: Sequence[tuple[int, dict[str, Any]]]) -> list[Told]:
    """Run cells one after the other, whatever becomes of each."""
    found = []
    for number, parameters in batch:
        begun = time.perf_counter()
        error = ""
        try:
            _run(MeasureSchedule(**parameters))
        except Exception as caught:  # noqa: BLE001 (whatever it is, the other cells go on)
            error = f"{type(caught).__name__}: {caught}"
        found.append(Told(number, time.perf_counter() - begun, error))
    return found


def _run(task: luigi.Task) -> None:
    """Run what a task lacks, and then the task."""
    if task.output().exists():
        return
    for needed in flatten(task.requires()):
        _run(needed)
    task.run()
