# SPDX-License-Identifier: BSD-3-Clause
"""Virtual machines of Azure, traces V1 (2017) and V2 (2019): vmtable.csv, without a header (Cortez et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass

from swftools.formats.registry import Fit, register_format
from swftools.formats.tables.columns import column
from swftools.formats.tables.heads import head_of
from swftools.formats.tables.table_format import TableFormat

_KINDS = {"Delay-insensitive", "Interactive", "Unknown"}
_WHY = "11 values a line, the ninth Delay-insensitive, Interactive or Unknown"


@register_format
@dataclass(frozen=True)
class Azure(TableFormat):
    """Virtual machines of Azure's traces V1 and V2."""

    NAME = "azure-vm"
    TITLE = "Azure, traces of virtual machines V1 and V2"
    COMMAND = "vmtable.csv.gz, from Azure/AzurePublicDataset"
    NOTES = ("A job is a virtual machine, which runs from its creation on: waits of 0 say nothing.",)
    HEADLESS = (
        *("vm_id", "subscription_id", "deployment_id", "created", "deleted", "max_cpu", "average_cpu", "p95_max_cpu"),
        *("category", "cores", "memory_gb"),
    )
    COLUMNS = {
        "log_id": column("vm_id"),
        "submit": column("created", unit="s", needed=True),
        "start": column("created", unit="s", needed=True),
        "end": column("deleted", unit="s", needed=True),
        "requested_processors": column("cores", needed=True),
        "requested_memory": column("memory_gb", unit="GB", of="job"),
        "user": column("subscription_id"),
        "group": column("deployment_id"),
        "queue": column("category"),
    }
    HAS_DATES = False
    JOB = "A line: a virtual machine. Its user is the subscription, its group the deployment, its queue the category."
    WIDTH = (
        "Virtual cores. Of V2 they are buckets: `>24` is no number, so such a machine has no width, which is counted."
    )
    MACHINE = "A region of Azure, whose size is not told."
    TRIED = "Ten lines of V1; V2's differ only in its buckets, which were made."
    TRAPS = (
        "Times count from the beginning of the trace. What was there at its end is told as deleted then.",
        "How busy its processors were (columns 6 to 8) is not read.",
    )
    LICENCE = "Rows of the example: Microsoft, AzurePublicDataset, CC BY 4.0; names are cut, the third's category, cores and memory changed."
    EXAMPLE = """\
x/XsOfHO4ocs,VDU4C8cqdr,Pc2VLB8aDx,0,2591700,99.369869,3.4240942342446719,10.194309,Delay-insensitive,1,1.75
H5CxmMoVcZSp,BSXOcywx8p,3J17LcV4gX,0,1539300,100,6.18178366757598,33.98136,Interactive,1,0.75
wR/G1YUjpMP4,VDU4C8cqdr,Pc2VLB8aDx,2188800,2591700,99.569027,3.5736346071428589,7.92425,Unknown,>24,>64
"""

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether the lines are like those of vmtable.csv."""
        found = head_of(head)
        if found is None or found.kind != "csv" or found.separator != ",":
            return Fit(False, f"no lines of {_WHY}")
        rows = [found.columns, *found.rows]
        like = [row for row in rows if len(row) == len(cls.HEADLESS) and row[8] in _KINDS and row[3].isdecimal()]
        return Fit(2 * len(like) > len(rows), _WHY if 2 * len(like) > len(rows) else f"no lines of {_WHY}")

    def preface(self, head: bytes) -> bytes | None:  # noqa: ARG002 (as the base has it)
        """Return nothing: no line has to stand before a later part."""
        return b""
