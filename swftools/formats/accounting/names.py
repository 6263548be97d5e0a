# SPDX-License-Identifier: BSD-3-Clause
"""Names in accounting logs: numbers by first appearance, and what is told of them to whom.

Users, groups, executables, queues and partitions become numbers. The names go into a table beside the jobs, as they
are, as keyed hashes, or not at all; ``Privacy`` says which, and whether anything else of the text may be told.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from swftools.formats.accounting.records import NAMES
from swftools.formats.privacy import Privacy
from swftools.kernel import FloatArray
from swftools.tables import empty_frame, frame_of

_INTERACTIVE = "interactive"
_MANY = 16
"""How many times as many names as words there may be for words to be looked up in a table that is made of all names."""


class _Book:
    """The places of the names of one kind, in order of first appearance."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self._names: pa.LargeStringArray = pa.array([], pa.large_string())
        """The first of them, as pyarrow looks them up."""

    def look_up(self, words: pa.LargeStringArray) -> FloatArray:
        """Return the place of each word, NaN for none; words that are new get the next places."""
        if len(self.places) > _MANY * len(words):  # to look up few words, a table of all costs more than it saves
            return self._one_by_one(words)
        later = list(islice(self.places, len(self._names), None))
        self._names = pa.concat_arrays([self._names, pa.array(later, pa.large_string())])
        found = pc.index_in(words, value_set=self._names, skip_nulls=True)
        places: FloatArray = found.cast(pa.float64()).to_numpy(zero_copy_only=False)
        if found.null_count:
            places = places.copy()
            places[np.isnan(places)] = self._one_by_one(words.filter(found.is_null()))
        return places

    def _one_by_one(self, words: pa.LargeStringArray) -> FloatArray:
        """Return the same, word by word."""
        told = words.to_numpy(zero_copy_only=False).tolist()
        for word in told:
            if word is not None and word not in self.places:
                self.places[word] = len(self.places)
        return np.array([np.nan if word is None else self.places[word] for word in told], np.float64)


class NameBook:
    """The numbers of names, by kind, from 1 on in order of first appearance; the queue ``interactive`` is 0."""

    def __init__(self) -> None:
        self._books: dict[str, _Book] = {kind: _Book() for kind in NAMES}

    def numbers(self, kind: str, names: pa.LargeStringArray | pa.DictionaryArray) -> FloatArray:
        """Return the number of each name, NaN where there is none."""
        found = names if pa.types.is_dictionary(names.type) else names.dictionary_encode()
        used = pc.unique(found.indices).drop_null()  # a dictionary may have other words too, and in another order
        of_word = np.full(len(found.dictionary) + 1, np.nan)
        places = self._books[kind].look_up(found.dictionary.take(used))
        of_word[used.to_numpy()] = self._number(kind, places)
        numbered: FloatArray = of_word[found.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        return numbered

    def _number(self, kind: str, places: FloatArray) -> FloatArray:
        """Return the numbers of names by their places."""
        zero = self._books[kind].places.get(_INTERACTIVE, -1) if kind == "queue" else -1
        if zero < 0:
            return places + 1
        return np.where(places == zero, 0.0, places + (places < zero))

    def named(self, kind: str) -> dict[int, str]:
        """Return the names of a kind by number."""
        names = self._books[kind].places
        numbers = self._number(kind, np.arange(len(names), dtype=np.float64)).astype(np.int64).tolist()
        return dict(sorted(zip(numbers, names, strict=True)))

    def table(self, privacy: Privacy) -> pd.DataFrame:
        """Return the table ``names``; empty where names are withheld."""
        kinds: list[str] = []
        numbers: list[int] = []
        names: list[str] = []
        for kind in NAMES if privacy.anonymise != "numbers" else ():
            named = self.named(kind)
            kinds += [kind] * len(named)
            numbers += named
            names += named.values() if privacy.tells_words else [privacy.name(kind, name) for name in named.values()]
        if not kinds:
            return empty_frame("names")
        return frame_of("names", {"kind": kinds, "number": numbers, "name": names})
