# SPDX-License-Identifier: BSD-3-Clause
"""A Dask scheduler and workers as processes of their own, as a site has them, on free ports of this host."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.folders import ROOT


class Cluster:
    """A scheduler, and workers that are processes without a nanny: one that dies stays dead."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        return f"tcp://127.0.0.1:{self.port}"

    def start_scheduler(self) -> None:
        """Start it, and wait until it listens."""
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        self.scheduler = self._start("scheduler", "distributed.cli.dask_scheduler", *options)
        for _ in range(600):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise TimeoutError((self.folder / "scheduler.log").read_text())

    def start_worker(self, site: Path | None = None) -> subprocess.Popen[bytes]:
        """Start one more worker; with what a ``sitecustomize.py`` in a folder does to it."""
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder)]
        worker = self._start(
            f"worker-{len(self.workers)}", "distributed.cli.dask_worker", self.address, *options, site=site
        )
        self.workers.append(worker)
        return worker

    def wait_for_worker(self) -> None:
        """Wait until the scheduler knows the worker that was started last."""
        log = self.folder / f"worker-{len(self.workers) - 1}.log"
        for _ in range(1200):
            if "Registered to" in log.read_text():
                return
            time.sleep(0.05)
        raise TimeoutError(log.read_text())

    def end_workers(self) -> None:
        """Kill all workers."""
        for worker in self.workers:
            _kill(worker)

    def kill_scheduler(self) -> None:
        """Kill the scheduler."""
        if self.scheduler:
            _kill(self.scheduler)

    def _start(self, name: str, module: str, *options: str, site: Path | None = None) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", module, *options],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*([site] if site else []), ROOT]))},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """Start a cluster, and end it."""
    folder.mkdir(exist_ok=True)
    made = Cluster(folder)
    try:
        made.start_scheduler()
        for _ in range(workers):
            made.start_worker()
        yield made
    finally:
        made.end_workers()
        made.kill_scheduler()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()
