# SPDX-License-Identifier: BSD-3-Clause
"""Engines: where the cells of an experiment are run. In this process, by a pool of processes, or on a Dask cluster.

Whichever it is, a cell is the same task with the same content key, so results are the same bit for bit, and what one
engine has finished no other one does again.
"""

from __future__ import annotations

from pipelines.tasks.engines.batches import CellOutcome, Engine, Submits
from pipelines.tasks.engines.pool import Pool
from swftools.errors import ParameterError

__all__ = ["CellOutcome", "Engine", "Submits", "find_engine"]

BATCH_SYSTEMS = ("slurm:", "pbs:", "lsf:", "sge:")
TRANSPORTS = ("tcp://", "tls://", "ucx://", "ws://", "wss://")


def find_engine(cluster: str, processes: int) -> Engine:
    """Return the engine that is meant.

    Parameters
    ----------
    cluster : str
        Address of a Dask scheduler, such as ``tcp://head:8786``; ``slurm:FILE.yaml``, or pbs, lsf, sge; empty:
        this machine.
    processes : int
        Of a pool on this machine; 1 is this process alone.

    Raises
    ------
    ParameterError
        It is no such text, or the file is not as it must be.
    MissingLibraryError
        A cluster is meant, and Dask is not installed.
    """
    if not cluster:
        return Pool(max(1, processes))
    if cluster.startswith(BATCH_SYSTEMS):
        from pipelines.tasks.engines.batch_system import BatchSystem  # noqa: PLC0415 (an optional library: a second)

        kind, _, file = cluster.partition(":")
        return BatchSystem(file, kind)
    if cluster.startswith(TRANSPORTS):
        from pipelines.tasks.engines.dask_cluster import Dask  # noqa: PLC0415 (an optional library, as above)

        return Dask(cluster)
    raise ParameterError(
        f"cluster={cluster!r}: give the address of a Dask scheduler, such as tcp://head:8786, or slurm:FILE.yaml"
    )
