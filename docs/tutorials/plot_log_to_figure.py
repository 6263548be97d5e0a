"""
From a log to a figure
======================

You have a log and want the figure that most papers on scheduling have: how does the bounded slowdown grow with the load,
under several policies? This takes five minutes.

Load the log
------------

The log that is shipped is an excerpt of SDSC Blue Horizon. ``load_log`` takes its name; a path to a log of yours works as
well. It reads the log, cleans it by the rules of its card, and keeps an account of every line.
"""

import pipelines

log = pipelines.load_log("SDSC-BLUE-2000-4.2-cln-5000-9999")
print(log.trace)
print(log.report.balance)

# %%
# What a schedule costs the users
# -------------------------------
#
# Replay the log under EASY. ``validate`` checks that the schedule can be: no processor is used twice, no job starts before
# it was submitted, and the rules that EASY promises hold.

import swftools

easy = swftools.simulate(log.trace, "easy")
assert swftools.validate(easy).ok
metrics = swftools.measure(easy)
metrics[metrics["measure"] == "bounded_slowdown"]

# %%
# Other loads
# -----------
#
# ``scale_to_load`` moves submissions closer together or further apart, until the log offers the load that is asked for. The
# jobs stay the same, so differences between two loads are not those of other jobs.

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
# :doc:`the tutorial on statistics </made/tutorials/plot_own_policy>`. The same study of many logs, published with all that
# made it, is ``swftools compare --log LOG --policies fcfs,easy,conservative --seeds 0,1,2``.
