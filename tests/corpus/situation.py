# SPDX-License-Identifier: BSD-3-Clause
"""A situation of the corpus: a small input as seen somewhere, and what is right to say of it. README tells the form."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from swftools.trace import Trace

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C is ten times as fast; there are hundreds of files."""

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Situation:
    """One file of the corpus. ``jobs`` are in the order of submission; values that are left out are not compared."""

    situation: str
    seen: str
    format: str | None = None
    recognised: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    text: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    name: str = "log"
    jobs: list[dict[str, Any]] | None = None
    quarantined: list[list[Any]] = field(default_factory=list)
    merged: list[list[int]] | None = None
    anomalies: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """A file that expects nothing would pass whatever is read."""
        assert (self.jobs is None) == bool(self.refused), "either jobs or what the refusal says"
        assert (self.text is None) == bool(self.files), "either a text or files"

    def write(self, folder: Path) -> Path:
        """Write the input into a folder; return what a user would name."""
        if self.text is not None:
            (folder / self.name).write_bytes(self.text.encode())
            return folder / self.name
        inside = folder / self.name
        inside.mkdir()
        for name, text in self.files.items():
            (inside / name).write_bytes(text.encode())
        return inside


def situations() -> dict[str, Path]:
    """Return every log of the corpus, by its folder and name; queues at a moment are in ``queue_situation``."""
    found = sorted(FOLDER.glob("*/*.yaml"))
    return {f"{path.parent.name}/{path.stem}": path for path in found if path.parent.name != "queue"}


def load(path: Path) -> Situation:
    """Load a situation; an unknown key is an error."""
    return Situation(**yaml.load(path.read_text(encoding="utf-8"), _LOADER))


def said(trace: Trace, wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what a trace says of its jobs, of each only what is asked for: None where it is missing, names as text."""
    names = trace.names
    known = dict(zip(zip(names["kind"], names["number"], strict=True), names["name"], strict=True))
    columns = [each for name in {name for one in wanted for name in one} for each in (name, f"{name}_id")]
    jobs = trace.jobs.sort_values(["submit_time", "job_number"], kind="stable")
    jobs = jobs[[name for name in jobs if name in columns]].to_dict("records")
    asked = wanted + [wanted[-1] if wanted else {"log_id": None}] * (len(jobs) - len(wanted))
    return [{name: _value(job, name, known) for name in one} for job, one in zip(jobs, asked, strict=False)]


def _value(job: dict[str, Any], name: str, known: dict[Any, Any]) -> Any:
    if name in job:
        value = job[name]
    elif f"{name}_id" in job:
        value = known.get((name, job[f"{name}_id"]))
    else:
        return None  # a column that the log does not have
    if isinstance(value, list | np.ndarray):
        return list(value)
    return None if pd.isna(value) else value
