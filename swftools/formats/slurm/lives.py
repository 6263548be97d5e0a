# SPDX-License-Identifier: BSD-3-Clause
"""From what sacct says to records, the same for its text and its JSON: each life of a job is a record.

A job that is queued again begins another life, with the same id and another submission; ``sacct -D`` tells all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swftools.formats.accounting.meanings import said_by_word
from swftools.formats.accounting.records import Records, plain_words
from swftools.formats.slurm.dependency import preceding_jobs
from swftools.formats.slurm.pieces import QUEUED_AGAIN, RESIZED
from swftools.formats.slurm.states import (
    COMPLETED,
    NODE_FAIL,
    OPEN,
    PREEMPTED,
    REQUEUED,
    RESIZING,
    REVOKED,
    UNKNOWN,
    kinds_of,
    swf_status,
)
from swftools.formats.slurm.submit_line import ASKS, DEPENDS, Asks, asks_of, dependency_of
from swftools.kernel import BoolArray, FloatArray, IntArray

_SOME_SECONDS = 10.0


class Choices(NamedTuple):
    """What of a life becomes which column; see ``reader.Slurm``."""

    submit: str
    group: str
    queue: str
    partition: str
    preempted: str
    publish: str
    unended: str = "refused"


@dataclass
class Lives:
    """What sacct says of the lives of jobs, before options choose; a row each, NaN and null where it says nothing.

    Parameters
    ----------
    times : dict of str to ndarray of float64
        ``submit, eligible, start, end``, in seconds since 1970.
    seconds : dict of str to ndarray of float64
        ``elapsed, suspended, limit``; ``cpu``, of the job, and ``steps_cpu``, the sum over its steps.
    counts : dict of str to ndarray of float64
        Columns of records by their names; processors and nodes 0 where none were given.
    used_memory : ndarray of float64
        The largest of one task of one step, KB.
    requested_memory : ndarray of float64
        KB per processor.
    had_no_nodes : ndarray of bool
        Where sacct says that the job was on no nodes.
    energy : ndarray of float64
        J.
    words : dict of str to pyarrow.LargeStringArray
        ``id, state, user, account, group, partition, qos, cluster, name, dependency, submit_line,
        flags, reason, constraints, nodes, gpu_types``.
    may_wait : bool
        Whether the log can say what jobs waited for.
    """

    times: dict[str, FloatArray]
    seconds: dict[str, FloatArray]
    counts: dict[str, FloatArray]
    used_memory: FloatArray
    requested_memory: FloatArray
    had_no_nodes: BoolArray
    energy: FloatArray
    words: dict[str, pa.LargeStringArray] = field(default_factory=dict)
    may_wait: bool = True


def fill_records(records: Records, lives: Lives, options: Choices) -> None:
    """Fill records with the lives of jobs, by the options of the format."""
    kinds = kinds_of(lives.words["state"])
    times = lives.times
    submit, start, end = times["submit"], times["start"], times["end"]
    if options.submit == "eligible":
        submit = np.where(np.isfinite(times["eligible"]), times["eligible"], submit)
    records.fault(np.asarray(lives.words["id"].is_null()), "no job id")
    is_open = (kinds == OPEN) | (((kinds == REQUEUED) | (kinds == RESIZING)) & ~np.isfinite(end))
    is_kept = is_open & ~np.isfinite(end) & (options.unended == "kept")
    records.fault(is_open & ~is_kept, "not ended", lives.words["state"])
    records.fault(kinds == UNKNOWN, "a state that Slurm does not have", lives.words["state"])
    records.fault(~np.isfinite(submit), "no Submit")
    records.fault(~np.isfinite(end) & ~is_kept, "no End")
    # A job that is cancelled while it waits has that moment for its start, in some versions.
    left = (start == end) & lives.had_no_nodes & (kinds != COMPLETED)
    start = np.where(left | (kinds == REVOKED), np.nan, start)
    ran = np.isfinite(start)
    counts = dict(lives.counts)
    processors = np.where(counts["allocated_processors"] > 0, counts["allocated_processors"], np.nan)
    records.fault(ran & ~np.isfinite(processors), "no processors of a job that ran")
    for name in ("allocated_processors", "allocated_nodes", "allocated_gpus"):
        counts[name] = np.where(ran & (counts[name] >= (name != "allocated_gpus")), counts[name], np.nan)
    for name, given in (("requested_processors", "allocated_processors"), ("requested_nodes", "allocated_nodes")):
        counts[name] = np.where(counts[name] > 0, counts[name], np.nan)
        # What is told of a job that never started as given to it is what it asked for.
        is_told = ~ran & np.isnan(counts[name]) & (lives.counts[given] > 0)
        counts[name] = np.where(is_told, lives.counts[given], counts[name])
    run = np.where(np.isfinite(lives.seconds["elapsed"]), lives.seconds["elapsed"], end - start)
    run[~ran] = np.nan
    cpu = _cpu_time(records, lives, run)
    memory = np.where(ran & (lives.used_memory > 0), lives.used_memory, np.nan)
    _note(records, lives, run, end - start)
    records.numbers |= {
        "submit": submit,
        "eligible": times["eligible"],
        "start": start,
        "end": end,
        "run_time": run,
        "cpu_time": cpu,
        "requested_time": lives.seconds["limit"],
        "used_memory": memory,
        "requested_memory": np.where(lives.requested_memory > 0, lives.requested_memory, np.nan),
        "energy": _energy(records, lives, run),
        "status": swf_status(kinds, options.preempted),
        **counts,
        **_followed(kinds),
        **({"left": np.where(ran, np.nan, end)} if options.unended == "kept" else {}),
    }
    # sacct -T gives an end to what still ran, and the piece that follows begins there.
    cut = is_open & (end > start)
    records.is_cut = cut if cut.any() else None
    words = lives.words
    commands = words["submit_line"].dictionary_encode()
    dependency = _dependency(words["dependency"], commands)
    records.numbers |= _asked(commands, dependency, times["eligible"])
    records.scope = words["cluster"]
    records.has_loose = True
    records.is_private |= words["submit_line"].null_count + words["reason"].null_count < 2 * len(records)
    records.may_publish = options.publish == "yes"
    records.words = {
        "log_id": words["id"],
        "logged_state": words["state"],
        "user": words["user"],
        "group": words[options.group],
        "executable": words["name"],
        "queue": words[options.queue],
        "partition": words[options.partition],
        "qos": words["qos"],
        **({"account": words["account"]} if options.group != "account" else {}),
        "scheduler_flags": words["flags"],
        "wait_reason": words["reason"],
        "constraints": words["constraints"],
        "gpu_types": words["gpu_types"],
        "host_list": words["nodes"],
        "submit_line": words["submit_line"],
        "dependency": dependency,
        "preceding": _preceding(dependency, words["id"]),
        **(_groups(words) if lives.may_wait else {}),
    }


def _followed(kinds: IntArray) -> dict[str, FloatArray]:
    """Return which lives another one may follow, and in what way; nothing where none may."""
    life = np.full(len(kinds), np.nan)
    life[kinds == RESIZING] = RESIZED
    life[(kinds == REQUEUED) | (kinds == PREEMPTED) | (kinds == NODE_FAIL)] = QUEUED_AGAIN
    return {"life": life} if np.isfinite(life).any() else {}


def _asked(
    commands: pa.DictionaryArray, dependency: pa.LargeStringArray, eligible: FloatArray
) -> dict[str, FloatArray]:
    """Return what the commands that submitted jobs ask for of nodes, and when they let these begin.

    sacct does not tell when a job was to begin. Where the command says so, and the job waited for no other, it is when
    it could first start.
    """
    words = commands.dictionary
    may_ask = _with(words, ASKS)
    if not len(may_ask):  # nearly always
        return {}
    of_word = np.full((len(words) + 1, len(Asks._fields)), Asks())
    of_word[may_ask] = [asks_of(words[word].as_py()) for word in may_ask.tolist()]
    is_exclusive, has_begin, most_cores = of_word[commands.indices.fill_null(-1).to_numpy(zero_copy_only=False)].T
    waits = np.asarray(dependency.is_valid())
    return {
        "is_exclusive": is_exclusive.copy(),
        "begin": np.where((has_begin == 1) & ~waits, eligible, np.nan),
        "most_cores_per_node": most_cores.copy(),
    }


def _cpu_time(records: Records, lives: Lives, run: FloatArray) -> FloatArray:
    """Return the CPU time of each job: its own, or the sum of its steps; NaN where none was recorded."""
    own, of_steps = lives.seconds["cpu"], lives.seconds["steps_cpu"]
    cpu = np.where((own > 0) | ~(of_steps > 0), own, of_steps)
    idle = (cpu == 0) & (run > _SOME_SECONDS)
    _count(records, "no CPU time in a run of more than 10 s: taken for not recorded", idle)
    return np.where(idle | ~np.isfinite(run), np.nan, cpu)


def _energy(records: Records, lives: Lives, run: FloatArray) -> FloatArray:
    """Return the energy of each job that ran; none where it is 0: not measured, or too short a run for that."""
    idle = (lives.energy == 0) & np.isfinite(run)
    _count(records, "no energy of a run: taken for not recorded", idle)
    return np.where(idle | ~np.isfinite(run), np.nan, lives.energy)


def _note(records: Records, lives: Lives, run: FloatArray, stay: FloatArray) -> None:
    """Count what is odd."""
    _count(records, "suspended for a while, which the run time leaves out", lives.seconds["suspended"] > 0)
    _count(records, "Elapsed is longer than from Start to End", run > stay + 1.0)


def _count(records: Records, told: str, mask: BoolArray) -> None:
    if count := int((mask & ~records.is_faulty).sum()):
        records.anomalies[told] += count


def _dependency(told: pa.LargeStringArray, commands: pa.DictionaryArray) -> pa.LargeStringArray:
    """Return what each job waited for: as told, else as the command that submitted it says."""
    may_say = _with(commands.dictionary, DEPENDS)
    said: list[str | None] = [None] * len(commands.dictionary)
    for word in may_say.tolist():
        said[word] = dependency_of(commands.dictionary[word].as_py())
    return pc.coalesce(told, pa.array(said, pa.large_string()).take(commands.indices)) if len(may_say) else told


def _with(texts: pa.LargeStringArray, pattern: str) -> IntArray:
    """Return the places of the texts that have a pattern in them."""
    return np.flatnonzero(pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False))


def _preceding(dependencies: pa.LargeStringArray, ids: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return what each waited for, as ``accounting.dependencies`` has it."""
    if dependencies.null_count == len(dependencies):
        return dependencies
    preceding = said_by_word(dependencies, preceding_jobs)
    rows = np.flatnonzero(pc.match_substring(dependencies, "aftercorr").fill_null(False).to_numpy(zero_copy_only=False))
    if len(rows):  # an element waits for the one of the same index
        found = preceding.to_pylist()
        for row in rows.tolist():
            found[row] = preceding_jobs(dependencies[row].as_py(), ids[row].as_py() or "")
        preceding = pa.array(found, pa.large_string())
    return preceding


def _groups(words: dict[str, pa.LargeStringArray]) -> dict[str, pa.LargeStringArray]:
    """Return the id of each job's array, and who runs which job: what others may wait for."""
    is_element = pc.match_substring(words["id"], "_")
    array = pc.if_else(is_element, pc.replace_substring_regex(words["id"], "_.*", ""), None)
    who, what = (plain_words(words[name]) for name in ("user", "name"))
    return {"array": array, "namesake": pc.binary_join_element_wise(who, what, pa.scalar("\n", pa.large_string()))}
