# SPDX-License-Identifier: BSD-3-Clause
"""A queue of the corpus: what squeue or sacct printed at a moment, and what is right to say of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "queue"


@dataclass(frozen=True)
class QueueSituation:
    """One file of ``queue``; what is left out is empty."""

    situation: str
    seen: str
    text: str
    running: list[list[Any]] = field(default_factory=list)
    waiting: list[list[Any]] = field(default_factory=list)
    held: dict[str, int] = field(default_factory=dict)
    later: dict[str, int] = field(default_factory=dict)
    suspended: int = 0
    others: int = 0
    present: datetime | None = None
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """A file that expects nothing would pass whatever is read."""
        assert bool(self.refused) != bool(self.running or self.waiting), "either jobs or what the refusal says"

    @property
    def seconds(self) -> float | None:
        """The present in s since 1970."""
        return None if self.present is None else self.present.replace(tzinfo=UTC).timestamp()


def queues() -> dict[str, QueueSituation]:
    """Return every queue of the corpus by its name; an unknown key is an error."""
    return {
        path.stem: QueueSituation(**yaml.safe_load(path.read_text(encoding="utf-8")))
        for path in sorted(FOLDER.glob("*.yaml"))
    }
