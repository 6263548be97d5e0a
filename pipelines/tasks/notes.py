# SPDX-License-Identifier: BSD-3-Clause
"""Notes of a policy as files: a Parquet file a table, those of our policies as the dictionary of columns says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from swftools.errors import SchemaError
from swftools.fields.dictionary import TABLES
from swftools.output.whole_files import create_file
from swftools.simulator.schedule import Schedule
from swftools.tables import PARQUET_OPTIONS, read_table, to_arrow, to_pandas, write_table


def write_notes(schedule: Schedule, directory: Path, options: Mapping[str, Any] = PARQUET_OPTIONS) -> list[Path]:
    """Write the notes of a schedule, ``POLICY_TABLE.parquet`` each, and return the files.

    Parameters
    ----------
    schedule : Schedule
        Without notes nothing is written.
    directory : pathlib.Path
        Is there.
    options : mapping
        How tables are written.

    Raises
    ------
    SchemaError
        A table is not as the dictionary says; or one that it does not have, of a policy of one's own, which is written
        as it is, has columns that Parquet does not.
    """
    paths = []
    for name, frame in schedule.notes.items():
        table = f"{schedule.policy}_{name}"
        path = directory / f"{table}.parquet"
        if table in TABLES:
            write_table(to_arrow(frame, table), path, table, options)
        else:
            try:
                data = pa.Table.from_pandas(frame, preserve_index=False)
            except (pa.ArrowException, TypeError, ValueError) as error:
                whose = f"policy {schedule.policy!r}: its notes {name!r}"
                raise SchemaError(f"{whose} are not a Parquet table: {error}; give each column one type") from error
            with create_file(path) as file:
                pq.write_table(data, file, **options)
        paths.append(path)
    return paths


def read_notes(policy: str, directory: Path) -> dict[str, pd.DataFrame]:
    """Return the notes that ``write_notes`` wrote of a schedule of a policy, by name of table."""
    notes = {}
    for path in sorted(directory.glob(f"{policy}_*.parquet")):
        if path.stem in TABLES:
            table = to_pandas(read_table(path, path.stem), path.stem)
            counts = [name for name in table if table[name].dtype == "Int64" and name != "job_number"]
            frame = table.astype(dict.fromkeys(counts, "int64"))
        else:
            frame = pq.read_table(path).to_pandas()
        notes[path.stem.removeprefix(f"{policy}_")] = frame
    return notes
