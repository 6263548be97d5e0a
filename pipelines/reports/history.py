# SPDX-License-Identifier: BSD-3-Clause
"""The report on a history: what to look at, what changed since the night before, and how bounds and workload go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from pipelines.reports.report import ReportPicture, ReportTable, Section, Version, reports_on
from swftools.output.amounts import counted

NIGHTS = 30
"""Nights whose findings are shown."""


@reports_on("history", "A history: a log that grows by what arrives")
def parts(version: Version, other: Version | None) -> list[Section]:
    """Return the parts of a report on a history."""
    return [*_findings(version), *_changes(version, other), *_figures(version)]


def _findings(version: Version) -> Iterator[Section]:
    """Yield what the night found, and what the nights before did."""
    messages = [str(each["message"]) for each in version.manifest.get("findings", ())]
    yield Section("What to look at", messages or ["Nothing to report."])
    rows = [
        {"night": night, "kind": finding["kind"]}
        for night, findings in _nights(version)
        for finding in findings or [{"kind": None}]  # a night that found nothing is shown as such
    ]
    if len({row["night"] for row in rows}) > 1:  # of the first night all is said above
        yield Section("The last nights", pictures=[ReportPicture(pd.DataFrame(rows), "findings")])


def _nights(version: Version) -> Iterator[tuple[pd.Timestamp, list[dict[str, Any]]]]:
    """Yield the last nights, in order, with what they found."""
    for listed in reversed(version.root.versions(version.data_set)[:NIGHTS]):
        if listed.damage is None:
            found = version.root.manifest(version.data_set, listed.version).get("findings", ())
            yield pd.Timestamp(listed.published_at), list(found)


def _changes(version: Version, other: Version | None) -> Iterator[Section]:
    """Yield what came since another version, by default since the one that was published before."""
    account, files = version.manifest["account"], version.read("ingested")
    told = [f"{counted(account['jobs_kept'], 'job')} of {counted(len(files), 'file')}."]
    if before := other.manifest if other else _before(version):
        more = account["jobs_kept"] - before["account"]["jobs_kept"]
        told.append(f"{more:+,} jobs since version {before['version']}.")
    last = files.tail(10)[["file", "bytes", "records", "new", "merged", "replaced", "quarantined"]]
    rows = ReportTable(list(last.columns), last.to_numpy(dtype=object).tolist(), "The last files")
    yield Section("What has arrived", told, [rows])


def _before(version: Version) -> Mapping[str, Any] | None:
    """Return the manifest of the version that was published before; None of the first one."""
    names = [each.version for each in version.root.versions(version.data_set) if each.damage is None]
    older = names[names.index(version.version) + 1 :]
    return version.root.manifest(version.data_set, older[0]) if older else None


def _figures(version: Version) -> Iterator[Section]:
    """Yield how waits, policies and workload go."""
    if version.has("wait_coverage"):
        coverage = version.read("wait_coverage")
        yield Section("How often bounds of waits were right", pictures=[ReportPicture(coverage, "coverage")])
    if version.has("workload_drift"):
        drift = version.read("workload_drift")
        beyond = drift[drift["is_beyond"].astype(bool)]
        told = [
            f"{row['aspect']} by {row['statistic']}: {row['drift']:.3g}, limit {row['threshold']:.3g}."
            for row in beyond.to_dict("records")
        ]
        yield Section(
            "The workload of the last days beside the time before",
            told or ["No statistic is beyond its limit."],
            pictures=[ReportPicture(drift, "drift")],
        )
