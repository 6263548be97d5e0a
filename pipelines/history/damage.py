# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a history, as earlier packages left it: two jobs of one key, or counts that are not of its jobs.

Until records version 2 a correction could give a new job the key of another, and count it as one that was known.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from pipelines.history.state import MADE_BY, HistoryState
from pipelines.store.data_root import DataRoot
from swftools.history.keys import KEYS

PLACE = ("file_number", "line_number")
COUNTED = ("new", "merged", "quarantined", "not_ended", "joined")
"""What the records of a file come to."""


def damage_of(root: DataRoot, name: str, version: str) -> list[str]:
    """Return what is wrong with the keys and counts of a version, in words; nothing where it is no history.

    Parameters
    ----------
    root : DataRoot
        Where it is published.
    name, version : str
        Whole names.
    """
    manifest = root.manifest(name, version)
    return list(damage_in(HistoryState(root, name, version, manifest))) if manifest.get("made_by") == MADE_BY else []


def damage_in(state: HistoryState) -> Iterator[str]:
    """Yield what is wrong with a version."""
    keys, files = keys_of(state), state.ingested
    shared = keys[keys.duplicated(list(KEYS), keep=False)]
    if len(shared):
        first = shared.iloc[0]
        yield (
            f"{len(shared):,} jobs share a key (job_number, job_occurrence) with another; the first is "
            f"({first['job_number']}, {first['job_occurrence']}), submitted in {first['month']}"
        )
    counted = int(files["new"].sum() - files["withdrawn"].sum())
    if counted != len(keys):
        yield f"the files count {counted:,} new jobs (new - withdrawn), and there are {len(keys):,}"
    if count := int((files["records"] != files[list(COUNTED)].sum(axis=1)).sum()):
        yield f"records are not {' + '.join(COUNTED)} in {count:,} files"


def keys_of(state: HistoryState) -> pd.DataFrame:
    """Return key, place and month of each record."""
    labels = state.labels("records")
    months = [state.table("records", [label], [*KEYS, *PLACE]).assign(month=label) for label in labels]
    return pd.concat(months, ignore_index=True) if months else state.table("records").assign(month="")
