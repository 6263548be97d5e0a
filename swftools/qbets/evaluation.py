# SPDX-License-Identifier: BSD-3-Clause
"""How good predicted waits are: how often the bounds were right, and how tight they were.

Histories, of which only the last month is at hand, have counts that add up (``coverage``): those of months make those
of years.

References
----------
Nurmi 2009, section 4.3.2: a predictor is correct if at least as many waits as its quantile says are no longer than
their bounds; of correct ones that is more accurate whose over-predictions have the smaller root mean square. It is
compared with that of the binomial method as a ratio.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.fields.dictionary import table_fields
from swftools.named import Known, named_groups
from swftools.qbets.bounds.registry import check_fraction
from swftools.qbets.published_statistics import DEADLINE, check_deadline, prediction_figures
from swftools.tables import frame_of

PROCESSORS = {"1": 1, "2-4": 4, "5-16": 16, "17-64": 64, "65 and more": np.inf}
"""Classes of jobs by processors, with the largest that belongs to each."""

REQUESTED_TIME = {
    "to 15 minutes": 900.0,
    "to 1 hour": 3600.0,
    "to 4 hours": 14_400.0,
    "to 12 hours": 43_200.0,
    "more": np.inf,
}
"""Classes of jobs by requested time, with the largest that belongs to each, s."""

GROUPINGS = ("all", "queue", "month", "processors", "requested_time")

MONTH = 30 * 86_400.0
"""Seconds of a month where the log does not say when it starts."""

UNKNOWN = "unknown"


def evaluate(
    predictions: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    quantile: float = 0.95,
    compare_with: str = "binomial",
    grouped_by: Iterable[str] = GROUPINGS,
    deadline: float = DEADLINE,
) -> pd.DataFrame:
    """Return how good predictions are, over all jobs and by group.

    Parameters
    ----------
    predictions : pandas.DataFrame, or several
        Tables of one method or several, as ``replay`` returns them. Jobs with unknown waits, and jobs of the training,
        do not count.
    quantile : float
        The quantile that the bounds claim.
    compare_with : str
        Method whose rms_over is divided by those of the others.
    grouped_by : str or iterable of str
        Any of all, queue, month, processors, requested_time.
    deadline : float
        Deadline of the verdicts on whether a job starts in time, s after its submission; see ``prediction_figures``.

    Returns
    -------
    pandas.DataFrame
        The table ``wait_evaluation`` of the column dictionary; groups in order.

    Raises
    ------
    ParameterError
        There is no such grouping, two tables are of one method and the same jobs, there is none, or one is no table of
        predictions.

    Examples
    --------
    >>> from swftools import Trace
    >>> from swftools.qbets import replay
    >>> log = Trace.from_columns(job_number=range(200), submit_time=range(0, 2000, 10), wait_time=[5] * 200,
    ...     run_time=[60] * 200, requested_time=[100] * 200)
    >>> table = evaluate(replay(log, by=None, training=100), grouped_by=["all"])
    >>> table[["method", "jobs", "predicted", "correctness", "rms_over", "median_tightness"]].values.tolist()
    [['binomial', 100, 100, 1.0, 0.0, 1.0]]
    """
    check_fraction("quantile", quantile)
    check_deadline(deadline)
    tables = [predictions] if isinstance(predictions, pd.DataFrame) else list(predictions)
    for table in tables:
        lacking = [name for name in table_fields("wait_predictions") if name not in table]
        if lacking:
            raise ParameterError(f"a table is not one that replay returns: it has no column {', '.join(lacking)}")
    if not tables:
        raise ParameterError("there are no predictions to evaluate; give what replay returns, of one method or several")
    grouped_by = [grouped_by] if isinstance(grouped_by, str) else list(grouped_by)
    whole = pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0]
    if whole.duplicated(["method", "job_number", "job_occurrence"]).any():
        raise ParameterError("there are several predictions of one method for one job; evaluate logs one by one")
    scored = whole[whole["no_prediction"].ne("training").fillna(True)]
    rows: list[dict[str, Any]] = []
    for grouping in grouped_by:
        labels, order = _groups(scored, grouping)
        for (method, group), part in scored.groupby([scored["method"], labels], sort=False):
            rows.append(
                {"grouped_by": grouping, "method": method, "group": group} | _measured(part, quantile, deadline)
            )
            rows[-1]["place"] = order.index(str(group))
    methods = [str(method) for method in whole["method"].unique()]
    rows.sort(key=lambda row: (GROUPINGS.index(row["grouped_by"]), row["place"], methods.index(str(row["method"]))))
    table = pd.DataFrame(rows, columns=list(table_fields("wait_evaluation")))
    return _with_ratios(table, compare_with)


def named_evaluation(evaluation: pd.DataFrame, by: Sequence[str], names: Known) -> pd.DataFrame:
    """Return an evaluation for people: groups of jobs by the names that the log has, in the same order.

    Parameters
    ----------
    evaluation : pandas.DataFrame
        Of ``evaluate``.
    by : sequence of str
        What jobs were grouped by when waits were predicted: queue, user, columns.
    names : mapping
        As ``Trace.known_names`` has them.
    """
    is_group = evaluation["grouped_by"] == "queue"
    called = named_groups(evaluation["group"][is_group].unique(), by, names)
    return evaluation.assign(group=evaluation["group"].where(~is_group, evaluation["group"].map(called)))


def _measured(jobs: pd.DataFrame, quantile: float, deadline: float) -> dict[str, Any]:
    """Return the measures of some jobs of one method."""
    wait, bound = jobs["wait_time"].to_numpy(dtype=np.float64), jobs["wait_bound"].to_numpy(dtype=np.float64)
    withheld = jobs["withheld_bound"].to_numpy(dtype=np.float64)
    scored = ~np.isnan(wait) & ~np.isnan(bound)
    kept_back = ~np.isnan(wait) & ~np.isnan(withheld)
    count = int(scored.sum())
    error = bound[scored] - wait[scored]
    tightness = bound[scored] / np.maximum(wait[scored], 1.0)
    correctness = float((error >= 0).mean()) if count else None
    over = error[error >= 0]
    return {
        "jobs": len(jobs),
        "predicted": count,
        "correctness": correctness,
        "standard_error": None if correctness is None else (correctness * (1 - correctness) / count) ** 0.5,
        "is_correct": None if correctness is None else correctness >= quantile,
        "rms_over": float(np.sqrt((over**2).mean())) if len(over) else None,
        "median_tightness": float(np.median(tightness)) if count else None,
        "p90_tightness": float(np.quantile(tightness, 0.9)) if count else None,
        **prediction_figures(wait, bound, deadline),
        "share_not_predicted": float(jobs["no_prediction"].notna().mean()),
        "withheld_correctness": (float((withheld[kept_back] >= wait[kept_back]).mean()) if kept_back.any() else None),
    }


def _with_ratios(table: pd.DataFrame, compare_with: str) -> pd.DataFrame:
    """Return the table with types as declared, and each rms_over compared with that of a method."""
    numbers = [name for name, field in table_fields("wait_evaluation").items() if str(field.type) == "double"]
    table = table.astype(dict.fromkeys(numbers, "float64") | {"is_correct": "boolean"})
    other = table[table["method"] == compare_with].set_index(["grouped_by", "group"])["rms_over"]
    against = other.reindex(pd.MultiIndex.from_frame(table[["grouped_by", "group"]]))
    own = table["rms_over"].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.asarray(against, dtype=np.float64) / own
    table["rms_ratio"] = np.where(own > 0, ratio, np.nan)
    return table


def _groups(jobs: pd.DataFrame, grouping: str) -> tuple[pd.Series[Any], list[str]]:
    """Return the group of each job, in words, and all groups in order."""
    if grouping == "all":
        return pd.Series("all", index=jobs.index, name="group"), ["all"]
    if grouping == "queue":
        return jobs["queue"].rename("group"), sorted(jobs["queue"].unique(), key=_by_number)
    if grouping == "month":
        stamps = jobs["submit_timestamp"]
        if stamps.notna().all():
            label = stamps.dt.strftime("%Y-%m")
        else:
            label = (jobs["submit_time"] // MONTH).astype("int64").map("month {:04d}".format)
        return label.rename("group"), sorted(label.unique())
    if grouping not in GROUPINGS:
        raise ParameterError(f"grouped_by={grouping!r} is not one of: {', '.join(GROUPINGS)}")
    classes = PROCESSORS if grouping == "processors" else REQUESTED_TIME
    value = jobs[grouping].to_numpy(dtype=np.float64, na_value=np.nan)
    names = np.array([*classes, UNKNOWN], dtype=object)
    place = np.searchsorted(list(classes.values()), value)  # NaN comes last
    return pd.Series(names[np.where(np.isnan(value), len(classes), place)], index=jobs.index, name="group"), list(names)


def _by_number(label: str) -> tuple[float, str]:
    """Return what sorts 10 behind 9."""
    return (float(label) if label.isdigit() else np.inf), label


ALL = "all"
_COUNTS = ["jobs", "told", "known", "covered"]
NEEDED = ("method", "queue", "submit_time", "wait_time", "wait_bound", "no_prediction")
"""The columns of predictions that are counted."""


def count_coverage(predictions: pd.DataFrame, period: str, *, quantile: float, chance: float) -> pd.DataFrame:
    """Return the coverage of predictions by one method or several, by queue and of all queues.

    Parameters
    ----------
    predictions : pandas.DataFrame
        As ``replay`` returns them; the columns ``NEEDED`` are enough.
    period : str
        What they are of, in words.
    quantile : float
        What the bounds are of.
    chance : float
        The probability that a right bound is found to be below ``least_coverage``.

    Returns
    -------
    pandas.DataFrame
        The table ``wait_coverage`` of the column dictionary. Jobs of the training do not count.
    """
    scored = predictions[predictions["no_prediction"].ne("training").fillna(True)]
    wait, bound = (scored[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in ("wait_time", "wait_bound"))
    is_told, is_known = ~np.isnan(bound), ~np.isnan(bound) & ~np.isnan(wait)
    over = bound - wait
    is_covered = is_known & (over >= 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        tightness = np.log(np.maximum(bound, 1.0) / np.maximum(wait, 1.0))
    one = pd.DataFrame(
        {
            "method": scored["method"].to_numpy(),
            "queue": scored["queue"].to_numpy(),
            "jobs": 1,
            "told": is_told.astype(np.int64),
            "known": is_known.astype(np.int64),
            "covered": is_covered.astype(np.int64),
            "square": np.where(is_covered, over**2, 0.0),
            "log": np.where(is_known, tightness, 0.0),
        }
    )
    return _finished(_summed([one, one.assign(queue=ALL)]).assign(period=period), quantile, chance)


def add_coverage(counted: Iterable[pd.DataFrame], period: str, *, quantile: float, chance: float) -> pd.DataFrame:
    """Return the coverage of several periods together, from what was counted in each.

    Raises
    ------
    ParameterError
        There is none.
    """
    tables = list(counted)
    if not tables:
        raise ParameterError("no coverage to add up; give at least one table")
    whole = pd.concat(tables, ignore_index=True)
    whole["square"] = whole["rms_over"].fillna(0.0) ** 2 * whole["covered"].astype(float)
    whole["log"] = np.log(whole["tightness"].fillna(1.0)) * whole["known"].astype(float)
    return _finished(_summed([whole]).assign(period=period), quantile, chance)


def judge_coverage(table: pd.DataFrame, *, quantile: float, chance: float) -> pd.DataFrame:
    """Return coverage that was counted before, with the limits of another chance."""
    known = table["known"].to_numpy(float)
    limit = _least_coverage(known, quantile, chance)
    below = (table["coverage"] < limit).astype("boolean").mask(pd.Series(known == 0, index=table.index))
    return table.assign(least_coverage=limit, is_below=below)


def _least_coverage(known: npt.NDArray[np.float64], quantile: float, chance: float) -> npt.NDArray[np.float64]:
    """Return what a right bound covers of so many waits, but for a chance; NaN of none."""
    from scipy.stats import binom  # noqa: PLC0415 (takes a second)

    with np.errstate(invalid="ignore", divide="ignore"):
        least = np.where(known > 0, binom.ppf(chance, np.maximum(known, 1), quantile), np.nan) / known
    return np.asarray(least, dtype=np.float64)


def _summed(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return counts and sums by method, in the order in which they come, and queue; those of all queues first."""
    whole = pd.concat(tables, ignore_index=True)
    methods = list(dict.fromkeys(whole["method"]))
    summed = whole.groupby(["method", "queue"], sort=True)[[*_COUNTS, "square", "log"]].sum().reset_index()
    place = summed["method"].map(methods.index)
    order = np.lexsort((summed["queue"].to_numpy(dtype=str), summed["queue"].ne(ALL), place))
    return summed.iloc[order].reset_index(drop=True)


def _finished(rows: pd.DataFrame, quantile: float, chance: float) -> pd.DataFrame:
    """Return counts and sums as the table has them."""
    known, covered = rows["known"].to_numpy(float), rows["covered"].to_numpy(float)
    limit = _least_coverage(known, quantile, chance)
    with np.errstate(invalid="ignore", divide="ignore"):
        coverage = covered / known
        made: dict[str, Any] = {
            "coverage": coverage,
            "rms_over": np.where(covered > 0, np.sqrt(rows["square"].to_numpy(float) / covered), np.nan),
            "tightness": np.where(known > 0, np.exp(rows["log"].to_numpy(float) / known), np.nan),
            "least_coverage": limit,
            "is_below": pd.arrays.BooleanArray(coverage < limit, known == 0),
        }
    made |= {name: rows[name].to_numpy() for name in ("period", "method", "queue", *_COUNTS)}
    return frame_of("wait_coverage", {name: made[name] for name in table_fields("wait_coverage")})
