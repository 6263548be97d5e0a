# SPDX-License-Identifier: BSD-3-Clause
"""What the tables of Helios and of Acme share: one group published both, with most columns the same."""

from __future__ import annotations

from swftools.formats.tables.columns import Column, column

COLUMNS: dict[str, Column] = {
    "log_id": column("job_id"),
    "submit": column("submit_time", needed=True),
    "start": column("start_time", needed=True),
    "end": column("end_time", needed=True),
    "requested_nodes": column("node_num"),
    "requested_gpus": column("gpu_num"),
    "requested_cores_per_node": column("cpu_num", over="node_num"),
    "state": column("state", needed=True),
    "user": column("user"),
}
WIDTHS: dict[str, dict[str, Column]] = {
    "gpus": {"requested_processors": column("gpu_num", needed=True)},
    "cpus": {"requested_processors": column("cpu_num", needed=True)},
    "nodes": {"requested_processors": column("node_num", needed=True)},
}
NOTES = ("Processors are GPUs unless width=cpus or width=nodes was said; jobs without GPUs have no width then.",)
ZONE = "Asia/Shanghai"
NO_QUEUE = "The column `queue` is no queue but the seconds waited."
