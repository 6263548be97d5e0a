# SPDX-License-Identifier: BSD-3-Clause
"""What checkpoints save where nodes fail: lost work and waits without checkpoints, by a survey, and with hourly ones.

    python examples/checkpoints_under_failures.py KTH-SP2-1996-2.1-cln --nodes 100 --cores 1 --seeds 5

The log, cleaned, is replayed under EASY on nodes that fail by a model until the last job is submitted. Jobs have whole
nodes. The survey is a synthetic one with the totals of Lee 2009. Each row is of another mean time between the failures
of a node: the mean number of failures over seeds from 1 on, the mean share of lost work, and the mean wait with the
lowest and the highest. It prints the tables that stand in docs/checkpoints_under_failures.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from pipelines.logs import load_log
from swftools import MachineDescription, NodeFailures, Trace, draw_failures, measure, simulate
from swftools.checkpoints import generate_checkpoint_survey, infer_checkpoints
from swftools.errors import SwfToolsError

DAY, HOUR = 86_400, 3_600

REPAIR = 6 * HOUR
"""Mean time that a repair takes, s."""

CHECKPOINTS = ("none", "survey", "hourly")

HEADING = (
    *("a node fails every", "failures", *(f"lost work: {each}" for each in CHECKPOINTS)),
    *(f"mean wait: {each}" for each in CHECKPOINTS),
)


def with_checkpoints(trace: Trace) -> dict[str, tuple[Trace, str]]:
    """Return the jobs with the checkpoints of each column, and what becomes of those that are stopped."""
    survey = infer_checkpoints(trace, generate_checkpoint_survey(trace)).columns
    surveyed = trace.with_jobs(trace.jobs.join(survey).assign(is_exclusive=True))
    hourly = surveyed.with_jobs(surveyed.jobs.assign(checkpoint_interval=float(HOUR)))
    return {"none": (surveyed, "requeue"), "survey": (surveyed, "checkpoint"), "hourly": (hourly, "checkpoint")}


def rows_of(trace: Trace, nodes: Any, days: list[float], seeds: int) -> Iterator[list[str]]:
    """Yield a row of the table for each mean time between failures of a node, in days."""
    jobs, last = with_checkpoints(trace), float(trace.jobs["submit_time"].max())
    for each in days:
        models = [NodeFailures(mtbf=each * DAY, repair=REPAIR, seed=seed) for seed in range(1, seeds + 1)]
        drawn = [draw_failures(nodes, model, until=last) for model in models]
        runs = {name: [_measured(*given, machine) for machine in drawn] for name, given in jobs.items()}
        failures = sum(len(machine.outages) for machine in drawn) / seeds
        lost = [f"{100 * sum(share for share, _ in runs[name]) / seeds:.2g} %" for name in CHECKPOINTS]
        waits = [[wait / HOUR for _, wait in runs[name]] for name in CHECKPOINTS]
        means = [f"{sum(some) / seeds:.3g} h ({min(some):.3g}-{max(some):.3g})" for some in waits]
        yield [f"{each:g} days", f"{failures:,.0f}", *lost, *means]


def _measured(jobs: Trace, rule: str, machine: Any) -> tuple[float, float]:
    """Return lost work, as a share of what the jobs need, and the mean wait, s."""
    schedule = simulate(jobs, "easy", machine=machine, on_outage=rule)
    found = measure(schedule).set_index(["measure", "statistic"])["value"]
    needed = (schedule.jobs["run_time"] * schedule.jobs["allocated_processors"]).sum()
    return float(found["lost_work", "total"]) / needed, float(found["wait", "mean"])


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", metavar="LOG")
    parser.add_argument("--nodes", type=int, required=True, help="nodes of the machine")
    parser.add_argument("--cores", type=int, required=True, help="cores of a node")
    parser.add_argument("--days", type=float, action="append", help="between failures of a node; several times")
    parser.add_argument("--seeds", type=int, default=5, help="draws of the failures; default: 5")
    arguments = parser.parse_args()
    try:
        trace = load_log(arguments.log).trace
        kinds = [{"kind": "node", "count": arguments.nodes, "cores": arguments.cores}]
        nodes = MachineDescription.from_mapping({"nodes": kinds}).table()
        print("| " + " | ".join(HEADING) + " |", "|" + "---|" * len(HEADING), sep="\n")
        for row in rows_of(trace, nodes, arguments.days or [365.0, 90.0, 30.0], arguments.seeds):
            print("| " + " | ".join(row) + " |", flush=True)
    except (SwfToolsError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
