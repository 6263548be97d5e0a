# SPDX-License-Identifier: BSD-3-Clause
"""MIT Supercloud: the job table of Slurm's database as CSV, states and resources by number (Samsi et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swftools.formats.accounting.records import Records
from swftools.formats.registry import register_format
from swftools.formats.tables.columns import column
from swftools.formats.tables.json_rows import Row
from swftools.formats.tables.rows import Sheet
from swftools.formats.tables.states import NUMBERS
from swftools.formats.tables.table_format import TableFormat
from swftools.kernel import FloatArray

_CPUS, _MEMORY, _NODES, _GPUS = 1, 2, 4, (1001, 1002)
"""Resources by their numbers in this database."""
_TOLD = {"allocated": "tres_alloc", "requested": "tres_req"}
_NONE = ("4294967294", "4294967295")


@register_format
@dataclass(frozen=True)
class Supercloud(TableFormat):
    """Jobs of MIT Supercloud, as Slurm's database has them."""

    NAME = "supercloud"
    TITLE = "MIT Supercloud, the job table of Slurm's database"
    COMMAND = "slurm-log.csv of the MIT Supercloud Dataset (Datacenter Challenge)"
    NOTES = ("Processors are what Slurm counts as CPUs, unless width=gpus or width=nodes was said.",)
    KEYS = ("id_job", "id_user", "time_submit", "time_start", "time_end", "state", "tres_alloc")
    COLUMNS = {
        "log_id": column("id_job"),
        "submit": column("time_submit", unit="s", needed=True),
        "eligible": column("time_eligible", unit="s"),
        "start": column("time_start", unit="s", needed=True),
        "end": column("time_end", unit="s", needed=True),
        "requested_time": column("timelimit", unit="min", missing=_NONE),
        "state": column("state", needed=True),
        "array_number": column("id_array_job", missing="0"),
        "array_index": column("id_array_task", missing=_NONE),
        "user": column("id_user"),
        "group": column("id_group", "account"),
        "executable": column("job_name"),
        "queue": column("partition"),
    }
    WIDTHS = {"processors": {}, "gpus": {}, "nodes": {}}
    FURTHER = tuple(_TOLD.values())
    STATES = NUMBERS
    JOB = "A row: a job, an element of an array, or a life of one that was queued again."
    WIDTH = "CPUs of `tres_alloc` and `tres_req`; `width=gpus` or `width=nodes` count those."
    MACHINE = "TX-Gaia; its partitions, where the table tells them, are the queues."
    TRIED = "Rows made from the columns of its paper: never tried on the real thing."
    TRAPS = (
        "States are numbers: 3 is COMPLETED, as in slurm.h. `logged_state` has the number.",
        "`tres_alloc` is `1=CPUs,2=MB,4=nodes,1001=GPUs,1002=GPUs`; of both numbers of GPUs the larger counts, since one may "
        "be the sum and the other those of a model.",
        "A time of 0 says that there was none; timelimit is in minutes.",
    )
    LICENCE = "Rows of the example are made up."
    EXAMPLE = """\
id_job,id_array_job,id_user,partition,state,timelimit,time_submit,time_eligible,time_start,time_end,tres_req,tres_alloc
7,0,501,normal,3,120,1610000000,1610000000,1610000060,1610003660,"1=40,2=8000,4=1,1002=2","1=40,2=8000,4=1,1002=2"
8,0,502,normal,4,4294967295,1610000100,1610000100,0,1610000200,"1=4,2=8000,4=1",
"""

    def adapt(self, sheet: Sheet, records: Records, rows: Sequence[Row]) -> None:  # noqa: ARG002 (as the base has it)
        """Read what the lists of resources say."""
        for kind, name in _TOLD.items():
            if name not in sheet.columns:
                continue
            found = sheet.columns[name].words(()).dictionary_encode()
            places = found.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            read = [_resources(word) for word in found.dictionary.to_pylist()]
            told = np.array([*(values for values in read), [np.nan] * 4], np.float64).reshape(-1, 4)[places]
            is_bad = np.array(
                [
                    *(
                        np.isnan(values).all() and bool(word)
                        for values, word in zip(read, found.dictionary.to_pylist(), strict=True)
                    ),
                    False,
                ],
                bool,
            )
            records.doubt(is_bad[places], f"a {name} that cannot be read")
            self._fill(records, kind, *told.T)

    def _fill(
        self, records: Records, kind: str, cpus: FloatArray, memory: FloatArray, nodes: FloatArray, gpus: FloatArray
    ) -> None:
        """Put what was asked for, or given, into the records."""
        width = {"gpus": gpus, "nodes": nodes}.get(self.width or "", cpus)
        records.numbers[f"{kind}_processors"] = np.where(width > 0, width, np.nan)
        records.numbers[f"{kind}_nodes"] = nodes
        records.numbers[f"{kind}_gpus"] = gpus
        if kind == "requested":
            with np.errstate(invalid="ignore", divide="ignore"):
                records.numbers["requested_memory"] = np.where(width > 0, memory * 1024.0 / width, np.nan)


def _resources(words: str) -> list[float]:
    """Return CPUs, MB, nodes and GPUs of a list of resources, NaN for what it has not; all NaN where it is none."""
    told: dict[int, float] = {}
    for word in words.split(","):
        number, _, amount = word.partition("=")
        if not (number.strip().isdecimal() and amount.strip().isdecimal()):
            return [np.nan] * 4
        told[int(number)] = float(amount)
    gpus = max((told[each] for each in _GPUS if each in told), default=0.0)
    return [told.get(_CPUS, np.nan), told.get(_MEMORY, np.nan), told.get(_NODES, np.nan), gpus]
