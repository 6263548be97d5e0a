# SPDX-License-Identifier: BSD-3-Clause
"""What commands give: JSON on standard output, and files, where what would go wrong is found before the work."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from math import isnan
from pathlib import Path
from typing import Any

import click

from pipelines.cli.options import Command
from swftools.output.amounts import duration
from swftools.output.shown_text import shown_in_json

PICTURES = (".svg", ".png", ".pdf")

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document; docs/console.md tells its keys."
)


def draws(what: str) -> Callable[[Command], Command]:
    """Return what adds the option for the path of a picture; ``check_picture`` tells whether it can be drawn."""
    text = f"Draw {what} into this file: {', '.join(PICTURES)}."
    return click.option("-o", "--output", "--picture", "picture", metavar="FILE", help=text)


def print_json(found: Any) -> None:
    """Print what was found as one JSON document: numbers as they are, null for what is not known."""
    click.echo(in_json(found))


def in_json(found: Any) -> str:
    """Return what was found as ``print_json`` prints it."""
    return shown_in_json(json.dumps(_plain(found), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; NaN, NA and infinity are null."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "item"):  # of numpy
        value = value.item()
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if value is None or isinstance(value, bool | int | str):
        return value
    missing = repr(value) in ("<NA>", "NaT")
    return None if missing else str(value)


def figure_line(title: str, value: float, unit: str) -> str:
    """Return the line of a measure, a time in a unit that people use; NaN is none.

    Examples
    --------
    >>> figure_line("wait_mean", 53_135.5, "s")
    '  wait_mean                                        14.8 h'
    """
    if isnan(value):
        figure, behind = "none", ""
    elif unit == "s":
        figure, behind = duration(value).split(" ")
    else:
        figure = f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
        behind = "" if unit == "1" else unit
    return f"  {title:<36} {figure:>16} {behind}".rstrip()


def check_picture(output: str, inputs: Iterable[str] = ()) -> None:
    """Refuse the name of a picture that cannot be drawn: see ``check_output``.

    Raises
    ------
    MissingLibraryError
        matplotlib is not installed.
    """
    check_output(output, PICTURES, inputs)
    from swftools.output.figure import new_figure

    new_figure(1, 1)


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
        raise click.UsageError(f"{output}: the suffix names no format; use {', '.join(suffixes)}")
    if Path(output).is_dir():
        raise click.UsageError(f"{output}: is a folder; name a file in it")
    check_folder(output, Path(os.path.realpath(output)).parent)
    for name in inputs:
        if _is_same(name, output):
            raise click.UsageError(f"{output}: is the file that is being read ({name}); choose another name")


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
        raise click.UsageError(f"{output}: folder {folder} is not writable; choose another")


def check_folder_of_tables(output: str) -> None:
    """Refuse what no folder of tables can be made of, or written into; it may not be there yet.

    Raises
    ------
    click.UsageError
        Names the folder and the remedy.
    """
    if Path(output).exists() and not Path(output).is_dir():
        raise click.UsageError(f"{output}: is a file; name a folder, for a file of each table")
    check_folder(output, Path(output).resolve().parent)


def _is_same(log: str, output: str) -> bool:
    """Return whether a file is the one that a log is read from."""
    if not Path(output).exists():
        return False
    from pipelines.logs.find import path_of
    from swftools.formats.place import file_of

    path = path_of(log)
    path = None if path is None else file_of(path)
    return path is not None and path.exists() and path.samefile(output)
