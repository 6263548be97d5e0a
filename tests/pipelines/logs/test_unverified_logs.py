# SPDX-License-Identifier: BSD-3-Clause
"""A log whose compression has no checksum: the console warns, and what is published does not depend on it."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.tasks.acquire import AcquireLog
from pipelines.tasks.parse import ParseLog

TEXT = b"; MaxProcs: 8\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"
NOTE = "zstd data without checksum: damage would not show"


@pytest.fixture
def logs(tmp_path: Path) -> tuple[Path, Path]:
    """The same log of the same name, plain and by a compressor that leaves the checksum out."""
    (tmp_path / "plain").mkdir()
    (tmp_path / "packed").mkdir()
    plain, packed = tmp_path / "plain" / "tiny.swf", tmp_path / "packed" / "tiny.swf.zst"
    plain.write_bytes(TEXT)
    packed.write_bytes(pa.compress(TEXT, "zstd", asbytes=True))
    return plain, packed


def test_the_console_warns(logs: tuple[Path, Path]) -> None:
    """In describe and validate; the exit status is that of the text, which has no fault."""
    plain, packed = logs
    for command, warning in (("describe", f"unverified                 {NOTE}"), ("validate", f"  warning: {NOTE}")):
        warned, silent = (CliRunner().invoke(main, [command, str(log)]) for log in (packed, plain))
        assert (0, 0) == (warned.exit_code, silent.exit_code)
        assert warning in warned.output.splitlines()
        assert NOTE not in silent.output
    facts = json.loads(CliRunner().invoke(main, ["describe", str(packed), "--json"]).output)
    assert NOTE == facts["unverified"]


def test_what_is_made_of_it_is_the_same(
    logs: tuple[Path, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Byte for byte, since its version is that of the text; the log of the run has the warning."""
    saved = []
    for log in logs:
        root = str(log.parent / "data")
        AcquireLog(log=str(log), data_root=root).run()
        with caplog.at_level(logging.WARNING, "pipelines"):
            task = ParseLog(log=str(log), data_root=root)
            task.run()
        saved.append({path.name: path.read_bytes() for path in task.output().path.iterdir()})
        assert task.load().provenance["name"] == "tiny"
    assert saved[0] == saved[1]
    assert [f"{logs[1]}: {NOTE}"] == [record.getMessage() for record in caplog.records]
