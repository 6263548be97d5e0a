# SPDX-License-Identifier: BSD-3-Clause
"""
Nightly predictions of waits
============================

You operate a machine and want to tell users how long a job would wait, judging by all waits up to last night. This takes
ten minutes.

What arrives
------------

Each night the batch system's log goes into a folder, the inbox. Here we cut the shipped log into two nights.
"""

import gzip
import tempfile
from pathlib import Path

import luigi

import pipelines
from pipelines.logs import load_log

workplace = tempfile.TemporaryDirectory()  # removed when Python ends; use a folder of yours
folder = Path(workplace.name)
inbox = folder / "inbox"
inbox.mkdir()

with gzip.open(load_log("SDSC-BLUE-2000-4.2-cln-5000-9999").log.path) as file:
    lines = file.readlines()
header = [line for line in lines if line.startswith(b";")]
jobs = [line for line in lines if not line.startswith(b";")]

# %%
# The first night
# ---------------
#
# On the console: ``swftools reevaluate --inbox inbox --history blue``.


def night():
    """Add what has arrived to the history, and evaluate it again."""
    pipelines.ReevaluateLogs.clear_instance_cache()
    task = pipelines.ReevaluateLogs(inbox=str(inbox), history="blue", data_root=str(folder / "data"))
    assert luigi.build([task], local_scheduler=True, log_level="ERROR")
    return Path(task.output().path)


(inbox / "monday.swf").write_bytes(b"".join(header + jobs[:3000]))
version = night()

# %%
# The second night brings the rest. Jobs in both files count once.

(inbox / "tuesday.swf").write_bytes(b"".join(header + jobs[2500:]))
version = night()

import pandas as pd

pd.read_parquet(version / "ingested")[["file", "records", "new", "merged"]]

# %%
# How good were the bounds?
# -------------------------
#
# Each job got a bound at its submission, before its wait was known. How many waited no longer?

coverage = pd.read_parquet(version / "wait_coverage")
of_all = coverage[(coverage["queue"] == "all") & (coverage["period"] == "all")]
of_all[["method", "jobs", "told", "covered", "coverage", "tightness"]]

# %%

from swftools import plots

plots.plot(coverage, "coverage")

# %%
# Ask
# ---
#
# On the console, a user would run ``swftools predict --history blue --queue 3 --requested-time 4h --deadline 2h``:

from swftools.qbets import predict_wait

state = max(version.glob("wait-state.binomial.*"))
answer = predict_wait(state, group={"queue": 3}, requested_time=4 * 3600, deadline=2 * 3600)
print(answer)

# %%
# To run it each night by systemd or cron, and to be notified when something is wrong, see
# :doc:`operating a history </histories>`.
