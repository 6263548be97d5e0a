# SPDX-License-Identifier: BSD-3-Clause
"""What the records of an accounting log name as what they waited for: ids, or all earlier jobs of their name.

A reader writes it as one text a record, ``Records.words["preceding"]``: ids with blanks between them, all of which must
end before. Before an id there may be marks: ``|``, it is one of several of which the first to end is enough; then ``=``
or ``!``, only if it ended well, or did not. The word ``*`` stands for all earlier jobs of the same ``namesake``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from swftools.formats.accounting.identity import id_keys
from swftools.formats.accounting.records import Records, plain_words
from swftools.kernel import BoolArray, IntArray, TinyArray

KeyArray = npt.NDArray[np.uint64]

ALTERNATIVE, WELL, BADLY, NAMESAKES = 1, 2, 4, 8
"""Marks of what is waited for, which add up."""

GROUPS = ("array", "namesake")
"""What several records have in common, as a text each: the id of their array; who they are one after the other."""


class Dependencies(NamedTuple):
    """An element for each record and id that it waits for, in order of records.

    ``row`` is the record, ``key`` the hash of the id, 0 for namesakes, ``mark`` the marks before it.
    """

    row: IntArray
    key: KeyArray
    mark: TinyArray

    def of(self, kept: BoolArray) -> Dependencies:
        """Return what is waited for by some records, which are numbered anew."""
        is_kept = kept[self.row]
        place = np.cumsum(kept) - 1
        return Dependencies(place[self.row[is_kept]], self.key[is_kept], self.mark[is_kept])


def read_waits(records: Records) -> Dependencies | None:
    """Return what records wait for; None where their log does not say it."""
    words = records.words.get("preceding")
    if words is None:
        return None
    if words.null_count == len(words):
        return Dependencies(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.int8))
    rows = np.flatnonzero(np.asarray(words.is_valid()))
    lists = pc.utf8_split_whitespace(plain_words(words).drop_null())
    lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    row = rows[np.asarray(pc.list_parent_indices(lists), np.int64)]
    each = pc.list_flatten(lists).cast(pa.large_string())
    mark = np.zeros(len(each), np.int8)
    if pc.any(pc.match_substring_regex(each, r"^[|=!*]")).as_py():
        for sign, value in (("|", ALTERNATIVE), ("=", WELL), ("!", BADLY), ("*", NAMESAKES)):
            mark += np.int8(value) * np.asarray(pc.match_substring_regex(each, rf"^[|=!]*[{sign}]")).astype(np.int8)
        each = pc.utf8_ltrim(each, "|=!*")
    scope = None if records.scope is None else records.scope.take(pa.array(row))
    key = id_keys(each, scope, len(each))
    key[(mark & NAMESAKES) > 0] = 0
    is_one = np.asarray(pc.greater(pc.utf8_length(each), 0)) | (key == 0) & ((mark & NAMESAKES) > 0)
    return Dependencies(row[is_one], key[is_one], mark[is_one])


def group_keys(records: Records) -> dict[str, KeyArray]:
    """Return hashes of what records have in common, of each kind that there is; 0 for those that have not."""
    found = {}
    for name in GROUPS:
        words = records.words.get(name)
        if words is not None and words.null_count < len(words):
            key = id_keys(words, None, len(words))
            found[name] = np.where(key == 0, key, id_keys(words, records.scope, len(words)))
    return found


def together(waits: Sequence[Dependencies | None], counts: Sequence[int]) -> Dependencies | None:
    """Return what the records of several parts wait for, which have so many; None where the log does not say it."""
    begins = np.cumsum([0, *counts])
    there = [(each, begin) for each, begin in zip(waits, begins, strict=False) if each is not None]
    if not there:
        return None
    return Dependencies(
        np.concatenate([each.row + begin for each, begin in there]),
        np.concatenate([each.key for each, _ in there]),
        np.concatenate([each.mark for each, _ in there]),
    )


def groups_together(groups: Sequence[dict[str, KeyArray]], counts: Sequence[int]) -> dict[str, KeyArray]:
    """Return what the records of several parts have in common."""
    names = [name for name in GROUPS if any(name in each for each in groups)]
    return {
        name: np.concatenate(
            [each.get(name, np.zeros(count, np.uint64)) for each, count in zip(groups, counts, strict=True)]
        )
        for name in names
    }


def spread(first: npt.NDArray[np.integer], last: npt.NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """Return all places from each first one to before each last one, and whose each is."""
    counts = last - first
    owner = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return first[owner] + within, owner
