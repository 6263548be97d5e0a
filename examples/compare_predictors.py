# SPDX-License-Identifier: BSD-3-Clause
"""Compare predictors of run times on logs, and print the table that stands in docs/predictors.md.

    python examples/compare_predictors.py CTC-SP2-1996-3.1-cln.swf.gz KTH-SP2-1996-2.1-cln.swf.gz ...

Each log, cleaned, is replayed under ``easy`` with each predictor. Errors are of what was predicted at submission; the
slowdown, bounded by 10 s, is what came of it. Seconds are those of a processor, without reading and compiling.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import swftools
from swftools.errors import SwfToolsError
from swftools.simulator import measure_jobs, prediction_errors, simulate

PREDICTORS = (
    *("request", "last-model", "last-model:outlived=increments"),
    *("user-average", "user-average:outlived=increments", "gradient-boosting"),
)

HEADING = (
    *("log", "predictor", "mean error, s", "by mean run time", "accuracy", "underestimated", "correlation"),
    *("slowdown", "seconds"),
)


def rows_of(path: Path, policy: str, predictors: list[str]) -> Iterator[list[str]]:
    """Yield a row of the table for each predictor."""
    log, _ = swftools.clean(swftools.read_swf(path))
    first = log.with_jobs(log.jobs.head(1100))
    for predictor in predictors:
        simulate(first, policy, predictor=predictor)  # compiles, and imports
        begun = time.process_time()
        schedule = simulate(log, policy, predictor=predictor)
        seconds = time.process_time() - begun
        found = prediction_errors(schedule)
        yield [
            *(path.name.split(".swf")[0], f"`{predictor}`"),
            *(f"{found['mean_absolute_error']:,.0f}", f"{found['relative_error']:.2f}", f"{found['accuracy']:.2f}"),
            *(f"{found['underestimated']:.1%}", f"{found['correlation']:.2f}"),
            *(f"{measure_jobs(schedule)['bounded_slowdown'].mean():.1f}", f"{seconds:.1f}"),
        ]


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    parser.add_argument("--policy", default="easy")
    parser.add_argument("--predictor", action="append", dest="predictors", help="several times for several")
    arguments = parser.parse_args()
    print("| " + " | ".join(HEADING) + " |", "|" + "---|" * len(HEADING), sep="\n")
    try:
        for path in arguments.logs:
            for row in rows_of(path, arguments.policy, arguments.predictors or list(PREDICTORS)):
                print("| " + " | ".join(row) + " |", flush=True)
    except (SwfToolsError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
