# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the pipeline: where data goes, where logs and the catalogue are looked for, and what is said meanwhile.

A setting comes from the environment (``SWFTOOLS_DATA_ROOT`` ...), else from the section ``[swftools]`` of
luigi.cfg, else from the luigi.cfg shipped with the package.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from configparser import ConfigParser
from functools import cache
from importlib.resources import files
from pathlib import Path

from swftools.output.shown_text import shown_lines

LUIGIS_FILES = ("/etc/luigi/client.cfg", "/etc/luigi/luigi.cfg", "client.cfg", "luigi.cfg")
"""Where luigi looks for its configuration, beside what the variables ``LUIGI_CONFIG_...`` name."""


@cache
def _shipped() -> str:
    """Return the text of the luigi.cfg shipped with the package."""
    return (files("pipelines") / "resources" / "luigi.cfg").read_text(encoding="utf-8")


@cache
def shipped_settings() -> ConfigParser:
    """Return the luigi.cfg shipped with the package."""
    shipped = ConfigParser()
    shipped.read_string(_shipped())
    return shipped


def setting(name: str) -> str:
    """Return a setting by its name in the section ``[swftools]``."""
    if value := os.environ.get(f"SWFTOOLS_{name.upper()}"):
        return value
    shipped = shipped_settings().get("swftools", name, fallback="")
    if not _is_configured():
        return shipped
    # Imported late: who only reads data, or asks for help, needs no luigi.
    from luigi.configuration import get_config  # noqa: PLC0415

    return str(get_config().get("swftools", name, shipped))


def _is_configured() -> bool:
    """Whether luigi may know other settings: it is loaded, or a file or variable that it heeds is there.

    In a checkout the file is there as it is shipped.
    """
    if "luigi" in sys.modules or any(name.startswith("LUIGI_CONFIG") for name in os.environ):
        return True
    return any(path.exists() and not _is_as_shipped(path) for path in map(Path, LUIGIS_FILES))


def _is_as_shipped(path: Path) -> bool:
    try:
        return path.read_text(encoding="utf-8") == _shipped()
    except (OSError, ValueError):
        return False


def named_tasks(names: Sequence[str], arguments: Sequence[str]) -> Sequence[str]:
    """Return which tasks a command line of luigi speaks of, by a task's name or ``--NAME-PARAMETER``; if of none, all.

    All of them too where it asks for the help on all.
    """
    found = [name for name in names if any(word == name or word.startswith(f"--{name}-") for word in arguments)]
    return found if set(found) & set(arguments) and "--help-all" not in arguments else names


def work_root(data_root: str) -> Path:
    """Return the local directory in which stages keep their outputs."""
    chosen = setting("work_root")
    if chosen:
        return Path(chosen).expanduser()
    if "://" in data_root:
        return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "swftools"
    return Path(data_root) / ".work"


def log_directories() -> list[Path]:
    """Return the directories in which a card's log is looked for."""
    return [Path(part).expanduser() for part in setting("log_path").split(os.pathsep) if part]


def show_progress(level: int = logging.INFO) -> None:
    """Let what the package says of its progress appear on standard error.

    For commands alone: a program decides about its logging itself.

    Parameters
    ----------
    level : int
        Of ``logging``: INFO says what tasks do, DEBUG every step, WARNING only what is amiss.
    """
    for name in ("pipelines", "swftools.formats"):  # tasks and readers; and what is fetched
        progress = logging.getLogger(name)
        progress.setLevel(level)
        if not any(isinstance(handler, _OnStandardError) for handler in progress.handlers):
            progress.addHandler(_OnStandardError())
            progress.propagate = False


class _OnStandardError(logging.Handler):
    """Writes bare messages to what is standard error at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message."""
        sys.stderr.write(f"{shown_lines(record.getMessage())}\n")
