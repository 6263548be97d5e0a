# SPDX-License-Identifier: BSD-3-Clause
"""Predictions of waits, month by month: what is known at the end of a month is kept, and goes on into the next.

A month whose jobs changed is replayed from what was known before it, and so are those behind it. So what is published
depends on the jobs alone, not on the nights in which they came, and a night costs the months that it touches.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from pipelines.history.months import Making
from pipelines.history.settings import Settings
from pipelines.history.state import HistoryState
from pipelines.keys import content_key, schema_of
from pipelines.store.parts import Shared
from pipelines.tasks.own_code import hash_of_module
from pipelines.tasks.replay_predictor import ReplayOptionsParameter, ReplayPredictor, groups_of
from swftools.errors import StateError, StorageError
from swftools.fields.dictionary import COMMON_VERSION
from swftools.qbets.log_columns import METHOD as TOLD
from swftools.qbets.log_columns import logged_estimates
from swftools.qbets.methods import find_method
from swftools.qbets.predictor import WaitPredictor
from swftools.tables import QUICK_OPTIONS, read_table, to_arrow, write_table
from swftools.trace import Trace

progress = logging.getLogger("pipelines")

KEPT_STATES = 3
"""Months at whose end the state is kept: what comes for older ones is replayed from the beginning."""


@dataclass
class WaitPredictions:
    """Predictions of one method.

    Parameters
    ----------
    method : str
        Its name, with parameters.
    key : str
        Content key of what determines predictions beside jobs.
    parts : dict of str to callable or Shared
        What returns the predictions of each month.
    states : dict of str to Path or Shared
        What was known at the end of the last months, by month.
    """

    method: str
    key: str
    parts: dict[str, Callable[[], pa.Table] | Shared] = field(default_factory=dict)
    states: dict[str, Path | Shared] = field(default_factory=dict)


def name_of_method(method: str) -> str:
    """Return a method as a part of names of files."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", method)


def part_of(method: str, month: str) -> str:
    """Return the label of the part with the predictions of a method for a month."""
    return f"{name_of_method(method)}.{month}"


def state_file(method: str, month: str) -> str:
    """Return the published name of what a method knew at the end of a month."""
    return f"wait-state.{name_of_method(method)}.{month}"


def replay_months(
    settings: Settings,
    state: HistoryState,
    making: Making,
    months: Mapping[str, Callable[[], Trace]],
    is_changed: Callable[[str], bool],
    folder: Path,
    tell: Callable[[str], None],
    done: Callable[[int, int], None],
) -> list[WaitPredictions]:
    """Replay what has to be, by each method.

    Parameters
    ----------
    settings : Settings
        Which methods.
    state : HistoryState
        What there is.
    making : Making
        How jobs are made.
    months : mapping of str to callable
        What returns the cleaned jobs of each month, in order.
    is_changed : callable
        Whether the jobs of a month are not those of the last version.
    folder : Path
        Where states are written.
    tell : callable
        Takes what is done.
    done : callable
        Takes how many of how many months are.
    """
    found: list[WaitPredictions] = []
    for method in settings.waits.methods:
        waits = WaitPredictions(method, waits_key(settings, making, method))
        old = state.manifest.get("waits", {}).get(method, {})
        is_same = old.get("key") == waits.key
        labels = list(months)
        first = next((place for place, label in enumerate(labels) if not is_same or is_changed(label)), len(labels))
        kept = set(old.get("states", ())) if is_same else set()
        behind, predictor = first, None
        replay: Callable[[Trace], pd.DataFrame] = partial(logged_estimates, by=_by(settings), may_lack_waits=True)
        if first < len(labels) and method != TOLD:
            usable = [label for label in labels[:first] if label in kept]
            known, predictor = _known_before(settings, state, method, usable, folder)
            behind = labels.index(usable[known - 1]) + 1 if known else 0
            replay = partial(predictor.replay, may_lack_waits=True)
        for label in labels[:behind]:
            waits.parts[label] = Shared(str(state.version))
            if label in kept:
                waits.states[label] = Shared(str(state.version))
        for label in labels[behind:]:
            tell(f"{method} {label}")
            table = replay(months[label]())
            path = folder / f"{part_of(method, label)}.parquet"
            with path.open("xb") as file:  # on its way: it need not be on disk
                write_table(to_arrow(table, "wait_predictions"), file, "wait_predictions", QUICK_OPTIONS)
            waits.parts[label] = partial(read_table, path, "wait_predictions")
            if predictor is not None and label in labels[-KEPT_STATES:]:
                path = folder / state_file(method, label)
                predictor.save(path, with_names=False)  # they stand in the manifest
                waits.states[label] = path
            done(len(found) * len(labels) + labels.index(label) + 1, len(settings.waits.methods) * len(labels))
        waits.states = {label: waits.states[label] for label in labels[-KEPT_STATES:] if label in waits.states}
        found.append(waits)
    return found


def waits_key(settings: Settings, making: Making, method: str) -> str:
    """Return the content key of what determines predictions by a method beside jobs."""
    inputs: dict[str, Any] = {
        "jobs": making.key,
        "method": method,
        "own_method": None if method == TOLD else hash_of_module(type(find_method(method)).__module__),
        "by": settings.waits.by,
        "options": options_of(settings),
    }
    if (schema := schema_of(["wait_predictions"])) != COMMON_VERSION:
        inputs["schema_version"] = schema
    return content_key("waits", ReplayPredictor.code_version, inputs)


def _by(settings: Settings) -> str | None:
    """Return what jobs are grouped by, as ``logged_estimates`` takes it."""
    return None if settings.waits.by == "all" else settings.waits.by


def options_of(settings: Settings) -> dict[str, Any]:
    """Return every parameter of the replay."""
    options: dict[str, Any] = json.loads(ReplayOptionsParameter().normalize(settings.waits.options))
    return options


def _known_before(
    settings: Settings, state: HistoryState, method: str, kept: list[str], folder: Path
) -> tuple[int, WaitPredictor]:
    """Return a predictor with what was known at the end of the last of some months, and how many of them it knows.

    A state that is damaged is skipped: the one before it serves as well, and so does none at all, which only
    takes longer.
    """
    by = groups_of(settings.waits.by)
    for place in range(len(kept), 0, -1):
        name = state_file(method, kept[place - 1])
        path = folder / f"before.{name}"
        try:
            path.write_bytes(state.root.storage.read(f"{state.name}/{state.version}/{name}"))
            return place, WaitPredictor.load(path)
        except (StateError, StorageError) as error:
            progress.warning("warning: %s; an earlier state is taken instead", error)
    return 0, WaitPredictor(method, by, **options_of(settings))
