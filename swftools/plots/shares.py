# SPDX-License-Identifier: BSD-3-Clause
"""Who brings the jobs and the work: shares by user, and by queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from swftools.offered_work import work_of_jobs
from swftools.output.amounts import percent
from swftools.parameters import Parameters, choice, whole
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import legend_above
from swftools.plots.style import COLORS, name_of
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ("number", "name", "members", "jobs", "work", "share_of_jobs", "share_of_work")


@dataclass(frozen=True)
class SharesParameters(Parameters):
    """What the order is by, and how many have bars of their own."""

    by: str = choice("work", "jobs")
    most: int = whole(12, least=1, most=50)


class Shares(Picture):
    """Shares of jobs and of work; subclasses say of whom.

    Work is width x run time; jobs without either bring none. Shares are of all jobs and of all work, whether or not
    it is known whose they are.

    Attributes
    ----------
    column : str
        The column of ``Trace.arrays`` with their numbers.
    kind : str
        The kind of their names in ``Trace.known_names``; in words too.
    """

    of = Trace
    aspect = 0.6
    column: ClassVar[str]
    kind: ClassVar[str]

    def table(self, subject: Trace, chosen: SharesParameters) -> pd.DataFrame:
        """Return a row each of the largest, one of all others, and one of the jobs of which it is not known.

        Its columns are ``number`` (missing in the two last rows), ``name`` (as in the log; missing where it has none),
        ``members`` (1; in the two last rows how many, and 0), ``jobs``, ``work`` (processor-seconds),
        ``share_of_jobs``, and ``share_of_work`` (missing where no work is known). Where only one would be left, it has
        its own row.
        """
        arrays = subject.arrays
        numbers = getattr(arrays, self.column)
        work = np.nan_to_num(work_of_jobs(arrays.width, arrays.run_time))
        is_known = numbers != -1
        if not is_known.any():
            return pd.DataFrame({name: [] for name in COLUMNS})
        found, place = np.unique(numbers[is_known], return_inverse=True)
        rows = pd.DataFrame(
            {"number": found, "members": 1, "jobs": np.bincount(place), "work": np.bincount(place, work[is_known])}
        ).astype({"number": "Int64"})
        order = [chosen.by, "jobs" if chosen.by == "work" else "work", "number"]
        rows = rows.sort_values(order, ascending=[False, False, True], ignore_index=True)
        names = subject.known_names.get(self.kind, {})
        rows["name"] = pd.array([names.get(each) for each in rows["number"]], dtype="str")
        own = chosen.most if len(rows) > chosen.most + 1 else len(rows)
        sums = [rows.iloc[:own]]
        if own < len(rows):
            sums.append(_sum(len(rows) - own, int(rows["jobs"].iloc[own:].sum()), float(rows["work"].iloc[own:].sum())))
        if not is_known.all():
            sums.append(_sum(0, int((~is_known).sum()), float(work[~is_known].sum())))
        rows = pd.concat(sums, ignore_index=True)
        rows["share_of_jobs"] = rows["jobs"] / len(subject)
        rows["share_of_work"] = rows["work"] / (work.sum() or np.nan)
        return rows[list(COLUMNS)]

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: SharesParameters) -> None:
        """Draw two bars each: jobs, and work where it is known."""
        place, shares = np.arange(len(table)), table[["share_of_jobs", "share_of_work"]].max(axis=1)
        # Beside a bar of hundreds of users that of one would be nothing; so theirs is words.
        in_words = (table["members"] != 1) & (shares > 2 * shares[table["members"] == 1].max())
        for row in np.flatnonzero(in_words).tolist():
            axes.text(0, row, f" {_shares(table.iloc[[row]])}", va="center", fontsize="small")
        bars = table.mask(in_words)
        axes.barh(place - 0.2, 100 * bars["share_of_jobs"], height=0.4, color=COLORS[0], label="jobs")
        if table["share_of_work"].notna().all():
            axes.barh(place + 0.2, 100 * bars["share_of_work"], height=0.4, color=COLORS[5], label="work")
        axes.set_yticks(place, [_label(number, name, n) for number, name, n in _keys(table)])
        axes.set(xlabel="share, %", ylabel=self.kind, xlim=(0, None), ylim=(len(table) - 0.4, -0.6))
        axes.grid(visible=False, axis="y")
        legend_above(axes)

    def tell(self, table: pd.DataFrame, chosen: SharesParameters) -> str:
        """Return how many there are, the shares of the first, and of all that have bars of their own."""
        of_whom = table[table["members"] == 1]
        count, own, unknown = table["members"].sum(), len(of_whom), table["members"] == 0
        told = f"{count:,} {self.kind}{'' if count == 1 else 's'}; {self.kind} {_label(*next(_keys(table)))} has "
        told += _shares(table.iloc[:1])
        if 1 < own < count:
            told += f", the first {own} together {_shares(of_whom)}"
        return told + (f"; of no known {self.kind}: {_shares(table[unknown])}" if unknown.any() else "")


@dataclass(frozen=True)
class UsersParameters(SharesParameters):
    """Of the picture of users."""


@register_picture
class Users(Shares):
    """The users that bring most, each with its share of jobs and of work; all others are one row."""

    name = "users"
    title = "Users"
    parameters = UsersParameters
    nothing = "no job whose user is known"
    column = "user_id"
    kind = "user"


@dataclass(frozen=True)
class QueuesParameters(SharesParameters):
    """Of the picture of queues."""


@register_picture
class Queues(Shares):
    """The queues that bring most, each with its share of jobs and of work; all others are one row.

    Names are those of the log, or of its header, without what that says in brackets behind them.
    """

    name = "queues"
    title = "Queues"
    parameters = QueuesParameters
    nothing = "no job whose queue is known"
    column = "queue_id"
    kind = "queue"


def _sum(members: int, jobs: int, work: float) -> pd.DataFrame:
    """Return the row of several, or of none that is known."""
    row = pd.DataFrame({"number": [pd.NA], "members": members, "jobs": jobs, "work": work, "name": [None]})
    return row.astype({"number": "Int64", "name": "str"})


def _keys(table: pd.DataFrame) -> zip[tuple[Any, Any, int]]:
    """Return number, name and members of each row."""
    return zip(table["number"], table["name"], table["members"], strict=True)


def _label(number: Any, name: Any, members: int) -> str:
    """Return how a row is called: by its name without what stands in brackets, by its number where it has none."""
    if members != 1:
        return f"{members:,} others" if members else "not known"
    words = "" if pd.isna(name) else " ".join(str(name).split())
    return name_of(words.split(" (")[0] or words or number)


def _shares(rows: pd.DataFrame) -> str:
    """Return the shares of rows in words."""
    jobs, work = rows["share_of_jobs"].sum(), rows["share_of_work"]
    return f"{percent(jobs, digits=1)} of the jobs" + (
        f" and {percent(work.sum(), digits=1)} of the work" if work.notna().all() else ""
    )
