"""From the records of a month to its jobs: cleaned, and augmented by what a job's own numbers decide.

A month is cleaned by itself, so that no later one changes it. Augmentations that depend on all jobs of a log have no
place in a history: each night they would give old jobs other values.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

import pipelines.tasks.augmentations  # noqa: F401 (defines them)
from pipelines.catalog.cards import LogCard
from pipelines.history.settings import Settings
from pipelines.history.state import State
from pipelines.keys import canonical_json, content_key
from pipelines.logs.find import catalog_in_use
from pipelines.tasks.augmentations.registry import Augmentation
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.parameters import AUGMENTATIONS
from swftools.cleaning import clean, resolve_rules
from swftools.errors import ParameterError
from swftools.fields.dictionary import SCHEMA_VERSION
from swftools.fields.jobs import SWF_NAMES
from swftools.formats.swf.writer import write_swf
from swftools.header import HeaderEntry, SwfHeader
from swftools.tables import empty_frame, to_arrow
from swftools.trace import Trace

CODE_VERSION = 1
"""Raised when the jobs made of the same records differ."""

TABLES = ("jobs", "quarantine", "merged", "repairs", "cleaning_report")
"""The tables of a month."""

_OF_ONE_FILE = ("MaxJobs", "MaxRecords", "StartTime", "EndTime", "UnixStartTime", "MaxProcs", "MaxNodes")


@dataclass(frozen=True)
class Making:
    """How jobs are made of records.

    Parameters
    ----------
    header : SwfHeader
        Of the history.
    processors : int, optional
        Of the machine.
    rules : list
        Cleaning rules, as ``clean`` takes them.
    augmentations : sequence of Augmentation
        What adds columns.
    """

    header: SwfHeader
    processors: int | None
    rules: list[Any]
    augmentations: Sequence[Augmentation]

    @property
    def key(self) -> str:
        """Content key of what determines jobs beside their records; another one means all months anew."""
        inputs = {
            "header": self.header.to_lines(),
            "processors": self.processors,
            "rules": [[name, parameters] for name, _, parameters in resolve_rules(self.rules or None)],
            "augmentations": {each.name: [each.code_version, each.own_parameters] for each in self.augmentations},
            "clean": CleanTrace.code_version,
            "schema_version": SCHEMA_VERSION,
        }
        return content_key("history", CODE_VERSION, inputs)

    def tables(self, records: pd.DataFrame) -> dict[str, pa.Table]:
        """Return the tables of a month."""
        jobs = records.drop(columns=["record_key", "file_number"]).reset_index(drop=True)
        jobs["line_number"] = pd.array(range(1, len(jobs) + 1), dtype="Int64")
        trace = Trace(self.header, jobs, machine_processors=self.processors, source=_Lines(jobs))
        cleaned, report = clean(trace, self.rules or None)
        columns = [each.compute(cleaned) for each in self.augmentations]
        frames = {
            "jobs": pd.concat([cleaned.jobs, *columns], axis=1),
            "quarantine": cleaned.quarantine,
            "merged": cleaned.merged,
            "repairs": report.repairs,
        }
        for frame in frames.values():
            for name in ("line_number", "into_line_number"):
                if name in frame:  # that of the month's records is nobody's
                    frame[name] = pd.array([None] * len(frame), dtype="Int64")
        return {name: to_arrow(frame, name) for name, frame in (frames | {"cleaning_report": report.steps}).items()}

    def columns(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table of months, which are the same in all of them."""
        return tuple(self.tables(empty_frame("records"))[table].column_names)


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


def making_of(settings: Settings, state: State, headers: Iterable[SwfHeader], says_when: bool | None) -> Making:
    """Return how the jobs of a history are made.

    Parameters
    ----------
    settings : Settings
        What is wanted.
    state : State
        What there is; its header stays.
    headers : iterable of SwfHeader
        Of the files that came.
    says_when : bool, optional
        Whether the files say when they begin.
    """
    card = catalog_in_use().log(settings.log.card) if settings.log.card else None
    came = list(headers)
    before = SwfHeader.from_lines(state.manifest.get("header", ()))
    sizes = [header.max_procs or header.max_nodes or 0 for header in (before, *came)]
    processors = settings.log.processors or (card.machine.processors if card else 0) or max(sizes, default=0) or None
    kept = before if before.entries else _common(came[0] if came else SwfHeader(), card)
    entries = [entry for entry in kept.entries if entry.label not in ("UnixStartTime", "MaxProcs")]
    if says_when:
        entries.append(HeaderEntry("UnixStartTime", "0"))
    if processors:
        entries.append(HeaderEntry("MaxProcs", str(processors)))
    rules = list(settings.cleaning.rules)
    if not rules and card and card.cleaning:
        rules = [{"rule": step.rule, **step.parameters} for step in card.cleaning]
    return Making(SwfHeader(tuple(entries)), processors, rules, _augmentations(settings))


def _common(header: SwfHeader, card: LogCard | None) -> SwfHeader:
    """Return what the header of the first file says of the machine and of all files."""
    entries = [entry for entry in header.entries if entry.label is not None and entry.label not in _OF_ONE_FILE]
    if card and header.text("TimeZoneString") is None:
        entries.append(HeaderEntry("TimeZoneString", card.machine.time_zone))
    return SwfHeader(tuple(entries))


def _augmentations(settings: Settings) -> list[Augmentation]:
    """Return what adds columns to jobs.

    Raises
    ------
    ParameterError
        One would give old jobs other values when new ones come.
    """
    wanted: Mapping[str, Any] = settings.augment
    for name in wanted:
        if not AUGMENTATIONS[name].stable_under_growth:
            stable = ", ".join(other for other, kind in AUGMENTATIONS.items() if kind.stable_under_growth)
            raise ParameterError(
                f"augment.{name}: it is fitted to all jobs of a log, so that old jobs would change when new ones come; "
                f"a history takes {stable}. For {name}, publish one version of a log by swftools augment"
            )
    return [
        AUGMENTATIONS[name](
            log=settings.log.card or settings.history,
            seed=settings.seed,
            parameters=canonical_json({name: parameters}),
        )
        for name, parameters in sorted(wanted.items(), key=lambda item: list(AUGMENTATIONS).index(item[0]))
    ]
