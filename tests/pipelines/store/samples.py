# SPDX-License-Identifier: BSD-3-Clause
"""Small published versions, and what to look at on a data root."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipelines.names import MANIFEST
from pipelines.store.data_root import DataRoot, Publication
from swftools.fields.dictionary import SWF_NAMES, arrow_schema

RECORD = {"licence": "none stated", "citation": "Zoë 2026", "parameters": {"seed": 7}}


def jobs(rows: int = 3) -> pa.Table:
    """Make a table of jobs: number, submission, run time and width known, the last run time missing."""
    columns: dict[str, Any] = {name: [None] * rows for name in SWF_NAMES}
    columns["job_number"] = range(1, rows + 1)
    columns["submit_time"] = [10.0 * row for row in range(rows)]
    columns["run_time"] = [*(2.5 * row for row in range(rows - 1)), None]
    columns["allocated_processors"] = [2**row for row in range(rows)] if rows < 20 else [1] * rows
    return pa.Table.from_pydict(columns, schema=arrow_schema("jobs", SWF_NAMES))


def quarantine() -> pa.Table:
    """Make a table of one quarantined line."""
    row = {"line_number": 7, "rule": "read", "reason": "17 fields, not 18", "text": "7 0 -1"}
    return pa.Table.from_pylist([row], schema=arrow_schema("quarantine"))


def as_published(root: DataRoot, version: str = "latest") -> pa.Table:
    """Return the jobs of a version without the notes of whose they are: what was given to be published."""
    table = root.read_table("sdsc", "jobs", version)
    ours = arrow_schema("jobs", table.column_names).metadata
    assert ours.items() <= table.schema.metadata.items()
    return table.replace_schema_metadata(ours)


def publish(root: DataRoot, version: str, data_set: str = "sdsc", rows: int = 3) -> Publication:
    """Publish a small version."""
    return root.publish(data_set, version, {"jobs": jobs(rows), "quarantine": quarantine()}, manifest=RECORD)


def contents(directory: Path) -> dict[str, bytes]:
    """Read every file below a directory."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def staged(directory: Path) -> list[str]:
    """Return what is left in the staging areas below a root."""
    return [path.name for area in directory.rglob(".staging") for path in area.iterdir()]


def date(root: Path, *versions: str) -> None:
    """Let versions have been published on successive days."""
    for day, version in enumerate(versions):
        seconds = datetime(2026, 1, 1 + day, tzinfo=UTC).timestamp()
        os.utime(root / "sdsc" / version / MANIFEST, (seconds, seconds))


def check_whole(root: DataRoot, place: Path, *, is_linked: bool = True) -> None:
    """Check that every version to be seen is whole, that `latest` names one of them, and that `current` follows it."""
    versions = [listed.version for listed in root.versions("sdsc")]
    entries = {path.name for path in (place / "sdsc").iterdir()}
    assert entries - {".staging", "latest", "current"} == set(versions)
    if is_linked and root.is_published("sdsc", str(root.latest("sdsc"))):
        assert root.faults_of_link("sdsc") == []
    assert [] == [problem for version in versions for problem in root.verify("sdsc", version)]
    assert root.latest("sdsc") in versions
