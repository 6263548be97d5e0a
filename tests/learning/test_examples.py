# SPDX-License-Identifier: BSD-3-Clause
"""The example that trains and compares runs as its page says, and tells of a log that is not there."""

from __future__ import annotations

import sys
from pathlib import Path

from pipelines.logs.find import SHIPPED_LOG
from tests.folders import ROOT
from tests.pipelines.luigi_runs import run

EXAMPLE = str(ROOT / "examples" / "learn_to_schedule.py")


def test_learn_to_schedule(tmp_path: Path) -> None:
    """One batch, on the log that is shipped: a row a policy, beside both baselines and as a whole; weights are kept."""
    options = ["--batches", "1", "--trainings", "1", "--policy", "easy", "--policy", "random", "--save", "."]
    done = run([sys.executable, EXAMPLE, SHIPPED_LOG, "--last", "0.2", *options], tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"{SHIPPED_LOG}: trained on 4,000 jobs, held out 1,000"
    first = [line.split()[0] for line in lines if line]
    assert [first.count(name) for name in ("fcfs", "easy", "random", "trained-1")] == [3, 3, 3, 3]
    assert (tmp_path / "trained-1.npz").exists()
    done = run([sys.executable, EXAMPLE, "nowhere.swf"], tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: log 'nowhere.swf' is neither a file nor a card")
