# SPDX-License-Identifier: BSD-3-Clause
"""Whether jobs of a log wait for others, as far as it can be said before the log is read: content keys ask for it.

An SWF log without such jobs, as nearly all are, has the keys that it had before simulations followed dependencies.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines.logs.file_cache import FileCache
from pipelines.logs.published import JOBS, read_manifest
from swftools.dependencies import SEVERAL
from swftools.errors import SwfToolsError
from swftools.fields.dictionary import SWF_FIELDS
from swftools.formats.compression import open_log
from swftools.formats.detect import detect
from swftools.formats.multi_file import log_files

_FIELD = [field.name for field in SWF_FIELDS].index("preceding_job_number")
_PIECE = 1 << 20
_NOBODY = b"-"
_SWF = "swf"


def may_have_dependencies(log: Any) -> bool:
    """Return whether jobs of a log, as ``pipelines.logs.find`` finds it, may wait for others.

    A card of an SWF log says it; of another SWF file its lines do, unless they name one and the same number; of a
    published version its manifest. Logs of other formats may, and generated ones do not.
    """
    if log.model is not None:
        return False
    if log.version is not None:
        return _in_version(read_manifest(log.version))
    if log.card is not None:
        return bool(log.card.format != _SWF or log.card.dependencies)
    if log.path is None or log.damage or log.problem:
        return False
    if log.path.is_fifo() or log.path.is_char_device():  # which can be read once
        return True
    kind = log.how.format.partition(":")[0] or None
    return _in_file(log.path) if kind in (None, _SWF) else True


def _in_version(manifest: dict[str, Any]) -> bool:
    """Whether jobs of a published version name others."""
    columns = manifest["tables"][JOBS]["columns"]
    rows = manifest["tables"][JOBS]["rows"]
    return any(name in columns and columns[name].get("nulls") != rows for name in ("preceding_job_number", SEVERAL))


def _names_others(path: Path) -> bool:
    """Whether lines of SWF name other jobs; any log of another format may have such jobs."""
    named: set[bytes] = set()
    try:
        for source in log_files(path).sources:
            with open_log(source) as text:
                head = text.read(_PIECE)
                if detect(head, str(path))[0] != _SWF:
                    return True
                for line in _lines(head, text):
                    words = line.split(None, _FIELD + 1)
                    if len(words) > _FIELD and not line.startswith(b";"):
                        named.add(_NOBODY if words[_FIELD].startswith(_NOBODY) else words[_FIELD])
                        if len(named) > 1:
                            return True
    except (SwfToolsError, OSError):
        return False  # what is wrong is said where the log is read
    return False


def _lines(rest: bytes, text: Any) -> Iterator[bytes]:
    """Yield the lines of a text of which the beginning was read."""
    while piece := text.read(_PIECE):
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
    yield from rest.split(b"\n")


_in_file = FileCache(_names_others)
