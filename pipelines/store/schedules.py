# SPDX-License-Identifier: BSD-3-Clause
"""Schedules that were published, as they were when the simulation ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.names import LATEST
from pipelines.store.names import published_names
from pipelines.store.published import PublishedData
from swftools.simulator.schedule import Schedule
from swftools.tables import to_pandas


def read_schedule(root: PublishedData, data_set: str, version: str = LATEST) -> Schedule:
    """Return a schedule that was published, without the notes of its policy, which are files of the version.

    Parameters
    ----------
    root : PublishedData
        Where it is published.
    data_set, version : str
        Of the task PublishSchedule.

    Raises
    ------
    VersionNotFoundError
        There is no such version.
    StorageError
        It is damaged.
    """
    return schedule_of(root, root.manifest(data_set, version))


def schedule_of(root: PublishedData, manifest: Mapping[str, Any]) -> Schedule:
    """Return the schedule of a version whose manifest is known."""
    jobs, segments, excluded = (
        to_pandas(root.read_described(manifest, name), name) for name in ("schedule", "segments", "excluded")
    )
    run = {**manifest["run"], "assumptions": tuple(manifest["run"]["assumptions"])}
    return Schedule(jobs, segments, excluded, **run, known_names=published_names(root, manifest))
