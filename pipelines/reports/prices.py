# SPDX-License-Identifier: BSD-3-Clause
"""The report on the prices of a schedule's jobs: sums, what each user owes, and why jobs have no price."""

from __future__ import annotations

import pandas as pd

from pipelines.reports.report import ReportTable, Section, Version, reports_on
from swftools.market.prices import Prices
from swftools.named import with_number

MOST_USERS = 50
"""Users whose bill is shown, the largest first."""


@reports_on("prices", "Prices of the jobs of a simulated schedule")
def parts(version: Version, other: Version | None) -> list[Section]:
    """Return the parts of a report on prices."""
    return [part for each in (version, other) if each for part in _of_one(each, beside=each is other)]


def _of_one(version: Version, *, beside: bool) -> list[Section]:
    """Return the parts on one version, whose name is in the headings where it stands beside another."""
    jobs = version.read("prices")
    mechanism = str(jobs["mechanism"].iloc[0]) if len(jobs) else ""
    prices = Prices(jobs, mechanism, "")
    bill, end = prices.bill(), f", {version.data_set} {version.version[:8]}" if beside else ""
    known = jobs["price"].dropna()
    told = [
        f"Mechanism: {mechanism}.",
        f"{len(known):,} of {len(jobs):,} jobs have a price, {known.sum():,.6g} in all.",
    ]
    names = version.known_names.get("user", {})
    rows = [
        [None if pd.isna(user) else with_number(int(user), names), *numbers]
        for user, *numbers in bill.head(MOST_USERS).astype(object).itertuples(index=False, name=None)
    ]
    caption = f"The {MOST_USERS} largest bills of {len(bill):,}" if len(bill) > MOST_USERS else ""
    table = ReportTable(["user", "jobs with a price", "price", "utility", "processor hours"], rows, caption)
    why = [[str(reason), int(count)] for reason, count in jobs["no_price"].value_counts().items()]
    without = [Section(f"Why jobs have no price{end}", tables=[ReportTable(["reason", "jobs"], why)])] if why else []
    return [Section(f"In figures{end}", told), Section(f"What each user owes{end}", tables=[table]), *without]
