# SPDX-License-Identifier: BSD-3-Clause
"""Nights of a history that is kept in memory: what is read and taken, without what is evaluated and published."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from pipelines.history.inbox import FileStamps, Inbox
from pipelines.history.ingest import Night, ingest, look
from pipelines.history.state import RECORDS_VERSION, HistoryState
from pipelines.logs.how_read import HowRead
from pipelines.store.data_root import DataRoot
from pipelines.store.parts import Measured
from swftools.fields.dictionary import COMMON_VERSION
from swftools.tables import empty_frame


@dataclass(frozen=True)
class Remembered(HistoryState):
    """A version of a history that was never published."""

    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    months: dict[str, pd.DataFrame] = field(default_factory=dict)

    def table(
        self, table: str, parts: Sequence[str] | None = None, columns: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Return a table, or months of the records."""
        if table == "records":
            return pd.concat([self.months[label] for label in parts or self.labels(table)], ignore_index=True)
        return self.tables.get(table, empty_frame(table))

    def labels(self, table: str) -> list[str]:
        """Return the months."""
        return sorted(self.months) if table == "records" else []

    def measured(self, table: str, label: str, column: str) -> Measured:
        """Return the least and the most of a column."""
        values = self.months[label][column]
        return Measured(nulls=0, least=int(values.min()), most=int(values.max()))


class Books:
    """A history without a root.

    Parameters
    ----------
    folder : Path
        Where its inbox is.
    format : str
        How files are read.
    """

    def __init__(self, folder: Path, format: str = "") -> None:  # noqa: A002 (as the settings call it)
        shutil.rmtree(folder, ignore_errors=True)
        self.inbox, self._folder = folder / "inbox", folder / "night"
        self.inbox.mkdir(parents=True)
        self.how, self.most_bytes = HowRead(format), 1 << 29
        self.state = Remembered(DataRoot.open(str(folder)), "site")

    def put(self, name: str, text: str | bytes) -> Path:
        """Put a file into the inbox, as it is."""
        path = self.inbox / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def night(self) -> Night:
        """Take what has arrived."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        inbox = Inbox(str(self.inbox), self.most_bytes)
        looked = look(self.state, inbox, FileStamps({}))
        night = ingest(self.state, inbox, looked, self.how, self._folder, lambda _done, _all: None)
        tables = {
            "ingested": night.ingested,
            "waiting": night.waiting_table,
            "names": night.book.names,
            "provisional": night.provisional.rows,
            "rejected": self._rejected(night),
        }
        manifest = {
            "says_when": night.book.says_when,
            "schema_version": COMMON_VERSION,
            "tables": {},
            "records_version": RECORDS_VERSION,
            "dates": night.dates,
        }
        months = {label: night.book.month(label) for label in night.book.labels}
        version = str(len(night.ingested)) if len(night.ingested) else None
        self.state = Remembered(self.state.root, "site", version, manifest, tables, months)
        return night

    def _rejected(self, night: Night) -> pd.DataFrame:
        """Return the rejected lines as a night leaves them."""
        rows = self.state.table("rejected")
        for number, line in night.outdated.items():
            rows = rows[~((rows["file_number"] == number) & (rows["line_number"] > line))]
        return pd.concat([rows, *night.rejected], ignore_index=True)[list(empty_frame("rejected").columns)]

    def jobs(self) -> pd.DataFrame:
        """Return all jobs in one order, without what follows from the order in which files came, and with names."""
        records = self.state.table("records") if self.state.months else empty_frame("records")
        names = self.state.tables["names"]
        of_log = names.empty
        for kind, column in (("user", "user_id"), ("group", "group_id"), ("queue", "queue_id")):
            here = names[names["kind"] == kind]
            if len(here):
                records[column] = records[column].map(dict(zip(here["number"], here["name"], strict=True)))
        given = ["file_number", "line_number", "job_occurrence", "preceding_job_number"]
        given += [] if of_log else ["job_number", "executable_id", "partition_id"]
        records = records.drop(columns=given)
        return records.sort_values(["submit_time", "record_key"], kind="stable", ignore_index=True)
