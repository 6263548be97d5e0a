# SPDX-License-Identifier: BSD-3-Clause
"""The engine of Dask: cells run by the workers of a scheduler that runs already, on this host or on many.

Scheduler and workers are started by whoever has the machines: ``dask scheduler`` and ``dask worker tcp://HOST:8786
--nworkers N --nthreads 1``. All hosts share the data root and the folder of the asking process.
"""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from pipelines.tasks.engines.batches import LIVES, Batch, Cells, Report, Told, run_batch
from pipelines.tasks.engines.surroundings import Surroundings, differing_libraries, look, mark_in, problem_of
from pipelines.tasks.stage_task import StageTask
from swftools.errors import ClusterError, MissingLibraryError
from swftools.output.amounts import counted, duration

try:
    from distributed import Client, Future, KilledWorker
except ImportError as error:
    raise MissingLibraryError("clusters need Dask: pip install 'swftools[cluster]'") from error

progress = logging.getLogger("pipelines")

REACHED_WITHIN = 10.0
"""Seconds in which a scheduler must answer."""

BACK_WITHIN = 300.0
"""Seconds that a scheduler may be away while cells run, and that one may have no worker."""

TICK = 1.0
"""Seconds between two looks at whether the scheduler is still there."""


class _AwayError(Exception):
    """The scheduler does not answer any more, or is another one that knows nothing of what was asked."""


class Dask:
    """The workers of a Dask scheduler.

    What a worker that dies had at hand is given to others, by Dask itself; a batch that ends several of them is run
    again a cell at a time. A scheduler that goes away may come back within ``BACK_WITHIN`` seconds: what is done is
    there, and the rest is asked for anew.

    Parameters
    ----------
    address : str
        Such as ``tcp://head:8786``.
    """

    def __init__(self, address: str) -> None:
        self.address = address

    def check(self, data_root: str) -> None:
        """Raise ClusterError if the scheduler is not reached, has no workers, or these cannot run cells."""
        with self._connected(REACHED_WITHIN) as client:
            self._check_workers(client, data_root)

    def run(self, cells: Sequence[StageTask], tell: Callable[[Told], None]) -> list[Told]:
        """Run cells whose output is not there; see ``Engine``."""
        left = Cells(cells, tell)
        patience = REACHED_WITHIN
        while left:
            with self._connected(patience) as client:
                progress.info("%s", self._told_of(client))
                try:
                    self._feed(client, left)
                except _AwayError:
                    patience = BACK_WITHIN
                    progress.warning(
                        "the scheduler %s is gone; %d cells are left. Waiting for it for %.0f s",
                        self.address,
                        len(left),
                        BACK_WITHIN,
                    )
        return left.failed

    def _connected(self, within: float) -> Client:
        """Return a client, as a context manager.

        Raises
        ------
        ClusterError
            Nobody answers in so many seconds.
        """
        end = time.monotonic() + within
        while True:
            try:
                return Client(self._reached(), timeout=min(within, REACHED_WITHIN), set_as_default=False)
            except (OSError, TimeoutError, ValueError) as error:
                if time.monotonic() >= end:
                    cause = " ".join(str(error).split())
                    raise ClusterError(
                        f"cluster {self.address} cannot be reached: {cause or type(error).__name__}. Is 'dask "
                        "scheduler' running there, and is the port open? What was finished is kept"
                    ) from error
                time.sleep(TICK)

    def _reached(self) -> Any:
        """Return what a client connects to."""
        return self.address

    def _check_workers(self, client: Client, data_root: str) -> None:
        """Raise ClusterError if there are no workers, or one of them cannot run cells."""
        self._wait_for_workers(client)
        with mark_in(data_root) as mark:
            try:
                sights = client.run(look, Surroundings.here(data_root).folder, str(mark))
            except Exception as error:
                raise ClusterError(
                    f"cluster {self.address}: a worker cannot run swftools ({type(error).__name__}: {error}); install "
                    "the same version there, with the extra [cluster]"
                ) from error
        for worker, sight in sights.items():
            if problem := problem_of(sight, worker):
                raise ClusterError(f"cluster {self.address}: {problem}")
        if others := sorted({line for sight in sights.values() for line in differing_libraries(sight)}):
            progress.warning("workers have other libraries, so results may differ: %s", ", ".join(others))
        if several := [worker for worker, threads in client.nthreads().items() if threads > 1]:
            progress.warning(
                "%d workers have several threads, of which one is used: start them with --nthreads 1", len(several)
            )

    def _wait_for_workers(self, client: Client) -> None:
        """Raise ClusterError if no worker comes in time."""
        try:
            client.wait_for_workers(1, timeout=REACHED_WITHIN)
        except TimeoutError as error:
            raise ClusterError(
                f"cluster {self.address} has no workers; start some: "
                f"dask worker {self.address} --nworkers 4 --nthreads 1"
            ) from error

    def _told_of(self, client: Client) -> str:
        """Return how many workers there are, and where they can be watched."""
        workers = client.nthreads()
        hosts = {address.rpartition(":")[0] for address in workers}
        try:
            link = client.dashboard_link
        except (KeyError, ValueError):
            link = None
        watch = f"watch them at {link}" if link else "no dashboard: bokeh is not installed beside the scheduler"
        return f"cluster {self.address}: {counted(len(workers), 'worker')} on {counted(len(hosts), 'host')}; {watch}"

    def _feed(self, client: Client, left: Cells) -> None:
        """Hand out cells until all are done.

        Raises
        ------
        _AwayError
            The scheduler is gone.
        """
        surroundings = Surroundings.here(getattr(left.cells[0], "data_root", ""))
        running: dict[Any, tuple[Future[Report], list[int]]] = {}
        heard: queue.SimpleQueue[Future[Report]] = queue.SimpleQueue()
        workers, looked, lonely = 1, -TICK, time.monotonic()
        try:
            while left:
                if time.monotonic() - looked >= TICK:
                    found, looked = _workers_of(client), time.monotonic()
                    workers, lonely = max(1, found), looked if found else lonely
                    self._check_lonely(looked - lonely)
                while self._has_room(len(running), workers, left) and (numbers := left.take(workers)):
                    batch = Batch.of(left.cells, numbers)
                    future = client.submit(run_batch, batch, surroundings, key=f"cells-{uuid4().hex}", pure=False)
                    running[future.key] = future, numbers
                    future.add_done_callback(heard.put)
                try:
                    future = heard.get(timeout=TICK)
                except queue.Empty:
                    continue
                _, numbers = running[future.key]
                self._take(future, numbers, left, is_alone=len(running) == len(numbers) == 1)
                del running[future.key]
        except _AwayError:
            for _, numbers in running.values():
                left.give_back(numbers)
            raise
        except BaseException:
            client.cancel([future for future, _ in running.values()], force=True)
            raise

    @staticmethod
    def _has_room(running: int, workers: int, left: Cells) -> bool:
        """Whether another batch is handed out: two a worker; one that may end its worker while no other runs."""
        return running < (1 if left.is_of_suspects else 2 * workers)

    def _check_lonely(self, seconds: float) -> None:
        """Raise ClusterError if there was no worker for too long."""
        if seconds > BACK_WITHIN:
            raise ClusterError(
                f"cluster {self.address} has had no workers for {duration(BACK_WITHIN)}; what was finished is kept"
            )

    def _take(self, future: Future[Report], numbers: list[int], left: Cells, *, is_alone: bool) -> None:
        """Take what became of a batch."""
        if future.status == "finished":
            try:
                report = future.result(timeout=REACHED_WITHIN)
            except (OSError, TimeoutError) as error:
                raise _AwayError from error
            if cold := left.hear(report):
                progress.info("%s", cold)
        elif future.status == "error":
            cause = future.exception()
            if isinstance(cause, KilledWorker):
                progress.warning("workers died; %d cells are run again, one at a time", len(numbers))
                left.lose(numbers, deaths=LIVES * is_alone)
            else:
                left.fail(numbers, f"{type(cause).__name__}: {cause}")
        else:
            raise _AwayError


def _workers_of(client: Client) -> int:
    """Return how many workers there are.

    Raises
    ------
    _AwayError
        The scheduler does not say.
    """
    if client.status != "running":
        raise _AwayError
    try:
        return len(client.nthreads())
    except (OSError, TimeoutError, RuntimeError) as error:
        raise _AwayError from error
