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
measured = []
for load in loads:
    trace = swftools.scale_to_load(log.trace, load)
    measured += [swftools.measure(swftools.simulate(trace, policy)).assign(load=load) for policy in policies]
measured = pd.concat(measured)
slowdowns = measured[(measured["measure"] == "bounded_slowdown") & (measured["statistic"] == "mean")]
slowdowns.pivot(index="load", columns="policy", values="value").round(1)

# %%
# The figure
# ----------

from swftools import plots

plots.plot(measured, "sensitivity", along="load")

# %%
# Which jobs gain? At the load of the log itself, beside the waits that it has:

plots.plot([log.trace, *(swftools.simulate(log.trace, policy) for policy in policies)], "waits")

# %%
# One log and one replay say little about which of two close policies is better: see
# :doc:`the tutorial on statistics </made/tutorials/plot_own_policy>`. To publish such a comparison with its inputs and
# parameters, run ``swftools compare --log LOG --policies fcfs,easy,conservative --seeds 0,1,2``.
