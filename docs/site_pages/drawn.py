# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the gallery of pictures, drawn from the shipped excerpt of a log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from pipelines.logs import load_log
from swftools import measure, simulate
from swftools.cleaning import CleaningReport
from swftools.plots import list_pictures, plot_and_tell
from swftools.simulator import Schedule
from swftools.trace import Trace

_KINDS = (Trace, Schedule, CleaningReport, pd.DataFrame)
EXCERPT = "SDSC-BLUE-2000-4.2-cln-5000-9999"
POLICIES = ("easy", "fcfs")
OF_MEASURES = ("policies", "differences")


def file_of(kind: str, name: str) -> str:
    """Return the name of the file of a picture of a kind of thing."""
    return f"{kind.lower()}-{name}.png"


def drawn(kind: str, name: str) -> bool:
    """Return whether the excerpt gives what a picture is drawn from."""
    return kind != "DataFrame" or name in OF_MEASURES


def draw(folder: Path) -> None:
    """Draw every picture that the excerpt gives into a folder; one that is there already stays."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [(kind, name) for kind in _KINDS for name in list_pictures(kind) if drawn(kind.__name__, name)]
    if all((folder / file_of(kind.__name__, name)).exists() for kind, name in names):
        return
    for kind, subject in _subjects():
        for name in list_pictures(kind):
            path = folder / file_of(kind.__name__, name)
            if drawn(kind.__name__, name) and not path.exists():
                axes, _ = plot_and_tell(subject, name)
                figure: Any = axes.figure
                figure.savefig(path, dpi=75)


def _subjects() -> Iterator[tuple[type, Any]]:
    """Yield what is drawn, by its kind."""
    loaded = load_log(EXCERPT)
    schedules = [simulate(loaded.trace, policy) for policy in POLICIES]
    yield type(loaded.trace), loaded.trace
    yield type(schedules[0]), schedules[0]
    yield type(loaded.report), loaded.report
    yield pd.DataFrame, pd.concat([measure(each) for each in schedules], ignore_index=True)
