# SPDX-License-Identifier: BSD-3-Clause
"""One run of a re-evaluation, from what has arrived to a published version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.catalog.cards import LogCard
from pipelines.history.findings import Finding
from pipelines.history.fitted_augmentations import fit_augmentations, told_of
from pipelines.history.horizon import Horizon, Month, horizon_of
from pipelines.history.ingest import Night
from pipelines.history.months import TABLES, Making, making_of
from pipelines.history.policy_watch import code_of_policies, drift_of, policies_of
from pipelines.history.settings import Settings, privacy_of
from pipelines.history.state import MADE_BY, HistoryState, block_of
from pipelines.history.waits import WaitPredictions, options_of, part_of, replay_months, state_file, waits_key
from pipelines.keys import content_key, schema_of
from pipelines.logs.find import catalog_in_use
from pipelines.store.order import key_of_files
from pipelines.store.parts import PartedTable, Shared
from pipelines.tasks.facts import account_of, software
from pipelines.tasks.replay_predictor import groups_of
from swftools.drift import JOB_COLUMNS
from swftools.fields.dictionary import arrow_schema
from swftools.header import SwfHeader
from swftools.history.months import begin_of
from swftools.named import Known, named_group, names_by_kind
from swftools.qbets.evaluation import NEEDED, add_coverage, count_coverage, judge_coverage
from swftools.tables import QUICK_OPTIONS, empty_frame, read_table, to_arrow, to_pandas, write_table
from swftools.trace import Trace

CODE_VERSION = 4
"""Raised when what is published of equal files and settings differs."""

ALWAYS = (
    *(*TABLES, "records", "rejected", "wait_predictions", "ingested", "waiting", "wait_coverage"),
    *("workload_drift", "policy_watch"),
)
"""The tables that every version has."""

DAY = 86_400.0


@dataclass
class ReevaluationRun:
    """What one run makes.

    Parameters
    ----------
    settings : Settings
        What is wanted.
    night : Night
        What came.
    folder : Path
        For files on their way.
    tell : callable
        Takes what is done.
    done : callable
        Takes how much of how much is done of ``jobs``, ``waits`` or ``policies``.
    """

    settings: Settings
    night: Night
    folder: Path
    tell: Callable[[str], None]
    done: Callable[[str, int, int], None] = lambda _, __, ___: None
    _made: dict[str, Path] = field(default_factory=dict)

    @property
    def state(self) -> HistoryState:
        """What there was."""
        return self.night.state

    def name_of_group(self, group: str) -> str:
        """Return a queue, or another group of jobs, by the names that the logs have."""
        return named_group(group, groups_of(self.settings.waits.by) or (), self._names)

    @cached_property
    def _names(self) -> Known:
        return names_by_kind(self.night.book.names, SwfHeader())

    @cached_property
    def making(self) -> Making:
        """How jobs are made."""
        making = making_of(self.settings, self.state, self.night.headers, self.night.book)
        months = {label: partial(self._cleaned, making, label) for label in self.labels}
        fitted = fit_augmentations(making.augmentations, self.settings.refit, self.state, months, making.begins)
        return replace(making, fitted=fitted)

    def _cleaned(self, making: Making, label: str) -> Trace:
        """Return the jobs of a month without what augmentations add."""
        return making.cleaned(self.night.book.month(label))[0]

    @cached_property
    def version(self) -> str:
        """Content key of what is published: the files in order, what waits, the settings, and the code."""
        ingested = to_arrow(self.night.ingested, "ingested").to_pydict()
        waiting = to_arrow(self.night.waiting_table, "waiting").to_pydict()
        inputs = {
            "ingested": ingested,
            "waiting": waiting,
            "jobs": self.making.key,
            "plan": self.settings.plan,
            "waits": [waits_key(self.settings, self.making, method) for method in self.settings.waits.methods],
            "policies": code_of_policies(self.settings.policies.names),
            "terms": self.terms,
            "privacy": self.privacy,
            "history": self.settings.history,
            "schema_version": schema_of([*ALWAYS, *self._some_have]),
            **self.taking,
        }
        return content_key("reevaluate", CODE_VERSION, inputs)

    @property
    def taking(self) -> dict[str, Any]:
        """How the records were taken that the table of files does not tell of."""
        version, mended = self.state.records_version, self.state.manifest.get("mended", [])
        return {**({"records_version": version} if version > 1 else {}), **({"mended": mended} if mended else {})}

    @property
    def _some_have(self) -> dict[str, pd.DataFrame]:
        """The tables that only some versions have: those in which there is something."""
        found = {"provisional": self.night.provisional.rows, "names": self.night.book.names}
        return {table: rows for table, rows in found.items() if len(rows)}

    @cached_property
    def terms(self) -> dict[str, Any]:
        """Origin and terms of the logs."""
        card = catalog_in_use().log(self.settings.log.card) if self.settings.log.card else None
        return terms_of(card, self.making)

    @cached_property
    def privacy(self) -> dict[str, Any]:
        """What is told of names, and by which key, without the key."""
        return privacy_of(self.settings)

    @property
    def labels(self) -> list[str]:
        """All months."""
        return self.night.book.labels

    @cached_property
    def is_made_anew(self) -> bool:
        """Whether jobs of all months are made anew: the settings, the machine or the code changed."""
        return self.making.key != self.state.manifest.get("jobs_key")

    def is_changed(self, label: str) -> bool:
        """Whether the jobs of a month are not those of the last version."""
        return self.is_made_anew or label in self.night.book.changed

    def made(self, label: str, table: str) -> pa.Table:
        """Return a table of a month that changed; they are kept on disk, since there may be many."""
        if label not in self._made:
            self.tell(f"jobs of {label}")
            folder = self.folder / label
            folder.mkdir()
            for name, data in self.making.tables(self.night.book.month(label)).items():
                with (folder / f"{name}.parquet").open("xb") as file:  # on its way: it need not be on disk
                    write_table(data, file, name, QUICK_OPTIONS)
            self._made[label] = folder
            self.done("jobs", len(self._made), sum(map(self.is_changed, self.labels)))
        return read_table(self._made[label] / f"{table}.parquet", table)

    def jobs(self, label: str) -> pd.DataFrame:
        """Return the jobs of a month."""
        return (
            to_pandas(self.made(label, "jobs"), "jobs") if self.is_changed(label) else self.state.table("jobs", [label])
        )

    def trace(self, label: str) -> Trace:
        """Return the cleaned jobs of a month."""
        jobs = self.jobs(label)
        return Trace(self.making.header, jobs, machine_processors=self.making.processors)

    def trace_since(self, seconds: float) -> Trace:
        """Return the cleaned jobs that were submitted after some time of the history."""
        labels = self.labels_since(seconds)
        traces = [self.trace(label) for label in labels]
        jobs = pd.concat([trace.jobs for trace in traces], ignore_index=True)
        return traces[0].with_jobs(jobs[jobs["submit_time"] > seconds].reset_index(drop=True))

    def columns_since(self, seconds: float, names: Sequence[str]) -> pd.DataFrame:
        """Return some columns of the cleaned jobs of the months that have times after some time."""
        found = []
        for label in self.labels_since(seconds):
            if self.is_changed(label):
                found.append(to_pandas(self.made(label, "jobs").select(names), "jobs"))
            else:
                found.append(self.state.table("jobs", [label], names))
        return pd.concat(found, ignore_index=True)

    def labels_since(self, seconds: float) -> list[str]:
        """Return the months that have times after some time, to the one in which the history ends."""
        found = [label for place, label in enumerate(self.labels) if self._ends_after(place, seconds)]
        return [label for label in found if begin_of(label) - self.making.begins <= self.until] or found[-1:]

    def _ends_after(self, place: int, seconds: float) -> bool:
        """Whether a month has times after some time."""
        return place + 1 == len(self.labels) or begin_of(self.labels[place + 1]) - self.making.begins > seconds

    @cached_property
    def horizon(self) -> Horizon:
        """Where the history ends, and what is dated behind it."""
        months = []
        for label in self.labels:
            if self.is_changed(label):
                submit = self.made(label, "jobs")["submit_time"]
                told = pc.min(submit).as_py(), pc.max(submit).as_py(), len(submit)
            else:
                measured = self.state.measured("jobs", label, "submit_time")
                told = measured.least, measured.most, self.state.rows("jobs", label)
            if told[1] is not None:
                months.append(Month(*told))
        return horizon_of(months, self.settings.longest_gap * DAY)

    @property
    def until(self) -> float:
        """The last submission of a job that was kept, in seconds of the history; periods end there."""
        return self.horizon.until

    @cached_property
    def waits(self) -> list[WaitPredictions]:
        """Predictions by each method."""
        months = {label: partial(self.trace, label) for label in self.labels}
        told = self.tell, partial(self.done, "waits")
        return replay_months(self.settings, self.state, self.making, months, self.is_changed, self.folder, *told)

    def predictions(self, waits: WaitPredictions, labels: Iterable[str]) -> pd.DataFrame:
        """Return what is counted of predictions of some months."""
        found = []
        for label in labels:
            part = waits.parts[label]
            if isinstance(part, Shared):
                found.append(self.state.table("wait_predictions", [part_of(waits.method, label)], list(NEEDED)))
            else:
                found.append(to_pandas(part().select(NEEDED), "wait_predictions"))
        return pd.concat(found, ignore_index=True)

    @cached_property
    def coverage(self) -> pd.DataFrame:
        """The table ``wait_coverage``."""
        before = self.state.table("wait_coverage")
        quantile, chance = float(options_of(self.settings)["quantile"]), self.settings.waits.chance
        tables = []
        for waits in self.waits:
            months = []
            for label in self.labels:
                if isinstance(waits.parts[label], Shared):
                    old = before[(before["period"] == label) & (before["method"] == waits.method)]
                    months.append(judge_coverage(old, quantile=quantile, chance=chance))
                else:
                    part = self.predictions(waits, [label])
                    months.append(count_coverage(part, label, quantile=quantile, chance=chance))
            if not months:
                continue
            tables += months
            for days in self.settings.waits.days:
                since = self.until - days * DAY
                part = self.predictions(waits, self.labels_since(since))
                part = part[part["submit_time"] > since]
                tables.append(count_coverage(part, last_days(days), quantile=quantile, chance=chance))
            tables.append(add_coverage(months, "all", quantile=quantile, chance=chance))
        return pd.concat(tables, ignore_index=True) if tables else before.iloc[:0]

    @cached_property
    def drift(self) -> pd.DataFrame:
        """The table ``workload_drift``."""
        chosen = self.settings.drift
        jobs = self.columns_since(self.until - (chosen.days + chosen.reference_days) * DAY, JOB_COLUMNS)
        return drift_of(self.settings, jobs, self.making.processors, self.until)

    @cached_property
    def watched(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The table ``policy_watch``, and what got worse."""
        return policies_of(self.settings, self.trace_since, self.until, self.tell, partial(self.done, "policies"))

    def tables(self) -> dict[str, pa.Table | PartedTable]:
        """Return all tables of the version."""
        book = self.night.book
        version = Shared(str(self.state.version))
        anew = book.changed if self.state.is_of_this_schema("records") else set(self.labels)
        records = {label: partial(self._records, label) if label in anew else version for label in self.labels}
        columns = self.making.columns if self.is_made_anew else {table: self.state.columns(table) for table in TABLES}
        found: dict[str, pa.Table | PartedTable] = {}
        for table in TABLES:
            parts = {
                label: partial(self.made, label, table) if self.is_changed(label) else version for label in self.labels
            }
            found[table] = PartedTable(parts, columns[table])
        found["records"] = PartedTable(records, tuple(arrow_schema("records").names))
        found["rejected"] = PartedTable(self._rejected(), tuple(arrow_schema("rejected").names))
        told = {part_of(waits.method, label): part for waits in self.waits for label, part in waits.parts.items()}
        found["wait_predictions"] = PartedTable(told, tuple(arrow_schema("wait_predictions").names))
        small = {"ingested": self.night.ingested, "waiting": self.night.waiting_table, "wait_coverage": self.coverage}
        small |= {"workload_drift": self.drift, "policy_watch": self.watched[0], **self._some_have}
        return found | {name: to_arrow(frame, name) for name, frame in small.items()}

    def _records(self, label: str) -> pa.Table:
        """Return the records of a month."""
        return to_arrow(self.night.book.month(label), "records")

    def _rejected(self) -> dict[str, pa.Table | Shared]:
        """Return the rejected lines by blocks of files, of which those that got some are new."""
        parts: dict[str, Any] = {label: Shared(str(self.state.version)) for label in self.state.labels("rejected")}
        came = pd.concat(self.night.rejected, ignore_index=True) if self.night.rejected else None
        touched = {block_of(number) for number in self.night.outdated} & parts.keys()
        if came is not None:
            touched |= {block_of(int(number)) for number in came["file_number"].unique()}
        if not self.state.is_of_this_schema("rejected"):
            touched |= parts.keys()
        for label in sorted(touched):
            rows = self.state.table("rejected", [label] if label in parts else [])
            for number, line in self.night.outdated.items():
                rows = rows[~((rows["file_number"] == number) & (rows["line_number"] > line))]
            if came is not None:
                here = came[came["file_number"].map(lambda number: block_of(int(number))) == label]
                rows = pd.concat([rows, here[list(rows.columns)].astype(rows.dtypes.to_dict())], ignore_index=True)
            parts[label] = to_arrow(rows, "rejected")
        # A table without a file could not be read by others.
        return parts or {block_of(1): to_arrow(empty_frame("rejected"), "rejected")}

    @cached_property
    def accounts(self) -> dict[str, Any]:
        """What became of the records of each month."""
        before = self.state.manifest.get("accounts", {})
        return {
            label: account_of(to_pandas(self.made(label, "cleaning_report"), "cleaning_report"))
            if self.is_changed(label)
            else before[label]
            for label in self.labels
        }

    def facts(self, findings: Iterable[Finding]) -> dict[str, Any]:
        """Return what determines the content, and what a user of it must know."""
        return {
            **self.terms,
            "privacy": self.privacy,
            "made_by": MADE_BY,
            "main_table": "jobs",
            "data_set": self.settings.history,
            "version": self.version,
            "log": {
                "name": self.settings.history,
                "key": key_of_files(list(self.night.ingested["sha256"])),
            },
            "header": self.making.header.to_lines(),
            "machine_processors": self.making.processors,
            "says_when": self.night.book.says_when,
            **({"dates": dict(sorted(self.night.dates.items()))} if self.night.dates else {}),
            "until": self.until,
            "files_ingested": len(self.night.ingested),
            "jobs_key": self.making.key,
            **self.taking,
            "waits": {
                waits.method: {
                    "key": waits.key,
                    "states": sorted(waits.states),
                    "files": {label: state_file(waits.method, label) for label in sorted(waits.states)},
                }
                for waits in self.waits
            },
            "names": {
                kind: dict(zip(names["name"], names["number"].astype(int).tolist(), strict=True))
                for kind, names in self.night.book.names.groupby("kind", sort=True)
                if kind in ("queue", "partition")
            },
            "fitted": {name: each.facts for name, each in self.making.fitted.items()},
            "accounts": self.accounts,
            "account": summed(self.accounts.values()),
            "assumptions": assumptions_of(self.making, self.night),
            "parameters": self.settings.plan,
            "seed": self.settings.seed,
            "findings": [finding.to_mapping() for finding in findings],
            "code_versions": {MADE_BY: CODE_VERSION},
            "software": software(),
        }


def last_days(days: float) -> str:
    """Return what a period of some days before the end is called."""
    return f"last {days:g} day{'s' * (days != 1)}"


def summed(accounts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what became of the records of several months."""
    total: dict[str, Any] = {"job_lines_read": 0, "jobs_kept": 0}
    by_rule: dict[str, Counter[str]] = {name: Counter() for name in ("quarantined", "merged", "repaired", "flagged")}
    for account in accounts:
        for name in total:
            total[name] += account[name]
        for name, counts in by_rule.items():
            counts.update(account[name])
    return {**total, **{name: dict(sorted(counts.items())) for name, counts in by_rule.items()}}


def terms_of(card: LogCard | None, making: Making) -> dict[str, Any]:
    """Return origin and terms: by the card, else by the header."""
    header = making.header
    by_header = {
        "licence": (header.copyright and f"by the log's header: {header.copyright}") or "none stated: there is no card",
        "acknowledgement": "\n".join(header.acknowledgements),
        "computer": header.computer,
        "installation": header.installation,
    }
    known = {name: text for name, text in by_header.items() if text}
    if card is not None:
        known |= {
            "title": card.title,
            "licence": card.licence,
            "acknowledgement": card.acknowledgement,
            "citation": card.citation,
        }
    return known


def assumptions_of(making: Making, night: Night) -> list[str]:
    """Return in words what is not known, and what was taken for it."""
    told = []
    if making.processors is None:
        told.append("The size of the machine is not known: no job was found too wide, and no policy can be replayed.")
    if night.book.says_when is False:
        told.append("The files do not say when they begin (UnixStartTime): months are counted as if from 1970 on.")
    told += told_of(making.fitted.values(), says_when=bool(night.book.says_when))
    return told
