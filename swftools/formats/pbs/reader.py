# SPDX-License-Identifier: BSD-3-Clause
"""Read the accounting logs of PBS into a trace: OpenPBS, Torque, PBS Professional; Cobalt writes a dialect of them.

The E record of a job says everything of it, once more than all before it; the others tell of jobs that never started,
of restarts, and of who deleted what. What a log has of a job that has not ended is kept from piece to piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from swftools.formats.accounting.format import AccountingFormat
from swftools.formats.accounting.kernel import gather
from swftools.formats.accounting.last_record import CUT_OFF, UNKNOWN, Endings, is_unfinished
from swftools.formats.accounting.lines import rejects_of
from swftools.formats.accounting.records import Records, Reject, Stretch
from swftools.formats.accounting.spans import Spans, line_ends
from swftools.formats.accounting.times import read_times
from swftools.formats.pbs.jobs import Choices, Jobs
from swftools.formats.pbs.lines import REASONS, Lines, fill_last_keys, find_lines
from swftools.formats.pbs.lives import ENDED, ENDED_KIND, OPEN, REMEMBERED, WINDOW, Lives, follow_lives
from swftools.formats.registry import Fit, register_format
from swftools.parameters import choice

_RECORD = re.compile(
    rb"(?:^|[\0: \t])([0-9]{2}/[0-9]{2}/[0-9]{4} [0-9:]{8});(?:[A-Za-z]|T[SE]|H[AR]|[QY]A);[^;\n]*;", re.MULTILINE
)
_HALF_CLOCK = re.compile(rb"[^=]*\.(?:walltime|cput)=(?![0-9]+:[0-9]{2}:[0-9]{2}$).*|[^=]*=", re.DOTALL)
_EXIT = re.compile(rb"(?:^|[ \t])Exit_status=-?[0-9]")


@register_format
@dataclass(frozen=True)
class Pbs(AccountingFormat):
    """The accounting logs of PBS's server, a file a day in ``server_priv/accounting``.

    Parameters
    ----------
    submit : {"created", "queued", "eligible"}
        What counts as submission: ctime, qtime (later where a job was moved to another queue), or etime (later for
        jobs that were held or depend on others). Where it is missing the others are taken, in this order.
    group : {"group", "account", "project"}
        What the group is.
    allocation : {"slots", "ncpus"}
        What the allocated processors are where both are there: the slots of exec_host, or the ncpus of exec_vnode and
        resources_used, which sites use that give fewer slots than processors.
    run_time : {"elapsed", "walltime"}
        From start to end, or resources_used.walltime, in which there is no time of suspension.
    hosts : {"no", "yes"}
        Whether a column host_list has the nodes of each job: exec_vnode, else exec_host. It is not in published data.
    """

    NAME = "pbs"
    READER_VERSION = 5
    """3: of several jobs that one waited for none was told; 4: what was asked of nodes was not; 5: each chunk was taken
    for a node."""
    TITLE = "PBS, Torque or PBS Professional, accounting log"
    COMMAND = "cat $PBS_HOME/server_priv/accounting/2023* > accounting.txt"
    NOTES = (
        "Jobs that were deleted or aborted before they started have the times of their Q and D or A records.",
        "Used memory is the most of the whole job over its allocated processors, in KB.",
    )

    submit: str = choice("created", "queued", "eligible")
    group: str = choice("group", "account", "project")
    allocation: str = choice("slots", "ncpus")
    run_time: str = choice("elapsed", "walltime")
    hosts: str = choice("no", "yes")

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether there is a record in a text."""
        if _RECORD.search(head):
            dialect = ", as Cobalt writes them" if b" resources_used.location=" in head else ""
            return Fit(True, f"a record of time, kind and id between semicolons{dialect}")
        return Fit(False, "no record such as '07/06/2023 09:35:00;E;1.server;user=...'")

    def first_time(self, head: bytes) -> float | None:
        """Return the time that the first record in the beginning of a file prints."""
        for found in _RECORD.finditer(head):
            span = Spans(head, *(np.array([place]) for place in found.span(1)))
            time = float(read_times(span, self.time_zone or "UTC", dates="mdy").early[0])
            if np.isfinite(time):
                return time
        return None

    def records(self, stretches: Iterable[Stretch]) -> Iterator[Records]:
        """Say what stands in a log."""
        choices = Choices(self.time_zone, self.submit, self.group, self.allocation, self.run_time, self.hosts)
        kept = b""
        before = find_lines(b"", 1, is_cut=False)[0]  # the records of jobs that go on, in the text that is kept
        ended = before  # rows that stand for jobs that have ended
        endings = Endings()
        for stretch in stretches:
            new, strays = find_lines(stretch.text, stretch.first_line, is_cut=stretch.is_last)
            is_cut = _is_cut_off(stretch, new, endings)
            text = kept + stretch.text if kept else stretch.text
            lines = Lines.joined([ended, before, new.moved(len(kept))])
            last_line = stretch.first_line + line_ends(stretch.text) - stretch.text.endswith(b"\n")
            lives = follow_lives(text, lines, last_line, is_last=stretch.is_last, window=WINDOW)
            rejects = rejects_of(strays, len(strays.line), REASONS, len(kept))
            records = _decided(text, lines, lives, rejects)
            if is_cut:
                records.fault(records.line == last_line, CUT_OFF)
            Jobs(choices, text, lines, lives).describe(records)
            yield records
            ended = _ended(lines, lives, last_line)
            kept, before = _going_on(text, lines, lives)


def _is_cut_off(stretch: Stretch, lines: Lines, endings: Endings) -> bool:
    """Return whether the last line is an E record that is cut off; of others all that is read stands before the end.

    E records of a server end in the same few keys. Where none stands before it, one with an exit status is whole.
    """
    rows = np.flatnonzero(lines.kind == ENDED_KIND)
    key_begin, key = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    fill_last_keys(stretch.text, lines.message[rows], lines.end[rows], key_begin, key)
    last = int(rows[-1]) if len(rows) else -1
    if last >= 0 and is_unfinished(stretch, int(lines.end[last])):
        message = stretch.text[lines.message[last] : lines.end[last]]
        word = stretch.text[key_begin[-1] : lines.end[last]] if key_begin[-1] >= 0 else b""
        if not word or _HALF_CLOCK.fullmatch(word):
            key[-1] = UNKNOWN
        return endings.is_cut_off(stretch, lines.end[rows], key, alone=_EXIT.search(message) is not None)
    return endings.is_cut_off(stretch, lines.end[rows], key)


def _decided(text: bytes, lines: Lines, lives: Lives, rejects: list[Reject]) -> Records:
    """Return a record of each job of which it is decided what became of it."""
    chosen = lives.chosen(lines)
    record = lives.record[chosen]
    row_of = np.full(len(lives.outcome) + 1, -1, np.int64)
    row_of[chosen] = np.arange(len(chosen))
    into = row_of[lives.life_of]
    into[record] = -1
    merged = np.flatnonzero(into >= 0)
    late = np.flatnonzero((lives.late_into >= 0) & (lives.life_of < 0))
    return Records(
        lines.line[record],
        lines.begin[record],
        lines.end[record],
        merged_line=lines.line[merged],
        merged_into=into[merged],
        late_line=lines.line[late],
        late_into=lives.late_into[late],
        text=text,
        rejects=rejects,
    )


def _ended(lines: Lines, lives: Lives, last_line: int) -> Lines:
    """Return rows for the jobs that ended not long ago."""
    is_new = lives.record[lives.outcome == ENDED]
    rows = np.append(np.flatnonzero(lines.kind == REMEMBERED), is_new)
    found = lines.take(np.sort(rows[last_line - lines.line[rows] < WINDOW]))
    absent = np.full(len(found.line), -1, np.int64)
    nothing = np.zeros(len(found.line), np.int64)
    return Lines(found.line, absent, absent, nothing, absent, absent, absent, absent, found.key)


def _going_on(text: bytes, lines: Lines, lives: Lives) -> tuple[bytes, Lines]:
    """Return the records of the jobs that go on, and the text of these alone."""
    is_open = np.append(lives.outcome == OPEN, False)
    found = lines.take(np.flatnonzero(is_open[lives.life_of]))
    offsets = np.append(0, np.cumsum(found.end - found.begin))
    letters = np.empty(offsets[-1], np.uint8)
    gather(text, found.begin, offsets, letters)
    return letters.tobytes(), found.moved(offsets[:-1] - found.begin)
