# SPDX-License-Identifier: BSD-3-Clause
"""What two nights make of the golden logs: a part of ``golden.py``."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipelines.history.task import ReevaluateLogs
from pipelines.store.data_root import DataRoot

_SETTINGS = """
cleaning: {rules: [default]}
augment: {speedup: {}}
waits: {methods: [binomial, lognormal], options: {training: 200}, days: [1, 7]}
policies: {names: [easy, fcfs], days: 7, warm_up_days: 1, seeds: 2}
drift: {days: 5, reference_days: 10}
"""
_OF_MONTHS = ("jobs", "quarantine", "merged", "repairs", "cleaning_report")


@cache
def _tables(log: Path) -> tuple[dict[str, pa.Table], str]:
    """Return the tables of a history of two nights, and its page."""
    with gzip.open(log) as file:
        lines = file.readlines()
    header = [line for line in lines if line.startswith(b";")]
    jobs = [line for line in lines if not line.startswith(b";")]
    with tempfile.TemporaryDirectory() as folder:
        inbox, settings = Path(folder, "inbox"), Path(folder, "reevaluate.yaml")
        inbox.mkdir()
        settings.write_text(_SETTINGS)
        root = DataRoot.open(Path(folder, "data"))
        for name, part in (("a.swf", jobs[:3000]), ("b.swf", [*jobs[2500:], b"no job\n"])):
            (inbox / name).write_bytes(b"".join(header + part))
            ReevaluateLogs.clear_instance_cache()
            ReevaluateLogs(settings=str(settings), inbox=str(inbox), history="golden", data_root=root.location).run()
        manifest = root.manifest("golden")
        page = root.storage.read(f"golden/{manifest['version']}/summary.md").decode()
        return {name: root.read_described(manifest, name) for name in sorted(manifest["tables"])}, page


def months_of_history(log: Path) -> Iterator[pa.Table]:
    """Yield what is made of the records of months."""
    tables, _ = _tables(log)
    yield from (tables[name] for name in _OF_MONTHS)


def rest_of_history(log: Path) -> Iterator[pa.Table | str]:
    """Yield the other tables, and the page but for the version's name."""
    tables, page = _tables(log)
    yield from (table for name, table in tables.items() if name not in _OF_MONTHS)
    yield "\n".join(line for line in page.splitlines() if not line.startswith("Version "))


def history_output(log: Path, rows_of: Any, which: Any) -> Iterator[Any]:
    """Yield rows of tables, and pages as they are."""
    for part in which(log):
        if isinstance(part, str):
            yield part
        else:
            yield from rows_of(part)
