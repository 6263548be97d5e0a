# SPDX-License-Identifier: BSD-3-Clause
"""The version of a format's reader stands in the keys of logs of that format, and of no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.tasks.parse import ParseLog
from swftools.formats.slurm import Slurm
from tests.pipelines.small_logs import small_log

SACCT = """\
JobID|State|Submit|Start|End|NCPUS
1|COMPLETED|2024-03-01T09:00:00Z|2024-03-01T09:10:00Z|2024-03-01T10:10:00Z|4
"""


@pytest.mark.parametrize("form", ["", "slurm", "swf"])
def test_only_logs_of_the_format_have_another_key(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the format was given, or is recognised."""
    path = tmp_path / "log.txt"
    path.write_text(small_log() if form == "swf" else SACCT)
    given = "" if form == "swf" else form
    keys = []
    for version in (1, 2, 3):
        monkeypatch.setattr(Slurm, "READER_VERSION", version)
        monkeypatch.setattr("pipelines.logs.how_read._recognised", recognised())
        keys.append(ParseLog(log=str(path), format=given, data_root=str(tmp_path / "data")).key)
    assert len(set(keys)) == (1 if form == "swf" else 3)


def recognised() -> object:
    """Return what says the version of a log's reader, and remembers none."""
    from pipelines.logs.how_read import _read_version  # noqa: PLC0415

    return _read_version
