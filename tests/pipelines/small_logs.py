# SPDX-License-Identifier: BSD-3-Clause
"""Small logs, and tasks run in this process, for tests of the pipeline."""

from __future__ import annotations

import luigi

JOB = "{number} {time} 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"


def small_log(jobs: int = 3, first: int = 0, header: str = "; MaxProcs: 8\n; UnixStartTime: 956700003\n") -> str:
    """Return the text of a log of some jobs, submitted ten seconds apart from a first second on."""
    return header + "".join(JOB.format(number=n + 1, time=first + 10 * n) for n in range(jobs))


def build(task: luigi.Task) -> bool:
    """Run a task with all that it requires in this process, and return whether all went well."""
    return bool(luigi.build([task], local_scheduler=True, log_level="WARNING"))
