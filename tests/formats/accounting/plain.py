# SPDX-License-Identifier: BSD-3-Clause
"""A format for tests: lines of words ``column=value`` parted by blanks; a line ``+`` belongs to the one above.

Everything that the ledger judges can be said in it, and nothing else stands between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from swftools.formats.accounting.format import AccountingFormat
from swftools.formats.accounting.records import COUNTS, NAMES, SECONDS, SIZES, TEXTS, TIMES, Records, Reject, Stretch
from swftools.formats.registry import Fit

NUMBERS = (*TIMES, *SECONDS, *COUNTS, *SIZES)


@dataclass(frozen=True)
class Plain(AccountingFormat):
    """See above; it is registered by nobody."""

    NAME = "plain"
    TITLE = "plain words"
    COMMAND = "none"

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether a text has such words."""
        return Fit(b"submit=" in head, "submit=")

    def cut(self, text: bytes) -> int:
        """Return where the last line that is no ``+`` begins."""
        at = len(text)
        for line in reversed(text.splitlines(keepends=True)):
            at -= len(line)
            if not line.startswith(b"+"):
                return at
        return 0

    def records(self, stretches: Iterable[Stretch]) -> Iterator[Records]:
        """Say what stands in the lines."""
        for stretch in stretches:
            yield _records(stretch)


def _records(stretch: Stretch) -> Records:
    rows: list[tuple[int, int, int, dict[str, str]]] = []
    merged: list[tuple[int, int]] = []
    rejects = []
    begin = 0
    for number, line in enumerate(stretch.text.splitlines(keepends=True), start=stretch.first_line):
        end = begin + len(line)
        words = line.decode().split()
        if words[:1] == ["+"] and rows:
            merged.append((number, len(rows) - 1))
        elif words and all("=" in word[1:] for word in words):
            rows.append((number, begin, end, dict(word.split("=", 1) for word in words)))
        elif words:
            rejects.append(Reject(number, begin, end, "no words"))
        begin = end
    columns = [row[3] for row in rows]
    pairs = np.array(merged, np.int64).reshape(-1, 2)
    found = Records(
        *(np.array([row[place] for row in rows], np.int64) for place in range(3)),
        merged_line=pairs[:, 0],
        merged_into=pairs[:, 1],
        rejects=rejects,
    )
    found.numbers = {
        name: np.array([float(each.get(name, "nan")) for each in columns], np.float64)
        for name in NUMBERS
        if any(name in each for each in columns)
    }
    found.words = {name: pa.array([each.get(name) for each in columns], pa.large_string()) for name in (*NAMES, *TEXTS)}
    return found
