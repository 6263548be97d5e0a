# SPDX-License-Identifier: BSD-3-Clause
"""The text of a job script, and the lines of it that speak to a batch system."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from swftools.errors import JobScriptError, JobScriptNotFoundError
from swftools.job_scripts.given import refused
from swftools.output.shown_text import shown

LARGEST = 4 * 1024 * 1024
"""Bytes of a script that Slurm takes by default (``max_script_size``)."""


class Directive(NamedTuple):
    """What stands behind the prefix of a line, and where."""

    text: str
    where: str


class Source:
    """The text of a job script.

    Parameters
    ----------
    name : str
        What messages call it.
    text : str
        All of it.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name, self.lines = name, text.split("\n")

    def directives(self, prefix: str, *, to_the_end: bool = False) -> Iterator[Directive]:
        """Yield what stands behind a prefix; up to the first command, or in the whole script."""
        for number, line in enumerate(self.lines, 1):
            if line.startswith(prefix):
                yield Directive(line[len(prefix) :], f"{self.name}: line {number}")
            elif not to_the_end and line.strip() and not line.lstrip().startswith("#"):
                return


def read_source(path: str | Path, *, needs_interpreter: bool = True) -> Source:
    """Return the text of a script, if it is one.

    Parameters
    ----------
    path : str or Path
        The script.
    needs_interpreter : bool
        Whether its first line must name one, as ``sbatch`` wants it; ``qsub`` takes the user's shell.

    Raises
    ------
    JobScriptNotFoundError
        There is no such file.
    JobScriptError
        It cannot be read, is empty, too large, names no interpreter where it must, or has line ends of DOS.
    """
    name = shown(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError as error:
        raise JobScriptNotFoundError(f"{name}: there is no such file; name a job script") from error
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise JobScriptError(f"{name}: cannot be read ({shown(said)}); name a job script") from error
    if not data.strip():
        raise refused(name, "the script is empty", "write the job's commands into it")
    if len(data) > LARGEST:
        raise refused(name, "the script is larger than 4 MiB", "put data into files that it reads")
    if needs_interpreter and not data.startswith(b"#!"):
        raise refused(f"{name}: line 1", "names no interpreter", "begin it with #! and a path, such as #!/bin/sh")
    if b"\0" in data:
        raise refused(name, "has a null character, so it is no script", "name a job script")
    if b"\r\n" in data:
        raise refused(f"{name}: line 1", "has line ends of DOS", "convert it, such as by dos2unix")
    return Source(name, data.decode("utf-8", "surrogateescape"))
