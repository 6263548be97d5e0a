# SPDX-License-Identifier: BSD-3-Clause
"""From the records of a month to its jobs: cleaned, and augmented by what a job's own numbers decide.

A month is cleaned by itself, so that no later one changes it. Augmentations that depend on all jobs of a log would give
old jobs other values each night: in a history their parameters are fitted once (``fitted_augmentations.py``).
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from functools import cached_property
from typing import Any

import pandas as pd
import pyarrow as pa

import pipelines.tasks.augmentations  # noqa: F401 (defines them)
from pipelines.catalog.cards import LogCard
from pipelines.history.fitted_augmentations import Fitted
from pipelines.history.settings import Settings
from pipelines.history.state import HistoryState
from pipelines.keys import canonical_json, content_key, schema_of
from pipelines.logs.find import catalog_in_use
from pipelines.tasks.augmentations.registry import Augmentation
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.parameters import AUGMENTATIONS
from swftools.cleaning import CleaningReport, clean, resolve_rules
from swftools.errors import HistoryError, ParameterError
from swftools.fields.dictionary import SWF_NAMES
from swftools.formats.swf.writer import write_swf
from swftools.header import HeaderEntry, SwfHeader
from swftools.history.book import HistoryBook
from swftools.history.months import begin_of
from swftools.tables import empty_frame, to_arrow
from swftools.trace import Trace

CODE_VERSION = 1
"""Raised when the jobs made of the same records differ."""

TABLES = ("jobs", "quarantine", "merged", "repairs", "cleaning_report")
"""The tables of a month."""

_OF_ONE_FILE = ("MaxJobs", "MaxRecords", "StartTime", "EndTime", "UnixStartTime", "MaxProcs", "MaxNodes")
_NUMBERED = ("MaxQueues", "Queues", "Queue", "MaxPartitions", "Partitions", "Partition", "Conversion", "Note")
"""What the header of an accounting log says of numbers that its reader gave, and of its reading."""


@dataclass(frozen=True)
class Making:
    """How jobs are made of records.

    Parameters
    ----------
    header : SwfHeader
        Of the history.
    processors : int, optional
        Size of the machine.
    rules : list
        Cleaning rules, as for ``clean``.
    augmentations : sequence of Augmentation
        What adds columns.
    fitted : mapping of str to Fitted
        Of each that is not stable under growth, what was fitted.
    """

    header: SwfHeader
    processors: int | None
    rules: list[Any]
    augmentations: Sequence[Augmentation]
    fitted: Mapping[str, Fitted] = field(default_factory=dict)

    @property
    def begins(self) -> float:
        """Second 0 of the jobs, in seconds since 1970, as records count."""
        return float(self.header.unix_start_time or 0)

    @property
    def key(self) -> str:
        """Content key of what determines jobs beside their records; another one means all months anew."""
        inputs: dict[str, Any] = {
            "header": self.header.to_lines(),
            "processors": self.processors,
            "rules": [[name, parameters] for name, _, parameters in resolve_rules(self.rules or None)],
            "augmentations": {
                each.name: [each.code_version, each.own_parameters, *each.raised().values()]
                for each in self.augmentations
            },
            "clean": CleanTrace.code_version,
            "schema_version": schema_of(("records", *TABLES)),
        }
        if self.fitted:
            inputs["fitted"] = {name: each.sha256 for name, each in self.fitted.items()}
        return content_key("history", CODE_VERSION, inputs)

    def cleaned(self, records: pd.DataFrame) -> tuple[Trace, CleaningReport]:
        """Return the cleaned jobs of a month, and what cleaning did."""
        jobs = records.drop(columns=["record_key", "file_number"]).reset_index(drop=True)
        for name in ("submit_time", "eligible_time"):
            jobs[name] -= self.begins
        jobs["line_number"] = pd.array(range(1, len(jobs) + 1), dtype="Int64")
        trace = Trace(self.header, jobs, machine_processors=self.processors, source=_Lines(jobs))
        return clean(trace, self.rules or None)

    def tables(self, records: pd.DataFrame) -> dict[str, pa.Table]:
        """Return the tables of a month."""
        cleaned, report = self.cleaned(records)
        frames = {
            "jobs": pd.concat([cleaned.jobs, *self._columns_added(cleaned)], axis=1),
            "quarantine": cleaned.quarantine,
            "merged": cleaned.merged,
            "repairs": report.repairs,
        }
        for frame in frames.values():
            for name in ("line_number", "into_line_number"):
                if name in frame:  # that of the month's records is nobody's
                    frame[name] = pd.array([None] * len(frame), dtype="Int64")
        return {name: to_arrow(frame, name) for name, frame in (frames | {"cleaning_report": report.steps}).items()}

    def _columns_added(self, cleaned: Trace) -> Iterator[Any]:
        """Yield the columns of each augmentation."""
        for each in self.augmentations:
            if each.stable_under_growth:
                yield each.compute(cleaned)
            else:
                yield each.compute_fixed(cleaned, self.fitted[each.name].parameters)

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table, which are the same in all months."""
        return {name: tuple(data.column_names) for name, data in self.tables(empty_frame("records")).items()}


class _Lines:
    """Records as lines of SWF, for those that cleaning removes: where they stood is in the table ``records``."""

    def __init__(self, jobs: pd.DataFrame) -> None:
        self._jobs = jobs

    def at(self, numbers: Sequence[int]) -> list[bytes]:
        """Return records by their place, the first being 1."""
        if not numbers:
            return []
        text = io.BytesIO()
        chosen = self._jobs[list(SWF_NAMES)].iloc[[number - 1 for number in numbers]]
        write_swf(Trace(SwfHeader(), chosen.assign(status=chosen["status"].mask(chosen["status"] < 0))), text)
        return text.getvalue().splitlines()


def begins_of(settings: Settings, state: HistoryState) -> float:
    """Return second 0 of a history, in seconds since 1970; minus infinity where it is not decided yet."""
    if settings.begins:
        return datetime.combine(settings.begins, time(), UTC).timestamp()
    before = SwfHeader.from_lines(state.manifest.get("header", ())).unix_start_time
    return -math.inf if before is None else float(before)


def _second_0(settings: Settings, state: HistoryState, book: HistoryBook) -> int | None:
    """Return second 0 of a history, in seconds since 1970; None where its files do not say when they begin.

    It stays what it was when the history was begun: the first of January, UTC, before its first job.
    """
    begins = begins_of(settings, state)
    if not book.says_when or (math.isinf(begins) and not book.labels):
        return None
    return int(begin_of(f"{book.labels[0][:4]}-01") if math.isinf(begins) else begins)


def making_of(settings: Settings, state: HistoryState, headers: Iterable[SwfHeader], book: HistoryBook) -> Making:
    """Return how the jobs of a history are made.

    Parameters
    ----------
    settings : Settings
        What is wanted.
    state : HistoryState
        What there is; its header stays.
    headers : iterable of SwfHeader
        Of the files that came.
    book : HistoryBook
        Its records.

    Raises
    ------
    HistoryError
        A job was submitted before the history begins.
    """
    begins = _second_0(settings, state, book)
    if begins is not None and book.labels and begin_of(book.labels[0]) < begins:
        raise HistoryError(
            f"history {settings.history} begins in {datetime.fromtimestamp(begins, UTC):%Y-%m-%d}, and there are jobs "
            f"of {book.labels[0]}; set begins: {book.labels[0][:4]}-01-01 in the settings; then all is made again"
        )
    card = catalog_in_use().log(settings.log.card) if settings.log.card else None
    came = list(headers)
    before = SwfHeader.from_lines(state.manifest.get("header", ()))
    sizes = [header.max_procs or header.max_nodes or 0 for header in (before, *came)]
    processors = settings.log.processors or (card.machine.processors if card else 0) or max(sizes, default=0) or None
    kept = (
        before if before.entries else _common(came[0] if came else SwfHeader(), card, is_accounting=len(book.names) > 0)
    )
    entries = [entry for entry in kept.entries if entry.label not in ("UnixStartTime", "MaxProcs")]
    if begins is not None:
        entries.append(HeaderEntry("UnixStartTime", str(begins)))
    if processors:
        entries.append(HeaderEntry("MaxProcs", str(processors)))
    rules = list(settings.cleaning.rules)
    if not rules and card and card.cleaning:
        rules = [{"rule": step.rule, **step.parameters} for step in card.cleaning]
    return Making(SwfHeader(tuple(entries)), processors, rules, augmentations_wanted(settings, state.root.location))


def _common(header: SwfHeader, card: LogCard | None, *, is_accounting: bool) -> SwfHeader:
    """Return what the header of the first file says of the machine and of all files."""
    left_out = _OF_ONE_FILE + (_NUMBERED if is_accounting else ())
    entries = [entry for entry in header.entries if entry.label is not None and entry.label not in left_out]
    if card and header.text("TimeZoneString") is None:
        entries.append(HeaderEntry("TimeZoneString", card.machine.time_zone))
    return SwfHeader(tuple(entries))


def augmentations_wanted(settings: Settings, data_root: str) -> list[Augmentation]:
    """Return what adds columns to jobs.

    Raises
    ------
    ParameterError
        One would give old jobs other values when new ones come, and no parameters of it can be fixed.
    """
    wanted: Mapping[str, Any] = settings.augment
    found = [
        AUGMENTATIONS[name](
            log=settings.log.card or settings.history,
            seed=settings.seed,
            data_root=data_root,
            parameters=canonical_json({name: parameters}),
        )
        for name, parameters in sorted(wanted.items(), key=lambda item: list(AUGMENTATIONS).index(item[0]))
    ]
    for each in found:
        if not each.stable_under_growth and (why := each.why_not_fixed()):
            raise ParameterError(
                f"augment.{each.name}: {why}. Old jobs of a history must not change when new ones come. To have "
                f"{each.name} for one version of it: swftools augment --log {data_root}/{settings.history}/VERSION "
                f"--augment {each.name} --data-set NAME"
            )
    return found
