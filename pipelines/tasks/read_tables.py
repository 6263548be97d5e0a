# SPDX-License-Identifier: BSD-3-Clause
"""ReadTables: read tables that are no log of jobs, so that the experiments of a paper find them as one table."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from pipelines.catalog.cards import TablesCard
from pipelines.keys import content_key
from pipelines.logs.find import find_log
from pipelines.logs.tables import Tables, read_tables
from pipelines.tasks.facts import card_of
from pipelines.tasks.log_task import LogTask
from pipelines.tasks.one_look import once_a_look
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError


class ReadTables(LogTask):
    """Read the files of a card of tables, and fetch those that are not on this machine.

    Writes ``<work root>/tables/<key>/`` with the table as Parquet, and the names of its files; complete when that
    exists.
    """

    code_version = 1

    def check_values(self) -> None:
        """Raise ParameterError if what is named is a log, or nothing."""
        super().check_values()
        _ = self.card

    @property
    def card(self) -> TablesCard:
        """The card of the tables.

        Raises
        ------
        ParameterError
            What is named is a log, or nothing.
        """
        if self.found.tables is None:
            raise ParameterError(f"{self.log} is no card under tables in data_catalog.yaml; name one of these")
        return self.found.tables

    @property
    @once_a_look
    def key(self) -> str:
        """Content key of the output."""
        return content_key("tables", self.code_version, {"tables": self.log_key})

    def output(self) -> DirectoryTarget:
        """Return the directory of the table."""
        return self.directory("tables", self.key)

    def run(self) -> None:
        """Read them."""
        read = read_tables(self.card)
        with self.output().fill() as directory:
            read.table.to_parquet(directory / "table.parquet", index=False)
            names = {"files": read.files, "found": read.found}
            (directory / "files.json").write_text(json.dumps(names), encoding="utf-8")

    def load(self) -> Tables:
        """Return what was read."""
        path = self.output().path
        names = json.loads((path / "files.json").read_text(encoding="utf-8"))
        return Tables(self.found.name, names["files"], names["found"], pd.read_parquet(path / "table.parquet"))

    def facts(self) -> dict[str, Any]:
        """Return what a user of what was made of them must know."""
        read, log = self.load(), find_log(self.log)
        missing = [name for name in read.files if name not in read.found]
        told = [f"{len(missing)} of {len(read.files)} files are missing: {', '.join(missing)}."] if missing else []
        return {
            **card_of(log),
            "log": {"name": log.name, "key": log.sha256, "files": read.found},
            "account": {
                "job_lines_read": len(read.table),
                "jobs_kept": len(read.table),
                **{name: {} for name in ("quarantined", "merged", "repaired", "flagged")},
            },
            "assumptions": told,
        }
