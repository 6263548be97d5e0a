# SPDX-License-Identifier: BSD-3-Clause
"""
A rack that breaks
==================

Half of your cluster is down for two days. How long did jobs of each partition wait because of it, and what became of those that ran there? You need what
``sacct`` and ``scontrol`` print, and the extras ``plots`` and ``report``. This takes ten minutes.

Get the log, the machine, and when nodes were away
--------------------------------------------------

On the machine::

    TZ=UTC sacct -a -X -P -S 2026-01-01 -E 2026-02-01 --format=JobID,User,Partition,State,Submit,Start,End,ElapsedRaw,\\
    TimelimitRaw,ReqTRES,NNodes,NCPUS,ExitCode > sacct.txt
    (scontrol show node; scontrol show partition) > site.txt
    TZ=UTC sacctmgr -P show event all_time format=Cluster,NodeName,Start,End,State,StateRaw,Reason > events.txt

There is no Slurm here, so this page writes such files itself: jobs of a model on two racks of 16 nodes. If you have files of your own, leave this cell out.
"""

import datetime
import tempfile
from pathlib import Path

import swftools

workplace = tempfile.TemporaryDirectory()  # removed when Python ends; use a folder of yours
folder = Path(workplace.name)
begin = 1_767_225_600  # 2026-01-01


def clock(seconds):
    """Return a time as Slurm prints it."""
    return f"{datetime.datetime.fromtimestamp(begin + seconds, datetime.UTC):%Y-%m-%dT%H:%M:%S}"


made = swftools.models.lublin_feitelson.generate(2000, processors=512, seed=3)
jobs = swftools.scale_to_load(made, 0.6, processors=512).jobs
lines = ["JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqTRES|NNodes|NCPUS|ExitCode"]
for job in jobs.itertuples():
    width, run = int(job.requested_processors), int(job.run_time)
    nodes, limit = -(-width // 16), max(2 * run // 60, 1)
    partition = "short" if limit <= 60 and nodes <= 4 else "batch"
    when = [clock(job.submit_time), clock(job.submit_time), clock(job.submit_time + run)]
    words = [job.job_number, f"user{job.job_number % 9}", partition, "COMPLETED", *when, run, limit]
    lines.append("|".join(map(str, [*words, f"cpu={width},mem={width}G,node={nodes}", nodes, width, "0:0"])))
(folder / "sacct.txt").write_text("\n".join(lines) + "\n")

nodes = [
    f"NodeName=n{number:02d} CoresPerSocket=8 CPUTot=16 RealMemory=64000 Sockets=2 State=IDLE ThreadsPerCore=1 Partitions=batch,short"
    for number in range(1, 33)
]
partitions = [
    "PartitionName=batch AllowGroups=ALL Default=YES MaxTime=UNLIMITED Nodes=n[01-32] State=UP TotalCPUs=512 TotalNodes=32",
    "PartitionName=short AllowGroups=ALL Default=NO MaxTime=01:00:00 Nodes=n[01-32] State=UP TotalCPUs=512 TotalNodes=32",
]
(folder / "site.txt").write_text("\n\n".join([*nodes, *partitions]) + "\n")

last = float(jobs["submit_time"].max())
broken = clock(last / 3), clock(last / 3 + 2 * 86_400)
events = "Cluster|NodeName|TimeStart|TimeEnd|State|StateRaw|Reason\n"
events += "".join(f"site|n{number:02d}|{broken[0]}|{broken[1]}|DOWN|1|power of rack 2\n" for number in range(17, 33))
(folder / "events.txt").write_text(events)
print("\n".join(lines[:3]), nodes[0], events[:120], sep="\n\n")

# %%
# Read them
# ---------
#
# What is read is recognised from the text. Nodes that came and went together make one outage.

trace = swftools.read_log(folder / "sacct.txt", format="slurm:time_zone=UTC")
machine = swftools.read_machine(folder / "site.txt")
with_outages = machine.with_outages(folder / "events.txt", time_zone="UTC")
print(with_outages)
[(outage.kind, outage.nodes, outage.begin, outage.end) for outage in with_outages.outages]

# %%
# The month with the rack, and without
# ------------------------------------
#
# Nobody knows beforehand that nodes go down. A job that runs there waits again and begins anew; ``on_outage`` says what else could
# become of it.

whole = swftools.simulate(trace, "easy", machine=machine)
halved = swftools.simulate(trace, "easy", machine=with_outages, on_outage="requeue")
assert swftools.validate(halved, trace=trace).ok
print(halved)
halved.segments["ended_by"].value_counts()

# %%
# By partition
# ------------

import pandas as pd


def by_partition(schedule):
    """Return the mean wait in hours, and that of 9 in 10 jobs, of each partition."""
    last_run = schedule.segments.groupby("job_number")["partition"].last()
    waits = schedule.jobs.set_index("job_number")["wait_time"] / 3600
    return (
        waits.groupby(last_run)
        .agg(["count", "mean", lambda wait: wait.quantile(0.9)])
        .set_axis(["jobs", "mean wait, h", "9 in 10 wait at most, h"], axis="columns")
    )


pd.concat({"all nodes": by_partition(whole), "rack 2 down": by_partition(halved)}, axis="columns").round(2)

# %%
# ``available_utilization`` is the share that jobs held of the nodes that were there.

measures = {name: swftools.measure(each) for name, each in (("all nodes", whole), ("rack 2 down", halved))}
pd.DataFrame(
    {
        name: each[each["measure"].isin(["utilization", "away", "available_utilization"])].set_index(
            ["measure", "statistic"]
        )["value"]
        for name, each in measures.items()
    }
).round(3)

# %%
# What did jobs wait for? While the rack is down some wait for its nodes.

from swftools import plots

plots.plot(halved, "wait-reasons")

# %%
# The report
# ----------
#
# One HTML file has it by partition, with pictures by node. On the console it is ``swftools report sacct.txt --format
# slurm:time_zone=UTC --policy easy --machine site.txt --outages events.txt --outages-format sacctmgr:time_zone=UTC``:

import subprocess
import sys

page = folder / "rack.html"
options = ["--format", "slurm:time_zone=UTC", "--policy", "easy", "--machine", folder / "site.txt"]
options += ["--outages", folder / "events.txt", "--outages-format", "sacctmgr:time_zone=UTC", "-o", page]
subprocess.run([sys.executable, "-m", "swftools", "report", "--log", folder / "sacct.txt", *options], check=True)  # noqa: S603 (a command of ours)
print(f"{page.stat().st_size // 1024} KiB of HTML")

# %%
# :doc:`Machines of nodes </machines>` says what a simulation does where nodes are away, and what becomes of jobs. To ask what
# happens *if* a rack breaks, no event need be recorded: ``--change "away: nodes=n[17-32],in=10d,for=2d"``.
