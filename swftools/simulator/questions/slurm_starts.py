# SPDX-License-Identifier: BSD-3-Clause
"""When jobs of a queue will start under Slurm's rules: a median and a bound, over drawn run times and phases."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.formats.slurm.queue_snapshot import QueueSnapshot
from swftools.kernel import FloatArray
from swftools.keyed_random import uniforms
from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import DEFAULTS, SlurmSite
from swftools.parameters import is_whole
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.nodes.setup import table_at
from swftools.simulator.questions.run_time_draws import Jobs, draw_run_times
from swftools.simulator.questions.slurm_arrivals import Arrivals, arrivals_of, rows_of
from swftools.simulator.questions.slurm_queue import SlurmQueue, present_in_trace, slurm_queue
from swftools.simulator.run_setup import begin
from swftools.simulator.slurm.begin import RealRun
from swftools.trace import Trace

POLICY = "slurm"

DRAWS, BOUND = 60, 0.95
"""How often run times are drawn, and with which chance a job has started by its bound, unless it is said."""

NOBODY_COMES = "no other job comes: starts are later than the median and the bound say, where many jobs come"
OTHERS_FOR_BOUND = "no other job comes before the median; before the bound others come, such as in the past"
OTHERS_COME = "others come, such as in the past"
"""What is told of jobs that may come."""

_CHUNK, _GROWS = 60.0, 1.05
_LONGEST = 366 * 86_400.0


@dataclass(frozen=True)
class SlurmStarts:
    """When jobs start.

    Parameters
    ----------
    jobs : pandas.DataFrame
        A row for each job that waits, in the order of the queue, then for each that is asked about: job, asked,
        partition, priority (NaN: none is told), requested_time, median and bound of the time until its start (s;
        infinity: never), and never (the share of draws in which it does not start).
    draws, bound : int and float
        How many draws, and with which chance a job has started by its bound.
    learnt_from : int
        Ended jobs from which run times are learnt; 0: all jobs run to their limits.
    left_out : dict of str to int
        How many waiting jobs could never run, by the reason.
    told : tuple of str
        What is assumed, a sentence each.
    waits : numpy.ndarray of float64, shape (draws, jobs)
        The time until the start of each row of ``jobs`` in each draw that the median counts, s.
    """

    jobs: pd.DataFrame
    draws: int
    bound: float
    learnt_from: int
    left_out: dict[str, int]
    told: tuple[str, ...]
    waits: FloatArray


def slurm_starts(  # noqa: PLR0913 (options by name)
    queue: QueueSnapshot,
    machine: str | os.PathLike[str] | NodeTable | Any,
    jobs: Iterable[Mapping[str, Any]] = (),
    *,
    past: Trace | None = None,
    arrivals: bool | None = None,
    draws: int = DRAWS,
    bound: float = BOUND,
    predictor: str = "request",
    seed: int = 0,
    compiled: bool = True,
    parameters: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SlurmStarts:
    """Say when the jobs of a queue, and others that are submitted now, start under policy ``slurm``.

    Each draw is a simulation that begins with the queue as it is: who runs stands on the nodes that it has, who waits
    has the priority that it has. Run times are drawn from how wrong the predictor was of ended jobs
    (``draw_run_times``), and so is when cycles of the scheduler begin (``phase``). No other job comes before the
    median. For the bound it is all done again while others come as in the past, from a drawn moment of it on
    (``slurm_arrivals``): the later of both bounds counts.

    Parameters
    ----------
    queue : QueueSnapshot
        Of ``read_squeue(..., whole=True)``.
    machine : path, MachineDescription or NodeTable
        The nodes, with how Slurm is configured there. Outages of the moment last; seconds of others are from now on.
    jobs : iterable of mapping
        The jobs to ask about, as ``what_if`` takes them, also with ``user``, ``account`` and ``qos`` by name. All of
        them come at once; ask about each by itself if they are alternatives.
    past : Trace, optional
        Jobs that have ended; without it all run to their limits.
    arrivals : bool, optional
        Whether others come, such as in the past, before medians, too; that takes longer. False: not at all. None:
        before bounds, where there is a past.
    draws, bound, seed
        How many draws, the chance that the bound promises, and the seed of the draws. Of n draws the bound is the k-th,
        where k of n + 1 are that share.
    predictor : str
        Whose errors are drawn, as for ``simulate``.
    compiled : bool
        Whether the rules are compiled.
    parameters : mapping, optional
        Of the policy.
    progress : callable, optional
        Called with how many draws are done, and how many there are.

    Returns
    -------
    SlurmStarts
        Medians and bounds.

    Raises
    ------
    ParameterError
        As ``slurm_queue``; draws or bound are none.
    """
    if not is_whole(draws, 1, 100_000):
        raise ParameterError(f"draws={draws!r} is not a whole number from 1 to 100,000")
    if arrivals and past is None:
        raise ParameterError("arrivals=True needs a past in which jobs came; give past= (--history)")
    if not 0.5 <= bound < 1.0:
        raise ParameterError(f"bound={bound!r} is not a share from .5 to below 1, such as .95")
    asked = [dict(job, name=f"job {number}") for number, job in enumerate(jobs, start=1)]
    table = table_at(machine, *present_in_trace(queue))
    begun = slurm_queue(queue, table, asked, compiled=compiled)
    ended = _ended(past)
    frame = begun.frame
    present = Jobs(
        [text if isinstance(text, str) else "" for text in frame["user"]],
        frame["requested_time"].to_numpy(np.float64),
        frame["elapsed"].to_numpy(np.float64),
        np.full(len(frame), ended.start.max(initial=0.0) + ended.ran.max(initial=0.0)),
    )
    run_times = draw_run_times(ended, present, draws, predictor=predictor, seed=seed, compiled=compiled)
    phases = uniforms(seed, "what-if/phase", np.zeros(1, np.int64), np.zeros(1, np.int64), draws)[0]
    waits = np.full((draws, len(frame)), np.inf)
    told: tuple[str, ...] = ()
    others = arrivals_of(past if arrivals is not False else None, table, _of_queue(begun))
    is_twice = arrivals is None and others.span > 0.0
    with_others = np.full((draws if is_twice else 0, len(frame)), np.inf)
    rounds = [(waits, bool(arrivals)), *([(with_others, True)] if is_twice else [])]
    for place, (into, is_joined) in enumerate(rounds):
        for draw in range(draws):
            if progress:
                progress((place * draws + draw) // len(rounds), draws)
            chosen = {"phase": float(np.floor(phases[draw] * 999.0) / 1000.0), **(parameters or {})}
            times, now = run_times[draw] - present.ran, begun
            if is_joined and others.span > 0.0:
                rows, come = others.drawn(seed, draw)
                ran = np.where(np.isnan(others.run_time[rows]), others.limit[rows], others.run_time[rows])
                now = begun.with_arrivals(rows_of(others.jobs, rows), others.users, come, others.limit[rows])
                times = np.concatenate([times, ran])
            into[draw], told = _one_run(now, table, times, chosen, compiled=compiled)
    rows = np.flatnonzero(~frame["runs"].to_numpy(bool) & (begun.run.jobs.code == 0))  # type: ignore[union-attr]
    order = np.lexsort(
        [rows, -frame["priority"].fillna(-1.0).to_numpy(np.float64)[rows], frame["asked"].to_numpy(bool)[rows]]
    )
    rows = rows[order]
    waits, with_others = waits[:, rows], with_others[:, rows]
    bounds = [_bound(each, bound) for each in (waits, with_others) if len(each)]
    table_of_jobs = frame.loc[rows, ["name", "asked", "partition", "priority", "requested_time"]].rename(
        columns={"name": "job"}
    )
    return SlurmStarts(
        table_of_jobs.assign(
            median=np.quantile(waits, 0.5, axis=0, method="inverted_cdf"),
            bound=np.max(bounds, axis=0),
            never=np.isinf(waits).mean(axis=0),
        ).reset_index(drop=True),
        draws,
        bound,
        len(ended.ran),
        begun.left_out,
        (
            OTHERS_FOR_BOUND if is_twice else OTHERS_COME if others.span > 0.0 else NOBODY_COMES,
            *_too_few(draws, bound),
            *told,
            *table.told,
        ),
        waits,
    )


def _one_run(
    begun: SlurmQueue, table: NodeTable, run_times: FloatArray, parameters: dict[str, Any], *, compiled: bool
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return how long each job waits from now on in one draw, s; infinity where it does not start."""
    trace = begun.trace.with_jobs(begun.trace.jobs.assign(run_time=run_times))
    run: RealRun = begun.run
    found = begin(
        trace,
        POLICY,
        None,
        RunOptions(overrun="run-on"),
        compiled=compiled,
        machine=table,
        parameters=parameters,
        number_of=lambda job: int(row[job]) + 1,
        follows=run,
    )
    row, driver = np.asarray(found.workload.coming.row, np.int64), found.driver
    waits = np.full(len(begun.frame), np.inf)
    waiting = np.isin(row, np.flatnonzero(~begun.frame["runs"].to_numpy(bool)))
    until = busy = begun.present
    grace, settled = _grace(table), begun.present + _settled(begun, table)
    while not driver.is_over and until < begun.present + _LONGEST:
        until = begun.present + max(_GROWS * (until - begun.present), until - begun.present + _CHUNK)
        driver.go_on(until)
        log = driver.replay.log
        has_begun = np.zeros(len(row), bool)
        has_begun[log.job[: int(log.size[0])]] = True
        if (has_begun | ~waiting).all():
            break
        busy = max(busy, float(log.end[: int(log.size[0])].max(initial=0.0)))
        if until > max(busy, settled) + grace:
            break  # nobody runs, nobody comes, and nobody started: who waits does so for ever
    log = driver.replay.log
    for place in range(int(log.size[0])):
        job = int(row[log.job[place]])
        if job < len(waits):
            waits[job] = min(waits[job], float(log.start[place]) - begun.present)
    return waits, found.workload.told


def _bound(waits: FloatArray, share: float) -> FloatArray:
    """Return the least wait of each column, of a draw a row, within which the next one lies with a chance of ``share``.

    Of n draws the k-th least has k of n + 1 below it (Wilks 1941, "Determination of sample sizes for setting tolerance
    limits"); of too few it is the longest.
    """
    place = min(int(np.ceil(share * (len(waits) + 1) - 1e-9)), len(waits))
    found: FloatArray = np.sort(waits, axis=0)[place - 1]
    return found


def _too_few(draws: int, share: float) -> list[str]:
    """Return that a bound lies behind all draws, if so many are too few for it."""
    least = int(np.ceil(share / (1.0 - share) - 1e-9))
    return [] if draws >= least else [f"{draws:,} draws are too few for a bound of {share:g}: draw {least:,} or more"]


def _of_queue(begun: SlurmQueue) -> Arrivals:
    """Return the jobs of a queue as ones that came; who is asked about did not."""
    frame, jobs = begun.frame, begun.run.jobs
    assert jobs is not None  # noqa: S101 (a queue has read what its jobs ask)
    rows = np.flatnonzero(~frame["asked"].to_numpy(bool))
    ids = np.unique(begun.trace.views.user_id).tolist()
    names = begun.trace.known_names.get("user", {})
    eligible = begun.run.logged.eligible
    come = np.zeros(len(rows)) if eligible is None else eligible[rows] - begun.present
    lacking = np.full(len(rows), np.nan)
    limit = frame["requested_time"].to_numpy(np.float64)[rows]
    return Arrivals(rows_of(jobs, rows), [names.get(each, "") for each in ids], come, lacking, limit, 0.0)


def _grace(table: NodeTable) -> float:
    """Return how long nothing may happen before it is certain that nothing does: two rounds of each scheduler, s."""
    site = table.slurm or SlurmSite()
    chosen = {**DEFAULTS, **site.scheduler}
    periods = (chosen["bf_interval"], chosen["sched_interval"], site.priority.calc_period, site.requeue_delay, _CHUNK)
    return 2.0 * max(periods)


def _settled(begun: SlurmQueue, table: NodeTable) -> float:
    """Return how long it takes from now on until nothing that time alone changes will, s: outages, begin times."""
    outages = table.outages
    times = [*outages.begin.tolist(), *outages.end.tolist(), *begun.run.eligible_time.tolist(), begun.present]
    return max(time for time in times if np.isfinite(time)) - begun.present


def _ended(past: Trace | None) -> Jobs:
    """Return the jobs of a log that ran and have ended."""
    if past is None:
        return Jobs([], np.zeros(0), np.zeros(0), np.zeros(0))
    arrays = past.views
    start = arrays.submit_time + arrays.wait_time
    is_known = (arrays.run_time > 0) & (arrays.requested_time > 0) & np.isfinite(start)
    names = past.known_names.get("user", {})
    users = [names.get(number, str(number)) if number >= 0 else "" for number in arrays.user_id[is_known].tolist()]
    return Jobs(users, arrays.requested_time[is_known], arrays.run_time[is_known], start[is_known])
