# SPDX-License-Identifier: BSD-3-Clause
"""A small log of each format whose reader has kernels, read once, and one written: a part of what is rehearsed."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np

from swftools.formats.accounting.whole_log import halve
from swftools.formats.loadleveler.kernel import last_header
from swftools.formats.read_log import read_log
from swftools.formats.slurm.reader import Slurm
from swftools.formats.swf.reader import read_swf
from swftools.formats.swf.writer import write_swf

_LINES = b"1 0 -1 10.5 4 -1 -1 4 20 -1 1 1 1 1 1 1 -1 -1\n2 1 -1 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1 (0,1)\n"

_LISTING = b"""=== Job Step a.1.0 ===
Queue Date: Wed Sep  7 08:00:00 2016
Dispatch Time: Wed Sep  7 08:00:00 2016
Completion Date: Wed Sep  7 08:00:00 2016
Status: Completed
Class: a
Step Real Memory: 1 kb
Wall Clk Soft Limit: 00:01:00
Completion Code: 0
Allocated Host: n
"""


def read_lines() -> None:
    """Read two lines of SWF."""
    read_swf(io.BytesIO(_LINES))


def _read_loadleveler() -> None:
    read_log(io.BytesIO(_LISTING), "loadleveler", time_zone="UTC", processors_per_node=1)
    last_header(_LISTING)  # by which a long log is parted


def _read_slurm() -> None:
    head = b"JobID|MaxRSS|TotalCPU|State|Submit|Start|End|NCPUS|ReqMem\n"
    row = b"1||00:01|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:01|2024-01-01T00:00:09|1|1G\n"
    read_log(io.BytesIO(head + row + b"1.0|1K" + row[2:]), "slurm", time_zone="UTC")
    Slurm().parting()(head + row)  # as above
    read_log(io.BytesIO(b'{"jobs": [{}]}'), "slurm")


def _read_pbs() -> None:
    lines = (
        b"01/02/2023 00:00:00;Q;1.s;queue=q\n"
        b"01/02/2023 00:00:01;S;2[1].s;user=u\n"
        b"01/02/2023 00:00:02;E;1.s;user=u exec_host=h/0-3 Resource_List.nodes=1:ppn=4 ctime=1672617600 "
        b"start=1672617601 end=1672617602 Exit_status=0 resources_used.mem=1kb resources_used.cput=00:00:01 "
        b"depend=afterok:2.s\n"
        b"01/02/2023 00:00:03;Q;3.s;queue=q\n01/02/2023 00:00:04;D;3.s;\n"
    )
    read_log(io.BytesIO(lines), "pbs", time_zone="UTC")


def _read_sge() -> None:
    numbers = ":".join(["0", "100", "110", "120", "0", "0", *["10"] * 18])
    job = f"all.q:node1:users:ann:run:7:sge:{numbers}:NONE:dep:NONE:1:0:5.0:0:0:-l h_rt=60:0:NONE:4096\n"
    read_log(io.BytesIO(job.encode()), "sge")


def _read_lsf() -> None:
    begin = '"JOB_FINISH" "9.1" 120 7 501 2 1 100 0 0 110 "ann" "normal" ' + '"" ' * 9
    job = begin + '0 1 "host1" 64 1.0 "run" "sleep 9" 5.0 ' + "0 " * 18 + '"" "" 0 1 "" "" 0 4096 0\n'
    read_log(io.BytesIO(job.encode()), "lsf")


def _read_tables() -> None:
    rows = (
        b"job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration\n"
        b'1,"a ""b""",v,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,None\n'
    )
    read_log(io.BytesIO(rows), "helios")
    read_log(io.BytesIO(b'{"id": "1", "submission_time": 1665093600000, "duration": 1, "cpu_count": 1}'), "opendc")
    halve(np.ones(1), np.zeros(1, np.float32))  # which a log of many rows calls


def write_lines() -> None:
    """Write them."""
    # One column has more digits than a decimal number of few, and one job has text behind the 18th field.
    write_swf(read_swf(io.BytesIO(_LINES.replace(b"10.5", b"0.3333333333333333"))), io.BytesIO())


READINGS: list[tuple[str, Callable[[], object]]] = [
    ("reading", read_lines),
    ("reading of LoadLeveler", _read_loadleveler),
    ("reading of Slurm's accounting", _read_slurm),
    ("reading of PBS", _read_pbs),
    ("reading of Grid Engine", _read_sge),
    ("reading of LSF", _read_lsf),
    ("reading of tables", _read_tables),
    ("writing", write_lines),
]
"""What is called, by name."""
