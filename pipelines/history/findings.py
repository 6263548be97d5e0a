# SPDX-License-Identifier: BSD-3-Clause
"""What a person should look at: where coverage, tightness, cleaning, load or a policy leaves its tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from pipelines.history.horizon import Horizon
from pipelines.history.settings import Settings
from swftools.drift import list_drift_statistics
from swftools.drift.registry import RATIO
from swftools.output.amounts import amount, percent


@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    Parameters
    ----------
    kind : str
        coverage, tightness, cleaning, file, machine, date, drift or policy.
    subject : str
        What it is about, as ``binomial queue 3``.
    message : str
        In words, one line.
    value, limit : float
        What was measured, and what it should have been within.
    """

    kind: str
    subject: str
    message: str
    value: float
    limit: float

    def to_mapping(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return asdict(self)


def of_coverage(
    coverage: pd.DataFrame, period: str, settings: Settings, called: Callable[[str], str] = str
) -> Iterator[Finding]:
    """Yield methods and queues whose bounds cover too few waits in a period, or are too wide to be of use.

    ``called`` gives the name of a queue, by what the table has.
    """
    watched = settings.waits
    rows = coverage[(coverage["period"] == period) & (coverage["known"] >= watched.least_jobs)]
    for row in rows.to_dict("records"):
        queue = "all queues" if row["queue"] == "all" else f"queue {called(row['queue'])}"
        where = f"{row['method']}, {queue}"
        if row["is_below"] is True:
            message = (
                f"{where}, {period}: {row['coverage']:.4f} of {row['known']:,} waits were within their bounds, "
                f"less than {row['least_coverage']:.4f}"
            )
            yield Finding("coverage", where, message, row["coverage"], row["least_coverage"])
        if row["tightness"] > watched.widest:
            message = (
                f"{where}, {period}: bounds are {row['tightness']:,.1f} times the wait (geometric mean), more than "
                f"{watched.widest:g}"
            )
            yield Finding("tightness", where, message, row["tightness"], watched.widest)


def of_cleaning(
    accounts: dict[str, Any], ingested: pd.DataFrame, since: float, settings: Settings
) -> Iterator[Finding]:
    """Yield months of which cleaning removed too many records, and files of which too many lines are not records.

    Parameters
    ----------
    accounts : dict
        Of the months that are looked at.
    ingested : pandas.DataFrame
        The table of files.
    since : float
        Files whose last submission is before are not looked at, s.
    settings : Settings
        With the limit.
    """
    limit = settings.cleaning.most_quarantined
    for month, account in accounts.items():
        read, removed = account["job_lines_read"], sum(account["quarantined"].values())
        if read and removed / read > limit:
            by = ", ".join(f"{rule} {count:,}" for rule, count in account["quarantined"].items())
            message = (
                f"{month}: cleaning removed {percent(removed, read, digits=1)} of {read:,} jobs, more than "
                f"{percent(limit, digits=1)}: {by}"
            )
            yield Finding("cleaning", month, message, removed / read, limit)
    for row in ingested[ingested["ends"] > since].to_dict("records"):
        if row["records"] and row["quarantined"] / row["records"] > limit:
            share = row["quarantined"] / row["records"]
            message = (
                f"{row['file']}: {percent(share, digits=1)} of {row['records']:,} lines are no records, more than "
                f"{percent(limit, digits=1)}"
            )
            yield Finding("file", row["file"], message, share, limit)


def of_machines(ingested: pd.DataFrame, processors: int | None, since: float, *, is_given: bool) -> Iterator[Finding]:
    """Yield what files say of the machine that most others do not, and files with jobs that are wider than it.

    Parameters
    ----------
    ingested : pandas.DataFrame
        The table of files.
    processors : int or None
        Size of the machine.
    since : float
        Files whose last submission is before are not looked at, s.
    is_given : bool
        Whether settings or a card say that, and not the files.
    """
    lately = ingested["ends"] > since
    for column, what in (("processors", "processors"), ("computer", "as the machine")):
        said: Any = ingested[ingested[column].notna()]
        if said.empty:
            continue
        is_setting = is_given and column == "processors"
        usual: Any = processors if is_setting else said.groupby(column)["records"].sum().idxmax()
        whose = "the settings say" if is_setting else "the files of most jobs say"
        value: Any
        for value, files in said[lately[said.index] & (said[column] != usual)].groupby(column):
            first, more = files["file"].iloc[0], len(files) - 1
            where = f"{first} and {more:,} more" if more else first
            told, others = (f"{each:,}" if column == "processors" else each for each in (value, usual))
            message = f"{where}: says {told} {what}, and {whose} {others}; is it of another machine?"
            amounts = (float(value), float(usual)) if column == "processors" else (float(len(files)), 0.0)
            yield Finding("machine", first, message, *amounts)
    if processors is not None:
        for row in ingested[lately & (ingested["widest"].fillna(0) > processors)].to_dict("records"):
            message = (
                f"{row['file']}: a job of {int(row['widest']):,} processors, and the machine has {processors:,}; is it "
                "of another machine?"
            )
            yield Finding("machine", row["file"], message, float(row["widest"]), float(processors))


def of_dates(ingested: pd.DataFrame, horizon: Horizon, begins: float, settings: Settings) -> Iterator[Finding]:
    """Yield files with jobs that are dated far behind all others."""
    if horizon.first_behind is None:
        return
    end, gap = begins + horizon.until, settings.longest_gap
    for row in ingested[ingested["ends"] >= begins + horizon.first_behind].to_dict("records"):
        last, until = (datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d") for moment in (row["ends"], end))
        message = (
            f"{row['file']}: a job of {last}, and no other within {gap:g} days of {until}, where the history is taken "
            "to end; if the date is right, allow a longer gap by longest_gap: in the settings"
        )
        yield Finding("date", row["file"], message, (row["ends"] - end) / 86_400.0, gap)


def of_drift(drift: pd.DataFrame) -> Iterator[Finding]:
    """Yield what of the workload is beyond its threshold."""
    for row in drift[drift["is_beyond"].to_numpy(dtype=bool)].to_dict("records"):
        subject = f"{row['aspect']} {row['statistic']}"
        recent, before = (amount(row[name], row["unit"]) for name in ("recent", "reference"))
        passed = _beyond(row["statistic"], row["drift"], row["threshold"])
        message = (
            f"{row['aspect']}: {recent} lately, {before} in the time before; "
            f"{row['statistic'].replace('_', ' ')} {row['drift']:.4g}, {passed}"
        )
        yield Finding("drift", subject, message, row["drift"], row["threshold"])


def _beyond(statistic: str, drift: float, threshold: float) -> str:
    """Return in words which bound was passed: a ratio may be above its threshold or below 1 / it, a difference -it."""
    if drift > threshold:
        return f"above {threshold:.4g}"
    return f"below 1/{threshold:.4g}" if list_drift_statistics()[statistic].form == RATIO else f"below -{threshold:.4g}"


def of_policies(worse: pd.DataFrame) -> Iterator[Finding]:
    """Yield measures of policies that got worse by more than noise."""
    for row in worse.to_dict("records"):
        subject = f"{row['policy']} {row['measure']} {row['statistic']}"
        yield Finding("policy", subject, str(row["finding"]), row["now"], row["before"])
