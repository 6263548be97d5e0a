"""Settings of the pipeline: where data goes, where logs are looked for, and luigi's own defaults.

A setting comes from the environment (``SWFTOOLS_DATA_ROOT`` ...), else from the section ``[swftools]`` of
luigi.cfg, else from the luigi.cfg shipped with the package.
"""

from __future__ import annotations

import logging
import os
import sys
from configparser import ConfigParser
from pathlib import Path

import luigi
from luigi.configuration import get_config

from pipelines.catalog.cards import RESOURCES
from swftools.errors import SwfToolsError


def setting(name: str) -> str:
    """Return a setting by its name in the section ``[swftools]``."""
    return os.environ.get(f"SWFTOOLS_{name.upper()}") or str(get_config().get("swftools", name, ""))


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


def apply_defaults() -> None:
    """Give luigi the shipped settings wherever no configuration sets them, and let our errors speak plainly."""
    shipped = ConfigParser()
    shipped.read_string(RESOURCES.joinpath("luigi.cfg").read_text(encoding="utf-8"))
    config = get_config()
    for section in shipped.sections():
        for option, value in shipped.items(section):
            if not config.has_option(section, option):
                config.set(section, option, value)
    luigi_log = logging.getLogger("luigi-interface")
    if not any(isinstance(item, _PlainErrors) for item in luigi_log.filters):
        luigi_log.addFilter(_PlainErrors())
    progress = logging.getLogger("pipelines")
    if not progress.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        progress.addHandler(handler)
        progress.setLevel(logging.INFO)
        progress.propagate = False


class _PlainErrors(logging.Filter):
    """Replaces the traceback of an error that a user can mend by its message.

    luigi logs a failed task with the exception, but a task that cannot be scheduled with a formatted traceback
    in the text.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        message = str(error) if isinstance(error, SwfToolsError | luigi.parameter.ParameterException) else None
        _, found, text = record.getMessage().rpartition(f"\n{SwfToolsError.__module__}.")
        if found:
            message = text.partition(": ")[2].strip()
        if message:
            record.exc_info = record.exc_text = None
            record.msg, record.args = "error: %s", (message,)
        return True
