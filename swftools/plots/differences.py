# SPDX-License-Identifier: BSD-3-Clause
"""How much better or worse policies are than one of them, log by log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.output.amounts import amount
from swftools.parameters import Parameters, did_you_mean, text, truth
from swftools.plots.over_seeds import COLUMNS, METRIC, interval, rows_of_metric, value_axis, words_of
from swftools.plots.picture import Picture, register_picture
from swftools.plots.policies import draw_point
from swftools.plots.style import look_of, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class DifferencesParameters(Parameters):
    """What is compared with what.

    Parameters
    ----------
    metric : str
        As that of ``policies``.
    baseline : str, optional
        Policy that the others are compared with; the first of the table by default.
    relative : bool
        Differences are shares of the baseline's value: logs with long and with short queues fit one axis.
    """

    metric: str = text(METRIC)
    baseline: str | None = text(None)
    relative: bool = truth(True)


@register_picture
class Differences(Picture):
    """Differences between policies and one of them, in pairs: on the same log, by the same seed.

    A point is the mean of the pairs, with its 95 % interval by Student's t where there are several seeds. What the
    seeds do to both policies alike drops out of it, so that it is narrower than those of the two by themselves.
    """

    name = "differences"
    of = pd.DataFrame
    columns = COLUMNS
    title = "Differences between policies"
    parameters = DifferencesParameters
    nothing = "no two policies with this metric on one log, by one seed"

    def table(self, subject: pd.DataFrame, chosen: DifferencesParameters) -> pd.DataFrame:
        """Return a row for each log and policy: ``baseline``, ``pairs``, ``mean``, ``low``, ``high`` and ``unit``.

        ``mean`` is that of the differences (policy less baseline) over the seeds, ``low`` and ``high`` are the ends of
        its interval; in shares of the baseline's value (unit 1), or in the unit of the metric. The ends are missing of
        a single pair. A pair whose baseline is 0 has no relative difference and is left out.
        """
        rows = rows_of_metric(subject, chosen.metric)
        known = rows["policy"].drop_duplicates().tolist()
        baseline = chosen.baseline or (known[0] if known else "")
        if known and baseline not in known:
            raise ParameterError(f"no policy {baseline!r} in the table{did_you_mean([baseline], known)}")
        keys = ["log", "seed"]
        of_baseline = rows.loc[rows["policy"] == baseline, [*keys, "value"]]
        pairs = rows[rows["policy"] != baseline].merge(of_baseline, on=keys, suffixes=("", "_of_baseline"))
        difference = pairs["value"] - pairs["value_of_baseline"]
        if chosen.relative:
            difference = difference / pairs["value_of_baseline"].where(pairs["value_of_baseline"] != 0)
        pairs = pairs.assign(difference=difference).dropna(subset=["difference"])
        table = [
            (log, policy, baseline, len(each), *interval(each["difference"].to_numpy()), _unit_of(each, chosen))
            for (log, policy), each in pairs.groupby(["log", "policy"], sort=False)
        ]
        columns = ["log", "policy", "baseline", "pairs", "mean", "low", "high", "unit"]
        return pd.DataFrame(table, columns=columns)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: DifferencesParameters) -> None:
        """Draw a row for each log and in it a point a policy."""
        from matplotlib.lines import Line2D  # noqa: PLC0415 (an extra)

        factor = 100.0 if chosen.relative else 1.0
        logs, policies = (table[name].drop_duplicates().tolist() for name in ("log", "policy"))
        looks = {each: {k: v for k, v in look_of(each).items() if k != "linestyle"} for each in policies}
        rows: Any = table.itertuples()
        for row in rows:
            beside = (policies.index(row.policy) + 0.5) / len(policies) - 0.5
            place = logs.index(row.log) + 0.8 * beside
            draw_point(axes, place, factor * row.mean, factor * row.low, factor * row.high, looks[row.policy])
        axes.axvline(0.0, color="black", linewidth=0.8, linestyle="-")
        axes.set_yticks(range(len(logs)), [name_of(log) for log in logs])
        axes.set_ylim(len(logs) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        unit = str(table["unit"].iloc[0])
        shown = "%" if chosen.relative else "" if unit == "s" else unit
        # Two lines, as one is too long for a column.
        axes.set_xlabel(f"{words_of(chosen.metric, shown)}\nless that of {name_of(table['baseline'].iloc[0])}")
        value_axis(axes, unit)
        handles = [Line2D([], [], linestyle="", **look) for look in looks.values()]
        where: Any = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2, "borderpad": 0.2, "handletextpad": 0.3}
        axes.legend(handles, [name_of(each) for each in policies], **where)

    def tell(self, table: pd.DataFrame, chosen: DifferencesParameters) -> str:
        """Return of each policy how large its difference is, and on how many logs it is surely below or above 0."""
        parts = []
        for policy, rows in table.groupby("policy", sort=False):
            mean = float(rows["mean"].mean())
            unit = str(rows["unit"].iloc[0])
            size = f"{100 * mean:+.3g} %" if chosen.relative else amount(mean, unit)
            below, above = int((rows["high"] < 0).sum()), int((rows["low"] > 0).sum())
            logs = "" if len(rows) == 1 else f" on average over {len(rows)} logs"
            sure = "" if np.isnan(rows["low"]).all() else f" (interval below 0 on {below}, above 0 on {above})"
            parts.append(f"{name_of(policy)} {size}{logs}{sure}")
        against = name_of(table["baseline"].iloc[0])
        return f"{words_of(chosen.metric, '')} against {against}: {'; '.join(parts)}"


def _unit_of(rows: pd.DataFrame, chosen: DifferencesParameters) -> str:
    """Return the unit of differences."""
    return "1" if chosen.relative else str(rows["unit"].iloc[0])
