# SPDX-License-Identifier: BSD-3-Clause
"""The pool: cells run in this process, or by processes of this machine that are forked once and stay."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from pipelines.tasks.augmented import forget_trace
from pipelines.tasks.engines.batches import Batch, CellOutcome, Cells, Report, run_batch
from pipelines.tasks.stage_task import StageTask

progress = logging.getLogger("pipelines")


class Pool:
    """Processes of this machine.

    A worker that dies takes its pool with it: what it and the others had at hand is run by another pool, behind all
    else and a cell at a time, so that it comes out which cell it is.

    Parameters
    ----------
    processes : int
        How many; 1 is this process alone.
    """

    def __init__(self, processes: int) -> None:
        self.processes = processes

    def check(self, data_root: str) -> None:
        """Do nothing: there is nothing that might not be reached."""

    def run(self, cells: Sequence[StageTask], tell: Callable[[CellOutcome], None]) -> list[CellOutcome]:
        """Run cells whose output is not there; see ``Engine``."""
        left = Cells(cells, tell)
        if self.processes == 1:
            while left:
                for number in left.take(1):
                    left.hear(run_batch(Batch.of(cells, [number])))
            forget_trace()
            return left.failed
        while left:
            self._in_pool(left)
        return left.failed

    def _in_pool(self, left: Cells) -> None:
        """Run cells until all are done, or a worker dies, or suspects alone are left.

        Suspects are run one at a time: of several that are at hand nobody knows which it was.
        """
        running: dict[Future[Report], list[int]] = {}
        alone = left.is_of_suspects
        workers = 1 if alone else min(self.processes, len(left))
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            try:
                while True:
                    while len(running) < (1 if alone else 2 * workers) and left.is_of_suspects == alone:
                        numbers = left.take(workers)
                        if not numbers:
                            break
                        running[pool.submit(run_batch, Batch.of(left.cells, numbers))] = numbers
                    if not running:
                        return
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        report = future.result()
                        running.pop(future)
                        if cold := left.hear(report):
                            progress.info("%s", cold)
            except BrokenProcessPool:
                if not alone:
                    progress.warning("a worker died; %d cells are left and are given to others", len(left))
                for numbers in running.values():
                    left.lose(numbers, deaths=int(alone))
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
