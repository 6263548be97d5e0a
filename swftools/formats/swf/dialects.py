# SPDX-License-Identifier: BSD-3-Clause
"""Dialects of SWF: what many logs since 2013 write in a way that SWF 2.2 does not have, recognised line by line.

* Lines of 21 fields, as the logs of JSSPP have them. CERIT-SC and MetaCentrum: list of nodes, queue, request. Frontier:
  GPUs, soft limit, ``machine:share:NODESxCORES``. Nodes times cores are the width there, since fields 5 and 8 count now
  nodes, now cores.
* Submit times in seconds since 1970 where no UnixStartTime says so.

``taken`` makes plain jobs of them, and ``as_they_came`` gives the fields back.

References
----------
Klusacek, "Workloads of JSSPP" (CERIT-SC, MetaCentrum; Frontier 2024 and 2025).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from swftools.errors import ParameterError, SwfFormatError
from swftools.header import HeaderEntry, SwfHeader
from swftools.tables import empty_frame, frame_of
from swftools.trace import Trace

Width = Literal["cores", "nodes", "fields"]
WIDTHS: tuple[Width, ...] = ("cores", "nodes", "fields")

EPOCH_NOTE = "Submit times were seconds since 1970 though no UnixStartTime said so: that is assumed."
"""The Note of a header whose UnixStartTime was found in the submit times."""

_OTHER_NOTE = "Submit times were seconds since 1970 though UnixStartTime was {}: that is assumed."
"""The same where there was one, such as 0."""

_OTHER = re.compile(re.escape(_OTHER_NOTE).replace(r"\{\}", "(.*)"))

RELATIVE_NOTE = "Submit times count from the start of the log, of which the date is not known."
"""The Note that ``write_swf`` writes where submit times would be taken for seconds since 1970, and are not."""

FRONTIER = "21 fields with GPUs, soft limit and nodes x cores (JSSPP, Frontier)"
QUEUES_NOTE = "Queues were not numbered: their numbers are those of the names in field 20, by first appearance."
CERIT = "21 fields with nodes, queue and request (JSSPP, CERIT-SC)"

_EARLIEST, _LATEST = 631_152_000.0, 4_102_444_800.0  # 1990 and 2100
_FRONTIER = (
    r"^(?P<gpus>-1|[0-9]{1,9})[ \t]+(?P<soft>-1|[0-9]{1,10}(?:\.[0-9]{1,9})?)[ \t]+"
    r"(?P<request>[^:\s]+:[^:\s]+:(?P<nodes>[0-9]{1,9})x(?P<cores>[0-9]{1,9}))$"
)
_CERIT = r"^(?P<list>\{[0-9]+(?:,[0-9]+)*\})[ \t]+(?P<queue>[^\s]+)[ \t]+(?P<request>[0-9]+(?::[^\s]*)?(?:\+[^\s]*)?)$"
_MOST = 2**31 - 1


class DialectJobs(NamedTuple):
    """Jobs in plain columns: the table, lines that cannot be jobs after all, and what was assumed of how many."""

    jobs: pd.DataFrame
    rejected: pd.DataFrame
    assumed: Counter[str]


def check_width(width: str) -> None:
    """Raise ParameterError unless a width is one of those that there are."""
    if width not in WIDTHS:
        raise ParameterError(f"width={width!r} is not one of {', '.join(WIDTHS)}")


# ---------------------------------------------------------------- 21 fields


def number_queues(jobs: pd.DataFrame, numbers: dict[str, int]) -> pd.DataFrame:
    """Return jobs with a number for the name of each queue, if names are told and no number is.

    Parameters
    ----------
    jobs : pandas.DataFrame
        As ``split_fields`` returns them.
    numbers : dict of str to int
        Those of the log so far, by first appearance from 1 on; what is new is added.
    """
    if "queue_name" not in jobs:
        return jobs
    is_named = jobs["queue_name"].notna().to_numpy()
    if jobs["queue_id"][is_named].notna().any():
        return jobs
    places, names = pd.factorize(jobs["queue_name"])
    of_name = np.array([numbers.setdefault(name, len(numbers) + 1) for name in names], np.int64)
    queues = jobs["queue_id"].copy()
    queues[is_named] = of_name[places[is_named]]
    return jobs.assign(queue_id=queues)


def names_of_queues(numbers: Mapping[str, int]) -> pd.DataFrame:
    """Return the names behind the numbers of ``number_queues``, as a trace has them."""
    if not numbers:
        return empty_frame("names")
    called = {"kind": ["queue"] * len(numbers), "number": [*numbers.values()], "name": [*numbers]}
    return frame_of("names", called)


def split_fields(jobs: pd.DataFrame, width: Width) -> tuple[pd.DataFrame, Counter[str]]:
    """Return jobs whose 19th to 21st fields are columns of their own where a dialect has them, and how many these are.

    Parameters
    ----------
    jobs : pandas.DataFrame
        As ``read_block`` returns them.
    width : {"cores", "nodes", "fields"}
        What of Frontier's ``NODESxCORES`` is the width: nodes times cores, the nodes, or what fields 5 and 8 say.
    """
    found: Counter[str] = Counter()
    if "extra_fields" not in jobs:
        return jobs, found
    texts = pa.array(jobs["extra_fields"], pa.large_string())
    columns: dict[str, Any] = {}
    is_taken = np.zeros(len(jobs), bool)
    frontier = pc.extract_regex(texts, _FRONTIER)
    rows = _rows(frontier)
    if len(rows):
        columns |= _of_frontier(jobs, frontier.take(pa.array(rows)), rows, width, found)
        is_taken[rows] = ~np.isin(rows, columns.pop("left"))
    cerit = pc.extract_regex(texts, _CERIT)
    rows = _rows(cerit)
    if len(rows):
        for name, values in _of_cerit(cerit.take(pa.array(rows)), rows, len(jobs)).items():
            columns[name] = values.combine_first(columns[name]) if name in columns else values
        is_taken[rows] = True
        found[CERIT] += len(rows)
    if not is_taken.any():
        return jobs, found
    left = jobs["extra_fields"].where(~is_taken)
    # Behind the columns that every reader makes, in the dictionary's order when it is written.
    plain = jobs.drop(columns=["extra_fields"]) if left.isna().all() else jobs.assign(extra_fields=left)
    return plain.assign(**{name: pd.Series(values).array for name, values in columns.items()}), found


def _rows(matched: Any) -> npt.NDArray[np.int64]:
    """Return the rows in which a pattern was found."""
    return np.flatnonzero(matched.is_valid().to_numpy(zero_copy_only=False))


def _of_frontier(
    jobs: pd.DataFrame, words: Any, rows: npt.NDArray[np.int64], width: Width, found: Counter[str]
) -> dict[str, Any]:
    """Return the columns of Frontier's lines, and as ``left`` the rows whose descriptor gives no width."""
    nodes, cores = (words.field(name).cast(pa.int64()).to_numpy(zero_copy_only=False) for name in ("nodes", "cores"))
    counted = nodes * cores if width == "cores" else nodes
    is_sound = (counted >= 1) & (counted <= _MOST)
    if left := int((~is_sound).sum()):
        found["a descriptor of nodes x cores that gives no width: left in extra_fields"] += left
    found[FRONTIER] += int(is_sound.sum())
    counted, nodes, sound = counted[is_sound], nodes[is_sound], rows[is_sound]
    words = words.filter(pa.array(is_sound))
    columns: dict[str, Any] = {"left": rows[~is_sound]}
    if width != "fields":
        changed = 0
        for name in ("allocated_processors", "requested_processors"):
            old = jobs[name]
            new, kept = old.copy(), pd.Series(pd.array([None] * len(jobs), "Int64"))
            said = old.iloc[sound].fillna(-1).to_numpy(np.int64)
            # A job that was given nothing did not start. One that asked for nothing known asked for what is described.
            is_other = (said != counted) & ((said > 0) | ((said < 0) & (name == "requested_processors")))
            new.iloc[sound[is_other]] = counted[is_other]
            kept.iloc[sound[is_other]] = np.maximum(said[is_other], 0)  # 0 is what was missing
            changed += int(is_other.sum())
            columns[name] = new
            if is_other.any():
                columns[f"logged_{name}"] = kept
        if changed:
            found[f"fields 5 and 8 that are not the {width} of the descriptor, which count"] += changed
    gpus = words.field("gpus").cast(pa.int64()).to_numpy(zero_copy_only=False)
    soft = words.field("soft").cast(pa.float64()).to_numpy(zero_copy_only=False)
    columns["allocated_gpus"] = _placed(np.where(gpus < 0, -1, gpus), sound, len(jobs))
    columns["allocated_nodes"] = _placed(
        nodes, sound, len(jobs), (jobs["allocated_processors"] > 0).fillna(False).to_numpy(bool)
    )
    columns["requested_nodes"] = _placed(nodes, sound, len(jobs))
    seconds = np.full(len(jobs), np.nan)
    seconds[sound] = np.where(soft < 0, np.nan, soft)
    columns["soft_requested_time"] = pd.Series(seconds)
    columns["resource_request"] = _texts(words.field("request"), sound, len(jobs))
    return columns


def _of_cerit(words: Any, rows: npt.NDArray[np.int64], jobs: int) -> dict[str, pd.Series[Any]]:
    """Return the columns of CERIT-SC's lines. Field 5 is their width: the list has an entry a processor."""
    lists = words.field("list").dictionary_encode()
    counts = np.array([len(set(each[1:-1].split(","))) for each in lists.dictionary.to_pylist()], np.int64)
    return {
        "allocated_nodes": _placed(counts[lists.indices.to_numpy()], rows, jobs),
        "node_list": _texts(words.field("list"), rows, jobs),
        "queue_name": _texts(words.field("queue"), rows, jobs),
        "resource_request": _texts(words.field("request"), rows, jobs),
    }


def _placed(
    values: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], jobs: int, is_known: npt.NDArray[np.bool_] | None = None
) -> pd.Series[Any]:
    """Return a column of whole numbers that are known in some rows, unless they are -1."""
    column = np.full(jobs, -1, np.int64)
    column[rows] = values
    missing = column < 0 if is_known is None else (column < 0) | ~is_known
    return pd.Series(pd.arrays.IntegerArray(column, missing))


def _texts(values: Any, rows: npt.NDArray[np.int64], jobs: int) -> pd.Series[Any]:
    """Return a column of texts that are known in some rows."""
    places = np.full(jobs, -1, np.int64)
    places[rows] = np.arange(len(rows))
    return pd.Series(values.take(pa.array(places, mask=places < 0)).to_pandas(), dtype="str")


# ---------------------------------------------------------------- submit times since 1970


def is_epoch(header: SwfHeader, jobs: pd.DataFrame) -> bool | None:
    """Whether the submit times of a log are seconds since 1970, by its header and first job; None while none is known.

    They are where no UnixStartTime above 0 stands before the jobs, and the first time is one of the years 1990 to 2100.
    """
    if header.unix_start_time is not None or RELATIVE_NOTE in header.notes:
        return False
    times = jobs["submit_time"].to_numpy(np.float64)
    known = times[~np.isnan(times)]
    return bool(_EARLIEST <= known[0] < _LATEST) if len(known) else None


def first_second(jobs: pd.DataFrame) -> float:
    """Return the first second, since 1970, in which a job was submitted; infinite where none was."""
    times = jobs["submit_time"].to_numpy(np.float64)
    sound = times[(times >= _EARLIEST) & (times < _LATEST)]
    return float(np.floor(sound.min())) if len(sound) else np.inf


def since(jobs: pd.DataFrame, origin: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return jobs whose submit times count from a second since 1970, and the jobs whose times are no such seconds."""
    times = jobs["submit_time"].to_numpy(np.float64)
    is_wrong = (times < _EARLIEST) | (times >= _LATEST)
    moved = jobs.assign(submit_time=times - origin)
    return moved[~is_wrong].reset_index(drop=True), jobs[is_wrong]


def reject(jobs: pd.DataFrame, texts: list[str]) -> pd.DataFrame:
    """Return the quarantine of jobs whose submit times are not seconds since 1970, with the texts of their lines."""
    why = "field 2 (submit_time): {:g} is no second of the years 1990 to 2100, as those of other jobs are"
    return frame_of(
        "quarantine",
        {
            "line_number": jobs["line_number"].tolist(),
            "rule": ["read"] * len(jobs),
            "reason": [why.format(value) for value in jobs["submit_time"]],
            "text": texts,
        },
    )


def dated(header: SwfHeader, origin: float) -> SwfHeader:
    """Return a header that says when second 0 is, and in a Note what it said before."""
    entries = list(header.entries)
    at = next((place for place, each in enumerate(entries) if _is_start(each)), -1)
    if at < 0:
        entries.insert(0, HeaderEntry("UnixStartTime", str(int(origin))))
        return SwfHeader(tuple(entries)).with_entry("Note", EPOCH_NOTE)
    said, *rest = entries[at].text.split("\n")
    entries[at] = HeaderEntry(entries[at].label, "\n".join([str(int(origin)), *rest]))
    return SwfHeader(tuple(entries)).with_entry("Note", _OTHER_NOTE.format(said))


def epoch_note(header: SwfHeader) -> str | None:
    """Return the Note by which a header says that submit times were taken for seconds since 1970; None without."""
    return next((note for note in header.notes if note == EPOCH_NOTE or _OTHER.fullmatch(note)), None)


def _is_start(entry: HeaderEntry) -> bool:
    return (entry.label or "").lower() == "unixstarttime"


def _undated(header: SwfHeader, note: str) -> SwfHeader:
    """Return the header that ``dated`` was given."""
    entries = list(header.without_note(note).entries)
    at = next(place for place, each in enumerate(entries) if _is_start(each))
    if (found := _OTHER.fullmatch(note)) is None:
        del entries[at]
    else:
        entries[at] = HeaderEntry(entries[at].label, "\n".join([found[1], *entries[at].text.split("\n")[1:]]))
    return SwfHeader(tuple(entries))


# ---------------------------------------------------------------- back again


def as_they_came(trace: Trace) -> Trace:
    """Return a trace whose 18 fields, extra fields and header are those of the log that it was read from.

    Submit times are seconds since 1970 again where they were, fields 5 and 8 what they were, and behind the 18 fields
    stand the three of the dialect. Values count, not how they were written: ``4.0`` is ``4``. Of a trace in SWF 2.2
    nothing changes.

    Raises
    ------
    SwfFormatError
        The header says that submit times were seconds since 1970, and its UnixStartTime is gone.
    """
    header, jobs = trace.header, trace.jobs
    changed: dict[str, Any] = {}
    if (note := epoch_note(header)) is not None:
        origin = header.unix_start_time
        if origin is None:
            raise SwfFormatError("the header notes submit times since 1970, and has no UnixStartTime; give it back")
        changed["submit_time"] = jobs["submit_time"] + origin
        header = _undated(header, note)
    for name in ("allocated_processors", "requested_processors"):
        if f"logged_{name}" in jobs:
            old = jobs[f"logged_{name}"]
            changed[name] = old.where(old != 0, None).where(old.notna(), jobs[name])
    if QUEUES_NOTE in header.notes:
        header = header.without_note(QUEUES_NOTE)
        changed["queue_id"] = jobs["queue_id"].where(jobs["queue_name"].isna())
    if "resource_request" in jobs:
        changed["extra_fields"] = _three_fields(jobs)
    return replace(trace, header=header, jobs=jobs.assign(**changed))


def _three_fields(jobs: pd.DataFrame) -> pd.Series[Any]:
    """Return the 19th to 21st field of each job of a dialect, else its extra fields."""
    nothing = pd.Series([None] * len(jobs), dtype="str", index=jobs.index)
    request = jobs["resource_request"]
    own, lists, queues = (jobs.get(name, nothing) for name in ("extra_fields", "node_list", "queue_name"))
    gpus = jobs["allocated_gpus"].astype("str").fillna("-1") if "allocated_gpus" in jobs else nothing.fillna("-1")
    soft = nothing.fillna("-1")
    if "soft_requested_time" in jobs:
        told = [f"{value:.15g}" for value in jobs["soft_requested_time"]]
        soft = pd.Series(told, dtype="str", index=jobs.index).where(jobs["soft_requested_time"].notna(), "-1")
    cerit = lists + " " + queues + " " + request
    frontier = gpus + " " + soft + " " + request
    return own.where(request.isna(), cerit.where(lists.notna(), frontier))
