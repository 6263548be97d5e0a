# SPDX-License-Identifier: BSD-3-Clause
"""What the records of PBS's jobs say, column by column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swftools.formats.accounting.columns import Columns, first_known
from swftools.formats.accounting.kernel import DOUBTFUL, PLAIN, label_table
from swftools.formats.accounting.records import Records
from swftools.formats.accounting.spans import Spans, durations, numbers, sizes, texts
from swftools.formats.accounting.times import Moments, in_order, read_times, require_zones
from swftools.formats.pbs.chunks import MIXED, arrangements, is_alone, read_chunks
from swftools.formats.pbs.dependencies import preceding_jobs
from swftools.formats.pbs.lines import Lines
from swftools.formats.pbs.lives import CAME_AGAIN, ENDED, IN_QUEUE, NOT_ENDED, Lives
from swftools.formats.pbs.outcomes import exit_of, swf_status
from swftools.formats.pbs.values import fill_chunks, fill_hosts, fill_ids, find_values
from swftools.kernel import BoolArray, FloatArray, IntArray

KEYS = (
    *("user", "group", "account", "project", "jobname", "queue", "ctime", "qtime", "etime", "start", "end"),
    *("exec_host", "exec_vnode", "exec_gpus", "Exit_status", "run_count", "depend", "total_execution_slots"),
    *("Resource_List.walltime", "Resource_List.ncpus", "Resource_List.nodes", "Resource_List.select"),
    *("Resource_List.mppwidth", "Resource_List.mppdepth", "Resource_List.size", "resources_used.nodect"),
    *("resources_used.location", "exe"),
    *("Resource_List.nodect", "Resource_List.procs", "Resource_List.mem", "Resource_List.pmem", "Resource_List.ngpus"),
    *("Resource_List.place", "Resource_List.naccesspolicy"),
    *("resources_used.cput", "resources_used.walltime", "resources_used.mem", "resources_used.ncpus"),
)
"""What is read of a record."""

_OTHER_KEYS = (
    *("owner", "session", "requestor", "unique_node_count", "eligible_time", "accounting_id", "alt_id", "resvID"),
    *("resvname", "resvjobID", "array_indices", "login_node", "pcap_node", "Variable_List", "Submit_arguments"),
    *("args", "cwd", "mode", "resource", "location", "priority_core_hours", "approx_total_etime"),
)
"""What is not, and yet ends a name with blanks before it."""

_FREE = ("account", "project", "jobname", "Variable_List", "Submit_arguments", "args", "cwd", "exe")
_TABLE = label_table([key.encode() for key in (*KEYS, *_OTHER_KEYS)])
_IS_FREE = np.array([key in _FREE for key in (*KEYS, *_OTHER_KEYS)])
_NO_LIMIT = ("unlimited", "UNLIMITED", "infinite")
_SHORT = "exec_host names fewer processors than nodect, ncpus or procs: the larger count was taken"
_DATE = 19
_WORD_BYTES = 8.0
_WORD = ord("w")


class Choices(NamedTuple):
    """Options of the format, which ``Pbs`` tells the meaning of."""

    time_zone: str | None
    submit: str
    group: str
    allocation: str
    run_time: str
    hosts: str


class Requests(NamedTuple):
    """What jobs asked for: NaN where they did not. ``nodect`` is what the log says of the nodes that were given."""

    processors: FloatArray
    nodes: FloatArray
    gpus: FloatArray
    ncpus: FloatArray
    procs: FloatArray
    mpp: FloatArray
    nodect: FloatArray


class Jobs(Columns):
    """The jobs of a piece of a log of which it is decided what became of them, a row each.

    Parameters
    ----------
    options : Choices
        How they are read.
    text : bytes
        What the places in ``lines`` are of.
    lines : Lines
        The records.
    lives : Lives
        Which records are of one job.
    """

    NAMES, NO_LIMIT = KEYS, _NO_LIMIT

    def __init__(self, options: Choices, text: bytes, lines: Lines, lives: Lives) -> None:
        self.options, self.lines = options, lines
        chosen = lives.chosen(lines)
        self.record, self.queued = lives.record[chosen], lives.queued[chosen]
        self.outcome, self.restarts = lives.outcome[chosen], lives.restarts[chosen].astype(np.float64)
        self.was_deleted = lives.deleted[chosen] == 1
        self.has_ended, self.in_queue = self.outcome == ENDED, self.outcome == IN_QUEUE
        # What is known of a job that never started stands in its Q record.
        source = np.where(self.in_queue & (self.queued >= 0), self.queued, self.record)
        rows = len(source)
        begin_of, end_of = (np.full((len(KEYS), rows), -1, np.int64) for _ in range(2))
        super().__init__(text, begin_of, end_of, slice(None))
        self.repeated = np.zeros(rows, np.int64)
        message, end = lines.message[source], lines.end[source]
        find_values(text, message, end, _TABLE, _IS_FREE, begin_of, end_of, self.repeated)
        # Cobalt writes logs as PBS does, of nodes that have other names than hosts.
        self.is_cobalt = self.spans("resources_used.location").start >= 0

    def describe(self, records: Records) -> None:
        """Say of each job what its records say."""
        kinds = self._kinds()
        self._judge(records, kinds)
        self._read_times(records)
        self._read_processors(records)
        self._read_usage(records)
        self._read_end(records)
        ids = self._ids(self.record)
        asked_words = self._read_asked(records)
        index, number = np.empty(len(records)), np.empty(len(records))
        fill_ids(self.text, ids.start, ids.end, number, index)
        records.numbers |= {"array_number": number, "array_index": index}
        every_id, dependencies = texts(ids), texts(self.spans("depend"))
        records.words = {
            "log_id": every_id,
            "logged_state": texts(kinds),
            "user": texts(self.spans("user")),
            "group": texts(self.spans(self.options.group)),
            "executable": self._executables(),
            "queue": texts(self.spans("queue")),
            "dependency": dependencies,
            "preceding": preceding_jobs(every_id, dependencies),
            **asked_words,
        }
        if self.options.hosts == "yes":
            records.words["host_list"] = pc.coalesce(self._words("exec_vnode"), self._words("exec_host"))
            records.is_private = True
        if (is_element := np.isfinite(index)).any():
            of_array = pc.replace_substring_regex(every_id, r"\[.*?\]", "[]")
            records.words["array"] = pc.if_else(pa.array(is_element), of_array, None)

    def _executables(self) -> pa.LargeStringArray:
        """Return the names of jobs; Cobalt's users rarely give any, so that there the program is told."""
        names = texts(self.spans("jobname"))
        if not self.is_cobalt.any():
            return names
        has_none = pc.and_(pa.array(self.is_cobalt), pc.fill_null(pc.equal(names, "N/A"), True))
        return pc.if_else(has_none, texts(self.spans("exe")), names)

    def _kinds(self) -> Spans:
        """Return the letters of the records that decide."""
        place = self.lines.time[self.record] + _DATE + 1
        return Spans(self.text, place, place + 1)

    def _ids(self, record: IntArray) -> Spans:
        return Spans(self.text, self.lines.id_begin[record], self.lines.id_end[record])

    def _judge(self, records: Records, kinds: Spans) -> None:
        """Say which have not ended, or lack what a job needs."""
        records.fault(self.outcome == NOT_ENDED, "not ended", kinds)
        records.fault(self.outcome == CAME_AGAIN, "not ended when a Q record of the same id came", kinds)
        records.fault(self.in_queue & (self.queued < 0), "deleted or aborted, and no Q record is in the log", kinds)
        records.fault(self.repeated > 0, "a key stands twice, with two values")

    def _kilobytes(self, records: Records, key: str) -> FloatArray:
        """Return the sizes of a key, KB; plain numbers are bytes, and a word (w) is of eight."""
        read, suffix = sizes(self.spans(key))
        is_word = (suffix == _WORD) | (suffix == _WORD - 32)
        is_bad = read.is_bad | ((suffix != 0) & ~is_word)
        records.doubt(is_bad, f"{key} is no size")
        return np.where(is_bad, np.nan, np.where(is_word, _WORD_BYTES, 1.0) * read.value / 1024.0)

    def _moment(self, records: Records, key: str, *, is_needed: bool) -> FloatArray:
        """Return the times of a key, which are seconds since 1970; 0 is one that never came."""
        seconds = self.number(records, key, needed=is_needed)
        seconds[seconds == 0] = np.nan
        return seconds

    def _read_times(self, records: Records) -> None:
        """Read when each job was submitted, could start, started and ended."""
        wanted = {"created": "ctime", "queued": "qtime", "eligible": "etime"}[self.options.submit]
        created, queued, eligible, start, end = (
            self._moment(records, key, is_needed=key in (wanted, "start", "end"))
            for key in ("ctime", "qtime", "etime", "start", "end")
        )
        first = {"created": created, "queued": queued, "eligible": eligible}[self.options.submit]
        submit = first_known(first, created, queued, eligible)
        records.fault(self.has_ended & np.isnan(submit), "no ctime, qtime or etime")
        records.fault(self.has_ended & np.isnan(end), "no end")
        has_no_start = self.has_ended & np.isnan(start)
        if has_no_start.any():
            records.fault(has_no_start & self._has_run(), "no start, and yet it ran")
        start[~self.has_ended] = np.nan
        waited = np.flatnonzero(self.in_queue & (self.queued >= 0))
        records.is_ambiguous = np.zeros(len(records), bool)
        if len(waited):
            came, left = self._printed(self.queued[waited]), self._printed(self.record[waited])
            need = np.isnan(submit[waited]) & ~records.is_faulty[waited]
            require_zones(came._replace(needs_zone=came.needs_zone & need))
            is_bad = np.zeros(len(records), bool)
            is_bad[waited] = came.is_bad & need
            records.fault(is_bad, "the date of the Q record is no time")
            (from_date, to_date), had_two = in_order(came, left)
            submit[waited] = first_known(submit[waited], from_date)
            end[waited] = np.where(left.needs_zone, np.nan, to_date)
            records.is_ambiguous[waited] = had_two
            for each in (came, left):
                records.note("dates of Q, D or A records in an hour that the zone skips", each.is_skipped)
        self.start, self.end = start, end
        records.numbers |= {"submit": submit, "eligible": eligible, "start": start, "end": end}

    def _has_run(self) -> BoolArray:
        """Return which jobs ended as only one that ran can: completed, or with resources used."""
        used = [
            durations(self.spans("resources_used.walltime")).value,
            durations(self.spans("resources_used.cput")).value,
            sizes(self.spans("resources_used.mem"))[0].value,
        ]
        with np.errstate(invalid="ignore"):
            has_run: BoolArray = np.any(np.stack(used) > 0, axis=0)
        return has_run | (numbers(self.spans("Exit_status")).value == 0)

    def _printed(self, record: IntArray) -> Moments:
        """Return the times at the beginning of records."""
        place = self.lines.time[record]
        return read_times(Spans(self.text, place, place + _DATE), self.options.time_zone, dates="mdy")

    def _read_processors(self, records: Records) -> None:
        """Read hosts, processors and GPUs, those that were given and those that were asked for."""
        rows = len(records)
        hosts, (slots, nodes), state = self.spans("exec_host"), np.empty((2, rows)), np.zeros(rows, np.int8)
        most = 4 + 2 * int(np.max(hosts.end - hosts.start, initial=0))
        seen, seen_row = np.zeros(most, np.int64), np.full(most, -1, np.int64)
        fill_hosts(self.text, hosts.start, hosts.end, slots, nodes, state, seen, seen_row)
        records.fault(state == DOUBTFUL, "exec_host cannot be read", hosts)
        _, by_vnode, given_gpus = self._chunks(records, "exec_vnode", is_counted=False)
        used = _counted(self.number(records, "resources_used.ncpus"))
        total = _counted(self.number(records, "total_execution_slots"))
        slots, by_vnode = _counted(slots), _counted(by_vnode)
        asked = self._requests(records, slots)
        ran = np.isfinite(self.start)
        sound = ran & ~records.is_faulty
        takes_hosts = np.isfinite(slots)
        if self.options.allocation == "slots":
            processors = first_known(np.where(takes_hosts, np.fmax(slots, by_vnode), by_vnode), used)
        else:
            processors = first_known(by_vnode, used, slots)
            takes_hosts &= np.isnan(by_vnode) & np.isnan(used)
        told = _largest(used, asked.ncpus, asked.procs, asked.mpp, asked.nodect)
        is_short = takes_hosts & (processors < told)
        has_none = (state == PLAIN) & np.isnan(processors)  # n/0*0, and no exec_vnode beside it
        records.note(_SHORT, sound & is_short & ~self.is_cobalt)
        nodes = np.where(takes_hosts & (slots < asked.nodect), asked.nodect, nodes)
        processors = first_known(np.where(is_short | has_none, told, processors), total)
        self.processors = np.where(ran, processors, np.nan)
        records.note("started, and nothing says on how many processors", sound & np.isnan(processors))
        records.note("the slots of exec_host are not as many as resources_used.ncpus", sound & (slots > used))
        gpus = texts(self.spans("exec_gpus")).to_pylist() if (self.spans("exec_gpus").start >= 0).any() else []
        listed = np.array([np.nan if not each else each.count("+") + 1.0 for each in gpus] or np.full(rows, np.nan))
        records.numbers |= {
            "allocated_processors": self.processors,
            "requested_processors": asked.processors,
            "allocated_nodes": np.where(ran, nodes, np.nan),
            "requested_nodes": asked.nodes,
            "allocated_gpus": np.where(ran, first_known(given_gpus, listed), np.nan),
            "requested_gpus": asked.gpus,
        }

    def _requests(self, records: Records, slots: FloatArray) -> Requests:
        """Read what was asked for.

        A server's default (nodes=1, ncpus=1) stands beside what a user asks for in other words, so the most counts.
        Torque gives ``nodes`` and ``procs`` together where a job's hosts have as many slots as both.
        """
        select_nodes, select, select_gpus = self._chunks(records, "Resource_List.select", is_counted=True)
        torque_nodes, torque, torque_gpus = self._chunks(records, "Resource_List.nodes", is_counted=True)
        ncpus, procs, width, size, depth, nodect = (
            _counted(self.number(records, f"Resource_List.{key}"))
            for key in ("ncpus", "procs", "mppwidth", "size", "mppdepth", "nodect")
        )
        mpp = first_known(width, size) * first_known(depth, np.ones(len(depth)))
        # PBS Professional sums up a selection in ncpus; Torque sets ncpus to 1 where nodes are asked for.
        of_select = np.where(np.isfinite(select), first_known(ncpus, select), np.nan)
        both = torque + procs
        others = np.where(both == slots, both, _largest(torque, procs, ncpus))
        used_nodes = _counted(self.number(records, "resources_used.nodect"))
        of_cobalt = np.where(self.is_cobalt, first_known(nodect, used_nodes), np.nan)
        return Requests(
            processors=_counted(_largest(first_known(of_select, others), mpp, of_cobalt)),
            nodes=first_known(nodect, select_nodes, torque_nodes),
            gpus=first_known(self.number(records, "Resource_List.ngpus"), select_gpus, torque_gpus),
            ncpus=ncpus,
            procs=procs,
            mpp=mpp,
            nodect=first_known(used_nodes, nodect),
        )

    def _chunks(self, records: Records, key: str, *, is_counted: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return chunks, processors and GPUs of a selection, of nodes that are asked for, or of vnodes."""
        spans = self.spans(key)
        chunks, processors, gpus = np.empty((3, len(spans)))
        state = np.zeros(len(spans), np.int8)
        usual = 1 if is_counted else 0
        fill_chunks(self.text, spans.start, spans.end, is_counted, usual, chunks, processors, gpus, state)
        records.note(f"{key} cannot be read", (state == DOUBTFUL) & ~records.is_faulty)
        return chunks, processors, gpus

    def _read_asked(self, records: Records) -> dict[str, pa.LargeStringArray]:
        """Read what was asked of each node; return in words what these had to have."""
        selected, listed, place, access = (
            self._words(f"Resource_List.{key}") for key in ("select", "nodes", "place", "naccesspolicy")
        )
        requests = listed if selected.null_count == len(records) else pc.coalesce(selected, listed)
        told = read_chunks(requests.dictionary_encode())
        is_scattered, is_packed = arrangements(place)
        # Chunks that PBS may put together are no nodes: such a job asks for so much in all, on any number of nodes.
        several = np.asarray(selected.is_valid()) & (told.nodes > 1) & ~is_scattered & ~self.is_cobalt
        is_packed &= several
        records.note(MIXED, told.is_mixed & ~several & ~records.is_faulty)
        # A server's default of one node stands beside what a user asks for in other words.
        processors = records.number("requested_processors")
        is_whole = (told.all_cores == processors) & ~several
        nodes, memory = records.number("requested_nodes"), records.number("requested_memory")
        records.numbers |= {
            "requested_nodes": np.where(several, np.where(is_packed, 1.0, np.nan), nodes),
            "requested_memory": np.where(several & np.isnan(memory), told.all_memory * 1024.0 / processors, memory),
            "requested_cores_per_node": np.where(is_packed, processors, np.where(is_whole, told.cores, np.nan)),
            "requested_memory_per_node": np.where(is_whole, told.memory, np.nan),
            "requested_gpus_per_node": np.where(is_whole & (told.gpus > 0), told.gpus, np.nan),
            **(
                {"is_exclusive": is_alone(place, access)}
                if place.null_count + access.null_count < 2 * len(records)
                else {}
            ),
        }
        return {"constraints": told.features, "gpu_types": told.gpu_types}

    def _words(self, key: str) -> pa.LargeStringArray:
        """Return the texts of a key; nothing is looked at where no record has it."""
        spans = self.spans(key)
        return texts(spans) if (spans.start >= 0).any() else pa.nulls(len(spans), pa.large_string())

    def _read_usage(self, records: Records) -> None:
        """Read limits, times and memory."""
        ran = np.isfinite(self.start)
        walltime = self.duration(records, "resources_used.walltime")
        self.requested = self.duration(records, "Resource_List.walltime")
        cpu = self.duration(records, "resources_used.cput")
        used = _nonzero(self._kilobytes(records, "resources_used.mem"))
        whole, each = self._kilobytes(records, "Resource_List.mem"), self._kilobytes(records, "Resource_List.pmem")
        wanted = records.number("requested_processors")
        records.numbers |= {
            "cpu_time": np.where(ran, cpu, np.nan),
            "requested_time": self.requested,
            "used_memory": np.where(ran, used, np.nan) / self.processors,
            "requested_memory": first_known(each, whole / wanted),
        }
        if self.options.run_time == "walltime":
            records.numbers["run_time"] = np.where(ran, walltime, np.nan)

    def _read_end(self, records: Records) -> None:
        """Read how each job ended."""
        exit_status, runs = self.number(records, "Exit_status"), self.number(records, "run_count")
        run_time = first_known(records.number("run_time"), self.end - self.start)
        status = swf_status(exit_status, self.was_deleted, run_time, self.requested)
        status[self.in_queue] = np.where(self.was_deleted, 5.0, 0.0)[self.in_queue]
        code, signal = exit_of(exit_status)
        records.numbers |= {
            "status": status,
            "exit_code": code,
            "exit_signal": signal,
            "restarts": np.fmax(self.restarts, np.where(runs >= 1, runs - 1, np.nan)),
        }


def _largest(*columns: FloatArray) -> FloatArray:
    """Return the largest value of each row that is known."""
    largest: FloatArray = np.fmax.reduce(columns)
    return largest


def _counted(values: FloatArray) -> FloatArray:
    """Return counts, NaN for 0 and -1, by which PBS says that it does not know."""
    return np.where((values == 0) | (values == -1), np.nan, values)


def _nonzero(values: FloatArray) -> FloatArray:
    """Return numbers, NaN for 0, by which PBS says that it does not know."""
    return np.where(values == 0, np.nan, values)
