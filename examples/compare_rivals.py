# SPDX-License-Identifier: BSD-3-Clause
"""Compare QBETS with its rivals on logs, and print the table that stands in docs/wait_predictors.md.

    python examples/compare_rivals.py CTC-SP2-1996-3.1-cln.swf.gz KTH-SP2-1996-2.1-cln.swf.gz ...

Each method replays each log, cleaned, by queue; binomial with all parts of QBETS, trailing with none. Queues and months
count in which 100 jobs or more were told a bound. The last two columns count only the jobs that every method told one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import swftools
from swftools.errors import SwfToolsError
from swftools.qbets import evaluate, replay

METHODS = ("binomial", "trailing", "gradient-boosting", "gradient-boosting-conformal")

NO_PARTS = {"trimming": False, "clustering": False, "availability": False}

HEADING = (
    *("log", "method", "told", "correct", "queues", "months", "RMS ratio", "bound / wait", "seconds"),
    *("same jobs: correct", "RMS ratio"),
)


def share_correct(found: pd.DataFrame, grouping: str) -> str:
    """Return in how many groups of how many a method was correct."""
    rows = found[(found["grouped_by"] == grouping) & (found["predicted"] >= 100)]
    return f"{int(rows['is_correct'].sum())} of {len(rows)}"


def rows_of(path: Path, methods: list[str], quantile: float) -> Iterator[list[str]]:
    """Yield a row of the table for each method."""
    log, _ = swftools.clean(swftools.read_swf(path))
    first = log.with_jobs(log.jobs.head(2000))
    tables, seconds = [], []
    for method in methods:
        options: dict[str, Any] = {"quantile": quantile} | (NO_PARTS if method.startswith("trailing") else {})
        replay(first, method, **options)  # compiles, and imports
        begun = time.perf_counter()
        tables.append(replay(log, method, **options))
        seconds.append(time.perf_counter() - begun)
    by_all = pd.concat([table["wait_bound"].notna() for table in tables], axis=1).all(axis=1)
    every = evaluate(tables, quantile=quantile, compare_with=methods[0])
    same = evaluate(
        [table[by_all] for table in tables], quantile=quantile, compare_with=methods[0], grouped_by=["all"]
    ).set_index("method")
    for number, method in enumerate(methods):
        found = every[every["method"] == method]
        whole = found[found["grouped_by"] == "all"].iloc[0]
        yield [
            *(path.name.split(".swf")[0], f"`{method}`", f"{1 - whole['share_not_predicted']:.1%}"),
            *(f"{whole['correctness']:.3f}", share_correct(found, "queue"), share_correct(found, "month")),
            *(f"{whole['rms_ratio']:.2f}", f"{whole['median_tightness']:.1f}", f"{seconds[number]:.1f}"),
            *(f"{same.loc[method, 'correctness']:.3f}", f"{same.loc[method, 'rms_ratio']:.2f}"),
        ]


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", type=Path, help="paths of logs")
    parser.add_argument(
        "--methods", nargs="+", default=METHODS, help="of which the first is what others are compared with"
    )
    parser.add_argument("--quantile", default=0.95, type=float)
    given = parser.parse_args()
    print(f"| {' | '.join(HEADING)} |\n|{'---|' * 2}{'---:|' * (len(HEADING) - 2)}")
    try:
        for path in given.logs:
            for row in rows_of(path, list(given.methods), given.quantile):
                print(f"| {' | '.join(row)} |", flush=True)
    except SwfToolsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
