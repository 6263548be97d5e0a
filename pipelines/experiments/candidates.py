# SPDX-License-Identifier: BSD-3-Clause
"""What each of several candidates brings beside the machine and policy as they are: paired differences, with intervals.

A candidate is a changed machine, another policy, or another option of the run. It is simulated with the jobs that are
simulated as it is, so each job is paired with itself; what is noise is told by blocks of time (``blocks``), or by the
runs where a log is too short for blocks and there are enough runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pipelines.experiments.blocks import (
    LEAST,
    LEAST_OF_GROUP,
    Blocks,
    blocks_of,
    quantile_intervals,
    ratio_interval,
)
from pipelines.experiments.candidate_runs import HOUR, KEYS, RunFigures
from pipelines.experiments.judged import judged
from pipelines.experiments.resampling import FloatArray, intervals
from swftools.simulator.logged import LOGGED
from swftools.waits.groups import Groups
from swftools.waits.study import ALL, NODE_HOURS

AS_IT_IS = "as it is"

JOULES_OF_KWH = 3.6e6

QUANTILES = {"p50": 0.5, "p90": 0.9}

OF_JOBS = {"wait": "mean", "bounded_slowdown": "mean", "waited": "total"}
"""What is measured of each job and compared in pairs, and which statistic of it."""

SHOWN = {
    "wait_mean": "mean wait",
    "wait_p50": "median wait",
    "wait_p90": "90 % wait at most",
    "bounded_slowdown_mean": "bounded slowdown",
    "waited_total": "waited in all",
    "utilization_time_mean": "utilization",
    "machine_size": "size",
    "machine_total": "its time",
    "energy_total": "energy",
    "left_out_count": "left out",
}
"""What is shown of all jobs and of the machine, by measure and statistic, and what it is called."""

ASSUMPTIONS = (
    "Each job is paired with itself as it is: jobs that cannot run in one of the two do not count. Differences are "
    f"added up by week of submission, where at least {LEAST} weeks have jobs, else by day; of several runs (phases, "
    "seeds) the mean is taken first. Blocks are drawn with replacement: the interval is 95 %, bootstrap (BCa; of "
    "medians and 90 % percentiles), and is not adjusted. The p-value is the share of all ways to turn the signs of "
    f"blocks round whose sum is as far from 0 (Fisher), from {LEAST_OF_GROUP} blocks on; p-values of one measure are "
    "adjusted for the number of candidates, those of groups for candidates x groups (Holm), without those that have "
    "too few blocks to be told apart among so many (Tarone). A difference is more than noise at an adjusted p-value "
    "of at most 0.05. Blocks are taken as independent: a queue that lasts longer than a block makes intervals too "
    "narrow. The same jobs come whatever is changed: users who wait less submit more."
)
"""What the statistics take for granted, in words; published beside them."""


@dataclass(frozen=True)
class CandidateStudy:
    """What candidates bring.

    Parameters
    ----------
    candidates : pandas.DataFrame
        A row for each candidate, group and measure; the table candidates of the column dictionary.
    blocks : pandas.DataFrame
        A row for each candidate and block of time: how much its jobs wait more; the table candidate_blocks.
    noise : str
        What the noise is told by: weeks, days, runs; empty: it cannot be told.
    unit : str
        What waits are weighed in: node-hours, or on a pool processor-hours.
    """

    candidates: pd.DataFrame
    blocks: pd.DataFrame
    noise: str
    unit: str


class _Paired(NamedTuple):
    """Of each job that counts: values by measure in each run of a candidate and as it is, shape (runs, jobs)."""

    rows: np.ndarray
    own: dict[str, FloatArray]
    base: dict[str, FloatArray]


def study_candidates(
    base: Sequence[RunFigures], candidates: Mapping[str, Sequence[RunFigures]], logged: RunFigures | None = None
) -> CandidateStudy:
    """Compare candidates with what is.

    Parameters
    ----------
    base : sequence of RunFigures
        The runs as it is: several where phases or seeds are repeated.
    candidates : mapping of str to sequence of RunFigures
        By what the candidate is called, its runs; the same phases and seeds in the same order, or one.
    logged : RunFigures, optional
        What the log itself tells of the jobs.
    """
    first = base[0]
    blocks = blocks_of(first.jobs["submit_time"].to_numpy(np.float64))
    end = max(each.last for runs in (base, *candidates.values()) for each in runs)
    pairs = {name: _pair(base, runs) for name, runs in candidates.items()}
    noise = blocks.name if blocks else ""
    if (
        not noise
        and pairs
        and len(base) >= LEAST_OF_GROUP
        and all(len(each) == len(base) for each in candidates.values())
    ):
        noise = "runs"
    rows: list[dict[str, Any]] = []
    if logged is not None:
        same = logged.unit == first.unit  # a log that names no nodes is measured in processor-hours
        rows += [
            {"candidate": LOGGED, **each} for each in _facts_of_jobs(logged) if same or each["measure"] != "waited"
        ]
    rows += [{"candidate": AS_IT_IS, **each} for each in _values_of(base, end)]
    rows += [{"candidate": AS_IT_IS, **each} for each in _values_of_groups(base)]
    of_blocks: list[dict[str, Any]] = []
    for name, paired in pairs.items():
        told = [
            *_of_all(paired, blocks, noise, first.unit),
            *_of_machine(base, candidates[name], end),
            *_of_groups(paired, first.groups, blocks, noise),
        ]
        rows += [{"candidate": name, **each} for each in told]
        if blocks is not None:
            of_blocks += [{"candidate": name, **each} for each in _by_block(paired, blocks)]
    return CandidateStudy(judged(rows), pd.DataFrame(of_blocks, columns=BLOCK_COLUMNS), noise, first.unit)


BLOCK_COLUMNS = ("candidate", "begin", "jobs", "wait", "baseline_wait", "wait_difference")


def of_all_jobs(table: pd.DataFrame) -> pd.DataFrame:
    """Return what is shown of all jobs: a row for each of ``SHOWN`` that is known, columns unit and candidates."""
    whole = table[table["classed_by"].astype(str) == ALL].dropna(subset=["value"])
    key = whole["measure"].astype(str) + "_" + whole["statistic"].astype(str)
    whole = pd.DataFrame(
        {
            "key": key,
            **{name: whole[name].astype(str) for name in ("candidate", "unit")},
            "value": whole["value"].astype(np.float64),
        }
    )
    values = whole.pivot(index="key", columns="candidate", values="value")[list(whole["candidate"].drop_duplicates())]
    values.insert(0, "unit", whole.drop_duplicates("key", keep="last").set_index("key")["unit"])
    return values.reindex([key for key in SHOWN if key in values.index])


def _pair(base: Sequence[RunFigures], runs: Sequence[RunFigures]) -> _Paired:
    """Return the jobs that are in all runs, in the order of the first run as it is."""
    keys = pd.MultiIndex.from_frame(base[0].jobs[KEYS])
    place = [pd.MultiIndex.from_frame(each.jobs[KEYS]).get_indexer(keys) for each in (*base, *runs)]
    rows = np.flatnonzero(np.min(place, axis=0) >= 0) if len(keys) else np.zeros(0, np.int64)

    def values(which: Sequence[RunFigures], places: Sequence[np.ndarray]) -> dict[str, FloatArray]:
        return {
            name: np.stack(
                [each.jobs[name].to_numpy(np.float64)[at[rows]] for each, at in zip(which, places, strict=True)]
            )
            for name in OF_JOBS
        }

    return _Paired(rows, values(runs, place[len(base) :]), values(base, place[: len(base)]))


def _of_all(paired: _Paired, blocks: Blocks | None, noise: str, unit: str) -> Iterator[dict[str, Any]]:
    """Yield what is measured of all jobs, with intervals and p-values."""
    row = {"classed_by": ALL, "job_class": ALL, "jobs": len(paired.rows)}
    own_blocks = _of_rows(blocks, paired.rows)
    of_quantiles = [(np.nan, np.nan)] * len(QUANTILES)
    own, base = paired.own["wait"].mean(axis=0), paired.base["wait"].mean(axis=0)
    if own_blocks is not None and len(paired.rows) and len(own_blocks.begin) >= LEAST_OF_GROUP:
        of_quantiles = quantile_intervals(own, base, own_blocks, tuple(QUANTILES.values()))
    for name, statistic in OF_JOBS.items():
        units = {"wait": "s", "bounded_slowdown": "1", "waited": unit}
        yield {
            **row,
            "measure": name,
            "statistic": statistic,
            "unit": units[name],
            **_difference(paired, name, own_blocks, noise),
        }
        if name == "wait":
            for (label, share), (low, high) in zip(QUANTILES.items(), of_quantiles, strict=True):
                ours, theirs = (_quantile(each, share) for each in (paired.own["wait"], paired.base["wait"]))
                told = {"value": ours, "baseline_value": theirs, "difference": ours - theirs, "low": low, "high": high}
                yield {**row, "measure": name, "statistic": label, "unit": "s", **told}


def _difference(
    paired: _Paired, name: str, blocks: Blocks | None, noise: str, chosen: np.ndarray | None = None
) -> dict[str, Any]:
    """Return the values of a measure, of some of the paired jobs, their difference with its interval, and its blocks.

    ``totals`` is what p-values are made of: of each block, or of each run, by how much it differs.
    """
    own, base = (each[name] if chosen is None else each[name][:, chosen] for each in (paired.own, paired.base))
    is_total = OF_JOBS[name] == "total"
    add = np.sum if is_total else _mean
    value, baseline = (float(np.mean(add(each, axis=1))) for each in (own, base))
    told: dict[str, Any] = {"value": value, "baseline_value": baseline, "difference": value - baseline}
    if noise == "runs":
        differences = add(own, axis=1) - add(base, axis=1)
        low, high = intervals([differences])[0]
        return {**told, "low": low, "high": high, "blocks": len(own), "totals": differences}
    if blocks is None or not own.shape[1]:
        return told
    of_job = blocks.of_job if chosen is None else blocks.of_job[chosen]
    known = np.isfinite(own).all(axis=0) & np.isfinite(base).all(axis=0)
    count = np.bincount(of_job[known], minlength=len(blocks.begin)).astype(np.float64)
    more = (own.mean(axis=0) - base.mean(axis=0))[known]
    total = np.bincount(of_job[known], more, len(blocks.begin)).astype(np.float64)
    low, high = ratio_interval(total, np.minimum(count, 1.0) if is_total else count)
    many = int((count > 0).sum())
    scale = many if is_total else 1
    return {**told, "low": low * scale, "high": high * scale, "blocks": many, "totals": total}


def _of_rows(blocks: Blocks | None, rows: np.ndarray) -> Blocks | None:
    """Return the blocks of some jobs, those without any left out."""
    if blocks is None:
        return None
    there, of_job = np.unique(blocks.of_job[rows], return_inverse=True)
    return Blocks(blocks.name, of_job.astype(np.int64), blocks.begin[there])


def _of_machine(base: Sequence[RunFigures], runs: Sequence[RunFigures], end: float) -> Iterator[dict[str, Any]]:
    """Yield what is measured of the machine, beside the machine as it is."""
    own, others = (list(_facts_of_machine(each, end)) for each in (runs, base))
    for one, other in zip(own, others, strict=True):
        yield {**one, "baseline_value": other["value"], "difference": one["value"] - other["value"]}


def _facts_of_machine(runs: Sequence[RunFigures], end: float) -> Iterator[dict[str, Any]]:
    """Yield utilization, time of the machine up to the last end of all schedules, energy, and jobs that cannot run."""
    first = runs[0]
    row = {"classed_by": ALL, "job_class": ALL, "jobs": len(first.jobs)}
    yield {**row, "measure": "utilization", "statistic": "time_mean", "unit": "1", "value": _over(runs, "utilization")}
    hours = first.size * (end - first.first) / HOUR
    what = "nodes" if first.unit == NODE_HOURS else "processors"
    yield {**row, "measure": "machine", "statistic": "size", "unit": what, "value": float(first.size)}
    yield {**row, "measure": "machine", "statistic": "total", "unit": first.unit, "value": hours}
    powers = [each.power for each in runs]
    joules = [
        each.energy + each.idle * (end - run.last) if each else np.nan for each, run in zip(powers, runs, strict=True)
    ]
    yield {
        **row,
        "measure": "energy",
        "statistic": "total",
        "unit": "kWh",
        "value": float(np.mean(joules)) / JOULES_OF_KWH,
    }
    yield {**row, "measure": "left_out", "statistic": "count", "unit": "jobs", "value": float(first.left_out)}


def _of_groups(
    paired: _Paired, groupings: Mapping[str, Groups], blocks: Blocks | None, noise: str
) -> Iterator[dict[str, Any]]:
    """Yield how mean waits of groups differ."""
    own_blocks = _of_rows(blocks, paired.rows)
    for grouping, groups in groupings.items():
        of_job = groups.of_job[paired.rows]
        for place, word in enumerate(groups.words):
            chosen = np.flatnonzero(of_job == place)
            if not len(chosen):
                continue
            row = {
                "classed_by": grouping,
                "job_class": word,
                "jobs": len(chosen),
                "measure": "wait",
                "statistic": "mean",
            }
            yield {**row, "unit": "s", **_difference(paired, "wait", own_blocks, noise, chosen)}


def _values_of(base: Sequence[RunFigures], end: float) -> Iterator[dict[str, Any]]:
    """Yield the measures as it is."""
    of_runs = [list(_facts_of_jobs(each)) for each in base]
    for same in zip(*of_runs, strict=True):
        yield {**same[0], "value": float(np.mean([each["value"] for each in same]))}
    yield from _facts_of_machine(base, end)


def _facts_of_jobs(run: RunFigures) -> Iterator[dict[str, Any]]:
    """Yield what is measured of the jobs of one run."""
    row = {"classed_by": ALL, "job_class": ALL, "jobs": len(run.jobs)}
    waits = run.waits[None, :]
    yield {**row, "measure": "wait", "statistic": "mean", "unit": "s", "value": float(_mean(waits, axis=1)[0])}
    for label, share in QUANTILES.items():
        yield {**row, "measure": "wait", "statistic": label, "unit": "s", "value": _quantile(waits, share)}
    slowdown = run.jobs["bounded_slowdown"].to_numpy(np.float64)[None, :]
    yield {
        **row,
        "measure": "bounded_slowdown",
        "statistic": "mean",
        "unit": "1",
        "value": float(_mean(slowdown, axis=1)[0]),
    }
    yield {**row, "measure": "waited", "statistic": "total", "unit": run.unit, "value": float(run.jobs["waited"].sum())}


def _values_of_groups(base: Sequence[RunFigures]) -> Iterator[dict[str, Any]]:
    """Yield the mean waits of groups as it is."""
    waits = np.mean([each.waits for each in base], axis=0)
    for grouping, groups in base[0].groups.items():
        for place, word in enumerate(groups.words):
            chosen = groups.of_job == place
            if chosen.any():
                row = {"classed_by": grouping, "job_class": word, "jobs": int(chosen.sum()), "unit": "s"}
                yield {**row, "measure": "wait", "statistic": "mean", "value": float(waits[chosen].mean())}


def _by_block(paired: _Paired, blocks: Blocks) -> Iterator[dict[str, Any]]:
    """Yield the mean waits of each block."""
    own, base = paired.own["wait"].mean(axis=0), paired.base["wait"].mean(axis=0)
    of_job, count = blocks.of_job[paired.rows], len(blocks.begin)
    jobs = np.bincount(of_job, minlength=count)
    ours, theirs = (np.bincount(of_job, each, count) / np.maximum(jobs, 1) for each in (own, base))
    for place in np.flatnonzero(jobs):
        told = {"wait": ours[place], "baseline_wait": theirs[place], "wait_difference": ours[place] - theirs[place]}
        yield {"begin": blocks.begin[place], "jobs": int(jobs[place]), **told}


def _over(runs: Sequence[RunFigures], name: str) -> float:
    return float(np.mean([getattr(each, name) for each in runs]))


def _mean(values: FloatArray, axis: int) -> FloatArray:
    """Return means of what is known; NaN of nothing."""
    known = np.isfinite(values)
    many = known.sum(axis=axis)
    found: FloatArray = np.divide(
        np.where(known, values, 0.0).sum(axis=axis), many, out=np.full(many.shape, np.nan), where=many > 0
    )
    return found


def _quantile(waits: FloatArray, share: float) -> float:
    """Return the mean over runs of a quantile of waits: the least that as large a share of the jobs has at most."""
    if not waits.shape[1]:
        return float("nan")
    return float(np.mean(np.quantile(waits, share, axis=1, method="inverted_cdf")))
