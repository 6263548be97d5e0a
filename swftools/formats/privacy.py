# SPDX-License-Identifier: BSD-3-Clause
"""What may be told of a log's words: of its names, and of anything else of its text."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from swftools.errors import ParameterError
from swftools.parameters.choices import ANONYMISE

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
    for_publication : bool
        Whether what is read is published, so that words which may be secrets are told only where that is asked for.

    Raises
    ------
    ParameterError
        There is no such way, or the key is missing or not wanted.
    """

    anonymise: str = "no"
    key: str | None = None
    for_publication: bool = False

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
