# SPDX-License-Identifier: BSD-3-Clause
"""Train a scheduler by maskable PPO of sb3-contrib, and compare it on jobs that it has not seen.

    pip install "swftools[learning]" stable-baselines3 sb3-contrib
    python examples/learn_with_sb3.py SDSC-BLUE-2000-4.2-cln-5000-9999 --steps 100000

These bring torch, which swftools itself does not need. The last part of the log is held out. What was learnt is written
to a file; a module of yours that has these lines makes it a policy for every command, as my_agents:ppo:

    from sb3_contrib import MaskablePPO
    from swftools.learning import agent_policy

    agent_policy("ppo", MaskablePPO.load("ppo.zip"), k=16, weights="ppo.zip")
"""

from __future__ import annotations

import argparse
import sys

from pipelines.logs import load_log
from swftools.errors import SwfToolsError
from swftools.learning import EpisodeLog, SchedulingEnv, agent_policy, compare_schedulers

K = 16
"""Jobs that are seen: a network that takes all rows at once has a weight for each number."""

PART = {"jobs": 128, "warm_up": 64}


def main() -> int:
    """Train, write, compare, print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", metavar="LOG")
    parser.add_argument("--steps", type=int, default=100_000, help="decisions to learn from; default: 100000")
    parser.add_argument("--last", type=float, default=0.4, help="the share of jobs that is held out; default: .4")
    parser.add_argument("--envs", type=int, default=8, help="environments at a time; default: 8")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="ppo.zip", help="default: ppo.zip")
    arguments = parser.parse_args()
    try:
        from sb3_contrib import MaskablePPO  # noqa: PLC0415 (not a dependency)
        from stable_baselines3.common.env_util import make_vec_env  # noqa: PLC0415
    except ImportError:
        print("error: this takes: pip install stable-baselines3 sb3-contrib", file=sys.stderr)
        return 2
    try:
        trace = load_log(arguments.log).trace
        jobs = trace.jobs[trace.jobs["requested_time"].notna()].sort_values("submit_time", kind="stable")
        begin = int(len(jobs) * (1 - arguments.last))
        before, held = (trace.with_jobs(part.reset_index(drop=True)) for part in (jobs.iloc[:begin], jobs.iloc[begin:]))
        log = EpisodeLog(before, reference="easy")  # once in memory, however many environments there are
        options = {"log": log, "k": K, "reference": "easy", **PART}
        envs = make_vec_env(SchedulingEnv, arguments.envs, arguments.seed, env_kwargs=options)
        model = MaskablePPO(
            "MlpPolicy", envs, n_steps=512, batch_size=512, seed=arguments.seed, verbose=1, device="cpu"
        )
        model.learn(arguments.steps)
        model.save(arguments.output)
        agent_policy("ppo", model, k=K)
        found = compare_schedulers(held, ["easy", "sjf", "lxf-backfill", "ppo"], episodes=10**6, **PART)
        print(found.round(1).to_string(index=False))
    except SwfToolsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
