# SPDX-License-Identifier: BSD-3-Clause
"""Cut a run of data lines out of an SWF log, with the log's full header, byte for byte.

The log that this package ships was made by::

    python examples/cut_excerpt.py SDSC-BLUE-2000-4.2-cln.swf.gz 5000 9999 \
        pipelines/resources/logs/SDSC-BLUE-2000-4.2-cln-5000-9999.swf.gz

The first data line has index 0 and the last index is part of the excerpt. The header is copied unchanged, with
its acknowledgement and copyright, and a Note at its end says what was cut. The same source gives the same text
on every machine, and the same file wherever zlib compresses alike.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from swftools.errors import ParameterError, SwfToolsError
from swftools.formats import create_log, open_log

_COMPRESSION_SUFFIX = re.compile(r"\.(gz|bz2|xz|zst)$")


def split_log(text: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return the header lines, which stand before the first data line, and the data lines, each with its end."""
    lines = text.splitlines(keepends=True)
    data = [number for number, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(b";")]
    if not data:
        return lines, []
    return lines[: data[0]], [lines[number] for number in data]


def excerpt_note(name: str, text: bytes, count: int, first: int, last: int) -> Iterator[str]:
    """Yield the header lines that say what the excerpt holds, in the style of the archive's own notes."""
    yield "; Note: EXCERPT: THIS FILE HOLDS ONLY A PART OF THE LOG!"
    yield f";       Its data lines are those with index {first} to {last} (the first is 0) of the {count} in"
    yield f";         {name}"
    yield f";         (sha256 of that text: {hashlib.sha256(text).hexdigest()})"
    yield ";       The header above is that log's own, unchanged: MaxJobs, MaxRecords, StartTime, EndTime and"
    yield ";       the filters describe the whole log; submit times count from its UnixStartTime"


def cut(source: Path, first: int, last: int, output: Path) -> None:
    """Write the data lines ``first`` to ``last`` of a log, and its header, to a new log.

    Parameters
    ----------
    source : Path
        A log, plain or compressed.
    first, last : int
        Indices of the first and the last data line to keep; the log's first data line is 0.
    output : Path
        The excerpt; its suffix (.gz, .bz2, .xz, .zst) chooses the compression.

    Raises
    ------
    ParameterError
        The log has no such lines.
    UnreadableLogError
        The source is missing, truncated or corrupt.
    """
    with open_log(source) as stream:
        text = stream.read()
    header, data = split_log(text)
    if not 0 <= first <= last < len(data):
        raise ParameterError(
            f"{source}: no data lines {first} to {last} among its {len(data)}; choose 0 <= FIRST <= LAST < {len(data)}"
        )
    end = b"\r\n" if data[0].endswith(b"\r\n") else b"\n"
    name = _COMPRESSION_SUFFIX.sub("", source.name)
    note = [line.encode() + end for line in excerpt_note(name, text, len(data), first, last)]
    with create_log(output) as target:
        target.write(b"".join([*header, *note, *data[first : last + 1]]))


def main(arguments: list[str] | None = None) -> int:
    """Cut the excerpt that the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="an SWF log, plain or compressed")
    parser.add_argument("first", type=int, help="index of the first data line to keep; the log's first is 0")
    parser.add_argument("last", type=int, help="index of the last data line to keep")
    parser.add_argument("output", type=Path, help="the excerpt; the suffix chooses the compression")
    options = parser.parse_args(arguments)
    try:
        cut(options.source, options.first, options.last, options.output)
    except SwfToolsError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
