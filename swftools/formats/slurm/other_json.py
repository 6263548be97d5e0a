# SPDX-License-Identifier: BSD-3-Clause
"""JSON that other programs write of jobs: what it is, and what to give instead.

Many have a list "jobs", as ``sacct --json`` has. Which program wrote it shows in the keys of its first job.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from swftools.formats.slurm.documents import find_jobs, new_state

_PROPOSE = "make a table of it, one row a job, and let swftools formats propose write a mapping"


class _Kind(NamedTuple):
    """What a document is: keys of its jobs, or of itself, that are all there; what it is; what to give instead."""

    keys: frozenset[str]
    what: str
    remedy: str


def _kind(keys: str, what: str, remedy: str) -> _Kind:
    return _Kind(frozenset(keys.split()), what, remedy)


_BATSIM = ("a Batsim workload, the input of a simulator", "give the log that it was made of")
_FLUX = (
    "what flux jobs --json prints",
    "swftools reads no format of Flux; give flux jobs -a --format with columns of your choice as a table: "
    "swftools formats propose writes a mapping for it",
)
_SLURM = "what squeue --json or scontrol --json prints, of jobs that have not ended or just have"
_OF_JOBS = (
    _kind("id subtime profile", *_BATSIM),
    _kind("id subtime res", *_BATSIM),
    _kind("submit_time application_model", "an ElastiSim workload, the input of a simulator", _BATSIM[1]),
    _kind("t_submit", *_FLUX),
    _kind("id userid urgency", *_FLUX),
    _kind("job_id submit_time", _SLURM, "run sacct --json"),
    _kind("id run_id", "a list of jobs of a build service", "give the accounting log of a batch system"),
)
_OF_DOCUMENTS = (
    _kind("pbs_version Jobs", "what qstat -F json prints, the state of a moment", "give PBS' accounting logs"),
    _kind("COMMAND RECORDS", "what bjobs -json prints, the state of a moment", "give lsb.acct of LSF"),
    _kind("kind items", "a list of objects of Kubernetes", _PROPOSE),
)
_OF_SACCT = ("time", "association", "steps", "tres")
_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*(:?)|[{}\[\]]')


class Foreign(NamedTuple):
    """What a document is, and what to give instead of it."""

    what: str
    remedy: str


def what_json(head: bytes) -> Foreign | None:
    """Return what the beginning of a JSON document is; None where it is none, or one that can be read.

    Examples
    --------
    >>> what_json(b'{"nb_res": 4, "jobs": [{"id": "1", "subtime": 10, "res": 4, "profile": "p"}]}').what
    'a Batsim workload, the input of a simulator'
    """
    text = head.removeprefix(b"\xef\xbb\xbf")
    if text.lstrip()[:1] != b"{":
        return None
    state = new_state()
    found = find_jobs(text, state)
    begins = [*found.begin[:1].tolist(), *([found.open_at] if found.open_at >= 0 else [])]
    if not begins:
        keys = _keys(text)
        return next((Foreign(each.what, each.remedy) for each in _OF_DOCUMENTS if each.keys <= keys), None)
    return what_job(_keys(text[begins[0] :]))


def what_job(keys: set[str] | frozenset[str]) -> Foreign | None:
    """Return what a document is by the keys of one of its jobs; None for what ``sacct --json`` prints."""
    if not keys or any(key in keys for key in _OF_SACCT):
        return None
    found = next((Foreign(each.what, each.remedy) for each in _OF_JOBS if each.keys <= keys), None)
    if found or "job_id" in keys:
        return found
    shown = ", ".join(sorted(keys)[:12])
    return Foreign(f'a list "jobs" of other things than sacct --json prints; the first has {shown}', _PROPOSE)


def _keys(text: bytes) -> set[str]:
    """Return the keys of the object with which a text begins, as far as it goes."""
    keys = set()
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in (b"{", b"["):
            depth += 1
        elif token[0] in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                break
        elif depth == 1 and token[2]:
            keys.add(token[1].decode("utf-8", "replace"))
    return keys
