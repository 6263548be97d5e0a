# SPDX-License-Identifier: BSD-3-Clause
"""What ``/api/v1`` is, for programs: an OpenAPI document."""

from __future__ import annotations

from typing import Any

from swftools._version import __version__

_NUMBER, _TEXT, _WHOLE = ({"type": kind} for kind in ("number", "string", "integer"))


def _or_null(kind: dict[str, Any]) -> dict[str, Any]:
    return {"type": [kind["type"], "null"]}


_STATE = {
    "cluster": _TEXT,
    "as_of": _or_null(_TEXT),
    "as_of_seconds": _or_null(_NUMBER),
    "age_seconds": _or_null(_NUMBER),
}
_ACCURACY = {
    **dict.fromkeys(("told", "kept", "broken", "open"), _WHOLE),
    "share": _or_null(_NUMBER),
    "days": _NUMBER,
}
_BOUND = {"quantile": _NUMBER, "confidence": _or_null(_NUMBER), "seconds": _or_null(_NUMBER)}
_WITHIN = {"seconds": _NUMBER, "share": _NUMBER, "confidence": _or_null(_NUMBER)}


def _object(properties: dict[str, Any], *, may_be_null: bool = False) -> dict[str, Any]:
    kind: Any = ["object", "null"] if may_be_null else "object"
    return {"type": kind, "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


SCHEMAS = {
    "Clusters": _list(
        _object(
            {
                **_STATE,
                "is_stale": {"type": "boolean"},
                "processors": _or_null(_WHOLE),
                "method": _TEXT,
                "by": _list(_TEXT),
                "told_apart_by": _TEXT,
                "quantile": _NUMBER,
                "confidence": _NUMBER,
                "queues": _list(_TEXT),
                "waiting": _WHOLE,
                "running": _WHOLE,
            }
        )
    ),
    "Wait": _object(
        {
            **_STATE,
            "queue": _TEXT,
            "processors": _or_null(_WHOLE),
            "requested_time": _or_null(_NUMBER),
            "method": _TEXT,
            "bounds": _list(_object(_BOUND)),
            "within": _object(_WITHIN, may_be_null=True),
            "waits": _WHOLE,
            "no_prediction": _or_null(_TEXT),
            "accuracy": _object(_ACCURACY),
            "in_words": _TEXT,
        }
    ),
    "Queues": _object(
        {
            **_STATE,
            "queues": _list(
                _object({"queue": _TEXT, "waiting": _WHOLE, "waits": _WHOLE, "accuracy": _object(_ACCURACY)})
            ),
        }
    ),
    "Accuracy": _object({**_STATE, "quantile": _NUMBER, **_ACCURACY}),
    "Problem": _object({"type": _TEXT, "title": _TEXT, "status": _WHOLE, "detail": _TEXT}),
}

_PARAMETERS = {
    "cluster": "Which cluster; not needed if there is one.",
    "queue": "The job's queue, or whatever jobs are grouped by.",
    "group": "The same by the number that the log has; instead of queue.",
    "processors": "Requested processors, if jobs are told apart by them.",
    "time": "Requested run time: 90 (seconds), 30m, 4h, 04:00:00, 1-12:00:00.",
    "within": "Also say which share of such jobs starts within this time.",
    "quantile": "Share of jobs, between 0 and 1; as often as wanted.",
}


def describe() -> dict[str, Any]:
    """Return the document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Waits in queues", "version": __version__, "summary": "How long would a job wait?"},
        "paths": {
            "/api/v1/clusters": _get("Clusters", "What can be asked", ()),
            "/api/v1/wait": _get("Wait", "How long a job submitted now would wait", tuple(_PARAMETERS)),
            "/api/v1/queues": _get("Queues", "The queues as they are now", ("cluster",)),
            "/api/v1/accuracy": _get("Accuracy", "What came of what jobs were told", ("cluster",)),
        },
        "components": {"schemas": SCHEMAS},
    }


def _get(schema: str, summary: str, parameters: tuple[str, ...]) -> dict[str, Any]:
    """Return what is said of a path."""

    def content(of: str, kind: str) -> dict[str, Any]:
        return {kind: {"schema": {"$ref": f"#/components/schemas/{of}"}}}

    return {
        "get": {
            "summary": summary,
            "operationId": schema.lower(),
            "parameters": [
                {
                    "name": name,
                    "in": "query",
                    "description": _PARAMETERS[name],
                    "schema": {"type": "array", "items": _TEXT} if name == "quantile" else _TEXT,
                }
                for name in parameters
            ],
            "responses": {
                "200": {"description": summary, "content": content(schema, "application/json")},
                "4XX": {"description": "What to mend", "content": content("Problem", "application/problem+json")},
                "503": {
                    "description": "What is known is too old",
                    "content": content("Problem", "application/problem+json"),
                },
            },
        }
    }
