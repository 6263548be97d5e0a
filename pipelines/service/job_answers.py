# SPDX-License-Identifier: BSD-3-Clause
"""What is told of a job that waits or runs: when it came, what it was told, and what it has to wait still."""

from __future__ import annotations

import math
from typing import Any

from pipelines.service.access import Access
from pipelines.service.answers import state_of
from pipelines.service.clusters import Cluster
from pipelines.service.questions import Refusal
from pipelines.service.queued_jobs import QueuedJob
from pipelines.service.waits import remaining
from pipelines.service.words import REASONS, share, spoken


def job_of(cluster: Cluster, of_id: str, access: Access, user: str | None) -> dict[str, Any]:
    """Return what is told of the job of an id.

    Raises
    ------
    Refusal
        What is known is too old; or no such job waits or runs, or it is not told to who asks.
    """
    if cluster.is_stale:
        raise Refusal(503, f"{cluster.silence}: there is no answer until then")
    job = cluster.jobs.find(of_id)
    if job is None or not access.may_see(cluster.user_of(job), user):
        more = ", or it is another user's" if access.jobs_are_private else ""
        raise Refusal(404, f"no job {of_id!r:.60} of {cluster.name} waits or runs{more}")
    told = {**state_of(cluster), **about_job(cluster, job, access, user)}
    left = None
    if job.start is None and job.told is not None:
        left = remaining(cluster, job.told.group, told["waited_seconds"], job.processors, job.requested_time)
    found = {**told, "remaining": left}
    return {**found, "in_words": _in_words(found)}


def about_job(cluster: Cluster, job: QueuedJob, access: Access, user: str | None) -> dict[str, Any]:
    """Return what a job is, as somebody may know it, and what it was told.

    ``waited_seconds`` are those until it started, or until something was heard last.
    """
    owner = cluster.user_of(job)
    waited = max((cluster.heard_at if job.start is None else job.start) - job.submit, 0.0)
    return {
        "id": job.id,
        "state": "waiting" if job.start is None else "running",
        "queue": cluster.queue_of(job),
        "user": owner if access.may_name(owner, user) else None,
        "processors": job.processors,
        "requested_time": job.requested_time,
        "submitted": cluster.date(job.submit),
        "submitted_seconds": job.submit,
        "started": None if job.start is None else cluster.date(job.start),
        "started_seconds": job.start,
        "waited_seconds": waited,
        "told": None if job.told is None else _told(cluster, job, waited),
    }


def _told(cluster: Cluster, job: QueuedJob, waited: float) -> dict[str, Any] | None:
    """Return what a job was told, and whether that was kept: null while it is open."""
    if job.told is None:
        return None
    has_bound = not math.isnan(job.told.bound)
    is_late = has_bound and waited > job.told.bound
    is_open = not has_bound or (job.start is None and not is_late)
    return {
        "quantile": cluster.predictor.parameters.quantile,
        "seconds": job.told.bound if has_bound else None,
        "no_prediction": job.told.no_prediction,
        "is_kept": None if is_open else not is_late,
    }


def _in_words(told: dict[str, Any]) -> str:
    """Return what is told of a job as sentences."""
    is_over = told["state"] == "running"
    waited = spoken(told["waited_seconds"])
    parts = [f"It waited {waited}, and runs" if is_over else f"It has waited {waited}"]
    then = told["told"]
    if then is not None and then["seconds"] is not None:
        parts.append(f"it was told that {share(then['quantile'])} such jobs start within {spoken(then['seconds'])}")
    elif then is not None and then["no_prediction"]:
        parts.append(f"it was told nothing, since {REASONS.get(then['no_prediction'], then['no_prediction'])}")
    for bound in (told["remaining"] or {"bounds": []})["bounds"][-1:]:
        if bound["seconds"] is not None:
            most = f"{share(bound['quantile'])} started within {spoken(bound['seconds'])} more"
            parts.append(f"of jobs that had waited as long, {most}")
    return "; ".join(parts) + "."
