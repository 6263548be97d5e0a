# SPDX-License-Identifier: BSD-3-Clause
"""Cells whose time and faults are chosen: what engines do with them is what they do with simulations."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections import Counter
from pathlib import Path

import luigi

from pipelines.keys import content_key
from pipelines.tasks.engines.batches import CellOutcome
from pipelines.tasks.stage_task import StageTask
from pipelines.tasks.targets import DirectoryTarget


class TrialCell(StageTask):
    """Writes two files, and leaves a mark each time that it is run."""

    number = luigi.IntParameter()
    seconds = luigi.FloatParameter(default=0.0)
    fault = luigi.Parameter(default="")

    @property
    def subject(self) -> str:
        """Which it is."""
        return f"trial {self.number}"

    @property
    def key(self) -> str:
        """Content key."""
        return content_key("trial", 1, {"number": self.number})

    def output(self) -> DirectoryTarget:
        """Return the directory of the two files."""
        return self.directory("trials", self.key)

    def run(self) -> None:
        """Do what is asked for."""
        runs = Path(self.data_root) / "runs"
        runs.mkdir(parents=True, exist_ok=True)
        before = len(list(runs.glob(f"{self.number}-*")))
        (runs / f"{self.number}-{before}-{os.getpid()}").touch()
        if self.fault == "kills" or (self.fault == "kills once" and not before):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == "raises":
            raise ValueError("planted")
        if self.fault == "is blind" and os.environ.get("TRIAL_IS_BLIND"):
            raise FileNotFoundError("/data/log.swf")
        if self.fault == "burns":
            end = time.process_time() + self.seconds
            while time.process_time() < end:
                pass
        else:
            time.sleep(self.seconds)
        with self.output().fill() as directory:
            (directory / "one").write_text(str(self.number))
            if self.fault == "fills the disk":
                _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
                resource.setrlimit(resource.RLIMIT_FSIZE, (100, most))
                try:
                    (directory / "two").write_bytes(bytes(1000))
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            (directory / "two").write_text(str(self.number))


def trial_cells(root: Path, count: int, seconds: float = 0.0, **faults: str) -> list[TrialCell]:
    """Return cells, some with faults by ``n3="kills"``."""
    return [
        TrialCell(data_root=str(root), number=number, seconds=seconds, fault=faults.get(f"n{number}", ""))
        for number in range(count)
    ]


def check_all(cells: list[TrialCell], told: list[CellOutcome], failed: dict[int, str]) -> None:
    """Check that each cell was told of once, that those that failed say why, and that no other is missing or half."""
    assert dict.fromkeys(range(len(cells)), 1) == dict(Counter(each.number for each in told))
    assert set(failed) == {each.number for each in told if each.error}
    for each in told:
        if each.error:
            assert failed[each.number] in each.error
    for number, cell in enumerate(cells):
        path = cell.output().path
        if number in failed:
            assert not path.exists()
        else:
            assert {"one": str(number), "two": str(number)} == {each.name: each.read_text() for each in path.iterdir()}
