"""Files that commands write: what would go wrong is found before the work, and an input is never written over."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

WIDTH = 80
"""Columns that sentences and tables fit."""


def check_output(output: str, suffixes: tuple[str, ...], inputs: Iterable[str] = ()) -> None:
    """Refuse the name of a file that cannot be written, or that is one of the inputs.

    Parameters
    ----------
    output : str
        Path of the file; it may be there.
    suffixes : tuple of str
        One of which says the format.
    inputs : iterable of str
        Logs, by name or path.

    Raises
    ------
    click.UsageError
        Names the file and the remedy.
    """
    if not output.lower().endswith(suffixes):
        raise click.UsageError(f"{output}: the suffix says no format; use {', '.join(suffixes)}")
    if Path(output).is_dir():
        raise click.UsageError(f"{output}: is a folder; name a file in it")
    check_folder(output, Path(os.path.realpath(output)).parent)
    for name in inputs:
        if _is_same(name, output):
            raise click.UsageError(f"{output}: is the very file that is read ({name}); choose another name")


def check_folder(output: str, folder: Path | None = None) -> None:
    """Refuse a folder in which no file can be made, that of an output or, by default, the output itself.

    Raises
    ------
    click.UsageError
        Names the folder and the remedy.
    """
    folder = Path(output) if folder is None else folder
    if not folder.is_dir():
        raise click.UsageError(f"{output}: there is no folder {folder}; make it first, or mend the path")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise click.UsageError(f"{output}: folder {folder} may not be written to; choose another")


def _is_same(log: str, output: str) -> bool:
    """Return whether a file is the one that a log is read from."""
    if not Path(output).exists():
        return False
    from pipelines.logs.find import path_of

    path = path_of(log)
    return path is not None and path.exists() and path.samefile(output)
