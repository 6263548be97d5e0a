# SPDX-License-Identifier: BSD-3-Clause
"""Eagle and Kestrel, machines of the National Renewable Energy Laboratory (USA): jobs of Slurm as CSV or Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from swftools.errors import ParameterError
from swftools.formats.accounting.records import Records
from swftools.formats.registry import register_format
from swftools.formats.tables.columns import UNITS, Declaration, column
from swftools.formats.tables.json_rows import Row
from swftools.formats.tables.rows import Sheet
from swftools.formats.tables.states import NAMES
from swftools.formats.tables.table_format import TableFormat
from swftools.parameters import text


@register_format
@dataclass(frozen=True)
class Nrel(TableFormat):
    """Jobs of NREL's Eagle (2018 to 2023) and Kestrel, as published with studies of waits and powers."""

    NAME = "nrel"
    TITLE = "NREL Eagle and Kestrel, tables of jobs"
    COMMAND = "Eagle: the release of NREL/eagle-jobs (CSV or Parquet)"
    NOTES = (
        "Processors are those that jobs asked for (processors_req); the table does not tell what they were given.",
    )
    KEYS = ("job_id", "wallclock_req", "processors_req", "submit_time", "start_time", "end_time", "state")
    COLUMNS = {
        "log_id": column("job_id"),
        "submit": column("submit_time", needed=True),
        "start": column("start_time", needed=True),
        "end": column("end_time", needed=True),
        "run_time": column("run_time"),
        "requested_time": column("wallclock_req"),
        "requested_nodes": column("nodes_req"),
        "requested_gpus": column("gpus_req"),
        "state": column("state", needed=True),
        "user": column("user"),
        "group": column("account"),
        "executable": column("name"),
        "queue": column("partition"),
        "partition": column("qos"),
    }
    WIDTHS = {
        "processors": {"requested_processors": column("processors_req", needed=True)},
        "nodes": {"requested_processors": column("nodes_req", needed=True)},
    }
    FURTHER = ("energy",)
    STATES = NAMES
    ZONE = "America/Denver"
    JOB = "A row: a job, or an element of an array."
    WIDTH = (
        "The cores that were asked for, which is all that the table tells. `width=nodes`: nodes, of 36 cores on Eagle; whole "
        "nodes are what most partitions give."
    )
    MACHINE = "Eagle, of nodes of 36 cores; the queue is the partition, and partitions overlap."
    TRIED = (
        "The first 500 jobs of Eagle. Kestrel's columns are known from its paper only: never tried on the real thing."
    )
    TRAPS = (
        "Times are wall clocks in Mountain Time, without a word on the hour that autumn repeats.",
        "Kestrel's table has energies, but nothing that was at hand tells in which unit: they are read if you say it, as "
        "`energy_unit=kWh` (J, kJ, MJ, Wh, kWh), and else counted as not read. The mean power is energy over run time; the "
        "highest power is not told.",
        "mem_req is not read: no page says what it counts, and it is 0 in every row that was seen.",
    )
    LICENCE = "Rows of the example: NREL (NREL/eagle-jobs), BSD 3-clause."
    EXAMPLE = """\
job_id,user,account,partition,qos,wallclock_req,nodes_req,processors_req,gpus_req,mem_req,submit_time,start_time,end_time,run_time,state,name
532209,user0014,account0003,partition001,normal,172800.0,10,10,0,0.0,2019-01-01 08:55:55,2019-01-01 08:55:56,2019-01-02 12:39:41,99825.0,COMPLETED,name00005115
532213,user0014,account0003,partition009,normal,259200.0,1,1,0,0.0,2019-01-01 09:40:17,2019-01-01 09:40:17,2019-01-01 09:40:23,6.0,COMPLETED,name00000001
"""

    energy_unit: str | None = text(None, words="J, kJ, MJ, Wh or kWh")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.energy_unit is not None and self.energy_unit not in UNITS["energy"]:
            raise ParameterError(f"nrel: energy_unit={self.energy_unit!r} is not one of {', '.join(UNITS['energy'])}")

    @property
    def declaration(self) -> Declaration:
        """What is declared of the table, with the energy if its unit was said."""
        plain = super().declaration
        if self.energy_unit is None:
            return plain
        return replace(plain, columns={**plain.columns, "energy": column("energy", unit=self.energy_unit)})

    def adapt(self, sheet: Sheet, records: Records, rows: Sequence[Row]) -> None:  # noqa: ARG002 (as the base has it)
        """Count energies that cannot be read, as nobody says in what unit they are."""
        if self.energy_unit is None and "energy" in sheet.columns:
            told = np.isfinite(sheet.columns["energy"].numbers(()).value)
            records.doubt(told, "an energy whose unit is not told (energy_unit=kWh says it)")
