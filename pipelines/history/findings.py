"""What a person should look at: where coverage, tightness, cleaning, load or a policy leaves its tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from pipelines.history.settings import Settings
from swftools.drift import list_drift_statistics
from swftools.drift.registry import RATIO


@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    Parameters
    ----------
    kind : str
        coverage, tightness, cleaning, file, drift or policy.
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


def of_coverage(coverage: pd.DataFrame, period: str, settings: Settings) -> Iterator[Finding]:
    """Yield methods and queues whose bounds cover too few waits in a period, or are too wide to be of use."""
    watched = settings.waits
    rows = coverage[(coverage["period"] == period) & (coverage["known"] >= watched.least_jobs)]
    for row in rows.to_dict("records"):
        queue = "all queues" if row["queue"] == "all" else f"queue {row['queue']}"
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
    """Yield months of which cleaning removed too many records, and files of which too many lines are no records.

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
            message = f"{month}: cleaning removed {removed / read:.1%} of {read:,} jobs, more than {limit:.1%}: {by}"
            yield Finding("cleaning", month, message, removed / read, limit)
    for row in ingested[ingested["ends"] > since].to_dict("records"):
        if row["records"] and row["quarantined"] / row["records"] > limit:
            share = row["quarantined"] / row["records"]
            message = f"{row['file']}: {share:.1%} of {row['records']:,} lines are no records, more than {limit:.1%}"
            yield Finding("file", row["file"], message, share, limit)


def of_drift(drift: pd.DataFrame) -> Iterator[Finding]:
    """Yield what of the workload is beyond its threshold."""
    for row in drift[drift["is_beyond"].to_numpy(dtype=bool)].to_dict("records"):
        subject = f"{row['aspect']} {row['statistic']}"
        unit = "" if row["unit"] == "1" else f" {row['unit']}"
        passed = _beyond(row["statistic"], row["drift"], row["threshold"])
        message = (
            f"{row['aspect']}: {row['recent']:.4g}{unit} lately, {row['reference']:.4g} in the time before; "
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
