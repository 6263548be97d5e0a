# SPDX-License-Identifier: BSD-3-Clause
"""
My policy against EASY, with statistics
=======================================

You have an idea for a policy. Is it better than EASY, or was that chance? This takes ten minutes.

Write the policy
----------------

A policy is one function in a file of its own. It takes the machine, looks at the waiting jobs, and starts some. This one is in
``my_policies.py``:

.. literalinclude:: ../../tutorials/my_policies.py

Try it on a few jobs first. ``compiled="checked"`` checks every index, so that a mistake is an error and not a wrong number.
"""

import sys
from pathlib import Path

import swftools

sys.path.insert(0, str(Path.cwd()))  # where my_policies.py stands

few = swftools.models.lublin_feitelson.generate(300, processors=128, seed=1, load=0.8)
checked = swftools.simulate(few, "my_policies:narrow-ahead", compiled="checked")
assert swftools.validate(checked).ok

# %%
# Many workloads, not one
# -----------------------
#
# A single log tells only about itself. Draw twenty workloads from the model of Lublin and Feitelson (2003), and replay each
# under both policies. Each pair has the same jobs, so only the policy differs.

import numpy as np
import pandas as pd


def mean_slowdown(trace, policy):
    """Return the mean bounded slowdown of a replay."""
    measured = swftools.measure(swftools.simulate(trace, policy)).set_index(["measure", "statistic"])["value"]
    return measured["bounded_slowdown", "mean"]


pairs = []
for seed in range(20):
    trace = swftools.models.lublin_feitelson.generate(2000, processors=128, seed=seed, load=0.8)
    pairs.append((mean_slowdown(trace, "easy"), mean_slowdown(trace, "my_policies:narrow-ahead")))
slowdowns = pd.DataFrame(pairs, columns=["easy", "narrow-ahead"])
slowdowns.describe().round(1)

# %%
# Is the difference more than chance?
# -----------------------------------
#
# Take the logarithm of each pair's ratio, and the bootstrap interval of its mean: slowdowns differ by factors, not by sums.
# If the interval of the ratio lies on one side of 1, the policies differ on this model of workloads.

from scipy.stats import bootstrap

ratio = np.log(slowdowns["narrow-ahead"] / slowdowns["easy"])
interval = bootstrap((ratio,), np.mean, confidence_level=0.95, rng=np.random.default_rng(0)).confidence_interval
low, high = np.exp(interval.low), np.exp(interval.high)
print(f"narrow-ahead over EASY: {np.exp(ratio.mean()):.2f}, 95 % interval {low:.2f} to {high:.2f}")

# %%
# And on a real log?
# ------------------
#
# There is only one log. Shake it: delay each submission by up to five minutes, which the policy cannot know, and see how much
# its result varies.

from pipelines.logs import load_log

log = load_log("SDSC-BLUE-2000-4.2-cln-5000-9999").trace
rows = []
for seed in range(8):
    shaken = swftools.models.shake_submissions(log, seed)
    rows.append((mean_slowdown(shaken, "easy"), mean_slowdown(shaken, "my_policies:narrow-ahead")))
shaken = pd.DataFrame(rows, columns=["easy", "narrow-ahead"])
shaken.agg(["mean", "std"]).round(1)

# %%
# Which jobs pay for the gain? A mean hides that. Compare the waits of wide jobs under both:

schedules = {name: swftools.simulate(log, name) for name in ("easy", "my_policies:narrow-ahead")}
wide = {
    name: schedule.jobs.loc[schedule.jobs["allocated_processors"] >= 128, "wait_time"].quantile([0.5, 0.95]) / 3600
    for name, schedule in schedules.items()
}
pd.DataFrame(wide).round(1)

# %%
# The table shows how many hours wide jobs waited: the median, and the wait that one in twenty exceeds. Report such figures
# beside the mean.

from swftools import plots

plots.plot([log, *schedules.values()], "waits")
