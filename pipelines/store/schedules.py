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
    known = published_names(root, manifest)
    return Schedule(jobs, segments, excluded, **run_of(manifest["run"]), known_names=known)


def run_of(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a schedule has of its run beside its tables, from what is kept of it as JSON.

    Raises
    ------
    ParameterError
        It ran on nodes, and what is kept describes no machine.
    """
    run = {**told, "assumptions": tuple(told["assumptions"])}
    if "machine" in run:
        from swftools.machines.description import MachineDescription  # noqa: PLC0415 (imports pydantic)

        run["machine"] = MachineDescription.from_mapping(run["machine"]).table()
    return run
