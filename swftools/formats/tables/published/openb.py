# SPDX-License-Identifier: BSD-3-Clause
"""openb: pods of a GPU cluster of Alibaba that shares GPUs, 2023 (Weng et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass

from swftools.formats.registry import register_format
from swftools.formats.tables.columns import column
from swftools.formats.tables.table_format import TableFormat


@register_format
@dataclass(frozen=True)
class OpenB(TableFormat):
    """Pods of Alibaba's openb."""

    NAME = "openb"
    READER_VERSION = 4
    """4: jobs without GPUs were cleaned away. 3: what was asked of a node was not told."""
    TITLE = "openb, pods of a cluster that shares GPUs (Alibaba 2023)"
    COMMAND = "openb_pod_list_default.csv, from cluster-trace-gpu-v2023 of alibaba/clusterdata"
    NOTES = (
        "Processors are GPUs, shares of one rounded up, unless width=cpus was said; pods without GPUs have no width then.",
    )
    KEYS = ("name", "cpu_milli", "num_gpu", "gpu_milli", "creation_time", "deletion_time", "scheduled_time")
    BESIDE = {"nodes": ("sn", "cpu_milli", "memory_mib")}
    COLUMNS = {
        "log_id": column("name"),
        "submit": column("creation_time", unit="s", needed=True),
        "start": column("scheduled_time", unit="s", needed=True),
        "end": column("deletion_time", unit="s", needed=True),
        "requested_gpus": column("num_gpu", times="gpu_milli", unit="milli", round_up=True),
        "requested_memory": column("memory_mib", unit="MiB", of="job"),
        "requested_cores_per_node": column("cpu_milli", unit="milli"),
        "requested_memory_per_node": column("memory_mib", unit="MiB"),
        "requested_gpus_per_node": column("num_gpu", times="gpu_milli", unit="milli"),
        "gpu_types": column("gpu_spec"),
        "state": column("pod_phase", needed=True),
        "queue": column("qos"),
        "partition": column("gpu_spec"),
    }
    WIDTHS = {
        "gpus": {
            "requested_processors": column("num_gpu", times="gpu_milli", unit="milli", round_up=True, needed=True)
        },
        "cpus": {"requested_processors": column("cpu_milli", unit="milli", round_up=True, needed=True)},
    }
    STATES = {"SUCCEEDED": 1, "FAILED": 0, "RUNNING": 5, "PENDING": 5}
    HAS_DATES = False
    JOB = "A row: a pod. One that was deleted while it ran or was pending counts as cancelled."
    WIDTH = (
        "GPUs, `num_gpu` times `gpu_milli` of a thousandth, rounded up; `exact_processors` has the share. `width=cpus`: CPUs, "
        "rounded up too."
    )
    MACHINE = (
        "One cluster; the partition is the model of GPU that a pod asks for. `openb_nodes.csv` beside is passed over."
    )
    TRIED = "The first 4,000 pods."
    TRAPS = (
        "Times count from the beginning of the trace.",
        "Pods that were there at its end have the end as the time of their deletion, which does not show.",
    )
    LICENCE = "Rows of the example: Alibaba, clusterdata, CC BY 4.0; cite Weng et al. 2023."
    EXAMPLE = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
openb-pod-0001,6000,12288,1,460,,LS,Running,427061,12902960,427061
openb-pod-0005,20000,65536,0,0,,LS,Running,2759674,12902960,2759676
openb-pod-0017,88000,327680,8,1000,,Burstable,Succeeded,9437497,10769854,9437497
openb-pod-0061,11908,47104,1,1000,,BE,Pending,10001278,10001403,
"""
