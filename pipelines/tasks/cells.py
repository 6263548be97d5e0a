# SPDX-License-Identifier: BSD-3-Clause
"""CellsTask: what tasks have in common that run many cells and publish one table of them.

Experiments, comparisons of policies and tables of papers differ in what a cell is and in what is made of all of them.
How cells are run, watched, and told of where they fail is the same, and is here.
"""

from __future__ import annotations

import csv
import io
import logging
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import luigi
from luigi.task import flatten
from tqdm import tqdm

from pipelines.config import work_root
from pipelines.keys import canonical_json
from pipelines.store.runs import FAILED, RUNNING, SUBMITTED, StoredRun, recorded
from pipelines.tasks.engines import CellOutcome, Engine, Submits, find_engine
from pipelines.tasks.one_look import one_look
from pipelines.tasks.publishing import PublishingTask
from pipelines.tasks.stage_task import StageTask
from swftools.errors import ExperimentError, ParameterError, StorageError, SwfToolsError
from swftools.output.amounts import duration
from swftools.output.whole_files import create_file

progress = logging.getLogger("pipelines")


def seeds_of(text: str) -> list[int]:
    """Return the seeds in a text, each once, rising; raise ParameterError where it is no numbers separated by commas.

    Examples
    --------
    >>> seeds_of("2,0,2")
    [0, 2]
    """
    try:
        return sorted({int(word) for word in text.split(",")})
    except ValueError as error:
        raise ParameterError(f"seeds={text!r}: give numbers separated by commas") from error


class CellsTask(PublishingTask):
    """Run many cells, and publish what they measured.

    A cell is a task of its own, with a key of its own: what is finished is not computed again, whoever finished it. A
    subclass says what ``cells`` are, and puts ``cell_stages`` among its ``stages``.
    """

    processes = luigi.IntParameter(
        default=0,
        significant=False,
        description="cells at a time, in processes that stay; 0: each cell is a task that luigi starts",
    )
    cluster = luigi.Parameter(
        default="",
        significant=False,
        description="run cells there: tcp://HOST:PORT of a Dask scheduler, or slurm:FILE.yaml; default: here",
    )
    cell_lines = luigi.Parameter(
        default="", significant=False, description="file to which a line in JSON is added for each cell"
    )

    def check_values(self) -> None:
        """Raise if a parameter is outside its domain, or a library for clusters is missing."""
        super().check_values()
        if self.processes < 0:
            raise ParameterError(f"processes={self.processes} is not a whole number >= 0")
        if self.cell_lines and not Path(self.cell_lines).absolute().parent.is_dir():
            raise ParameterError(f"cell_lines={self.cell_lines!r}: there is no such folder; make it first")
        _ = self.engine

    @property
    def cells(self) -> Sequence[StageTask]:
        """The cells, in the order of the table."""
        raise NotImplementedError

    @property
    def engine(self) -> Engine | None:
        """Where cells are run; None: by luigi, each as a task of its own."""
        return find_engine(self.cluster, self.processes) if self.cluster or self.processes else None

    @property
    def cell_stages(self) -> list[luigi.Task]:
        """What luigi is to see to: the cells; or, where an engine runs them, what several of them read."""
        if self.engine is None:
            return list(self.cells)
        return list({task.task_id: task for cell in self.cells for task in shared_of(cell)}.values())

    def complete(self) -> bool:
        """Whether there is nothing to do."""
        with one_look():
            return super().complete()

    def requires(self) -> list[luigi.Task]:
        """Require the stages, once the cluster has answered; nothing if the version is there.

        Raises
        ------
        ClusterError
            It cannot be reached, or its workers cannot run cells.
        """
        with one_look():
            needed = super().requires()
        if self.cluster and needed:
            _reach(self.cluster, str(self.data_root))
        return needed

    def work(self) -> float:
        """Return the seconds that it takes, about: those of the cells that it runs itself among them."""
        own = super().work()
        if self.engine is None:
            return own
        return own + sum(work_of(cell) for cell in self.cells if not cell.is_done()) / max(1, self.processes)

    def run(self) -> None:
        """Run the cells that are not there, and publish.

        Raises
        ------
        ExperimentError
            Cells failed; all others are finished and kept.
        """
        with one_look():
            is_published = self._is_published()
            run = self._noted() if self.engine is not None and not is_published else None
        with ExitStack() as stack:
            if self.engine is not None and run is not None:
                stack.enter_context(recorded(run))
                self._run_cells(self.engine, run)
            stack.enter_context(one_look())  # anew: a log may have changed while cells ran
            super().run()

    def check_cluster(self) -> None:
        """Raise if jobs cannot be submitted to the batch system that is meant, unless there is nothing to do."""
        if not isinstance(self.engine, Submits):
            return
        try:
            _reach(self.cluster, str(self.data_root))
        except SwfToolsError:
            if not self.complete():
                raise

    def detach(self, words: list[str]) -> StoredRun:
        """Submit a job that runs a command, the one for this task; return what is noted of the run.

        Parameters
        ----------
        words : list of str
            The command, behind the word swftools.

        Raises
        ------
        ParameterError
            The cluster is no batch system.
        """
        engine = self.engine
        if not isinstance(engine, Submits):
            raise ParameterError("--detach goes with --cluster slurm:FILE.yaml, or pbs, lsf, sge: it submits a job")
        run = self._noted(SUBMITTED)
        try:
            number, kind, log = engine.detach(str(self.data_root), words)
        except SwfToolsError as error:
            run.note(FAILED, error=str(error))
            raise
        run.note_job(number, kind, log, shlex.join(["swftools", *words]))
        return run

    def _noted(self, state: str = RUNNING) -> StoredRun:
        """Note a run of the cells, for those who ask how far it is."""
        facts = {
            "subject": self.subject,
            "parameters": self.to_str_params(only_significant=True),
            "cluster": self.cluster,
        }
        with one_look():
            outputs = [cell.output().path for cell in self.cells]
        return StoredRun.begin(work_root(str(self.data_root)), self.data_set_name, facts, outputs, state)

    def _run_cells(self, engine: Engine, run: StoredRun) -> None:
        """Run the cells that are not there."""
        cells = self.cells
        watch = _Watch(self, len(cells), run.plan["before"])
        lines = _Lines(str(self.cell_lines))

        def tell(told: CellOutcome) -> None:
            watch.count()
            run.count(is_failed=bool(told.error))
            lines.add(_row(cells[told.number], told))

        failed = engine.run(cells, tell)
        path = work_root(str(self.data_root)) / "failed" / f"{self.data_set_name}.csv"
        if not failed:
            path.unlink(missing_ok=True)
            return
        try:
            _write_rows(path, [_row(cells[told.number], told) for told in failed])
            listed = f"All that failed, a row each: {path}"
        except StorageError as error:  # a disk that is full is why cells fail
            listed = f"They are not listed: {error}"
        first = cells[failed[0].number].subject
        raise ExperimentError(
            f"{self.subject}: {len(failed)} of {len(cells)} cells failed, the others are kept; the first is {first}: "
            f"{failed[0].error}. {listed}. Mend it, or leave them out, and run again"
        )


class _Watch:
    """Counts cells, and says how many are done, how many a second, and how long the rest takes.

    Parameters
    ----------
    task : CellsTask
        Which says it.
    cells, done : int
        How many there are, and how many of them were there before.
    """

    def __init__(self, task: CellsTask, cells: int, done: int) -> None:
        self._task, self._cells, self._done, self._before = task, cells, done, done
        self._since = time.monotonic()

    def count(self) -> None:
        """Count one more."""
        self._done += 1
        rate = (self._done - self._before) / max(time.monotonic() - self._since, 1e-9)
        left = tqdm.format_interval((self._cells - self._done) / rate)
        each = f"{rate:.1f} a second" if rate >= 1 else f"{duration(1 / rate)} each"
        told = f"{self._done:,} of {self._cells:,} cells, {each}, {left} left"
        self._task.tell(self._done, self._cells, told)


class _Lines:
    """Adds a line of JSON to a file for each cell; where that cannot be, it says so once, and cells go on.

    Parameters
    ----------
    path : str
        The file; empty: there are to be no lines.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def add(self, row: dict[str, Any]) -> None:
        """Add a line."""
        if not self._path:
            return
        try:
            with Path(self._path).open("a", encoding="utf-8") as lines:
                lines.write(canonical_json(row) + "\n")
        except OSError as error:
            progress.warning("cell_lines=%s: %s; no more lines are added", self._path, error.strerror)
            self._path = ""


def work_of(cell: StageTask) -> float:
    """Return the seconds that a cell takes, about, with what is made for it alone."""
    return cell.work() + sum(work_of(task) for task in flatten(cell.requires()) if task.is_of_one_cell)


def shared_of(cell: StageTask) -> Iterator[StageTask]:
    """Yield what a cell reads that others read too."""
    for task in flatten(cell.requires()):
        if task.is_of_one_cell:
            yield from shared_of(task)
        else:
            yield task


@cache
def _reach(cluster: str, data_root: str) -> None:
    """Raise ClusterError if a cluster cannot be reached; asked once, since luigi asks many times what is required."""
    find_engine(cluster, 0).check(data_root)


def _row(cell: StageTask, told: CellOutcome) -> dict[str, Any]:
    """Return a cell, by its parameters, and what became of it."""
    row = {**cell.to_str_params(only_significant=True), "seconds": round(told.seconds, 3), "worker": told.worker}
    return {**row, "error": told.error or None}


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as CSV."""
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with create_file(path) as file:
        file.write(text.getvalue().encode())
