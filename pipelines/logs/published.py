# SPDX-License-Identifier: BSD-3-Clause
"""A published version as a log: its jobs, with the header and the machine that its manifest tells."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from pipelines.keys import canonical_json
from pipelines.names import LATEST, MANIFEST, is_name
from pipelines.store.parse_manifest import parse_manifest
from pipelines.store.published import MEND
from swftools.errors import StorageError, UnreadableLogError
from swftools.formats.data_sets import trace_of_version
from swftools.header import SwfHeader
from swftools.trace import Trace

JOBS, NAMES = "jobs", "names"


def version_folder(path: Path) -> Path | None:
    """Return the folder of the published version that a path means; None if it means none.

    The path is that of the version, or of its jobs, or of a data set, whose latest version is meant.
    """
    folder = path.parent if path.name == JOBS and path.is_dir() else path
    if (folder / LATEST).is_file():
        latest = (folder / LATEST).read_text(errors="replace").strip()
        folder = folder / latest if is_name(latest) else folder
    return folder if (folder / MANIFEST).is_file() else None


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a version that has jobs, wherever its folder is.

    Raises
    ------
    StorageError
        The manifest is damaged.
    UnreadableLogError
        The version has no jobs.
    """
    try:
        content = (folder / MANIFEST).read_bytes()
        told = from_json(content)
        owner = (told.get("data_set"), told.get("version")) if isinstance(told, dict) else (None, None)
        manifest = parse_manifest(content, *map(str, owner))
        SwfHeader.from_lines(manifest.get("header", ()))
    except (ValueError, TypeError) as error:
        raise StorageError(f"{folder / MANIFEST}: damaged manifest ({error}); {MEND}") from None
    if JOBS not in manifest["tables"]:
        others = ", ".join(sorted(manifest["tables"]))
        raise UnreadableLogError(f"{folder}: this version has no jobs, but {others}; give one that has")
    return manifest


def hash_of_jobs(manifest: dict[str, Any]) -> str:
    """Return a hash of all that a trace has of a version: its jobs and names, the header, the machine."""
    files = {
        name: told["sha256"] for name, told in manifest["files"].items() if name.partition("/")[0] in (JOBS, NAMES)
    }
    inputs = {"files": files, "header": manifest.get("header"), "machine": manifest.get("machine_processors")}
    return hashlib.sha256(canonical_json(inputs).encode()).hexdigest()


def read_version(folder: Path) -> Trace:
    """Read the jobs of a version as a trace.

    Parameters
    ----------
    folder : Path
        With manifest.json and jobs, and names where there are any.

    Raises
    ------
    StorageError
        The manifest is damaged, or there are not the jobs that it tells of.
    UnreadableLogError
        The version has no jobs, or their files are gone.
    SchemaError
        A file is damaged.
    """
    manifest = read_manifest(folder)
    trace = trace_of_version(folder, manifest)
    expected = manifest["tables"][JOBS]["rows"]
    if len(trace) != expected:
        raise StorageError(f"{folder}: there are {len(trace):,} jobs, but its manifest says {expected:,}; {MEND}")
    return trace
