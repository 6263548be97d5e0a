# SPDX-License-Identifier: BSD-3-Clause
"""openb's lists of pods without times: what pods ask for, for experiments in which nobody waits or leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swftools.formats.accounting.records import Records
from swftools.formats.registry import register_format
from swftools.formats.tables.columns import Declaration, column
from swftools.formats.tables.json_rows import Row
from swftools.formats.tables.published.openb import OpenB
from swftools.formats.tables.rows import Sheet
from swftools.formats.tables.table_format import TableFormat

_TIMES = ("creation_time", "deletion_time", "scheduled_time")


@register_format
@dataclass(frozen=True)
class OpenBRequests(TableFormat):
    """Requests of pods of Alibaba's openb, without times."""

    NAME = "openb-requests"
    TITLE = "openb, what pods ask for, without times (Alibaba 2023)"
    COMMAND = "openb_pod_list_multigpu20.csv, from hkust-adsl/kubernetes-scheduler-simulator"
    NOTES = ("There are no times: all pods are submitted at second 0, and have no run time.",)
    KEYS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
    NOT = _TIMES
    COLUMNS = {
        name: OpenB.COLUMNS[name]
        for name in (
            *("log_id", "requested_gpus", "requested_memory"),
            *("requested_cores_per_node", "requested_memory_per_node", "requested_gpus_per_node"),
        )
    } | {
        "requested_processors": column("num_gpu", times="gpu_milli", unit="milli", round_up=True, needed=True),
    }
    HAS_DATES = False
    JOB = "A row: a pod."
    WIDTH = "GPUs, `num_gpu` times `gpu_milli` of a thousandth, rounded up."
    MACHINE = "One cluster; these lists do not tell which models of GPU pods ask for."
    TRIED = "The four lists of workloads with many pods of several GPUs."
    TRAPS = ("No time is told: all submissions are at second 0, in the order of the rows.",)
    LICENCE = "Rows of the example: Alibaba, by the repository of Weng et al., Apache-2.0; cite Weng et al. 2023."
    EXAMPLE = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli
openb-pod-0000,12000,16384,1,1000
openb-pod-0001,6000,12288,1,460
openb-pod-0002,12000,24576,1,1000
"""

    @property
    def declaration(self) -> Declaration:
        """What is declared of the table, which has no submissions: ``adapt`` adds them."""
        return Declaration(self.COLUMNS, has_dates=self.HAS_DATES, is_part=True)

    def adapt(self, sheet: Sheet, records: Records, rows: Sequence[Row]) -> None:  # noqa: ARG002 (as the base has it)
        """Submit all pods at once, as no time is told."""
        records.numbers["submit"] = np.zeros(len(sheet))
