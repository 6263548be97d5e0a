# SPDX-License-Identifier: BSD-3-Clause
"""What it does to a schedule if users tighten their requests, or know how long their jobs run.

    python examples/compare_requests.py SDSC-BLUE-2000-4.2-cln-5000-9999

The log, cleaned, is replayed under each policy, which is told the requests as they were logged, tightened ones, or the
run times. Requests stay the limits of jobs. Each figure is the mean over runs with seeds from 0 on, which tighten other
requests. It prints the table that stands in docs/estimates.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import swftools
from pipelines.logs import load_log
from swftools import Trace
from swftools.errors import SwfToolsError
from swftools.simulator import Schedule, measure, simulate

POLICIES = (
    *("easy", "conservative", "sjf-backfill", "prio-fifo"),
    *("search:nodes=100", "genetic:individuals=6,generations=4"),
)

TOLD = {"as logged": "request", "tightened": "tightened", "exact": "exact"}
"""What policies are told, and which predictor says it."""

HEADING = ("policy", "requests", "bounded slowdown", "mean wait, s", "aggregate utility")


SHOWN = (("bounded_slowdown", "mean"), ("wait", "mean"), ("utility", "total"))


def rows_of(trace: Trace, policy: str, seeds: int) -> Iterator[list[str]]:
    """Yield a row of the table for each kind of requests; the trace has utility functions."""
    for told, predictor in TOLD.items():
        runs = [_measured(simulate(trace, policy, predictor=predictor, seed=seed)) for seed in range(seeds)]
        slowdown, wait, utility = (sum(values) / seeds for values in zip(*runs, strict=True))
        yield [f"`{policy}`", told, f"{slowdown:.1f}", f"{wait:,.0f}", f"{utility:.3e}"]


def _measured(schedule: Schedule) -> list[float]:
    """Return the figures that are shown of a schedule."""
    found = measure(schedule).set_index(["measure", "statistic"])["value"]
    return [float(found[each]) for each in SHOWN]


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", metavar="LOG")
    parser.add_argument("--policy", action="append", dest="policies", help="several times for several")
    parser.add_argument("--seeds", type=int, default=5, help="runs, one a seed; default: 5")
    arguments = parser.parse_args()
    try:
        loaded = load_log(arguments.log)
        ranks = loaded.log.card.ranks() if loaded.log.card else {}
        utility = swftools.generate_utility(loaded.trace, swftools.UtilityParameters(queue_ranks=ranks))
        trace = loaded.trace.with_jobs(loaded.trace.jobs.join(utility))
        print("| " + " | ".join(HEADING) + " |", "|" + "---|" * len(HEADING), sep="\n")
        for policy in arguments.policies or POLICIES:
            for row in rows_of(trace, policy, arguments.seeds):
                print("| " + " | ".join(row) + " |", flush=True)
    except (SwfToolsError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
