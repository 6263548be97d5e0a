# SPDX-License-Identifier: BSD-3-Clause
"""How good the answers of ``whatif`` are at moments of the kept runs: ``python -m tests.slurm_runs.answers [RUN ...]``.

It prints the table of docs/slurm.md: the starts that were said, learning from what had ended by then in the same run
and with others that come, as is usual, beside those that came. A line for each moment is printed on the way.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from swftools.formats.slurm.queue_snapshot import read_squeue
from swftools.simulator.questions.slurm_starts import slurm_starts
from tests.slurm_runs.agreement import HERE
from tests.slurm_runs.moments import Run

LOOKED_AT = ("plain", "topology", "repeat1", "defaults1", "classic")
"""Runs that were looked at while this was made; of the others only the figures."""

OTHERS = ("nofair", "arrays", "overloaded2", "repeat2", "repeat3", "defaults2")

MINUTES = {"defaults1": (2, 4, 6, 8), "defaults2": (2, 4, 6, 8), "overloaded2": (2, 4, 6, 8)}
"""After the first submission: of runs of eight minutes. Of others, of four, it is the second to the fifth."""

NEVER = 1e6
"""s for what never starts, so that it has a rank."""


def answers(names: list[str], draws: int, *, compiled: bool = True) -> Iterator[pd.DataFrame]:
    """Yield what is said at each moment, and what came: run, minute, job, median, bound, real (s from then on)."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            run = Run(HERE / name, Path(folder))
            for minute in MINUTES.get(name, (2, 3, 4, 5)):
                moment = run.moment(60.0 * minute)
                path = Path(folder) / "now.json"
                path.write_text(json.dumps(moment.document), encoding="utf-8")
                queue = read_squeue(path, whole=True)
                found = slurm_starts(queue, moment.machine, past=moment.past, draws=draws, compiled=compiled).jobs
                real = found["job"].map(moment.start)
                yield found.assign(run=name, minute=minute, real=real)[real.notna()]


def figures(rows: pd.DataFrame) -> dict[str, float]:
    """Return how good answers are, whose ``median`` and ``bound`` stand beside ``real``, s."""
    median, real = rows["median"].replace(np.inf, NEVER), rows["real"]
    return {
        "jobs": len(rows),
        "correlation": round(float(real.corr(median, method="spearman")), 3),
        "error": round(float((median - real).abs().median()), 1),
        "by_median": round(float((real <= rows["median"]).mean()), 3),
        "by_bound": round(float((real <= rows["bound"]).mean()), 3),
        "wait": round(float(real.median()), 1),
        "bound": round(float(rows["bound"].replace(np.inf, NEVER).median()), 1),
    }


def line(name: str, found: dict[str, float]) -> str:
    """Return a line of the table."""
    shares = f"{100 * found['by_median']:.0f} % | {100 * found['by_bound']:.0f} %"
    times = f"{found['wait']:.0f} s | {found['bound']:.0f} s"
    return f"| {name} | {found['jobs']:,} | {found['correlation']:.2f} | {found['error']:.0f} s | {shares} | {times} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", default=[*LOOKED_AT, *OTHERS])
    parser.add_argument("--draws", type=int, default=19)
    given = parser.parse_args()
    found = []
    for rows in answers(given.runs, given.draws):
        found.append(rows)
        name = f"{rows['run'].iloc[0]}, minute {rows['minute'].iloc[0]}" if len(rows) else "nobody waits"
        print(line(name, figures(rows)) if len(rows) else name, file=sys.stderr, flush=True)  # noqa: T201 (a command)
    every = pd.concat(found)
    heads = ("run", "jobs", "rank correlation", "median error", "by the median", "by the bound", "wait", "bound")
    print("|".join(["", *(f" {head} " for head in heads), ""]), "|---" * len(heads) + "|", sep="\n")  # noqa: T201
    for name in given.runs:
        print(line(name, figures(every[every["run"] == name])))  # noqa: T201
    for title, names in (("looked at", LOOKED_AT), ("not looked at", OTHERS), ("all", given.runs)):
        if len(rows := every[every["run"].isin(names)]):
            print(line(title, figures(rows)))  # noqa: T201


if __name__ == "__main__":
    main()
