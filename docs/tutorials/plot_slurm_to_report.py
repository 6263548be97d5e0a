# SPDX-License-Identifier: BSD-3-Clause
"""
From my centre's Slurm log to a report
======================================

You run a machine under Slurm and want to know how busy it was, how long jobs waited and how good requests were. This takes
ten minutes. You need the extras ``plots`` and ``report``.

Get the log
-----------

On the machine, ask ``sacct`` for a month; the page on Slurm says why each option is there::

    TZ=UTC sacct -a -D -P -S 2024-01-01 -E 2024-02-01 --format=JobID,User,Account,Partition,State,Submit,Start,End,\\
    ElapsedRaw,TimelimitRaw,NNodes,NCPUS,ExitCode > sacct.txt

There is no Slurm here, so this page writes such a file itself, from the shipped log. If you have a file of your own, leave
this cell out.
"""

import datetime
import tempfile
from pathlib import Path

import pipelines
from pipelines.logs import load_log

workplace = tempfile.TemporaryDirectory()  # removed when Python ends; use a folder of yours
folder = Path(workplace.name)
shipped = load_log("SDSC-BLUE-2000-4.2-cln-5000-9999").trace
started = shipped.jobs[shipped.jobs["wait_time"].notna() & shipped.jobs["run_time"].notna()].head(3000)


def clock(seconds):
    """Return a time as sacct prints it."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}"


begin = 1_704_067_200  # 2024-01-01
lines = ["JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|NCPUS|ExitCode"]
for job in started.itertuples():
    submitted = begin + int(job.submit_time - started["submit_time"].iloc[0])
    start = submitted + int(job.wait_time)
    words = [job.job_number, f"user{job.user_id}", "project", f"queue{job.queue_id}", "COMPLETED", clock(submitted)]
    words += [
        clock(start),
        clock(start + job.run_time),
        job.run_time,
        job.requested_time // 60,
        job.width // 8,
        job.width,
    ]
    words += ["0:0"]
    lines.append("|".join(map(str, words)))
log = folder / "sacct.txt"
log.write_text("\n".join(lines) + "\n")
print("\n".join(lines[:3]))

# %%
# Read it
# -------
#
# The format is recognised. Times without a zone are in the zone that you name.

import swftools

trace = swftools.read_log(log, format="slurm:time_zone=UTC,processors=1152")
print(trace)

# %%
# ``trace.quarantine`` has what could not be read, with line and reason:

len(trace.quarantine)

# %%
# Clean it
# --------

cleaned, report = swftools.clean(trace)
print(report)

# %%
# Look at it
# ----------

cleaned.plot("overview")

# %%
# How good are requests?

print(swftools.study_estimates(cleaned))
cleaned.plot("used")

# %%
# Publish it, with a report
# -------------------------
#
# A published version is a folder of Parquet files with a manifest that says how it was made. The report is one HTML file that
# you can mail. On the console the two steps are ``swftools augment --log sacct.txt --format slurm:time_zone=UTC --anonymise
# numbers`` and ``swftools report sacct``; here they run in Python.

import luigi

task = pipelines.BuildAugmentedTrace(
    log=str(log),
    format="slurm:time_zone=UTC,processors=1152",
    anonymise="numbers",
    data_root=str(folder / "data"),
    report=True,
)
assert luigi.build([task], local_scheduler=True, log_level="ERROR")
version = Path(task.output().path)
sorted(path.name for path in version.iterdir())

# %%
# The report lies beside the version:

page = version.parent / f"{version.name}.html"
print(f"{page.stat().st_size // 1024} KiB of HTML")
