# SPDX-License-Identifier: BSD-3-Clause
"""Files ``.machines`` beside logs of JSSPP's dialect: which machines a log is of, a line each."""

from __future__ import annotations

import os

import pandas as pd

from swftools.errors import LogFormatError, UnreadableLogError
from swftools.parameters.small_files import PRINTED_LIMIT, read_small_file

COLUMNS = ("number", "name", "nodes", "processors_per_node", "speed", "memory_kb")
_MOST = 2**31 - 1
_MOST_KB = 1e18


def read_machines(path: str | os.PathLike[str]) -> pd.DataFrame:
    r"""Read a ``.machines`` file, as the logs of JSSPP have it beside them.

    Parameters
    ----------
    path : path
        Lines of number, name, nodes, processors of each node, relative speed, and memory of each node (KB), separated
        by tabs or blanks. Blank lines and lines that begin with ``#`` or ``;`` are skipped.

    Returns
    -------
    pandas.DataFrame
        A row for each machine: number, name, nodes, processors_per_node, speed, memory_kb.

    Raises
    ------
    UnreadableLogError
        It cannot be read.
    LogFormatError
        A line does not have these six fields, or a number occurs twice; it names file and line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".machines") as file:
    ...     _ = file.write(b"0\tzewura\t20\t80\t1\t529426432\n")
    ...     file.flush()
    ...     read_machines(file.name)[["name", "nodes", "processors_per_node"]].values.tolist()
    [['zewura', 20, 80]]
    """
    name = os.fsdecode(path)
    try:
        text = read_small_file(path, PRINTED_LIMIT).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableLogError(f"{name}: the file of machines cannot be read ({error})") from error
    return machines_of(text, name)


def machines_of(text: str, name: str) -> pd.DataFrame:
    """Return what ``read_machines`` does, of the text of a file; messages call it by its name."""
    rows = []
    for place, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0][0] in "#;":
            continue
        rows.append(_machine(words, f"{name}, line {place}"))
        if rows[-1][0] in {row[0] for row in rows[:-1]}:
            raise LogFormatError(f"{name}, line {place}: machine {words[0]} appears twice; give each once")
    if not rows:
        raise LogFormatError(f"{name}: it names no machine; give lines of number, name, nodes, processors, speed, KB")
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    if int((frame["nodes"] * frame["processors_per_node"]).sum()) > _MOST:
        raise LogFormatError(f"{name}: more than {_MOST:,} processors in all; check nodes and processors of each")
    return frame


def processors_of(machines: pd.DataFrame) -> int:
    """Return the processors of all machines together."""
    return int((machines["nodes"] * machines["processors_per_node"]).sum())


def _machine(words: list[str], place: str) -> tuple[int, str, int, int, float, float]:
    """Return the values of a line."""
    try:
        number, name, nodes, processors, speed, memory = words
        row = (int(number), name, int(nodes), int(processors), float(speed), float(memory))
    except ValueError:
        raise LogFormatError(
            f"{place}: {' '.join(words)[:80]!r} is not number, name, nodes, processors of each, speed, memory (KB)"
        ) from None
    counts = row[0] >= 0 and 1 <= row[2] <= _MOST and 1 <= row[3] <= _MOST
    if not (counts and 0 < row[4] < _MOST and 0 <= row[5] < _MOST_KB):
        raise LogFormatError(f"{place}: {' '.join(words)[:80]!r}: nodes, processors and speed must be above 0")
    return row
