# SPDX-License-Identifier: BSD-3-Clause
"""A block of lines as a trace, and what is told of where it comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from swftools.formats.compression import LogStream
from swftools.formats.swf import dialects
from swftools.formats.swf.block import Block
from swftools.header import UTILITY_NOTE, SwfHeader
from swftools.trace import LineSource, Trace


def trace_of(
    block: Block,
    *,
    source: pa.LargeBinaryArray | LineSource | None = None,
    provenance: Mapping[str, object],
    queues: Mapping[str, int] | None = None,
) -> Trace:
    """Return the trace of a block, whose queues may have been numbered by name.

    The Note that announced utility tuples has become their column.
    """
    header = block.header.without_note(UTILITY_NOTE).without_note(dialects.RELATIVE_NOTE)
    named = dialects.names_of_queues(queues or {})
    return Trace(header, block.jobs, block.quarantine, source=source, provenance=provenance, names=named)


def unread(header: SwfHeader) -> Counter[str]:
    """Return which numbers of a header cannot be read, as what is odd."""
    return Counter({f"{label} in the header is no number: taken for missing": 1 for label in header.unread})


def provenance_of(name: str, size: int, sha256: str, stream: LogStream, told: Mapping[str, int]) -> dict[str, object]:
    """Return where a trace comes from."""
    return {
        "name": Path(name).name,
        "bytes": size,
        "sha256": sha256,
        **unverified(stream),
        **({"anomalies": dict(told)} if told else {}),
    }


def unverified(stream: LogStream) -> dict[str, str]:
    """Return what provenance says of a text that no checksum vouches for; nothing of any other."""
    return {"unverified": stream.unverified} if stream.unverified else {}
