# SPDX-License-Identifier: BSD-3-Clause
"""What the latest version of a history has: its files, its months, its names, and by what settings it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from pipelines.history.inbox import Beginning
from pipelines.names import LATEST
from pipelines.store.data_root import DataRoot
from pipelines.store.manifest import version_of_table
from pipelines.store.parts import Measured, label_of, measured_column, part_name
from swftools.errors import HistoryError
from swftools.fields.dictionary import TABLES, arrow_schema, required_columns, table_version
from swftools.history.book import HistoryBook
from swftools.history.merging import settle
from swftools.history.provisional import Provisional
from swftools.history.records import record_keys
from swftools.tables import empty_frame, to_pandas

MADE_BY = "ReevaluateLogs"

RECORDS_VERSION = 2
"""Raised when equal files come to other records. What a history has stays as it was taken, so a history keeps the
version that it was begun with, and its versions do not move: 1 is not written into its manifest, nor into its key."""

_KEYS_SINCE = 9
"""The schema version since which the key of a run that ended has its start in it."""


BLOCK = 100
"""Files whose rejected lines are one part."""


def block_of(number: int) -> str:
    """Return the label of the part with the rejected lines of a file."""
    return f"{(number - 1) // BLOCK:06d}"


@dataclass(frozen=True)
class HistoryState:
    """The latest version of a history, or none.

    Parameters
    ----------
    root : DataRoot
        Where it is published.
    name : str
        Of the data set.
    version : str or None
        Its latest version; None where there is none yet.
    manifest : mapping
        Of that.
    """

    root: DataRoot
    name: str
    version: str | None = None
    manifest: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, root: DataRoot, name: str) -> HistoryState:
        """Look up the latest version.

        Raises
        ------
        HistoryError
            The data set is not a history, or one of a later package.
        StorageError
            Its manifest is damaged.
        """
        if not root.is_settled(name):
            if there := root.settled_versions(name):
                raise HistoryError(
                    f"{root.storage.address(f'{name}/{LATEST}')} is lost, or names no version that is there; let it "
                    f"name the right one by swftools promote {name} VERSION; published last: {there[-1]}"
                )
            return cls(root, name)
        version = str(root.latest(name))
        manifest = root.manifest(name, version)
        if manifest.get("made_by") != MADE_BY:
            raise HistoryError(
                f"{root.path(name, version)} is not a history: it was made by {manifest.get('made_by')}; "
                "give another name"
            )
        for table in manifest["tables"]:
            made = version_of_table(manifest, table)
            if table not in TABLES or made > table_version(table):
                known = f"knows {table_version(table)}" if table in TABLES else "does not know it"
                raise HistoryError(
                    f"{root.path(name, version)} has the table {table} of schema version {made}, and this package "
                    f"{known}: install the later one again, or go back by swftools rollback {name}"
                )
        return cls(root, name, version, manifest)

    def table(
        self, table: str, parts: Sequence[str] | None = None, columns: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Return a table, or some of its parts by their labels; one without rows where there is none.

        Columns that it did not have under an earlier schema are missing in all rows.
        """
        if self.version is None or table not in self.manifest["tables"]:
            return empty_frame(table)
        files = None if parts is None else [part_name(label) for label in parts]
        is_older = columns is None and not self.is_of_this_schema(table)
        had = list(self.manifest["tables"][table]["columns"]) if is_older else columns
        read = self.root.read_described(self.manifest, table, parts=files, columns=had)
        found = to_pandas(read, table)
        if is_older:
            form = empty_frame(table)
            for column in required_columns(table):
                if column not in found:
                    found[column] = form[column].reindex(found.index)
        return found

    def is_of_this_schema(self, table: str) -> bool:
        """Whether a table has the columns that are published now; else none of its parts can be shared."""
        return self.version is not None and version_of_table(self.manifest, table) == table_version(table)

    def labels(self, table: str) -> list[str]:
        """Return the labels of the parts of a table."""
        if self.version is None or table not in self.manifest["tables"]:
            return []
        return [label_of(name) for name in self.manifest["tables"][table]["parts"]]

    def columns(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table, in the dictionary's order."""
        return tuple(arrow_schema(table, self.manifest["tables"][table]["columns"]).names)

    def rows(self, table: str, label: str) -> int:
        """Return how many rows a part has."""
        return int(self.manifest["tables"][table]["parts"][part_name(label)]["rows"])

    def measured(self, table: str, label: str, column: str) -> Measured:
        """Return what a part has in a column."""
        return measured_column(self.manifest["tables"][table], part_name(label), column)

    @cached_property
    def ingested(self) -> pd.DataFrame:
        """The files that it has."""
        rows = self.table("ingested")
        return rows.assign(withdrawn=rows["withdrawn"].fillna(0))  # before schema version 9 none was

    @property
    def file_count(self) -> int:
        """How many files it has; they are numbered from 1."""
        return 0 if self.version is None else int(self.manifest["tables"]["ingested"]["rows"])

    def files_behind(self, number: int) -> list[dict[str, Any]]:
        """Return the rows of the files that came behind one, by its number."""
        rows: list[dict[str, Any]] = self.root.read_described(self.manifest, "ingested").to_pylist()
        return [row for row in rows if row["file_number"] > number]

    @cached_property
    def waiting(self) -> pd.DataFrame:
        """The files of the inbox that it does not have, or not wholly."""
        return self.table("waiting")

    def rejected_of(self, number: int) -> pd.DataFrame:
        """Return the rejected lines of the files among which one stands, by its number."""
        label = block_of(number)
        return self.table("rejected", [label] if label in self.labels("rejected") else [])

    @property
    def records_version(self) -> int:
        """The version of the rules by which its records were taken, since it was begun."""
        return RECORDS_VERSION if self.version is None else int(self.manifest.get("records_version", 1))

    @property
    def beginnings(self) -> Iterator[Beginning]:
        """Every text that it has, and where reading it resumes."""
        rows = self.ingested
        for number, whole, size, part, most, lines in zip(
            rows["file_number"].astype(int),
            rows["sha256"],
            rows["bytes"].astype(int),
            rows["resumes_sha256"],
            rows["resumes_bytes"].astype(int),
            rows["resumes_lines"].astype(int),
            strict=True,
        ):
            yield Beginning(number, part, most, lines, is_whole=False)
            yield Beginning(number, whole, size, 0, is_whole=True)

    def provisional(self) -> Provisional:
        """Return the records that may change when their files grow."""
        rows = self.ingested
        resumes = dict(zip(rows["file_number"].astype(int), rows["resumes_lines"].astype(int), strict=True))
        return Provisional(self.table("provisional"), resumes)

    def book(self, months: MutableMapping[str, pd.DataFrame] | None = None) -> HistoryBook:
        """Return its records, to be added to; ``months`` is where those are kept that are loaded."""
        numbers = {}
        for label in self.labels("records"):
            stands = self.measured("records", label, "job_number")
            numbers[label] = (int(stands.least), int(stands.most))
        says_when = None if self.version is None or not numbers else bool(self.manifest["says_when"])
        return HistoryBook(self._month, numbers, self.table("names"), says_when, months)

    def _month(self, label: str) -> pd.DataFrame:
        records = self.table("records", [label])
        is_older = version_of_table(self.manifest, "records") < _KEYS_SINCE
        # Rows without an id were once told apart by the numbers that each file gave to its names.
        if not is_older and (self.records_version >= RECORDS_VERSION or records["log_id"].notna().all()):
            return records
        is_swf = dict(zip(self.ingested["file_number"], self.ingested["format"] == "swf", strict=True))
        of_swf, names = records["file_number"].map(is_swf).to_numpy(dtype=bool), self.table("names")
        if not is_older and of_swf.all():
            return records
        keys = record_keys(records, of_swf, names)
        if not is_older:
            is_row = ~of_swf & records["log_id"].isna().to_numpy(dtype=bool)
            keys = np.where(is_row, keys, records["record_key"].to_numpy(np.int64))
        return settle(records.assign(record_key=pd.array(keys, dtype="Int64")), names).reset_index(drop=True)
