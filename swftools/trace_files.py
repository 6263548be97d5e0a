"""A Trace as a directory of Parquet files: how stages of a pipeline hand it on.

Not the published form (that has versions and a manifest): jobs.parquet, quarantine.parquet, the header as SWF
comment lines, and the rest as JSON.
"""

from __future__ import annotations

import json
from pathlib import Path

from swftools.compression import LogSource
from swftools.header import SwfHeader
from swftools.swf import read_lines
from swftools.tables import read_table, to_arrow, to_pandas, write_table
from swftools.trace import Trace


def save_trace(trace: Trace, directory: Path) -> None:
    """Write a trace into an existing, empty directory; its source lines stay where they are.

    Raises
    ------
    SchemaError
        The jobs differ from the column dictionary.
    """
    for table, frame in (("jobs", trace.jobs), ("quarantine", trace.quarantine)):
        write_table(to_arrow(frame, table), directory / f"{table}.parquet", table)
    lines = "".join(f"{line}\n" for line in trace.header.to_lines())
    (directory / "header.txt").write_text(lines, encoding="utf-8", newline="\n")
    rest = {"machine_processors": trace.machine_processors, "provenance": dict(trace.provenance)}
    (directory / "trace.json").write_text(json.dumps(rest, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def load_trace(directory: Path, source: LogSource | None = None) -> Trace:
    """Read a trace that ``save_trace`` wrote.

    Parameters
    ----------
    directory : Path
        Where it was written.
    source : path or binary file object, optional
        The log it was read from, so that source lines can be quoted again.

    Raises
    ------
    SchemaError
        A file is damaged or of another schema.
    """
    tables = {
        table: to_pandas(read_table(directory / f"{table}.parquet", table), table) for table in ("jobs", "quarantine")
    }
    rest = json.loads((directory / "trace.json").read_text(encoding="utf-8"))
    lines = (directory / "header.txt").read_text(encoding="utf-8").split("\n")
    header = SwfHeader.from_lines(line for line in lines if line)
    return Trace(
        header,
        tables["jobs"],
        tables["quarantine"],
        rest["machine_processors"],
        None if source is None else read_lines(source),
        rest["provenance"],
    )
