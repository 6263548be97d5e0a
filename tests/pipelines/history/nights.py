# SPDX-License-Identifier: BSD-3-Clause
"""Small inboxes and histories, and nights in this process."""

from __future__ import annotations

import hashlib
import shutil
from functools import cached_property
from pathlib import Path
from typing import Any

from pipelines.history.task import ReevaluateLogs, RunOutcome
from pipelines.store.data_root import DataRoot

JOB = "{number} {submit} {wait} {run} 4 -1 -1 4 {asked} -1 1 {user} 1 -1 {queue} -1 -1 -1\n"
START = 946_684_800
"""2000-01-01, UTC."""
DAY = 86_400
HEADER = f"; MaxProcs: 64\n; UnixStartTime: {START}\n; TimeZoneString: UTC\n"


def job(number: int, submit: float, wait: float = 5, run: float = 600, **told: Any) -> str:
    """Return a line of a log in SWF."""
    told = {"asked": 1200, "user": number % 5, "queue": number % 2, **told}
    return JOB.format(number=number, submit=submit, wait=wait, run=run, **told)


def days(count: int, jobs: int = 12, first: int = 0) -> list[str]:
    """Return the jobs of some days, each a text without header; waits differ from day to day."""
    texts = []
    for day in range(first, first + count):
        numbers = range(day * jobs + 1, (day + 1) * jobs + 1)
        lines = [
            job(n, day * DAY + (n - 1) % jobs * DAY // jobs, wait=n * 37 % 500, run=60 + n * 91 % 7200) for n in numbers
        ]
        texts.append("".join(lines))
    return texts


SETTINGS = """
waits:
  options: {training: 5, cluster_every: 20}
  least_jobs: 10
"""


class Site:
    """An inbox, a data root, and settings under a folder."""

    def __init__(self, folder: Path, settings: str = SETTINGS, name: str = "site", root: str = "") -> None:
        self.folder, self.name = folder, name
        self.inbox, self.root = folder / "inbox", root or str(folder / "data")
        self.inbox.mkdir(parents=True, exist_ok=True)
        self.settings = folder / "reevaluate.yaml"
        if not self.settings.exists():  # of a site that is there already, in another process
            self.settings.write_text(settings)

    def put(self, name: str, text: str | bytes, header: str = HEADER) -> Path:
        """Put a file into the inbox."""
        path = self.inbox / name
        path.write_bytes(text if isinstance(text, bytes) else (header + text).encode())
        return path

    def task(self) -> ReevaluateLogs:
        """Return a task that has looked at nothing yet."""
        ReevaluateLogs.clear_instance_cache()
        return ReevaluateLogs(
            settings=str(self.settings), inbox=str(self.inbox), history=self.name, data_root=self.root
        )

    def night(self) -> RunOutcome:
        """Run once, as luigi does, and return what came of it."""
        task = self.task()
        before = task.published()
        if not task.complete():
            task.run()
        return task.outcome_since(before)

    @cached_property
    def store(self) -> DataRoot:
        """Where it is published."""
        return DataRoot.open(self.root)

    def version(self) -> Path:
        """Return the directory of the latest version."""
        return Path(self.store.path(self.name))

    def hashes(self) -> dict[str, str]:
        """Return the hash of each file of the latest version."""
        top = self.version()
        return {
            path.relative_to(top).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(top.rglob("*"))
            if path.is_file()
        }


def copy_of(site: Site, folder: Path) -> Site:
    """Return a copy of a site."""
    place = folder / "site"
    shutil.copytree(site.folder, place, dirs_exist_ok=True)
    return Site(place)
