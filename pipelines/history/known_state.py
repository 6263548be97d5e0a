# SPDX-License-Identifier: BSD-3-Clause
"""The state that a history keeps of a wait predictor, for questions that are to be answered at once.

A local data root is read without the store, whose libraries take longer to load than the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pipelines.names import LATEST, MANIFEST, check_name
from swftools.errors import ParameterError, StateNotFoundError, StorageError
from swftools.header import SwfHeader
from swftools.named import Known


def find_state(data_root: str, history: str, method: str | None = None) -> tuple[Path, Known]:
    """Return the file with what a method knows at the end of a history, and the names behind numbers.

    Parameters
    ----------
    data_root : str
        A local directory, or one on S3, whose file is fetched.
    history : str
        Name of the history.
    method : str, optional
        Of those that are followed; the first by default.

    Returns
    -------
    path : Path
        The state.
    names : mapping
        By kind (queue, partition) and number, of the logs or their header; empty where they have numbers only.

    Raises
    ------
    StateNotFoundError
        There is no such history, or it follows no predictor.
    ParameterError
        It follows others.
    """
    check_name(history, "history")
    where = f"{data_root}/{history}"
    if "://" in data_root:
        return _fetched(data_root, history, method)
    top = Path(data_root).expanduser() / history
    try:
        version = (top / LATEST).read_text(encoding="utf-8").strip()
        manifest = json.loads((top / check_name(version, "version") / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise StateNotFoundError(f"{where}: there is no such history; make it by swftools reevaluate") from None
    except (OSError, ValueError) as error:
        raise StorageError(f"{where}: cannot be read: {error}; restore it from a copy") from error
    return top / version / _state_in(manifest, where, method), _names_in(manifest)


def only_history(data_root: str) -> str:
    """Return the name of the history that follows a predictor of waits, where there is only one.

    Raises
    ------
    StateNotFoundError
        There is none.
    ParameterError
        There are several, which are named; or it is not known, as the data root is on S3.
    """
    if "://" in data_root:
        raise ParameterError(f"{data_root}: say which history, by --history NAME")
    found = []
    for pointer in sorted(Path(data_root).expanduser().glob(f"[!.]*/{LATEST}")):
        with suppress(OSError, ValueError):
            version = pointer.parent / pointer.read_text(encoding="utf-8").strip()
            if isinstance(json.loads((version / MANIFEST).read_bytes()).get("waits"), dict):
                found.append(pointer.parent.name)
    if not found:
        raise StateNotFoundError(
            f"{data_root}: no history follows a predictor of waits; make one by swftools reevaluate, or give --state"
        )
    if len(found) > 1:
        raise ParameterError(f"{data_root}: there are several histories; say which, by --history: {', '.join(found)}")
    return found[0]


def _state_in(manifest: Mapping[str, Any], where: str, method: str | None) -> str:
    """Return the name of the file with the newest state of a method."""
    followed = manifest.get("waits")
    if not isinstance(followed, dict) or not followed:
        raise StateNotFoundError(f"{where}: no predictor of waits is followed there; name some under waits: methods:")
    chosen = method or next(iter(manifest["parameters"]["waits"]["methods"]))
    if chosen not in followed:
        raise ParameterError(f"{where}: no predictor {method!r} is followed there; there are: {', '.join(followed)}")
    states: list[str] = followed[chosen]["states"]
    return check_name(str(followed[chosen]["files"][max(states)]), f"{where}: file of a state")


def _names_in(manifest: Mapping[str, Any]) -> Known:
    """Return the names behind numbers that a manifest has: those of the logs, else those of the header."""
    header = SwfHeader.from_lines(manifest.get("header", []))
    known = {"queue": dict(header.queues), "partition": dict(header.partitions)}
    for kind, numbers in manifest.get("names", {}).items():
        known.setdefault(kind, {}).update((number, name) for name, number in numbers.items())
    return {kind: names for kind, names in known.items() if names}


def _fetched(data_root: str, history: str, method: str | None) -> tuple[Path, Known]:
    """Fetch a state from S3 into the work root."""
    from pipelines.config import work_root  # noqa: PLC0415 (who asks a local history needs none of these)
    from pipelines.store.data_root import DataRoot  # noqa: PLC0415
    from swftools.output.whole_files import create_file  # noqa: PLC0415

    root = DataRoot.open(data_root)
    version = root.latest(history)
    if version is None:
        raise StateNotFoundError(f"{data_root}/{history}: there is no such history; make it by swftools reevaluate")
    manifest = root.manifest(history, version)
    name = _state_in(manifest, f"{data_root}/{history}", method)
    path = work_root(data_root) / "states" / f"{history}.{version}.{name}"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with create_file(path) as file:
            file.write(root.storage.read(f"{history}/{version}/{name}"))
    return path, _names_in(manifest)
