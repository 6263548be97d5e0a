# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a log that is read whole, put together as they come, in little memory.

A log of millions of jobs comes in hundreds of parts of a dozen columns. Kept as they are they would fill the heap with
small arrays, which stay with the process when they are freed. So parts are put together, in memory that goes back to
the system, and numbers that half the bytes hold exactly take half.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.formats.accounting.dependencies import groups_together, together
from swftools.formats.accounting.ledger import LooseLines, Part
from swftools.kernel import FloatArray, kernel, untouched_zeros

_ROWS = 1 << 16
"""Rows from which parts are put together."""


class Gathered:
    """Parts of a log, in order.

    ``parts`` has them once all have been added and ``close`` was called.
    """

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._waiting: list[Part] = []
        self._rows = 0

    def add(self, part: Part) -> None:
        """Take one more part."""
        self._waiting.append(part)
        self._rows += len(part.line)
        if self._rows >= _ROWS:
            self.close()

    def close(self) -> None:
        """Put together what waits."""
        if self._rows >= _ROWS:
            self.parts.append(_together(self._waiting))
        else:  # a small log, or the end of a large one: nothing is won
            self.parts += self._waiting
        self._waiting, self._rows = [], 0


def _together(parts: list[Part]) -> Part:
    """Return several parts as one; they are emptied."""
    quarantine = [part.quarantine for part in parts if len(part.quarantine)]
    counts = [len(part.line) for part in parts]
    return Part(
        line=_moved([part.line for part in parts]),
        key=_moved([part.key for part in parts]),
        id_key=_moved([part.id_key for part in parts]),
        numbers={name: _numbers(parts, name) for name in _names(parts, "numbers")},
        words={name: _words(parts, name) for name in _names(parts, "words")},
        waits=together([part.waits for part in parts], counts),
        groups=groups_together([part.groups for part in parts], counts),
        is_ambiguous=_moved([part.is_ambiguous for part in parts]),
        quarantine=pd.concat(quarantine, ignore_index=True) if quarantine else parts[0].quarantine,
        merged_line=_moved([part.merged_line for part in parts]),
        merged_into=_moved([part.merged_into for part in parts]),
        loose=LooseLines.together([part.loose for part in parts]),
    )


def _names(parts: list[Part], kind: str) -> list[str]:
    """Return the columns that any part has."""
    return list(dict.fromkeys(name for part in parts for name in getattr(part, kind)))


def _moved(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return arrays as one, in memory of its own; where all are 0, in none."""
    if all(each.strides == (0,) and len(each) and not each[0] for each in arrays):
        return np.broadcast_to(arrays[0][0], sum(map(len, arrays)))
    whole = untouched_zeros(sum(map(len, arrays)), arrays[0].dtype)
    np.concatenate(arrays, out=whole)
    return whole


def _numbers(parts: list[Part], name: str) -> FloatArray:
    """Return one column; in half the bytes where these hold each value."""
    values = [part.numbers.pop(name, None) for part in parts]
    filled = [
        np.full(len(part.line), np.nan) if each is None else np.ascontiguousarray(each, np.float64)
        for part, each in zip(parts, values, strict=True)
    ]
    ends = np.cumsum([len(each) for each in filled])
    half = untouched_zeros(int(ends[-1]), np.float32)
    if all(halve(each, half[end - len(each) : end]) for each, end in zip(filled, ends, strict=True)):
        return half
    return _moved(filled)


@kernel(allocates=False)
def halve(values: FloatArray, half: npt.NDArray[np.float32]) -> bool:
    """Write values in half the bytes; return whether these hold each, and stop at the first that they do not."""
    for row in range(len(values)):
        half[row] = values[row]
        if half[row] != values[row] and not np.isnan(values[row]):
            return False
    return True


def _words(parts: list[Part], name: str) -> pa.LargeStringArray:
    """Return one column of texts."""
    texts = [part.words.pop(name, None) for part in parts]
    return pa.concat_arrays(
        [
            pa.nulls(len(part.line), pa.large_string()) if each is None else each.cast(pa.large_string())
            for part, each in zip(parts, texts, strict=True)
        ]
    )
