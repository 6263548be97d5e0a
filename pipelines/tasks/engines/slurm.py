# SPDX-License-Identifier: BSD-3-Clause
"""The engine of Slurm: workers of Dask that are jobs of a batch system, by dask-jobqueue.

A file says what a job asks for; the scheduler of Dask runs in the asking process, which is started where jobs can be
submitted and that compute nodes can reach. The keys are those of dask-jobqueue, which many sites have written down
already.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipelines.tasks.engines.batches import Told
from pipelines.tasks.engines.dask_cluster import Dask
from pipelines.tasks.stage_task import StageTask
from swftools.errors import ClusterError, MissingLibraryError, ParameterError
from swftools.parameters import did_you_mean
from swftools.parameters.strict_yaml import read_yaml_file

try:
    from dask_jobqueue import SLURMCluster
except ImportError as error:
    raise MissingLibraryError("Slurm clusters need dask-jobqueue: pip install 'swftools[cluster]'") from error

progress = logging.getLogger("pipelines")

NEEDED = {
    "jobs": (int, "a whole number: jobs that are submitted"),
    "cores": (int, "a whole number: cores of a job, each of which is a worker"),
    "memory": (str, "a text such as 16 GB: memory of a job"),
    "walltime": (str, 'a text in quotes, such as "04:00:00": longest time of a job'),
}
"""What a file must say."""

TEXTS = ("queue", "account", "job_mem", "interface", "python", "local_directory", "log_directory", "shebang")
LISTS = ("job_extra_directives", "job_script_prologue", "job_directives_skip", "worker_extra_args")
KEYS = (*NEEDED, *TEXTS, *LISTS, "job_cpu")


class Slurm(Dask):
    """Workers that are jobs of Slurm.

    Parameters
    ----------
    file : str
        Path of a YAML file with the keys ``KEYS``.

    Raises
    ------
    ParameterError
        There is no such file, or it is not as it must be.
    """

    def __init__(self, file: str) -> None:
        super().__init__(f"slurm:{file}")
        self.settings = _read(file)
        self._cluster: SLURMCluster | None = None

    def job_script(self) -> str:
        """Return the script of a job, as it is submitted; its scheduler is one that runs on a free port meanwhile."""
        with self._made(scheduler_options={"dashboard_address": ":0"}) as cluster:
            script: str = cluster.job_script()
        return script

    def check(self, data_root: str) -> None:
        """Do nothing: what workers see is asked once the first of them is there, which may take hours."""

    def run(self, cells: Sequence[StageTask], tell: Callable[[Told], None]) -> list[Told]:
        """Submit jobs, run cells whose output is not there, and end the jobs; see ``Engine``."""
        if all(cell.is_done() for cell in cells):
            return []
        with self._made() as cluster:
            self._cluster = cluster
            cluster.scale(jobs=self.settings["jobs"])
            progress.info("%d jobs are submitted to Slurm; watch them by squeue", self.settings["jobs"])
            with self._connected(10.0) as client:
                self._check_workers(client, str(cells[0].data_root))
            return super().run(cells, tell)

    def _reached(self) -> Any:
        return self._cluster

    def _wait_for_workers(self, client: Any) -> None:
        """Wait for the first worker for as long as Slurm takes."""
        client.wait_for_workers(1)

    def _made(self, **others: Any) -> SLURMCluster:
        """Return the cluster, as a context manager, of which no job is submitted yet."""
        chosen = {name: value for name, value in self.settings.items() if name != "jobs"}
        try:
            # A worker a core, of one thread each: cells of one process would run one after the other.
            return SLURMCluster(processes=chosen["cores"], **chosen, **others)
        except (OSError, RuntimeError, ValueError) as error:
            raise ClusterError(f"{self.address}: Dask's scheduler did not start here: {error}") from error


def _read(file: str) -> dict[str, Any]:
    """Return what a file says of the jobs."""
    _, content = read_yaml_file(file, ParameterError, "give --cluster slurm:FILE the path of a YAML file")
    if not isinstance(content, Mapping):
        raise ParameterError(f"{file}: it must be a mapping with the keys {', '.join(NEEDED)}")
    for key in content:
        if key == "processes":
            raise ParameterError(f"{file}: processes is always as many as cores; leave it out")
        if key not in KEYS:
            raise ParameterError(
                f"{file}: unknown key {key!r}{did_you_mean([str(key)], KEYS)}; there are: {', '.join(KEYS)}"
            )
    for key, (kind, form) in NEEDED.items():
        value = content.get(key)
        if not isinstance(value, kind) or isinstance(value, bool) or value in (0, "") or str(value).startswith("-"):
            raise ParameterError(f"{file}: {key} must be {form}")
    for key in LISTS:
        value = content.get(key, [])
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise ParameterError(f"{file}: {key} is not a list of texts")
    for key in TEXTS:
        if not isinstance(content.get(key, ""), str):
            raise ParameterError(f"{file}: {key} is not a text")
    return dict(content)
