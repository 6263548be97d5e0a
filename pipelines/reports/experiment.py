# SPDX-License-Identifier: BSD-3-Clause
"""The report on an experiment: which differences are more than noise, means with intervals, a picture a measure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from pipelines.experiments.axes import OPTIONS, SETTING, with_options
from pipelines.experiments.differences import sentences
from pipelines.experiments.means import different_repetitions, means_of, settings_in_words, usual_values
from pipelines.reports.report import (
    NumberCell,
    ReportPicture,
    ReportTable,
    Section,
    Version,
    begun,
    reports_on,
    sentence,
)
from swftools.output.amounts import amount, counted, difference
from swftools.plots.over_seeds import words_of

MOST_POINTS = 16
"""With more settings and policies than these a picture has a row a setting, and shows differences."""

ROOM = 24
"""Characters of a name beside an axis; more are cut off, where names may differ."""

METRICS = ("policy", "job_class", "classed_by", "measure", "statistic", "value", "unit", "seed", "shake", *SETTING)
"""Columns of the table experiment that are needed."""


@reports_on("experiment_differences", "An experiment with scheduling policies by simulation")
def parts(version: Version, other: Version | None) -> list[Section]:
    """Return the parts of a report on an experiment."""
    values = usual_values(_read(version, "experiment", METRICS))
    differences = _read(version, "experiment_differences")
    sections = [
        Section("What was run", [*_cells(values), *_assumptions(version)]),
        Section("Which differences are more than noise", _found(differences)),
        *_measures(values, differences),
    ]
    if other:
        beside = _measures(usual_values(_read(other, "experiment", METRICS)), _read(other, "experiment_differences"))
        end = f", {other.data_set} {other.version[:8]}"
        sections += [replace(part, heading=f"{part.heading}{end}") for part in beside]
    taken = version.manifest["parameters"].get("statistics", "")
    return [*sections, *([Section("What the statistics take for granted", [taken])] if taken else [])]


def _read(version: Version, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read a table, or some columns of it, with all options."""
    there = version.manifest["tables"][table]["columns"]
    return with_options(version.read(table, columns and [name for name in columns if name in there]))


def _cells(values: pd.DataFrame) -> Iterator[str]:
    """Yield what the cells are, in words."""
    runs = values.drop_duplicates([*SETTING, "policy", "seed", "shake"])
    alike = runs.groupby([*SETTING, "policy"], dropna=False).size()
    policies = runs["policy"].nunique()
    yield (
        f"{counted(len(runs), 'simulation')}: {policies} {'policy' if policies == 1 else 'policies'} on "
        f"{counted(len(runs[list(SETTING)].drop_duplicates()), 'setting')} (logs and options), "
        f"{counted(int(alike.max()), 'repetition')} each (seeds and shakes)."
    )
    for name in OPTIONS:
        if runs[name].nunique(dropna=False) > 1:
            yield f"{begun(name.replace('_', ' '))}: {', '.join(map(str, runs[name].unique()))}."


def _assumptions(version: Version) -> list[str]:
    """Return what the runs assume, once each."""
    told = dict.fromkeys(
        text for source in version.manifest.get("sources", ()) for text in source.get("assumptions", ())
    )
    return [sentence(text) for text in told if text]


def _found(differences: pd.DataFrame) -> list[str]:
    """Return which differences are more than noise, or why none is told; a sentence a measure."""
    named: dict[str, list[str]] = {}
    for line in sentences(differences, SETTING):
        measure, _, words = line.partition(": ")
        # Which they are stands in the tables below.
        head, found, _ = words.partition(" are more than noise")
        named.setdefault(head + found, []).append(words_of(measure, ""))
    told = [sentence(f"{', '.join(measures)}: {words}") for words, measures in named.items()]
    return told or ["There is one policy: nothing is compared."]


def _measures(values: pd.DataFrame, differences: pd.DataFrame) -> Iterator[Section]:
    """Yield a part a measure: its means and differences with their intervals, and a picture where values differ."""
    means, runs = means_of(values), different_repetitions(values)
    for measure, rows in means.groupby("measure", sort=False):
        words = begun(words_of(str(measure), ""))
        if rows["mean"].round(9).nunique() == 1:
            mean, unit = rows.iloc[0][["mean", "unit"]]
            yield Section(words, [f"{amount(mean, unit)} under every policy, in every setting."])
        else:
            compared = differences[differences["measure"] == measure]
            pictures = [_picture(runs[runs["measure"] == measure], str(measure))]
            yield Section(words, tables=[_table(rows, compared)], pictures=pictures)


def _table(means: pd.DataFrame, differences: pd.DataFrame) -> ReportTable:
    """Return a measure as a table: a row for each setting and policy, without columns that would be empty."""
    told = [name for name in differences if name not in (*means, "baseline")]
    rows = means.merge(differences[[*SETTING, "policy", *told, "baseline"]], on=[*SETTING, "policy"], how="left")
    ends = differences.rename(columns={"low": "low_of_difference", "high": "high_of_difference"})
    low, high = "low_of_difference", "high_of_difference"
    rows = rows.merge(ends[[*SETTING, "policy", low, high]], on=[*SETTING, "policy"], how="left")
    unit, baseline = str(means["unit"].iloc[0]), str(differences["baseline"].iloc[0]) if len(differences) else ""
    each, longest = rows.to_dict("records"), float(means["mean"].abs().max())
    columns: dict[str, list[object]] = {
        "setting": list(settings_in_words(rows)),
        "policy": [row["policy"] for row in each],
        "mean": [NumberCell(row["mean"], amount(row["mean"], unit, longest)) for row in each],
        "95 % interval": [_between(row["low"], row["high"], unit, longest) for row in each],
        "repetitions": [row["repetitions"] for row in each],
        f"less that of {baseline}": [_signed(row["difference"], unit, longest) for row in each],
        "its 95 % interval": [_between(row[low], row[high], unit, longest) for row in each],
        "more than noise": ["" if row["difference"] != row["difference"] else _judged(row) for row in each],
    }
    if len(set(columns["setting"])) == 1:
        del columns["setting"]
    kept = {name: cells for name, cells in columns.items() if any(cell != "" for cell in cells)}
    return ReportTable(list(kept), list(zip(*kept.values(), strict=True)))


def _judged(row: dict[Any, Any]) -> str:
    """Return whether a difference is more than noise, with the p-value that says so."""
    return f"{'yes' if row['is_told_apart'] else 'no'}, p {row['adjusted_p_value']:.2g}"


def _picture(runs: pd.DataFrame, measure: str) -> ReportPicture:
    """Return a measure as a picture: along the load, by policy, or as differences where there are many."""
    runs = runs.assign(seed=runs.groupby(["seed", "shake"], sort=False).ngroup(), job_class="all", statistic="value")
    if runs["load"].nunique() > 1 and runs["policy"].nunique() == 1:
        return ReportPicture(runs, "sensitivity", {"metric": measure, "along": "load"})
    settings = settings_in_words(runs)
    runs = runs.assign(log=settings.map(_short(settings.unique().tolist())) if settings.nunique() > 1 else "")
    points = len(runs[["log", "policy"]].drop_duplicates())
    name = "policies" if points <= MOST_POINTS or runs["policy"].nunique() == 1 else "differences"
    return ReportPicture(runs, name, {"metric": measure})


def _short(names: list[str]) -> dict[str, str]:
    """Return names as a picture has room for them: of long ones the parts that they all begin with are left out."""
    same = 0
    if max(map(len, names)) > ROOM:
        differ = (place for place, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1)
        begin = names[0][: next(differ, len(min(names, key=len)))]
        same = max((part.end() for part in re.finditer("[-,:/] ?", begin)), default=len(begin))
    return {name: f"..{name[same:]}" if same > 2 else name for name in names}


def _between(low: Any, high: Any, unit: str, longest: float) -> str | NumberCell:
    """Return an interval in words, in the unit of the longest time; nothing where it is not known."""
    return "" if low != low else NumberCell(low, f"{amount(low, unit, longest)} to {amount(high, unit, longest)}")  # noqa: PLR0124 (NaN)


def _signed(value: float, unit: str, longest: float) -> str | NumberCell:
    """Return a difference in words, with its sign, in the unit of the longest time; nothing where it is not known."""
    return "" if value != value else NumberCell(value, difference(value, unit, longest))  # noqa: PLR0124 (NaN)
