# SPDX-License-Identifier: BSD-3-Clause
"""The columns of what ``sacct -P`` prints: from a header line, or as told. Names compare without case.

What separates them is a bar, or what ``sacct --delimiter`` was given, which the header line shows.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.errors import LogFormatError, ParameterError
from swftools.formats.accounting.kernel import label_table
from swftools.formats.slurm.kernel import LAST_LINES, NO_LINES, SOME_LINES
from swftools.formats.slurm.lines import find_header
from swftools.kernel import IntArray

COLUMNS = (
    *("JobID", "MaxRSS", "TotalCPU", "State", "Submit", "Eligible", "Start", "End", "Elapsed", "ElapsedRaw"),
    *("Suspended", "Timelimit", "TimelimitRaw", "NNodes", "AllocNodes", "ReqNodes", "NodeList", "NCPUS", "AllocCPUS"),
    *("ReqCPUS", "AllocTRES", "ReqTRES", "ReqMem", "ConsumedEnergyRaw", "ConsumedEnergy", "ExitCode", "Restarts"),
    *("Dependency", "SubmitLine", "Flags", "Priority", "Reason", "Constraints"),
    *("User", "Group", "Account", "Partition", "QOS", "Cluster", "JobName"),
)
"""What is read; the scanner knows the first three by their places."""

PROCESSORS = ("NCPUS", "AllocCPUS", "ReqCPUS", "AllocTRES", "ReqTRES")
"""Columns that say how many processors a job had or wanted; one of them must be there."""

_NEEDED = ("JobID", "State", "Submit", "Start", "End")
_FREE = ("jobname", "comment", "admincomment", "systemcomment", "submitline", "workdir", "extra")
"""Columns of texts that users write, which may hold the separator where they stand last."""

_OF_LINES = ("comment", "admincomment", "systemcomment", "submitline", "extra")
"""Those that may hold line ends too."""

OF_LOOSE = np.array(
    [COLUMNS.index(name) for name in ("JobID", "MaxRSS", "TotalCPU", "Start", "Submit", "Cluster")], np.int64
)
"""What is noted of a step that does not stand behind its job; the last one must be the same for it to be of the job."""

BAR = b"|"
_CSV = (b",", b";", b"\t")
"""Separators of tables that other programs wrote from what sacct printed, with quotation marks around values."""

_LITERAL = (
    *("JobID", "State", "Dependency", "SubmitLine", "Flags", "Constraints"),
    *("User", "Group", "Account", "Partition", "QOS", "Cluster", "JobName"),
)
TAKES_NONE = np.array([name not in _LITERAL for name in COLUMNS])
"""Columns in which words such as Unknown say that there is no value."""

NONE = ("Unknown", "None", "None assigned", "UNLIMITED", "Partition_Limit", "INVALID", "N/A", "(null)", "NONE")
NONE_TABLE = label_table([word.encode() for word in NONE])
_OTHER = re.compile(rb"[0-9]([^\w.+\[\]%:, /-]+|,)")
"""What stands behind the first number of a row without bars, if it separates fields."""
_NUMBER = {name.lower(): number for number, name in enumerate(COLUMNS)}


class RowLayout(NamedTuple):
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
    separator : bytes
        What stands between two of them.
    is_csv : bool
        Whether quotation marks may stand around a value.
    takes_lines : int
        Whether values may hold line ends: ``NO_LINES``, ``SOME_LINES``, ``LAST_LINES``.
    """

    position: IntArray
    fields: int
    has_tail: bool
    is_open: bool
    separator: bytes = BAR
    is_csv: bool = False
    takes_lines: int = NO_LINES

    @property
    def id_position(self) -> int:
        """The field that is the job's id."""
        return int(self.position[0])


NO_LAYOUT = RowLayout(np.full(len(COLUMNS), -1, np.int64), 0, False, False)
"""Before the first header."""


def is_header(line: bytes) -> bool:
    """Whether a line names columns of sacct, JobID and State among them.

    Between other separators than bars all that sacct is asked for must be there: tables of others have such names too.
    """
    field, begin, end = find_header.py_func(line, 0, len(line))
    return field >= 0 and (line[begin:end] == BAR or not _layout(*_names(line))[1])


def _names(line: bytes) -> tuple[list[str], bytes]:
    """Return the names in a header line, and what stands between them."""
    line = line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")
    _, begin, end = find_header.py_func(line, 0, len(line))
    separator = line[begin:end] or BAR
    return [name.decode("utf-8", "replace").strip().strip('"').strip() for name in line.split(separator)], separator


def layout_of_header(line: bytes, place: str) -> RowLayout:
    """Return the layout that a header line announces.

    Raises
    ------
    LogFormatError
        Columns are missing without which no jobs can be read; names them and the place.
    """
    layout, lacking = _layout(*_names(line))
    if lacking:
        raise LogFormatError(
            f"{place}: the header names no {' and no '.join(lacking)}; run sacct with them in --format, as swftools "
            "formats slurm shows"
        )
    return layout


def layout_of_option(columns: str) -> RowLayout:
    """Return the layout that the option ``columns`` tells: names with ``+``, commas or bars between them.

    Raises
    ------
    ParameterError
        Columns are missing without which no jobs can be read.
    """
    names = [name.split("%")[0] for name in re.split(r"[+,|]", columns)]
    layout, lacking = _layout(names, BAR)
    if lacking:
        raise ParameterError(f"slurm: columns={columns!r} names no {' and no '.join(lacking)}; these are needed")
    return layout


def with_tail(layout: RowLayout, line: bytes) -> RowLayout:
    """Return a layout that was told as the first row has it: what stands between fields, and behind the last."""
    if BAR not in line and (found := _OTHER.search(line)):
        layout = layout._replace(separator=found[1], is_csv=found[1] in _CSV)
    separator = layout.separator
    if layout.has_tail or not line.endswith(separator) or line.count(separator) != layout.fields:
        return layout
    return layout._replace(has_tail=True)


def _layout(names: list[str], separator: bytes) -> tuple[RowLayout, list[str]]:
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
    takes_lines = SOME_LINES if any(name in _OF_LINES for name in names) else NO_LINES
    if names[-1] in _OF_LINES:
        takes_lines = LAST_LINES
    return (
        RowLayout(position, len(names), has_tail, names[-1] in _FREE, separator, separator in _CSV, takes_lines),
        lacking,
    )
