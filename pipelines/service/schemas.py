# SPDX-License-Identifier: BSD-3-Clause
"""What answers are made of: JSON Schemas."""

from __future__ import annotations

from typing import Any

_NUMBER, _TEXT, _WHOLE, _TRUTH = ({"type": kind} for kind in ("number", "string", "integer", "boolean"))


def _or_null(kind: dict[str, Any]) -> dict[str, Any]:
    return {**kind, "type": [kind["type"], "null"]}


def _object(properties: dict[str, Any], *, may_be_null: bool = False) -> dict[str, Any]:
    kind: Any = ["object", "null"] if may_be_null else "object"
    return {"type": kind, "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


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
_ASKED = {"processors": _WHOLE, "requested_time": _NUMBER}
_SUBMISSION = {
    "submit": _or_null(_TEXT),
    "submit_in_seconds": _or_null(_NUMBER),
    "request_seconds": _or_null(_NUMBER),
    "probability": _or_null(_NUMBER),
}
_LIMITS = {
    "is_default": _TRUTH,
    "longest": _or_null(_NUMBER),
    "default_time": _or_null(_NUMBER),
    "processors": _or_null(_WHOLE),
}
_TOLD = {
    "quantile": _NUMBER,
    "seconds": _or_null(_NUMBER),
    "no_prediction": _or_null(_TEXT),
    "is_kept": _or_null(_TRUTH),
}

SCHEMAS = {
    "Clusters": _list(
        _object(
            {
                **_STATE,
                "is_stale": _TRUTH,
                "processors": _or_null(_WHOLE),
                "method": _TEXT,
                "by": _list(_TEXT),
                "told_apart_by": _TEXT,
                "quantile": _NUMBER,
                "confidence": _NUMBER,
                "queues": _list(_TEXT),
                "default_queue": _or_null(_TEXT),
                "limits": {"type": "object", "additionalProperties": _object(_LIMITS)},
                "policy": _or_null(_TEXT),
                "notice": _or_null(_TEXT),
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
            "at": _or_null(_TEXT),
            "at_seconds": _or_null(_NUMBER),
            "method": _TEXT,
            "bounds": _list(_object(_BOUND)),
            "within": _object(_WITHIN, may_be_null=True),
            "waits": _WHOLE,
            "no_prediction": _or_null(_TEXT),
            "accuracy": _object(_ACCURACY),
            "in_words": _TEXT,
        }
    ),
    "Where": _object(
        {
            "quantile": _NUMBER,
            "processors": _or_null(_WHOLE),
            "requested_time": _or_null(_NUMBER),
            "answers": _list(
                _object(
                    {
                        **_STATE,
                        "queue": _TEXT,
                        "seconds": _or_null(_NUMBER),
                        "confidence": _or_null(_NUMBER),
                        "waits": _or_null(_WHOLE),
                        "no_prediction": _or_null(_TEXT),
                        "why": _or_null(_TEXT),
                    }
                )
            ),
        }
    ),
    "Start": _object(
        {
            **_STATE,
            "policy": _or_null(_TEXT),
            **_ASKED,
            "running": _WHOLE,
            "waiting": _WHOLE,
            "bound_seconds": _or_null(_NUMBER),
            "behind": _or_null(_WHOLE),
            "median_seconds": _or_null(_NUMBER),
            "draws": _WHOLE,
            "no_prediction": _or_null(_TEXT),
            "in_words": _TEXT,
        }
    ),
    "Reservation": _object(
        {
            **_STATE,
            "queue": _TEXT,
            **_ASKED,
            "start": _or_null(_TEXT),
            "start_seconds": _NUMBER,
            "asked_probability": _NUMBER,
            "is_accepted": _TRUTH,
            "why_denied": _or_null(_TEXT),
            **_SUBMISSION,
            "best": _object(_SUBMISSION, may_be_null=True),
            "most_surplus": _or_null(_NUMBER),
            "expected_surplus": _or_null(_NUMBER),
            "waits": _WHOLE,
            "method": _TEXT,
            "ask_again_seconds": _or_null(_NUMBER),
            "in_words": _TEXT,
        }
    ),
    "Plan": _object(
        {
            "start": _or_null(_TEXT),
            "start_seconds": _NUMBER,
            "start_in_seconds": _NUMBER,
            "asked_probability": _NUMBER,
            "needed_probability": _NUMBER,
            "is_accepted": _TRUTH,
            "why_denied": _or_null(_TEXT),
            "probability": _NUMBER,
            "pieces": _list(
                _object(
                    {
                        **_ASKED,
                        "probability": _NUMBER,
                        "submissions": _list(_object({**_STATE, "queue": _TEXT, **_SUBMISSION})),
                    }
                )
            ),
            "ask_again_seconds": _or_null(_NUMBER),
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
    "Job": _object(
        {
            **_STATE,
            "id": _TEXT,
            "state": {"type": "string", "enum": ["waiting", "running"]},
            "queue": _or_null(_TEXT),
            "user": _or_null(_TEXT),
            "processors": _or_null(_WHOLE),
            "requested_time": _or_null(_NUMBER),
            "submitted": _or_null(_TEXT),
            "submitted_seconds": _NUMBER,
            "started": _or_null(_TEXT),
            "started_seconds": _or_null(_NUMBER),
            "waited_seconds": _NUMBER,
            "told": _object(_TOLD, may_be_null=True),
            "remaining": _object({"bounds": _list(_object(_BOUND)), "waits": _WHOLE}, may_be_null=True),
            "in_words": _TEXT,
        }
    ),
    "Accuracy": _object({**_STATE, "quantile": _NUMBER, **_ACCURACY}),
    "Problem": _object({"type": _TEXT, "title": _TEXT, "status": _WHOLE, "detail": _TEXT}),
}
"""By name; of each answer all properties are there, and no others."""
