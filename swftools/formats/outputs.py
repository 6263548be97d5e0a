# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of batch systems' commands that are no logs: recognised, to say which command gives what can be read."""

from __future__ import annotations

import re
from typing import NamedTuple

_CONDOR = (
    "condor_history -af:h, ClusterId ProcId Owner QDate JobStartDate CompletionDate RequestCpus RequestMemory "
    "ExitCode > history.csv\nThat is a table: swftools formats propose history.csv > mine.yaml writes what reads it."
)

_OUTPUTS: tuple[tuple[str, bytes, str], ...] = (
    ("what qacct prints", rb"^qname +\S+ *\r?\nhostname +\S", "sge"),
    ("a summary of qacct", rb"^[ A-Z]*WALLCLOCK +UTIME +STIME +CPU", "sge"),
    ("a queue as qstat of Grid Engine prints it", rb"^ *job-ID +prior +name +user|^queuename +qtype +", "sge"),
    ("a job as qstat -j prints it", rb"^job_number: +[0-9]", "sge"),
    ("hosts as qhost prints them", rb"^HOSTNAME +ARCH +NCPU", "sge"),
    ("a queue as qstat of PBS prints it", rb"^Job id +Name +User +Time Use S Queue|^Job ID +Username +Queue +", "pbs"),
    ("jobs as qstat -f prints them", rb"^Job Id: [0-9][^\n]*\n +Job_Name = ", "pbs"),
    ("nodes as pbsnodes prints them", rb"^\S+ *\r?\n +(?:state|Mom|ntype|power_state) = ", "pbs"),
    ("what tracejob prints", rb"^Job: [0-9][^\n]*\n\s*[0-9/]{10} [0-9:.]{8,15} +[A-Z] ", "pbs"),
    ("a log of PBS' server", rb"^[0-9/]{10} [0-9:.]{8,15};[0-9a-fA-F]{4};[^;\n]+;", "pbs"),
    ("what qhist prints", rb"^Job ID +User +Queue +Nodes +NCPUs", "pbs"),
    (
        "a queue as showq of Maui or Moab prints it",
        rb"(?i)^(?:active|idle|eligible|blocked) jobs-+",
        "pbs",
    ),
    ("what bacct prints", rb"^Accounting information about jobs that are:", "lsf"),
    ("jobs as bjobs -l, bhist or bacct print them", rb"^Job <[0-9]+(?:\[[0-9]+\])?>, ", "lsf"),
    ("a queue as bjobs prints it", rb"^JOBID +USER +STAT +QUEUE", "lsf"),
    ("LSF's lsb.events", rb'^"(?:JOB_NEW|JOB_START|JOB_START_ACCEPT|JOB_STATUS|JOB_EXECUTE|JOB_CLEAN)" "', "lsf"),
    ("what bhist prints", rb"^Summary of time in seconds spent in various states", "lsf"),
    ("queues or hosts of LSF", rb"^(?:QUEUE_NAME +PRIO|HOST_NAME +STATUS|HOST_NAME +type)", "lsf"),
    ("what Slurm's jobcomp/filetxt writes", rb"^JobId=[^ \n]+ UserId=[^ \n]+ GroupId=", "slurm"),
    ("jobs as scontrol prints them", rb"^JobId=[^ \n]+ (?:ArrayJobId|HetJobId|JobName)=", "slurm"),
    ("nodes or partitions as scontrol prints them", rb"^(?:NodeName|PartitionName)=[^ \n]+(?: |\r?\n +)", "slurm"),
    ("a queue as squeue prints it", rb"^ *JOBID +PARTITION +NAME +USER +ST", "slurm"),
    ("nodes as sinfo prints them", rb"^(?:PARTITION +AVAIL +TIMELIMIT|NODELIST +NODES +PARTITION)", "slurm"),
    ("what sprio, sshare or sreport print", rb"^ *(?:JOBID +PARTITION +PRIORITY|Account +User +RawShares)", "slurm"),
    ("a summary of sreport", rb"^-{40,}\r?\n(?:Cluster|Job Sizes|Top [0-9]+) ?[^\n]* [0-9]{4}-[0-9]{2}-", "slurm"),
    ("the log of slurmctld or slurmdbd", rb"^\[[0-9T:.-]{19,23}\] (?:sched|debug|error|backfill|_|job_|Time)", "slurm"),
    ("machines as llstatus prints them", rb"^Name +Schedd +InQ +Act +Startd", "loadleveler"),
    ("what condor_history or condor_q prints", rb"^ *ID +OWNER +SUBMITTED +RUN_TIME|^OWNER +BATCH_NAME", _CONDOR),
    ("a history of HTCondor", rb"^(?:ClusterId|ProcId|QDate|GlobalJobId) = ", _CONDOR),
    (
        "a queue as Cobalt's qstat prints it",
        rb"^JobID +User +WallTime +Nodes +State",
        "cat /var/log/pbs/2023* > accounting.txt\nThat is Cobalt's log; cobalt.conf names its folder.",
    ),
    (
        "a queue as flux jobs prints it",
        rb"^ *JOBID +USER +NAME +ST +NTASKS",
        "flux jobs -a -o '{id},{username},{ntasks},{t_submit},{t_run},{t_cleanup},{status}' > jobs.csv\n"
        "That is a table: swftools formats propose jobs.csv > mine.yaml writes what reads it.",
    ),
)  # fmt: skip
"""What each is, how it is recognised, and the format whose command gives a log, or that command."""

_FOUND = [(what, re.compile(pattern, re.MULTILINE), instead) for what, pattern, instead in _OUTPUTS]


class Output(NamedTuple):
    """What a text is, in words, and what to give instead: the name of a format, or a command."""

    what: str
    instead: str


def find_output(head: bytes) -> Output | None:
    r"""Return what a text is that is no log, and the format to give instead, or a command; None if it is unknown.

    Examples
    --------
    >>> find_output(b"JOBID     USER    STAT  QUEUE\n")[0]
    'a queue as bjobs prints it'
    """
    for what, pattern, instead in _FOUND:
        if pattern.search(head):
            return Output(what, instead)
    return None
