# SPDX-License-Identifier: BSD-3-Clause
"""Read the accounting of Slurm into a trace: what ``sacct -P`` and ``sacct --json`` print.

What the fields mean follows sacct(1) and the practice of Open XDMoD and the Parallel Workloads Archive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from swftools.errors import LogFormatError
from swftools.formats.accounting.late_facts import Settled
from swftools.formats.accounting.ledger import Ledger, Part
from swftools.formats.accounting.records import Records, Stretch
from swftools.formats.accounting.written_dates import WrittenDates
from swftools.formats.registry import Fit, register_format
from swftools.formats.slurm import documents
from swftools.formats.slurm.columns import (
    NO_LAYOUT,
    RowLayout,
    is_header,
    layout_of_header,
    layout_of_option,
    with_tail,
)
from swftools.formats.slurm.json_reader import JsonReader, cut_documents
from swftools.formats.slurm.lines import last_start
from swftools.formats.slurm.lives import Choices, fill_records
from swftools.formats.slurm.other_json import what_json
from swftools.formats.slurm.pieces import settle_jobs
from swftools.formats.slurm.text_reader import TextReader
from swftools.parameters import choice, text

_PADDED = re.compile(rb"^ *JobID +\S.*\n-+ -+", re.MULTILINE | re.IGNORECASE)
_DOCUMENT = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*\{", re.MULTILINE)
_JOBS = re.compile(rb'"jobs"\s*:\s*\[')


@register_format
@dataclass(frozen=True)
class Slurm(WrittenDates):
    """What sacct prints of jobs and their steps: with ``-P`` or ``-p``, or with ``--json``.

    Parameters
    ----------
    columns : str, optional
        What stands in the rows of a text without a header line, as it was asked of ``sacct --format``:
        ``JobID+User+State``. Between names may be commas too, which on the console want quotation marks around all.
    submit : {"submit", "eligible"}
        What counts as submission: Submit, or Eligible where it is told, which is later for jobs that were held or
        depend on others.
    group : {"account", "group"}
        What the group is: Account, or the Unix group.
    queue : {"partition", "qos"}
        What the queue is.
    partition : {"cluster", "partition", "qos"}
        What the partition is; with ``queue=qos`` it is best Slurm's own.
    preempted : {"cancelled", "failed", "partial"}
        The status of jobs that were displaced by others: 5, 0 or 2. It is nobody's failure, so 5 by default.
    publish : {"no", "yes"}
        Whether the columns that may hold paths, names and secrets (submit_line, wait_reason, host_list) are in
        published data too. What is read in Python always has them, unless names are withheld.
    unended : {"refused", "kept"}
        Jobs that ran or waited when the log was printed: quarantined, or kept, without run time or start. With ``kept``
        ``left_time`` says when a job left the queue that never ran.
    """

    NAME = "slurm"
    READER_VERSION = 5
    """3: of several jobs that one waited for none was told; 4: what was asked of nodes was not; 5: nor account or QOS
    where they are neither group nor queue."""
    TITLE = "Slurm, sacct"
    COMMAND = (
        "TZ=UTC sacct -a -D -P -S 2024-01-01 -E 2024-02-01 --format=JobID,User,Group,Account,Partition,QOS,Cluster,"
        "State,Submit,Eligible,Start,End,ElapsedRaw,Suspended,TimelimitRaw,NNodes,ReqCPUS,NCPUS,AllocTRES,ReqTRES,"
        "ReqMem,MaxRSS,TotalCPU,ConsumedEnergyRaw,ExitCode,NodeList,JobName > sacct.txt"
    )
    NOTES = (
        "Each life of a job is a job: one that was queued again has another line and another submission.",
        "Processors are what Slurm counts as CPUs, which are hardware threads at many sites.",
        "The run time is Elapsed, without the time in which the job was suspended.",
        "Used memory is the largest MaxRSS of a task in any step, in KB.",
    )

    SETTLED_BY = ("start", "eligible", "run_time", "life")

    columns: str | None = text(None, words="names of columns with + between them")
    submit: str = choice("submit", "eligible")
    group: str = choice("account", "group")
    queue: str = choice("partition", "qos")
    partition: str = choice("cluster", "partition", "qos")
    preempted: str = choice("cancelled", "failed", "partial")
    publish: str = choice("no", "yes")
    unended: str = choice("refused", "kept")

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.layout

    @property
    def layout(self) -> RowLayout | None:
        """What stands in rows before the first header, if it was told."""
        return None if self.columns is None else layout_of_option(self.columns)

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether a text is what sacct prints, be it such as cannot be read."""
        if _DOCUMENT.search(head) and _JOBS.search(head) and what_json(head) is None:
            return Fit(True, 'a JSON document with a list "jobs"')
        for line in head.splitlines():
            if b"jobid" in line.lower() and is_header(line):
                return Fit(True, "a header line with the names of sacct's columns")
        if _PADDED.search(head):
            return Fit(True, "the heading of sacct without -P")
        return Fit(False, "no header line of sacct -P such as 'JobID|User|State|...', and no JSON with \"jobs\"")

    def preface(self, head: bytes) -> bytes | None:
        """Return the lines to the header; a JSON document can only be read from its beginning."""
        if _DOCUMENT.search(head):
            return None
        lines = head.splitlines(keepends=True)
        place = next((place for place, line in enumerate(lines) if is_header(line)), -1)
        return b"".join(lines[: place + 1])

    def parting(self) -> Callable[[bytes], int]:
        """Return what parts texts in front of the last job, whose steps may go on in the next piece."""
        return _Parting(self.layout)

    def records(self, stretches: Iterable[Stretch]) -> Iterator[Records]:
        """Say what stands in a log."""
        of_text = TextReader(self.layout, self.time_zone, self.dates)
        of_json: JsonReader | None = None
        chosen = (self.submit, self.group, self.queue, self.partition, self.preempted, self.publish, self.unended)
        for stretch in stretches:
            if of_json is None:
                if not of_text.layout.fields and _PADDED.search(stretch.text[: 1 << 16]):
                    raise LogFormatError("this is what sacct prints without -P, values cut to width; run it with -P")
                records, lives, document = of_text.read(stretch)
                if document:
                    of_json, strays = JsonReader(document.line), records.rejects
                    records, lives = of_json.read(stretch, document.begin)
                    records.rejects += strays
                elif stretch.is_last:
                    of_text.refuse_headless()
            else:
                records, lives = of_json.read(stretch)
            fill_records(records, lives, Choices(*chosen))
            yield records

    def settle(self, parts: list[Part], ledger: Ledger) -> Settled:
        """Say which records are of one job: pieces of it, steps that stand elsewhere."""
        return settle_jobs(parts, ledger)

    def first_time(self, head: bytes) -> float | None:
        """Return when the first record in the beginning of a file ended; None where a header of another file counts."""
        try:
            return super().first_time(head)
        except LogFormatError:
            return None


class _Parting:
    """Says where a log may be parted, piece by piece from its beginning."""

    def __init__(self, layout: RowLayout | None) -> None:
        self._layout = layout or NO_LAYOUT
        self._is_told = layout is not None
        self._state = documents.new_state()
        self._is_json = False

    def __call__(self, text: bytes) -> int:
        """Return where a text may be parted; the next one begins there."""
        if self._is_json:
            return cut_documents(text, self._state)
        if self._is_told:
            first = next((line for line in text.splitlines() if line.strip()), b"")
            self._layout, self._is_told = with_tail(self._layout, first.strip()), False
        place, layout, at = 0, self._layout, 0
        while True:
            marks = np.empty(layout.id_position + 2, np.int64)
            start, header, self._is_json = last_start(
                text, at, layout.id_position, layout.separator, layout.is_csv, marks
            )
            if start >= 0:
                place, self._layout = start, layout
            if header < 0:
                return cut_documents(text, self._state) if self._is_json and not place else place
            place, self._layout = header, layout
            at = text.find(b"\n", header) + 1 or len(text)
            try:
                layout = layout_of_header(text[header:at], "the log")
            except LogFormatError:  # which is told once the piece up to here is read
                return at
