# SPDX-License-Identifier: BSD-3-Clause
"""Months of a book that are kept on disk but for those that were used last: a first run may have many years of them."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from pathlib import Path

import pandas as pd

MOST_ROWS = 400_000
"""Records that are held in memory; a month of more is held alone."""


class MonthlyFiles(MutableMapping[str, pd.DataFrame]):
    """Months by label.

    Parameters
    ----------
    folder : Path
        Where they are written; made when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, pd.DataFrame] = {}
        self._written: set[str] = set()
        """Those whose file is as they are."""
        self._labels: set[str] = set()

    def __getitem__(self, label: str) -> pd.DataFrame:
        """Return a month, from the disk if need be."""
        if label not in self._labels:
            raise KeyError(label)
        month = self._held.pop(label) if label in self._held else pd.read_pickle(self._path(label))  # noqa: S301 (ours)
        self._hold(label, month)
        return month

    def __setitem__(self, label: str, month: pd.DataFrame) -> None:
        """Let a month be as it is given."""
        self._labels.add(label)
        self._written.discard(label)
        self._held.pop(label, None)
        self._hold(label, month)

    def __delitem__(self, label: str) -> None:
        """Forget a month."""
        self._labels.remove(label)
        self._held.pop(label, None)

    def __iter__(self) -> Iterator[str]:
        """Yield the labels."""
        return iter(sorted(self._labels))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._labels)

    def _hold(self, label: str, month: pd.DataFrame) -> None:
        """Hold a month as the one that was used last, and write those that are too many."""
        self._held[label] = month
        while len(self._held) > 1 and sum(map(len, self._held.values())) > MOST_ROWS:
            oldest = next(iter(self._held))
            if oldest not in self._written:
                self._folder.mkdir(exist_ok=True)
                self._held[oldest].to_pickle(self._path(oldest))
                self._written.add(oldest)
            del self._held[oldest]

    def _path(self, label: str) -> Path:
        return self._folder / f"{label}.pickle"
