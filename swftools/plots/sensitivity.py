# SPDX-License-Identifier: BSD-3-Clause
"""How a metric changes with an option of the simulation: load above all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.output.amounts import amount
from swftools.parameters import Parameters, did_you_mean, text
from swftools.plots.over_seeds import COLUMNS, METRIC, interval, rows_of_metric, words_of
from swftools.plots.picture import Picture, register_picture
from swftools.plots.series import look_at
from swftools.plots.style import DASHES, MARKERS, count_axis, look_of, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class SensitivityParameters(Parameters):
    """What is shown, and along which column.

    Parameters
    ----------
    metric : str
        As that of ``policies``.
    along : str
        Column of the table with numbers: load, processors, or another one.
    """

    metric: str = text(METRIC)
    along: str = text("load")


@register_picture
class Sensitivity(Picture):
    """A metric along an option, a line a log and policy: the mean over repetitions, with its 95 % interval.

    The interval is by Student's t, where there are several seeds or shakes.
    """

    name = "sensitivity"
    of = pd.DataFrame
    columns = COLUMNS
    title = "Sensitivity"
    parameters = SensitivityParameters
    nothing = "no value of this metric"

    def table(self, subject: pd.DataFrame, chosen: SensitivityParameters) -> pd.DataFrame:
        """Return a row for each log, policy and value: ``at``, ``runs``, ``mean``, ``low``, ``high``, ``unit``.

        ``mean`` is that over seeds and shakes; the ends of its interval are missing of a single run.
        """
        if chosen.along not in subject:
            near = did_you_mean([chosen.along], list(map(str, subject)))
            raise ParameterError(f"sensitivity: no column {chosen.along!r} in the table{near}")
        if not pd.api.types.is_numeric_dtype(subject[chosen.along]):
            raise ParameterError(f"sensitivity: along={chosen.along}: that column has no numbers")
        rows = rows_of_metric(subject, chosen.metric)
        each_at: Any = rows.groupby(["log", "policy", chosen.along], sort=False)
        table = [
            (log, policy, float(at), len(each), *interval(each["value"].to_numpy()), str(each["unit"].iloc[0]))
            for (log, policy, at), each in each_at
        ]
        columns = ["log", "policy", "at", "runs", "mean", "low", "high", "unit"]
        return pd.DataFrame(table, columns=columns).sort_values("at", kind="mergesort", ignore_index=True)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: SensitivityParameters) -> None:
        """Draw the lines, each with its intervals."""
        is_of_policies, logs = table["policy"].nunique() > 1, table["log"].unique().tolist()
        for place, (label, rows) in enumerate(_lines(table)):
            look = look_of(str(rows["policy"].iloc[0])) if is_of_policies else look_at(place)
            if is_of_policies and len(logs) > 1:  # the colour says the policy, dashes and marker the log
                at = logs.index(rows["log"].iloc[0])
                look |= {"linestyle": DASHES[at % len(DASHES)], "marker": MARKERS[at % len(MARKERS)]}
            axes.plot(rows["at"], rows["mean"], label=name_of(label), **look)
            if rows["low"].notna().any():
                axes.fill_between(rows["at"], rows["low"], rows["high"], color=look["color"], alpha=0.2, linewidth=0)
        axes.set_xlabel(chosen.along.replace("_", " "))
        axes.set_ylabel(words_of(chosen.metric, str(table["unit"].iloc[0])))
        if (table["mean"] > 0).all() and table["mean"].max() > 20 * table["mean"].min():
            axes.set_yscale("log")
            count_axis(axes, "y")
        where: Any = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2, "borderpad": 0.2}
        axes.legend(**where)

    def tell(self, table: pd.DataFrame, chosen: SensitivityParameters) -> str:
        """Return of each line where it begins and ends."""
        parts = []
        for label, rows in _lines(table):
            first, last = rows.iloc[0], rows.iloc[-1]
            unit = str(first["unit"])
            begin = f"{amount(float(first['mean']), unit)} at {first['at']:g}"
            end = f", {amount(float(last['mean']), unit)} at {last['at']:g}" if len(rows) > 1 else ""
            parts.append(f"{name_of(label)} {begin}{end}")
        return f"{words_of(chosen.metric, '')} along {chosen.along.replace('_', ' ')}: {'; '.join(parts)}"


def _lines(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each line, by what tells it from the others: its log, its policy, or both."""
    several = [name for name in ("log", "policy") if table[name].nunique() > 1] or ["policy"]
    lines = table.groupby(several, sort=False)
    return [(", ".join(map(str, np.atleast_1d(np.array(key, object)))), rows) for key, rows in lines]
