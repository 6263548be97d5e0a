# SPDX-License-Identifier: BSD-3-Clause
"""What ``/api/v1`` is, for programs: an OpenAPI document."""

from __future__ import annotations

from typing import Any

from pipelines.service.co_reservations import MOST_PIECES, MOST_QUEUES
from pipelines.service.questions import MOST_VALUES
from pipelines.service.schemas import SCHEMAS
from pipelines.service.waits import MOST_GROUPS
from swftools._version import __version__

_TEXT = {"type": "string"}

_MOST = {"quantile": MOST_VALUES, "piece": MOST_PIECES}
"""How often parameters may be there that may be there several times."""

_CLUSTER = {"cluster": "Which cluster; not needed if there is one."}

_QUEUE = {
    "queue": "The job's queue, or whatever jobs are grouped by.",
    "group": "The same by the number that the log has; instead of queue.",
}

_TIME = "Requested run time: 90 (seconds), 30m, 4h, 04:00:00, 1-12:00:00."

_WAIT = {
    **_CLUSTER,
    **_QUEUE,
    "processors": "Requested processors, if jobs are told apart by them.",
    "time": _TIME,
    "within": "Also say which share of such jobs starts within this time.",
    "at": "Moment to come at which the job would be submitted, 2027-03-01T09:00Z: by what is known now.",
    "confidence": "Of the bounds, between 0 and 1; that of the predictor if it is not given.",
    "quantile": f"Share of jobs, between 0 and 1; up to {_MOST['quantile']} times.",
}

_JOB = {"processors": "Requested processors.", "time": _TIME}

_BY = {
    "by": "It is to run no later than so long from now on: 90m, 6h.",
    "start": "The same as a moment, 2027-03-01T09:00Z; instead of by. Ask again with it.",
    "probability": "With which it shall run by then, up to .99; .95 if it is not given.",
}

_PIECE = {
    "piece": "A job that is to run with the others, processors=64,time=2h, perhaps with cluster=blue,queue=normal in "
    f"front; up to {_MOST['piece']} times. Without a queue any may be taken that takes the job, of those {MOST_QUEUES} "
    "of most waits."
}

_TAG = "The ETag stays the same until the next poll; a reservation or plan has a new one each second."

SEVERAL = tuple(_MOST)
"""Parameters that may be there several times."""


def describe() -> dict[str, Any]:
    """Return the document."""
    one = {"quantile": "Share of jobs by whose bound queues are compared; .9 if it is not given."}
    named = {"queue": "Only queues of this name."}
    paths = {
        "clusters": _get("Clusters", "What can be asked", {}),
        "wait": _get("Wait", "How long a job submitted now would wait", _WAIT),
        "where": _get(
            "Where",
            "At which cluster and queue a job would start first: each queue, the shortest bound first; of a cluster "
            f"the {MOST_GROUPS} queues of most waits at most",
            {**named, **_JOB, **one},
            (),
        ),
        "start": _get("Start", "When a job would start by the centre's policy", {**_CLUSTER, **_JOB}),
        "reserve": _get(
            "Reservation", "When to submit a job so that it runs at a time", {**_CLUSTER, **_QUEUE, **_JOB, **_BY}
        ),
        "plan": _get("Plan", "When to submit several jobs so that they run together", {**_PIECE, **_BY}),
        "queues": _get("Queues", "The queues as they are now", _CLUSTER),
        "jobs/{id}": _get(
            "Job", "A job that waits or runs", {**_CLUSTER}, inside={"id": "As the batch system has it."}
        ),
        "accuracy": _get("Accuracy", "What came of what jobs were told", _CLUSTER),
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Waits in queues", "version": __version__, "summary": "How long would a job wait?"},
        "paths": {f"/api/v1/{path}": told for path, told in paths.items()},
        "components": {"schemas": SCHEMAS},
    }


def _get(
    schema: str,
    summary: str,
    parameters: dict[str, str],
    several: tuple[str, ...] = SEVERAL,
    inside: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Return what is said of a path: its parameters, and those inside of it, with what they mean."""

    def content(of: str, kind: str) -> dict[str, Any]:
        return {kind: {"schema": {"$ref": f"#/components/schemas/{of}"}}}

    wrong = content("Problem", "application/problem+json")
    return {
        "get": {
            "summary": summary,
            "operationId": schema.lower(),
            "parameters": [
                *(
                    {"name": name, "in": "path", "required": True, "description": told, "schema": _TEXT}
                    for name, told in (inside or {}).items()
                ),
                *(
                    {
                        "name": name,
                        "in": "query",
                        "description": told,
                        "schema": {"type": "array", "items": _TEXT, "maxItems": _MOST[name]}
                        if name in several
                        else _TEXT,
                    }
                    for name, told in parameters.items()
                ),
            ],
            "responses": {
                "200": {"description": f"{summary}. {_TAG}", "content": content(schema, "application/json")},
                "304": {"description": "The answer of the tag is still right"},
                "4XX": {"description": "What to mend", "content": wrong},
                "503": {"description": "What is known is too old, or too many ask", "content": wrong},
            },
        }
    }
