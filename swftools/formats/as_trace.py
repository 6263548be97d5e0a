# SPDX-License-Identifier: BSD-3-Clause
"""What is given as a trace: a Trace, or the path of a log or of a published version."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from swftools.errors import ParameterError
from swftools.trace import Trace


def as_trace(given: Trace | str | os.PathLike[str] | object) -> Trace:
    """Return a trace; a path is read as ``read_log`` does, or ``load`` if it is that of a published version.

    Raises
    ------
    ParameterError
        It is something else; or there is nothing at that path. The message says what is wanted.
    UnreadableLogError, LogFormatError
        The log cannot be read.
    """
    if isinstance(given, Trace):
        return given
    if not isinstance(given, str | os.PathLike):
        remedy = "Trace(header, jobs) makes one of a table" if isinstance(given, pd.DataFrame) else ""
        raise ParameterError(
            f"trace is a {type(given).__name__}: give a Trace, as swftools.read_log returns it, or the path of a log"
            + (f"; {remedy}" if remedy else "")
        )
    # Imported late: who has a trace needs no readers.
    from swftools.formats.data_sets import MANIFEST, load  # noqa: PLC0415
    from swftools.formats.fetch import is_address  # noqa: PLC0415
    from swftools.formats.parquet import read_parquet  # noqa: PLC0415
    from swftools.formats.read_log import read_log  # noqa: PLC0415

    if is_address(given):
        return read_log(str(given))
    path = Path(given).expanduser()
    if (path / MANIFEST).is_file():
        folder = path.resolve()
        return load(folder.parent.name, folder.name, data_root=folder.parent.parent)
    if not path.exists() and not any(sign in str(given) for sign in "*?[#"):
        raise ParameterError(
            f"{given}: no such file; give the path or https address of a log, a Trace, or swftools.load(NAME) for "
            "a published data set (pipelines.logs.load_log finds logs of the catalogue by name)"
        )
    if path.suffix == ".parquet":
        return read_parquet(path)
    return read_log(given if isinstance(given, str) else path)
