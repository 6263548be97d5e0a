# SPDX-License-Identifier: BSD-3-Clause
"""How a log's text is read: its format with options, and whether names are told. From a command line, or a card."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipelines.config import setting
from pipelines.logs.file_cache import FileCache
from swftools.errors import ParameterError, SwfToolsError, UnreadableLogError
from swftools.formats.compression import LogSource, Progress
from swftools.formats.detect import detect
from swftools.formats.multi_file import LogFiles, log_files
from swftools.formats.privacy import Privacy
from swftools.formats.read_log import open_as, read_as
from swftools.formats.registry import LogFormat, Reading, find_format, list_formats
from swftools.parameters.small_files import hash_of_file
from swftools.parameters.spelling import with_known_name
from swftools.trace import Trace

SWF = "swf"


@dataclass(frozen=True)
class HowRead:
    """How a log is read.

    Parameters
    ----------
    format : str
        Name of a format with options behind it, as in ``slurm:time_zone=Europe/Berlin``; empty: it is recognised.
    anonymise : str
        As for ``read_log``. The key of the hashes is the setting ``anonymise_key``, which is written nowhere.
    """

    format: str = ""
    anonymise: str = "no"

    def __post_init__(self) -> None:
        # The key holds the name as it is registered, however it was spelled.
        object.__setattr__(self, "format", with_known_name(self.format, list_formats()))

    def checked(self) -> HowRead:
        """Return this, once the format and its options are known to be right.

        Raises
        ------
        ParameterError
            They are not, or the hashes have no key.
        """
        if self.format:
            kind, given = find_format(self.format)
            kind(**given)
        _ = self.privacy
        return self

    @property
    def privacy(self) -> Privacy:
        """What may be told of the log's words."""
        key = setting("anonymise_key") if self.anonymise == "hash" else None
        if self.anonymise == "hash" and not key:
            raise ParameterError(
                "anonymise=hash: there is no key; set SWFTOOLS_ANONYMISE_KEY to a secret that only you have"
            )
        return Privacy(self.anonymise, key)

    @property
    def key(self) -> dict[str, Any]:
        """What a stage's key says of it: nothing where logs in SWF are read as they are."""
        said: dict[str, Any] = {}
        if self.format not in ("", SWF):
            said["format"] = self.format
            kind, given = find_format(self.format)
            said |= reader_version(kind)
            if beside := [_sha256(path) for path in kind(**given).files_beside]:
                said["files_beside"] = beside
        if self.anonymise != "no":
            said["anonymise"] = self.anonymise
        if self.anonymise == "hash":  # another key makes other names
            secret = (self.privacy.key or "").encode()
            said["key"] = hmac.new(secret, b"which key this is", hashlib.sha256).hexdigest()[:8]
        return said

    @property
    def files_of_machines(self) -> tuple[Path, ...]:
        """The file that names the machines of the log, where an option of its format says which it is."""
        if not self.format:
            return ()
        kind, given = find_format(self.format)
        named = getattr(kind(**given), "machines", None)
        return (Path(named).expanduser(),) if isinstance(named, str) else ()

    def files(self, path: Path) -> LogFiles:
        """Return the files of a log in the order of their records."""
        files, _, _ = open_as(str(path), self.format or None, {})
        return files

    def read(
        self,
        source: LogSource,
        *,
        strict: bool = False,
        progress: Progress | None = None,
        called: str | None = None,
        dates: str | None = None,
        for_publication: bool = False,
    ) -> Trace:
        """Read a log.

        ``called`` is its name where that is not the source's, ``dates`` is as ``Reading`` has it; what may be a secret
        is not read ``for_publication``.
        """
        privacy = replace(self.privacy, for_publication=for_publication)
        how = Reading(strict=strict, privacy=privacy, progress=progress, dates=dates)
        return read_as(source, self.format or None, {}, how, called)


def reader_version(kind: type[LogFormat]) -> dict[str, int]:
    """Return what a key says of the reader of a format: nothing while it reads what it always did."""
    return {"reader": kind.READER_VERSION} if kind.READER_VERSION > 1 else {}


def recognised_version(path: Path) -> dict[str, int]:
    """Return the same for a log whose format is not given; nothing where it is not recognised."""
    try:
        return dict(_recognised(path))
    except (SwfToolsError, OSError):
        return {}


def _read_version(path: Path) -> dict[str, int]:
    name, _ = detect(log_files(str(path)).head(0), path.name)
    return reader_version(find_format(name)[0])


_recognised = FileCache(_read_version)


def _sha256(path: Path) -> str:
    """Return the hash of a file beside a log.

    Raises
    ------
    UnreadableLogError
        It cannot be read.
    """
    try:
        return hash_of_file(path)
    except OSError as error:
        raise UnreadableLogError(f"{path}: cannot be read ({error.strerror}); the format's options name it") from error
