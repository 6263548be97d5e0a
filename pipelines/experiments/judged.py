# SPDX-License-Identifier: BSD-3-Clause
"""Which differences of candidates are more than noise: p-values of all of them, adjusted for their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from pipelines.experiments.blocks import LEAST_OF_GROUP, can_be_told_apart, signed_p_values
from pipelines.experiments.differences import holm
from pipelines.experiments.resampling import ALPHA
from swftools.waits.study import ALL

COLUMNS = (
    *("candidate", "classed_by", "job_class", "measure", "statistic", "jobs", "value", "baseline_value", "difference"),
    *("low", "high", "blocks", "p_value", "unit"),
)
"""Of the rows that are judged."""


def judged(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows of candidates with p-values, also adjusted for their number, and what is more than noise.

    Parameters
    ----------
    rows : list of dict
        Each with some of ``COLUMNS``, and ``totals`` where its difference is to be judged: by how much it differs in
        each block, or in each run; they are taken out.
    """
    _with_p_values(rows)
    table = pd.DataFrame(rows, columns=[*COLUMNS, "least_p_value"])
    names = ("value", "baseline_value", "difference", "low", "high", "p_value", "least_p_value")
    table = table.assign(
        **{name: table[name].astype(np.float64) for name in names}, blocks=table["blocks"].astype("Int64")
    )
    adjusted = np.full(len(table), np.nan)
    for places in table.groupby([_family(row) for row in rows], sort=False).indices.values():
        may = places[can_be_told_apart(table["least_p_value"].to_numpy()[places])]
        adjusted[may] = holm(table["p_value"].to_numpy()[may])
    told = table.drop(columns="least_p_value").assign(adjusted_p_value=adjusted)
    return told.assign(is_told_apart=adjusted <= ALPHA)  # NaN is not


def _with_p_values(rows: list[dict[str, Any]]) -> None:
    """Put p-values into the rows that have totals, and the least that each may be; totals are taken out."""
    families: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in rows:
        totals = row.pop("totals", None)
        if totals is not None and row["blocks"] >= LEAST_OF_GROUP:
            row["totals"] = totals
            families.setdefault((_family(row), row["candidate"], len(totals)), []).append(row)
    sizes = Counter(family for (family, *_), members in families.items() for _ in members)
    for (family, *_), members in families.items():
        totals = np.stack([row.pop("totals") for row in members])
        for row, p_value, each in zip(members, signed_p_values(totals, sizes[family]), totals, strict=True):
            row["p_value"] = float(p_value)
            row["least_p_value"] = min(1.0, 2.0 ** (1.0 - np.count_nonzero(each)))


def _family(row: Mapping[str, Any]) -> str:
    """Return among which comparisons a row is: those of its measure, of all jobs or of groups."""
    return f"{row['measure']}_{row['statistic']}{'' if row['classed_by'] == ALL else ' of groups'}"
