# SPDX-License-Identifier: BSD-3-Clause
"""Names in accounting logs: numbers by first appearance, and what is told of them to whom.

Users, groups, executables, queues and partitions become numbers. The names go into a table beside the jobs, as they
are, as keyed hashes, or not at all; ``Privacy`` says which, and whether anything else of the text may be told.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from swftools.errors import ParameterError
from swftools.formats.accounting.records import NAMES
from swftools.kernel import FloatArray
from swftools.parameters.choices import ANONYMISE
from swftools.tables import empty_frame, frame_of

_INTERACTIVE = "interactive"
_HEX_DIGITS = 16


@dataclass(frozen=True)
class Privacy:
    """What may be told of a log's words.

    Parameters
    ----------
    anonymise : str
        One of ``ANONYMISE``.
    key : str, optional
        The secret of the keyed hashes (HMAC with SHA-256), required for these. It is written nowhere.

    Raises
    ------
    ParameterError
        There is no such way, or the key is missing or not wanted.
    """

    anonymise: str = "no"
    key: str | None = None

    def __post_init__(self) -> None:
        if self.anonymise not in ANONYMISE:
            raise ParameterError(f"anonymise={self.anonymise!r} is not one of {', '.join(ANONYMISE)}")
        if (self.anonymise == "hash") != bool(self.key):
            raise ParameterError("anonymise='hash' takes a secret key, and nothing else does")

    @property
    def tells_words(self) -> bool:
        """Whether words of the log may be told: ids, texts of lines, states, what a job waited for."""
        return self.anonymise == "no"

    def name(self, kind: str, name: str) -> str:
        """Return a name as it may be told."""
        if self.anonymise == "no":
            return name
        digest = hmac.new((self.key or "").encode(), f"{kind}\0{name}".encode("utf-8", "surrogatepass"), hashlib.sha256)
        return digest.hexdigest()[:_HEX_DIGITS]


class NameBook:
    """The numbers of names, by kind, from 1 on in order of first appearance; the queue ``interactive`` is 0."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {kind: {} for kind in NAMES}

    def numbers(self, kind: str, names: pa.LargeStringArray) -> FloatArray:
        """Return the number of each name, NaN where there is none."""
        found = names.dictionary_encode()
        book = self._numbers[kind]
        words = found.dictionary.to_numpy(zero_copy_only=False).tolist()
        for name in words:
            if name not in book:
                is_interactive = kind == "queue" and name == _INTERACTIVE
                book[name] = 0 if is_interactive else 1 + len(book) - (kind == "queue" and _INTERACTIVE in book)
        of_word = np.array([*map(book.__getitem__, words), np.nan], np.float64)
        numbered: FloatArray = of_word[found.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        return numbered

    def named(self, kind: str) -> dict[int, str]:
        """Return the names of a kind by number."""
        book = self._numbers[kind]
        if _INTERACTIVE in book:  # which is 0 wherever it came
            return {book[name]: name for name in sorted(book, key=book.__getitem__)}
        return {number: name for name, number in book.items()}

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
