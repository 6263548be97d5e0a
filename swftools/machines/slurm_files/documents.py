# SPDX-License-Identifier: BSD-3-Clause
"""What ``sacctmgr --json list assoc`` and ``sacctmgr --json list qos`` print: one document, or some of them.

Slurm has this form since 23.02; where values stand follows its data_parser plugins. Numbers stand there as they are, or
with whether they are set and infinite; amounts of resources are lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.slurm_files.facts import SlurmFacts
from swftools.machines.slurm_files.limits import association_of, qos_of
from swftools.machines.slurm_files.registry import slurm_file

_KEY = re.compile(r'"(associations|qos)"\s*:\s*\[')
_MARKS = re.compile(r'"(?:shares_raw|parent_account|limits|is_default)"\s*:')
_BLANK = re.compile(r"[\s,:]*")
_KINDS = ("associations", "qos")
_DECODER = json.JSONDecoder()
_OF_ASSOCIATION = {
    "share": "shares_raw",
    "priority": "priority",
    "qos": "qos",
    "defqos": "default.qos",
    "grpjobs": "max.jobs.per.count",
    "grpsubmit": "max.jobs.per.submitted",
    "grpjobsaccrue": "max.jobs.per.accruing",
    "grpwall": "max.per.account.wall_clock",
    "grptres": "max.tres.total",
    "grptresmins": "max.tres.group.minutes",
    "grptresrunmins": "max.tres.group.active",
    "maxjobs": "max.jobs.active",
    "maxjobsaccrue": "max.jobs.accruing",
    "maxsubmit": "max.jobs.total",
    "maxtres": "max.tres.per.job",
    "maxtrespernode": "max.tres.per.node",
    "maxtresmins": "max.tres.minutes.per.job",
    "maxtresrunmins": "max.tres.minutes.total",
    "maxwall": "max.jobs.per.wall_clock",
    "minpriothresh": "min.priority_threshold",
}
_OF_QOS = {
    "name": "name",
    "priority": "priority",
    "usagefactor": "usage_factor",
    "usagethres": "usage_threshold",
    "preempt": "preempt.list",
    "preemptmode": "preempt.mode",
    "preemptexempttime": "preempt.exempt_time",
    "gracetime": "limits.grace_time",
    "limitfactor": "limits.factor",
    "grpjobs": "limits.max.active_jobs.count",
    "grpjobsaccrue": "limits.max.active_jobs.accruing",
    "grpwall": "limits.max.wall_clock.per.qos",
    "grptres": "limits.max.tres.total",
    "grptresmins": "limits.max.tres.minutes.total",
    "grptresrunmins": "limits.max.tres.minutes.per.qos",
    "maxjobspu": "limits.max.jobs.active_jobs.per.user",
    "maxjobspa": "limits.max.jobs.active_jobs.per.account",
    "maxsubmitpu": "limits.max.jobs.per.user",
    "maxsubmitpa": "limits.max.jobs.per.account",
    "maxtres": "limits.max.tres.per.job",
    "maxtrespernode": "limits.max.tres.per.node",
    "maxtresmins": "limits.max.tres.minutes.per.job",
    "maxtrespu": "limits.max.tres.per.user",
    "maxtrespa": "limits.max.tres.per.account",
    "maxtresrunminspu": "limits.max.tres.minutes.per.user",
    "maxtresrunminspa": "limits.max.tres.minutes.per.account",
    "maxwall": "limits.max.wall_clock.per.job",
    "minpriothresh": "limits.min.priority_threshold",
    "mintres": "limits.min.tres.per.job",
}
"""Of each word of sacctmgr where it stands."""
_FLAGS = {"denylimit": "denyonlimit", "overridepartitionqos": "overpartqos"}


def _recognise(text: str) -> Fit:
    is_there = text.lstrip()[:1] == "{" and _KEY.search(text) is not None and _MARKS.search(text) is not None
    return Fit(is_there, "it is JSON of sacctmgr" if is_there else "no JSON with associations or qos")


@slurm_file("documents", "what sacctmgr --json list assoc or qos prints", _recognise)
def read_documents(text: str, name: str) -> SlurmFacts:
    """Return the accounts, users and QOS of JSON.

    Raises
    ------
    ParameterError
        It is not JSON, a value is not as Slurm has it, or something is there twice.
    """
    facts = SlurmFacts()
    clusters: set[str] = set()
    for kind, line, entry in _entries(text, name):
        where = f"{name}, line {line}"
        if kind == "qos":
            words = {word: _text(entry, path) for word, path in _OF_QOS.items()}
            if not words["name"]:
                raise ParameterError(f"{where}: a QOS has no name; is this what sacctmgr prints?")
            flags = [each.lower().replace("_", "") for each in _text(entry, "flags").split(",") if each]
            words["flags"] = ",".join(_FLAGS.get(each, each) for each in flags)
            facts.add_qos(words["name"], qos_of(words, where, facts), where)
            continue
        account, user = _text(entry, "account"), _text(entry, "user")
        if not account:
            raise ParameterError(f"{where}: an association has no account; is this what sacctmgr prints?")
        clusters.add(_text(entry, "cluster"))
        if len(clusters) > 1:
            told = ", ".join(sorted(clusters))[:200]
            raise ParameterError(f"{where}: has accounts of clusters {told}; print those of one, by cluster=NAME")
        words = {word: _text(entry, path) for word, path in _OF_ASSOCIATION.items()}
        found = association_of(words, where, facts, f"{user} of {account}" if user else account)
        if user:
            facts.add_user((account, user, _text(entry, "partition")), found, where)
            if entry.get("is_default") is True or "DEFAULT" in _text(entry, "flags").upper().split(","):
                facts.defaults[user] = account
        else:
            parent = _text(entry, "parent_account")
            facts.add_account(account, found | ({"parent": parent} if parent else {}), where)
    return facts


def _entries(text: str, name: str) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Yield associations and QOS: which of both, the line where each begins, and what it says."""
    place = 0
    while rest := text[place:].lstrip():  # documents may stand one after another
        begin = len(text) - len(rest)
        try:
            document, place = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError) as error:
            line = text[: getattr(error, "pos", begin)].count("\n") + 1
            told = getattr(error, "msg", None) or str(error)
            raise ParameterError(f"{name}, line {line}: not readable as JSON: {told}; is the file whole?") from error
        if not isinstance(document, dict):
            line = text[:begin].count("\n") + 1
            raise ParameterError(f"{name}, line {line}: is no JSON of sacctmgr, which is a mapping")
        for kind, at in _keys(text, begin + 1):
            if kind in _KINDS and isinstance(document[kind], list):
                yield from _items(text, name, kind, at + 1, len(document[kind]))


def _keys(text: str, at: int) -> Iterator[tuple[str, int]]:
    """Yield the keys of a mapping whose first key stands behind a place, and where the value of each begins."""
    at = _skip(text, at)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        yield key, at
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)


def _skip(text: str, at: int) -> int:
    """Return the place of what comes next, behind blanks, commas and colons."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _items(text: str, name: str, kind: str, at: int, many: int) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Yield the items of a list that begins at a place."""
    line, counted = text.count("\n", 0, at) + 1, at
    for _ in range(many):
        at = _skip(text, at)
        line, counted = line + text.count("\n", counted, at), at
        entry, at = _DECODER.raw_decode(text, at)
        if not isinstance(entry, dict):
            raise ParameterError(f"{name}, line {line}: {kind} should be a list of mappings")
        yield kind, line, entry


def _text(entry: Mapping[str, Any], path: str) -> str:
    """Return a value as sacctmgr prints it in words; nothing where it is not set."""
    value: Any = entry
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, Mapping):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    if isinstance(value, list):
        return ",".join(_resource(each) if isinstance(each, Mapping) else str(each) for each in value)
    return "" if value is None or isinstance(value, bool) else str(value)


def _resource(item: Mapping[str, Any]) -> str:
    """Return an amount of a resource as ``gres/gpu=4``."""
    name = item.get("name") or ""
    return f"{item.get('type', '')}{'/' if name else ''}{name}={item.get('count', '')}"
