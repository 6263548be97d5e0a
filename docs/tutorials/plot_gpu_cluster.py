# SPDX-License-Identifier: BSD-3-Clause
"""
A cluster with GPUs
===================

You run, or study, a cluster on which some nodes have GPUs. Jobs without GPUs may run on them too. How long do GPU jobs wait, does it
matter which nodes jobs get, and would more GPU nodes help? This takes ten minutes. You need the extra ``plots``.

Describe the machine
--------------------

A few lines of YAML will do. For a machine of yours, ``scontrol show node; scontrol show partition`` prints all that is needed, and
``read_machine`` reads that as it is.
"""

import tempfile
from pathlib import Path

import swftools

workplace = tempfile.TemporaryDirectory()  # removed when Python ends; use a folder of yours
path = Path(workplace.name) / "cluster.yaml"
path.write_text("""
name: A cluster with GPUs
nodes:
  - {kind: gpu, count: 8, cores: 64, memory: 512G, gpus: {a100: 4}}
  - {kind: thin, count: 16, cores: 64, memory: 256G}
""")
machine = swftools.read_machine(path)
print(machine)

# %%
# What jobs ask for
# -----------------
#
# A log of yours says it: ``swftools.read_log`` reads nodes, cores, memory and GPUs from Slurm, PBS and many tables. Here a model
# makes 3,000 jobs. Three of ten are given GPUs, with eight cores and 64 GB for each; the others ask for 2 GB a core. All request
# twice the time that they run. Submissions are moved so that the jobs hold 65 % of the cores.

import numpy as np

made = swftools.models.lublin_feitelson.generate(3000, processors=512, seed=1)
rng = np.random.default_rng(1)
has_gpus = rng.random(len(made)) < 0.3
gpus = np.where(has_gpus, rng.choice([1, 2, 4], len(made)), 0)
width = made.jobs["requested_processors"].to_numpy()
nodes = np.where(has_gpus, 1, -(-width // 64))
cores = np.where(has_gpus, 8 * gpus, np.minimum(width, 64))
jobs = made.jobs.assign(
    requested_time=2 * made.jobs["run_time"],
    user_id=rng.integers(1, 9, len(made)),
    requested_processors=nodes * cores,
    allocated_processors=nodes * cores,
    requested_nodes=nodes,
    requested_cores_per_node=cores.astype(float),
    requested_memory_per_node=np.where(has_gpus, 65_536.0 * gpus, 2048.0 * cores),
    requested_gpus_per_node=gpus.astype(float),
)
trace = swftools.scale_to_load(made.with_jobs(jobs), 0.65, processors=machine.table().processors)
jobs[["requested_nodes", "requested_cores_per_node", "requested_gpus_per_node"]].describe().round(1)

# %%
# Two policies, two placements
# ----------------------------
#
# ``placement`` says which of the nodes that fit a job it gets. First fit goes by number. Best fit takes the nodes on which the
# fewest GPUs are free, then the fewest cores: so jobs without GPUs go to thin nodes, and large pieces of nodes stay whole.

import pandas as pd


def shown(schedule):
    """Return mean waits in minutes, and how full the machine was in %."""
    waits = schedule.jobs["wait_time"] / 60
    values = swftools.measure(schedule).set_index(["measure", "statistic"])["value"]
    return {
        "wait of GPU jobs, min": waits[has_gpus].mean(),
        "of the others, min": waits[~has_gpus].mean(),
        "cores held, %": 100 * values["utilization", "time_mean"],
        "GPUs held, %": 100 * values["gpu_utilization", "time_mean"],
        "fragmented, %": 100 * values["fragmentation", "time_mean"],
    }


schedules = {
    f"{policy}, {placement}": swftools.simulate(trace, policy, machine=machine, placement=placement)
    for policy in ("fcfs", "easy")
    for placement in ("first-fit", "best-fit")
}
pd.DataFrame({name: shown(schedule) for name, schedule in schedules.items()}).round(1)

# %%
# Under EASY, best fit takes a third off the waits of GPU jobs, and adds two minutes to the others. ``fcfs`` lets nobody go ahead of a job that
# does not fit, so half of the time its queue waits beside enough free cores and GPUs.
#
# ``validate`` checks each node at every instant, and shares no code with the simulator.

assert all(swftools.validate(schedule, trace=trace).ok for schedule in schedules.values())

# %%
# Where jobs ran
# --------------
#
# A row is a node, and a job is as high as its share of the cores; users have colours. These are the GPU nodes under EASY with best fit:

from swftools import plots

easy = schedules["easy, best-fit"]
plots.plot(easy, "gantt", kind="gpu")

# %%
# The queue is fragmented while its first job has room in sum and not on nodes: eight nodes with 8 free cores each do not hold a job that
# wants 64 on one.

plots.plot(easy, "fragmentation")

# %%
# More GPU nodes
# --------------
#
# A change is one text; ``swftools simulate --machine cluster.yaml --change nodes.gpu.count+=8`` takes the same.

larger = machine.changed(["nodes.gpu.count+=8"])
more = swftools.simulate(trace, "easy", machine=larger, placement="best-fit")
pd.DataFrame({"as it is": shown(easy), "8 more GPU nodes": shown(more)}).round(1)

# %%
# The same jobs come here to both machines. In truth users would send more to the larger one, so read the gain as the most that it can
# be. :doc:`Machines of nodes </machines>` has all keys of descriptions, what policies do on nodes, and what is not simulated.
