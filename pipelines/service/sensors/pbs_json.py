# SPDX-License-Identifier: BSD-3-Clause
"""Reads what OpenPBS prints as JSON, which is not always JSON.

Versions of OpenPBS repeat keys, write control characters and quotation marks into strings as they are, write numbers as
005 and text without marks, escape what JSON does not, put lines of text in front, and end in the midst of it. What is
JSON is read as JSON, except that parts of which the key comes again are joined. Else the jobs are found one by one, by
the lines at which they begin, and of each the attributes that are needed; one that is not whole is as if it were not
there, and asked for again.

Where quotation marks are written as they are, a user's variable can look like attributes, or like another job. So of
two values of one key the first counts, since users' own texts come last; and a job that is there twice, and not as the
same one, is as if it were not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

JOBS = "Jobs"

_JOB = r"\d+(?:\[\d*\])?(?:\.[\w.-]+)?"
_HEADER = re.compile(rf'^[\s{{,]*"({_JOB})"\s*:\s*\{{', re.MULTILINE)
"""Where a job begins."""

_END = re.compile(r"\}\s*\}\s*$")
"""Behind a job that is whole: it is closed, and so is something within it or around it."""

_STRING = r'"((?:[^"\\\n]|\\.)*)"'
_ATTRIBUTE = r'^\s*"{name}"\s*:\s*(?:' + _STRING + r'|([^"\s,{{}}]+))\s*,?\s*$'

WANTED = (
    *("Job_Owner", "job_state", "queue", "ctime", "qtime", "etime", "stime", "mtime", "obittime", "history_timestamp"),
    *("array_indices_remaining", "Exit_status"),
)
"""Attributes of a job that are looked for where it is not JSON."""

_ID = re.compile(_JOB)
_WHICH = ("Job_Owner", "ctime", "job_state")
"""Attributes that are the same where a job is there twice."""

LIST, WANTED_OF_LIST = "Resource_List", ("ncpus", "nodect", "select", "walltime")
_LIST = re.compile(rf'^\s*"{LIST}"\s*:\s*\{{(.*?)^\s*\}}', re.MULTILINE | re.DOTALL)

_PATTERNS = {name: re.compile(_ATTRIBUTE.format(name=name), re.MULTILINE) for name in (*WANTED, *WANTED_OF_LIST)}


def read_json(text: str) -> dict[str, Any] | None:
    """Return a document of JSON; parts of which the key comes again are joined. None: it is none.

    A part that is None is one that came twice, of two different jobs.
    """
    begin = text.find("{")
    try:
        document = json.loads(text[max(begin, 0) :], strict=False, object_pairs_hook=_joined)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def read_jobs(text: str) -> dict[str, Mapping[str, Any]]:
    """Return the attributes of jobs, by their ids, from whatever ``qstat -f -F json`` printed.

    Examples
    --------
    >>> read_jobs('{"Jobs": {"7.pbs": {"job_state": "Q"}}}')
    {'7.pbs': {'job_state': 'Q'}}
    """
    document = read_json(text)
    if document is not None:
        jobs = document.get(JOBS)
        return {name: job for name, job in jobs.items() if isinstance(job, dict)} if isinstance(jobs, dict) else {}
    found = list(_HEADER.finditer(text))
    if found and not _END.search(text):  # it was cut off within the last job
        text = text[: found.pop().start()]
    ends = [each.start() for each in found[1:]] + [len(text)]
    made: dict[str, Mapping[str, Any] | None] = {}
    for each, end in zip(found, ends, strict=False):
        attributes = _of_block(text[each.end() : end])
        if {"job_state", "ctime"} <= set(attributes) and LIST in attributes:
            made[each[1]] = _both(each[1], made[each[1]], attributes) if each[1] in made else attributes
    return {name: job for name, job in made.items() if job is not None}


def _of_block(block: str) -> dict[str, Any]:
    """Return the attributes of a job that is not JSON; the first of each, since users' own texts come last."""
    made: dict[str, Any] = {}
    for name in WANTED:
        if (value := _value(name, block)) is not None:
            made[name] = value
    if found := _LIST.search(block):
        made[LIST] = {name: value for name in WANTED_OF_LIST if (value := _value(name, found[1])) is not None}
    return made


def _value(name: str, block: str) -> str | None:
    found = _PATTERNS[name].search(block)
    return None if found is None else (found[2] if found[1] is None else found[1])


def _joined(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object in which parts of the same key are one."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        made[key] = _both(key, made[key], value) if key in made else value
    return made


def _both(key: str, first: Any, second: Any) -> Any:
    """Return what two values of one key are: parts are joined, else the first counts; None of two different jobs."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return first
    if _ID.fullmatch(key) and any(first.get(name) != second.get(name) for name in _WHICH):
        return None
    return {
        **first,
        **{name: _both(name, first[name], each) if name in first else each for name, each in second.items()},
    }
