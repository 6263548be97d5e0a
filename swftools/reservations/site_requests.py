# SPDX-License-Identifier: BSD-3-Clause
"""Sites, how jobs are submitted to several of them, and their logs on one clock, with these jobs behind their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.parameters import Parameters, choice, number, truth
from swftools.qbets.predictor import WaitPredictor
from swftools.trace import Trace

REQUEST_COLUMNS = ("request", "ask_time", "processors", "requested_time", "run_time")


@dataclass(frozen=True)
class Site:
    """A machine of several.

    Parameters
    ----------
    name : str
        By which it is told apart.
    trace : Trace
        Its own jobs.
    policy : str
        As ``simulate`` takes it.
    processors : int, optional
        Of the machine; the trace's by default.
    waits : WaitPredictor, optional
        How its waits are bounded; binomial, by queue, by default.
    queue : int, optional
        The queue that jobs of others enter; that of most jobs by default.
    options : mapping
        Others of ``simulate``.
    """

    name: str
    trace: Trace
    policy: str = "easy"
    processors: int | None = None
    waits: WaitPredictor | None = None
    queue: int | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SitesParameters(Parameters):
    """How jobs are submitted to several sites.

    Parameters
    ----------
    mode : {"reserve", "race"}
        ``reserve``: all parts of a request shall run by its start, by CO-VARQ. ``race``: each part is submitted to all
        sites where it fits, and cancelled everywhere else when it starts somewhere.
    probability : float
        That all parts shall be met with.
    shared : bool
        Whether a site may be taken for several parts of a request.
    step : float
        Seconds between two times of submission.
    clock : {"log", "date"}
        Whether second 0 of all logs is one moment, or their dates are.
    """

    NAME: ClassVar[str] = "sites"
    mode: str = choice("reserve", "race")
    probability: float = number(0.9, above=0, most=1)
    shared: bool = truth(False)
    step: float = number(30.0, above=0, unit="s")
    clock: str = choice("log", "date")


def checked_requests(requests: pd.DataFrame, chosen: SitesParameters) -> pd.DataFrame:
    """Return requests as they are used.

    Raises
    ------
    ParameterError
        A column lacks, or has a value outside its domain.
    """
    needed = [*REQUEST_COLUMNS, *(["start_by"] if chosen.mode == "reserve" else [])]
    if missing := [name for name in needed if name not in requests]:
        raise ParameterError(f"requests lack the columns {', '.join(missing)}")
    table = requests[needed].reset_index(drop=True)
    for name in needed[1:]:
        values = pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=np.float64)
        least = 0.0 if name in ("ask_time", "run_time") else np.nextafter(0.0, 1.0)
        wrong = np.flatnonzero(~(np.isfinite(values) & (values >= least)))
        if len(wrong):
            raise ParameterError(f"requests, row {wrong[0]}: {name}={table[name].iloc[wrong[0]]} is outside its domain")
    if (late := table["run_time"] > table["requested_time"]).any():
        raise ParameterError(f"requests, row {int(late.argmax())}: it runs longer than it requests")
    if chosen.mode == "reserve" and (past := table["start_by"] <= table["ask_time"]).any():
        raise ParameterError(f"requests, row {int(past.argmax())}: start_by is not behind ask_time")
    return table


def on_one_clock(sites: Sequence[Site], clock: str) -> list[Trace]:
    """Return the traces of sites with submissions on one clock."""
    if clock == "log":
        return [site.trace for site in sites]
    starts = [site.trace.header.unix_start_time for site in sites]
    if undated := [site.name for site, start in zip(sites, starts, strict=True) if start is None]:
        raise ParameterError(f"site {undated[0]}: its log does not say when it begins; take clock='log'")
    known = [int(start) for start in starts if start is not None]
    spans = []
    for site, start in zip(sites, known, strict=True):
        submit = site.trace.jobs["submit_time"].dropna()
        spans.append((start + float(submit.min()), start + float(submit.max())))
    if max(first for first, _ in spans) > min(last for _, last in spans):
        told = "; ".join(
            f"{site.name} {pd.Timestamp(first, unit='s'):%Y-%m-%d} to {pd.Timestamp(last, unit='s'):%Y-%m-%d}"
            for site, (first, last) in zip(sites, spans, strict=True)
        )
        raise ParameterError(f"the logs have no time in common: {told}; take clock='log', which begins them together")
    return [
        site.trace.with_jobs(site.trace.jobs.assign(submit_time=site.trace.jobs["submit_time"] + start - min(known)))
        for site, start in zip(sites, known, strict=True)
    ]


def with_requests(site: Site, trace: Trace, table: pd.DataFrame) -> tuple[Trace, Any, Any]:
    """Return a trace with the parts of requests behind its jobs, which of its jobs these are, and their rows."""
    jobs = trace.jobs
    count, first = len(jobs), int(jobs["job_number"].max()) + 1 if len(jobs) else 1
    queue = site.queue
    if queue is None and "queue_id" in jobs and jobs["queue_id"].notna().any():
        queue = int(jobs["queue_id"].mode().iloc[0])
    made = pd.DataFrame(
        {
            "job_number": np.arange(first, first + len(table)),
            "job_occurrence": 0,
            "submit_time": table["ask_time"].to_numpy(dtype=np.float64),
            "run_time": table["run_time"].to_numpy(dtype=np.float64),
            "requested_time": table["requested_time"].to_numpy(dtype=np.float64),
            "requested_processors": table["processors"].to_numpy(dtype=np.int64),
            "allocated_processors": table["processors"].to_numpy(dtype=np.int64),
        }
    )
    if queue is not None and "queue_id" in jobs:
        made["queue_id"] = queue
    made = made[[name for name in made if name in jobs]].reindex(columns=jobs.columns)
    kinds = {name: kind for name, kind in jobs.dtypes.items() if name in made}
    longer = pd.concat([jobs, made.astype(kinds)], ignore_index=True)
    rows = np.arange(count, count + len(table))
    mask = np.zeros(len(longer), np.bool_)
    mask[rows] = True
    return trace.with_jobs(longer), mask, rows
