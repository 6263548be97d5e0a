# SPDX-License-Identifier: BSD-3-Clause
"""
A scheduler that learns
=======================

From an installation to a learning curve, in ten minutes on a laptop: a scheduler that learns by trial, is judged on jobs
that it has not seen, and then decides in the simulator like any other policy. You need the extra ``learning``:

.. code-block:: sh

    pip install "swftools[learning,plots]"

Look at an episode
------------------

An episode is a part of a log. At each decision the scheduler sees the first ``k`` waiting jobs and the machine, and starts
one of them or waits. Play one by a simple rule: start the narrowest job that fits.
"""

import numpy as np

import swftools
from swftools.learning import (
    Network,
    SchedulingEnv,
    compare_schedulers,
    default_log,
    network_policy,
    train,
    what_it_saw,
)

to_learn, to_judge = default_log(seed=1), default_log(seed=2)  # of a model; read_log reads one of yours

env = SchedulingEnv(to_learn, k=32, jobs=128, warm_up=64, reference="easy")
seen, info = env.reset(seed=1)
over = False
while not over:
    fits = info["action_mask"][:-1].astype(bool)  # the last action is to wait
    action = int(np.where(fits, seen[:-1, 0], 9).argmin()) if fits.any() else env.rules.k
    seen, reward, over, _, info = env.step(action)
print(f"mean slowdown {info['cost']:.1f}, of EASY on the same jobs {info['reference_cost']:.1f}")

# %%
# Learn by trial
# --------------
#
# A batch tries eight episodes eight times each. What a trial did becomes more likely where it was better than the others of
# its episode. The network then decides under a name, like any other policy. ``compare_schedulers`` cuts jobs that it was not
# trained on into parts, and replays them. This page takes 20 batches, in seconds; take 100 for yourself.

import matplotlib.pyplot as plt

part = {"jobs": 64, "warm_up": 32}
network, means, batches = Network.random(seed=3), [], [0, 2, 5, 10, 20]
for before, after in zip([0, *batches], batches, strict=False):
    if after > before:
        network = train(to_learn, batches=after - before, seed=after, network=network, **part).network
    network_policy("learnt", network, k=32)
    means.append(compare_schedulers(to_judge, ["learnt"], baseline="easy", **part).set_index("policy")["mean"])

fig, axes = plt.subplots(figsize=(7, 3.5))
axes.plot(batches, [mean["learnt"] for mean in means], marker="o")
axes.axhline(means[0]["easy"], linestyle="--", color="grey")
axes.annotate("EASY", (0, means[0]["easy"]), xytext=(0, 4), textcoords="offset points")
axes.set(xlabel="batches", ylabel="mean bounded slowdown", yscale="log")
fig.tight_layout()

# %%
# The network that knows nothing waits too often; that is learnt first. Where it begins depends on ``seed``.
#
# Is it more than chance?
# -----------------------
#
# ``low`` to ``high`` is the 95 % interval of the difference to the baseline, over parts.

compare_schedulers(to_judge, ["learnt", "sjf", "lxf-backfill"], baseline="easy", **part).round(1)

# %%
# Who pays?
# ---------
#
# The mean is what it was paid for. Look at what it was not paid for, before you put it to use:

schedules = {name: swftools.simulate(to_judge, name) for name in ("fcfs", "easy", "learnt")}
{name: f"longest wait {schedule.jobs['wait_time'].max() / 3600:.0f} h" for name, schedule in schedules.items()}

# %%

from swftools import plots

plots.plot(list(schedules.values()), "waits")

# %%
# A job that waited long was passed over again and again. What was there to choose from when it was started at last, and
# how was each job scored?

last = schedules["learnt"].jobs.sort_values("wait_time")["job_number"].iloc[-1]
saw = what_it_saw(to_judge, "learnt", int(last), network, k=32, overrun="extend")
saw[["job_number", "processors", "estimated_time", "waited", "allowed", "chosen", "score"]].round(2)

# %%
# Whoever starts what fits lets wide jobs wait. `Schedulers that learn <../../learning.html>`_ shows how that comes out on
# whole months of several logs, beside a search and beside a scheduler that starts what fits at random.
