# SPDX-License-Identifier: BSD-3-Clause
"""A log in every compression, for the tests that open logs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable

import pyarrow as pa
import pytest

from swftools.formats.compression import open_log

JOB = b"1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"
# Partly random, so that compressed files are longer than one read.
TEXT = b"; Version: 2.2\n" + JOB * 2000 + b"; " + bytes(random.Random(5).choices(range(65, 91), k=250_000)) + b"\n"
SMALL = b"; Version: 2.2\n" + JOB

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda text: gzip.compress(text, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda text: bytes(pa.compress(text, "zstd", asbytes=True)),
}
each_kind = pytest.mark.parametrize("kind", COMPRESS)


def text_of(data: bytes, **options: int) -> bytes:
    """Return the text of a file's bytes."""
    with open_log(io.BytesIO(data), **options) as stream:
        return stream.read()
