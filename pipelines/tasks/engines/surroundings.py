# SPDX-License-Identifier: BSD-3-Clause
"""What a worker on another host must have as the asking process has it: its folder, its settings, its own modules."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.config import setting, work_root
from pipelines.tasks.luigi_settings import apply_defaults
from swftools import __version__
from swftools.errors import ExperimentError

SETTINGS = ("log_path", "catalog", "work_root")
LIBRARIES = ("numba", "numpy", "pandas", "pyarrow", "scipy", "scikit-learn")
"""On these it depends whether results are the same bit for bit."""

_OWN: dict[str, tuple[str, tuple[int, int]]] = {}
"""Modules of the user's own that this process has imported: their files, with length and time at first sight."""


@dataclass(frozen=True)
class Surroundings(AbstractContextManager[None]):
    """What the asking process sees; entered by a worker while it runs a cell.

    Parameters
    ----------
    folder : str
        Where relative paths begin.
    settings : mapping of str to str
        Values of environment variables; empty ones are taken away.
    """

    folder: str
    settings: Mapping[str, str]

    @classmethod
    def here(cls, data_root: str) -> Surroundings:
        """Return those of this process."""
        found = {name: setting(name) for name in SETTINGS}
        if found["log_path"]:
            folders = (Path(part).expanduser().absolute() for part in found["log_path"].split(os.pathsep) if part)
            found["log_path"] = os.pathsep.join(map(str, folders))
        found["catalog"] = str(Path(found["catalog"]).expanduser().absolute()) if found["catalog"] else ""
        found["work_root"] = str(work_root(data_root).absolute())
        return cls(str(Path.cwd()), {f"SWFTOOLS_{name.upper()}": value for name, value in found.items()})

    def __enter__(self) -> None:
        """Let this process see the same."""
        if Path.cwd() != Path(self.folder):
            os.chdir(self.folder)
        if self.folder not in sys.path:
            sys.path.insert(0, self.folder)
        for name, value in self.settings.items():
            os.environ[name] = value
        apply_defaults()
        _check_own(self.folder)

    def __exit__(self, *_: object) -> None:
        """Leave it so: a worker runs what one experiment asks for, and the next one enters its own."""


def _check_own(folder: str) -> None:
    """Raise ExperimentError if a module of the user's own is not what this process imported."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or not file.startswith(f"{folder}{os.sep}") or name.startswith(("swftools", "pipelines")):
            continue
        if "site-packages" in file:
            continue
        status = Path(file).stat()
        stamp = (status.st_size, status.st_mtime_ns)
        if _OWN.setdefault(name, (file, stamp)) != (file, stamp):
            raise ExperimentError(f"{file} was changed since this worker imported it: restart the workers")


@dataclass(frozen=True)
class Sight:
    """What a worker sees.

    Parameters
    ----------
    versions : mapping of str to str
        Of swftools, Python and the libraries on which results depend.
    sees_folder, sees_work : bool
        Whether it sees the folder of the asking process, and a file that that left where cells are put.
    """

    versions: Mapping[str, str]
    sees_folder: bool
    sees_work: bool


def versions() -> dict[str, str]:
    """Return the versions that count."""
    found = {"swftools": __version__, "Python": ".".join(map(str, sys.version_info[:2]))}
    return {**found, **{name: importlib.metadata.version(name) for name in LIBRARIES}}


def look(folder: str, mark: str) -> Sight:
    """Return what this process, a worker, sees."""
    return Sight(versions(), Path(folder).is_dir(), Path(mark).is_file())


@contextmanager
def mark_in(data_root: str) -> Iterator[Path]:
    """Leave a file where cells are put, so that workers can say whether they see it; it is gone afterwards."""
    from pipelines.store.staging import staging  # noqa: PLC0415 (it asks for the name of this host)

    with staging(work_root(data_root).absolute(), "seen") as place:
        mark = place / "seen"
        mark.touch()
        yield mark


def problem_of(sight: Any, worker: str) -> str:
    """Return why a worker cannot run cells and what to do; empty if it can."""
    mine = versions()
    if sight.versions["swftools"] != mine["swftools"]:
        return (
            f"worker {worker} has swftools {sight.versions['swftools']}, here is {mine['swftools']}: install the same"
        )
    if not sight.sees_folder:
        return f"worker {worker} does not see {Path.cwd()}: start from a folder that all hosts share"
    if not sight.sees_work:
        return (
            f"worker {worker} does not see where cells are put: give --data-root, or the setting work_root, on a "
            "folder that all hosts share"
        )
    return ""


def differing_libraries(sight: Any) -> list[str]:
    """Return which libraries a worker has in another version than is here."""
    return [
        f"{name} {sight.versions[name]} (here {version})"
        for name, version in versions().items()
        if sight.versions[name] != version
    ]
