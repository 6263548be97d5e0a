# SPDX-License-Identifier: BSD-3-Clause
"""
From a log to a figure
======================

You have a log and want the figure that most papers on scheduling have: how does the bounded slowdown grow with the load,
under several policies? This takes five minutes. You need the extra ``plots`` (matplotlib).

Load the log
------------

The shipped log is an excerpt of SDSC Blue Horizon. ``load_log`` takes its name, or the path of a log of yours. It reads the
log, cleans it by the rules of its card, and counts what became of every line.
"""

from pipelines.logs import load_log

log = load_log("SDSC-BLUE-2000-4.2-cln-5000-9999")
print(log.trace)
print(log.report.balance)

# %%
# What a schedule costs the users
# -------------------------------
#
# Replay the log under EASY. ``validate`` checks that the schedule is possible: no processor is used twice, no job starts
# before it was submitted, and EASY keeps its promises.

import swftools

easy = swftools.simulate(log.trace, "easy")
assert swftools.validate(easy).ok
metrics = swftools.measure(easy)
metrics[metrics["measure"] == "bounded_slowdown"]

# %%
# Other loads
# -----------
#
# ``scale_to_load`` moves submissions closer together or further apart, until the log has the offered load that you ask for.
# The jobs stay the same, so two loads differ in nothing else.

import pandas as pd

loads = [0.6, 0.7, 0.8, 0.9]
policies = ["fcfs", "easy", "conservative", "sjf-backfill"]
rows = []
for load in loads:
    trace = swftools.scale_to_load(log.trace, load)
    for policy in policies:
        measured = swftools.measure(swftools.simulate(trace, policy)).set_index(["measure", "statistic"])["value"]
        rows.append((policy, load, measured["bounded_slowdown", "mean"]))
slowdowns = pd.DataFrame(rows, columns=["policy", "load", "bounded_slowdown"])
slowdowns.pivot(index="load", columns="policy", values="bounded_slowdown").round(1)

# %%
# The figure
# ----------

import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for policy, of_policy in slowdowns.groupby("policy"):
    axes.plot(of_policy["load"], of_policy["bounded_slowdown"], marker="o", label=policy)
axes.set(xlabel="offered load", ylabel="mean bounded slowdown", yscale="log")
axes.legend()

# %%
# One log and one replay say little about which of two close policies is better: see
# :doc:`the tutorial on statistics </made/tutorials/plot_own_policy>`. To publish such a comparison with its inputs and
# parameters, run ``swftools compare --log LOG --policies fcfs,easy,conservative --seeds 0,1,2``.
