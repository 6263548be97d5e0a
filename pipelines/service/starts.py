# SPDX-License-Identifier: BSD-3-Clause
"""When a job would start by the centre's policy, simulated from the queue as it is now.

The bound is that of ``swftools whatif``: every job runs as long as it may, and nobody else comes. The median is of a
number of simulations in which jobs run the shares of their requests that jobs have run lately, drawn at random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pipelines.service.answers import state_of
from pipelines.service.clusters import Cluster
from pipelines.service.questions import Refusal
from pipelines.service.queued_jobs import QueuedJob
from pipelines.service.words import spoken
from swftools.errors import SwfToolsError
from swftools.kernel import FloatArray

if TYPE_CHECKING:
    import pandas as pd

DRAWS, FEW_DRAWS, MANY = 21, 5, 2000
"""Simulations of which the median is told: so many; fewer where more jobs wait and run than that."""

LEAST_SHARES = 20
"""Jobs that must have ended before it is told."""

WHY = {
    "no-policy": "nobody said by which policy the centre orders its queue",
    "unknown-machine": "it is not known how many processors the machine has",
    "unknown-requests": "of jobs that wait or run it is not known what they asked for, and their queues have no limits",
    "inconsistent": "what runs does not fit the machine as it is known",
}


class Queue(NamedTuple):
    """A queue at a moment: those who run and who wait as ``what_if`` takes them; None where it is not known."""

    running: pd.DataFrame
    waiting: pd.DataFrame
    processors: int
    policy: str
    shares: tuple[float, ...]


def queue_of(cluster: Cluster) -> Queue | str:
    """Return the queue of a cluster as it is now; or why it cannot be simulated, a key of ``WHY``."""
    if cluster.policy is None:
        return "no-policy"
    if cluster.machine.processors is None:
        return "unknown-machine"
    now = cluster.heard_at
    running = [
        _row(cluster, job, now - (now if job.start is None else job.start)) for job in cluster.jobs.running.values()
    ]
    came = sorted(cluster.jobs.waiting.values(), key=lambda job: job.submit)
    waiting = [_row(cluster, job, now - job.submit) for job in came]
    if any(not width or not time for width, time, _ in [*running, *waiting]):
        return "unknown-requests"
    return Queue(
        _frame(running, "elapsed"),
        _frame(waiting, "waited"),
        cluster.machine.processors,
        cluster.policy,
        tuple(cluster.jobs.shares),
    )


def _frame(rows: list[tuple[int | None, float | None, float]], past: str) -> pd.DataFrame:
    """Return jobs as ``what_if`` takes them."""
    import pandas as pd  # noqa: PLC0415 (is loaded where somebody asks)

    kinds = {"processors": "int64", "requested_time": "float64", past: "float64"}
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def _row(cluster: Cluster, job: QueuedJob, past: float) -> tuple[int | None, float | None, float]:
    """Return what a job asked for, else what its queue gives it, and for how long it has run or waited, s."""
    limits = cluster.machine.queues.get(job.queue or "")
    given = None if limits is None else limits.default_time or limits.longest
    return job.processors, job.requested_time or given, max(past, 0.0)


def start_of(cluster: Cluster, processors: int, requested_time: float) -> dict[str, Any]:
    """Return what is known now, for an answer that ``simulated`` fills.

    Raises
    ------
    Refusal
        What is known is too old.
    """
    if cluster.is_stale:
        raise Refusal(503, f"{cluster.silence}: there is no answer until then")
    return {
        **state_of(cluster),
        "policy": cluster.policy,
        "processors": processors,
        "requested_time": requested_time,
        "running": cluster.running,
        "waiting": cluster.waiting,
    }


def simulated(about: dict[str, Any], queue: Queue | str) -> dict[str, Any]:
    """Return an answer: the bound and the median of the wait, s; null where there is none, and why.

    Raises
    ------
    Refusal
        The job is none that the machine can run.
    """
    nothing: dict[str, Any] = {"bound_seconds": None, "behind": None, "median_seconds": None, "draws": 0}
    if isinstance(queue, str):
        return {**about, **nothing, "no_prediction": queue, "in_words": f"No prediction: {WHY[queue]}."}
    width, time = about["processors"], about["requested_time"]
    if width > queue.processors:
        raise Refusal(400, f"processors={width}: the machine has {queue.processors:,}")
    job = {"processors": width, "requested_time": time}
    try:
        bound, behind = _start(queue.running, queue.waiting, job, queue)
        drawn = [_start(*_drawn(queue, draw), job, queue)[0] for draw in range(_draws(queue))]
    except SwfToolsError as error:
        words = f"No prediction: {WHY['inconsistent']}: {error}."
        return {**about, **nothing, "no_prediction": "inconsistent", "in_words": words}
    median = float(np.median(drawn)) if drawn else None
    parts = [f"it starts within {spoken(bound)}, if every job runs as long as it may and nobody is put before it"]
    if median is not None:
        parts.append(f"usually within {spoken(median)}, as jobs have ended lately")
    return {
        **about,
        "bound_seconds": bound,
        "behind": behind,
        "median_seconds": median,
        "draws": len(drawn),
        "no_prediction": None,
        "in_words": f"By {queue.policy} {'; '.join(parts)}.",
    }


def _start(running: pd.DataFrame, waiting: pd.DataFrame, job: dict[str, float], queue: Queue) -> tuple[float, int]:
    """Return how long a job waits, s, and behind how many of those that wait."""
    from swftools.simulator.questions.what_if import what_if  # noqa: PLC0415 (takes a second)

    found = what_if(running, waiting, [job], queue.processors, [queue.policy])
    return float(found["wait"].iloc[0]), int(found["behind"].iloc[0])


def _draws(queue: Queue) -> int:
    """Return how many simulations the median is of."""
    if len(queue.shares) < LEAST_SHARES:
        return 0
    return DRAWS if len(queue.running) + len(queue.waiting) <= MANY else FEW_DRAWS


def _drawn(queue: Queue, draw: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the queue with run times: shares of requests, drawn of those that jobs ran lately.

    Of a job that runs only larger shares than it has run already are drawn; where there are none it runs as long as it
    may. The same draw of the same queue is the same.
    """
    random = np.random.default_rng([draw, len(queue.running), len(queue.waiting)])
    shares = np.sort(np.array(queue.shares))
    limit = queue.running["requested_time"].to_numpy(np.float64)
    ran = queue.running["elapsed"].to_numpy(np.float64)
    runs = np.maximum(_shares(shares, ran / limit, random) * limit, ran + 1.0)
    waits = _shares(shares, np.zeros(len(queue.waiting)), random) * queue.waiting["requested_time"].to_numpy(np.float64)
    return queue.running.assign(run_time=runs), queue.waiting.assign(run_time=waits)


def _shares(shares: FloatArray, above: FloatArray, random: np.random.Generator) -> FloatArray:
    """Return a share for each job, drawn of those that are larger than what it has; 1 where there is none."""
    first = np.searchsorted(shares, above, side="right")
    place = first + np.floor(random.random(len(above)) * (len(shares) - first)).astype(np.int64)
    return np.where(first < len(shares), shares[np.minimum(place, len(shares) - 1)], 1.0)
