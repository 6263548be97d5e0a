# SPDX-License-Identifier: BSD-3-Clause
"""The engine of Dask: cells run by the workers of a scheduler that runs already, on this host or on many.

Scheduler and workers are started by whoever has the machines: ``dask scheduler`` and ``dask worker tcp://HOST:8786
--nworkers N --nthreads 1``. All hosts share the data root and the folder of the asking process.
"""

from __future__ import annotations

import logging
import queue
import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

from pipelines.tasks.engines.batches import LIVES, Batch, CellOutcome, Cells, Report, run_batch
from pipelines.tasks.engines.dask_workers import Workers
from pipelines.tasks.engines.surroundings import Surroundings
from pipelines.tasks.stage_task import StageTask
from swftools.errors import ClusterError, MissingLibraryError
from swftools.output.amounts import counted, duration

try:
    from distributed import Client, Future, KilledWorker, get_worker
except ImportError as error:
    raise MissingLibraryError("clusters need Dask: pip install 'swftools[cluster]'") from error

progress = logging.getLogger("pipelines")

REACHED_WITHIN = 10.0
"""Seconds in which a scheduler must answer."""

BACK_WITHIN = 300.0
"""Seconds that a scheduler may be away while cells run, and that one may have no worker."""

TICK = 1.0
"""Seconds between two looks at whether the scheduler is still there."""


SHORT = 0.1
"""The same where no worker is there yet that runs cells."""

_DASKS = re.compile(r"(distributed|tornado|asyncio)($|\.)")
"""Loggers of Dask, and of what it is made of."""

Answer = tuple[str, Report]
"""A worker's address, and what became of its cells."""


class _Handed(NamedTuple):
    """A batch that is handed out, and to whom."""

    future: Future[Answer]
    numbers: list[int]
    workers: list[str]


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

    def run(self, cells: Sequence[StageTask], tell: Callable[[CellOutcome], None]) -> list[CellOutcome]:
        """Run cells whose output is not there; see ``Engine``."""
        left = Cells(cells, tell)
        patience = REACHED_WITHIN
        with silent_dask():
            while left:
                with self._connected(patience) as client:
                    if told := self._told_of(client):
                        progress.info("%s", told)
                    try:
                        self._feed(client, left)
                    except _AwayError:
                        patience = BACK_WITHIN
                        self._say_away(len(left))
        return left.failed

    def _say_away(self, left: int) -> None:
        """Say that the scheduler is gone, what that means for its workers, and how to start both again."""
        progress.warning(
            "the scheduler %s is gone; %s left. Its workers end by themselves. Start both again: %s. It is waited for, "
            "for %s; what is finished is kept",
            self.address,
            counted(left, "cell"),
            self._start_again(),
            duration(BACK_WITHIN),
        )

    def _start_again(self) -> str:
        """Return how a scheduler and its workers are started."""
        port = self.address.rpartition(":")[2]
        return f"dask scheduler --port {port}; on each host: dask worker {self.address} --nworkers 4 --nthreads 1"

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
                _knock(self._reached(), min(within, REACHED_WITHIN))
                return Client(self._reached(), timeout=min(within, REACHED_WITHIN), set_as_default=False)
            except (OSError, TimeoutError, ValueError) as error:
                if time.monotonic() >= end:
                    cause = " ".join(str(error).split()) or type(error).__name__
                    remedy = "Is 'dask scheduler' running there, and is the port open?"
                    if within == BACK_WITHIN:
                        remedy = f"Start it again, and its workers, which ended with it: {self._start_again()}."
                    raise ClusterError(
                        f"cluster {self.address} cannot be reached: {cause}. {remedy} What was finished is kept"
                    ) from error
                time.sleep(TICK)

    def _reached(self) -> Any:
        """Return what a client connects to."""
        return self.address

    def _check_workers(self, client: Client, data_root: str) -> None:
        """Raise ClusterError if there are no workers, or none of them can run cells."""
        self._wait_for_workers(client)
        with Workers(self.address, data_root) as workers:
            while not workers.fit:
                if not workers.look(client):
                    self._wait_for_workers(client)
                workers.check()
                time.sleep(SHORT)

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
        data_root = getattr(left.cells[0], "data_root", "")
        surroundings = Surroundings.here(data_root)
        running: dict[Any, _Handed] = {}
        heard: queue.SimpleQueue[Future[Answer]] = queue.SimpleQueue()
        looked, lonely = -TICK, time.monotonic()
        with Workers(self.address, data_root, left.cells) as workers:
            try:
                while left:
                    if time.monotonic() - looked >= (TICK if workers.fit else SHORT):
                        _look(workers, client)
                        workers.check()
                        looked = time.monotonic()
                        lonely = looked if workers.fit else lonely
                        self._take_back(running, workers, left)
                        self._watch(left, looked - lonely)
                    while self._has_room(len(running), len(workers.fit), left):
                        if not (numbers := left.take(len(workers.fit))):
                            break
                        if not (able := workers.able(numbers)):  # those that may be are still being looked at
                            left.give_back(numbers)
                            break
                        handed = _hand_out(client, Batch.of(left.cells, numbers), surroundings, able)
                        running[handed.future.key] = handed
                        handed.future.add_done_callback(heard.put)
                    try:
                        future = heard.get(timeout=TICK if workers.fit else SHORT)
                    except queue.Empty:
                        continue
                    if future.key in running:  # else it was taken back
                        alone = len(running) == len(running[future.key].numbers) == 1
                        self._take(running[future.key], workers, left, is_alone=alone)
                        del running[future.key]
            except _AwayError:
                for handed in running.values():
                    left.give_back(handed.numbers)
                raise
            except BaseException:
                client.cancel([handed.future for handed in running.values()], force=True)
                raise

    @staticmethod
    def _has_room(running: int, workers: int, left: Cells) -> bool:
        """Whether another batch is handed out: two a worker; one that may end its worker while no other runs."""
        return running < (min(1, workers) if left.is_of_suspects else 2 * workers)

    @staticmethod
    def _take_back(running: dict[Any, _Handed], workers: Workers, left: Cells) -> None:
        """Take back batches of which no worker is left that may run them: they died, or were set aside."""
        for key, handed in list(running.items()):
            if not set(handed.workers) & set(workers.fit):
                handed.future.cancel()
                alone = len(running) == len(handed.numbers) == 1
                gone = len(set(handed.workers) - workers.aside.keys())
                left.lose(handed.numbers, deaths=min(LIVES, gone) * alone)
                del running[key]

    def _watch(self, left: Cells, lonely: float) -> None:  # noqa: ARG002 (batch systems need the cells)
        """Raise ClusterError if there was no worker for too long."""
        if lonely > BACK_WITHIN:
            raise ClusterError(
                f"cluster {self.address} has had no workers for {duration(BACK_WITHIN)}; what was finished is kept"
            )

    def _take(self, handed: _Handed, workers: Workers, left: Cells, *, is_alone: bool) -> None:
        """Take what became of a batch."""
        future, numbers = handed.future, handed.numbers
        if future.status == "finished":
            try:
                worker, report = future.result(timeout=REACHED_WITHIN)
            except (OSError, TimeoutError) as error:
                raise _AwayError from error
            again = workers.hear(worker, report.told)
            told = [each for each in report.told if each.number not in again]
            if cold := left.hear(replace(report, told=told)):
                progress.info("%s", cold)
            left.give_back(again)
        elif future.status == "error":
            cause = future.exception()
            if isinstance(cause, KilledWorker):
                progress.warning("workers died; %d cells are run again, one at a time", len(numbers))
                left.lose(numbers, deaths=LIVES * is_alone)
            else:
                left.fail(numbers, f"{type(cause).__name__}: {cause}")
        else:
            raise _AwayError


def _knock(address: Any, within: float) -> None:
    """Raise OSError if nobody listens at an address of a host: a client of Dask that finds nobody ends noisily."""
    if isinstance(address, str) and (place := urlsplit(address)).port:
        with socket.create_connection((place.hostname, place.port), within):
            pass


@contextmanager
def silent_dask() -> Iterator[None]:
    """Keep what Dask itself logs off the screen within a with block, unless every step is to be said.

    It logs errors of its own, with tracebacks, where a scheduler or worker is gone, which is told of here in a line.
    """
    if progress.level == logging.DEBUG:
        yield
        return
    # Those that are made meanwhile take the level from these.
    loggers = [logging.getLogger(name) for name in list(logging.root.manager.loggerDict) if _DASKS.match(name)]
    before = [(each, each.level) for each in loggers]
    for each in loggers:
        each.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for each, level in before:
            each.setLevel(level)


def run_on_worker(batch: Batch, surroundings: Surroundings) -> Answer:
    """Run cells on a worker; return its address, and what became of them."""
    return get_worker().address, run_batch(batch, surroundings)


def _hand_out(client: Client, batch: Batch, surroundings: Surroundings, workers: list[str]) -> _Handed:
    """Hand a batch out to some workers, of which Dask chooses one."""
    key = f"cells-{uuid4().hex}"
    future = client.submit(
        run_on_worker, batch, surroundings, key=key, pure=False, workers=workers, allow_other_workers=False
    )
    return _Handed(future, [cell.number for cell in batch.cells], workers)


def _look(workers: Workers, client: Client) -> None:
    """Look at the workers.

    Raises
    ------
    _AwayError
        The scheduler does not say which there are.
    """
    if client.status != "running":
        raise _AwayError
    try:
        workers.look(client)
    except (OSError, TimeoutError, RuntimeError) as error:
        raise _AwayError from error
