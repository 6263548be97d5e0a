# SPDX-License-Identifier: BSD-3-Clause
"""A mended version of a history whose keys or counts are wrong.

A version is never changed: the mended one is published beside it, with a key for each job and counts that come to the
jobs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pipelines.config import work_root
from pipelines.history.damage import COUNTED, PLACE, damage_in, keys_of
from pipelines.history.ingest import Night
from pipelines.history.lock import one_at_a_time
from pipelines.history.monthly_files import MonthlyFiles
from pipelines.history.publication import publish
from pipelines.history.reevaluation_run import ReevaluationRun
from pipelines.history.settings import privacy_of, settings_of
from pipelines.history.state import HistoryState
from pipelines.store.data_root import DataRoot
from pipelines.store.staging import staging
from swftools.errors import HistoryError
from swftools.history.book import HistoryBook
from swftools.history.keys import KEYS


def mend(root: DataRoot, name: str) -> str | None:
    """Publish a mended version of a history, and return it; None where nothing is wrong with the latest.

    Parameters
    ----------
    root : DataRoot
        Where it is published.
    name : str
        Of the history, whose latest version is mended. ``latest`` moves to the new one.

    Raises
    ------
    HistoryError
        Names are hashed, and the key is not there or another one; or it is no history.
    """
    with one_at_a_time(work_root(root.location) / "inbox", name):
        found = HistoryState.load(root, name)
        if found.version is None or not list(damage_in(found)):
            return None
        settings = settings_of(found.manifest["parameters"], name)
        if found.manifest.get("privacy", {}) != privacy_of(settings):
            raise HistoryError(f"history {name}: its names are hashed; set SWFTOOLS_ANONYMISE_KEY to the key of then")
        mended = [*found.manifest.get("mended", []), found.version]
        state = replace(found, manifest={**found.manifest, "mended": mended})
        with staging(work_root(root.location), "mending", is_private=True) as folder:
            book = state.book(MonthlyFiles(folder / "records"))
            night = Night(state, book, state.provisional(), state.ingested.copy())
            waiting: Any = state.waiting.to_dict("records")
            night.waiting = waiting
            renumbered = _renumber(book, state)
            night.provisional.follow_keys(book, renumbered["submit_time"])
            _recount(night.ingested, renumbered["file_number"], sum(len(book.month(each)) for each in book.labels))
            return publish(ReevaluationRun(settings, night, folder, _nothing), root).version


def _renumber(book: HistoryBook, state: HistoryState) -> pd.DataFrame:
    """Give jobs that share a key, but for the one that came first, a key of their own; return these."""
    keys = keys_of(state).sort_values(list(PLACE), kind="stable")
    again = keys[keys.duplicated(list(KEYS))]
    of_swf = state.ingested.set_index("file_number")["format"].eq("swf")
    is_numbered = again["file_number"].map(of_swf).to_numpy(dtype=bool)
    number, occurrence = (again[name].to_numpy(np.int64, copy=True) for name in KEYS)
    number[~is_numbered] = book.last_number + 1 + np.arange(int((~is_numbered).sum()))
    occurrence[~is_numbered] = 0
    occurrence[is_numbered] = book.next_occurrences(again["job_number"][is_numbered])
    given = again.assign(number=number, occurrence=occurrence)
    moved = [book.month(label).iloc[:0] for label in book.labels[:1]]
    for label, part in given.groupby("month"):
        month = book.month(str(label)).copy()
        # A key and a place: those of one key stood in different lines, or files.
        stands = pd.MultiIndex.from_frame(month[[*KEYS, *PLACE]])
        rows = stands.get_indexer_for(pd.MultiIndex.from_frame(part[[*KEYS, *PLACE]]))
        for name, column in zip(KEYS, ("number", "occurrence"), strict=True):
            month.loc[month.index[rows], name] = part[column].to_numpy()
        moved.append(month.iloc[rows])
        book.put(str(label), month.sort_values(["submit_time", *KEYS], kind="stable", ignore_index=True))
    return pd.concat(moved, ignore_index=True)


def _recount(files: pd.DataFrame, renumbered: pd.Series[Any], jobs: int) -> None:
    """Let what files count as new come to the jobs: those that got a number were counted as merged."""
    missing = jobs - int(files["new"].sum() - files["withdrawn"].sum())
    rows = files.index[files["file_number"].isin(renumbered)].tolist()
    for row in [*rows, *reversed(files.index.tolist())]:
        more = min(max(missing, 0), int(files.loc[row, "merged"]))
        if row in rows:
            more = min(more, int((renumbered == files.loc[row, "file_number"]).sum()))
        files.loc[row, "new"] += more
        files.loc[row, "merged"] -= more
        missing -= more
    last = files.index[-1]
    if missing < 0:
        files.loc[last, "withdrawn"] -= missing
    elif missing:
        files.loc[last, "new"] += missing
    files["records"] = files[list(COUNTED)].sum(axis=1).astype(files["records"].dtype)


def _nothing(_: str) -> None:
    """Say nothing."""
