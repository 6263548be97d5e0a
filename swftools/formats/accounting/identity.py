# SPDX-License-Identifier: BSD-3-Clause
"""What tells a record from all others: hashes of its id, of what counts of it, or of all that it says.

Records of one id that say the same are one. A row without an id is a job of its own, told by its line; in a log of
several files, which may overlap, by all that it says and by how many equal ones of its file stand before it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.formats.accounting.records import Records, plain_words
from swftools.kernel import IntArray, kernel

_KEY = ("submit", "start", "end", "status", "allocated_processors")


def record_keys(records: Records, *, are_several: bool) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return ``key`` and ``id_key`` of each record, as in ``Part``; ``are_several``: the log has several files."""
    key = _hashes(records.words.get("log_id"), len(records))
    id_key = _in_scope(key, records.scope)
    for name in _KEY:
        values = records.number(name)
        key = _mixed(key, np.where(np.isnan(values), -1.0, values).view(np.uint64))
    if len(is_row := np.flatnonzero(id_key == 0)):
        own = _row_keys(records) if are_several else _mixed(np.zeros_like(key), records.line.astype(np.uint64))
        key[is_row] = own[is_row]
    return key, id_key


def id_keys(ids: pa.LargeStringArray | None, scope: pa.LargeStringArray | None, rows: int) -> npt.NDArray[np.uint64]:
    """Return hashes of ids, 0 where there is none, with what they are ids in; without it where that is not told."""
    return _in_scope(_hashes(ids, rows), scope)


def told_apart(
    key: npt.NDArray[np.uint64], id_key: npt.NDArray[np.uint64], line: IntArray, begins: list[int]
) -> npt.NDArray[np.uint64]:
    """Return keys of the records of several files in which equal rows without an id differ by their place in a file.

    Parameters
    ----------
    key, id_key : ndarray of uint64
        As in ``Part``.
    line : ndarray of int64
        Of each record.
    begins : list of int
        The line at which each file begins.
    """
    rows = np.flatnonzero(id_key == 0)
    if not len(rows):
        return key
    file = np.searchsorted(np.array(begins), line[rows], side="right")
    same = pd.DataFrame({"file": file, "key": key[rows]})
    again = same.groupby(["file", "key"], sort=False).cumcount().to_numpy()
    found = key.copy()
    found[rows] = _mixed(key[rows], again.astype(np.uint64))
    return found


def _row_keys(records: Records) -> npt.NDArray[np.uint64]:
    """Return a hash of all that each record says."""
    key = np.zeros(len(records), np.uint64)
    for name in sorted(records.numbers):
        values = records.numbers[name]
        # What is missing does not count, since another file may lack the column.
        key += np.where(
            np.isnan(values), np.uint64(0), _mixed(values.astype(np.float64).view(np.uint64), _seed(name, len(key)))
        )
    for name in sorted(records.words):
        words = _hashes(plain_words(records.words[name]), len(records))
        key += np.where(words == 0, np.uint64(0), _mixed(words, _seed(name, len(key))))
    return key


def _seed(name: str, rows: int) -> npt.NDArray[np.uint64]:
    """Return a hash of the name of a column, for each row."""
    return np.repeat(_hashes(pa.array([name], pa.large_string()), 1), rows)


def _in_scope(key: npt.NDArray[np.uint64], scope: pa.LargeStringArray | None) -> npt.NDArray[np.uint64]:
    """Return hashes of ids together with what they are ids in; as they are where that is not told."""
    if scope is None or scope.null_count == len(scope):
        return key
    return _mixed(key, _hashes(scope, len(scope)))


def _hashes(words: pa.LargeStringArray | None, rows: int) -> npt.NDArray[np.uint64]:
    """Return a hash of each text, 0 where there is none."""
    hashes = np.zeros(rows, np.uint64)
    if words is not None and rows:
        words = words if words.type == pa.large_string() else words.cast(pa.large_string())
        _, offsets, letters = words.buffers()
        places = np.frombuffer(offsets, np.int64)[words.offset : words.offset + rows + 1]
        _fill_hashes(np.frombuffer(letters or b"", np.uint8), places, hashes)
    return hashes


@kernel(allocates=False)
def _fill_hashes(letters: npt.NDArray[np.uint8], offsets: IntArray, hashes: npt.NDArray[np.uint64]) -> None:
    """Hash each text by FNV-1a."""
    for row in range(len(hashes)):
        if offsets[row] == offsets[row + 1]:
            continue
        value = np.uint64(14695981039346656037)
        for at in range(offsets[row], offsets[row + 1]):
            value = (value ^ np.uint64(letters[at])) * np.uint64(1099511628211)
        hashes[row] = value


def _mixed(key: npt.NDArray[np.uint64], bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return hashes of keys and further bits (the finalizer of SplitMix64, Steele et al. 2014)."""
    mixed = key * np.uint64(0x9E3779B97F4A7C15) + bits
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
