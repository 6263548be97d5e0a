# SPDX-License-Identifier: BSD-3-Clause
"""The columns of what ``sacct -P`` prints: from a header line, or as told. Names compare without case."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.errors import LogFormatError, ParameterError
from swftools.formats.accounting.kernel import label_table
from swftools.formats.slurm.kernel import header_id_position
from swftools.kernel import IntArray

COLUMNS = (
    *("JobID", "MaxRSS", "TotalCPU", "State", "Submit", "Eligible", "Start", "End", "Elapsed", "ElapsedRaw"),
    *("Suspended", "Timelimit", "TimelimitRaw", "NNodes", "AllocNodes", "ReqNodes", "NodeList", "NCPUS", "AllocCPUS"),
    *("ReqCPUS", "AllocTRES", "ReqTRES", "ReqMem", "ConsumedEnergyRaw", "ConsumedEnergy", "ExitCode", "Restarts"),
    "Dependency",
    *("User", "Group", "Account", "Partition", "QOS", "Cluster", "JobName"),
)
"""What is read; the scanner knows the first three by their places."""

PROCESSORS = ("NCPUS", "AllocCPUS", "ReqCPUS", "AllocTRES", "ReqTRES")
"""Columns that say how many processors a job had or wanted; one of them must be there."""

_NEEDED = ("JobID", "State", "Submit", "Start", "End")
_FREE = ("jobname", "comment", "admincomment", "systemcomment", "submitline", "workdir", "extra")
"""Columns of texts that users write, which may hold the separator where they stand last."""

_LITERAL = ("JobID", "State", "Dependency", "User", "Group", "Account", "Partition", "QOS", "Cluster", "JobName")
TAKES_NONE = np.array([name not in _LITERAL for name in COLUMNS])
"""Columns in which words such as Unknown say that there is no value."""

NONE = ("Unknown", "None", "None assigned", "UNLIMITED", "Partition_Limit", "INVALID", "N/A", "(null)", "NONE")
NONE_TABLE = label_table([word.encode() for word in NONE])
_NUMBER = {name.lower(): number for number, name in enumerate(COLUMNS)}


class Layout(NamedTuple):
    """How a row is made up.

    Parameters
    ----------
    position : ndarray of int64, shape (len(COLUMNS),)
        The field that each column is, -1 where there is no such column.
    fields : int
        How many there are.
    has_tail : bool
        Whether a separator stands behind the last one too (``sacct -p``).
    is_open : bool
        Whether the last one may hold the separator.
    """

    position: IntArray
    fields: int
    has_tail: bool
    is_open: bool

    @property
    def id_position(self) -> int:
        """The field that is the job's id."""
        return int(self.position[0])


NO_LAYOUT = Layout(np.full(len(COLUMNS), -1, np.int64), 0, False, False)
"""Before the first header."""


def is_header(line: bytes) -> bool:
    """Whether a line names columns of sacct, JobID and State among them."""
    return header_id_position.py_func(line, 0, len(line)) >= 0


def layout_of_header(line: bytes, place: str) -> Layout:
    """Return the layout that a header line announces.

    Raises
    ------
    LogFormatError
        Columns are missing without which no jobs can be read; names them and the place.
    """
    names = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").strip().split("|")
    layout, lacking = _layout(names)
    if lacking:
        raise LogFormatError(
            f"{place}: the header names no {' and no '.join(lacking)}; run sacct with them in --format, as swftools "
            "formats slurm shows"
        )
    return layout


def layout_of_option(columns: str) -> Layout:
    """Return the layout that the option ``columns`` tells: names with ``+``, commas or bars between them.

    Raises
    ------
    ParameterError
        Columns are missing without which no jobs can be read.
    """
    names = [name.split("%")[0] for name in re.split(r"[+,|]", columns)]
    layout, lacking = _layout(names)
    if lacking:
        raise ParameterError(f"slurm: columns={columns!r} names no {' and no '.join(lacking)}; these are needed")
    return layout


def with_tail(layout: Layout, line: bytes) -> Layout:
    """Return a layout that was told as the first row has it: with a separator behind the last field, or without."""
    if layout.has_tail or not line.endswith(b"|") or line.count(b"|") != layout.fields:
        return layout
    return layout._replace(has_tail=True)


def _layout(names: list[str]) -> tuple[Layout, list[str]]:
    """Return the layout of columns by their names, and what is missing."""
    names = [name.strip().lower() for name in names]
    has_tail = len(names) > 1 and not names[-1]
    if has_tail:
        names.pop()
    if "jobid" not in names:
        names = ["jobid" if name == "jobidraw" else name for name in names]
    position: npt.NDArray[np.int64] = np.full(len(COLUMNS), -1, np.int64)
    for field in range(len(names) - 1, -1, -1):  # of several columns of a name the first counts
        if names[field] in _NUMBER:
            position[_NUMBER[names[field]]] = field
    lacking = [name for name in _NEEDED if position[_NUMBER[name.lower()]] < 0]
    if all(position[_NUMBER[name.lower()]] < 0 for name in PROCESSORS):
        lacking.append(f"column of processors ({', '.join(PROCESSORS)})")
    return Layout(position, len(names), has_tail, names[-1] in _FREE), lacking
