# SPDX-License-Identifier: BSD-3-Clause
"""Archives of files are no logs: refused by what they begin with, plain or compressed, with what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
from pathlib import Path

import pytest

from swftools import iter_swf, read_log, read_swf
from swftools.errors import UnreadableLogError

LINE = b"1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"


def archive(form: int) -> bytes:
    """Return a tar archive of one log."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as tar:
        member = tarfile.TarInfo("a.swf")
        member.size = len(LINE) * 100
        tar.addfile(member, io.BytesIO(LINE * 100))
    return file.getvalue()


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_refused(form: int, tmp_path: Path) -> None:
    """By every reader, in pieces of any size, from a stream and a file."""
    plain = archive(form)
    for name, data in (("a.tar", plain), ("a.tar.gz", gzip.compress(plain)), ("a.tbz", bz2.compress(plain))):
        (tmp_path / name).write_bytes(data)
        for source in (io.BytesIO(data), tmp_path / name):
            with pytest.raises(UnreadableLogError, match=r"tar archive; unpack it \(tar -xf\)"):
                read_log(source, "swf")
        with pytest.raises(UnreadableLogError, match="tar archive"):
            read_swf(tmp_path / name)
        with pytest.raises(UnreadableLogError, match="tar archive"):
            list(iter_swf(io.BytesIO(data), chunk_bytes=7))


def test_a_log_that_names_it() -> None:
    """The word elsewhere says nothing."""
    for blanks in (250, 255, 259, 300):
        text = b";" + b" " * blanks + b"ustar\n" + LINE
        assert len(read_swf(io.BytesIO(gzip.compress(text)))) == 1
