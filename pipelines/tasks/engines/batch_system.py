# SPDX-License-Identifier: BSD-3-Clause
"""The engine of batch systems: workers of Dask that are jobs of Slurm, PBS, LSF or Grid Engine.

A file says what a job asks for. The scheduler of Dask runs in the asking process, which is started where jobs can be
submitted and that compute nodes can reach; or is a job itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dask
from distributed import Scheduler, SpecCluster
from distributed.diagnostics.plugin import SchedulerPlugin

from pipelines.tasks.engines.batches import CellOutcome, Cells
from pipelines.tasks.engines.dask_cluster import Dask, silent_dask
from pipelines.tasks.engines.job_commands import CommandError, check_there, interruptible, said_by, submit
from pipelines.tasks.engines.job_file import read_job_file
from pipelines.tasks.engines.jobs import SubmittedJobs
from pipelines.tasks.stage_task import StageTask
from swftools.errors import ClusterError, ParameterError


class BatchSystem(Dask):
    """Workers that are jobs of a batch system.

    Parameters
    ----------
    file : str
        Path of a YAML file that says what a job asks for.
    kind : str
        Batch system where the file names none.

    Raises
    ------
    ParameterError
        There is no such file, or it is not as it must be.
    """

    def __init__(self, file: str, kind: str = "slurm") -> None:
        super().__init__(f"{kind}:{file}")
        self.file = read_job_file(file, kind)
        self._cluster: SpecCluster | None = None
        self._jobs: SubmittedJobs | None = None
        self._joined = _Joined()

    def job_script(self, data_root: str) -> str:
        """Return the script of a job, as it is submitted; nothing is left behind."""
        with _no_new_folders(self.file.logs(data_root)):
            return self.file.script(data_root)

    def check(self, data_root: str) -> None:
        """Raise if jobs cannot be submitted; what workers see is asked when they come, which may take hours.

        Raises
        ------
        ClusterError
            The command that submits is not there.
        ParameterError
            The batch system would not take a job, such as one for a queue that it has not.
        """
        with _no_new_folders(self.file.logs(data_root)):
            submits = self.file.job(data_root).submit_command.split()[0]
        try:
            check_there(submits)
        except CommandError as error:
            raise ClusterError(f"{self.file.path}: {error}") from error
        if not self.file.kind.tests:
            return
        try:
            said_by(self.file.kind.tests, self.job_script(data_root))
        except CommandError as error:
            raise ParameterError(
                f"{self.file.path}: {error}. Mend the file; --dry-run shows the job's script"
            ) from error

    def detach(self, data_root: str, words: list[str]) -> tuple[str, str, str]:
        """Submit a job that runs a command; return its number, the kind of batch system, and where its log will be.

        Parameters
        ----------
        data_root : str
            Whose work folder its log is in.
        words : list of str
            The command, behind the word swftools.

        Raises
        ------
        ClusterError
            It is not taken.
        """
        try:
            number = submit(self.file.job(data_root, cores=1, processes=1), self.file.command_script(data_root, words))
        except CommandError as error:
            raise ClusterError(f"{self.file.path}: {error}") from error
        return number, self.file.kind.section, str(self.file.logs(data_root) / f"*{number}*")

    def run(self, cells: Sequence[StageTask], tell: Callable[[CellOutcome], None]) -> list[CellOutcome]:
        """Submit jobs, run cells whose output is not there, and end the jobs; see ``Engine``."""
        left = sum(not cell.is_done() for cell in cells)
        if not left:
            return []
        with interruptible(), silent_dask(), self._scheduler() as cluster:
            self._cluster = cluster
            self._jobs = SubmittedJobs(self.file, str(cells[0].data_root), cluster.scheduler_address)
            try:
                self._jobs.start(left)
                failed = super().run(cells, tell)
            except BaseException:
                self._jobs.cancel()
                raise
        # Dask's scheduler has gone, and its workers with it: so jobs end as those that did their work.
        self._jobs.end()
        return failed

    def _reached(self) -> Any:
        return self._cluster

    def _told_of(self, client: Any) -> str:
        """Return where the workers, which are still to come, can be watched."""
        told = super()._told_of(client)
        return told.partition("; ")[2]

    def _watch(self, left: Cells, lonely: float) -> None:  # noqa: ARG002 (jobs may wait for longer than workers)
        """Look after the jobs."""
        if left and self._jobs is not None:
            self._jobs.look(list(self._joined.names.values()), len(left))

    @contextmanager
    def _scheduler(self) -> Iterator[SpecCluster]:
        """Run a scheduler of Dask in this process, without workers."""
        interface = self.file.settings.get("interface")
        options = {
            "dashboard_address": ":8787",
            "interface": interface,
            **dask.config.get(f"jobqueue.{self.file.kind.section}.scheduler-options", {}),
            "plugins": [self._joined],
        }
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Port .* is already in use")
            try:
                cluster = SpecCluster(scheduler={"cls": Scheduler, "options": options}, name="swftools")
            except (OSError, RuntimeError, ValueError) as error:
                raise ClusterError(f"{self.file.path}: Dask's scheduler did not start here: {error}") from error
        with cluster:
            yield cluster


@contextmanager
def _no_new_folders(path: Path) -> Iterator[None]:
    """Remove the folders above a path, and itself, that came within a with block: a job makes one for its log."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        yield
    finally:
        for folder in missing:
            with suppress(OSError):  # somebody else put something there
                folder.rmdir()


class _Joined(SchedulerPlugin):
    """Knows the names of the workers that are there, by their addresses."""

    name = "swftools-joined"

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def add_worker(self, scheduler: Scheduler, worker: str, **_: Any) -> None:
        """Note a worker that joins."""
        self.names[worker] = str(scheduler.workers[worker].name)

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: Any) -> None:  # noqa: ARG002 (as Dask calls it)
        """Forget one that leaves."""
        self.names.pop(worker, None)
