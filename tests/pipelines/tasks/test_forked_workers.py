# SPDX-License-Identifier: BSD-3-Clause
"""luigi's workers are forked from the process that has everything loaded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.pipelines.luigi_runs import run

TEXT = """
import multiprocessing, os, luigi
multiprocessing.set_start_method("forkserver", force=True)  # the default from Python 3.14 on
import pipelines.tasks

class Note(luigi.Task):
    name = luigi.Parameter()

    def output(self):
        return luigi.LocalTarget(self.name)

    def run(self):
        with self.output().open("w") as file:
            file.write(str(os.getppid()))

assert luigi.build([Note("one"), Note("two")], workers=2, local_scheduler=True, log_level="ERROR")
print(os.getpid(), open("one").read(), open("two").read(), multiprocessing.get_start_method())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere luigi starts its workers as Python does by default")
def test_workers_are_forked_whatever_the_default_is(tmp_path: Path) -> None:
    """Each worker's parent is the run itself, and the default of the program is left alone."""
    ended = run([sys.executable, "-c", TEXT], tmp_path)
    assert ended.returncode == 0, ended.stderr
    parent, one, two, default = ended.stdout.split()
    assert (one, two, default) == (parent, parent, "forkserver")
