# SPDX-License-Identifier: BSD-3-Clause
"""A run's tables and files, published as the next version of the history."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pipelines.history.findings import Finding, of_cleaning, of_coverage, of_dates, of_drift, of_machines, of_policies
from pipelines.history.reevaluation_run import DAY, ReevaluationRun, last_days
from pipelines.history.summary import shown_text, summary_text
from pipelines.history.waits import state_file
from pipelines.store.croissant import CROISSANT, writes_croissant
from pipelines.store.data_package import DATA_PACKAGE, schema_file, table_schema_text, writes_data_package
from pipelines.store.data_root import DataRoot, Publication
from pipelines.store.parts import PartedTable, Shared
from pipelines.store.readme import readme_text
from pipelines.tasks.publishing import writer_of
from swftools.fields.dictionary import arrow_schema

WHAT = "A history of a machine: the jobs of many files, and what predictors would have told them of their waits"
"""What kind of data set it is."""


def findings_of(run: ReevaluationRun) -> Iterator[Finding]:
    """Yield what a person should look at."""
    period = run.settings.waits.days[-1]
    yield from of_coverage(run.coverage, last_days(period), run.settings, run.name_of_group)
    since = run.until - period * DAY
    recent = {label: run.accounts[label] for label in run.labels_since(since)}
    yield from of_drift(run.drift)
    yield from of_policies(run.watched[1])
    files, begins = run.night.ingested, run.making.begins
    yield from of_cleaning(recent, files, since + begins, run.settings)
    is_given = bool(run.settings.log.processors or run.settings.log.card)
    yield from of_machines(files, run.making.processors, since + begins, is_given=is_given)
    yield from of_dates(files, run.horizon, begins, run.settings)


def publish(run: ReevaluationRun, root: DataRoot) -> Publication:
    """Publish what a run made."""
    name, version = run.settings.history, run.version
    findings = list(findings_of(run))
    tables = run.tables()
    files: dict[str, Path | Shared] = {}
    for waits in run.waits:
        files |= {state_file(waits.method, label): source for label, source in waits.states.items()}
    facts = run.facts(findings)
    own: dict[str, Callable[[Path], None]] = {"summary.md": writer_of(summary_text(run, facts, findings))}
    for fitted in run.making.fitted.values():
        if fitted.is_new:
            own[fitted.file] = writer_of(fitted.read().decode())
        else:
            files[fitted.file] = Shared(str(run.state.version))
    for table, data in tables.items():
        if isinstance(data, PartedTable):
            own[schema_file(table)] = writer_of(table_schema_text(table, arrow_schema(table, data.columns).names))
    names = sorted([*own, *files])
    rows = {table: _rows(run, table, data) for table, data in tables.items()}
    columns = {
        table: list(data.columns if isinstance(data, PartedTable) else data.column_names)
        for table, data in tables.items()
    }
    readme = readme_text(facts, rows, names, WHAT, shown_text(run), _made_of(run), columns.get("jobs", ()))
    own["README.md"] = writer_of(readme)
    for file, write in own.items():
        path = run.folder / file
        write(path)
        files[file] = path
    manifest = {key: value for key, value in facts.items() if key not in ("data_set", "version")}
    last = {
        DATA_PACKAGE: writes_data_package(facts, columns, names),
        CROISSANT: writes_croissant(facts, columns),
    }
    return root.publish(name, version, tables, manifest=manifest, files=files, last=last, after=run.state.version)


def _made_of(run: ReevaluationRun) -> str:
    """Return in words what the history is made of: files, which are rows of a table."""
    count = len(run.night.ingested)
    return f"{count:,} file{'s' * (count != 1)}, which the table `ingested` lists with their hashes"


def _rows(run: ReevaluationRun, table: str, data: Any) -> int:
    """Return how many rows a table has."""
    if not isinstance(data, PartedTable):
        return int(data.num_rows)
    count = 0
    for label, part in data.parts.items():
        if isinstance(part, Shared):
            count += run.state.rows(table, label)
        else:
            count += int((part if not callable(part) else part()).num_rows)
    return count
