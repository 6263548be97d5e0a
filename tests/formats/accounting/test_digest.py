# SPDX-License-Identifier: BSD-3-Clause
"""The checksum of a log, in pieces small and large, and of files."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest

from swftools.formats.accounting import digest
from swftools.formats.accounting.digest import Digest


@pytest.mark.parametrize("many", [1, 5, 1 << 20])
def test_as_hashed_at_once(many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces count in their order, whichever thread takes them; the thread has ended behind ``with``."""
    monkeypatch.setattr(digest, "_MANY", many)
    (tmp_path / "file").write_bytes(b"of a file" * 3)
    threads = threading.active_count()
    with Digest() as whole:
        for piece in (b"a", b"longer than five", b"", b"b" * 30):
            whole.update(piece)
        whole.add_file(tmp_path / "file")
        whole.update(b"end")
    expected = hashlib.sha256(b"alonger than five" + b"b" * 30 + b"of a file" * 3 + b"end").hexdigest()
    assert expected == whole.hexdigest()
    assert threading.active_count() == threads


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error comes out where the digest is asked for, not never."""
    monkeypatch.setattr(digest, "_MANY", 1)
    with Digest() as whole:
        whole.add_file(tmp_path)
    with pytest.raises(OSError, match="directory"):
        whole.hexdigest()
