# SPDX-License-Identifier: BSD-3-Clause
"""Which workers of a Dask scheduler run cells: each is looked at when it joins, and one that cannot is set aside.

A cell that fails for its host's sake is tried once more elsewhere. A worker whose cells were so done by others is set
aside too: it would take one cell after the other, since failing is quick.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Self

from distributed import Client, Future

from pipelines.tasks.engines.batches import Batch, CellOutcome, first_of_each_log, unlike
from pipelines.tasks.engines.surroundings import Surroundings, differing_libraries, look, mark_in, problem_of
from pipelines.tasks.stage_task import StageTask
from swftools.errors import ClusterError
from swftools.output.amounts import duration

progress = logging.getLogger("pipelines")

ANSWERS_WITHIN = 60.0
"""Seconds in which a worker must say what it sees; it may have to hash a log."""

MOST_FAILURES = 2
"""Cells that failed on a worker and were done by another: then it is set aside."""


class _Question(NamedTuple):
    """What a worker was asked: what it sees, or else whether a cell of each log is the same one there."""

    is_of_cells: bool
    answer: Future[Any]
    asked: float


class Workers:
    """The workers that run cells, and those that do not; used as a context manager.

    Parameters
    ----------
    cluster : str
        What the cluster is called in messages.
    data_root : str
        Where cells are put.
    cells : sequence of StageTask
        What is to be run; of each log one of them is looked at by each worker.
    """

    def __init__(self, cluster: str, data_root: str, cells: Sequence[StageTask] = ()) -> None:
        self._cluster, self._data_root = cluster, data_root
        self._trial = Batch.of(cells, first_of_each_log(cells)) if cells else None
        self._surroundings = Surroundings.here(data_root)
        self._questions: dict[str, _Question] = {}
        self._failed_on: dict[int, tuple[str, str]] = {}
        self._failures: Counter[str] = Counter()
        self._told: set[str] = set()
        self._stack = ExitStack()
        self._mark = ""
        self.aside: dict[str, str] = {}
        """Why workers get no cells."""
        self.fit: list[str] = []
        """Those that do."""

    def __enter__(self) -> Self:
        """Leave a file where cells are put, which workers are to see."""
        self._mark = str(self._stack.enter_context(mark_in(self._data_root)))
        return self

    def __exit__(self, *_: object) -> None:
        """Remove it."""
        self._stack.close()

    def look(self, client: Client) -> int:
        """Ask the workers that came since the last look, take what others answered; return how many there are."""
        threads = client.nthreads()
        self.aside = {worker: why for worker, why in self.aside.items() if worker in threads}
        self.fit = [worker for worker in self.fit if worker in threads]
        self._questions = {worker: each for worker, each in self._questions.items() if worker in threads}
        for worker in threads:
            if worker not in self._questions and worker not in self.aside and worker not in self.fit:
                self._ask(client, worker, look, self._surroundings.folder, self._mark)
        for worker, question in list(self._questions.items()):
            if question.answer.done():
                self._hear(client, worker, question, threads[worker])
            elif time.monotonic() - question.asked > ANSWERS_WITHIN:
                question.answer.cancel()
                del self._questions[worker]
                self.set_aside(worker, f"worker {worker} has not answered for {duration(ANSWERS_WITHIN)}")
        return len(threads)

    def check(self) -> None:
        """Raise ClusterError if there are workers, and none of them can run cells."""
        if self.aside and not self.fit and not self._questions:
            raise ClusterError(f"cluster {self._cluster}: {'; '.join(sorted(set(self.aside.values())))}")

    def set_aside(self, worker: str, problem: str) -> None:
        """Give no more cells to a worker, and say so."""
        self.aside[worker] = problem
        self.fit = [each for each in self.fit if each != worker]
        progress.warning("%s. It gets no cells", problem)

    def able(self, numbers: Iterable[int]) -> list[str]:
        """Return the workers that may run some cells: others than where one of them failed, if there are any.

        There is none yet where others are still being looked at.
        """
        failed = {self._failed_on[number][0] for number in numbers if number in self._failed_on}
        others = [worker for worker in self.fit if worker not in failed]
        return others if others or self._questions else list(self.fit)

    def hear(self, worker: str, told: Sequence[CellOutcome]) -> list[int]:
        """Take what a worker tells of cells; return those that are to be tried elsewhere."""
        again = []
        for each in told:
            before = self._failed_on.get(each.number)
            if each.is_of_host and before is None and {*self.fit, *self._questions} - {worker}:
                self._failed_on[each.number] = worker, each.error
                again.append(each.number)
            elif not each.error and before is not None and before[0] != worker:
                self._count_failure(*before)
        return again

    def _count_failure(self, worker: str, error: str) -> None:
        """Count a cell that failed on a worker, and was done by another."""
        self._failures[worker] += 1
        if self._failures[worker] >= MOST_FAILURES and worker in self.fit:
            self.set_aside(worker, f"worker {worker} fails where others do not: {error}")

    def _ask(self, client: Client, worker: str, function: Any, *arguments: Any) -> None:
        """Ask a worker, and no other."""
        answer = client.submit(function, *arguments, workers=[worker], allow_other_workers=False, pure=False)
        self._questions[worker] = _Question(function is unlike, answer, time.monotonic())

    def _hear(self, client: Client, worker: str, question: _Question, threads: int) -> None:
        """Take what a worker answered, and ask it about cells once it sees the folders."""
        del self._questions[worker]
        if question.answer.status not in ("finished", "error"):
            return  # cancelled or lost: the worker is asked anew
        if question.answer.status == "error":
            error = question.answer.exception()
            self.set_aside(
                worker,
                f"worker {worker} cannot run swftools ({type(error).__name__}: {error}): install the same version "
                "there, with the extra [cluster]",
            )
            return
        found = question.answer.result()
        if question.is_of_cells:
            problem = f"worker {worker} {found}" if found else ""
        else:
            problem = problem_of(found, worker)
            if not problem:
                self._warn(found, threads)
        if problem:
            self.set_aside(worker, problem)
        elif question.is_of_cells or self._trial is None:
            self.fit.append(worker)
        else:
            self._ask(client, worker, unlike, self._trial, self._surroundings)

    def _warn(self, sight: Any, threads: int) -> None:
        """Say once what is not as it should be, and yet no reason to set workers aside."""
        told = []
        if others := differing_libraries(sight):
            told.append(f"workers have other libraries, so results may differ: {', '.join(others)}")
        if threads > 1:
            told.append("workers have several threads, of which one is used: start them with --nthreads 1")
        for line in told:
            if line not in self._told:
                self._told.add(line)
                progress.warning("%s", line)
