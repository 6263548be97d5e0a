# SPDX-License-Identifier: BSD-3-Clause
"""Train schedulers on the months of a log before one, and compare them on that month with other policies.

    python examples/learn_to_schedule.py SDSC-SP2-1998-4.2-cln --month 1999-10
    python examples/learn_to_schedule.py SDSC-BLUE-2000-4.2-cln-5000-9999 --last 0.4 --batches 20

Each of several trainings begins with other weights and sees other episodes. The month is cut into parts, each of them
simulated from an empty machine; the first jobs of a part do not count. It prints the mean bounded slowdown, differences
to the baselines with the 95 % interval over parts, and then the month as a whole: the longest waits tell who pays.
The tables of docs/learning.md are printed so. It takes the extra swftools[learning].
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import swftools
from pipelines.logs import load_log
from swftools import Trace
from swftools.errors import SwfToolsError
from swftools.learning import compare_schedulers, network_policy, train
from swftools.simulator import Stepper, measure_jobs, python_policy, simulate

UNTRAINED = ("easy", "sjf", "lxf-backfill", "search", "random")

PART = {"jobs": 128, "warm_up": 64}


@python_policy("random")
def at_random(stepper: Stepper) -> None:
    """Start waiting jobs that fit at random, until none fits."""
    draw = np.random.default_rng(len(stepper.waiting) + int(1000 * stepper.now) % 2**32)
    while fitting := [job for job in stepper.waiting if stepper.width[job] <= stepper.free]:
        stepper.start(int(draw.choice(fitting)))


def halves(trace: Trace, month: str | None, last: float) -> tuple[Trace, Trace]:
    """Return the jobs to train on, with requested times, and those that come after them, to be judged on."""
    jobs = trace.jobs.sort_values("submit_time", kind="stable")
    if month:
        is_held = swftools.select_jobs(trace, month=month).jobs.query("is_measured")
        begin, end = is_held["submit_time"].min(), is_held["submit_time"].max()
    else:
        begin, end = jobs["submit_time"].iloc[int(len(jobs) * (1 - last))], jobs["submit_time"].iloc[-1]
    before = jobs[(jobs["submit_time"] < begin) & jobs["requested_time"].notna()]
    held = jobs[jobs["submit_time"].between(begin, end) & jobs["requested_time"].notna()]
    return trace.with_jobs(before.reset_index(drop=True)), trace.with_jobs(held.reset_index(drop=True))


def as_a_whole(held: Trace, policies: list[str]) -> pd.DataFrame:
    """Return what each policy makes of all that was held out, in one simulation."""
    rows = []
    for policy in policies:
        found = measure_jobs(simulate(held, policy, overrun="run-on"))
        wait = found["wait"] / 3600
        rows.append([policy, found["bounded_slowdown"].mean(), wait.mean(), wait.quantile(0.99), wait.max()])
    return pd.DataFrame(rows, columns=["policy", "bounded slowdown", "mean wait, h", "p99 wait, h", "longest wait, h"])


def main() -> int:
    """Train, compare, print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", metavar="LOG")
    parser.add_argument("--month", help="held out, such as 1999-10; what comes before it is trained on")
    parser.add_argument(
        "--last", type=float, default=0.3, help="else the share of the jobs that is held out; default: .3"
    )
    parser.add_argument("--batches", type=int, default=100, help="of 64 episodes each; default: 100")
    parser.add_argument("--trainings", type=int, default=3, help="with other seeds; default: 3")
    parser.add_argument("--policy", action="append", dest="policies", help="not trained; several times for several")
    parser.add_argument("--save", type=Path, help="a folder for the weights")
    arguments = parser.parse_args()
    try:
        before, held = halves(load_log(arguments.log).trace, arguments.month, arguments.last)
        names = []
        for seed in range(1, arguments.trainings + 1):
            with swftools.progress_bar(f"training {seed}", "batches") as bar:
                learnt = train(before, batches=arguments.batches, seed=seed, progress=bar, **PART)
            names.append(f"trained-{seed}")
            network_policy(names[-1], learnt.network, k=32)
            if arguments.save:
                learnt.network.save(arguments.save / f"{names[-1]}.npz")
        policies = ["fcfs", *(arguments.policies or UNTRAINED), *names]
        print(f"{arguments.log}: trained on {len(before):,} jobs, held out {len(held):,}\n")
        for baseline in ("fcfs", "easy"):
            with swftools.progress_bar("comparing", "parts") as bar:
                found = compare_schedulers(held, policies, baseline=baseline, episodes=10**6, progress=bar, **PART)
            print(
                f"beside {baseline}, over {found['episodes'].iloc[0]} parts:\n{found.round(1).to_string(index=False)}\n"
            )
        print(f"as a whole:\n{as_a_whole(held, policies).round(1).to_string(index=False)}")
    except SwfToolsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
