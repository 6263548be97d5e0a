# SPDX-License-Identifier: BSD-3-Clause
"""The jobs of a long log with the columns of its augmentations, read from their files a piece at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.store.parts import LongTable, PartedTable
from pipelines.tasks.augmentations.registry import PIECE, Augmentation
from pipelines.tasks.augmented import with_columns
from swftools.errors import ParameterError
from swftools.kernel.memory import give_back_memory
from swftools.tables import check_table


class LongJobs:
    """Jobs that may be too many for the memory.

    Parameters
    ----------
    path : Path
        File of the cleaned jobs.
    augmentations : sequence of Augmentation
        Whose columns are added.
    """

    def __init__(self, path: Path, augmentations: Sequence[Augmentation]) -> None:
        self._files = [("jobs", path), *((task.name, task.table_path(task.name)) for task in augmentations)]
        with pq.ParquetFile(path) as file:
            self.rows: int = file.metadata.num_rows
            empty = file.schema_arrow.empty_table()
        for name, other in self._files[1:]:
            with pq.ParquetFile(other) as file:
                empty = with_columns(empty, file.schema_arrow.empty_table(), name)
        self.columns: tuple[str, ...] = tuple(empty.column_names)
        self._last: dict[Path, tuple[int, pa.Table]] = {}

    def between(self, start: int, stop: int, *, keeps: bool = False) -> pa.Table:
        """Return the jobs from one row to another; ``keeps`` the last row groups, of which the next jobs may be too."""
        found = None
        for name, path in self._files:
            part = _rows_of(path, start, stop, self._last if keeps else {})
            check_table(part, name)
            found = part if found is None else with_columns(found, part, name)
        return found

    def pieces(self) -> Iterator[pa.Table]:
        """Yield the jobs as many at a time as a row group has, so that the file is as if it were written at once."""
        for begin in range(0, self.rows, PIECE):
            yield self.between(begin, min(begin + PIECE, self.rows))
            give_back_memory()

    @property
    def unrequested(self) -> tuple[int, int]:
        """How many jobs have no requested time, of how many."""
        with pq.ParquetFile(self._files[0][1]) as file:
            return file.read(["requested_time"])["requested_time"].null_count, self.rows

    def whole(self) -> LongTable:
        """Return them as a table of one file."""
        with pq.ParquetFile(self._files[0][1]) as file:
            submit = file.read(["submit_time"])["submit_time"]
        is_sorted = not submit.null_count and not (np.diff(submit.to_numpy()) < 0).any()
        return LongTable(self.pieces, self.columns, self.rows, is_sorted)

    def by_month(self) -> PartedTable:
        """Return them as a table of a file a month of submission, UTC.

        Raises
        ------
        ParameterError
            When jobs were submitted is not known, or they are not in that order.
        """
        with pq.ParquetFile(self._files[0][1]) as file:
            stamps = file.read(["submit_timestamp"])["submit_timestamp"].combine_chunks()
        if stamps.null_count:
            raise ParameterError(
                f"by_month: {stamps.null_count:,} of {len(stamps):,} jobs have no submit_timestamp, since the log does "
                "not say when it began (UnixStartTime), or a job does not say when it was submitted; leave by_month out"
            )
        months = (pc.year(stamps).to_numpy() * 12 + pc.month(stamps).to_numpy() - 1).astype(np.int64)
        del stamps
        begins = np.flatnonzero(np.append(True, months[1:] != months[:-1])) if len(months) else np.zeros(0, np.int64)
        if (np.diff(months) < 0).any():
            raise ParameterError("by_month: jobs are not in order of submission; clean by the rule submission-order")
        ends = np.append(begins[1:], len(months))
        parts: dict[str, Any] = {
            f"{months[begin] // 12:04}-{months[begin] % 12 + 1:02}": partial(
                self.between, int(begin), int(end), keeps=True
            )
            for begin, end in zip(begins, ends, strict=True)
        }
        return PartedTable(parts, self.columns)


def _rows_of(path: Path, start: int, stop: int, last: dict[Path, tuple[int, pa.Table]]) -> pa.Table:
    """Return rows of a Parquet file, of which no more is read than the row groups that hold them.

    The last group is put into ``last``, and taken from there.
    """
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        ends = np.cumsum(sizes)
        groups = [group for group, end in enumerate(ends) if end > start and end - sizes[group] < stop]
        if not groups:
            return file.schema_arrow.empty_table()
        tables = []
        for group in groups:
            if path not in last or last[path][0] != group:
                last.pop(path, None)  # before the next one is read beside it
                last[path] = (group, file.read_row_group(group))
            tables.append(last[path][1])
        first = int(ends[groups[0]] - sizes[groups[0]])
        return pa.concat_tables(tables).slice(start - first, stop - start)
