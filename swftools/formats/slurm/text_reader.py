# SPDX-License-Identifier: BSD-3-Clause
"""Read what ``sacct -P`` prints: a line for each job, and behind it lines for its steps."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from swftools.errors import LogFormatError
from swftools.formats.accounting.columns import Columns, first_known
from swftools.formats.accounting.lines import Strays, rejects_of
from swftools.formats.accounting.meanings import by_word
from swftools.formats.accounting.records import Loose, Records, Stretch
from swftools.formats.accounting.spans import Read, Spans, durations, line_ends, numbers, sizes, texts
from swftools.formats.accounting.times import Moments, in_order, read_times
from swftools.formats.slurm import kernel
from swftools.formats.slurm.columns import (
    COLUMNS,
    NO_LAYOUT,
    NONE_TABLE,
    OF_LOOSE,
    TAKES_NONE,
    RowLayout,
    layout_of_header,
    with_tail,
)
from swftools.formats.slurm.lines import NO_COLUMN
from swftools.formats.slurm.lives import Lives
from swftools.formats.slurm.values import (
    MEGABYTE,
    SEVERAL_ELEMENTS,
    Tres,
    count_elements,
    count_hosts,
    gpu_types_of,
    is_no_number,
    memory_per_cpu,
    read_energy,
    read_exit,
    read_marked,
    read_tres,
)
from swftools.kernel import BoolArray, FloatArray, IntArray

_WHY = {
    kernel.TOO_FEW: "fewer fields than the header names",
    kernel.TOO_MANY: "more fields than the header names: a value holds the separator, as JobName may where it is the "
    "last; sacct -P has a bar, which few values hold",
    kernel.NO_ROW: "no job id",
    kernel.NO_HEADER: "a line before the first header, which would say what stands in it; or say columns=JobID+...",
}
_FIRST_EPOCH = 1e8
"""Seconds since 1970 are at least this; a shorter number is not a time."""

_OF_WAITS = [COLUMNS.index("Dependency"), COLUMNS.index("SubmitLine")]
_FIRST_ROW = re.compile(rb"[^\r\n]*\S[^\r\n]*")


class Document(NamedTuple):
    """Where a JSON document begins in a stretch: at which byte, and in which line."""

    begin: int
    line: int


class TextReader:
    """Reads stretches of a text one after another; what the last header said counts until the next one.

    Parameters
    ----------
    layout : RowLayout, optional
        What stands in the rows before the first header.
    time_zone, dates : str, optional
        Of the times: the zone, and the order of day and month.
    """

    def __init__(self, layout: RowLayout | None, time_zone: str | None, dates: str | None = None) -> None:
        self.layout = layout or NO_LAYOUT
        self.time_zone, self.dates = time_zone, dates
        self._is_told = layout is not None
        self.rows = 0

    def read(self, stretch: Stretch) -> tuple[Records, Lives, Document | None]:
        """Return the records of a stretch, what sacct says of them, and where a JSON document begins, if one does."""
        text = stretch.text
        if self._is_told and (first := _FIRST_ROW.search(text)):
            self.layout = with_tail(self.layout, first[0].strip())
            self._is_told = False
        rows = kernel.room_for(line_ends(text) + 1, len(COLUMNS), len(OF_LOOSE))
        place = kernel.Place(*(np.array([value], np.int64) for value in (0, stretch.first_line, 0, 0, 0, 0)))
        while True:
            layout = self.layout
            stopped = kernel.scan(
                text,
                *layout,
                TAKES_NONE,
                NONE_TABLE,
                OF_LOOSE,
                np.empty(layout.fields + 1, np.int64),
                rows,
                place,
            )
            if stopped != kernel.HEADER:
                break
            begin = int(place.at[0])
            end = text.find(b"\n", begin) + 1 or len(text)
            self.layout = layout_of_header(text[begin:end], f"line {place.line[0]}")
            self._is_told = False
            place.at[0], place.line[0] = end, place.line[0] + 1
        found = _Found(text, rows, place)
        self.rows += found.jobs + found.loose + found.strays
        document = Document(int(place.at[0]), int(place.line[0])) if stopped == kernel.DOCUMENT else None
        records = found.records()
        lives = found.lives(self.time_zone, self.dates)
        lives.may_wait = bool((self.layout.position[_OF_WAITS] >= 0).any())
        records.loose = found.loose_steps(self.time_zone, self.dates)
        return records, lives, document

    def refuse_headless(self) -> None:
        """Raise LogFormatError if there were rows, and nothing ever said what stands in them."""
        if self.rows and not self.layout.fields:
            raise LogFormatError(
                "no header line of sacct -P, such as JobID|User|State|...; where the log has none, say what stands in "
                "it, as it was asked of sacct --format: columns=JobID+User+State+... (--format "
                "slurm:columns=JobID+User+State+...)"
            )


class _Found(Columns):
    """What the scanner found in a stretch, column by column."""

    NAMES = COLUMNS

    def __init__(self, text: bytes, rows: kernel.Rows, place: kernel.Place) -> None:
        self.rows = rows
        self.jobs, self.steps, self.loose, self.strays = (
            int(each[0]) for each in (place.jobs, place.steps, place.loose, place.strays)
        )
        super().__init__(text, rows.value_begin, rows.value_end, slice(self.jobs))
        self._records: Records

    def records(self) -> Records:
        """Return the records, without what stands in them."""
        rows, jobs, steps = self.rows, self.jobs, self.steps
        strays = Strays(rows.stray_line, rows.stray_begin, rows.stray_end, rows.stray_why)
        self._records = Records(
            rows.line[:jobs].copy(),
            rows.begin[:jobs].copy(),
            rows.end[:jobs].copy(),
            merged_line=rows.step_line[:steps].copy(),
            merged_into=rows.step_into[:steps].copy(),
            rejects=rejects_of(strays, self.strays, _WHY),
            wait_holds_restarts=False,
        )
        return self._records

    def words(self, column: str) -> pa.LargeStringArray:
        """Return the values of a column as text."""
        spans = self.spans(column)
        if (spans.start < 0).all():
            return pa.nulls(self.jobs, pa.large_string())
        return texts(spans)

    def _number(self, column: str) -> FloatArray:
        """Return the values of a column as numbers."""
        return self._read(column, numbers, "no number")

    def count(self, column: str) -> FloatArray:
        """Return the values of a column as counts: sacct prints 2048 as ``2K``, in some versions."""
        return self._read(column, _counts, "no number")

    def _duration(self, column: str) -> FloatArray:
        """Return the values of a column as durations, s."""
        return self._read(column, durations, "no duration")

    def _read(self, column: str, read: Callable[[Spans], Read], what: str) -> FloatArray:
        spans = self.spans(column)
        if (spans.start < 0).all():
            return np.full(self.jobs, np.nan)
        values = read(spans)
        self._records.doubt(values.is_bad, f"{column} is {what}")
        return is_no_number(values.value)

    def lives(self, time_zone: str | None, dates: str | None) -> Lives:
        """Return what sacct says of the jobs; faults go to the records."""
        seconds = {
            "elapsed": first_known(self._number("ElapsedRaw"), self._duration("Elapsed")),
            "suspended": self._duration("Suspended"),
            "limit": first_known(self._duration("Timelimit"), 60.0 * self._number("TimelimitRaw")),
            "cpu": self._duration("TotalCPU"),
        }
        stay = seconds["elapsed"] + np.nan_to_num(seconds["suspended"])
        times = self._times(time_zone, dates, stay)
        seconds["steps_cpu"] = self._steps_cpu(seconds["cpu"])
        asked = self.words("ReqTRES").dictionary_encode()
        given, wanted = (by_word(words, read_tres, Tres()) for words in (self.words("AllocTRES"), asked))
        counts = {
            "allocated_processors": first_above_0(self.count("NCPUS"), self.count("AllocCPUS"), given[0]),
            "requested_processors": first_above_0(self.count("ReqCPUS"), wanted[0]),
            "allocated_nodes": first_above_0(self.count("NNodes"), self.count("AllocNodes"), given[1]),
            "requested_nodes": first_above_0(self.count("ReqNodes"), wanted[1]),
            "allocated_gpus": given[2],
            "requested_gpus": wanted[2],
            "restarts": self._number("Restarts"),
            "priority": is_no_number(self._number("Priority")),
            **self._exits(),
            **self._arrays(),
        }
        self._count_hosts(counts)
        used = self._used_memory()
        return Lives(
            times,
            seconds,
            counts,
            used,
            self._requested_memory(counts, wanted[3]),
            self._had_no_nodes(counts["allocated_processors"]),
            self._energy(given[4]),
            {
                "id": self.words("JobID"),
                "name": self.words("JobName"),
                **{name.lower(): self.words(name) for name in ("State", "User", "Account", "Group", "Partition")},
                **{name.lower(): self.words(name) for name in ("QOS", "Cluster", "Dependency")},
                "submit_line": self.words("SubmitLine"),
                "nodes": self.words("NodeList"),
                **{name.lower(): self.words(name) for name in ("Flags", "Reason", "Constraints")},
                "gpu_types": gpu_types_of(asked),
            },
        )

    def _times(self, zone: str | None, dates: str | None, elapsed: FloatArray) -> dict[str, FloatArray]:
        """Return when each job was submitted, could start, started and ended; its run decides a doubled hour."""
        columns = ("Submit", "Eligible", "Start", "End")
        moments = {column: _moments(self.spans(column), zone, dates) for column in columns}
        self.judge_times(self._records, moments, "Eligible")
        told, self._records.is_ambiguous = in_order(*moments.values(), elapsed=elapsed)
        return dict(zip(("submit", "eligible", "start", "end"), told, strict=True))

    def _exits(self) -> dict[str, FloatArray]:
        """Return how the jobs' programs ended."""
        code, signal = by_word(self.words("ExitCode"), read_exit, (np.nan, np.nan))
        spans = self.spans("ExitCode")
        self._records.doubt(~spans.is_absent & np.isnan(code), "ExitCode is not of the form 0:0")
        return {"exit_code": code, "exit_signal": signal}

    def _arrays(self) -> dict[str, FloatArray]:
        """Return which element of which array each job is."""
        number, index = (each[: self.jobs] for each in (self.rows.array_number, self.rows.array_index))
        several = np.flatnonzero(index == kernel.ELEMENTS)
        if len(several):
            ids = texts(self.spans("JobID").rows(several)).to_pylist()
            self._records.anomalies[SEVERAL_ELEMENTS] += sum(map(count_elements, ids))
        return {
            "array_number": np.where(number < 0, np.nan, number.astype(np.float64)),
            "array_index": np.where(index < 0, np.nan, index.astype(np.float64)),
        }

    def _count_hosts(self, counts: dict[str, FloatArray]) -> None:
        """Count the hosts of jobs whose number of nodes nothing else says."""
        lacking = ~(counts["allocated_nodes"] > 0) & ~self.spans("NodeList").is_absent
        if lacking.any():
            rows = np.flatnonzero(lacking)
            hosts = by_word(texts(self.spans("NodeList").rows(rows)), count_hosts, (np.nan,))[0]
            counts["allocated_nodes"] = counts["allocated_nodes"].copy()
            counts["allocated_nodes"][rows] = hosts

    def _had_no_nodes(self, processors: FloatArray) -> BoolArray:
        """Return which jobs were on no nodes: by their list of nodes, or else their processors."""
        nodes, given = (self.spans(column).start for column in ("NodeList", "AllocTRES"))
        says = (nodes != NO_COLUMN) | (given != NO_COLUMN)
        return np.where(says, (nodes < 0) & (given < 0), processors == 0)

    def _energy(self, of_tres: FloatArray) -> FloatArray:
        """Return the energy of each job, J: ConsumedEnergyRaw, ConsumedEnergy with its unit, or that of AllocTRES."""
        raw = self._number("ConsumedEnergyRaw")
        words = self.words("ConsumedEnergy")
        with_unit = is_no_number(by_word(words, read_energy, (np.nan,))[0])
        bad = np.isnan(with_unit) & np.asarray(words.is_valid())
        self._records.doubt(bad, "ConsumedEnergy is no energy")
        return first_above_0(raw, with_unit, is_no_number(of_tres))

    def _used_memory(self) -> FloatArray:
        """Return the largest MaxRSS of each job and its steps, KB."""
        own = self._read("MaxRSS", _plain_sizes, "no size")
        rows, steps = self.rows, self.steps
        of_steps = _plain_sizes(Spans(self.text, rows.rss_begin[:steps], rows.rss_end[:steps]))
        self._records.note("MaxRSS of a step that is no size", of_steps.is_bad)
        most = np.fmax(own, -1.0)
        np.fmax.at(most, rows.step_into[:steps], of_steps.value)
        return np.where(most >= 0, most / 1024.0, np.nan)

    def loose_steps(self, zone: str | None, dates: str | None) -> Loose | None:
        """Return the steps that do not stand behind their job; what of them cannot be read is counted."""
        if not self.loose:
            return None
        rows = self.rows
        job, memory, cpu, start, submit, cluster = (
            Spans(self.text, begin[: self.loose], end[: self.loose])
            for begin, end in zip(rows.loose_value_begin, rows.loose_value_end, strict=True)
        )
        used, seconds = _plain_sizes(memory), durations(cpu, none=("INVALID",))
        self._records.note("MaxRSS of a step that is no size", used.is_bad)
        self._records.note("TotalCPU of a step that is no duration", seconds.is_bad)
        ran = _moments(start, zone, dates).early
        return Loose(
            rows.loose_line[: self.loose].copy(),
            rows.loose_begin[: self.loose].copy(),
            rows.loose_end[: self.loose].copy(),
            texts(job),
            texts(cluster),
            np.where(np.isfinite(ran), ran, _moments(submit, zone, dates).early),
            used.value / 1024.0,
            seconds.value,
        )

    def _steps_cpu(self, own: FloatArray) -> FloatArray:
        """Return the sum of the steps' TotalCPU, s, for jobs that have none themselves."""
        rows = self.rows
        into: IntArray = rows.step_into[: self.steps]
        wanted = ~(own[into] > 0)
        total = np.full(self.jobs, np.nan)
        if wanted.any():
            spans = Spans(self.text, rows.cpu_begin[: self.steps][wanted], rows.cpu_end[: self.steps][wanted])
            cpu = durations(spans, none=("INVALID",))
            self._records.note("TotalCPU of a step that is no duration", cpu.is_bad)
            is_known = np.isfinite(cpu.value)
            total[into[wanted][is_known]] = 0.0
            np.add.at(total, into[wanted][is_known], cpu.value[is_known])
        return total

    def _requested_memory(self, counts: dict[str, FloatArray], of_tres: FloatArray) -> FloatArray:
        """Return the memory asked for, KB per processor.

        A letter n means that of each node, c that of each processor; without one it is that of the job.
        """
        spans = self.spans("ReqMem")
        processors = first_above_0(counts["requested_processors"], counts["allocated_processors"])
        processors = np.where(processors > 0, processors, np.nan)
        nodes = first_above_0(counts["requested_nodes"], counts["allocated_nodes"])
        size, letter = sizes(spans, unit=MEGABYTE)
        each_cpu = memory_per_cpu(size.value / MEGABYTE)
        rows = np.flatnonzero(size.is_bad)
        if len(rows):  # too many digits for the kernel: they may be of the high bit of 64
            each_cpu[rows] = by_word(texts(spans.rows(rows)), read_marked, (np.nan,))[0]
            size.is_bad[rows] = np.isnan(each_cpu[rows])
        is_odd = (letter != 0) & (letter != ord("c")) & (letter != ord("n"))
        is_odd |= size.is_bad
        self._records.doubt(is_odd & ~spans.is_absent, "ReqMem is no size")
        size.value[is_odd] = np.nan
        amount = first_above_0(size.value, of_tres)
        is_told = size.value > 0
        each_cpu = first_known(each_cpu, memory_per_cpu(amount / MEGABYTE)) * 1024.0
        whole = amount / 1024.0 / processors
        of_nodes = amount / 1024.0 * nodes / processors
        by_letter = np.where(letter == ord("c"), amount / 1024.0, np.where(letter == ord("n"), of_nodes, whole))
        return first_known(each_cpu, np.where(is_told, by_letter, whole))


def _moments(spans: Spans, zone: str | None, dates: str | None) -> Moments:
    """Return times that are printed as dates, or as seconds since 1970."""
    moments = read_times(spans, zone, dates=dates)
    rows = np.flatnonzero(moments.is_bad)
    if len(rows):
        epoch = numbers(spans.rows(rows)).value
        is_time = (epoch >= _FIRST_EPOCH) | (epoch == 0)
        epoch = np.where(epoch == 0, np.nan, epoch)
        for each in (moments.early, moments.late):
            each[rows[is_time]] = epoch[is_time]
        moments.is_bad[rows[is_time]] = False
    return moments


def _counts(spans: Spans) -> Read:
    """Return whole numbers, those with a letter behind them in units of 1024 or its powers."""
    read = numbers(spans)
    rows = np.flatnonzero(read.is_bad)
    if len(rows):
        with_unit = _plain_sizes(spans.rows(rows))
        read.value[rows], read.is_bad[rows] = np.round(with_unit.value), with_unit.is_bad
    return read


def _plain_sizes(spans: Spans) -> Read:
    """Return sizes in bytes; a letter behind the unit makes one bad."""
    read, letter = sizes(spans)
    is_bad = read.is_bad | (letter != 0)
    return Read(np.where(is_bad, np.nan, read.value), is_bad)


def first_above_0(*columns: FloatArray) -> FloatArray:
    """Return the first value of each row that is above 0, else the first one."""
    result = columns[0]
    for column in columns[1:]:
        result = np.where((result > 0) | ~(column > 0) & np.isfinite(result), result, column)
    return result
