# SPDX-License-Identifier: BSD-3-Clause
"""Load a log by name as everything here takes it: with its card's machine, and cleaned by its card's rules.

The console loads logs by ``load_log``; the tasks, which keep each step on disk, take the same steps by ``as_its_log``
and ``rules_of``. So both have the same jobs, and a simulation the same schedule.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from pipelines.logs.find import Log, catalog_in_use, find_log, is_stream
from pipelines.logs.generated import generate_log
from pipelines.logs.how_read import HowRead
from pipelines.logs.published import read_version, version_folder
from swftools.cleaning import CleaningReport
from swftools.cleaning import clean as clean_trace
from swftools.errors import SwfFormatError, UnknownLogError, UnreadableLogError
from swftools.formats.compression import Progress
from swftools.formats.fetch import fetch_log, is_address
from swftools.formats.parquet import is_foreign, read_parquet
from swftools.output.shown_text import shown
from swftools.trace import Trace

progress = logging.getLogger("pipelines")

REPEATS = "duplicates"
"""The cleaning rule that leaves out lines which repeat another."""


@dataclass(frozen=True)
class LoadedLog:
    """A log in memory.

    Parameters
    ----------
    log : Log
        What the catalogue and the file say of it.
    trace : Trace
        Its jobs.
    report : CleaningReport, optional
        What cleaning did; None if the log was not cleaned.
    """

    log: Log
    trace: Trace
    report: CleaningReport | None = None


def load_log(
    name: str,
    *,
    clean: bool = True,
    rules: Iterable[Any] | None = None,
    processors: int | None = None,
    strict: bool = False,
    how: HowRead | None = None,
    says_odd: bool = True,
) -> LoadedLog:
    """Load a log by the name of its card, by a path, or by the name of a model with parameters.

    Parameters
    ----------
    name : str
        As for ``find_log``; or the path of a jobs table that ends in .parquet, or of a folder of its parts; or
        ``-``, /dev/stdin or a pipe, which is read to its end.
    clean : bool
        Apply cleaning rules.
    rules : iterable of str or mapping, optional
        Which ones; by default those of the log's card, else the default rules.
    processors : int, optional
        Size of the machine in the trace that is returned; by default that of the card, else of the header. Cleaning
        rules always use the machine of the log.
    strict : bool
        Raise at the first line that is not a job.
    how : HowRead, optional
        Its format and options, if they should not be recognised or taken from its card; and whether to withhold names.
    says_odd : bool
        Say what is odd in it while it is read; not where it will be shown anyhow.

    Raises
    ------
    UnknownLogError
        There is no such log, or it is not on this machine.
    UnreadableLogError
        The file cannot be read.
    AcquireError
        It is a web address, and what is there cannot be fetched.
    SwfFormatError
        No line is a job; or, with ``strict``, one is not.
    ParameterError, UnknownRuleError, RuleError
        A model's parameters are wrong, or the rules are.
    """
    begun = time.perf_counter()
    log, trace = _read(name, how or HowRead(), strict=strict, says_odd=says_odd)
    progress.debug("%s read: %d jobs, %.1f s", log.name, len(trace), time.perf_counter() - begun)
    report = None
    if clean:
        begun = time.perf_counter()
        trace, report = clean_trace(trace, rules_of(log, rules))
        say_merged(report.steps, log)
        progress.debug("%s cleaned: %d jobs kept, %.1f s", log.name, len(trace), time.perf_counter() - begun)
    if processors is not None:
        trace = replace(trace, machine_processors=processors)
    return LoadedLog(log, trace, report)


def rules_of(log: Log, rules: Iterable[Any] | None = None) -> list[Any] | None:
    """Return the cleaning rules for a log: those given, else those of its card; None for the default ones.

    A published version was cleaned by the rules of its manifest: for it there are no others.
    """
    if rules is not None:
        return list(rules)
    if log.version:
        return []
    if log.card and log.card.cleaning:
        return [{"rule": step.rule, **step.parameters} if step.parameters else step.rule for step in log.card.cleaning]
    return None


def as_its_log(trace: Trace, log: Log) -> Trace:
    """Return a trace as read with its log's name, and the machine of the card, whose hash vouches for the text.

    Raises
    ------
    SwfFormatError
        No line is a job.
    """
    if not len(trace):
        is_swf = "format" not in trace.provenance
        question = "; is this a log in SWF?" if is_swf else ""
        raise SwfFormatError(f"{log.path or log.name}: {_without_jobs(trace)}{question}")
    machine = log.card.machine.processors if log.card else trace.machine_processors
    provenance = {**trace.provenance, "name": log.name}
    if log.card:
        provenance.pop("unverified", None)
    return replace(trace, machine_processors=machine, provenance=provenance)


def _read(name: str, how: HowRead, *, strict: bool, says_odd: bool) -> tuple[Log, Trace]:
    """Return a log and its trace as read."""
    if is_stream(name):
        is_input = name in ("-", "/dev/stdin")
        with nullcontext(sys.stdin.buffer) if is_input else Path(name).open("rb") as stream:
            trace = how.read(stream, strict=strict)
        sha256 = str(trace.provenance["sha256"])
        card = catalog_in_use().card_of(sha256)
        log = Log(card.name if card else "stdin", card, Path("standard input" if is_input else name), sha256)
        return log, as_its_log(trace, log)
    if is_address(name):
        name = fetch_log(name)
    path = Path(name).expanduser()
    if is_table(path):
        log = Log(path.stem, path=path)
        return log, as_its_log(read_parquet(path), log)
    log = find_log(name, how)
    if log.model:
        return log, generate_log(log.model)
    if log.problem:
        raise UnknownLogError(log.problem)
    if log.damage:
        raise UnreadableLogError(log.damage)
    if log.path is None:
        raise UnknownLogError(f"log {name} is not on this machine; fetch it by: swftools run AcquireLog --log {name}")
    if log.version:
        return log, as_its_log(read_version(log.version), log)
    with _bar(log.path) as told:
        trace = log.how.read(str(log.path), strict=strict, progress=told)
    say_format(trace, log, says_odd=says_odd)
    return log, as_its_log(trace, log)


def is_table(path: Path) -> bool:
    """Whether a path is that of a jobs table, or of a folder of parts of one; that of a published version is not.

    Nor is a table of jobs that others wrote in Parquet, which is a log like any other.
    """
    if path.is_dir():
        if version_folder(path):
            return False
        path = next((each for each in sorted(path.glob("*.parquet")) if not each.name.startswith(".")), path)
    return path.suffix.lower() == ".parquet" and path.is_file() and not is_foreign(path)


def say_format(trace: Trace, log: Log, *, says_odd: bool = True) -> None:
    """Say how a log was read, unless it is in SWF; what is odd in it; and how many lines became part of others."""
    if "format" not in trace.provenance:
        return
    because = trace.provenance.get("recognised_by")
    progress.info("%s: read as %s%s", log.name, trace.provenance["format"], f" (it has {because})" if because else "")
    for told, count in trace.provenance.get("anomalies", {}).items() if says_odd else ():
        progress.info("  %s: %s", f"{count:,}", told)
    if count := len(trace.merged):
        progress.info("  %s: line%s merged into the record of another", f"{count:,}", "s" * (count != 1))


def say_merged(steps: pd.DataFrame, log: Log) -> None:
    """Say how many lines cleaning merged into others, or left out because they repeat one; nothing of none."""
    for step in steps.to_dict("records"):
        if step["merged"] and step["rule"] != "read":  # which say_format told
            progress.info(
                "%s: %s lines merged into others (cleaning rule %s)", log.name, f"{step['merged']:,}", step["rule"]
            )
        if step["rule"] == REPEATS and step["quarantined"]:
            told = "%s: %s lines repeat an earlier one and are left out (cleaning rule %s)"
            progress.info(told, log.name, f"{step['quarantined']:,}", step["rule"])


@contextmanager
def _bar(path: Path) -> Iterator[Progress | None]:
    """Show how much of a large log has been read, where somebody watches."""
    if not progress.isEnabledFor(logging.INFO) or not sys.stderr.isatty():
        yield None
        return
    with tqdm(desc=shown(path.name)[:30], unit="B", unit_scale=True, delay=2, leave=False) as bar:

        def told(done: int, size: int | None) -> None:
            bar.total = size
            bar.update(done - bar.n)

        yield told


def _without_jobs(trace: Trace) -> str:
    """Say in words that a trace has no jobs, and why."""
    if "format" in trace.provenance and not len(trace.quarantine):
        return "it has no records" if trace.provenance["bytes"] else "it is empty"
    if not len(trace.quarantine):
        return "it has only comments and blank lines" if trace.header.to_lines() else "it is empty"
    first = trace.quarantine.iloc[0]
    said = f"not one of {len(trace.quarantine)} lines is a job; line {first['line_number']}: {first['reason']}"
    return f"{said}: {first['text'][:80]!r}" if isinstance(first["text"], str) else said
