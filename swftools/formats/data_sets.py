# SPDX-License-Identifier: BSD-3-Clause
"""A published data set as a trace, from its files alone: what is left to whoever has no pipeline, only its data."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swftools.errors import StorageError, UnreadableLogError, VersionNotFoundError
from swftools.formats.parquet import read_parquet
from swftools.header import SwfHeader
from swftools.tables import read_table, to_pandas
from swftools.trace import Trace

LATEST, TAGS, MANIFEST, PART = "latest", ".tags", "manifest.json", "part-0.parquet"
JOBS, NAMES = "jobs", "names"

_MEND = "see what `swftools verify` says of it"


def load(name: str, version: str = LATEST, *, data_root: str | os.PathLike[str] | None = None) -> Trace:
    """Read the jobs of a published data set, with its header, names and machine.

    Parameters
    ----------
    name : str
        Name of the data set: a folder in the data root.
    version : str
        A version's name, or a tag of it; by default the one that `latest` names.
    data_root : str or path, optional
        The directory of the data sets; by default ``SWFTOOLS_DATA_ROOT`` of the environment, else ``data``. Not on S3:
        ``pipelines.store.DataRoot.open("s3://...").read_table(name, "jobs")`` reads there.

    Returns
    -------
    Trace
        ``provenance`` has name and version.

    Raises
    ------
    VersionNotFoundError
        There is no such data set, or no such version; lists those there are.
    UnreadableLogError
        The version has no jobs; names the tables it has.
    StorageError
        Its manifest is damaged.
    SchemaError
        A file is damaged, or an incompatible package wrote it.

    Examples
    --------
    >>> load("KTH-SP2", data_root="nowhere")
    Traceback (most recent call last):
        ...
    swftools.errors.VersionNotFoundError: nowhere: no such directory; give the directory of the data sets as data_root
    """
    root = Path(data_root or os.environ.get("SWFTOOLS_DATA_ROOT") or "data").expanduser()
    if "://" in str(data_root or ""):
        raise VersionNotFoundError(
            f"{data_root}: load reads local directories; there use "
            f"pipelines.store.DataRoot.open({str(data_root)!r}).read_table({name!r}, 'jobs')"
        )
    if not root.is_dir():
        raise VersionNotFoundError(f"{root}: no such directory; give the directory of the data sets as data_root")
    folder = _version_folder(root, name, version)
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        tables = sorted(manifest["tables"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{folder / MANIFEST}: damaged manifest ({error}); {_MEND}") from None
    if JOBS not in tables:
        raise UnreadableLogError(
            f"{folder}: this version has no jobs, but {', '.join(tables)}; pandas.read_parquet reads each by its path"
        )
    return trace_of_version(folder, manifest)


def trace_of_version(folder: Path, manifest: Mapping[str, Any]) -> Trace:
    """Read the jobs of a version as a trace, by its folder and what its manifest says.

    Raises
    ------
    UnreadableLogError, SchemaError
        Files of the jobs are gone or damaged.
    """
    names = {}
    if NAMES in manifest["tables"]:
        names["names"] = to_pandas(read_table(folder / NAMES / PART, NAMES), NAMES)
    return Trace(
        SwfHeader.from_lines(manifest.get("header", ())),
        read_parquet(folder / JOBS).jobs,
        machine_processors=manifest.get("machine_processors"),
        provenance={"name": manifest["data_set"], "version": manifest["version"]},
        **names,
    )


def _version_folder(root: Path, name: str, version: str) -> Path:
    """Return the folder of a version of a data set: one that holds a manifest."""
    data_sets = {path.parent.parent.name for path in root.glob(f"[!.]*/[!.]*/{MANIFEST}")}
    if name not in data_sets:
        raise VersionNotFoundError(f"{root}: no data set {name!r}; there are {', '.join(sorted(data_sets)) or 'none'}")
    versions = {path.parent.name for path in (root / name).glob(f"[!.]*/{MANIFEST}") if not path.parent.is_symlink()}
    pointer = root / name / LATEST if version == LATEST else root / name / TAGS / version
    named = pointer.read_text(errors="replace").strip() if version not in versions and pointer.is_file() else version
    if named not in versions:
        raise VersionNotFoundError(
            f"{root / name}: no version {version!r}; there are {', '.join(sorted(versions)) or 'none'}"
        )
    return root / name / named
