# SPDX-License-Identifier: BSD-3-Clause
"""Opening and writing logs: every compression, recognised by content; damage and excess as one clear error."""

from __future__ import annotations

import functools
import gzip
import io
from pathlib import Path

import pytest

from swftools import iter_swf, read_swf
from swftools.errors import SwfToolsError, UnreadableLogError
from swftools.formats.compression import create_log, open_log
from tests.formats.compressed import COMPRESS, SMALL, TEXT, each_kind, text_of


def test_plain_text(tmp_path: Path) -> None:
    """A plain file, by path, as text or as Path, or as file object, buffered or not."""
    path = tmp_path / "log.swf"
    path.write_bytes(TEXT)
    for source in (path, str(path), io.BytesIO(TEXT)):
        with open_log(source) as stream:
            assert TEXT == stream.read()
            assert b"" == stream.read()
    for buffering in (-1, 0):
        with path.open("rb", buffering) as file, open_log(file) as stream:  # type: ignore[call-overload]
            assert TEXT == stream.read()
            assert not file.closed


@each_kind
def test_compressed_text(kind: str, tmp_path: Path) -> None:
    """Recognised by content, whatever the name says."""
    path = tmp_path / "log.swf"
    path.write_bytes(COMPRESS[kind](TEXT))
    with open_log(path) as stream:
        assert TEXT == stream.read()
        assert b"" == stream.read()


@each_kind
def test_reading_in_pieces(kind: str) -> None:
    """A read returns as much as it was asked for, less only at the end."""
    for data in (COMPRESS[kind](TEXT), TEXT):
        with open_log(io.BytesIO(data)) as stream:
            pieces = list(iter(lambda: stream.read(70_000), b""))
        assert TEXT == b"".join(pieces)
        assert {70_000} == {len(piece) for piece in pieces[:-1]}


@each_kind
def test_empty_files(kind: str) -> None:
    """Nothing, compressed or not, is an empty text."""
    assert b"" == text_of(b"") == text_of(COMPRESS[kind](b""))


@each_kind
def test_members_one_after_another(kind: str) -> None:
    """Files put together, as parallel compressors do, are one text; an empty member adds nothing."""
    compress = COMPRESS[kind]
    assert TEXT + SMALL == text_of(compress(TEXT) + compress(b"") + compress(SMALL))


@pytest.mark.parametrize("kind", ["gzip", "bz2", "xz"])
def test_padding(kind: str) -> None:
    """Zeros behind or between the members, as tapes leave them, are no damage."""
    data = COMPRESS[kind](SMALL)
    assert SMALL * 2 == text_of(data + b"\0" * 400_000 + data + b"\0" * 4)


@each_kind
@pytest.mark.parametrize("garbage", [b"x", b"garbage", b"\0x", b"\n", SMALL, b"\xff" * 100])
def test_garbage_behind_the_members(kind: str, garbage: bytes) -> None:
    """What is neither member nor padding may be a damaged member: an error, where others pass over it."""
    data = COMPRESS[kind](SMALL)
    with pytest.raises(UnreadableLogError, match=f"{kind} data truncated or corrupt"):
        text_of(data + garbage)
    damaged = bytearray(data)
    damaged[0] ^= 1
    with pytest.raises(UnreadableLogError, match=f"{kind} data truncated or corrupt"):
        text_of(data + bytes(damaged))


@each_kind
def test_truncated_files(kind: str) -> None:
    """Wherever a file is cut, from the end of its magic number on, it is an error."""
    data = COMPRESS[kind](SMALL)
    for length in [*range(6, len(data)), -1]:
        with pytest.raises(UnreadableLogError, match=f"<stream>: {kind} data truncated or corrupt .*fetch"):
            text_of(data[:length])
    long = COMPRESS[kind](TEXT)
    for length in (len(long) // 2, 100_000, len(long) - 1):
        with pytest.raises(UnreadableLogError, match="truncated or corrupt"):
            text_of(long[:length])


@each_kind
def test_the_limit(kind: str) -> None:
    """Text up to the limit is read, a byte more is not, however it is asked for."""
    data = COMPRESS[kind](SMALL)
    assert SMALL == text_of(data, max_bytes=len(SMALL))
    for size in (-1, 1, 10, 1000, 1 << 40):
        with open_log(io.BytesIO(data), max_bytes=len(SMALL) - 1) as stream:
            message = f"more than {len(SMALL) - 1} bytes once decompressed; pass a larger max_bytes"
            with pytest.raises(UnreadableLogError, match=message):
                list(iter(functools.partial(stream.read, size), b""))


@each_kind
def test_bombs_are_not_decompressed_beyond_the_limit(kind: str) -> None:
    """A small file that would fill the memory stops at the limit, also in pieces."""
    bomb = COMPRESS[kind](b"1 " * 2_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(UnreadableLogError, match="more than 1,000 bytes once decompressed"):
        read_swf(io.BytesIO(bomb), max_bytes=1000)
    with pytest.raises(UnreadableLogError, match="more than 1,000,000 bytes once decompressed"):
        list(iter_swf(io.BytesIO(bomb), max_bytes=1_000_000, chunk_bytes=1000))


def test_a_plain_file_has_no_limit(tmp_path: Path) -> None:
    """Its size is no surprise; a stream's may be."""
    path = tmp_path / "log.swf"
    path.write_bytes(TEXT)
    with open_log(path, max_bytes=10) as stream:
        assert TEXT == stream.read()
    with path.open("rb") as file, open_log(file, max_bytes=10) as stream:
        assert TEXT == stream.read()
    with pytest.raises(UnreadableLogError, match="more than 10 bytes; pass a larger max_bytes"):
        text_of(TEXT, max_bytes=10)
    (tmp_path / "log.gz").write_bytes(gzip.compress(TEXT))
    with gzip.open(tmp_path / "log.gz") as file, pytest.raises(UnreadableLogError, match="more than 10 bytes"):
        read_swf(file, max_bytes=10)
    if Path("/dev/zero").exists():
        with pytest.raises(UnreadableLogError, match="/dev/zero: more than 10 bytes"):
            read_swf("/dev/zero", max_bytes=10)


@each_kind
def test_compressed_twice(kind: str) -> None:
    """A compressed file in a compressed file is an error that says so, not a log of garbage."""
    for inner, compress in COMPRESS.items():
        message = f"the text in the {kind} file is itself {inner}; decompress it once"
        with pytest.raises(UnreadableLogError, match=message):
            text_of(COMPRESS[kind](compress(SMALL)))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"PK\x03\x04....", "a zip archive that cannot be read"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"\x1f\x9d\x90...", "compressed by compress"),
        (b"PAR1....", "a Parquet file"),
        ("; Version: 2.2\n".encode("utf-16"), "UTF-16 text; convert it"),
        (b"\xfe\xff\x00;", "UTF-16 text; convert it"),
    ],
)
def test_files_of_other_kinds(data: bytes, what: str) -> None:
    """What is certainly no log, but can be made one, is an error that says how."""
    with pytest.raises(UnreadableLogError, match=f"<stream>: {what}"):
        text_of(data)


def test_a_text_shorter_than_a_magic_number() -> None:
    """The first bytes may be all there is."""
    for text in (b"\x1f", b";", b"; a", b"B", b"\n"):
        assert text == text_of(text)


# ---------------------------------------------------------------- writing


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst", ".GZ"])
def test_the_suffix_chooses_the_compression(suffix: str, tmp_path: Path) -> None:
    """Equal text gives equal bytes, whatever name and time; what is written reads back."""
    paths = [tmp_path / f"a.swf{suffix}", tmp_path / f"other.swf{suffix}"]
    for path in paths:
        with create_log(path) as stream:
            stream.write(SMALL)
            stream.write(TEXT)
            assert not path.exists()
        assert SMALL + TEXT == text_of(path.read_bytes())
        assert (not suffix) == (path.read_bytes() == SMALL + TEXT)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert sorted(paths) == sorted(tmp_path.iterdir())


def fail_after(done: object, error: Exception) -> None:
    """Raise an error when something is done."""
    raise error


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_a_failure_while_writing_leaves_nothing(suffix: str, tmp_path: Path) -> None:
    """Neither a part of the log nor a temporary file."""
    for error in (ZeroDivisionError(), UnreadableLogError("ours")):
        with pytest.raises(type(error)), create_log(tmp_path / f"a{suffix}") as stream:
            fail_after(stream.write(TEXT), error)
    assert [] == list(tmp_path.iterdir())


def test_a_stream_receives_plain_text_and_stays_open() -> None:
    """Its name is not looked at."""
    stream = io.BytesIO()
    stream.name = "log.gz"
    with create_log(stream) as target:
        target.write(SMALL)
    assert SMALL == stream.getvalue()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_a_full_disk_is_one_clear_error(suffix: str, tmp_path: Path) -> None:
    """It names the target, also where the fault shows only at the end."""
    path = tmp_path / f"log{suffix}"
    path.symlink_to("/dev/full")
    with (
        pytest.raises(SwfToolsError, match=r"log.*: cannot be written \(No space left on device\)"),
        create_log(path) as stream,
    ):
        stream.write(SMALL)


@pytest.mark.parametrize("kind", ["gzip", "bz2", "xz", "zstd"])
def test_text_that_is_too_dense_is_refused_early(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that becomes large is refused long before the limit, whole and in pieces, unless one is given."""
    monkeypatch.setattr("swftools.formats.compression.NEVER_DENSE", 1 << 17)
    monkeypatch.setattr("swftools.formats.compression._PIECE", 1 << 16)
    bomb = COMPRESS[kind](b"1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n" * 30_000)
    assert len(bomb) < 6_000
    for read in (read_swf, lambda source: list(iter_swf(source, chunk_bytes=1 << 16))):
        with pytest.raises(UnreadableLogError, match=r"once decompressed, as no log does: .*pass max_bytes"):
            read(io.BytesIO(bomb))
    assert len(read_swf(io.BytesIO(bomb), max_bytes=1 << 30)) == 30_000
    ordinary = b"".join(
        b"%d %d 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n" % (n, 7 * n * n % 99991) for n in range(5_000)
    )
    assert len(read_swf(io.BytesIO(COMPRESS[kind](ordinary)))) == 5_000
