# SPDX-License-Identifier: BSD-3-Clause
"""What the gallery of policies says of each: when to use it, what it promises, which paper it is from."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping

from site_pages.written import one_line
from swftools.simulator.registry import Policy

WHEN = {
    "cirne-berman": "To compare with users who choose widths themselves, each for the earliest end; jobs are moldable.",
    "conservative": "If every user should be told a start at submission that never gets later.",
    "conservative-fixed": "To see what it costs if reservations never move; for comparison only.",
    "conservative-replanned": "As `conservative`, where thousands of jobs wait and it takes too long.",
    "easy": "As the baseline of a study: it is what most machines come closest to, and what most papers compare with.",
    "easy-in-time": "To repeat what simulators and schedulers do that lack EASY's rule of extra processors.",
    "fcfs": "As the lower end of a comparison: what is gained by letting any job go ahead.",
    "fixed": "If short jobs should go first, by class; and as the baseline of `scojo-p` and `cirne-berman`.",
    "genetic": "If users say what a result is worth, and how that falls with time.",
    "genetic-checkpoint": "As `genetic`, on a machine that may stop jobs at their checkpoints.",
    "ljf": "To see how much the order of the queue matters: it is the worst for short jobs.",
    "lxf": "To see a fair order by slowdown without any backfilling.",
    "lxf-backfill": "If slowdowns should be small and nobody should starve.",
    "narrowest": "To see how much the order of the queue matters: it is the worst for wide jobs.",
    "prio-fifo": "If jobs have ranks, as by queue or account, and a higher rank always goes first.",
    "pv-easy": "If nobody of lower priority may delay a job, though run times are predicted wrongly; it stops jobs.",
    "scojo-p": "If jobs are moldable, and the machine chooses widths by the load that it expects.",
    "search": "If you can say what a good schedule is, such as few long waits, and a decision may take milliseconds.",
    "sjf-backfill": "If short jobs should go ahead sooner, while the first keeps its reservation.",
    "sjf": "To see the least mean wait that an order can give without backfilling; long jobs may starve.",
    "weighted-priority": "To come close to the priorities of Maui or Slurm: wait, size and rank, with weights.",
    "widest": "To see how much the order of the queue matters: it is the best for wide jobs.",
}
"""A line for each policy that is shipped."""


def promises(policy: Policy) -> str:
    """Return what ``validate`` holds the schedules of a policy to."""
    always = [f"`{name}`" for name in policy.promises]
    some = [f"`{name}` with {_options(options)}" for name, options in policy.promises_where.items()]
    told = ", ".join([*always, *some])
    return f"**Promises** {told} ([checked](../../validation.md) by `validate`)." if told else "**Promises** nothing."


def paper(policy: Policy) -> str:
    """Return what the module of a policy refers to."""
    module = inspect.cleandoc(sys.modules[policy.decide.__module__].__doc__ or "")
    found = re.search(r"^References\n-+\n(.*?)(?=\n\n|\Z)", module, re.DOTALL | re.MULTILINE)
    return f"**From** {one_line(found[1]).rstrip('.')}." if found else ""


def _options(options: Mapping[str, object]) -> str:
    return ", ".join(f"`{key}={str(value).lower() if value is True else value}`" for key, value in options.items())
